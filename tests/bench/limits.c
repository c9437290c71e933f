/* The least that a row of the benchmark asks of the machine: loops without judgement, wrap or order.

   Sums of 16 bits read every index number and every update once, and touch the same cells. Threads
   take their parts of the updates as they stand, and so meet in cells: results are worth nothing. */

#include <stdint.h>

typedef int64_t I;

void sums_of_16(const I *numbers, const uint16_t *updates, uint16_t *cells, I run, I first, I last)
{
    if (run == 1)
        for (I k = first; k < last; k++) cells[numbers[k]] += updates[k];
    else
        for (I k = first; k < last; k++) {
            uint16_t *restrict const row = cells + numbers[k] * run;
            for (I c = 0; c < run; c++) row[c] += updates[k * run + c];
        }
}

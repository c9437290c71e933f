/* Bare loops: the least that a machine must do for a row of the benchmark.

   They read every index number once and touch the cells it names, but neither judge nor wrap a
   number and copy no data. A plane is one row of `width` numbers and the cells that these choose
   from, `size` further on for each plane; 0: all planes share the cells, in threads too, so that
   sums are worth nothing. Sums are of whole numbers, which no other type is faster than. */

#include <stdint.h>
#include <string.h>

typedef int64_t I;

/* Steps that touch no memory: what they gain in two threads is what a second core is worth. */
uint64_t spin(I first, I last)
{
    uint64_t state = 1;
    for (I k = first; k < last; k++) state = state * 6364136223846793005u + 1442695040888963407u;
    return state;
}

void gather_4(const I *numbers, const uint32_t *cells, uint32_t *result, I turn, I width, I size,
              I run, I first, I last)
{
    for (I plane = first; plane < last; plane++) {
        const I *from = numbers + plane * turn;
        const uint32_t *rows = cells + plane * size * run;
        uint32_t *to = result + plane * width * run;
        for (I k = 0; k < width; k++) {
            if (run == 1 && k % 8 == 0) __builtin_prefetch((const char *)(from + k) + 4096);
            if (run > 1 && k + 6 < width) __builtin_prefetch(rows + from[k + 6] * run);
            if (run == 1) to[k] = rows[from[k]];
            else memcpy(to + k * run, rows + from[k] * run, (size_t)run * sizeof *to);
        }
    }
}

#define SUMS(NAME, TYPE)                                                                           \
    void NAME(const I *numbers, const TYPE *updates, TYPE *cells, I width, I size, I run, I first, \
              I last)                                                                              \
    {                                                                                              \
        for (I plane = first; plane < last; plane++)                                               \
            for (I k = plane * width; k < (plane + 1) * width; k++) {                              \
                TYPE *restrict const row = cells + (plane * size + numbers[k]) * run;              \
                if (run == 1) row[0] += updates[k];                                                \
                else                                                                               \
                    for (I c = 0; c < run; c++) row[c] += updates[k * run + c];                    \
            }                                                                                      \
    }
SUMS(sums_1, uint8_t)
SUMS(sums_2, uint16_t)
SUMS(sums_4, uint32_t)
SUMS(sums_8, uint64_t)

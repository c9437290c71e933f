/* Bare loops: the least that a machine must do for a row of the benchmark.

   They read every index number once and touch the cells it names, but neither judge nor wrap a
   number and copy no data. A plane is one row of `width` numbers and the cells that these choose
   from. The numbers of the next plane begin `turn` further on (0: all planes have the same), its
   cells `size` (0: all planes share them, in threads too, so that what comes of it is worth
   nothing). Cells that are combined are whole numbers, which no other type is faster than. */

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

void gather_4_rows(const I *numbers, const uint32_t *cells, uint32_t *result, I turn, I width,
                   I size, I run, I first, I last)
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

/* Each column from its own cells, as those below that are combined. */
void gather_4_columns(const I *numbers, const uint32_t *cells, uint32_t *result, I height, I width,
                      I first, I last)
{
    for (I left = first * 64; left < last * 64; left += 64)
        for (I line = 0; line < height * width; line += width)
            for (I c = left; c < left + 64 && c < width; c++)
                result[line + c] = cells[numbers[line + c] * width + c];
}

#define PUT(CELL, VALUE) CELL = VALUE
#define ADD(CELL, VALUE) CELL += VALUE
#define MUL(CELL, VALUE) CELL *= VALUE
#define MAX(CELL, VALUE) CELL = CELL > VALUE ? CELL : VALUE
#define MIN(CELL, VALUE) CELL = CELL < VALUE ? CELL : VALUE

/* Rows of `run` cells, and single cells of a table `width` wide, each in its own column: these go
   strip by strip of 64 columns from top to bottom, so that the cells of a strip stay near. */
#define LOOPS(NAME, TYPE, COMBINE)                                                                 \
    void NAME##_rows(const I *numbers, const TYPE *updates, TYPE *cells, I turn, I width, I size,  \
                     I run, I first, I last)                                                       \
    {                                                                                              \
        for (I plane = first; plane < last; plane++)                                               \
            for (I k = 0; k < width; k++) {                                                        \
                TYPE *restrict const row = cells + (plane * size + numbers[plane * turn + k]) * run; \
                const TYPE *restrict const values = updates + (plane * width + k) * run;           \
                if (run == 1) COMBINE(row[0], values[0]);                                          \
                else                                                                               \
                    for (I c = 0; c < run; c++) COMBINE(row[c], values[c]);                        \
            }                                                                                      \
    }                                                                                              \
    void NAME##_columns(const I *numbers, const TYPE *updates, TYPE *cells, I height, I width,     \
                        I first, I last)                                                           \
    {                                                                                              \
        for (I left = first * 64; left < last * 64; left += 64)                                    \
            for (I line = 0; line < height * width; line += width)                                 \
                for (I c = left; c < left + 64 && c < width; c++)                                  \
                    COMBINE(cells[numbers[line + c] * width + c], updates[line + c]);              \
    }
LOOPS(put_4, uint32_t, PUT)
LOOPS(add_1, uint8_t, ADD)
LOOPS(add_2, uint16_t, ADD)
LOOPS(add_4, uint32_t, ADD)
LOOPS(add_8, uint64_t, ADD)
LOOPS(mul_4, uint32_t, MUL)
LOOPS(max_4, int32_t, MAX)
LOOPS(min_4, int32_t, MIN)

/* Bare loops, without any check: the least that a machine needs to do a row's work. */
#include <stdint.h>

/* Read all numbers, as far ahead as gscli does. */
int64_t bare_read(const int64_t *numbers, int64_t count)
{
    int64_t found = 0;
    for (int64_t k = 0; k < count; k++) {
        if (k % 8 == 0) __builtin_prefetch((const char *)(numbers + k) + 4096);
        found |= numbers[k];
    }
    return found;
}

/* Read all numbers and follow each to a cell of its own row of `size` cells; 0: all share the rows. */
int64_t bare_follow(const int64_t *numbers, int64_t count, int64_t width, const float *rows,
                    int64_t size, float *result)
{
    for (int64_t first = 0; first < count; first += width, rows += size)
        for (int64_t k = first; k < first + width; k++) {
            if (k % 8 == 0) __builtin_prefetch((const char *)(numbers + k) + 4096);
            result[k] = rows[numbers[k]];
        }
    return 0;
}

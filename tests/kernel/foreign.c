/* Calls of the compiled loops that another machine recorded, done once more by this processor.

   stdin: calls, one after the other. Each is the number of its function, of its integers and of its
   blocks of memory (int64), the integers, and for each block its size and its bytes. A pointer is an
   integer or a field that holds 2^62 + block * 2^48 + the place in the block; `pointers` below says
   which fields do. stdout: what the function answers, and all blocks as they are then. */

#include "loops.c"

#include <stdio.h>
#include <stdlib.h>

enum { MOST = 16 };
static char *blocks[MOST];
static Int sizes[MOST];

static Int next(void)
{
    Int number;
    if (fread(&number, sizeof number, 1, stdin) != 1) exit(0); /* no call is left */
    return number;
}

static void *pointer(Int number)
{
    if (number >> 62 != 1) return NULL;
    return blocks[number >> 48 & 0x3fff] + (number & 0xffffffffffff);
}

static void *resolved(const void *field)
{
    Int number;
    memcpy(&number, field, sizeof number);
    return pointer(number);
}

/* Addresses with their columns, and items, after their pointers were made those of this process. */
static Addresses *addresses_at(Int number)
{
    Addresses *const where = pointer(number);
    Column *const columns = resolved(&where->columns);
    where->columns = columns, where->source = resolved(&where->source);
    for (Int k = 0; k < where->count; k++) columns[k].numbers = resolved(&columns[k].numbers);
    return where;
}
static Items *items_at(Int number)
{
    Items *const items = pointer(number);
    items->start = resolved(&items->start);
    return items;
}

int main(void)
{
    gscli_use(0);
    for (;;) {
        Int a[MOST], answer = 0;
        const Int function = next(), numbers = next(), count = next();
        for (Int k = 0; k < numbers; k++) a[k] = next();
        for (Int k = 0; k < count; k++) {
            sizes[k] = next();
            blocks[k] = aligned_alloc(64, (size_t)(sizes[k] / 64 + 1) * 64);
            if (fread(blocks[k], 1, (size_t)sizes[k], stdin) != (size_t)sizes[k]) return 1;
        }
        if (function == 0) answer = gscli_resolve(addresses_at(a[0]), pointer(a[1]));
        if (function == 1) answer = gscli_take(pointer(a[0]), addresses_at(a[1]), items_at(a[2]), a[3]);
        if (function == 2) answer = gscli_put(pointer(a[0]), addresses_at(a[1]), items_at(a[2]), a[3]);
        if (function == 3)
            answer = gscli_combine(a[0], a[1], pointer(a[2]), addresses_at(a[3]), items_at(a[4]), a[5],
                                   a[6], a[7], a[8]);
        fwrite(&answer, sizeof answer, 1, stdout);
        for (Int k = 0; k < count; k++) {
            fwrite(blocks[k], 1, (size_t)sizes[k], stdout);
            free(blocks[k]);
        }
        fflush(stdout);
    }
}

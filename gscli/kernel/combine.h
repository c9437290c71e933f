/* How cells of one type are combined. loops.c includes this once for each type, and says before:

     TYPE          its name, the end of the name of each function
     CELL          an unsigned whole number of its size
     NUMBER        the type of its arithmetic
     LOAD, STORE   what makes that of a cell, and a cell of that; without them it is a cast
     CELL_STAYS    of two equal numbers, 0.0 and -0.0, the cell stays; without it the update does (so
                   NumPy 2.4 has it on x86 for halves and for other types; it promises neither)
     LIMITS_ONLY   maximum and minimum alone
     TARGET        the processors for which it is compiled; without it, rows are for all three kinds
     COMBINE_EIGHT what combines eight cells of a row at once

   All of these are forgotten at the end. */

#if !defined(LOAD)
#define LOAD(cell) ((NUMBER)(cell))
#define STORE(number) ((CELL)(number))
#endif
#if !defined(TARGET)
#define TARGET
#define EVERY_KIND
#endif

/* What a cell holds after an update. `operation` is a constant wherever this is called. */
TARGET static INLINE CELL OF_TYPE(combined)(Int operation, CELL cell, CELL update)
{
    const NUMBER a = LOAD(cell), b = LOAD(update);
    if (operation == ADD) return STORE((NUMBER)(a + b));
    if (operation == SUB) return STORE((NUMBER)(a - b));
    if (operation == MUL) return STORE((NUMBER)(a * b));
    /* NaN wins. By masks, for jumps would depend on the data. */
#if defined(CELL_STAYS)
    const int stays = (operation == MAX ? a >= b : a <= b) | (a != a);
#else
    const int stays = (operation == MAX ? a > b : a < b) | (a != a);
#endif
    const CELL mask = (CELL)(0 - (CELL)stays);
    return (CELL)((cell & mask) | (update & (CELL)~mask));
}

/* Single cells. Those of a table that no near cache holds are fetched ahead. */
TARGET static INLINE void OF_TYPE(combine_cells)(Int operation, LINE_PARAMETERS)
{
    CELL *const cells = (CELL *)(void *)rows;
    const int32_t *const own = job->own_entries;
    const Int ahead = job->far ? smaller(visible - CELLS_AHEAD, count) : 0;
    for (Int w = 0; w < count; w++) {
        const Int entry = own ? own[w] : w;
        if (w < ahead)
            PREFETCH(cells + addresses[own ? own[w + CELLS_AHEAD] : w + CELLS_AHEAD]);
        const CELL update = *(const CELL *)(const void *)(items + entry * item_stride);
        CELL *const cell = cells + addresses[entry];
        *cell = OF_TYPE(combined)(operation, *cell, update);
    }
}

/* Cells low … high-1 of each row. */
TARGET static INLINE void OF_TYPE(combine_parts)(Int operation, Int low, Int high, LINE_PARAMETERS)
{
    for (Int w = 0; w < count; w++) {
        const Int entry = job->own_entries ? job->own_entries[w] : w;
        CELL *restrict const row = (CELL *)(void *)rows + addresses[entry] * job->run;
        const CELL *restrict const values =
            (const CELL *)(const void *)(items + entry * item_stride);
        Int c = low;
#if defined(COMBINE_EIGHT)
        for (; c + 8 <= high; c += 8) COMBINE_EIGHT(operation, row + c, values + c);
#endif
        for (; c < high; c++) row[c] = OF_TYPE(combined)(operation, row[c], values[c]);
    }
}

/* Rows of bytes that are one line of the cache have a loop of constant length, which asks nothing. */
TARGET static INLINE void OF_TYPE(combine_rows)(Int operation, LINE_PARAMETERS)
{
    if (sizeof(CELL) == 1 && job->low == 0 && job->high == CACHE_LINE)
        OF_TYPE(combine_parts)(operation, 0, CACHE_LINE, LINE_ARGUMENTS);
    else OF_TYPE(combine_parts)(operation, job->low, job->high, LINE_ARGUMENTS);
}

/* The lines of each operation, and their table. */
#define LINE(KIND, LINE_NAME, LOOP, OPERATION)                                                     \
    KIND static void JOIN(OF_TYPE(LINE_NAME), OPERATION)(LINE_PARAMETERS)                          \
    {                                                                                              \
        OF_TYPE(LOOP)(OPERATION, LINE_ARGUMENTS);                                                  \
    }
#if defined(X86) && defined(EVERY_KIND)
#define LINES(OPERATION)                                                                           \
    LINE(, cells, combine_cells, OPERATION)                                                        \
    LINE(, rows, combine_rows, OPERATION)                                                          \
    LINE(FOR_AVX2, rows_by_avx2, combine_rows, OPERATION)
#else
#define LINES(OPERATION)                                                                           \
    LINE(TARGET, cells, combine_cells, OPERATION) LINE(TARGET, rows, combine_rows, OPERATION)
#endif
#define ENTRY(LINE_NAME, OPERATION) [OPERATION] = JOIN(OF_TYPE(LINE_NAME), OPERATION)
LINES(MAX)
LINES(MIN)
#if defined(LIMITS_ONLY)
#define ENTRIES(LINE_NAME) ENTRY(LINE_NAME, MAX), ENTRY(LINE_NAME, MIN)
#else
LINES(ADD)
LINES(SUB)
LINES(MUL)
#if defined(X86) && defined(EVERY_KIND)
LINE(FOR_AVX512, sums_by_avx512, combine_rows, ADD)
LINE(FOR_AVX512, sums_by_avx512, combine_rows, SUB)
LINE(FOR_AVX512, sums_by_avx512, combine_rows, MUL)
#endif
#define SUMS(LINE_NAME) ENTRY(LINE_NAME, ADD), ENTRY(LINE_NAME, SUB), ENTRY(LINE_NAME, MUL)
#define ENTRIES(LINE_NAME) SUMS(LINE_NAME), ENTRY(LINE_NAME, MAX), ENTRY(LINE_NAME, MIN)
#endif
static const Lines OF_TYPE(lines_of) = {
    .cells = {ENTRIES(cells)},
    .rows = {ENTRIES(rows)},
#if defined(X86) && defined(EVERY_KIND)
    .rows_by_avx2 = {ENTRIES(rows_by_avx2)},
#if !defined(LIMITS_ONLY)
    .sums_by_avx512 = {SUMS(sums_by_avx512)},
#endif
#endif
};

#undef TYPE
#undef CELL
#undef NUMBER
#undef LOAD
#undef STORE
#undef CELL_STAYS
#undef LIMITS_ONLY
#undef TARGET
#undef EVERY_KIND
#undef COMBINE_EIGHT
#undef LINE
#undef LINES
#undef ENTRY
#undef SUMS
#undef ENTRIES

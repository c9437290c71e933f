/* How cells of one type are combined. loops.c includes this once for each type, and says before:

     TYPE          its name, the end of the name of each function
     CELL          an unsigned whole number of its size
     NUMBER        the type of its arithmetic
     SIGNED        of whole numbers: the type by which those with a sign are compared
     LOAD, STORE   of others: what makes a number of a cell, and a cell of a number
     STORE_ROUNDS  so that a limit is one of two cells, not one of two numbers: NaN keeps its bits
     LARGER, SMALLER  what chooses one of two numbers without a jump, where a compiler might make one
     EQUAL_STAYS   of two equal numbers, 0.0 and -0.0, the cell stays; without it the update does (so
                   NumPy 2.4 has it on x86 for halves and for other types; it promises neither)
     TARGET        the processors for which it is compiled; without it, rows are for all three kinds
     COMBINE_EIGHT what combines eight cells of a row at once

   All of these are forgotten at the end. */

#if !defined(LOAD)
#define LOAD (NUMBER)
#define STORE (CELL)
#endif
#if !defined(TARGET)
#define TARGET
#define EVERY_KIND
#endif

/* What a cell holds after an update; `is_single`: it is no cell of a row. */
TARGET static INLINE CELL OF_TYPE(combined)(Int operation, int is_single, CELL cell, CELL update)
{
    const NUMBER a = LOAD(cell), b = LOAD(update);
    (void)is_single;
    if (operation == ADD) return STORE((NUMBER)(a + b));
    if (operation == SUB) return STORE((NUMBER)(a - b));
    if (operation == MUL) return STORE((NUMBER)(a * b));
#if defined(SIGNED)
    if (operation == MAX) return cell > update ? cell : update;
    if (operation == MIN) return cell < update ? cell : update;
    if (operation == SIGNED_MAX) return (SIGNED)cell > (SIGNED)update ? cell : update;
    return (SIGNED)cell < (SIGNED)update ? cell : update;
#elif defined(STORE_ROUNDS)
    /* NaN wins. By masks, for jumps would depend on the data. */
    int stays = (operation == MAX ? a > b : a < b) | (a != a);
#if defined(EQUAL_STAYS)
    stays |= a == b;
#endif
    const CELL mask = (CELL)(0 - (CELL)stays);
    return (CELL)((cell & mask) | (update & (CELL)~mask));
#else
    /* NaN wins. Two questions in turn: by masks, cells and rows took a tenth longer on an AMD. */
    NUMBER limit = operation == MAX ? (a > b ? a : b) : (a < b ? a : b);
#if defined(LARGER)
    if (is_single) limit = operation == MAX ? LARGER(a, b) : SMALLER(a, b);
#endif
    return a != a ? cell : STORE(limit);
#endif
}

/* Single cells. Those of a table that no near cache holds are fetched ahead. */
TARGET static INLINE void OF_TYPE(combine_cells)(Int operation, const Line *line)
{
    CELL *const cells = (CELL *)(void *)line->rows;
    const Int *const addresses = line->addresses;
    const int32_t *const own = line->own_entries;
    const char *const items = line->items;
    const Int count = line->count, stride = line->item_stride;
    const Int ahead = fetched_count(line, CELLS_AHEAD);
    for (Int number = 0; number < count; number++) {
        const Int entry = own ? own[number] : number;
        fetch_soon(line, number);
        if (number < ahead)
            PREFETCH(cells + addresses[own ? own[number + CELLS_AHEAD] : number + CELLS_AHEAD]);
        const CELL update = *(const CELL *)(const void *)(items + entry * stride);
        CELL *const cell = cells + addresses[entry];
        *cell = OF_TYPE(combined)(operation, 1, *cell, update);
    }
}

/* Rows of `run` cells. */
TARGET static INLINE void OF_TYPE(combine_runs)(Int operation, Int run, const Line *line)
{
    const Int *const addresses = line->addresses;
    const int32_t *const own = line->own_entries;
    const char *const items = line->items;
    const Int count = line->count, stride = line->item_stride;
    for (Int number = 0; number < count; number++) {
        const Int entry = own ? own[number] : number;
        fetch_soon(line, number);
        CELL *restrict const row = (CELL *)(void *)line->rows + addresses[entry] * run;
        const CELL *restrict const values = (const CELL *)(const void *)(items + entry * stride);
        Int place = 0;
#if defined(COMBINE_EIGHT)
        for (; place + 8 <= run; place += 8) COMBINE_EIGHT(operation, row + place, values + place);
#endif
        for (; place < run; place++)
            row[place] = OF_TYPE(combined)(operation, 0, row[place], values[place]);
    }
}

/* Rows of bytes that are one line of the cache have a loop of constant length, which asks nothing. */
TARGET static INLINE void OF_TYPE(combine_rows)(Int operation, const Line *line)
{
    if (sizeof(CELL) == 1 && line->run == CACHE_LINE)
        OF_TYPE(combine_runs)(operation, CACHE_LINE, line);
    else OF_TYPE(combine_runs)(operation, line->run, line);
}

/* The loops that the table of the type holds: each asks a line once for its operation. */
#define CASE(LOOP, OPERATION)                                                                      \
    case OPERATION: OF_TYPE(LOOP)(OPERATION, line); break;
#define SUMS(LOOP) CASE(LOOP, ADD) CASE(LOOP, SUB) CASE(LOOP, MUL)
#if defined(SIGNED)
#define LIMITS(LOOP)                                                                               \
    CASE(LOOP, MAX) CASE(LOOP, MIN) CASE(LOOP, SIGNED_MAX) CASE(LOOP, SIGNED_MIN)
#else
#define LIMITS(LOOP) CASE(LOOP, MAX) CASE(LOOP, MIN)
#endif
TARGET static void OF_TYPE(cells)(const Line *line)
{
    switch (line->operation) { SUMS(combine_cells) LIMITS(combine_cells) }
}
TARGET static void OF_TYPE(rows)(const Line *line)
{
    switch (line->operation) { SUMS(combine_rows) LIMITS(combine_rows) }
}
#if defined(X86) && defined(EVERY_KIND)
FOR_AVX2 static void OF_TYPE(rows_by_avx2)(const Line *line)
{
    switch (line->operation) { SUMS(combine_rows) LIMITS(combine_rows) }
}
FOR_AVX512 static void OF_TYPE(sums_by_avx512)(const Line *line)
{
    switch (line->operation) { SUMS(combine_rows) }
}
#endif
static const TypeLoops OF_TYPE(loops_of) = {
    .cells = OF_TYPE(cells),
    .rows = OF_TYPE(rows),
#if defined(X86) && defined(EVERY_KIND)
    .rows_by_avx2 = OF_TYPE(rows_by_avx2),
    .sums_by_avx512 = OF_TYPE(sums_by_avx512),
#endif
};

#undef TYPE
#undef CELL
#undef NUMBER
#undef SIGNED
#undef LOAD
#undef STORE
#undef STORE_ROUNDS
#undef LARGER
#undef SMALLER
#undef EQUAL_STAYS
#undef TARGET
#undef EVERY_KIND
#undef COMBINE_EIGHT
#undef CASE
#undef SUMS
#undef LIMITS

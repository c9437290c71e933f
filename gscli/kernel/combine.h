/* How cells of one type are combined. loops.c includes this once for each type, and says before:

     TYPE          its name, the end of the name of each function
     CELL          an unsigned whole number of its size
     NUMBER        the type of its arithmetic
     SIGNED        of whole numbers: the type by which those with a sign are compared
     LOAD, STORE   of others: what makes a number of a cell, and a cell of a number
     STORE_ROUNDS  so that a limit is one of two cells, not one of two numbers: NaN keeps its bits
     LIMIT         the limit of two numbers without a jump, where a compiler might make one
     EQUAL_STAYS   of two equal numbers, 0.0 and -0.0, the cell stays; without it the update does (so
                   NumPy 2.4 has it on x86 for halves and for other types; it promises neither)
     TARGET        the processors for which it is compiled; without it, rows are for two kinds
     COMBINE_EIGHT what combines eight cells of a row at once

   All of these are forgotten at the end. */

#if !defined(LOAD)
#define LOAD (NUMBER)
#define STORE (CELL)
#endif
#if !defined(TARGET)
#define TARGET
#define BOTH_KINDS
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
#if defined(LIMIT)
    if (is_single) return STORE(LIMIT(operation, a, b));
#endif
    /* NaN wins. Two questions in turn: by masks, rows took a tenth longer on an AMD. */
    const NUMBER limit = operation == MAX ? (a > b ? a : b) : (a < b ? a : b);
    return a != a ? cell : STORE(limit);
#endif
}

/* Single cells: those of some entries, and those of all by eight, a constant number that compilers
   write out. Those of a table that no near cache holds are fetched ahead. */
TARGET static INLINE int OF_TYPE(combine_some)(Int operation, int far, const Line *line, Int first,
                                             Int count)
{
    CELL *const cells = (CELL *)(void *)line->rows;
    for (Int number = 0; number < count; number++) {
        const Int entry = first + number;
        if (far) fetch_cell(line, entry, sizeof(CELL));
        const Int row = row_of(line, entry);
        if (is_outside(line, row)) return 1;
        const CELL update = *(const CELL *)(const void *)(line->items + entry * line->item_stride);
        cells[row] = OF_TYPE(combined)(operation, 1, cells[row], update);
    }
    return 0;
}
TARGET static INLINE int OF_TYPE(combine_cells)(Int operation, const Line *given)
{
    const Line line = *given;
    Int entry = 0;
    for (; entry + 8 <= line.count; entry += 8) {
        fetch_soon(&line, entry);
        PREFETCH(line.soon_items + entry * line.item_stride);
        if (is_far(&line, entry) ? OF_TYPE(combine_some)(operation, 1, &line, entry, 8)
                                 : OF_TYPE(combine_some)(operation, 0, &line, entry, 8))
            return 1;
    }
    return OF_TYPE(combine_some)(operation, 0, &line, entry, line.count - entry);
}

/* Rows of `run` cells. */
TARGET static INLINE int OF_TYPE(combine_runs)(Int operation, Int run, const Line *given)
{
    const Line line = *given;
    for (Int entry = 0; entry < line.count; entry++) {
        const Int at = row_of(&line, entry);
        const Int item = line.own_entries ? line.own_entries[entry] : entry;
        if (is_outside(&line, at)) return 1;
        if (entry % 8 == 0) fetch_soon(&line, entry);
        fetch_row(&line, entry, run * (Int)sizeof(CELL));
        CELL *restrict const row = (CELL *)(void *)line.rows + at * run;
        const char *const own = line.items + item * line.item_stride;
        const CELL *restrict const values = (const CELL *)(const void *)own;
        Int place = 0;
#if defined(COMBINE_EIGHT)
        for (; place + 8 <= run; place += 8) COMBINE_EIGHT(operation, row + place, values + place);
#endif
        for (; place < run; place++)
            row[place] = OF_TYPE(combined)(operation, 0, row[place], values[place]);
    }
    return 0;
}

/* Rows of bytes that are one line of the cache have a loop of constant length, which asks nothing. */
TARGET static INLINE int OF_TYPE(combine_rows)(Int operation, const Line *line)
{
    if (sizeof(CELL) == 1 && line->run == CACHE_LINE)
        return OF_TYPE(combine_runs)(operation, CACHE_LINE, line);
    return OF_TYPE(combine_runs)(operation, line->run, line);
}

/* The loops that the table of the type holds: each asks a line once for its operation. */
#define CASE(LOOP, OPERATION)                                                                      \
    case OPERATION: return OF_TYPE(LOOP)(OPERATION, line);
#define SUMS(LOOP) CASE(LOOP, ADD) CASE(LOOP, SUB) CASE(LOOP, MUL)
#if defined(SIGNED)
#define LIMITS(LOOP)                                                                               \
    CASE(LOOP, MAX) CASE(LOOP, MIN) CASE(LOOP, SIGNED_MAX) CASE(LOOP, SIGNED_MIN)
#else
#define LIMITS(LOOP) CASE(LOOP, MAX) CASE(LOOP, MIN)
#endif
TARGET static int OF_TYPE(cells)(const Line *line)
{
    switch (line->operation) { SUMS(combine_cells) LIMITS(combine_cells) }
    return 0;
}
TARGET static int OF_TYPE(rows)(const Line *line)
{
    switch (line->operation) { SUMS(combine_rows) LIMITS(combine_rows) }
    return 0;
}
#if defined(X86) && defined(BOTH_KINDS)
FOR_AVX2 static int OF_TYPE(rows_by_avx2)(const Line *line)
{
    switch (line->operation) { SUMS(combine_rows) LIMITS(combine_rows) }
    return 0;
}
#endif
static const TypeLoops OF_TYPE(loops_of) = {
    .cells = OF_TYPE(cells),
    .rows = OF_TYPE(rows),
#if defined(X86) && defined(BOTH_KINDS)
    .rows_by_avx2 = OF_TYPE(rows_by_avx2),
#endif
};

#undef TYPE
#undef CELL
#undef NUMBER
#undef SIGNED
#undef LOAD
#undef STORE
#undef STORE_ROUNDS
#undef LIMIT
#undef EQUAL_STAYS
#undef TARGET
#undef BOTH_KINDS
#undef COMBINE_EIGHT
#undef CASE
#undef SUMS
#undef LIMITS

/* The kernel's inner loops: resolve, take, put, combine, and two of gradients.

   Plain C11 without Python or NumPy headers, called through ctypes by loops.py, which passes native
   arrays; index numbers, and all that is combined, are aligned. Every loop gives the bits of the
   sequential loop of the specifications: cells are visited in entry order, and each update is rounded
   to the type of its cell before the next one is looked at. That needs -ffp-contract=off (no fused
   operations) and -fwrapv (whole numbers wrap).

   A grid is `planes` × `height` × `width` entries in row-major order. Addresses are int64 numbers of
   rows: index numbers as they stand, or resolved from them a chunk at a time, so that they never leave
   the nearest cache. No row is touched before its number was judged.

   From top to bottom: what a processor has, index numbers to addresses, a job cut into lines of
   items, what is done to a line (take, put, combine), and the loops of gradients.

   Where a size, a type or an operation is an argument of an INLINE function, it is a constant
   wherever the function is called: each has a loop of its own, which asks nothing. */

#include <stdint.h>
#include <string.h>

#if defined(__GNUC__)
#define PUBLIC __attribute__((visibility("default")))
#define INLINE inline __attribute__((always_inline))
#define PREFETCH(place) __builtin_prefetch((place), 0, 3)
#define PREFETCH_FAR(place) __builtin_prefetch((place), 0, 2) /* more of these may be on their way */
#else
#define PUBLIC __declspec(dllexport)
#define INLINE __forceinline
#define PREFETCH(place) ((void)0)
#define PREFETCH_FAR(place) ((void)0)
#endif
#if defined(__x86_64__) && defined(__GNUC__)
#define X86
#include <cpuid.h>
#include <immintrin.h>
#define FOR_AVX2 __attribute__((target("avx2")))
#define FOR_F16C __attribute__((target("avx2,f16c")))
#define FOR_AVX512 __attribute__((target("arch=x86-64-v4")))
#if !defined(FOR_FP16) && !defined(__clang__) && __GNUC__ >= 12
#define FOR_FP16 __attribute__((target("avx512fp16,avx512vl")))
#endif
#endif

#define CACHE_LINE 64
#define CHUNK 256      /* index numbers that are resolved at a time */
#define CELLS_AHEAD 64 /* cells that are fetched ahead */
#define MAX_ADDRESSES (CHUNK + CELLS_AHEAD)
#define ROWS_AHEAD 16     /* rows that are fetched ahead, */
#define MAX_LINES 64      /* and how many lines of each */
#define ENTRIES_AHEAD 512  /* whose numbers and items are fetched: processors stop at each page */
#define LONG_ROW 256       /* bytes of a row from which what is written past the caches pays off */
#define NEAR_BYTES 32768   /* bytes of rows that are worked on in the nearest cache */

typedef int64_t Int;
static inline Int smaller(Int a, Int b) { return a < b ? a : b; }

/* loops.py refuses a library that answers another number. */
PUBLIC Int gscli_interface(void) { return 10; }

/* ---- what a processor has, and which ways it goes ------------------------------------------- */

/* What this processor has: vectors of 32 bytes, conversion of float16, vectors of 64 bytes, sums of
   float16, and whether Intel made it. (`Feature` in loops.py.) */
PUBLIC Int gscli_processor(void)
{
    Int features = 0;
#if defined(X86)
    unsigned a, b, c = 0, d;
    __builtin_cpu_init();
    __get_cpuid(1, &a, &b, &c, &d);
    if (__builtin_cpu_supports("avx2")) features |= 1;
    if (features && (c & bit_F16C)) features |= 2;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl")
        && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq"))
        features |= 4;
    if (__builtin_cpu_is("intel")) features |= 16;
#endif
#if defined(FOR_FP16)
    if (__builtin_cpu_supports("avx512fp16")) features |= 8;
#endif
    return features;
}

/* The ways that pay on this processor: WAYS of loops.py, which says why and chooses once, before it
   calls any loop. */
enum {
    VECTORS_OF_32 = 1,
    VECTORS_OF_64 = 2,
    GATHERED_CELLS = 4,
    CONVERTED_HALVES = 8,
    ADDED_HALVES = 16,
    ROWS_PAST_CACHES = 32, /* the one after it is for loops.py alone */
};
static Int ways;
PUBLIC Int gscli_use(Int chosen) { return ways = chosen; }

/* ---- index numbers → addresses -------------------------------------------------------------- */

/* One column of index numbers: what they mean, and how many bytes apart they stand. */
typedef struct {
    const char *numbers;
    Int strides[3];
    Int type;       /* INT8 and so on */
    Int size, turn; /* of the axis; what is added to negative numbers */
    Int step, plane_step, place_step, first; /* number * step + plane * … + place * … + first */
} Column;

/* Where entries go: what `count` columns of a grid of numbers resolve to. `own_rows`: each plane of
   numbers has its own rows, which begin `plane_bytes` bytes after those of the one before; else all
   share theirs. `far`: 1 where the rows do not fit a near cache, so that it pays to fetch ahead, 2
   where they may not fit any. `source`: what rows hold before, where they are not there yet. */
typedef struct {
    const Column *columns;
    Int count, sizes[3], plane_bytes, own_rows, far;
    const char *source;
} Addresses;

/* A place in a grid, and what lies there. */
typedef struct {
    Int plane, row, place;
} Cursor;

static inline char *item_at(const char *start, const Int *strides, const Cursor *cursor)
{
    return (char *)start + cursor->plane * strides[0] + cursor->row * strides[1]
           + cursor->place * strides[2];
}

/* From the end of a row to the next one, from the last row to the next plane. */
static inline void advance(Cursor *cursor, const Int *sizes, Int some)
{
    for (cursor->place += some; cursor->place >= sizes[2]; cursor->place -= sizes[2])
        if (++cursor->row == sizes[1]) cursor->row = 0, ++cursor->plane;
}

/* The types of index numbers and of cells, in the order of loops.py. */
enum {
    INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64, FLOAT32, FLOAT64, FLOAT16, BFLOAT16
};

/* A uint64 above 2^63 reads as negative, hence as outside. */
static INLINE Int read_number(Int type, const void *place)
{
    switch (type) {
    case INT8: return *(const int8_t *)place;
    case INT16: return *(const int16_t *)place;
    case INT32: return *(const int32_t *)place;
    case UINT8: return *(const uint8_t *)place;
    case UINT16: return *(const uint16_t *)place;
    case UINT32: return *(const uint32_t *)place;
    default: return *(const Int *)place;
    }
}

/* Some numbers of a row, and the address of number 0 at the place of the first one. */
typedef struct {
    const Column *column;
    const char *numbers;
    Int count, first;
} Numbers;

/* Write each number to its address, or add it to that of the columns before (`more`). Returns whether
   one was outside 0 … size-1, after `turn` was added to negative ones. */
static INLINE int resolve_numbers(Int type, Int stride, const Numbers *some, int more,
                                  Int *addresses)
{
    const Column column = *some->column;
    const char *const numbers = some->numbers;
    const Int count = some->count, first = some->first;
    uint64_t outside = 0;
    for (Int entry = 0; entry < count; entry++) {
        Int number = read_number(type, numbers + entry * stride);
        number += (number >> 63) & column.turn;
        outside |= (uint64_t)((uint64_t)number >= (uint64_t)column.size);
        const Int address = number * column.step + first + entry * column.place_step;
        addresses[entry] = (more ? addresses[entry] : 0) + address;
    }
    return outside != 0;
}

static INLINE int resolve_type(Int type, Int size, const Numbers *some, int more, Int *addresses)
{
    const Int stride = some->column->strides[2];
    if (stride == size) return resolve_numbers(type, size, some, more, addresses);
    return resolve_numbers(type, stride, some, more, addresses);
}

static INLINE int resolve_any(const Numbers *some, int more, Int *addresses)
{
    switch (some->column->type) {
    case INT8: return resolve_type(INT8, 1, some, more, addresses);
    case INT16: return resolve_type(INT16, 2, some, more, addresses);
    case INT32: return resolve_type(INT32, 4, some, more, addresses);
    case UINT8: return resolve_type(UINT8, 1, some, more, addresses);
    case UINT16: return resolve_type(UINT16, 2, some, more, addresses);
    case UINT32: return resolve_type(UINT32, 4, some, more, addresses);
    default: return resolve_type(INT64, 8, some, more, addresses);
    }
}

#if defined(X86)
FOR_AVX2 static int resolve_by_avx2(const Numbers *some, int more, Int *addresses)
{
    return resolve_any(some, more, addresses);
}
FOR_AVX512 static int resolve_by_avx512(const Numbers *some, int more, Int *addresses)
{
    return resolve_any(some, more, addresses);
}
#endif
static int resolve(const Numbers *some, int more, Int *addresses)
{
#if defined(X86)
    if (ways & VECTORS_OF_64) return resolve_by_avx512(some, more, addresses);
    if (ways & VECTORS_OF_32) return resolve_by_avx2(some, more, addresses);
#endif
    return resolve_any(some, more, addresses);
}

/* At most `most` numbers of planes before `end` → addresses; how many, or -1: one is outside. */
static Int resolve_chunk(const Addresses *where, Cursor *cursor, Int end, Int *addresses, Int most)
{
    const Int *const sizes = where->sizes;
    Int done = 0;
    while (done < most && cursor->plane < end) {
        const Int count = smaller(sizes[2] - cursor->place, most - done);
        for (Int number = 0; number < where->count; number++) {
            const Column *column = where->columns + number;
            const Int plane_first = column->first + cursor->plane * column->plane_step;
            const Numbers some = {column, item_at(column->numbers, column->strides, cursor), count,
                                  plane_first + cursor->place * column->place_step};
            if (resolve(&some, number > 0, addresses + done)) return -1;
        }
        done += count;
        advance(cursor, sizes, count);
    }
    return done;
}

/* All addresses of a grid that is not empty. Returns 1 where a number is outside. */
PUBLIC Int gscli_resolve(const Addresses *where, Int *addresses)
{
    Cursor cursor = {0, 0, 0};
    return resolve_chunk(where, &cursor, where->sizes[0], addresses, INT64_MAX) < 0;
}

/* ---- a job: lines of items, in entry order -------------------------------------------------- */

/* The items that are moved or combined, and how many bytes apart they stand. `stream`: they are part
   of a result that no cache holds, so that it pays to write past the caches. */
typedef struct {
    char *start;
    Int sizes[3], strides[3], stream;
} Items;

/* A line: `count` items `item_stride` bytes apart, and the number of the row of each: as it stands or,
   if negative, with `turn` added. A loop judges each number before it goes there, and returns 1 where
   one is outside 0 … limit-1; `visible` numbers may be looked at ahead. The rest is the same for all
   lines of a job: `size` is that of an item to move, in bytes; an item to combine is a row of `run`
   cells. Threads that share the work without sharing cells are given rows `top` … `bottom`-1 only:
   then `loop` gets the rows to combine, whose entries are `own_entries`, which is NULL where these
   are all. Index numbers at `soon` and rows at `next_rows`, which are read before long, are fetched
   on the way: so many bytes for each entry; so are items at `soon_items`, where these are read. */
typedef struct Line Line;
typedef int (*LineLoop)(const Line *line);
struct Line {
    char *rows;
    const Int *numbers;
    Int turn, limit;
    Int count, visible;
    char *items;
    Int item_stride;
    Int far, stream;
    Int size;
    Int operation, run, top, bottom;
    LineLoop loop;
    const int32_t *own_entries;
    const char *soon, *next_rows, *soon_items;
    Int soon_bytes, next_bytes;
};

/* The row of an entry. Its number is read once, whoever may write to it meanwhile. */
static INLINE Int row_of(const Line *line, Int entry)
{
    const Int number = *(const volatile Int *)(line->numbers + entry);
    return number + (number >> 63 & line->turn);
}
static INLINE int is_outside(const Line *line, Int row)
{
    return (uint64_t)row >= (uint64_t)line->limit;
}

/* Fetch what a job reads before long. Called once for eight entries: a processor that is asked for
   much at once waits. */
static INLINE void fetch_soon(const Line *line, Int entry)
{
    PREFETCH(line->soon + entry * line->soon_bytes);
    if (line->next_bytes) PREFETCH(line->next_rows + entry * line->next_bytes);
}

/* Fetch the cell of an entry that comes after this one. Its number is not judged yet, so that its
   address may be any, which a prefetch allows: hence the arithmetic of uintptr_t. */
static INLINE void fetch_cell(const Line *line, Int entry, Int size)
{
    const uintptr_t distance = (uintptr_t)(row_of(line, entry + CELLS_AHEAD) * size);
    PREFETCH_FAR((const char *)((uintptr_t)line->rows + distance));
}

/* Fetch the lines of a row of `size` bytes, of a long row the first ones; the address may be any. That
   of the last byte is one more, for a row seldom begins where a line does. Rows no longer than a line
   go into the nearest cache: there are few lines on their way. */
static INLINE void fetch_lines(uintptr_t row, Int size)
{
    const Int near = smaller(size, MAX_LINES * CACHE_LINE);
    for (Int byte = 0; byte < near + CACHE_LINE - 1; byte += CACHE_LINE) {
        const char *const place = (const char *)(row + (uintptr_t)smaller(byte, near - 1));
        if (size <= CACHE_LINE) PREFETCH(place);
        else PREFETCH_FAR(place);
    }
}

/* Fetch the row that comes some entries after this one, and its item where items were picked. */
static INLINE void fetch_row(const Line *line, Int entry, Int size)
{
    const Int later = entry + ROWS_AHEAD;
    if (!line->far || later >= line->visible) return;
    fetch_lines((uintptr_t)line->rows + (uintptr_t)(row_of(line, later) * size), size);
    if (line->own_entries)
        fetch_lines((uintptr_t)(line->items + line->own_entries[later] * line->item_stride), size);
}

/* Whether the cells that come after those of eight entries are known, and worth fetching. */
static INLINE int is_far(const Line *line, Int entry)
{
    return line->far && entry + 8 + CELLS_AHEAD <= line->visible;
}

static void copy(char *to, const char *from, Int bytes) { memcpy(to, from, (size_t)bytes); }

/* The same past the caches, which then keep what is read and need not fetch what is written over. */
static void stream(char *to, const char *from, Int bytes)
{
#if defined(X86)
    Int done = smaller((Int)(-(uintptr_t)to & 15u), bytes);
    copy(to, from, done);
    for (; done + 16 <= bytes; done += 16)
        _mm_stream_si128((void *)(to + done), _mm_loadu_si128((const void *)(from + done)));
    to += done, from += done, bytes -= done;
#endif
    copy(to, from, bytes);
}

/* Whether loops may read the numbers themselves: one column of rows of 8 bytes each. */
static int is_plain(const Addresses *where)
{
    const Column *const column = where->columns;
    const int is_int = column->type == INT64 || column->type == UINT64;
    const int is_flat = column->plane_step == 0 || where->sizes[0] == 1;
    return where->count == 1 && is_int && column->strides[2] == sizeof(Int) && is_flat
           && column->step == 1 && column->place_step == 0 && column->first == 0;
}

/* How far a job is: its next number and item, and those that are fetched. */
typedef struct {
    Cursor number, item, soon_number, soon_item;
} Progress;

/* The items of planes before `end`. Returns 1 where a number is outside. Numbers that loops cannot read
   themselves are resolved a chunk at a time; what is next is fetched ahead, so that some addresses
   wait until those after them are known. */
static int run_planes(LineLoop loop, Line *line, const Addresses *where, const Items *items,
                      Progress *at, Int end)
{
    const Column *const column = where->columns;
    const int plain = is_plain(where);
    Int addresses[MAX_ADDRESSES], kept = 0;
    line->turn = plain ? column->turn : 0, line->limit = plain ? column->size : INT64_MAX;
    while (at->number.plane < end || kept > 0) {
        Int known = where->sizes[2] - at->number.place;
        line->numbers = addresses;
        if (plain) {
            line->numbers = (const Int *)(const void *)item_at(column->numbers, column->strides,
                                                               &at->number);
            advance(&at->number, where->sizes, known);
        } else {
            known = resolve_chunk(where, &at->number, end, addresses + kept, CHUNK);
            if (known < 0) return 1;
            known += kept;
            kept = at->number.plane == end || !line->far ? 0 : smaller(known, CELLS_AHEAD);
        }
        for (Int left = known; left > kept; left -= line->count, line->numbers += line->count) {
            line->count = smaller(items->sizes[2] - at->item.place, left - kept);
            line->visible = left;
            line->items = item_at(items->start, items->strides, &at->item);
            line->soon = item_at(column->numbers, column->strides, &at->soon_number);
            line->soon_items = item_at(items->start, items->strides, &at->soon_item);
            if (loop(line)) return 1;
            line->next_rows += line->count * line->next_bytes;
            advance(&at->item, items->sizes, line->count);
            advance(&at->soon_number, where->sizes, line->count);
            advance(&at->soon_item, items->sizes, line->count);
        }
        if (kept) memmove(addresses, line->numbers, (size_t)kept * sizeof(Int));
    }
    return 0;
}

/* All lines of a job; returns 1 where a number is outside. Plane by plane where they have their own
   rows: these are copied from their source just before, into the nearest cache where they fit there,
   and from there past the others. Meanwhile the rows of the next plane are fetched, if they are so
   short that there is an entry for each of their lines. */
static Int run_job(LineLoop loop, Line *line, char *rows, const Addresses *where,
                   const Items *items)
{
    char near[NEAR_BYTES];
    Progress at = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    const Int plane_bytes = where->plane_bytes, planes = where->sizes[0];
    const Int entries = where->sizes[1] * where->sizes[2];
    const int is_short = plane_bytes <= 8 * NEAR_BYTES && plane_bytes <= entries * CACHE_LINE;
    const int is_near = where->source && plane_bytes <= NEAR_BYTES;
    const char *source = where->source ? where->source : rows;
    advance(&at.soon_number, where->sizes, ENTRIES_AHEAD);
    advance(&at.soon_item, items->sizes, ENTRIES_AHEAD);
    line->soon_bytes = where->columns->strides[2];
    line->next_bytes = is_short ? (plane_bytes + entries - 1) / entries : 0;
    line->far = where->far, line->stream = items->stream, line->item_stride = items->strides[2];
    for (Int end = where->own_rows ? 1 : planes; end <= planes; end++, rows += plane_bytes) {
        line->rows = is_near ? near : rows;
        if (where->source) copy(line->rows, source, plane_bytes);
        source += plane_bytes;
        line->next_rows = source;
        if (run_planes(loop, line, where, items, &at, end)) return 1;
        if (is_near) (line->stream ? stream : copy)(rows, near, plane_bytes);
    }
#if defined(X86)
    _mm_sfence(); /* what went past the caches is there for all */
#endif
    return 0;
}

/* ---- take and put: items of `size` bytes ---------------------------------------------------- */

/* Cells of a constant size, whose memcpy is one load and one store, whatever the alignment: those of
   some entries, and those of all by eight, a constant number that compilers write out. */
static INLINE int move_some(Int size, int is_take, int far, const Line *line, Int first, Int count)
{
    for (Int number = 0; number < count; number++) {
        const Int entry = first + number;
        if (far) fetch_cell(line, entry, size);
        const Int at = row_of(line, entry);
        if (is_outside(line, at)) return 1;
        char *const row = line->rows + at * size;
        char *const item = line->items + entry * line->item_stride;
        memcpy(is_take ? item : row, is_take ? row : item, (size_t)size);
    }
    return 0;
}
static INLINE int move_cells(Int size, int is_take, const Line *given)
{
    const Line line = *given;
    Int entry = 0;
    for (; entry + 8 <= line.count; entry += 8) {
        fetch_soon(&line, entry);
        if (!is_take) PREFETCH(line.soon_items + entry * line.item_stride);
        if (is_far(&line, entry) ? move_some(size, is_take, 1, &line, entry, 8)
                                 : move_some(size, is_take, 0, &line, entry, 8))
            return 1;
    }
    return move_some(size, is_take, 0, &line, entry, line.count - entry);
}

static INLINE int is_cell(Int size)
{
    return size == 1 || size == 2 || size == 4 || size == 8 || size == 16;
}

static INLINE int move_cells_of_line(int is_take, const Line *line)
{
    switch (line->size) {
    case 1: return move_cells(1, is_take, line);
    case 2: return move_cells(2, is_take, line);
    case 4: return move_cells(4, is_take, line);
    case 8: return move_cells(8, is_take, line);
    default: return move_cells(16, is_take, line);
    }
}
static int take_cells(const Line *line) { return move_cells_of_line(1, line); }
static int put_cells(const Line *line) { return move_cells_of_line(0, line); }

/* Rows: long ones that come from a cache go past it, so that it keeps them. */
static INLINE int move_rows(int is_take, const Line *line)
{
    const Int size = line->size;
    const int pays = ways & ROWS_PAST_CACHES || (line->far < 2 && size >= LONG_ROW);
    void (*const move)(char *, const char *, Int) =
        is_take && line->stream && pays ? stream : copy;
    for (Int entry = 0; entry < line->count; entry++) {
        const Int number = row_of(line, entry);
        if (is_outside(line, number)) return 1;
        if (entry % 8 == 0) fetch_soon(line, entry);
        fetch_row(line, entry, size);
        char *const row = line->rows + number * size;
        char *const item = line->items + entry * line->item_stride;
        move(is_take ? item : row, is_take ? row : item, size);
    }
    return 0;
}
static int take_rows(const Line *line) { return move_rows(1, line); }
static int put_rows(const Line *line) { return move_rows(0, line); }

/* Cells into the nearest cache, and from there past the others. */
static int take_cells_past_caches(const Line *line)
{
    char near[CHUNK * 16];
    Line part = *line;
    for (Int left = line->count; left > 0; left -= part.count) {
        part.count = smaller(left, CHUNK);
        part.items = near;
        if (take_cells(&part)) return 1;
        const Int done = line->count - left;
        stream(line->items + done * line->item_stride, near, part.count * line->item_stride);
        part.numbers += part.count, part.visible -= part.count;
        part.soon += part.count * part.soon_bytes, part.next_rows += part.count * part.next_bytes;
    }
    return 0;
}

#if defined(X86)
/* Eight cells at a time by the processor's own gathers, past the caches where these are whole lines. */
FOR_AVX512 static INLINE int gather_eights(Int size, const Line *line)
{
    const Int eights = line->count & ~(Int)7;
    const int past = line->stream && ((uintptr_t)line->items & (CACHE_LINE - 1)) == 0;
    const __m512i turn = _mm512_set1_epi64(line->turn), limit = _mm512_set1_epi64(line->limit);
    for (Int entry = 0; entry < eights; entry += 8) {
        void *const to = line->items + entry * size;
        fetch_soon(line, entry);
        for (Int soon = entry; is_far(line, entry) && soon < entry + 8; soon++)
            fetch_cell(line, soon, size);
        const __m512i numbers = _mm512_loadu_si512(line->numbers + entry);
        const __m512i signs = _mm512_srai_epi64(numbers, 63);
        const __m512i from = _mm512_add_epi64(numbers, _mm512_and_epi64(signs, turn));
        if (_mm512_cmpge_epu64_mask(from, limit)) return 1;
        if (size == 4) {
            const __m256i cells = _mm512_i64gather_epi32(from, line->rows, 4);
            if (past) _mm256_stream_si256(to, cells);
            else _mm256_storeu_si256(to, cells);
        } else {
            const __m512i cells = _mm512_i64gather_epi64(from, line->rows, 8);
            if (past) _mm512_stream_si512(to, cells);
            else _mm512_storeu_si512(to, cells);
        }
    }
    return move_some(size, 1, 0, line, eights, line->count - eights);
}
FOR_AVX512 static int gather_4(const Line *line) { return gather_eights(4, line); }
FOR_AVX512 static int gather_8(const Line *line) { return gather_eights(8, line); }
#endif

/* Items at the addresses of `rows` → items. For what is returned see run_job. */
PUBLIC Int gscli_take(char *rows, const Addresses *where, const Items *items, Int size)
{
    Line line = {.size = size};
    LineLoop loop = is_cell(size) ? take_cells : take_rows;
    if (is_cell(size) && items->strides[2] == size) {
        if (items->stream) loop = take_cells_past_caches;
#if defined(X86)
        if (ways & GATHERED_CELLS) loop = size == 4 ? gather_4 : size == 8 ? gather_8 : loop;
#endif
    }
    return run_job(loop, &line, rows, where, items);
}

/* Items → their addresses in `rows`, in entry order: the last one stays. */
PUBLIC Int gscli_put(char *rows, const Addresses *where, const Items *items, Int size)
{
    Line line = {.size = size};
    return run_job(is_cell(size) ? put_cells : put_rows, &line, rows, where, items);
}

/* ---- combine: cell = operation(cell, update), one update after the other --------------------- */

/* Whole numbers wrap, so that only for limits it matters whether they have a sign. */
enum { ADD, SUB, MUL, MAX, MIN, SIGNED_MAX, SIGNED_MIN };

/* A number by its bits, and the bits of a number. */
typedef union { float number; uint32_t bits; } Single;
typedef union { double number; uint64_t bits; } Double;
static INLINE float single_of(uint32_t bits) { return ((Single){.bits = bits}).number; }
static INLINE uint32_t bits_of_single(float number) { return ((Single){.number = number}).bits; }
static INLINE double double_of(uint64_t bits) { return ((Double){.bits = bits}).number; }
static INLINE uint64_t bits_of_double(double number) { return ((Double){.number = number}).bits; }

#if defined(X86)
/* The limit of a cell, which NaN keeps, and an update, which stays if they are equal: by masks, for
   compilers make a jump of a question, which half of the time goes the way that nobody expected. */
static INLINE float limit_singles(Int operation, float cell, float update)
{
    const __m128 a = _mm_load_ss(&cell), b = _mm_load_ss(&update), is_nan = _mm_cmpunord_ss(a, a);
    const __m128 limit = operation == MAX ? _mm_max_ss(a, b) : _mm_min_ss(a, b);
    return _mm_cvtss_f32(_mm_or_ps(_mm_and_ps(is_nan, a), _mm_andnot_ps(is_nan, limit)));
}
static INLINE double limit_doubles(Int operation, double cell, double update)
{
    const __m128d a = _mm_load_sd(&cell), b = _mm_load_sd(&update), is_nan = _mm_cmpunord_sd(a, a);
    const __m128d limit = operation == MAX ? _mm_max_sd(a, b) : _mm_min_sd(a, b);
    return _mm_cvtsd_f64(_mm_or_pd(_mm_and_pd(is_nan, a), _mm_andnot_pd(is_nan, limit)));
}
#endif

/* float16 ↔ float32 without branches, so that compilers can make several at a time of it. The sum,
   difference or product of two halves is exact enough in float32 that rounding it once more gives
   what float16 arithmetic gives (24 bits are at least twice 11 and 2 more). */
static INLINE float from_half(uint16_t half)
{
    const uint32_t magnitude = (uint32_t)(half & 0x7fffu) << 13;
    const uint32_t special = magnitude >= 0x0f800000u ? 0x7f800000u : 0u; /* infinity and NaN */
    const float scaled = single_of(magnitude) * 0x1p112f;
    return single_of(bits_of_single(scaled) | special | (uint32_t)(half & 0x8000u) << 16);
}
static INLINE uint16_t to_half(float number)
{
    const uint32_t signed_bits = bits_of_single(number), sign = signed_bits & 0x80000000u;
    const uint32_t bits = signed_bits ^ sign, odd = (bits >> 13) & 1u;
    const uint32_t normal = (bits + 0xc8000fffu + odd) >> 13; /* rebias, round ties to even */
    const uint32_t subnormal = bits_of_single(single_of(bits) + 0.5f) - 0x3f000000u; /* by adding */
    const uint32_t special = bits > 0x7f800000u ? 0x7e00u : 0x7c00u; /* NaN, infinity */
    const uint32_t finite = bits < 0x38800000u ? subnormal : normal;
    return (uint16_t)((bits >= 0x47800000u ? special : finite) | sign >> 16);
}
static INLINE float from_brain(uint16_t brain) { return single_of((uint32_t)brain << 16); }
static INLINE uint16_t to_brain(float number)
{
    const uint32_t bits = bits_of_single(number);
    const uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
    return (uint16_t)(number != number ? 0x7fc0u | (bits >> 16 & 0x8000u) : rounded);
}

/* The loops of one type: of single cells, of rows, and of rows by wider vectors or NULL. */
typedef struct {
    LineLoop cells, rows, rows_by_avx2;
} TypeLoops;

/* The loops of one type stand in combine.h, whose first lines say what stands before it. */
#define JOIN_(LEFT, RIGHT) LEFT##_##RIGHT
#define JOIN(LEFT, RIGHT) JOIN_(LEFT, RIGHT)
#define OF_TYPE(NAME) JOIN(NAME, TYPE)

#define TYPE whole8
#define CELL uint8_t
#define NUMBER uint8_t
#define SIGNED int8_t
#include "combine.h"
#define TYPE whole16
#define CELL uint16_t
#define NUMBER uint32_t /* not uint16_t: the product of two would be an int, and might not fit */
#define SIGNED int16_t
#include "combine.h"
#define TYPE whole32
#define CELL uint32_t
#define NUMBER uint32_t
#define SIGNED int32_t
#include "combine.h"
#define TYPE whole64
#define CELL uint64_t
#define NUMBER uint64_t
#define SIGNED int64_t
#include "combine.h"

#define TYPE float32
#define CELL uint32_t
#define NUMBER float
#define LOAD single_of
#define STORE bits_of_single
#if defined(X86)
#define LIMIT limit_singles
#endif
#include "combine.h"
#define TYPE float64
#define CELL uint64_t
#define NUMBER double
#define LOAD double_of
#define STORE bits_of_double
#if defined(X86)
#define LIMIT limit_doubles
#endif
#include "combine.h"
#define TYPE bfloat16
#define CELL uint16_t
#define NUMBER float
#define LOAD from_brain
#define STORE to_brain
#define STORE_ROUNDS
#include "combine.h"
#define TYPE float16
#define CELL uint16_t
#define NUMBER float
#define LOAD from_half
#define STORE to_half
#define STORE_ROUNDS
#define EQUAL_STAYS
#include "combine.h"

#if defined(X86)
/* float16 once more, by the processor's own conversions, which round as to_half does: eight at a time
   where there are so many. */
FOR_F16C static INLINE float load_half(uint16_t half) { return _cvtsh_ss(half); }
FOR_F16C static INLINE uint16_t store_half(float number) { return _cvtss_sh(number, 0); }
FOR_F16C static INLINE void combine_eight_halves(Int operation, uint16_t *row, const uint16_t *values)
{
    const __m256 a = _mm256_cvtph_ps(_mm_loadu_si128((const void *)row));
    const __m256 b = _mm256_cvtph_ps(_mm_loadu_si128((const void *)values));
    const __m256 is_nan = _mm256_cmp_ps(a, a, _CMP_UNORD_Q);
    const __m256 stays = operation == MAX ? _mm256_cmp_ps(a, b, _CMP_GE_OQ)
                                          : _mm256_cmp_ps(a, b, _CMP_LE_OQ);
    const __m256 result = operation == ADD   ? _mm256_add_ps(a, b)
                          : operation == SUB ? _mm256_sub_ps(a, b)
                          : operation == MUL ? _mm256_mul_ps(a, b)
                                             : _mm256_blendv_ps(b, a, _mm256_or_ps(is_nan, stays));
    _mm_storeu_si128((void *)row, _mm256_cvtps_ph(result, 0));
}
#define TYPE float16_by_f16c
#define CELL uint16_t
#define NUMBER float
#define LOAD load_half
#define STORE store_half
#define STORE_ROUNDS
#define EQUAL_STAYS
#define TARGET FOR_F16C
#define COMBINE_EIGHT combine_eight_halves
#include "combine.h"
#endif
#if defined(FOR_FP16)
/* Processors that add halves themselves, thirty-two at a time: rounded once, as to_half does. */
typedef union { _Float16 number; uint16_t bits; } Half;
static INLINE _Float16 half_of(uint16_t bits) { return ((Half){.bits = bits}).number; }
static INLINE uint16_t bits_of_half(_Float16 number) { return ((Half){.number = number}).bits; }
#define TYPE float16_by_fp16
#define CELL uint16_t
#define NUMBER _Float16
#define LOAD half_of
#define STORE bits_of_half
#define TARGET FOR_FP16
#include "combine.h"
#endif

static const TypeLoops *const LOOPS_OF_TYPES[] = {
    [INT8] = &loops_of_whole8,      [INT16] = &loops_of_whole16,    [INT32] = &loops_of_whole32,
    [INT64] = &loops_of_whole64,    [UINT8] = &loops_of_whole8,     [UINT16] = &loops_of_whole16,
    [UINT32] = &loops_of_whole32,   [UINT64] = &loops_of_whole64,   [FLOAT32] = &loops_of_float32,
    [FLOAT64] = &loops_of_float64,  [FLOAT16] = &loops_of_float16,  [BFLOAT16] = &loops_of_bfloat16,
};

/* The loop of an operation and a type that suits the processor. */
static LineLoop find_loop(Int operation, Int type, int single_cells)
{
    const TypeLoops *loops = LOOPS_OF_TYPES[type];
    (void)operation; /* unless this compiler knows processors that add halves */
#if defined(X86)
    if (type == FLOAT16 && ways & CONVERTED_HALVES) loops = &loops_of_float16_by_f16c;
#endif
#if defined(FOR_FP16)
    if (type == FLOAT16 && operation < MAX && ways & ADDED_HALVES) loops = &loops_of_float16_by_fp16;
#endif
    if (single_cells) return loops->cells;
    return loops->rows_by_avx2 && ways & VECTORS_OF_32 ? loops->rows_by_avx2 : loops->rows;
}

/* The loop of a job for its own rows alone, picked without branches: half of them usually are. */
static int combine_own_rows(const Line *line)
{
    const Int top = line->top, bottom = line->bottom;
    Int rows[CHUNK + 1];
    int32_t entries[CHUNK + 1];
    Line own = *line;
    own.numbers = rows, own.own_entries = entries, own.turn = 0, own.limit = INT64_MAX;
    own.soon_bytes = own.next_bytes = 0; /* what is soon is fetched while picking */
    for (Int entry = 0; entry < line->count;) {
        Int picked = 0;
        for (const Int end = smaller(entry + CHUNK, line->count); entry < end; entry++) {
            if (entry % 8 == 0) fetch_soon(line, entry);
            const Int row = row_of(line, entry);
            if (is_outside(line, row)) return 1;
            rows[picked] = row, entries[picked] = (int32_t)entry;
            picked += (uint64_t)(row - top) < (uint64_t)(bottom - top);
        }
        own.count = own.visible = picked;
        line->loop(&own);
    }
    return 0;
}

/* `operation` and `type` as in find_loop. Items are rows of `run` cells; for the others see Line, for
   what is returned see run_job. */
PUBLIC Int gscli_combine(Int operation, Int type, char *rows, const Addresses *where,
                         const Items *items, Int run, Int picks, Int top, Int bottom)
{
    const LineLoop loop = find_loop(operation, type, run == 1 && !picks);
    const int is_signed_limit = type <= INT64 && operation >= MAX;
    Line line = {.operation = is_signed_limit ? operation + SIGNED_MAX - MAX : operation,
                 .run = run, .top = top, .bottom = bottom, .loop = loop};
    return run_job(picks ? combine_own_rows : loop, &line, rows, where, items);
}

/* ---- select_equal: who holds what its cell keeps ------------------------------------------- */
/* Writes the numbers of the entries whose value equals what their cell keeps, and returns how many they
   are. Entries without a cell have -1. */
PUBLIC Int gscli_select_equal(const Int *cells, const double *values, Int count, const double *kept,
                              Int *numbers)
{
    Int chosen = 0;
    for (Int entry = 0; entry < count; entry++) {
        numbers[chosen] = entry;
        chosen += cells[entry] >= 0 && values[entry] == kept[cells[entry]];
    }
    return chosen;
}

/* ---- multiply: the factors of each cell ---------------------------------------------------- */
/* Every factor in turn: what its cell holds goes to `passed`, then the factor is multiplied to the cell.
   On the way `back`, from the last factor, what is passed on is multiplied to what is there. Entries
   without a cell have -1, and pass on 0. */
PUBLIC Int gscli_multiply(const Int *cells, const double *factors, Int count, double *products,
                          double *passed, Int back)
{
    for (Int number = 0; number < count; number++) {
        const Int entry = back ? count - 1 - number : number, cell = cells[entry];
        const double product = cell < 0 ? 0 : products[cell];
        passed[entry] = back ? passed[entry] * product : product;
        if (cell >= 0) products[cell] = product * factors[entry];
    }
    return 0;
}

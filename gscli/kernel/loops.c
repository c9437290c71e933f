/* The kernel's inner loops: resolve, take, put, combine, and two of gradients.

   Plain C11 without Python or NumPy headers, called through ctypes by loops.py, which passes native,
   aligned arrays. Every loop gives the bits of the sequential loop of the specifications: cells are
   visited in entry order, and each update is rounded to the type of its cell before the next one is
   looked at. That needs -ffp-contract=off (no fused operations) and -fwrapv (whole numbers wrap).

   A grid is `planes` × `height` × `width` entries in row-major order. Addresses are int64 numbers of
   rows, resolved from index numbers a chunk at a time, so that they never leave the nearest cache; no
   row is touched before the numbers of its chunk were judged.

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
#define MOVES_AHEAD 64 /* cells that are fetched ahead where they are moved */
#define MAX_ADDRESSES (CHUNK + MOVES_AHEAD)
#define CELLS_AHEAD 16     /* cells that are fetched ahead where they are combined */
#define ROWS_AHEAD 6       /* rows that are fetched ahead where they are taken */
#define NUMBERS_AHEAD 512  /* entries: what the processor fetches by itself ends with each page */
#define NEAR_BYTES 32768   /* bytes of rows that are worked on in the nearest cache */

typedef int64_t Int;
static inline Int smaller(Int a, Int b) { return a < b ? a : b; }

/* loops.py refuses a library that answers another number. */
PUBLIC Int gscli_interface(void) { return 8; }

/* ---- what a processor has, and which ways it goes ------------------------------------------- */

/* What this processor has: vectors of 32 bytes, conversion of float16, vectors of 64 bytes, sums of
   float16, and who made it. (`Feature` in loops.py.) */
PUBLIC Int gscli_processor(void)
{
    Int features = 0;
#if defined(X86)
    unsigned a = 0, b, c = 0, d;
    __builtin_cpu_init();
    __get_cpuid(1, &a, &b, &c, &d);
    if (__builtin_cpu_supports("avx2")) features |= 1;
    if (features && (c & bit_F16C)) features |= 2;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl")
        && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq"))
        features |= 4;
    if (__builtin_cpu_is("intel")) features |= 16;
    const unsigned family = (a >> 8 & 15) + (a >> 20 & 255);
    if (__builtin_cpu_is("amd") && family == 0x19) features |= 32;
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
    PICKED_CELLS = 32,
    ROWS_PAST_CACHES = 64,
    WHOLE_ROWS_AHEAD = 128, /* those after it are for loops.py alone */
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
   share theirs. `far`: the rows do not fit a near cache, so that it pays to fetch ahead. `source`:
   what rows hold before, where they are not there yet. */
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

/* A line: `count` items `item_stride` bytes apart, at most MAX_ADDRESSES, and their addresses among
   the rows; `visible` addresses may be looked at ahead. The rest is the same for all lines of a
   job: `size` is that of an item to move, in bytes; an item to combine is a row of `run` cells.
   Threads that share the work without sharing cells are given rows `top` … `bottom`-1 only: then
   `loop` gets the numbers of the entries to combine as `own_entries`, and all of them where that is
   NULL. Index numbers at `soon` and rows at `next_rows`, which are read before long, are fetched on
   the way: so many bytes for each entry. */
typedef struct Line Line;
typedef void (*LineLoop)(const Line *line);
struct Line {
    char *rows;
    const Int *addresses;
    Int count, visible;
    char *items;
    Int item_stride;
    Int far, stream;
    Int size;
    Int operation, run, top, bottom;
    LineLoop loop;
    const int32_t *own_entries;
    const char *soon, *next_rows;
    Int soon_bytes, next_bytes;
};

/* A little at every eighth entry, for a processor waits where it is asked for much at once. */
static INLINE void fetch_soon(const Line *line, Int entry)
{
    if (entry % 8) return;
    PREFETCH(line->soon + entry * line->soon_bytes);
    if (line->next_bytes) PREFETCH(line->next_rows + entry * line->next_bytes);
}

/* How many entries of a line are followed by one that is `ahead` of them, and worth fetching. */
static INLINE Int fetched_count(const Line *line, Int ahead)
{
    return line->far ? smaller(line->visible - ahead, line->count) : 0;
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

/* The items of planes before `end`. Returns 1 where a number is outside; then nothing of its chunk was
   touched. */
static Int run_planes(LineLoop loop, Line *line, const Addresses *where, const Items *items,
                      Cursor *index_cursor, Cursor *item_cursor, Cursor *fetch_cursor, Int end)
{
    const Column *column = where->columns;
    Int addresses[MAX_ADDRESSES], resolved, kept = 0;
    while ((resolved = resolve_chunk(where, index_cursor, end, addresses + kept, CHUNK)) > 0) {
        const Int known = kept + resolved, is_last = index_cursor->plane == end;
        /* What is next is fetched ahead: some addresses wait until those after them are known. */
        kept = is_last || !line->far ? 0 : smaller(known, MOVES_AHEAD);
        for (Int done = 0; done < known - kept; done += line->count) {
            line->addresses = addresses + done;
            line->count = smaller(items->sizes[2] - item_cursor->place, known - kept - done);
            line->visible = known - done;
            line->items = item_at(items->start, items->strides, item_cursor);
            line->soon = item_at(column->numbers, column->strides, fetch_cursor);
            loop(line);
            line->next_rows += line->count * line->next_bytes;
            advance(item_cursor, items->sizes, line->count);
            advance(fetch_cursor, where->sizes, line->count);
        }
        memmove(addresses, addresses + known - kept, (size_t)kept * sizeof(Int));
    }
    return resolved < 0;
}

/* Plane by plane where they have their own rows: these are copied from their source just before, into
   the nearest cache where they fit there, and from there past the others. */
static Int run_job(LineLoop loop, Line *line, char *rows, const Addresses *where,
                   const Items *items)
{
    char near[NEAR_BYTES];
    Cursor index_cursor = {0, 0, 0}, item_cursor = {0, 0, 0}, fetch_cursor = {0, 0, 0};
    const Int plane_bytes = where->plane_bytes, planes = where->sizes[0];
    const Int entries = where->sizes[1] * where->sizes[2];
    const int is_short = plane_bytes <= 8 * NEAR_BYTES && plane_bytes <= entries * CACHE_LINE;
    const int is_near = where->source && plane_bytes <= NEAR_BYTES;
    const char *source = where->source ? where->source : rows;
    advance(&fetch_cursor, where->sizes, NUMBERS_AHEAD);
    line->soon_bytes = where->columns->strides[2];
    line->next_bytes = is_short ? (plane_bytes + entries - 1) / entries : 0;
    line->far = where->far, line->stream = items->stream, line->item_stride = items->strides[2];
    for (Int end = where->own_rows ? 1 : planes; end <= planes; end++, rows += plane_bytes) {
        line->rows = is_near ? near : rows;
        if (where->source) copy(line->rows, source, plane_bytes);
        source += plane_bytes;
        line->next_rows = source;
        if (run_planes(loop, line, where, items, &index_cursor, &item_cursor, &fetch_cursor, end))
            return 1;
        if (is_near) (line->stream ? stream : copy)(rows, near, plane_bytes);
    }
#if defined(X86)
    _mm_sfence(); /* what went past the caches is there for all */
#endif
    return 0;
}

/* ---- take and put: items of `size` bytes ---------------------------------------------------- */

/* Cells of a constant size, whose memcpy is one load and one store, whatever the alignment. */
static INLINE void move_cells(Int size, int is_take, const Line *line)
{
    const Int *const addresses = line->addresses;
    const Int count = line->count, stride = line->item_stride;
    const Int ahead = fetched_count(line, MOVES_AHEAD);
    char *const rows = line->rows, *const items = line->items;
    for (Int entry = 0; entry < count; entry++) {
        fetch_soon(line, entry);
        if (entry < ahead) PREFETCH_FAR(rows + addresses[entry + MOVES_AHEAD] * size);
        char *const row = rows + addresses[entry] * size, *const item = items + entry * stride;
        memcpy(is_take ? item : row, is_take ? row : item, (size_t)size);
    }
}

static INLINE int is_cell(Int size)
{
    return size == 1 || size == 2 || size == 4 || size == 8 || size == 16;
}

static INLINE void move_cells_of_line(int is_take, const Line *line)
{
    switch (line->size) {
    case 1: move_cells(1, is_take, line); break;
    case 2: move_cells(2, is_take, line); break;
    case 4: move_cells(4, is_take, line); break;
    case 8: move_cells(8, is_take, line); break;
    default: move_cells(16, is_take, line);
    }
}
static void take_cells(const Line *line) { move_cells_of_line(1, line); }
static void put_cells(const Line *line) { move_cells_of_line(0, line); }

static void take_rows(const Line *line)
{
    const Int *const addresses = line->addresses;
    const Int size = line->size;
    const Int near = ways & WHOLE_ROWS_AHEAD ? smaller(size, 64 * CACHE_LINE) : 1;
    void (*const move)(char *, const char *, Int) =
        line->stream && ways & ROWS_PAST_CACHES ? stream : copy;
    for (Int entry = 0; entry < line->count; entry++) {
        fetch_soon(line, entry);
        /* Rows seldom begin where a line of the cache does: their last byte's line is one more. */
        for (Int byte = 0; entry + ROWS_AHEAD < line->visible && byte < near + CACHE_LINE - 1;
             byte += CACHE_LINE)
            PREFETCH(line->rows + addresses[entry + ROWS_AHEAD] * size + smaller(byte, near - 1));
        move(line->items + entry * line->item_stride, line->rows + addresses[entry] * size, size);
    }
}
static void put_rows(const Line *line)
{
    for (Int entry = 0; entry < line->count; entry++) {
        fetch_soon(line, entry);
        copy(line->rows + line->addresses[entry] * line->size,
             line->items + entry * line->item_stride, line->size);
    }
}

/* Cells into the nearest cache, and from there past the others. */
static void take_cells_past_caches(const Line *line)
{
    char near[MAX_ADDRESSES * 16];
    Line near_line = *line;
    near_line.items = near;
    take_cells(&near_line);
    stream(line->items, near, line->count * line->item_stride);
}

#if defined(X86)
/* Eight cells at a time by the processor's own gathers, past the caches where these are whole lines. */
FOR_AVX512 static INLINE void gather_eights(Int size, const Line *line)
{
    const Int *const addresses = line->addresses;
    const Int eights = line->count & ~(Int)7, ahead = fetched_count(line, MOVES_AHEAD);
    const int past = line->stream && ((uintptr_t)line->items & (CACHE_LINE - 1)) == 0;
    for (Int entry = 0; entry < eights; entry += 8) {
        void *const to = line->items + entry * size;
        fetch_soon(line, entry);
        for (Int soon = entry; entry + 8 <= ahead && soon < entry + 8; soon++)
            PREFETCH_FAR(line->rows + addresses[soon + MOVES_AHEAD] * size);
        const __m512i from = _mm512_loadu_si512(addresses + entry);
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
    Line rest = *line;
    rest.addresses += eights, rest.count -= eights, rest.visible -= eights;
    rest.items += eights * size, rest.soon += eights * rest.soon_bytes;
    rest.next_rows += eights * rest.next_bytes;
    move_cells(size, 1, &rest);
}
FOR_AVX512 static void gather_4(const Line *line) { gather_eights(4, line); }
FOR_AVX512 static void gather_8(const Line *line) { gather_eights(8, line); }
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
/* The larger and the smaller of two numbers; the second where neither is. Compilers make a jump of a
   question, which half of the time goes the way that nobody expected. */
static INLINE float larger_single(float a, float b)
{
    return _mm_cvtss_f32(_mm_max_ss(_mm_set_ss(a), _mm_set_ss(b)));
}
static INLINE float smaller_single(float a, float b)
{
    return _mm_cvtss_f32(_mm_min_ss(_mm_set_ss(a), _mm_set_ss(b)));
}
static INLINE double larger_double(double a, double b)
{
    return _mm_cvtsd_f64(_mm_max_sd(_mm_set_sd(a), _mm_set_sd(b)));
}
static INLINE double smaller_double(double a, double b)
{
    return _mm_cvtsd_f64(_mm_min_sd(_mm_set_sd(a), _mm_set_sd(b)));
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

/* The loops of one type: of single cells, and of rows by each kind of vectors; NULL where there is none. */
typedef struct {
    LineLoop cells, rows, rows_by_avx2, sums_by_avx512;
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
#define LARGER larger_single
#define SMALLER smaller_single
#endif
#include "combine.h"
#define TYPE float64
#define CELL uint64_t
#define NUMBER double
#define LOAD double_of
#define STORE bits_of_double
#if defined(X86)
#define LARGER larger_double
#define SMALLER smaller_double
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

/* The loop of an operation and a type that suits the processor. Maximum and minimum are quicker by
   vectors of 32 bytes than by those of 64. */
static LineLoop find_loop(Int operation, Int type, int single_cells)
{
    const TypeLoops *loops = LOOPS_OF_TYPES[type];
    const int is_sum = operation < MAX;
#if defined(X86)
    if (type == FLOAT16 && ways & CONVERTED_HALVES) loops = &loops_of_float16_by_f16c;
#endif
#if defined(FOR_FP16)
    if (type == FLOAT16 && is_sum && ways & ADDED_HALVES) loops = &loops_of_float16_by_fp16;
#endif
    if (single_cells) return loops->cells;
    if (loops->sums_by_avx512 && is_sum && ways & VECTORS_OF_64) return loops->sums_by_avx512;
    if (loops->rows_by_avx2 && ways & VECTORS_OF_32) return loops->rows_by_avx2;
    return loops->rows;
}

#if defined(X86)
/* Eight addresses at a time; returns how many were looked at. */
FOR_AVX512 static Int pick_eights(const Line *line, int32_t *picked, Int *picked_count)
{
    const __m512i first = _mm512_set1_epi64(line->top);
    const __m512i size = _mm512_set1_epi64(line->bottom - line->top);
    __m256i places = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    for (Int entry = 0; entry + 8 <= line->count; entry += 8) {
        fetch_soon(line, entry);
        const __m512i row = _mm512_sub_epi64(_mm512_loadu_si512(line->addresses + entry), first);
        const __mmask8 is_own = _mm512_cmplt_epu64_mask(row, size);
        const __m256i own_places = _mm256_maskz_compress_epi32(is_own, places);
        _mm256_storeu_si256((void *)(picked + *picked_count), own_places);
        *picked_count += __builtin_popcount(is_own);
        places = _mm256_add_epi32(places, _mm256_set1_epi32(8));
    }
    return line->count & ~(Int)7;
}
#endif

/* The loop of a job for its own rows alone, picked without branches: half of them usually are. */
static void combine_own_rows(const Line *line)
{
    const Int top = line->top, bottom = line->bottom;
    int32_t picked[MAX_ADDRESSES + 1];
    Int picked_count = 0, entry = 0;
#if defined(X86)
    if (ways & PICKED_CELLS)
        entry = pick_eights(line, picked, &picked_count);
#endif
    for (; entry < line->count; entry++) {
        fetch_soon(line, entry);
        picked[picked_count] = (int32_t)entry;
        picked_count += (uint64_t)(line->addresses[entry] - top) < (uint64_t)(bottom - top);
    }
    Line own_line = *line;
    own_line.own_entries = picked, own_line.count = picked_count;
    own_line.soon_bytes = own_line.next_bytes = 0; /* what is soon was fetched while picking */
    own_line.visible = smaller(picked_count, line->visible);
    line->loop(&own_line);
}

/* `operation` and `type` as in find_loop. Items are rows of `run` cells; for the others see Line, for
   what is returned see run_job. */
PUBLIC Int gscli_combine(Int operation, Int type, char *rows, const Addresses *where,
                         const Items *items, Int run, Int picks, Int top, Int bottom)
{
    const LineLoop loop = find_loop(operation, type, run == 1);
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

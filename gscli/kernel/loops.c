/* The kernel's inner loops: resolve, take, put, combine, and two of gradients.

   Plain C11 without Python or NumPy headers, called through ctypes by loops.py, which passes native,
   aligned arrays. Every loop gives the bits of the sequential loop of the specifications: cells are
   visited in entry order, and each update is rounded to the type of its cell before the next one is
   looked at. That needs -ffp-contract=off (no fused operations) and -fwrapv (whole numbers wrap).

   A grid is `planes` × `height` × `width` entries in row-major order. Addresses are int64 numbers of
   rows, resolved from index numbers a chunk at a time, so that they never leave the nearest cache; no
   row is touched before the numbers of its chunk were judged.

   From top to bottom: what a processor has, index numbers to addresses, a job cut into lines of
   items, what is done to a line (take, put, combine), and the loops of gradients. */

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
#if !defined(__clang__) && __GNUC__ >= 12
#define FOR_FP16 __attribute__((target("avx512fp16,avx512vl")))
#endif
#endif

#define CACHE_LINE 64
#define CHUNK 256      /* index numbers that are resolved at a time */
#define MOVES_AHEAD 64 /* cells that are fetched ahead where they are moved */
#define MAX_ADDRESSES (CHUNK + MOVES_AHEAD)
#define CELLS_AHEAD 16     /* cells that are fetched ahead where they are combined */
#define ROWS_AHEAD 6       /* rows that are fetched ahead where they are taken */
#define NUMBERS_AHEAD 4096 /* bytes: what the processor fetches by itself ends with each page */
#define NEAR_BYTES 32768   /* bytes of rows that are worked on in the nearest cache */

typedef int64_t Int;
static inline Int smaller(Int a, Int b) { return a < b ? a : b; }

/* loops.py refuses a library that answers another number. */
PUBLIC Int gscli_interface(void) { return 6; }

/* ---- what a processor has, and which ways it goes ------------------------------------------- */

/* What this processor has: vectors of 32 bytes, conversion of float16, vectors of 64 bytes, sums of
   float16, and its maker. (`Feature` in loops.py.) */
PUBLIC Int gscli_processor(void)
{
    Int features = 0;
#if defined(X86)
    unsigned a, b, c, d;
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2")) features |= 1;
    if (features && __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C)) features |= 2;
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
    PICKED_CELLS = 32,
    ROWS_PAST_CACHES = 64, /* those after it are for loops.py alone */
};
static Int ways;
PUBLIC Int gscli_use(Int chosen) { return ways = chosen; }

/* ---- index numbers → addresses -------------------------------------------------------------- */

/* One column of index numbers: what they mean, and how many bytes apart they stand. */
typedef struct {
    const char *numbers;
    Int strides[3];
    Int type;       /* the place in INTEGER_TYPES */
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
    cursor->place += some;
    if (cursor->place == sizes[2]) cursor->place = 0, ++cursor->row;
    if (cursor->row == sizes[1]) cursor->row = 0, ++cursor->plane;
}

#define INTEGER_TYPES(X) X(int8_t) X(int16_t) X(int32_t) X(int64_t)                                \
    X(uint8_t) X(uint16_t) X(uint32_t) X(uint64_t)
#define INTEGER_NAME(T) IS_##T,
enum { INTEGER_TYPES(INTEGER_NAME) };

/* A uint64 above 2^63 reads as negative, hence as outside. */
static INLINE Int read_number(Int type, const void *place)
{
#define READ(T) if (type == IS_##T) return (Int) * (const T *)place;
    INTEGER_TYPES(READ)
    return 0;
}

/* Write number * step + first + place * place_step for each of `width` numbers to its address, or add
   it to that of the columns before (`more`). Returns whether a number was outside 0 … size-1, after
   `turn` was added to negative ones. */
#define RESOLVE_PARAMETERS                                                                         \
    const Column *column, const char *numbers, Int width, Int first, int more, Int *addresses
static INLINE int resolve_line(Int type, Int stride, RESOLVE_PARAMETERS)
{
    const Column c = *column;
    uint64_t outside = 0;
    for (Int w = 0; w < width; w++) {
        Int number = read_number(type, numbers + w * stride);
        number += (number >> 63) & c.turn;
        outside |= (uint64_t)((uint64_t)number >= (uint64_t)c.size);
        addresses[w] = (more ? addresses[w] : 0) + number * c.step + first + w * c.place_step;
    }
    return outside != 0;
}

#define RESOLVE_LINE(T, NAME, TARGET)                                                              \
    TARGET static int NAME##_##T(RESOLVE_PARAMETERS)                                               \
    {                                                                                              \
        const Int stride = column->strides[2], size = (Int)sizeof(T);                              \
        return stride == size ? resolve_line(IS_##T, size, column, numbers, width, first, more,    \
                                             addresses)                                            \
                              : resolve_line(IS_##T, stride, column, numbers, width, first, more,  \
                                             addresses);                                           \
    }
typedef int (*ResolveLine)(RESOLVE_PARAMETERS);

#define RESOLVE_BY_ANY(T) RESOLVE_LINE(T, resolve, )
#define BY_ANY(T) resolve_##T,
INTEGER_TYPES(RESOLVE_BY_ANY)
static const ResolveLine RESOLVE_LINES[] = {INTEGER_TYPES(BY_ANY)};
#if defined(X86)
#define RESOLVE_BY_AVX2(T) RESOLVE_LINE(T, resolve_by_avx2, FOR_AVX2)
#define BY_AVX2(T) resolve_by_avx2_##T,
INTEGER_TYPES(RESOLVE_BY_AVX2)
static const ResolveLine RESOLVE_LINES_BY_AVX2[] = {INTEGER_TYPES(BY_AVX2)};
#define RESOLVE_BY_AVX512(T) RESOLVE_LINE(T, resolve_by_avx512, FOR_AVX512)
#define BY_AVX512(T) resolve_by_avx512_##T,
INTEGER_TYPES(RESOLVE_BY_AVX512)
static const ResolveLine RESOLVE_LINES_BY_AVX512[] = {INTEGER_TYPES(BY_AVX512)};
#endif

static const ResolveLine *resolve_lines(void)
{
#if defined(X86)
    if (ways & VECTORS_OF_64) return RESOLVE_LINES_BY_AVX512;
    if (ways & VECTORS_OF_32) return RESOLVE_LINES_BY_AVX2;
#endif
    return RESOLVE_LINES;
}

/* At most `most` numbers of planes before `end` → addresses; how many, or -1: one is outside. */
static Int resolve_chunk(const Addresses *where, Cursor *cursor, Int end, Int *addresses, Int most)
{
    const Int *const sizes = where->sizes;
    const ResolveLine *const resolve = resolve_lines();
    Int done = 0;
    while (done < most && cursor->plane < end) {
        const Int some = smaller(sizes[2] - cursor->place, most - done);
        for (Int k = 0; k < where->count; k++) {
            const Column *c = where->columns + k;
            const char *const numbers = item_at(c->numbers, c->strides, cursor);
            const Int stride = c->strides[2];
            /* Bytes of a row of numbers, and how far off those are that are read soon. */
            const Int row = sizes[1] > 1 ? sizes[2] * stride : 0;
            const Int is_short = row > 0 && row <= NUMBERS_AHEAD;
            const Int ahead = is_short ? NUMBERS_AHEAD / row * c->strides[1] : NUMBERS_AHEAD;
            for (Int b = 0; stride <= CACHE_LINE && b < some * stride; b += CACHE_LINE)
                PREFETCH(numbers + ahead + b);
            const Int first =
                c->first + cursor->plane * c->plane_step + cursor->place * c->place_step;
            if (resolve[c->type](c, numbers, some, first, k > 0, addresses + done)) return -1;
        }
        done += some;
        advance(cursor, sizes, some);
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

/* A line: at most MAX_ADDRESSES items `item_stride` bytes apart, and their addresses; `visible` of
   these may be looked at ahead. */
typedef struct Job Job;
#define LINE_PARAMETERS                                                                            \
    char *rows, const Int *addresses, Int count, Int visible, char *items, Int item_stride,        \
    const Job *job
#define LINE_ARGUMENTS rows, addresses, count, visible, items, item_stride, job
typedef void (*LineLoop)(LINE_PARAMETERS);

/* What a line is told of its job: the bytes of an item to move, or the `run` cells of a row. Threads
   that share the work without sharing cells are given columns `low` … `high`-1 of each row, or rows
   `top` … `bottom`-1 only: then `line` gets the entries to combine as `own_entries`, and all of them
   where that is NULL. */
struct Job {
    Int size, far, stream, run, low, high, top, bottom;
    LineLoop line;
    const int32_t *own_entries;
};

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

/* The items of planes before `end`; `next_part` is fetched meanwhile, `pace` bytes for each. Returns 1
   where a number is outside; then nothing of its chunk was touched. */
static Int run_planes(LineLoop line, char *rows, const Addresses *where, const Items *items,
                      const Job *job, Cursor *index_cursor, Cursor *item_cursor, Int end,
                      const char *next_part, Int pace)
{
    Int addresses[MAX_ADDRESSES], count, kept = 0;
    while ((count = resolve_chunk(where, index_cursor, end, addresses + kept, CHUNK)) > 0) {
        const Int known = kept + count, last = index_cursor->plane == end;
        for (Int b = 0; b < count * pace; b += CACHE_LINE) PREFETCH(next_part + b);
        next_part += count * pace;
        /* What is next is fetched ahead: some addresses wait until those after them are known. */
        kept = last || !job->far ? 0 : smaller(known, MOVES_AHEAD);
        for (Int used = 0, some; used < known - kept; used += some) {
            some = smaller(items->sizes[2] - item_cursor->place, known - kept - used);
            char *const first = item_at(items->start, items->strides, item_cursor);
            line(rows, addresses + used, some, known - used, first, items->strides[2], job);
            advance(item_cursor, items->sizes, some);
        }
        memmove(addresses, addresses + known - kept, (size_t)kept * sizeof(Int));
    }
    return count < 0;
}

/* Plane by plane where they have their own rows: these are copied from their source just before, into
   the nearest cache where they fit there, and from there past the others. */
static Int run_job(LineLoop line, char *rows, const Addresses *where, const Items *items,
                   const Job *job)
{
    char near[NEAR_BYTES];
    Cursor index_cursor = {0, 0, 0}, item_cursor = {0, 0, 0};
    const Int plane_bytes = where->plane_bytes, planes = where->sizes[0];
    const Int entries = where->sizes[1] * where->sizes[2];
    const Int soon = plane_bytes <= 8 * NEAR_BYTES && plane_bytes <= entries * CACHE_LINE;
    const Int pace = soon ? (plane_bytes + entries - 1) / entries : 0;
    const char *source = where->source ? where->source : rows;
    char *here = where->source && plane_bytes <= NEAR_BYTES ? near : rows;
    for (Int end = where->own_rows ? 1 : planes; end <= planes; end++, rows += plane_bytes) {
        if (here != near) here = rows;
        if (where->source) copy(here, source, plane_bytes);
        source += plane_bytes;
        if (run_planes(line, here, where, items, job, &index_cursor, &item_cursor, end, source,
                       pace))
            return 1;
        if (here == near) (job->stream ? stream : copy)(rows, near, plane_bytes);
    }
#if defined(X86)
    _mm_sfence(); /* what went past the caches is there for all */
#endif
    return 0;
}

/* ---- take and put: items of `size` bytes ---------------------------------------------------- */

/* Cells of a constant size, whose memcpy is one load and one store, whatever the alignment. */
static INLINE void move_cells(Int size, int taken, LINE_PARAMETERS)
{
    const Int ahead = job->far ? smaller(visible - MOVES_AHEAD, count) : 0;
    for (Int w = 0; w < count; w++) {
        if (w < ahead) PREFETCH_FAR(rows + addresses[w + MOVES_AHEAD] * size);
        char *const row = rows + addresses[w] * size, *const item = items + w * item_stride;
        memcpy(taken ? item : row, taken ? row : item, (size_t)size);
    }
}
#define MOVE_CELLS(SIZE)                                                                           \
    static void take_##SIZE(LINE_PARAMETERS) { move_cells(SIZE, 1, LINE_ARGUMENTS); }              \
    static void put_##SIZE(LINE_PARAMETERS) { move_cells(SIZE, 0, LINE_ARGUMENTS); }
MOVE_CELLS(1) MOVE_CELLS(2) MOVE_CELLS(4) MOVE_CELLS(8) MOVE_CELLS(16)

static void take_rows(LINE_PARAMETERS)
{
    const Int size = job->size, near = smaller(size, 64 * CACHE_LINE);
    void (*const move)(char *, const char *, Int) =
        job->stream && ways & ROWS_PAST_CACHES ? stream : copy;
    for (Int w = 0; w < count; w++) {
        /* Rows seldom begin where a line of the cache does: their last byte's line is one more. */
        for (Int k = 0; w + ROWS_AHEAD < visible && k < near + CACHE_LINE - 1; k += CACHE_LINE)
            PREFETCH(rows + addresses[w + ROWS_AHEAD] * size + smaller(k, near - 1));
        move(items + w * item_stride, rows + addresses[w] * size, size);
    }
}
static void put_rows(LINE_PARAMETERS)
{
    const Int size = job->size;
    for (Int w = 0; w < count; w++) copy(rows + addresses[w] * size, items + w * item_stride, size);
}
#define LOOP_OF_SIZE(NAME)                                                                         \
    (size == 1 ? NAME##_1 : size == 2 ? NAME##_2 : size == 4 ? NAME##_4 : size == 8 ? NAME##_8     \
     : size == 16 ? NAME##_16 : NAME##_rows)

/* The line of a job into the nearest cache, and from there past the others. */
static void streamed_line(LINE_PARAMETERS)
{
    char near[MAX_ADDRESSES * 16];
    job->line(rows, addresses, count, visible, near, item_stride, job);
    stream(items, near, count * item_stride);
}

#if defined(X86)
/* Eight cells at a time by the processor's own gathers, past the caches where these are whole lines. */
#define GATHER_CELLS(SIZE, BITS, WORD)                                                             \
    FOR_AVX512 static void gather_##SIZE(LINE_PARAMETERS)                                          \
    {                                                                                              \
        const Int ahead = job->far ? smaller(visible - MOVES_AHEAD, count) : 0;                    \
        const int past = job->stream && ((uintptr_t)items & (CACHE_LINE - 1)) == 0;                \
        Int w = 0;                                                                                 \
        for (; w + 8 <= count; w += 8) {                                                           \
            void *const to = items + w * SIZE;                                                     \
            for (Int k = w; w + 8 <= ahead && k < w + 8; k++)                                      \
                PREFETCH_FAR(rows + addresses[k + MOVES_AHEAD] * SIZE);                            \
            const __m512i from = _mm512_loadu_si512(addresses + w);                                \
            const __m##BITS##i cells = _mm512_i64gather_epi##WORD(from, rows, SIZE);               \
            if (past) _mm##BITS##_stream_si##BITS(to, cells);                                      \
            else _mm##BITS##_storeu_si##BITS(to, cells);                                           \
        }                                                                                          \
        take_##SIZE(rows, addresses + w, count - w, visible - w, items + w * SIZE, SIZE, job);     \
    }
GATHER_CELLS(4, 256, 32) GATHER_CELLS(8, 512, 64)
#endif

/* Items at the addresses of `rows` → items. For what is returned see run_job. */
PUBLIC Int gscli_take(char *rows, const Addresses *where, const Items *items, Int size)
{
    LineLoop line = LOOP_OF_SIZE(take);
    const int are_cells = items->strides[2] == size && line != take_rows;
    const Job job = {.size = size, .far = where->far, .stream = items->stream, .line = line};
    if (are_cells && job.stream) line = streamed_line;
#if defined(X86)
    if (are_cells && ways & GATHERED_CELLS)
        line = size == 4 ? gather_4 : size == 8 ? gather_8 : line;
#endif
    return run_job(line, rows, where, items, &job);
}

/* Items → their addresses in `rows`, in entry order: the last one stays. */
PUBLIC Int gscli_put(char *rows, const Addresses *where, const Items *items, Int size)
{
    const Job job = {.size = size, .far = where->far, .stream = items->stream};
    return run_job(LOOP_OF_SIZE(put), rows, where, items, &job);
}

/* ---- combine: cell = operation(cell, update), one update after the other --------------------- */

enum { ADD, SUB, MUL, MAX, MIN, OPERATIONS };

/* A number by its bits, and the bits of a number. */
#define BITS_OF_NUMBERS(NUMBER, BITS, OF_BITS, BITS_OF)                                            \
    typedef union { NUMBER number; BITS bits; } NUMBER##_bits;                                     \
    static INLINE NUMBER OF_BITS(BITS bits) { return ((NUMBER##_bits){.bits = bits}).number; }     \
    static INLINE BITS BITS_OF(NUMBER number) { return ((NUMBER##_bits){.number = number}).bits; }
BITS_OF_NUMBERS(float, uint32_t, single_of, bits_of_single)
BITS_OF_NUMBERS(double, uint64_t, double_of, bits_of_double)

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

/* The lines of a type for each operation: of single cells, and of rows by each kind of vectors.
   Maximum and minimum are quicker by those of 32 bytes. */
typedef struct {
    LineLoop cells[OPERATIONS], rows[OPERATIONS], rows_by_avx2[OPERATIONS];
    LineLoop sums_by_avx512[MAX];
} Lines;

/* combine.h is the loops of one type; its first lines say what stands before it. */
#define JOIN_(LEFT, RIGHT) LEFT##_##RIGHT
#define JOIN(LEFT, RIGHT) JOIN_(LEFT, RIGHT)
#define OF_TYPE(NAME) JOIN(NAME, TYPE)

#define TYPE uint8
#define CELL uint8_t
#define NUMBER uint8_t
#include "combine.h"
#define TYPE int8
#define CELL uint8_t
#define NUMBER int8_t
#define LIMITS_ONLY
#include "combine.h"
#define TYPE uint16
#define CELL uint16_t
#define NUMBER uint32_t
#include "combine.h"
#define TYPE int16
#define CELL uint16_t
#define NUMBER int16_t
#define LIMITS_ONLY
#include "combine.h"
#define TYPE uint32
#define CELL uint32_t
#define NUMBER uint32_t
#include "combine.h"
#define TYPE int32
#define CELL uint32_t
#define NUMBER int32_t
#define LIMITS_ONLY
#include "combine.h"
#define TYPE uint64
#define CELL uint64_t
#define NUMBER uint64_t
#include "combine.h"
#define TYPE int64
#define CELL uint64_t
#define NUMBER int64_t
#define LIMITS_ONLY
#include "combine.h"

#define TYPE float32
#define CELL uint32_t
#define NUMBER float
#define LOAD(cell) single_of(cell)
#define STORE(number) bits_of_single(number)
#include "combine.h"
#define TYPE float64
#define CELL uint64_t
#define NUMBER double
#define LOAD(cell) double_of(cell)
#define STORE(number) bits_of_double(number)
#include "combine.h"
#define TYPE bfloat16
#define CELL uint16_t
#define NUMBER float
#define LOAD(cell) from_brain(cell)
#define STORE(number) to_brain(number)
#include "combine.h"
#define TYPE float16
#define CELL uint16_t
#define NUMBER float
#define LOAD(cell) from_half(cell)
#define STORE(number) to_half(number)
#define CELL_STAYS
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
#define LOAD(cell) load_half(cell)
#define STORE(number) store_half(number)
#define CELL_STAYS
#define TARGET FOR_F16C
#define COMBINE_EIGHT combine_eight_halves
#include "combine.h"
#endif
#if defined(FOR_FP16)
/* Processors that add halves themselves, thirty-two at a time: rounded once, as to_half does. */
BITS_OF_NUMBERS(_Float16, uint16_t, half_of, bits_of_half)
#define TYPE float16_by_fp16
#define CELL uint16_t
#define NUMBER _Float16
#define LOAD(cell) half_of(cell)
#define STORE(number) bits_of_half(number)
#define CELL_STAYS
#define TARGET FOR_FP16
#include "combine.h"
#endif

/* Whole numbers wrap: sums, differences and products have the same bits with a sign or without. */
typedef struct {
    const Lines *sums, *limits;
} TypeLines;
enum { FLOAT16 = 10 };
static const TypeLines LINES_OF_TYPES[] = {
    {&lines_of_uint8, &lines_of_int8},     {&lines_of_uint16, &lines_of_int16},
    {&lines_of_uint32, &lines_of_int32},   {&lines_of_uint64, &lines_of_int64},
    {&lines_of_uint8, &lines_of_uint8},    {&lines_of_uint16, &lines_of_uint16},
    {&lines_of_uint32, &lines_of_uint32},  {&lines_of_uint64, &lines_of_uint64},
    {&lines_of_float32, &lines_of_float32}, {&lines_of_float64, &lines_of_float64},
    {&lines_of_float16, &lines_of_float16}, {&lines_of_bfloat16, &lines_of_bfloat16},
};

/* The line of an operation and a type (a place in LINES_OF_TYPES) that suits the processor. */
static LineLoop line_of(Int operation, Int type, int single_cells)
{
    const int is_sum = operation < MAX;
    const Lines *const usual = is_sum ? LINES_OF_TYPES[type].sums : LINES_OF_TYPES[type].limits;
    const Lines *lines = usual;
#if defined(X86)
    if (type == FLOAT16 && ways & CONVERTED_HALVES) lines = &lines_of_float16_by_f16c;
#endif
#if defined(FOR_FP16)
    if (type == FLOAT16 && is_sum && ways & ADDED_HALVES) lines = &lines_of_float16_by_fp16;
#endif
    if (single_cells) return lines->cells[operation];
    if (lines == usual && is_sum && ways & VECTORS_OF_64) return lines->sums_by_avx512[operation];
    if (lines == usual && ways & VECTORS_OF_32) return lines->rows_by_avx2[operation];
    return lines->rows[operation];
}

#if defined(X86)
/* Eight addresses at a time; returns how many were looked at. */
FOR_AVX512 static Int pick_eights(
    const Int *addresses, Int count, Int top, Int bottom, int32_t *picked, Int *picked_count)
{
    const __m512i first = _mm512_set1_epi64(top), size = _mm512_set1_epi64(bottom - top);
    __m256i places = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    for (Int w = 0; w + 8 <= count; w += 8) {
        const __m512i row = _mm512_sub_epi64(_mm512_loadu_si512(addresses + w), first);
        const __mmask8 is_own = _mm512_cmplt_epu64_mask(row, size);
        const __m256i own_places = _mm256_maskz_compress_epi32(is_own, places);
        _mm256_storeu_si256((void *)(picked + *picked_count), own_places);
        *picked_count += __builtin_popcount(is_own);
        places = _mm256_add_epi32(places, _mm256_set1_epi32(8));
    }
    return count & ~(Int)7;
}
#endif

/* The line of a job for its own rows alone, picked without branches: half of them usually are. */
static void picked_line(LINE_PARAMETERS)
{
    const Int top = job->top, bottom = job->bottom;
    int32_t picked[MAX_ADDRESSES + 1];
    Int picked_count = 0, w = 0;
    Job own_job = *job;
    own_job.own_entries = picked;
#if defined(X86)
    if (ways & PICKED_CELLS)
        w = pick_eights(addresses, count, top, bottom, picked, &picked_count);
#endif
    for (; w < count; w++) {
        picked[picked_count] = (int32_t)w;
        picked_count += (uint64_t)(addresses[w] - top) < (uint64_t)(bottom - top);
    }
    visible = smaller(picked_count, visible);
    job->line(rows, addresses, picked_count, visible, items, item_stride, &own_job);
}

/* `operation` and `type` as in line_of. Items are rows of `run` cells; for the others see Job, for what
   is returned see run_job. */
PUBLIC Int gscli_combine(Int operation, Int type, char *rows, const Addresses *where,
                         const Items *items, Int run, Int low, Int high, Int picks, Int top,
                         Int bottom)
{
    const LineLoop line = line_of(operation, type, run == 1);
    const Job job = {0, where->far, items->stream, run, low, high, top, bottom, line, NULL};
    return run_job(picks ? picked_line : line, rows, where, items, &job);
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
    for (Int k = 0; k < count; k++) {
        const Int entry = back ? count - 1 - k : k, cell = cells[entry];
        const double product = cell < 0 ? 0 : products[cell];
        passed[entry] = back ? passed[entry] * product : product;
        if (cell >= 0) products[cell] = product * factors[entry];
    }
    return 0;
}

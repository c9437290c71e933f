/* The kernel's inner loops: resolve, take, put, combine, and two of gradients.

   Plain C11 without Python or NumPy headers, called through ctypes by loops.py, which passes native,
   aligned arrays. Every loop gives the bits of the sequential loop of the specifications: cells are
   visited in entry order, and each update is rounded to the type of its cell before the next one is
   looked at. That needs -ffp-contract=off (no fused operations) and -fwrapv (whole numbers wrap).

   A grid is `planes` × `height` × `width` entries in row-major order. Addresses are int64 numbers of
   rows, resolved from index numbers a chunk at a time, so that they never leave the nearest cache; no
   row is touched before the numbers of its chunk were judged. */

#include <stdint.h>
#include <string.h>
#if defined(__GNUC__)
#define PUBLIC __attribute__((visibility("default")))
#define PREFETCH(place) __builtin_prefetch((place), 0, 3)
#define PREFETCH_FAR(place) __builtin_prefetch((place), 0, 2) /* more of these may be on their way */
#else
#define PUBLIC __declspec(dllexport)
#define PREFETCH(place) ((void)0)
#define PREFETCH_FAR(place) ((void)0)
#endif
/* One copy of a loop for each generation of processors, chosen when the library is loaded. */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__SANITIZE_ADDRESS__)
#define WIDE __attribute__((target_clones("default", "avx2", "arch=x86-64-v4")))
#else
#define WIDE
#endif
/* Loops for some processors only, which are asked at run time. */
#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>
#include <immintrin.h>
#define EIGHT_HALVES __attribute__((target("avx2,f16c")))
#endif
#define CHUNK 256
#define MOVES_AHEAD 64
#define MAX_ADDRESSES (CHUNK + MOVES_AHEAD) /* addresses that are at hand */
#define CELLS_AHEAD 16
#define NUMBERS_AHEAD 4096 /* bytes: what the processor fetches by itself ends with each page */
#define ROWS_AHEAD 6
#define CACHE_LINE 64
#define NEAR_BYTES 32768 /* bytes of rows that are worked on in the nearest cache */
#define HALF 10 /* the place in NUMBER_TYPES */

typedef int64_t Int;
/* One column of index numbers: what they mean, and how many bytes apart they stand. */
typedef struct {
    const char *numbers;
    Int strides[3];
    Int type;                    /* the place in INTEGER_TYPES */
    Int size, turn;              /* of the axis; what is added to negative numbers */
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

/* The items that are moved or combined, and how many bytes apart they stand. `stream`: they are part
   of a result that no cache holds, so that it pays to write past the caches. */
typedef struct {
    char *start;
    Int sizes[3], strides[3], stream;
} Items;

/* A line: at most MAX_ADDRESSES items `item_stride` bytes apart, and their addresses; `visible` of
   these may be looked at ahead. */
typedef struct Job Job;
#define LINE_ARGUMENTS                                                                             \
    char *rows, const Int *addresses, Int count, Int visible, char *items, Int item_stride,        \
    const Job *job
typedef void (*LineLoop)(LINE_ARGUMENTS);

/* What a line is told of its job. Threads that share the work without sharing cells are given
   columns `lo` … `hi`-1 of the `run` cells of a row, or rows `top` … `bottom`-1 only: then `line` gets
   the entries to combine as `own_entries`, and all of them where that is NULL. */
struct Job {
    Int size, far, stream, run, lo, hi, top, bottom;
    LineLoop line;
    const int32_t *own_entries;
};

/* loops.py refuses a library that answers another number. */
PUBLIC Int gscli_interface(void) { return 5; }

static inline Int smaller(Int a, Int b) { return a < b ? a : b; }

/* ---- resolve: index numbers of one column → addresses ------------------------------------- */
/* Read each number, add `turn` to negative ones, and write number * step + first + place * place_step
   to its address, or add it (`more`). Returns whether one was outside 0 … size-1. A uint64 above
   2^63 reads as negative, hence as outside. */
#define COLUMN_ARGUMENTS                                                                           \
    const Column *column, const char *numbers, Int width, Int first, int more, Int ahead, Int *out
#define RESOLVE_EACH(T, STRIDE)                                                                    \
    for (Int w = 0; w < width; w++) {                                                              \
        Int n = (Int) * (const T *)(const void *)(numbers + w * (STRIDE));                         \
        n += (n >> 63) & c.turn;                                                                   \
        bad |= (uint64_t)((uint64_t)n >= (uint64_t)c.size);                                        \
        out[w] = (more ? out[w] : 0) + n * c.step + first + w * c.place_step;                      \
    }
#define RESOLVE(NAME, T)                                                                           \
    WIDE static int line_##NAME(COLUMN_ARGUMENTS)                                                  \
    {                                                                                              \
        const Column c = *column;                                                                  \
        uint64_t bad = 0;                                                                          \
        const Int stride = c.strides[2];                                                           \
        for (Int b = 0; stride <= CACHE_LINE && b < width * stride; b += CACHE_LINE)               \
            PREFETCH(numbers + ahead + b);                                                         \
        if (stride == (Int)sizeof(T)) RESOLVE_EACH(T, (Int)sizeof(T))                              \
        else RESOLVE_EACH(T, stride)                                                               \
        return bad != 0;                                                                           \
    }
#define INTEGER_TYPES(X)                                                                           \
    X(i8, int8_t) X(i16, int16_t) X(i32, int32_t) X(i64, int64_t)                                  \
    X(u8, uint8_t) X(u16, uint16_t) X(u32, uint32_t) X(u64, uint64_t)
INTEGER_TYPES(RESOLVE)

#define RESOLVE_LOOP_OF(NAME, T) line_##NAME,
typedef int (*ResolveLoop)(COLUMN_ARGUMENTS);
static const ResolveLoop RESOLVE_LOOPS[] = {INTEGER_TYPES(RESOLVE_LOOP_OF)};

/* A place in a grid, and what lies there. */
typedef struct { Int plane, row, place; } Cursor;
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

/* At most `most` numbers of planes before `end` → addresses; how many, or -1: one is outside. */
static Int resolve_chunk(const Addresses *where, Cursor *cursor, Int end, Int *addresses, Int most)
{
    const Int *const sizes = where->sizes;
    Int done = 0;
    while (done < most && cursor->plane < end) {
        const Int some = smaller(sizes[2] - cursor->place, most - done);
        for (Int k = 0; k < where->count; k++) {
            const Column *c = where->columns + k;
            /* Bytes of a row, and of the rows that are read soon. */
            const Int row = sizes[1] > 1 ? sizes[2] * c->strides[2] : 0;
            const Int short_row = row > 0 && row <= NUMBERS_AHEAD;
            const Int ahead = short_row ? NUMBERS_AHEAD / row * c->strides[1] : NUMBERS_AHEAD;
            const Int first =
                c->first + cursor->plane * c->plane_step + cursor->place * c->place_step;
            const char *const numbers = item_at(c->numbers, c->strides, cursor);
            const ResolveLoop resolve = RESOLVE_LOOPS[c->type];
            if (resolve(c, numbers, some, first, k > 0, ahead, addresses + done)) return -1;
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

/* ---- run a job: lines of items, in entry order ---------------------------------------------- */
static void copy(char *to, const char *from, Int bytes) { memcpy(to, from, (size_t)bytes); }

/* The same past the caches, which then keep what is read and need not fetch what is written over. */
static void stream(char *to, const char *from, Int bytes)
{
#if defined(EIGHT_HALVES)
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
        /* What is next is fetched ahead. */
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
#if defined(EIGHT_HALVES)
    _mm_sfence(); /* what went past the caches is there for all */
#endif
    return 0;
}

/* ---- take and put: items of `size` bytes ---------------------------------------------------- */
/* memcpy of a constant size is one load and one store, whatever the alignment. */
#define MOVE(NAME, SIZE, TO, FROM)                                                                 \
    static void NAME##_##SIZE(LINE_ARGUMENTS)                                                      \
    {                                                                                              \
        const Int ahead = job->far ? smaller(visible - MOVES_AHEAD, count) : 0;                    \
        for (Int w = 0; w < count; w++) {                                                          \
            if (w < ahead) PREFETCH_FAR(rows + addresses[w + MOVES_AHEAD] * SIZE);                 \
            memcpy(TO, FROM, SIZE);                                                                \
        }                                                                                          \
    }
#define TAKE_AND_PUT(SIZE) MOVE(take, SIZE, items + w * item_stride, rows + addresses[w] * SIZE)   \
    MOVE(put, SIZE, rows + addresses[w] * SIZE, items + w * item_stride)
TAKE_AND_PUT(1) TAKE_AND_PUT(2) TAKE_AND_PUT(4) TAKE_AND_PUT(8) TAKE_AND_PUT(16)

#if defined(EIGHT_HALVES)
/* Eight cells at a time by the processor's own gathers, past the caches in whole lines. */
#define GATHER(SIZE, BITS, WORD)                                                                   \
    __attribute__((target("avx512f"))) static void gather_##SIZE(LINE_ARGUMENTS)                   \
    {                                                                                              \
        const Int ahead = job->far ? smaller(visible - MOVES_AHEAD, count) : 0;                    \
        const int past = job->stream && ((uintptr_t)items & (CACHE_LINE - 1)) == 0;                \
        Int w = 0;                                                                                 \
        for (; w + 8 <= count; w += 8) {                                                           \
            void *const to = items + w * item_stride;                                              \
            for (Int k = w; w + 8 <= ahead && k < w + 8; k++)                                      \
                PREFETCH_FAR(rows + addresses[k + MOVES_AHEAD] * SIZE);                            \
            const __m512i from = _mm512_loadu_si512(addresses + w);                                \
            const __m##BITS##i cells = _mm512_i64gather_epi##WORD(from, rows, SIZE);               \
            if (past) _mm##BITS##_stream_si##BITS(to, cells);                                      \
            else _mm##BITS##_storeu_si##BITS(to, cells);                                           \
        }                                                                                          \
        take_##SIZE(rows, addresses + w, count - w, visible - w, items + w * item_stride,          \
                    item_stride, job);                                                             \
    }
GATHER(4, 256, 32) GATHER(8, 512, 64)
#endif

/* The line of a job into the nearest cache, and from there past the others. */
static void streamed_line(LINE_ARGUMENTS)
{
    char near[MAX_ADDRESSES * 16];
    job->line(rows, addresses, count, visible, near, item_stride, job);
    stream(items, near, count * item_stride);
}

static void take_rows(LINE_ARGUMENTS)
{
    const Int size = job->size, near = smaller(size, 64 * CACHE_LINE);
    for (Int w = 0; w < count; w++) {
        /* Rows seldom begin where a line of the cache does: their last byte's line is one more. */
        for (Int k = 0; w + ROWS_AHEAD < visible && k < near + CACHE_LINE - 1; k += CACHE_LINE)
            PREFETCH(rows + addresses[w + ROWS_AHEAD] * size + smaller(k, near - 1));
        (job->stream ? stream : copy)(items + w * item_stride, rows + addresses[w] * size, size);
    }
}
static void put_rows(LINE_ARGUMENTS)
{
    const Int size = job->size;
    for (Int w = 0; w < count; w++) copy(rows + addresses[w] * size, items + w * item_stride, size);
}
#define LOOP_OF_SIZE(NAME)                                                                         \
    (size == 1 ? NAME##_1 : size == 2 ? NAME##_2 : size == 4 ? NAME##_4 : size == 8 ? NAME##_8     \
     : size == 16 ? NAME##_16 : NAME##_rows)

/* Items at the addresses of `rows` → items. For what is returned see run_job. */
PUBLIC Int gscli_take(char *rows, const Addresses *where, const Items *items, Int size)
{
    LineLoop line = LOOP_OF_SIZE(take);
    const int cells = items->strides[2] == size && line != take_rows;
    const Job job = {.size = size, .far = where->far, .stream = items->stream, .line = line};
#if defined(EIGHT_HALVES)
    if (cells && (size == 4 || size == 8) && __builtin_cpu_supports("avx512f"))
        return run_job(size == 4 ? gather_4 : gather_8, rows, where, items, &job);
#endif
    return run_job(cells && job.stream ? streamed_line : line, rows, where, items, &job);
}

/* Items → their addresses in `rows`, in entry order: the last one stays. */
PUBLIC Int gscli_put(char *rows, const Addresses *where, const Items *items, Int size)
{
    const Job job = {.size = size, .far = where->far, .stream = items->stream};
    return run_job(LOOP_OF_SIZE(put), rows, where, items, &job);
}

/* ---- combine: cell = op(cell, update), one update after the other ---------------------------- */
typedef union { float number; uint32_t bits; } FloatBits;
static inline uint32_t bits_of(float x) { const FloatBits s = {.number = x}; return s.bits; }
static inline float float_of(uint32_t b) { const FloatBits s = {.bits = b}; return s.number; }

/* float16 ↔ float32 without branches, so that compilers can make several at a time of it. The sum,
   difference or product of two halves is exact enough in float32 that rounding it once more gives
   what float16 arithmetic gives (24 bits are at least twice 11 and 2 more). */
static inline float from_half(uint16_t h)
{
    const uint32_t magnitude = (uint32_t)(h & 0x7fffu) << 13;
    const uint32_t special = magnitude >= 0x0f800000u ? 0x7f800000u : 0u; /* infinity and NaN */
    const float scaled = float_of(magnitude) * 0x1p112f;
    return float_of(bits_of(scaled) | special | (uint32_t)(h & 0x8000u) << 16);
}
static inline uint16_t to_half(float x)
{
    const uint32_t sign = bits_of(x) & 0x80000000u, b = bits_of(x) ^ sign, odd = (b >> 13) & 1u;
    const uint32_t normal = (b + 0xc8000fffu + odd) >> 13;       /* rebias, round ties to even */
    const uint32_t small = bits_of(float_of(b) + 0.5f) - 0x3f000000u; /* subnormal: adding rounds */
    const uint32_t special = b > 0x7f800000u ? 0x7e00u : 0x7c00u; /* NaN, infinity */
    uint32_t h = b < 0x38800000u ? small : normal;
    h = b >= 0x47800000u ? special : h;
    return (uint16_t)(h | sign >> 16);
}
static inline float from_brain(uint16_t h) { return float_of((uint32_t)h << 16); }
static inline uint16_t to_brain(float x)
{
    const uint32_t b = bits_of(x), rounded = (b + 0x7fffu + ((b >> 16) & 1u)) >> 16;
    return (uint16_t)(x != x ? 0x7fc0u | (b >> 16 & 0x8000u) : rounded);
}

#define UNCHANGED(x) (x)
#define ADD(a, b) ((a) + (b))
#define SUB(a, b) ((a) - (b))
#define MUL(a, b) ((a) * (b))
/* As NumPy's maximum and minimum: NaN wins. Of equal numbers, 0.0 and -0.0, the update stays; the
   cell where they are halves. (So NumPy 2.4 has it on x86; it promises neither.) */
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define CHOOSE(NAME, C, U, ORDER)                                                                  \
    static inline C NAME(C a, C b) /* without branches: they depend on the data */                 \
    {                                                                                              \
        union { C number; U bits; } cell = {.number = a}, other = {.number = b};                   \
        const U stays = (U)0 - (U)((a ORDER b) | (a != a));                                        \
        other.bits = (cell.bits & stays) | (other.bits & ~stays);                                  \
        return other.number;                                                                       \
    }
CHOOSE(max_single, float, uint32_t, >) CHOOSE(min_single, float, uint32_t, <)
CHOOSE(max_double, double, uint64_t, >) CHOOSE(min_double, double, uint64_t, <)
CHOOSE(max_half, float, uint32_t, >=) CHOOSE(min_half, float, uint32_t, <=)

#if defined(EIGHT_HALVES)
__attribute__((target("avx512f,avx512vl,popcnt"))) static Int pick_eights(
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
static void picked_line(LINE_ARGUMENTS)
{
    const Int top = job->top, bottom = job->bottom;
    int32_t picked[MAX_ADDRESSES + 1];
    Int picked_count = 0, w = 0;
    Job own_job = *job;
    own_job.own_entries = picked;
#if defined(EIGHT_HALVES)
    if (__builtin_cpu_supports("avx512vl"))
        w = pick_eights(addresses, count, top, bottom, picked, &picked_count);
#endif
    for (; w < count; w++) {
        picked[picked_count] = (int32_t)w;
        picked_count += (uint64_t)(addresses[w] - top) < (uint64_t)(bottom - top);
    }
    visible = smaller(picked_count, visible);
    job->line(rows, addresses, picked_count, visible, items, item_stride, &own_job);
}

/* One update of one cell, and of a row's cells c … hi-1. */
#define CELL(DO, T, C, LOAD, STORE)                                                                \
    const Int entry = own_entries ? own_entries[w] : w;                                            \
    const C b = LOAD(*(const T *)(const void *)(items + entry * item_stride));                     \
    const C a = LOAD(cells[addresses[entry]]);                                                     \
    cells[addresses[entry]] = (T)STORE(DO(a, b));
#define ROW(OP, DO, T, C, LOAD, STORE)                                                             \
    for (; c < hi; c++) row[c] = (T)STORE(DO((C)LOAD(row[c]), (C)LOAD(row_values[c])));

/* All rows of a line. Constants LO and HI save what a loop of any length asks for each row. */
#define ROWS(CELLS_OF_ROW, OP, DO, T, C, LOAD, STORE, LO, HI)                                      \
    for (const Int hi = (HI); w < count; w++) {                                                    \
        const Int entry = own_entries ? own_entries[w] : w;                                        \
        T *restrict const row = cells + addresses[entry] * run;                                    \
        const T *restrict const row_values =                                                       \
            (const T *)(const void *)(items + entry * item_stride);                                \
        Int c = (LO);                                                                              \
        CELLS_OF_ROW(OP, DO, T, C, LOAD, STORE)                                                    \
    }

/* T: type in memory, C: type of the arithmetic; CELLS_OF_ROW: ROW, or a quicker one. Cells of a table
   that no near cache holds are fetched ahead; rows were not quicker for it. */
#define COMBINE(KIND, CELLS_OF_ROW, OP, DO, NAME, T, C, LOAD, STORE)                               \
    KIND static void OP##_##NAME(LINE_ARGUMENTS)                                                   \
    {                                                                                              \
        T *const cells = (T *)(void *)rows;                                                        \
        const int32_t *const own_entries = job->own_entries;                                       \
        const Int run = job->run;                                                                  \
        const Int ahead = job->far ? smaller(visible - CELLS_AHEAD, count) : 0;                    \
        Int w = 0;                                                                                 \
        if (run == CACHE_LINE / (Int)sizeof(T) && job->hi - job->lo == run)                        \
            ROWS(CELLS_OF_ROW, OP, DO, T, C, LOAD, STORE, 0, CACHE_LINE / (Int)sizeof(T))          \
        else if (run != 1)                                                                         \
            ROWS(CELLS_OF_ROW, OP, DO, T, C, LOAD, STORE, job->lo, job->hi)                        \
        for (; w < ahead; w++) {                                                                   \
            PREFETCH(cells + addresses[own_entries ? own_entries[w + CELLS_AHEAD]                  \
                                                   : w + CELLS_AHEAD]);                            \
            CELL(DO, T, C, LOAD, STORE)                                                            \
        }                                                                                          \
        for (; w < count; w++) { CELL(DO, T, C, LOAD, STORE) }                                     \
    }

#define INTEGER(X, NAME, T, C) X(NAME, T, C, UNCHANGED, UNCHANGED, MAX, MIN)
#define NUMBER_TYPES(X)                                                                            \
    INTEGER(X, i8, int8_t, int8_t) INTEGER(X, i16, int16_t, int16_t)                               \
    INTEGER(X, i32, int32_t, int32_t) INTEGER(X, i64, int64_t, int64_t)                            \
    INTEGER(X, u8, uint8_t, uint8_t) INTEGER(X, u16, uint16_t, uint32_t)                           \
    INTEGER(X, u32, uint32_t, uint32_t) INTEGER(X, u64, uint64_t, uint64_t)                        \
    X(f32, float, float, UNCHANGED, UNCHANGED, max_single, min_single)                             \
    X(f64, double, double, UNCHANGED, UNCHANGED, max_double, min_double)                           \
    X(half, uint16_t, float, from_half, to_half, max_half, min_half)                               \
    X(brain, uint16_t, float, from_brain, to_brain, max_single, min_single)
#define COMBINE_LOOPS(NAME, T, C, LOAD, STORE, GREATER, LESS)                                      \
    COMBINE(WIDE, ROW, ADD, ADD, NAME, T, C, LOAD, STORE)                                          \
    COMBINE(WIDE, ROW, SUB, SUB, NAME, T, C, LOAD, STORE)                                          \
    COMBINE(WIDE, ROW, MUL, MUL, NAME, T, C, LOAD, STORE)                                          \
    COMBINE(WIDE, ROW, MAX, GREATER, NAME, T, C, LOAD, STORE)                                      \
    COMBINE(WIDE, ROW, MIN, LESS, NAME, T, C, LOAD, STORE)
NUMBER_TYPES(COMBINE_LOOPS)
#define COMBINE_LOOPS_OF(NAME, T, C, LOAD, STORE, GREATER, LESS)                                   \
    {ADD_##NAME, SUB_##NAME, MUL_##NAME, MAX_##NAME, MIN_##NAME},
static const LineLoop COMBINE_TABLE[][5] = {NUMBER_TYPES(COMBINE_LOOPS_OF)};
#if defined(EIGHT_HALVES)
/* float16 once more, by the processor's own conversions, which round as to_half does. */
EIGHT_HALVES static inline float load_half(uint16_t h) { return _cvtsh_ss(h); }
EIGHT_HALVES static inline uint16_t store_half(float x) { return _cvtss_sh(x, 0); }
#define CHOOSE_EIGHT(a, b, ORDER)                                                                  \
    _mm256_blendv_ps(                                                                              \
        b, a, _mm256_or_ps(_mm256_cmp_ps(a, a, _CMP_UNORD_Q), _mm256_cmp_ps(a, b, ORDER)))
#define MAX_EIGHT(a, b) CHOOSE_EIGHT(a, b, _CMP_GE_OQ)
#define MIN_EIGHT(a, b) CHOOSE_EIGHT(a, b, _CMP_LE_OQ)
#define EIGHT_CELLS(OP, DO, T, C, LOAD, STORE)                                                     \
    for (; c + 8 <= hi; c += 8) {                                                                  \
        const __m256 a = _mm256_cvtph_ps(_mm_loadu_si128((const void *)(row + c)));                \
        const __m256 b = _mm256_cvtph_ps(_mm_loadu_si128((const void *)(row_values + c)));         \
        _mm_storeu_si128((void *)(row + c), _mm256_cvtps_ph(OP(a, b), 0));                         \
    }                                                                                              \
    ROW(OP, DO, T, C, LOAD, STORE)
#define HALF_LOOP(OP, DO)                                                                          \
    COMBINE(EIGHT_HALVES, EIGHT_CELLS, OP, DO, halves, uint16_t, float, load_half, store_half)
HALF_LOOP(ADD, ADD) HALF_LOOP(SUB, SUB) HALF_LOOP(MUL, MUL)
HALF_LOOP(MAX_EIGHT, max_half) HALF_LOOP(MIN_EIGHT, min_half)
static const LineLoop HALF_LOOPS[] = {
    ADD_halves, SUB_halves, MUL_halves, MAX_EIGHT_halves, MIN_EIGHT_halves,
};

/* Processors that add halves themselves, thirty-two at a time: rounded once, as to_half does. */
#if !defined(__clang__) && __GNUC__ >= 12
#define NATIVE_HALVES __attribute__((target("avx512fp16,avx512vl")))
#define NATIVE_HALF_LOOP(OP)                                                                       \
    COMBINE(NATIVE_HALVES, ROW, OP, OP, many, _Float16, _Float16, UNCHANGED, UNCHANGED)
NATIVE_HALF_LOOP(ADD) NATIVE_HALF_LOOP(SUB) NATIVE_HALF_LOOP(MUL)
static const LineLoop NATIVE_HALF_LOOPS[] = {
    ADD_many, SUB_many, MUL_many, MAX_EIGHT_halves, MIN_EIGHT_halves,
};
#endif

/* The quickest lines that this processor has. */
static const LineLoop *lines_of_halves(const LineLoop *usual)
{
    unsigned a, b, c, d;
#if defined(NATIVE_HALVES)
    if (__builtin_cpu_supports("avx512fp16")) return NATIVE_HALF_LOOPS;
#endif
    const int converts = __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
    return converts && __builtin_cpu_supports("avx2") ? HALF_LOOPS : usual;
}
#else
#define lines_of_halves(usual) (usual)
#endif

/* `op`: add, sub, mul, max, min; `type`: the place in NUMBER_TYPES. Items are rows of `run` cells;
   for the others see Job, for what is returned see run_job. */
PUBLIC Int gscli_combine(Int op, Int type, char *rows, const Addresses *where, const Items *items,
                         Int run, Int lo, Int hi, Int picks, Int top, Int bottom)
{
    const LineLoop *const lines =
        type == HALF ? lines_of_halves(COMBINE_TABLE[HALF]) : COMBINE_TABLE[type];
    const LineLoop line = lines[op];
    const Job job = {0, where->far, items->stream, run, lo, hi, top, bottom, line, NULL};
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

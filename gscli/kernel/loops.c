/* The kernel's four inner loops: resolve, take, put, combine.

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
#define MOST (CHUNK + MOVES_AHEAD) /* addresses that are at hand */
#define CELLS_AHEAD 16
#define NUMBERS_AHEAD 4096 /* bytes: what the processor fetches by itself ends with each page */
#define ROWS_AHEAD 6
#define LINE 64
#define NEAR 32768 /* bytes of rows that are worked on in the nearest cache */
#define HALF 10 /* the place in NUMBERS */

typedef int64_t I;
/* One column of index numbers: what they mean, and how many bytes apart they stand. */
typedef struct {
    const char *numbers;
    I strides[3];
    I type;                    /* the place in WHOLE */
    I size, turn;              /* of the axis; what is added to negative numbers */
    I step, plane_step, place_step, first; /* number * step + plane * … + place * … + first */
} Column;

/* Where entries go: what `count` columns of a grid of numbers resolve to. `apart`: each plane of numbers
   has its own rows, which begin `part` bytes after those of the one before; else all share theirs.
   `far`: the rows do not fit a near cache, so that it pays to fetch ahead. `source`: what rows hold
   before, where they are not there yet. */
typedef struct {
    const Column *columns;
    I count, sizes[3], part, apart, far;
    const char *source;
} Where;

/* The items that are moved or combined, and how many bytes apart they stand. `stream`: they are part
   of a result that no cache holds, so that it pays to write past the caches. */
typedef struct {
    char *start;
    I sizes[3], strides[3], stream;
} Items;

/* At most MOST items `sw` bytes apart, and their addresses; `left` of these may be looked at ahead. */
typedef struct Job Job;
#define TASK char *rows, const I *at, I count, I left, char *items, I sw, const Job *job
typedef void (*Line)(TASK);
/* What a line is told of its job. Threads that share the work without sharing cells are given
   columns `lo` … `hi`-1 of the `run` cells of a row, or rows `top` … `bottom`-1 only: then `line` gets
   the entries to combine as `which`, and all of them where that is NULL. */
struct Job {
    I size, far, stream, run, lo, hi, top, bottom;
    Line line;
    const int32_t *which;
};

/* loops.py refuses a library that answers another number. */
PUBLIC I gscli_interface(void) { return 4; }
static inline I less(I a, I b) { return a < b ? a : b; }

/* ---- resolve: index numbers of one column → addresses ------------------------------------- */
/* Read each number, add `turn` to negative ones, and write number * step + first + place * place_step
   to its address, or add it (`more`). Returns whether one was outside 0 … size-1. A uint64 above
   2^63 reads as negative, hence as outside. */
#define NUMBERS_OF const Column *column, const char *numbers, I width, I first, int more, I ahead, I *out
#define RESOLVE_EACH(T, SW)                                                                        \
    for (I w = 0; w < width; w++) {                                                                \
        I n = (I) * (const T *)(const void *)(numbers + w * (SW));                                 \
        n += (n >> 63) & c.turn;                                                                   \
        bad |= (uint64_t)((uint64_t)n >= (uint64_t)c.size);                                        \
        out[w] = (more ? out[w] : 0) + n * c.step + first + w * c.place_step;                      \
    }
#define RESOLVE(NAME, T)                                                                           \
    WIDE static int line_##NAME(NUMBERS_OF)                                                        \
    {                                                                                              \
        const Column c = *column;                                                                  \
        uint64_t bad = 0;                                                                          \
        for (I b = 0, sw = c.strides[2]; sw <= LINE && b < width * sw; b += LINE)                  \
            PREFETCH(numbers + ahead + b);                                                         \
        if (c.strides[2] == (I)sizeof(T)) RESOLVE_EACH(T, (I)sizeof(T))                            \
        else RESOLVE_EACH(T, c.strides[2])                                                         \
        return bad != 0;                                                                           \
    }
#define WHOLE(X)                                                                                   \
    X(i8, int8_t) X(i16, int16_t) X(i32, int32_t) X(i64, int64_t)                                  \
    X(u8, uint8_t) X(u16, uint16_t) X(u32, uint32_t) X(u64, uint64_t)
WHOLE(RESOLVE)
#define RESOLVE_ROW(NAME, T) line_##NAME,
static int (*const RESOLVES[])(NUMBERS_OF) = {WHOLE(RESOLVE_ROW)};

/* A place in a grid, and what lies there. */
typedef struct { I plane, row, place; } Cursor;
static inline char *lies(const char *start, const I *strides, const Cursor *at)
{
    return (char *)start + at->plane * strides[0] + at->row * strides[1] + at->place * strides[2];
}
/* From the end of a row to the next one, from the last row to the next plane. */
static inline void step_on(Cursor *at, const I *sizes, I some)
{
    at->place += some;
    if (at->place == sizes[2]) at->place = 0, ++at->row;
    if (at->row == sizes[1]) at->row = 0, ++at->plane;
}

/* At most `most` numbers of planes before `end` → addresses; how many, or -1: one is outside. */
static I next(const Where *where, Cursor *cursor, I end, I *addresses, I most)
{
    const I *const sizes = where->sizes;
    I done = 0;
    while (done < most && cursor->plane < end) {
        const I some = less(sizes[2] - cursor->place, most - done);
        for (I k = 0; k < where->count; k++) {
            const Column *c = where->columns + k;
            const I row = sizes[1] > 1 ? sizes[2] * c->strides[2] : 0; /* bytes; rows soon read: */
            const I ahead = row > 0 && row <= NUMBERS_AHEAD ? NUMBERS_AHEAD / row * c->strides[1] : NUMBERS_AHEAD;
            const I first = c->first + cursor->plane * c->plane_step + cursor->place * c->place_step;
            const char *const numbers = lies(c->numbers, c->strides, cursor);
            if (RESOLVES[c->type](c, numbers, some, first, k > 0, ahead, addresses + done)) return -1;
        }
        done += some;
        step_on(cursor, sizes, some);
    }
    return done;
}

/* All addresses of a grid that is not empty. Returns 1 where a number is outside. */
PUBLIC I gscli_resolve(const Where *where, I *addresses)
{
    Cursor cursor = {0, 0, 0};
    return next(where, &cursor, where->sizes[0], addresses, INT64_MAX) < 0;
}

/* ---- follow: lines of items, in entry order --------------------------------------------------- */
static void copy(char *to, const char *from, I bytes) { memcpy(to, from, (size_t)bytes); }

/* The same past the caches, which then keep what is read and need not fetch what is written over. */
static void stream(char *to, const char *from, I bytes)
{
#if defined(EIGHT_HALVES)
    I done = less((I)(-(uintptr_t)to & 15u), bytes);
    copy(to, from, done);
    for (; done + 16 <= bytes; done += 16)
        _mm_stream_si128((void *)(to + done), _mm_loadu_si128((const void *)(from + done)));
    to += done, from += done, bytes -= done;
#endif
    copy(to, from, bytes);
}

/* The items of planes before `end`; `next_part` is fetched meanwhile, `pace` bytes for each. Returns 1
   where a number is outside; then nothing of its chunk was touched. */
static I follow_planes(Line line, char *rows, const Where *where, const Items *items, const Job *job,
                       Cursor *numbers, Cursor *own, I end, const char *next_part, I pace)
{
    I at[MOST], count, kept = 0;
    while ((count = next(where, numbers, end, at + kept, CHUNK)) > 0) {
        const I known = kept + count, last = numbers->plane == end;
        for (I b = 0; b < count * pace; b += LINE) PREFETCH(next_part + b);
        next_part += count * pace;
        kept = last || !job->far ? 0 : less(known, MOVES_AHEAD); /* what is next is fetched ahead */
        for (I used = 0, some; used < known - kept; used += some) {
            some = less(items->sizes[2] - own->place, known - kept - used);
            char *const first = lies(items->start, items->strides, own);
            line(rows, at + used, some, known - used, first, items->strides[2], job);
            step_on(own, items->sizes, some);
        }
        memmove(at, at + known - kept, (size_t)kept * sizeof(I));
    }
    return count < 0;
}

/* Plane by plane where they have their own rows: these are copied from their source just before, into
   the nearest cache where they fit there, and from there past the others. */
static I follow(Line line, char *rows, const Where *where, const Items *items, const Job *job)
{
    char near[NEAR];
    Cursor numbers = {0, 0, 0}, own = {0, 0, 0};
    const I part = where->part, planes = where->sizes[0], entries = where->sizes[1] * where->sizes[2];
    const I pace = part <= 8 * NEAR && part <= entries * LINE ? (part + entries - 1) / entries : 0;
    const char *source = where->source ? where->source : rows;
    char *here = where->source && part <= NEAR ? near : rows;
    for (I end = where->apart ? 1 : planes; end <= planes; end++, rows += part) {
        if (here != near) here = rows;
        if (where->source) copy(here, source, part);
        source += part;
        if (follow_planes(line, here, where, items, job, &numbers, &own, end, source, pace)) return 1;
        if (here == near) (job->stream ? stream : copy)(rows, near, part);
    }
#if defined(EIGHT_HALVES)
    _mm_sfence(); /* what went past the caches is there for all */
#endif
    return 0;
}

/* ---- take and put: items of `size` bytes ---------------------------------------------------- */
/* memcpy of a constant size is one load and one store, whatever the alignment. */
#define MOVE(NAME, SIZE, TO, FROM)                                                                 \
    static void NAME##_##SIZE(TASK)                                                                \
    {                                                                                              \
        const I ahead = job->far ? less(left - MOVES_AHEAD, count) : 0;                            \
        for (I w = 0; w < count; w++) {                                                            \
            if (w < ahead) PREFETCH_FAR(rows + at[w + MOVES_AHEAD] * SIZE);                        \
            memcpy(TO, FROM, SIZE);                                                                \
        }                                                                                          \
    }
#define BOTH(SIZE) MOVE(take, SIZE, items + w * sw, rows + at[w] * SIZE)                           \
    MOVE(put, SIZE, rows + at[w] * SIZE, items + w * sw)
BOTH(1) BOTH(2) BOTH(4) BOTH(8) BOTH(16)

#if defined(EIGHT_HALVES)
/* Eight cells at a time by the processor's own gathers, past the caches in whole lines. */
#define GATHER(SIZE, BITS, WORD)                                                                   \
    __attribute__((target("avx512f"))) static void gather_##SIZE(TASK)                             \
    {                                                                                              \
        const I ahead = job->far ? less(left - MOVES_AHEAD, count) : 0;                            \
        const int past = job->stream && ((uintptr_t)items & (LINE - 1)) == 0;                      \
        I w = 0;                                                                                   \
        for (; w + 8 <= count; w += 8) {                                                           \
            void *const to = items + w * sw;                                                       \
            for (I k = w; w + 8 <= ahead && k < w + 8; k++)                                        \
                PREFETCH_FAR(rows + at[k + MOVES_AHEAD] * SIZE);                                   \
            const __m512i from = _mm512_loadu_si512(at + w);                                       \
            const __m##BITS##i cells = _mm512_i64gather_epi##WORD(from, rows, SIZE);               \
            if (past) _mm##BITS##_stream_si##BITS(to, cells);                                      \
            else _mm##BITS##_storeu_si##BITS(to, cells);                                           \
        }                                                                                          \
        take_##SIZE(rows, at + w, count - w, left - w, items + w * sw, sw, job);                   \
    }
GATHER(4, 256, 32) GATHER(8, 512, 64)
#endif

/* The line of a job into the nearest cache, and from there past the others. */
static void streamed_line(TASK)
{
    char near[MOST * 16];
    job->line(rows, at, count, left, near, sw, job);
    stream(items, near, count * sw);
}

static void take_rows(TASK)
{
    const I size = job->size, near = less(size, 64 * LINE);
    for (I w = 0; w < count; w++) {
        /* Rows seldom begin where a line of the cache does: their last byte's line is one more. */
        for (I k = 0; w + ROWS_AHEAD < left && k < near + LINE - 1; k += LINE)
            PREFETCH(rows + at[w + ROWS_AHEAD] * size + less(k, near - 1));
        (job->stream ? stream : copy)(items + w * sw, rows + at[w] * size, size);
    }
}
static void put_rows(TASK)
{
    const I size = job->size;
    for (I w = 0; w < count; w++) copy(rows + at[w] * size, items + w * sw, size);
}
#define OF_SIZE(NAME)                                                                              \
    (size == 1 ? NAME##_1 : size == 2 ? NAME##_2 : size == 4 ? NAME##_4 : size == 8 ? NAME##_8     \
     : size == 16 ? NAME##_16 : NAME##_rows)

/* Items at the addresses of `rows` → items. For what is returned see follow. */
PUBLIC I gscli_take(char *rows, const Where *where, const Items *items, I size)
{
    Line line = OF_SIZE(take);
    const int cells = items->strides[2] == size && line != take_rows;
    const Job job = {.size = size, .far = where->far, .stream = items->stream, .line = line};
#if defined(EIGHT_HALVES)
    if (cells && (size == 4 || size == 8) && __builtin_cpu_supports("avx512f"))
        return follow(size == 4 ? gather_4 : gather_8, rows, where, items, &job);
#endif
    return follow(cells && job.stream ? streamed_line : line, rows, where, items, &job);
}

/* Items → their addresses in `rows`, in entry order: the last one stays. */
PUBLIC I gscli_put(char *rows, const Where *where, const Items *items, I size)
{
    const Job job = {.size = size, .far = where->far, .stream = items->stream};
    return follow(OF_SIZE(put), rows, where, items, &job);
}

/* ---- combine: cell = op(cell, update), one update after the other ---------------------------- */
typedef union { float number; uint32_t bits; } Single;
static inline uint32_t bits_of(float x) { const Single s = {.number = x}; return s.bits; }
static inline float float_of(uint32_t b) { const Single s = {.bits = b}; return s.number; }

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

#define SAME(x) (x)
#define ADD(a, b) ((a) + (b))
#define SUB(a, b) ((a) - (b))
#define MUL(a, b) ((a) * (b))
/* As NumPy's maximum and minimum: NaN wins. Of equal numbers, 0.0 and -0.0, the update stays; the
   cell where they are halves. (So NumPy 2.4 has it on x86; it promises neither.) */
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define CHOICE(NAME, C, U, ORDER)                                                                  \
    static inline C NAME(C a, C b) /* without branches: they depend on the data */                 \
    {                                                                                              \
        union { C number; U bits; } cell = {.number = a}, other = {.number = b};                   \
        const U stays = (U)0 - (U)((a ORDER b) | (a != a));                                        \
        other.bits = (cell.bits & stays) | (other.bits & ~stays);                                  \
        return other.number;                                                                       \
    }
CHOICE(max_single, float, uint32_t, >) CHOICE(min_single, float, uint32_t, <)
CHOICE(max_double, double, uint64_t, >) CHOICE(min_double, double, uint64_t, <)
CHOICE(max_half, float, uint32_t, >=) CHOICE(min_half, float, uint32_t, <=)

#if defined(EIGHT_HALVES)
__attribute__((target("avx512f,avx512vl,popcnt"))) static I pick_eights(
    const I *at, I count, I top, I bottom, int32_t *picked, I *found)
{
    const __m512i first = _mm512_set1_epi64(top), size = _mm512_set1_epi64(bottom - top);
    __m256i places = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    for (I w = 0; w + 8 <= count; w += 8) {
        const __m512i row = _mm512_sub_epi64(_mm512_loadu_si512(at + w), first);
        const __mmask8 own = _mm512_cmplt_epu64_mask(row, size);
        _mm256_storeu_si256((void *)(picked + *found), _mm256_maskz_compress_epi32(own, places));
        *found += __builtin_popcount(own);
        places = _mm256_add_epi32(places, _mm256_set1_epi32(8));
    }
    return count & ~(I)7;
}
#endif

/* The line of a job for its own rows alone, picked without branches: half of them usually are. */
static void picked_line(TASK)
{
    const I top = job->top, bottom = job->bottom;
    int32_t picked[MOST + 1];
    I found = 0, w = 0;
    Job own = *job;
    own.which = picked;
#if defined(EIGHT_HALVES)
    if (__builtin_cpu_supports("avx512vl")) w = pick_eights(at, count, top, bottom, picked, &found);
#endif
    for (; w < count; w++) {
        picked[found] = (int32_t)w;
        found += (uint64_t)(at[w] - top) < (uint64_t)(bottom - top);
    }
    job->line(rows, at, found, less(found, left), items, sw, &own);
}

/* One update of one cell, and of a row's cells c … hi-1. */
#define CELL(DO, T, C, LOAD, STORE)                                                                \
    const I entry = which ? which[w] : w;                                                          \
    const C b = LOAD(*(const T *)(const void *)(items + entry * sw)), a = LOAD(cells[at[entry]]);  \
    cells[at[entry]] = (T)STORE(DO(a, b));
#define ROW(OP, DO, T, C, LOAD, STORE)                                                             \
    for (; c < hi; c++) row[c] = (T)STORE(DO((C)LOAD(row[c]), (C)LOAD(row_values[c])));

/* All rows of a line. Constants LO and HI save what a loop of any length asks for each row. */
#define ROWS(CELLS_OF_ROW, OP, DO, T, C, LOAD, STORE, LO, HI)                                      \
    for (const I hi = (HI); w < count; w++) {                                                      \
        const I entry = which ? which[w] : w;                                                      \
        T *restrict const row = cells + at[entry] * run;                                           \
        const T *restrict const row_values = (const T *)(const void *)(items + entry * sw);        \
        I c = (LO);                                                                                \
        CELLS_OF_ROW(OP, DO, T, C, LOAD, STORE)                                                    \
    }

/* T: type in memory, C: type of the arithmetic; CELLS_OF_ROW: ROW, or a quicker one. Cells of a table
   that no near cache holds are fetched ahead; rows were not quicker for it. */
#define COMBINE(KIND, CELLS_OF_ROW, OP, DO, NAME, T, C, LOAD, STORE)                               \
    KIND static void OP##_##NAME(TASK)                                                             \
    {                                                                                              \
        T *const cells = (T *)(void *)rows;                                                        \
        const int32_t *const which = job->which;                                                   \
        const I run = job->run;                                                                    \
        const I ahead = job->far ? less(left - CELLS_AHEAD, count) : 0;                            \
        I w = 0;                                                                                   \
        if (run == LINE / (I)sizeof(T) && job->hi - job->lo == run)                                \
            ROWS(CELLS_OF_ROW, OP, DO, T, C, LOAD, STORE, 0, LINE / (I)sizeof(T))                  \
        else if (run != 1)                                                                         \
            ROWS(CELLS_OF_ROW, OP, DO, T, C, LOAD, STORE, job->lo, job->hi)                        \
        for (; w < ahead; w++) {                                                                   \
            PREFETCH(cells + at[which ? which[w + CELLS_AHEAD] : w + CELLS_AHEAD]);                \
            CELL(DO, T, C, LOAD, STORE)                                                            \
        }                                                                                          \
        for (; w < count; w++) { CELL(DO, T, C, LOAD, STORE) }                                     \
    }

#define NUMBERS(X)                                                                                 \
    X(i8, int8_t, int8_t, SAME, SAME, MAX, MIN) X(i16, int16_t, int16_t, SAME, SAME, MAX, MIN)     \
    X(i32, int32_t, int32_t, SAME, SAME, MAX, MIN) X(i64, int64_t, int64_t, SAME, SAME, MAX, MIN)  \
    X(u8, uint8_t, uint8_t, SAME, SAME, MAX, MIN) X(u16, uint16_t, uint32_t, SAME, SAME, MAX, MIN) \
    X(u32, uint32_t, uint32_t, SAME, SAME, MAX, MIN) X(u64, uint64_t, uint64_t, SAME, SAME, MAX, MIN) \
    X(f32, float, float, SAME, SAME, max_single, min_single)                                       \
    X(f64, double, double, SAME, SAME, max_double, min_double)                                     \
    X(half, uint16_t, float, from_half, to_half, max_half, min_half)                               \
    X(brain, uint16_t, float, from_brain, to_brain, max_single, min_single)
#define EACH(NAME, T, C, LOAD, STORE, GREATER, LESS)                                               \
    COMBINE(WIDE, ROW, ADD, ADD, NAME, T, C, LOAD, STORE)                                          \
    COMBINE(WIDE, ROW, SUB, SUB, NAME, T, C, LOAD, STORE)                                          \
    COMBINE(WIDE, ROW, MUL, MUL, NAME, T, C, LOAD, STORE)                                          \
    COMBINE(WIDE, ROW, MAX, GREATER, NAME, T, C, LOAD, STORE)                                      \
    COMBINE(WIDE, ROW, MIN, LESS, NAME, T, C, LOAD, STORE)
NUMBERS(EACH)
#define LINES(NAME, T, C, LOAD, STORE, GREATER, LESS)                                              \
    {ADD_##NAME, SUB_##NAME, MUL_##NAME, MAX_##NAME, MIN_##NAME},
static const Line COMBINES[][5] = {NUMBERS(LINES)};
#if defined(EIGHT_HALVES)
/* float16 once more, by the processor's own conversions, which round as to_half does. */
EIGHT_HALVES static inline float one_half(uint16_t h) { return _cvtsh_ss(h); }
EIGHT_HALVES static inline uint16_t as_half(float x) { return _cvtss_sh(x, 0); }
#define CHOSEN(a, b, ORDER)                                                                        \
    _mm256_blendv_ps(b, a, _mm256_or_ps(_mm256_cmp_ps(a, a, _CMP_UNORD_Q), _mm256_cmp_ps(a, b, ORDER)))
#define MAX_EIGHT(a, b) CHOSEN(a, b, _CMP_GE_OQ)
#define MIN_EIGHT(a, b) CHOSEN(a, b, _CMP_LE_OQ)
#define EIGHTS(OP, DO, T, C, LOAD, STORE)                                                          \
    for (; c + 8 <= hi; c += 8) {                                                                  \
        const __m256 a = _mm256_cvtph_ps(_mm_loadu_si128((const void *)(row + c)));                \
        const __m256 b = _mm256_cvtph_ps(_mm_loadu_si128((const void *)(row_values + c)));         \
        _mm_storeu_si128((void *)(row + c), _mm256_cvtps_ph(OP(a, b), 0));                 \
    }                                                                                              \
    ROW(OP, DO, T, C, LOAD, STORE)
#define HALVES(OP, DO) COMBINE(EIGHT_HALVES, EIGHTS, OP, DO, halves, uint16_t, float, one_half, as_half)
HALVES(ADD, ADD) HALVES(SUB, SUB) HALVES(MUL, MUL) HALVES(MAX_EIGHT, max_half) HALVES(MIN_EIGHT, min_half)
static const Line OF_HALVES[] = {ADD_halves, SUB_halves, MUL_halves, MAX_EIGHT_halves, MIN_EIGHT_halves};

/* Processors that add halves themselves, thirty-two at a time: rounded once, as to_half does. */
#if !defined(__clang__) && __GNUC__ >= 12
#define OWN_HALVES __attribute__((target("avx512fp16,avx512vl")))
#define MANY_HALVES(OP) COMBINE(OWN_HALVES, ROW, OP, OP, many, _Float16, _Float16, SAME, SAME)
MANY_HALVES(ADD) MANY_HALVES(SUB) MANY_HALVES(MUL)
static const Line OF_MANY_HALVES[] = {ADD_many, SUB_many, MUL_many, MAX_EIGHT_halves, MIN_EIGHT_halves};
#endif

/* The quickest lines that this processor has. */
static const Line *lines_of_halves(const Line *usual)
{
    unsigned a, b, c, d;
#if defined(OWN_HALVES)
    if (__builtin_cpu_supports("avx512fp16")) return OF_MANY_HALVES;
#endif
    const int converts = __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
    return converts && __builtin_cpu_supports("avx2") ? OF_HALVES : usual;
}
#else
#define lines_of_halves(usual) (usual)
#endif

/* `op`: add, sub, mul, max, min; `type`: the place in NUMBERS. Items are rows of `run` cells; for the
   others see Job, for what is returned see follow. */
PUBLIC I gscli_combine(I op, I type, char *rows, const Where *where, const Items *items, I run, I lo,
                       I hi, I picks, I top, I bottom)
{
    const Line line = (type == HALF ? lines_of_halves(COMBINES[HALF]) : COMBINES[type])[op];
    const Job job = {0, where->far, items->stream, run, lo, hi, top, bottom, line, NULL};
    return follow(picks ? picked_line : line, rows, where, items, &job);
}

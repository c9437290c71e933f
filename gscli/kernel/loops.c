/* The kernel's four inner loops: resolve, take, put, combine.

   Plain C11 without Python or NumPy headers: one file for every version of Python, called through
   ctypes, which lets other threads run meanwhile. loops.py is the only caller; it checks types,
   alignment and byte order and passes native, aligned arrays. Every loop gives the bits of the
   sequential loop of the specifications: cells are visited in entry order, and each update is
   rounded to the type of its cell before the next one is looked at. That needs -ffp-contract=off
   (no fused multiplication and addition) and -fwrapv (whole numbers wrap around).

   A grid is `planes` × `height` × `width` entries in row-major order. Addresses are int64 numbers of
   rows. They are given, or resolved from index numbers a chunk at a time, so that they never leave
   the nearest cache; no row is touched before the numbers of its chunk were judged. */

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(_WIN32)
#define PUBLIC __declspec(dllexport)
#else
#define PUBLIC __attribute__((visibility("default")))
#endif

#if defined(__GNUC__)
#define PREFETCH(place, write) __builtin_prefetch((place), (write))
#else
#define PREFETCH(place, write) ((void)0)
#endif

/* One copy of a loop for each generation of processors, chosen when the library is loaded. */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__SANITIZE_ADDRESS__)
#define WIDE __attribute__((target_clones("default", "avx2", "arch=x86-64-v4")))
#else
#define WIDE
#endif

/* Processors that convert eight halves at a time; asked when halves are combined. */
#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>
#include <immintrin.h>
#define EIGHT_HALVES __attribute__((target("avx2,f16c")))
#endif

#define INTERFACE 2 /* loops.py refuses a library that answers another number */
#define CHUNK 2048
#define CELLS_AHEAD 16
#define ROWS_AHEAD 6
#define LINE 64
#define PAGE 4096

typedef int64_t I;

/* One column of index numbers: what they mean, and how many bytes apart they stand. */
typedef struct {
    const char *numbers;
    I strides[3];
    I type;                    /* the place in WHOLE */
    I size, turn;              /* of the axis; what is added to negative numbers */
    I step, plane_step, place_step, first; /* number * step + plane * … + place * … + first */
} Column;

/* Where entries go: `addresses` one after the other, or what `count` columns of a grid resolve to.
   Where they are `shared`, every plane of items takes the same addresses, in rows that begin `part`
   bytes further on. `far`: the rows do not fit a near cache, so that it pays to fetch ahead. */
typedef struct {
    const I *addresses;
    const Column *columns;
    I count, sizes[3], shared, part, far;
} Where;

/* The items that are moved or combined, and how many bytes apart they stand. */
typedef struct {
    char *start;
    I sizes[3], strides[3];
} Items;

/* `count` items `sw` bytes apart and their addresses, `left` of which may be looked at ahead. */
typedef struct Job Job;
typedef void (*Line)(char *rows, const I *at, I count, I left, char *items, I sw, const Job *job);

/* What a line is told of its job. Threads that share the work without sharing cells are given
   columns `lo` … `hi`-1 of the `run` cells of a row, or rows `top` … `bottom`-1 only: then `line` gets
   the entries to combine as `which`, and all of them where that is NULL. */
struct Job {
    I size, far, run, lo, hi, top, bottom;
    Line line;
    const int32_t *which;
};

PUBLIC I gscli_interface(void) { return INTERFACE; }

static inline I less(I a, I b) { return a < b ? a : b; }

/* ---- resolve: index numbers of one column → addresses ------------------------------------- */

/* Read each number, add `turn` to negative ones, and write number * step + first + place * place_step
   to its address, or add it (`more`). Returns whether one was outside 0 … size-1. A uint64 above
   2^63 reads as negative, hence as outside. */
#define RESOLVE(NAME, T)                                                                           \
    WIDE static int line_##NAME(const char *numbers, I sw, I width, I size, I turn, I step,        \
                                I first, I place_step, int more, I *out)                           \
    {                                                                                              \
        uint64_t bad = 0;                                                                          \
        if (sw == (I)sizeof(T)) {                                                                  \
            const T *at = (const T *)(const void *)numbers;                                        \
            for (I w = 0; w < width; w++) {                                                        \
                I n = (I)at[w];                                                                    \
                n += (n >> 63) & turn;                                                             \
                bad |= (uint64_t)((uint64_t)n >= (uint64_t)size);                                  \
                out[w] = (more ? out[w] : 0) + n * step + first + w * place_step;                  \
            }                                                                                      \
        } else {                                                                                   \
            for (I w = 0; w < width; w++) {                                                        \
                I n = (I) * (const T *)(const void *)(numbers + w * sw);                           \
                n += (n >> 63) & turn;                                                             \
                bad |= (uint64_t)((uint64_t)n >= (uint64_t)size);                                  \
                out[w] = (more ? out[w] : 0) + n * step + first + w * place_step;                  \
            }                                                                                      \
        }                                                                                          \
        return bad != 0;                                                                           \
    }

#define WHOLE(X)                                                                                   \
    X(i8, int8_t) X(i16, int16_t) X(i32, int32_t) X(i64, int64_t)                                  \
    X(u8, uint8_t) X(u16, uint16_t) X(u32, uint32_t) X(u64, uint64_t)

WHOLE(RESOLVE)

typedef int (*Resolve)(const char *, I, I, I, I, I, I, I, int, I *);
#define RESOLVE_ROW(NAME, T) line_##NAME,
static const Resolve RESOLVES[] = {WHOLE(RESOLVE_ROW)};

/* The next chunk of a grid's numbers, `most` at most → addresses. Returns how many there were, or -1
   where one is outside. */
typedef struct { I plane, row, place; } Cursor;

static I next(const Where *where, Cursor *cursor, I *addresses, I most)
{
    I done = 0;
    while (done < most && cursor->plane < where->sizes[0]) {
        const I some = less(where->sizes[2] - cursor->place, most - done);
        for (I k = 0; k < where->count; k++) {
            const Column *c = where->columns + k;
            const char *numbers = c->numbers + cursor->plane * c->strides[0]
                                + cursor->row * c->strides[1] + cursor->place * c->strides[2];
            const I first = c->first + cursor->plane * c->plane_step + cursor->place * c->place_step;
            if (RESOLVES[c->type](numbers, c->strides[2], some, c->size, c->turn, c->step, first,
                                  c->place_step, k > 0, addresses + done))
                return -1;
        }
        done += some;
        cursor->place += some;
        if (cursor->place >= where->sizes[2]) {
            cursor->place = 0;
            if (++cursor->row >= where->sizes[1]) {
                cursor->row = 0;
                cursor->plane++;
            }
        }
    }
    return done;
}

/* All addresses of a grid that is not empty. Returns 1 where a number is outside; the addresses then
   mean nothing. */
PUBLIC I gscli_resolve(const Where *where, I *addresses)
{
    Cursor cursor = {0, 0, 0};
    return next(where, &cursor, addresses, INT64_MAX) < 0;
}

/* ---- follow: lines of items, in entry order --------------------------------------------------- */

/* Returns 1 where an index number is outside; then nothing of its chunk was touched. */
static I follow(Line line, char *rows, const Where *where, const Items *items, const Job *job)
{
    const I height = items->sizes[1], width = items->sizes[2], plane = height * width;
    const I sp = items->strides[0], sh = items->strides[1], sw = items->strides[2];
    if (where->addresses) {
        for (I p = 0; p < items->sizes[0]; p++)
            for (I h = 0; h < height; h++)
                line(rows + p * where->part,
                     where->addresses + (where->shared ? 0 : p * plane) + h * width, width,
                     plane - h * width, items->start + p * sp + h * sh, sw, job);
        return 0;
    }
    I at[CHUNK], count, p = 0, h = 0, w = 0;
    Cursor cursor = {0, 0, 0};
    while ((count = next(where, &cursor, at, CHUNK)) > 0)
        for (I used = 0, some; used < count; used += some) {
            some = less(width - w, count - used);
            line(rows, at + used, some, count - used, items->start + p * sp + h * sh + w * sw, sw,
                 job);
            w += some;
            if (w == width) {
                w = 0;
                if (++h == height) h = 0, p++;
            }
        }
    return count < 0;
}

/* ---- take and put: items of `size` bytes ---------------------------------------------------- */

/* memcpy of a constant size is one load and one store, whatever the alignment. */
#define MOVE(SIZE)                                                                                 \
    static void take_##SIZE(char *rows, const I *at, I count, I left, char *items, I sw,           \
                            const Job *job)                                                        \
    {                                                                                              \
        const I ahead = job->far ? less(left - CELLS_AHEAD, count) : 0;                            \
        I w = 0;                                                                                   \
        for (; w < ahead; w++) {                                                                   \
            PREFETCH(rows + at[w + CELLS_AHEAD] * SIZE, 0);                                        \
            memcpy(items + w * sw, rows + at[w] * SIZE, SIZE);                                     \
        }                                                                                          \
        for (; w < count; w++) memcpy(items + w * sw, rows + at[w] * SIZE, SIZE);                  \
    }                                                                                              \
    static void put_##SIZE(char *rows, const I *at, I count, I left, char *items, I sw,            \
                           const Job *job)                                                         \
    {                                                                                              \
        const I ahead = job->far ? less(left - CELLS_AHEAD, count) : 0;                            \
        I w = 0;                                                                                   \
        for (; w < ahead; w++) {                                                                   \
            PREFETCH(rows + at[w + CELLS_AHEAD] * SIZE, 1);                                        \
            memcpy(rows + at[w] * SIZE, items + w * sw, SIZE);                                     \
        }                                                                                          \
        for (; w < count; w++) memcpy(rows + at[w] * SIZE, items + w * sw, SIZE);                  \
    }

MOVE(1) MOVE(2) MOVE(4) MOVE(8) MOVE(16)

/* Rows seldom begin where a line of the cache does: their last byte's line is one more. */
static void fetch_row(const char *row, I bytes, int write)
{
    for (I k = 0; k < bytes + LINE - 1; k += LINE) {
        const char *const place = row + less(k, bytes - 1);
        if (write)
            PREFETCH(place, 1);
        else
            PREFETCH(place, 0);
    }
}

static void take_rows(char *rows, const I *at, I count, I left, char *items, I sw, const Job *job)
{
    const I size = job->size, near = less(size, PAGE);
    for (I w = 0; w < count; w++) {
        if (w + ROWS_AHEAD < left) fetch_row(rows + at[w + ROWS_AHEAD] * size, near, 0);
        memcpy(items + w * sw, rows + at[w] * size, (size_t)size);
    }
}

static void put_rows(char *rows, const I *at, I count, I left, char *items, I sw, const Job *job)
{
    const I size = job->size;
    for (I w = 0; w < count; w++) memcpy(rows + at[w] * size, items + w * sw, (size_t)size);
    (void)left;
}

/* Items at the addresses of `rows` → items. For what is returned see follow. */
PUBLIC I gscli_take(char *rows, const Where *where, const Items *items, I size)
{
    const Line line = size == 1 ? take_1 : size == 2 ? take_2 : size == 4 ? take_4
                    : size == 8 ? take_8 : size == 16 ? take_16 : take_rows;
    const Job job = {.size = size, .far = where->far};
    return follow(line, rows, where, items, &job);
}

/* Items → their addresses in `rows`, in entry order: the last one stays. */
PUBLIC I gscli_put(char *rows, const Where *where, const Items *items, I size)
{
    const Line line = size == 1 ? put_1 : size == 2 ? put_2 : size == 4 ? put_4
                    : size == 8 ? put_8 : size == 16 ? put_16 : put_rows;
    const Job job = {.size = size, .far = where->far};
    return follow(line, rows, where, items, &job);
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
    const uint32_t sign = bits_of(x) & 0x80000000u, b = bits_of(x) ^ sign;
    const uint32_t odd = (b >> 13) & 1u;
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
#define MAX(a, b) ((a) != (a) ? (a) : (a) > (b) ? (a) : (b))
#define MIN(a, b) ((a) != (a) ? (a) : (a) < (b) ? (a) : (b))
#define MAX_HALF(a, b) ((a) != (a) ? (a) : (a) >= (b) ? (a) : (b))
#define MIN_HALF(a, b) ((a) != (a) ? (a) : (a) <= (b) ? (a) : (b))

/* Which of `count` addresses are rows top … bottom-1, without branches: half of them usually are. */
static I pick(const I *at, I count, I top, I bottom, int32_t *picked)
{
    I found = 0;
    for (I w = 0; w < count; w++) {
        picked[found] = (int32_t)w;
        found += (uint64_t)(at[w] - top) < (uint64_t)(bottom - top);
    }
    return found;
}

/* The line of a job for those rows alone that are its own. */
static void picked_line(char *rows, const I *at, I count, I left, char *items, I sw, const Job *job)
{
    int32_t picked[CHUNK + 1];
    Job own = *job;
    own.which = picked;
    for (I begin = 0; begin < count; begin += CHUNK) {
        const I found = pick(at + begin, less(count - begin, CHUNK), job->top, job->bottom, picked);
        job->line(rows, at + begin, found, found, items + begin * sw, sw, &own);
    }
    (void)left;
}

/* One update of one cell, and of a row's cells c … hi-1. */
#define CELL(DO, T, C, LOAD, STORE, ENTRY)                                                         \
    do {                                                                                           \
        const C b = LOAD(*(const T *)(const void *)(items + (ENTRY) * sw)), a = LOAD(cells[at[ENTRY]]); \
        cells[at[ENTRY]] = (T)STORE(DO(a, b));                                                     \
    } while (0)

#define ROW(OP, DO, T, C, LOAD, STORE)                                                             \
    for (; c < hi; c++) {                                                                          \
        const C a = LOAD(row[c]), b = LOAD(row_values[c]);                                         \
        row[c] = (T)STORE(DO(a, b));                                                               \
    }

/* T: type in memory, C: type of the arithmetic; CELLS_OF_ROW: ROW, or a quicker one. Cells of a table
   that no near cache holds are fetched ahead; rows were not quicker for it. */
#define COMBINE(KIND, CELLS_OF_ROW, OP, DO, NAME, T, C, LOAD, STORE)                               \
    KIND static void OP##_##NAME(char *rows, const I *at, I count, I left, char *items, I sw,      \
                                 const Job *job)                                                   \
    {                                                                                              \
        T *const cells = (T *)(void *)rows;                                                        \
        const int32_t *const which = job->which;                                                   \
        const I run = job->run, lo = job->lo, hi = job->hi;                                        \
        const I ahead = job->far ? less(left - CELLS_AHEAD, count) : 0;                            \
        I w = 0;                                                                                   \
        if (run != 1) {                                                                            \
            for (; w < count; w++) {                                                               \
                const I entry = which ? which[w] : w;                                              \
                T *restrict const row = cells + at[entry] * run;                                   \
                const T *restrict const row_values = (const T *)(const void *)(items + entry * sw); \
                I c = lo;                                                                          \
                CELLS_OF_ROW(OP, DO, T, C, LOAD, STORE)                                            \
            }                                                                                      \
            return;                                                                                \
        }                                                                                          \
        for (; w < ahead; w++) {                                                                   \
            PREFETCH(cells + at[which ? which[w + CELLS_AHEAD] : w + CELLS_AHEAD], 1);             \
            CELL(DO, T, C, LOAD, STORE, which ? which[w] : w);                                     \
        }                                                                                          \
        for (; w < count; w++) CELL(DO, T, C, LOAD, STORE, which ? which[w] : w);                  \
    }

#define NUMBERS(X)                                                                                 \
    X(i8, int8_t, int8_t, SAME, SAME, MAX, MIN) X(i16, int16_t, int16_t, SAME, SAME, MAX, MIN)     \
    X(i32, int32_t, int32_t, SAME, SAME, MAX, MIN) X(i64, int64_t, int64_t, SAME, SAME, MAX, MIN)  \
    X(u8, uint8_t, uint8_t, SAME, SAME, MAX, MIN) X(u16, uint16_t, uint32_t, SAME, SAME, MAX, MIN) \
    X(u32, uint32_t, uint32_t, SAME, SAME, MAX, MIN)                                               \
    X(u64, uint64_t, uint64_t, SAME, SAME, MAX, MIN)                                               \
    X(f32, float, float, SAME, SAME, MAX, MIN) X(f64, double, double, SAME, SAME, MAX, MIN)        \
    X(half, uint16_t, float, from_half, to_half, MAX_HALF, MIN_HALF)                               \
    X(brain, uint16_t, float, from_brain, to_brain, MAX, MIN)

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

/* float16 once more, by the processor's own conversions, which round as to_half does. */
#if defined(EIGHT_HALVES)
EIGHT_HALVES static inline float one_half(uint16_t h) { return _cvtsh_ss(h); }
EIGHT_HALVES static inline uint16_t as_half(float x) { return _cvtss_sh(x, 0); }

#define ADD_EIGHT(a, b) _mm256_add_ps(a, b)
#define SUB_EIGHT(a, b) _mm256_sub_ps(a, b)
#define MUL_EIGHT(a, b) _mm256_mul_ps(a, b)
#define CHOSEN(a, b, ORDER)                                                                        \
    _mm256_blendv_ps(b, a, _mm256_or_ps(_mm256_cmp_ps(a, a, _CMP_UNORD_Q), _mm256_cmp_ps(a, b, ORDER)))
#define MAX_EIGHT(a, b) CHOSEN(a, b, _CMP_GE_OQ)
#define MIN_EIGHT(a, b) CHOSEN(a, b, _CMP_LE_OQ)

#define EIGHTS(OP, DO, T, C, LOAD, STORE)                                                          \
    for (; c + 8 <= hi; c += 8) {                                                                  \
        const __m256 a = _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)(row + c))); \
        const __m256 b =                                                                           \
            _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)(row_values + c)));     \
        _mm_storeu_si128((__m128i *)(void *)(row + c), _mm256_cvtps_ph(OP##_EIGHT(a, b), 0));      \
    }                                                                                              \
    ROW(OP, DO, T, C, LOAD, STORE)

#define HALVES(OP, DO) COMBINE(EIGHT_HALVES, EIGHTS, OP, DO, halves, uint16_t, float, one_half, as_half)
HALVES(ADD, ADD) HALVES(SUB, SUB) HALVES(MUL, MUL) HALVES(MAX, MAX_HALF) HALVES(MIN, MIN_HALF)
static const Line OF_HALVES[] = {ADD_halves, SUB_halves, MUL_halves, MAX_halves, MIN_halves};

/* Processors that add halves themselves, thirty-two at a time: rounded once, as to_half does. */
#if !defined(__clang__) && __GNUC__ >= 12
#define OWN_HALVES __attribute__((target("avx512fp16,avx512vl,f16c")))
#define ADD_MANY(a, b) _mm512_add_ph(a, b)
#define SUB_MANY(a, b) _mm512_sub_ph(a, b)
#define MUL_MANY(a, b) _mm512_mul_ph(a, b)
#define MANY(OP, DO, T, C, LOAD, STORE)                                                            \
    for (; c + 32 <= hi; c += 32)                                                                  \
        _mm512_storeu_ph(row + c,                                                                  \
                         OP##_MANY(_mm512_loadu_ph(row + c), _mm512_loadu_ph(row_values + c)));    \
    EIGHTS(OP, DO, T, C, LOAD, STORE)

#define MANY_HALVES(OP) COMBINE(OWN_HALVES, MANY, OP, OP, many, uint16_t, float, one_half, as_half)
MANY_HALVES(ADD) MANY_HALVES(SUB) MANY_HALVES(MUL)
static const Line OF_MANY_HALVES[] = {ADD_many, SUB_many, MUL_many, MAX_halves, MIN_halves};
#endif

/* The quickest lines that this processor has, or NULL. */
static const Line *lines_of_halves(void)
{
    unsigned a, b, c, d;
#if defined(OWN_HALVES)
    if (__builtin_cpu_supports("avx512fp16")) return OF_MANY_HALVES;
#endif
    const int converts = __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
    return converts && __builtin_cpu_supports("avx2") ? OF_HALVES : NULL;
}
#endif

/* `op`: add, sub, mul, max, min; `type`: the place in NUMBERS. Items are rows of `run` cells; for the
   others see Job, for what is returned see follow. */
PUBLIC I gscli_combine(I op, I type, char *rows, const Where *where, const Items *items, I run, I lo,
                       I hi, I picks, I top, I bottom)
{
    Line line = COMBINES[type][op];
#if defined(EIGHT_HALVES)
    if (COMBINES[type] == COMBINES[10] && lines_of_halves()) line = lines_of_halves()[op];
#endif
    const Job job = {0, where->far, run, lo, hi, top, bottom, line, NULL};
    return follow(picks ? picked_line : line, rows, where, items, &job);
}

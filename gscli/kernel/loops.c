/* The kernel's four inner loops: resolve, take, put, combine.

   Plain C11 without Python or NumPy headers: one file for every version of Python, called through
   ctypes, which lets other threads run meanwhile. loops.py is the only caller; it checks types,
   alignment and byte order and passes native, aligned arrays. Every loop gives the bits of the
   sequential loop of the specifications: cells are visited in entry order, and each update is
   rounded to the type of its cell before the next one is looked at. That needs -ffp-contract=off
   (no fused multiplication and addition) and -fwrapv (whole numbers wrap around).

   Addresses are int64 numbers of rows. A grid is `planes` × `height` × `width` entries in row-major
   order, whose items stand `sp`, `sh` and `sw` bytes apart. Addresses stand one after the other; where
   they are `shared`, every plane takes the same ones, in rows that begin `part` bytes further on. */

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

#define INTERFACE 1 /* loops.py refuses a library that answers another number */
#define CELLS_AHEAD 16
#define ROWS_AHEAD 6
#define LINE 64
#define PAGE 4096

typedef int64_t I;

PUBLIC I gscli_interface(void) { return INTERFACE; }

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

/* `type`: the place in WHOLE; `turn`: what is added to negative numbers. Returns 1 where a number is
   outside; the addresses then mean nothing. */
PUBLIC I gscli_resolve(I type, const char *numbers, I planes, I height, I width, I sp, I sh, I sw,
                       I size, I turn, I step, I plane_step, I place_step, I more, I *addresses)
{
    const Resolve line = RESOLVES[type];
    for (I p = 0; p < planes; p++)
        for (I h = 0; h < height; h++, addresses += width)
            if (line(numbers + p * sp + h * sh, sw, width, size, turn, step, p * plane_step,
                     place_step, (int)more, addresses))
                return 1;
    return 0;
}

/* ---- take and put: items of `size` bytes ---------------------------------------------------- */

/* memcpy of a constant size is one load and one store, whatever the alignment. */
#define MOVE(SIZE)                                                                                 \
    static void take_##SIZE(const char *from, const I *at, I height, I width, char *to, I sh,      \
                            I sw, I size)                                                          \
    {                                                                                              \
        const I count = height * width;                                                            \
        for (I h = 0, p = 0; h < height; h++)                                                      \
            for (I w = 0; w < width; w++, p++) {                                                   \
                if (p + CELLS_AHEAD < count) PREFETCH(from + at[p + CELLS_AHEAD] * SIZE, 0);       \
                memcpy(to + h * sh + w * sw, from + at[p] * SIZE, SIZE);                           \
            }                                                                                      \
        (void)size;                                                                                \
    }                                                                                              \
    static void put_##SIZE(char *to, const I *at, I height, I width, const char *from, I sh, I sw, \
                           I size)                                                                 \
    {                                                                                              \
        const I count = height * width;                                                            \
        for (I h = 0, p = 0; h < height; h++)                                                      \
            for (I w = 0; w < width; w++, p++) {                                                   \
                if (p + CELLS_AHEAD < count) PREFETCH(to + at[p + CELLS_AHEAD] * SIZE, 1);         \
                memcpy(to + at[p] * SIZE, from + h * sh + w * sw, SIZE);                           \
            }                                                                                      \
        (void)size;                                                                                \
    }

MOVE(1) MOVE(2) MOVE(4) MOVE(8) MOVE(16)

static void fetch_row(const char *row, I bytes, int write)
{
    for (I k = 0; k < bytes; k += LINE) {
        if (write)
            PREFETCH(row + k, 1);
        else
            PREFETCH(row + k, 0);
    }
}

static void take_rows(const char *from, const I *at, I height, I width, char *to, I sh, I sw, I size)
{
    const I count = height * width, near = size < PAGE ? size : PAGE;
    for (I h = 0, p = 0; h < height; h++)
        for (I w = 0; w < width; w++, p++) {
            if (p + ROWS_AHEAD < count) fetch_row(from + at[p + ROWS_AHEAD] * size, near, 0);
            memcpy(to + h * sh + w * sw, from + at[p] * size, (size_t)size);
        }
}

static void put_rows(char *to, const I *at, I height, I width, const char *from, I sh, I sw, I size)
{
    for (I h = 0, p = 0; h < height; h++)
        for (I w = 0; w < width; w++, p++)
            memcpy(to + at[p] * size, from + h * sh + w * sw, (size_t)size);
}

typedef void (*Take)(const char *, const I *, I, I, char *, I, I, I);
typedef void (*Put)(char *, const I *, I, I, const char *, I, I, I);

/* Items at `addresses` of `from` → a grid of items. */
PUBLIC void gscli_take(const char *from, I part, const I *addresses, I shared, I planes, I height,
                       I width, char *to, I sp, I sh, I sw, I size)
{
    const Take take = size == 1 ? take_1 : size == 2 ? take_2 : size == 4 ? take_4
                    : size == 8 ? take_8 : size == 16 ? take_16 : take_rows;
    const I turn = shared ? 0 : height * width;
    for (I p = 0; p < planes; p++)
        take(from + p * part, addresses + p * turn, height, width, to + p * sp, sh, sw, size);
}

/* A grid of items → `addresses` of `to`, in entry order: the last one stays. */
PUBLIC void gscli_put(char *to, I part, const I *addresses, I shared, I planes, I height, I width,
                      const char *from, I sp, I sh, I sw, I size)
{
    const Put put = size == 1 ? put_1 : size == 2 ? put_2 : size == 4 ? put_4
                  : size == 8 ? put_8 : size == 16 ? put_16 : put_rows;
    const I turn = shared ? 0 : height * width;
    for (I p = 0; p < planes; p++)
        put(to + p * part, addresses + p * turn, height, width, from + p * sp, sh, sw, size);
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

/* T: type in memory, C: type of the arithmetic. So that threads can share the work without sharing
   cells, a call may be given columns lo … hi-1 of rows of `run` cells, or, of rows of one cell, those
   from `lo` to `hi`-1: updates of the others go to a cell that nobody reads, which is quicker than
   to ask whether to skip them. */
#define COMBINE(OP, DO, NAME, T, C, LOAD, STORE)                                                   \
    WIDE static void OP##_##NAME(char *rows, const I *at, I height, I width, const char *updates,  \
                                 I sh, I sw, I run, I lo, I hi)                                    \
    {                                                                                              \
        T *const cells = (T *)(void *)rows;                                                        \
        T nobodys = 0;                                                                             \
        const I count = height * width;                                                            \
        for (I h = 0, p = 0; h < height; h++) {                                                    \
            const char *line = updates + h * sh;                                                   \
            if (run == 1) {                                                                        \
                const I ahead = count - CELLS_AHEAD - p, safe = ahead < width ? ahead : width;     \
                I w = 0;                                                                           \
                if (hi == 1)                                                                       \
                    for (; w < safe; w++, p++) {                                                   \
                        PREFETCH(cells + at[p + CELLS_AHEAD], 1);                                  \
                        const C b = LOAD(*(const T *)(const void *)(line + w * sw));               \
                        const C a = LOAD(cells[at[p]]);                                            \
                        cells[at[p]] = (T)STORE(DO(a, b));                                         \
                    }                                                                              \
                for (; w < width; w++, p++) {                                                      \
                    const int here = hi == 1 || (uint64_t)(at[p] - lo) < (uint64_t)(hi - lo);      \
                    T *const cell = here ? cells + at[p] : &nobodys;                               \
                    const C b = LOAD(*(const T *)(const void *)(line + w * sw)), a = LOAD(*cell);  \
                    *cell = (T)STORE(DO(a, b));                                                    \
                }                                                                                  \
                continue;                                                                          \
            }                                                                                      \
            for (I w = 0; w < width; w++, p++) {                                                   \
                T *restrict const row = cells + at[p] * run;                                       \
                const T *restrict const row_values = (const T *)(const void *)(line + w * sw);     \
                if (p + ROWS_AHEAD < count)                                                        \
                    fetch_row((const char *)(cells + at[p + ROWS_AHEAD] * run + lo),               \
                              (hi - lo) * (I)sizeof(T), 1);                                        \
                for (I c = lo; c < hi; c++) {                                                      \
                    const C a = LOAD(row[c]), b = LOAD(row_values[c]);                             \
                    row[c] = (T)STORE(DO(a, b));                                                   \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
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
    COMBINE(ADD, ADD, NAME, T, C, LOAD, STORE) COMBINE(SUB, SUB, NAME, T, C, LOAD, STORE)          \
    COMBINE(MUL, MUL, NAME, T, C, LOAD, STORE) COMBINE(MAX, GREATER, NAME, T, C, LOAD, STORE)      \
    COMBINE(MIN, LESS, NAME, T, C, LOAD, STORE)

NUMBERS(EACH)

typedef void (*Combine)(char *, const I *, I, I, const char *, I, I, I, I, I);
#define COMBINE_ROW(NAME, T, C, LOAD, STORE, GREATER, LESS)                                        \
    {ADD_##NAME, SUB_##NAME, MUL_##NAME, MAX_##NAME, MIN_##NAME},
static const Combine COMBINES[][5] = {NUMBERS(COMBINE_ROW)};

/* `op`: add, sub, mul, max, min; `type`: the place in NUMBERS. Updates are a grid of rows of `run`
   cells; for `lo` and `hi` see COMBINE: 0 and `run` where nobody shares the work. */
PUBLIC void gscli_combine(I op, I type, char *rows, I part, const I *addresses, I shared, I planes,
                          I height, I width, const char *updates, I sp, I sh, I sw, I run, I lo,
                          I hi)
{
    const Combine combine = COMBINES[type][op];
    const I turn = shared ? 0 : height * width;
    for (I p = 0; p < planes; p++)
        combine(rows + p * part, addresses + p * turn, height, width, updates + p * sp, sh, sw, run,
                lo, hi);
}

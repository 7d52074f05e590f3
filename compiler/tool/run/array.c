/* array.c - host arrays of the run command, and the words that describe them.
 *
 * Random floats are normal by Box-Muller over splitmix64, one draw an element, so that a seed means the same numbers on
 * every machine; narrow floats are rounded from fp32 to nearest even. Random integers are small (-100 … 100,
 * or 0 … 100).
 */
#include "tool/run/array.h"

#include "check/check.h"
#include "runtime/base/number.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    uint32_t bytes;
} elements[] = {{"i1", 1},  {"i8", 1},      {"u8", 1},    {"fp8e4nv", 1}, {"fp8e5", 1}, {"i16", 2}, {"u16", 2},
                {"fp16", 2}, {"bf16", 2},   {"i32", 4},   {"u32", 4},     {"fp32", 4},  {"i64", 8}, {"u64", 8},
                {"fp64", 8}};

uint32_t element_bytes(const char *dtype) {
    for (size_t i = 0; i < COUNT(elements); i++) {
        if (strcmp(elements[i].name, dtype) == 0) return elements[i].bytes;
    }
    return 0;
}

bool array_bytes(const char *dtype, uint32_t rank, const uint64_t *shape, uint64_t *bytes) {
    *bytes = element_bytes(dtype);
    bool fits = true;
    for (uint32_t i = 0; i < rank; i++) fits &= !__builtin_mul_overflow(*bytes, shape[i], bytes);
    return fits && *bytes < (uint64_t)1 << 46;
}

bool array_create(Array *a, const char *what, const char *dtype, uint32_t rank, const uint64_t *shape) {
    uint64_t bytes = 0, size = element_bytes(dtype);
    bool fits = array_bytes(dtype, rank, shape, &bytes);
    *a = (Array){.dtype = dtype, .rank = rank, .count = size ? bytes / size : 0, .bytes = bytes};
    if (rank) memcpy(a->shape, shape, rank * sizeof *shape);
    a->data = fits ? calloc(bytes ? bytes : 1, 1) : NULL;
    if (!a->data && fits)
        fprintf(stderr, "%s: no memory for the %llu elements of %s\n", tool_name, (unsigned long long)a->count, what);
    if (!fits) fprintf(stderr, "%s: %s has more elements than any memory\n", tool_name, what);
    return a->data != NULL;
}

void array_destroy(Array *a) {
    free(a->data);
    *a = (Array){0};
}

/* Sebastiano Vigna's splitmix64: one 64-bit state, any seed is good. */
static uint64_t random_bits(uint64_t *state) {
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static double random_normal(uint64_t *state) {
    uint64_t bits = random_bits(state);
    double u = ((double)(uint32_t)(bits >> 32) + 0.5) * 0x1p-32, v = (double)(uint32_t)bits * 0x1p-32;
    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

/* fp32 → a float of `exponent` and `mantissa` bits, to nearest even; good for the finite numbers drawn here. */
static uint32_t round_float(float x, int exponent, int mantissa) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    uint32_t sign = bits >> 31 << (exponent + mantissa);
    int e = (int)(bits >> 23 & 255) - 127 + (1 << (exponent - 1)) - 1;
    uint32_t m = (bits & 0x7fffff) | 0x800000;
    int drop = 23 - mantissa + (e < 1 ? 1 - e : 0);
    if (drop > 24) return sign;
    uint32_t kept = m >> drop, rest = m & ((1u << drop) - 1), half = 1u << (drop - 1);
    kept += rest > half || (rest == half && (kept & 1));
    if (e >= 1) kept += (uint32_t)(e - 1) << mantissa;
    return sign | kept;
}

static void put_float(Array *a, uint64_t i, double x) {
    char *at = (char *)a->data + i * (a->bytes / a->count);
    float f = (float)x;
    uint16_t h = 0;
    uint8_t b = 0;
    if (strcmp(a->dtype, "fp64") == 0) {
        memcpy(at, &x, 8);
    } else if (strcmp(a->dtype, "fp32") == 0) {
        memcpy(at, &f, 4);
    } else if (strcmp(a->dtype, "fp16") == 0 || strcmp(a->dtype, "bf16") == 0) {
        h = (uint16_t)(a->dtype[0] == 'b' ? round_float(f, 8, 7) : round_float(f, 5, 10));
        memcpy(at, &h, 2);
    } else {
        b = (uint8_t)(strcmp(a->dtype, "fp8e5") == 0 ? round_float(f, 5, 2) : round_float(f, 4, 3));
        memcpy(at, &b, 1);
    }
}

/* little-endian, as fsc's hosts are */
static void put_int(Array *a, uint64_t i, uint64_t n) {
    memcpy((char *)a->data + i * (a->bytes / a->count), &n, a->bytes / a->count);
}

void array_fill_random(Array *a, uint64_t seed) {
    uint64_t state = seed;
    bool is_float = strchr(a->dtype, 'f') != NULL;
    for (uint64_t i = 0; i < a->count; i++) {
        if (is_float) {
            put_float(a, i, random_normal(&state));
            continue;
        }
        uint64_t bits = random_bits(&state) >> 32;
        int64_t n = strcmp(a->dtype, "i1") == 0 ? (int64_t)(bits & 1)
                    : a->dtype[0] == 'u'        ? (int64_t)(bits % 101)
                                                : (int64_t)(bits % 201) - 100;
        put_int(a, i, (uint64_t)n);
    }
}

void array_fill_steps(Array *a, uint64_t step) {
    for (uint64_t i = 0; i < a->count; i++) put_int(a, i, i * step);
}

/* ---- Words ------------------------------------------------------------------------------------------------------- */

static bool bad_word(const Word *w, const char *why) {
    fprintf(stderr, "%s: %s=%s: %s\n", tool_name, w->name, w->text, why);
    return false;
}

/* "fp32[1823,781]" or "fp32". */
static bool read_type(Arena *arena, const char *text, Word *w) {
    size_t n = strcspn(text, "[");
    w->dtype = dtype_canonical(arena_strndup(arena, text, n));
    if (!w->dtype) return bad_word(w, "an element type is expected before the '[', such as fp32");
    if (text[n] == '\0') return true;
    w->has_shape = true;
    const char *p = text + n + 1;
    while (*p != ']') {
        char *end = NULL;
        errno = 0;
        unsigned long long size = strtoull(p, &end, 10);
        if (end == p || !isdigit((unsigned char)*p) || errno || w->rank == ARRAY_RANK_MAX)
            return bad_word(w, "a shape is whole numbers in brackets: fp32[1823,781]");
        w->shape[w->rank++] = size;
        p = *end == ',' ? end + 1 : end;
        if (*end != ',' && *end != ']') return bad_word(w, "a shape is whole numbers in brackets: fp32[1823,781]");
    }
    return p[1] ? bad_word(w, "nothing may follow the ']'") : true;
}

bool number_argument(const char *text, fsc_arg *out) {
    char *end = NULL;
    errno = 0;
    *out = fsc_int(strtoll(text, &end, 0));
    bool is_int = *end == '\0' && end != text;
    if (is_int && errno == 0) return true;
    errno = 0;
    if (is_int && text[0] != '-') *out = fsc_uint(strtoull(text, &end, 0));
    if (out->kind == FSC_ARG_UNSIGNED && errno == 0) return true;
    double x = 0;
    bool ok = number_read(text, strlen(text), &x);
    *out = fsc_float(x);
    return ok;
}

bool word_parse(Arena *arena, const char *argument, Word *w) {
    const char *eq = strchr(argument, '=');
    if (!eq || eq == argument) {
        fprintf(stderr, "%s: '%s' is no NAME=VALUE; a buffer is x=random:0:fp32[4,8] or x=in.npy, a scalar n=8\n",
                tool_name, argument);
        return false;
    }
    *w = (Word){.name = arena_strndup(arena, argument, (size_t)(eq - argument)), .text = eq + 1};
    bool is_random = strncmp(w->text, "random:", 7) == 0;
    if (is_random || strncmp(w->text, "steps:", 6) == 0) {
        const char *from = strchr(w->text, ':') + 1;
        char *end = NULL;
        w->kind = is_random ? WORD_RANDOM : WORD_STEPS;
        w->seed = strtoull(from, &end, 10);
        const char *like = is_random ? "random wants a seed: random:0:fp32[4,8]" : "steps wants a step: steps:8:i32[4]";
        if (end == from || *end != ':') return bad_word(w, like);
        if (!read_type(arena, end + 1, w)) return false;
        bool is_whole = !strchr(w->dtype, 'f') && strcmp(w->dtype, "i1") != 0;
        if (!is_random && !is_whole) return bad_word(w, "steps are integers: steps:8:i32[4]");
        like = is_random ? "a shape is missing: random:0:fp32[4,8]" : "a shape is missing: steps:8:i32[4]";
        return w->has_shape || bad_word(w, like);
    }
    if (strncmp(w->text, "zeros:", 6) == 0) {
        w->kind = WORD_ZEROS;
        return read_type(arena, w->text + 6, w) && (w->has_shape || bad_word(w, "a shape is missing: zeros:fp32[4,8]"));
    }
    const char *npy = strstr(w->text, ".npy");
    bool is_stream = w->text[0] == '-' && (w->text[1] == '\0' || w->text[1] == ':');
    if (npy || is_stream) {
        const char *rest = is_stream ? w->text + 1 : npy + 4;
        w->kind = WORD_FILE;
        w->path = arena_strndup(arena, w->text, (size_t)(rest - w->text));
        if (*rest == '\0') return true;
        if (*rest != ':') return bad_word(w, "after .npy only ':TYPE[SHAPE]' may follow");
        return read_type(arena, rest + 1, w);
    }
    w->kind = WORD_NUMBER;
    if (number_argument(w->text, &w->number)) return true;
    return bad_word(w,
                    "not a number, nor random:SEED:TYPE[…], zeros:TYPE[…], steps:STEP:TYPE[…], a .npy file or -");
}

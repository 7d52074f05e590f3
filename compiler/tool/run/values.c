/* values.c - arrays of numbers on the host: elements of every type, and what formulas do with whole arrays. */
#include "tool/run/values.h"

#include "ir/ir.h"
#include "runtime/base/number.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- Elements ---------------------------------------------------------------------------------------------------- */

Real array_number(const Array *a, uint64_t i) {
    DType d = DT_I1;
    uint32_t size = element_bytes(a->dtype);
    uint64_t bits = 0;
    memcpy(&bits, (const char *)a->data + i * size, size); /* little-endian, as fsc's hosts are */
    if (!dtype_find(a->dtype, &d)) return (Real)NAN;
    if (strchr(a->dtype, 'f')) return (Real)float_from_bits(d, (int64_t)bits);
    return a->dtype[0] == 'u' || d == DT_I1 ? (Real)bits : (Real)int_wrap(d, (int64_t)bits);
}

bool real_round(const char *dtype, Real x, Real *out) {
    DType d = DT_I1;
    if (!dtype_find(dtype, &d)) return false;
    if (strchr(dtype, 'f')) {
        *out = (Real)float_from_bits(d, (int64_t)number_float_bits((double)x, fsc_dtype_find(dtype)));
        return true;
    }
    Real whole = truncl(x);
    bool fits = whole >= -0x1p63L && whole < 0x1p63L;
    *out = fits && strcmp(dtype, "u64") != 0 ? (Real)int_wrap(d, (int64_t)whole) : whole;
    return true;
}

/* ---- Making ------------------------------------------------------------------------------------------------------ */

static Values *make(Arena *arena, uint32_t rank, const uint64_t *shape) {
    Values *v = NEW(arena, Values);
    v->rank = rank;
    v->count = 1;
    for (uint32_t i = 0; i < rank; i++) v->count *= v->shape[i] = shape[i];
    v->at = NEW_ARRAY(arena, Real, v->count ? v->count : 1);
    return v;
}

Values *values_of_array(Arena *arena, const Array *a) {
    Values *v = make(arena, a->rank, a->shape);
    for (uint64_t i = 0; i < v->count; i++) v->at[i] = array_number(a, i);
    return v;
}

Values *values_number(Arena *arena, Real x) {
    Values *v = make(arena, 0, NULL);
    v->at[0] = x;
    return v;
}

Values *values_arange(Arena *arena, int64_t n) {
    uint64_t shape = n > 0 ? (uint64_t)n : 0;
    Values *v = make(arena, 1, &shape);
    for (uint64_t i = 0; i < shape; i++) v->at[i] = (Real)i;
    return v;
}

const char *values_shape(Arena *arena, const Values *v) {
    const char *text = v->rank ? "" : "a number";
    for (uint32_t i = 0; i < v->rank; i++)
        text = arena_printf(arena, "%s%s%" PRIu64, text, i ? " x " : "", v->shape[i]);
    return v->rank == 1 ? arena_printf(arena, "%s elements", text) : text;
}

static Values *misfit(Arena *arena, const Values *a, const Values *b, const char *what, const char **why) {
    *why = arena_printf(arena, "%s and %s %s", values_shape(arena, a), values_shape(arena, b), what);
    return NULL;
}

/* ---- Element by element ------------------------------------------------------------------------------------------ */

/* How far one step along axis `i` of a result of `rank` goes in v; 0 where v is broadcast. */
static uint64_t step_of(const Values *v, uint32_t rank, uint32_t i) {
    if (i + v->rank < rank) return 0;
    uint64_t step = 1;
    for (uint32_t k = v->rank; k-- > i + v->rank - rank + 1;) step *= v->shape[k];
    return v->shape[i + v->rank - rank] == 1 ? 0 : step;
}

Values *values_apply(Arena *arena, Real (*fn)(const Real *x), const Values *const *args, uint32_t n, const char **why) {
    enum { MOST = 3 };
    uint64_t shape[ARRAY_RANK_MAX], step[MOST][ARRAY_RANK_MAX], at[ARRAY_RANK_MAX] = {0}, offset[MOST] = {0};
    uint32_t rank = 0;
    for (uint32_t k = 0; k < n; k++) rank = args[k]->rank > rank ? args[k]->rank : rank;
    for (uint32_t i = 0; i < rank; i++) shape[i] = 1;
    for (uint32_t k = 0; k < n; k++) {
        for (uint32_t i = 0; i < args[k]->rank; i++) {
            uint64_t *extent = &shape[i + rank - args[k]->rank], own = args[k]->shape[i];
            if (own != 1 && *extent != 1 && own != *extent)
                return misfit(arena, args[0], args[k], "do not broadcast", why);
            if (own != 1) *extent = own;
        }
    }
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t i = 0; i < rank; i++) step[k][i] = step_of(args[k], rank, i);
    Values *out = make(arena, rank, shape);
    for (uint64_t i = 0; i < out->count; i++) {
        Real x[MOST] = {0};
        for (uint32_t k = 0; k < n; k++) x[k] = args[k]->at[offset[k]];
        out->at[i] = fn(x);
        for (uint32_t axis = rank; axis-- > 0;) {
            bool is_end = ++at[axis] == shape[axis];
            for (uint32_t k = 0; k < n; k++)
                offset[k] += is_end ? 0 - step[k][axis] * (shape[axis] - 1) : step[k][axis];
            if (!is_end) break;
            at[axis] = 0;
        }
    }
    return out;
}

/* ---- Axes -------------------------------------------------------------------------------------------------------- */

static Real reduce_line(Reduce kind, const Real *x, uint64_t n, uint64_t step) {
    Real r = kind == REDUCE_PROD ? 1 : 0;
    uint64_t best = 0;
    for (uint64_t i = 0; i < n; i++) {
        Real y = x[i * step];
        if (kind == REDUCE_SUM || kind == REDUCE_MEAN)
            r += y;
        else if (kind == REDUCE_PROD)
            r *= y;
        else if (i == 0 || isnan(y) || (kind == REDUCE_MAX || kind == REDUCE_ARGMAX ? y > r : y < r))
            best = i && isnan(r) ? best : i, r = i && isnan(r) ? r : y; /* the first NaN, as NumPy has it */
    }
    return kind == REDUCE_MEAN ? r / (Real)n : kind == REDUCE_ARGMAX || kind == REDUCE_ARGMIN ? (Real)best : r;
}

Values *values_reduce(Arena *arena, Reduce kind, const Values *v, const int64_t *axis, const char **why) {
    Values flat = {.rank = 1, .shape = {v->count}, .count = v->count, .at = v->at};
    int64_t which = axis ? *axis : 0;
    if (!axis) v = &flat;
    if (which < 0) which += v->rank;
    if (which < 0 || which >= v->rank) {
        *why = arena_printf(arena, "%s has no axis %" PRId64, values_shape(arena, v), axis ? *axis : 0);
        return NULL;
    }
    uint64_t n = v->shape[which], inner = 1, outer = 1, shape[ARRAY_RANK_MAX];
    for (uint32_t i = 0; i < v->rank; i++) {
        shape[i] = v->shape[i];
        if (i < which) outer *= v->shape[i];
        if (i > which) inner *= v->shape[i];
    }
    if (n == 0 && kind >= REDUCE_MAX && kind <= REDUCE_ARGMIN) {
        *why = "nothing is the largest or smallest of no elements";
        return NULL;
    }
    if (kind != REDUCE_CUMSUM) shape[which] = 1;
    Values *out = make(arena, axis || kind == REDUCE_CUMSUM ? v->rank : 0, shape);
    for (uint64_t o = 0; o < outer; o++) {
        for (uint64_t i = 0; i < inner; i++) {
            const Real *x = v->at + o * n * inner + i;
            Real sum = 0;
            if (kind != REDUCE_CUMSUM)
                out->at[o * inner + i] = reduce_line(kind, x, n, inner);
            else
                for (uint64_t k = 0; k < n; k++) out->at[(o * n + k) * inner + i] = sum += x[k * inner];
        }
    }
    return out;
}

Values *values_transpose(Arena *arena, const Values *v, const char **why) {
    if (v->rank < 2) {
        *why = "only what has two axes or more is transposed";
        return NULL;
    }
    uint64_t shape[ARRAY_RANK_MAX], rows = v->shape[v->rank - 2], cols = v->shape[v->rank - 1];
    memcpy(shape, v->shape, sizeof shape);
    shape[v->rank - 2] = cols;
    shape[v->rank - 1] = rows;
    Values *out = make(arena, v->rank, shape);
    for (uint64_t i = 0; i < v->count; i++) {
        uint64_t matrix = i / (rows * cols), row = i / cols % rows, col = i % cols;
        out->at[matrix * rows * cols + col * rows + row] = v->at[i];
    }
    return out;
}

Values *values_product(Arena *arena, const Values *a, const Values *b, const char **why) {
    if (a->rank < 2 || b->rank < 2 || a->shape[a->rank - 1] != b->shape[b->rank - 2] ||
        (b->rank > 2 && b->rank != a->rank))
        return misfit(arena, a, b, "are no matrices that multiply", why);
    uint64_t m = a->shape[a->rank - 2], k = a->shape[a->rank - 1], n = b->shape[b->rank - 1], shape[ARRAY_RANK_MAX],
             batch = 1;
    for (uint32_t i = 0; i < a->rank; i++) {
        shape[i] = a->shape[i];
        if (i + 2 < a->rank) batch *= a->shape[i];
        if (i + 2 < a->rank && b->rank > 2 && b->shape[i] != a->shape[i] && b->shape[i] != 1)
            return misfit(arena, a, b, "are batches of other lengths", why);
    }
    shape[a->rank - 1] = n;
    Values *out = make(arena, a->rank, shape);
    for (uint64_t i = 0; i < batch; i++) {
        const Real *x = a->at + i * m * k, *y = b->at + (b->count == k * n ? 0 : i * k * n);
        for (uint64_t row = 0; row < m; row++)
            for (uint64_t j = 0; j < k; j++)
                for (uint64_t col = 0; col < n; col++)
                    out->at[(i * m + row) * n + col] += x[row * k + j] * y[j * n + col];
    }
    return out;
}

/* ---- Brackets ---------------------------------------------------------------------------------------------------- */

static int64_t clamp(int64_t at, uint64_t length) {
    if (at < 0) at += (int64_t)length;
    return at < 0 ? 0 : at > (int64_t)length ? (int64_t)length : at;
}

Values *values_index(Arena *arena, const Values *v, const Index *index, uint32_t n, const char **why) {
    uint64_t shape[2 * ARRAY_RANK_MAX] = {0}, first[2 * ARRAY_RANK_MAX] = {0}, step[2 * ARRAY_RANK_MAX] = {0}, base = 0;
    uint32_t rank = 0, axis = 0;
    for (uint32_t i = 0; i < n || axis < v->rank; i++) {
        Index x = i < n ? index[i] : (Index){.kind = INDEX_RANGE};
        if (rank == ARRAY_RANK_MAX || (x.kind != INDEX_NEW && axis == v->rank)) {
            *why = arena_printf(arena, "%s has not so many axes", values_shape(arena, v));
            return NULL;
        }
        if (x.kind == INDEX_NEW) {
            shape[rank++] = 1;
            continue;
        }
        uint64_t length = v->shape[axis], stride = 1;
        for (uint32_t k = v->rank; k-- > axis + 1;) stride *= v->shape[k];
        axis++;
        if (x.kind == INDEX_AT) {
            int64_t at = x.low < 0 ? x.low + (int64_t)length : x.low;
            if (at < 0 || at >= (int64_t)length) {
                *why = arena_printf(arena, "there is no index %" PRId64 " of %" PRIu64, x.low, length);
                return NULL;
            }
            base += (uint64_t)at * stride;
            continue;
        }
        int64_t low = x.has_low ? clamp(x.low, length) : 0, high = x.has_high ? clamp(x.high, length) : (int64_t)length;
        first[rank] = (uint64_t)low * stride;
        step[rank] = stride;
        shape[rank++] = high > low ? (uint64_t)(high - low) : 0;
    }
    Values *out = make(arena, rank, shape);
    for (uint64_t i = 0; i < out->count; i++) {
        uint64_t from = base, rest = i;
        for (uint32_t k = rank; k-- > 0; rest /= shape[k]) from += first[k] + rest % shape[k] * step[k];
        out->at[i] = v->at[from];
    }
    return out;
}

Values *values_take(Arena *arena, const Values *v, const Values *rows, const char **why) {
    uint64_t shape[2 * ARRAY_RANK_MAX] = {0}, line = v->rank && v->shape[0] ? v->count / v->shape[0] : 0;
    uint32_t rank = 0;
    for (uint32_t i = 0; i < rows->rank; i++) shape[rank++] = rows->shape[i];
    for (uint32_t i = 1; i < v->rank; i++) shape[rank++] = v->shape[i];
    *why = v->rank == 0 ? "a number has no rows" : rank > ARRAY_RANK_MAX ? "that has more than 8 axes" : NULL;
    if (*why) return NULL;
    Values *out = make(arena, rank, shape);
    for (uint64_t i = 0; i < rows->count; i++) {
        Real at = rows->at[i] < 0 ? rows->at[i] + (Real)v->shape[0] : rows->at[i];
        if (!(at >= 0 && at < (Real)v->shape[0])) {
            *why = arena_printf(arena, "there is no row %.0Lf of %" PRIu64, rows->at[i], v->shape[0]);
            return NULL;
        }
        memcpy(out->at + i * line, v->at + (uint64_t)at * line, line * sizeof(Real));
    }
    return out;
}

/* sort.c - sort and topk along an axis.
 *
 * In: a bound Call. Out: a tile of x's type; of topk with k elements along the axis.
 * Method: what is asked for is checked here; the network is kernel language (lib/sort.dsl), over (outer, n, inner).
 */
#include "check/builtin/builtin.h"

typedef struct Sorting {
    const Sem *x;
    uint32_t axis;
    int64_t outer, n, inner;
} Sorting;

static bool read_sorting(Checker *c, Call *call, uint32_t dim, Sorting *s) {
    int64_t axis;
    s->x = call->arg[0];
    if (!sem_is_tile(s->x) || s->x->is_pointer) {
        diag(c->d, call->at[0], E_SORT_KIND, call->builtin->name, sem_type_text(c, s->x));
        return false;
    }
    if (!read_reduced_axis(c, call, dim, s->x, &axis)) return false;
    Shape shape = sem_shape(s->x);
    s->axis = axis == ALL_AXES ? shape.rank - 1u : (uint32_t)axis;
    s->n = (int64_t)shape_size(shape, s->axis);
    s->inner = INT64_C(1) << shape_offset(shape, s->axis);
    s->outer = (int64_t)shape_elements(shape) / s->n / s->inner;
    return true;
}

static uint8_t log2_of(int64_t size) {
    return (uint8_t)__builtin_ctzll((uint64_t)size);
}

/* By the library's function of that name; the result has k elements along the axis. */
static const Sem *run_network(Checker *c, Call *call, const Sorting *s, const Sem *down, int64_t k) {
    bool is_topk = call->builtin->run == builtin_topk;
    SType t = s->x->type;
    bool is_narrow = stype_is_float(t) && stype_bits(t) == 8;
    Shape shape = sem_shape(s->x);
    const Sem *x = is_narrow ? convert_to(c, s->x, ST_FP32, call->span) : s->x;
    uint8_t parts[] = {log2_of(s->outer), log2_of(s->n), log2_of(s->inner)};
    x = reshape_to(c, x, shape_make(COUNT(parts), parts)); /* no new dimensions: it keeps its threads */
    shape.log2[s->axis] = log2_of(k);
    const Sem *args[6] = {x, sem_i64(c, s->outer), sem_i64(c, s->n), sem_i64(c, s->inner)};
    uint32_t count = 4;
    if (is_topk) args[count++] = sem_i64(c, k);
    args[count++] = down;
    const Sem *r = call_function(c, library_function(c, "sort", call->builtin->name), args, count, call->span);
    if (sem_is_error(r)) return r;
    r = reshape_to(c, r, shape);
    return is_narrow ? convert_to(c, r, t, call->span) : r;
}

const Sem *builtin_sort(Checker *c, Call *call) {
    Sorting s;
    if (!read_sorting(c, call, 1, &s)) return &sem_error;
    return run_network(c, call, &s, sem_bool(c, call_flag(call, 2, false)), s.n);
}

const Sem *builtin_topk(Checker *c, Call *call) {
    Sorting s;
    int64_t k;
    if (!read_sorting(c, call, 2, &s) || !sem_want_int(c, call->arg[1], call->at[1], argument_of(c, call, 1), &k))
        return &sem_error;
    if (k >= 1 && k <= s.n && !(k & (k - 1)))
        return run_network(c, call, &s, sem_bool(c, call_flag(call, 3, true)), k);
    diag(c->d, call->at[1], E_TOPK_COUNT, (long long)k, (long long)s.n, s.axis,
               sem_type_text(c, s.x));
    diag_note(c->d, call->at[1],
              "k is a power of two, and no more than there are; store the result under a mask for fewer");
    return &sem_error;
}

/* shared.c - where a tile's elements lie in shared memory, as layouts:
 * the register bits are those of an element's offset.
 *
 * In: shapes, element sizes, register layouts. Out: places; a register layout seen through places;
 * what an access costs.
 * Method: offsets of owners are compose(invert(places), registers). Vectors, banks and conflicts are ranks of that map.
 */
#include "layout/layout.h"

enum {
    WORD = 2,
    BANKS = 5,
    ROW = WORD + BANKS,
    VECTOR = 4 /* log2 of bytes: a bank's, of all banks', of the widest access */
};

static Layout places_of(Shape s) {
    return (Layout){.shape = s, .bits = {[IN_REGISTER] = (uint8_t)shape_log2(s)}};
}

const Layout *layout_flat(Layouts *ls, Shape s) {
    Layout l = places_of(s);
    for (uint32_t i = 0; i < l.bits[IN_REGISTER]; i++) l.basis[IN_REGISTER][i] = UINT32_C(1) << i;
    return layout_intern(ls, &l);
}

const Layout *layout_private(Layouts *ls, uint32_t threads_log2, uint32_t registers_log2, uint32_t run_log2) {
    Layout l = places_of(shape_make(2, (const uint8_t[]){(uint8_t)threads_log2, (uint8_t)registers_log2}));
    for (uint32_t i = 0; i < l.bits[IN_REGISTER]; i++) {
        bool is_run = i < run_log2, is_thread = !is_run && i < run_log2 + threads_log2;
        l.basis[IN_REGISTER][i] = UINT32_C(1) << (is_run      ? i
                                                  : is_thread ? i + registers_log2 - run_log2
                                                              : i - threads_log2);
    }
    return layout_intern(ls, &l);
}

const Layout *layout_threads(Layouts *ls, Shape s, uint32_t lanes_log2) {
    Layout l = {.shape = s, .bits = {s.log2[1], (uint8_t)lanes_log2, (uint8_t)(s.log2[0] - lanes_log2), 0}};
    for (uint32_t d = 0, bit = 0; d < IN_CTA; d++)
        for (uint32_t i = 0; i < l.bits[d]; i++) l.basis[d][i] = UINT32_C(1) << bit++;
    return layout_intern(ls, &l);
}

const Layout *layout_in(Layouts *ls, const Layout *places, const Layout *registers) {
    Linear inverse;
    Layout l = *registers;
    if (!layout_invert(places, &inverse) || inverse.in != shape_log2(registers->shape))
        bug("layout_in: places of another tile");
    l.shape = shape_row(inverse.in);
    for (InDim d = 0; d < IN_COUNT; d++)
        for (uint32_t i = 0; i < l.bits[d]; i++)
            l.basis[d][i] = (uint32_t)linear_apply(&inverse, registers->basis[d][i]);
    return layout_intern(ls, &l);
}

/* ---- Vectors ----------------------------------------------------------------------------------------------------- */

/* The register bit whose basis is `basis`, or -1. */
static int register_of(const Layout *l, uint32_t basis) {
    for (int i = 0; i < l->bits[IN_REGISTER]; i++)
        if (l->basis[IN_REGISTER][i] == basis) return i;
    return -1;
}

/* No other owner bit may reach into the vector. */
static bool is_vector(const Layout *l, const uint8_t *bits, uint32_t n) {
    uint32_t inside = (1u << n) - 1, taken = 0;
    for (uint32_t i = 0; i < n; i++) taken |= 1u << bits[i];
    for (InDim d = 0; d < IN_COUNT; d++)
        for (uint32_t i = 0; i < l->bits[d]; i++)
            if (!(d == IN_REGISTER && (taken >> i & 1)) && (l->basis[d][i] & inside)) return false;
    return true;
}

uint32_t layout_in_vector(const Layout *l, uint32_t bytes, uint8_t bits[VECTOR_BITS]) {
    uint32_t v = 0;
    while (v < VECTOR_BITS && bytes << (v + 1) <= 1u << VECTOR) {
        int i = register_of(l, 1u << v);
        if (i < 0) break;
        bits[v++] = (uint8_t)i;
    }
    while (v && !is_vector(l, bits, v)) v--;
    return v;
}

/* ---- Conflicts of banks ------------------------------------------------------------------------------------------ */

static uint32_t log2_of(uint32_t x) {
    return 31u - (uint32_t)__builtin_clz(x);
}

/* log2 of the lanes that an access of so many bytes (log2) takes at once. */
static uint32_t lanes_at_once(uint32_t bytes_log2, uint32_t lanes_log2) {
    uint32_t n = bytes_log2 <= WORD ? 5 : 5 + WORD - bytes_log2;
    return n < lanes_log2 ? n : lanes_log2;
}

uint32_t layout_wavefronts(const Layout *l, uint32_t bytes, bool is_load) {
    uint8_t bits[VECTOR_BITS];
    uint32_t v = layout_in_vector(l, bytes, bits), size = log2_of(bytes) + v, lanes = l->bits[IN_LANE];
    uint32_t idle = is_load ? 0 : layout_free(l, IN_LANE), n = lanes_at_once(size, lanes);
    if (is_load && n < lanes && (!l->basis[IN_LANE][0] || !l->basis[IN_LANE][1])) n++; /* neighbours want the same */
    Linear words = {.out = 64};
    for (uint32_t i = WORD; i < size; i++) words.column[words.in++] = UINT64_C(1) << (i - WORD);
    for (uint32_t i = 0; i < n; i++)
        if (!(idle >> i & 1)) words.column[words.in++] = ((uint64_t)l->basis[IN_LANE][i] << log2_of(bytes)) >> WORD;
    Linear banks = words;
    for (uint32_t i = 0; i < banks.in; i++) banks.column[i] &= (1u << BANKS) - 1;
    uint32_t times = linear_rank(&words) - linear_rank(&banks) + l->bits[IN_REGISTER] - v + l->bits[IN_WARP];
    if (!is_load) times -= (uint32_t)__builtin_popcount(layout_free(l, IN_REGISTER) | layout_free(l, IN_WARP) << 16);
    for (uint32_t i = n; i < lanes; i++) times += !(idle >> i & 1);
    return 1u << times;
}

/* ---- Swizzles ---------------------------------------------------------------------------------------------------- */

const Layout *layout_swizzled(Layouts *ls, Shape s, uint32_t major, uint32_t bits, uint32_t span) {
    if (s.rank != 2 || major > 1) bug("layout_swizzled: dimension %u of rank %u", major, s.rank);
    Layout l = places_of(s);
    uint32_t row = s.log2[major], inside = span ? log2_of(span * 8 / bits) : row, unit = log2_of(128 / bits), n = 0;
    if (inside > row) bug("layout_swizzled: rows of less than %u bytes", span);
    for (uint32_t i = 0; i < inside; i++) l.basis[IN_REGISTER][n++] = 1u << (shape_offset(s, major) + i);
    for (uint32_t i = 0; i < s.log2[1 - major]; i++) l.basis[IN_REGISTER][n++] = 1u << (shape_offset(s, 1 - major) + i);
    for (uint32_t i = inside; i < row; i++) l.basis[IN_REGISTER][n++] = 1u << (shape_offset(s, major) + i);
    for (uint32_t i = unit; i < inside && i + 3 < n && span; i++)
        l.basis[IN_REGISTER][i + 3] ^= 1u << (shape_offset(s, major) + i);
    return layout_intern(ls, &l);
}

/* Vectors over F2, each independent of those before it. */
typedef struct Vectors {
    Linear of;
} Vectors;

static bool add_independent(Vectors *v, uint32_t x) {
    uint64_t made;
    if (linear_solve(&v->of, x, &made)) return false;
    v->of.column[v->of.in++] = x;
    return true;
}

/* Those of `more` that are independent of `of` and of each other. */
static Vectors independent_of(const Vectors *of, const Vectors *more) {
    Vectors all = *of, found = {.of = {.out = 32}};
    for (uint32_t i = 0; i < more->of.in; i++)
        if (add_independent(&all, (uint32_t)more->of.column[i])) add_independent(&found, (uint32_t)more->of.column[i]);
    return found;
}

static Vectors joined(const Vectors *x, const Vectors *y) {
    Vectors all = *x;
    for (uint32_t i = 0; i < y->of.in; i++) add_independent(&all, (uint32_t)y->of.column[i]);
    return all;
}

/* What the lanes that move at once tell apart, of accesses of vectors of which so many are in l's registers. */
static Vectors lanes_of(const Layout *l, const Vectors *vector, uint32_t bytes) {
    uint32_t v = 0;
    while (v < vector->of.in && register_of(l, (uint32_t)vector->of.column[v]) >= 0) v++;
    uint32_t n = lanes_at_once(log2_of(bytes) + v, l->bits[IN_LANE]);
    Vectors lanes = {.of = {.out = 32}};
    for (uint32_t i = 0; i < n; i++)
        if (l->basis[IN_LANE][i]) add_independent(&lanes, l->basis[IN_LANE][i]);
    return independent_of(vector, &lanes);
}

static void take(Vectors *to, Vectors *from, uint32_t most) {
    uint32_t n = 0;
    while (n < from->of.in && to->of.in < most) to->of.column[to->of.in++] = from->of.column[n++];
    for (uint32_t i = n; i < from->of.in; i++) from->of.column[i - n] = from->of.column[i];
    from->of.in = (uint8_t)(from->of.in - n);
}

/* Places in which the vector lies side by side. Behind it come the bits that choose a bank: lanes of either layout that
 * move at once must differ in them. So an element that only `from`'s lanes tell apart and one that only `to`'s do are
 * paired: their sum goes among the bits that leave the bank as it is. */
static const Layout *places_for(Layouts *ls, const Layout *from, const Layout *to, const Vectors *vector,
                                uint32_t bytes) {
    Layout l = places_of(from->shape);
    Vectors a = lanes_of(from, vector, bytes), b = lanes_of(to, vector, bytes), all = *vector, order = *vector;
    Vectors with_a = joined(vector, &a), with_b = joined(vector, &b);
    Vectors own_a = independent_of(&with_b, &a), own_b = independent_of(&with_a, &b);
    Vectors banks = a, pairs = {.of = {.out = 32}}, rest = {.of = {.out = 32}};
    all = joined(&with_a, &b);
    for (uint32_t i = 0; i < own_b.of.in; i++) {
        uint32_t x = (uint32_t)own_b.of.column[i];
        if (i < own_a.of.in)
            pairs.of.column[pairs.of.in++] = x ^ own_a.of.column[i];
        else
            banks.of.column[banks.of.in++] = x;
    }
    for (uint32_t i = 0; i < l.bits[IN_REGISTER]; i++)
        if (add_independent(&all, 1u << i)) rest.of.column[rest.of.in++] = 1u << i;
    uint32_t in_word = 1u << log2_of(bytes) < 4 ? WORD - log2_of(bytes) : 0, row = ROW - log2_of(bytes);
    take(&order, &rest, in_word);
    take(&order, &pairs, in_word);
    take(&order, &banks, row);
    take(&order, &rest, row);
    take(&order, &pairs, row);
    take(&order, &banks, UINT32_MAX);
    take(&order, &pairs, UINT32_MAX);
    take(&order, &rest, UINT32_MAX);
    for (uint32_t i = 0; i < l.bits[IN_REGISTER]; i++) l.basis[IN_REGISTER][i] = (uint32_t)order.of.column[i];
    return layout_intern(ls, &l);
}

/* Of the register bits of l, the lowest that are also registers of `other` (NULL: any), 16 bytes of elements. */
static Vectors vector_of(const Layout *l, const Layout *other, uint32_t bytes) {
    Vectors v = {.of = {.out = 32}};
    for (uint32_t i = 0; i < l->bits[IN_REGISTER] && bytes << (v.of.in + 1) <= 1u << VECTOR; i++)
        if (l->basis[IN_REGISTER][i] && (!other || register_of(other, l->basis[IN_REGISTER][i]) >= 0))
            add_independent(&v, l->basis[IN_REGISTER][i]);
    return v;
}

uint64_t layout_cost(const Layout *in, uint32_t bytes, bool is_load) {
    uint8_t bits[VECTOR_BITS];
    uint32_t v = layout_in_vector(in, bytes, bits);
    return (uint64_t)layout_wavefronts(in, bytes, is_load) << 32 | layout_registers(in) >> v;
}

static uint64_t cost_in(Layouts *ls, const Layout *places, const Layout *from, const Layout *to, uint32_t bytes) {
    return layout_cost(layout_in(ls, places, from), bytes, false) + layout_cost(layout_in(ls, places, to), bytes, true);
}

const Layout *layout_between(Layouts *ls, const Layout *from, const Layout *to, uint32_t bytes) {
    const Layout *best = layout_flat(ls, from->shape);
    uint64_t least = cost_in(ls, best, from, to, bytes);
    Vectors vectors[] = {vector_of(from, to, bytes), vector_of(from, NULL, bytes), vector_of(to, NULL, bytes)};
    for (uint32_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        const Layout *places = places_for(ls, from, to, &vectors[i], bytes);
        uint64_t cost = cost_in(ls, places, from, to, bytes);
        if (cost >= least) continue;
        best = places;
        least = cost;
    }
    return best;
}

/* matrix.c - products of matrices by the instructions of a warp.
 *
 * In: an mma whose operands are laid out as its instruction takes them. Out: a call of the primitive for each fragment
 * of the result and each step of k. Method: layout_mma puts the registers of a fragment first, then those of further
 * ones along k (of the result: n), then along the other dimension. k is the outermost loop, so that products that
 * follow each other do not wait for each other's sums.
 */
#include "codegen/simt/simt.h"

typedef struct Fragments {
    V *at;
    uint32_t n;
} Fragments;

V fragment_of(Simt *s, const Op *op, MmaOperand which, uint32_t k) {
    const Value *v = op->args[which];
    const Tile *t = which == MMA_C ? tile_of(s, v) : tile_on_demand(s, v);
    DType d = v->type.dtype;
    Arena *a = s->m->o->arena;
    uint32_t each = mma_fragment(op->attr.instr, which), bits = dtype_bits(d);
    uint32_t per_word = which != MMA_C && bits < 32 ? 32 / bits : 1, words = each / per_word;
    bool is_packed = which != MMA_C && bits <= 32; /* in words of 32 bits, whatever they hold */
    if (is_packed && tile_has_words(t, k * words, words)) return tuple_make(s->m, t->words + k * words, words);
    V *slots = NEW_ARRAY(a, V, each), *values = NEW_ARRAY(a, V, words);
    for (uint32_t i = 0; i < each; i++) slots[i] = tile_slot(s, t, k * each + i);
    if (is_packed) elements_pack(s, d, slots, each, (Access){words, 32}, values);
    return tuple_make(s->m, is_packed ? values : slots, words);
}

static Fragments fragments_of(Simt *s, const Op *op, MmaOperand which) {
    Fragments f = {.n = tile_registers(op->args[which]) / mma_fragment(op->attr.instr, which)};
    f.at = NEW_ARRAY(s->m->o->arena, V, f.n);
    for (uint32_t k = 0; k < f.n; k++) f.at[k] = fragment_of(s, op, which, k);
    return f;
}

void simt_mma(Simt *s, const Op *op) {
    const Value *v = op->results[0];
    Fragments a = fragments_of(s, op, MMA_A), b = fragments_of(s, op, MMA_B), c = fragments_of(s, op, MMA_C);
    uint32_t steps = (uint32_t)(shape_size(op->args[0]->type.shape, 1) / mma_info[op->attr.instr].k);
    uint32_t rows = a.n / steps, columns = b.n / steps, each = mma_fragment(op->attr.instr, MMA_C);
    if (rows * columns != c.n) bug("mma: %u by %u fragments are not %u", rows, columns, c.n);
    V instr = simt_i32(s, op->attr.instr), site = simt_site(s);
    for (uint32_t k = 0; k < steps; k++)
        for (uint32_t i = 0; i < rows; i++)
            for (uint32_t j = 0; j < columns; j++) {
                uint32_t to = plant(PLANT_FRAGMENT_COLUMN) && columns > 1 ? j / 2 * 2 : j;
                V *sum = &c.at[i * columns + to];
                simt_at(s, (i * columns + to) * each, each);
                V args[] = {a.at[i * steps + k], b.at[j * steps + k], *sum, instr, site};
                *sum = prim_tuple(s, PRIM_MMA, LLVMTypeOf(*sum), args, 5);
            }
    Tile r = tile_create(s, tile_registers(v));
    for (uint32_t k = 0; k < c.n; k++) {
        const V *values = tuple_values(s->m, c.at[k]);
        for (uint32_t i = 0; i < each; i++) r.at[k * each + i].base = values[i];
    }
    s->values[v->id] = r;
}

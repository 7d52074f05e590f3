/* dot.c - products of matrices by multiply-adds of each thread.
 *
 * In: a dot whose operands are laid out as its result asks: a thread holds the rows and columns of its own elements.
 * Out: for each k in order, one multiply-add for each element of the result.
 * Method: a register of the result has its row's bits in a's registers and its column's in b's; both maps are linear.
 */
#include "codegen/simt/simt.h"

/* The register that holds the element whose index's part is `flat`. */
static uint32_t register_of(const Layout *l, uint32_t flat) {
    for (uint32_t reg = 0; reg < layout_registers(l); reg++)
        if (layout_register_index(l, reg) == flat) return reg;
    bug("dot: no register holds what the result asks of an operand");
}

/* Where the result's registers and the steps of k find their factors in an operand. */
typedef struct Factors {
    const Layout *l;
    V *at;                     /* in the accumulator's type */
    uint32_t bit[LAYOUT_BITS]; /* by register bit of the result: what it flips of the operand's register */
    uint32_t k[LAYOUT_BITS];   /* likewise by bit of k */
} Factors;

static Factors factors_of(Simt *s, const Op *op, uint32_t i, uint32_t axis) {
    const Value *v = op->args[i], *r = op->results[0];
    const Layout *to = r->type.layout;
    Factors f = {.l = v->type.layout};
    uint32_t n = layout_registers(f.l), low = shape_offset(f.l->shape, axis);
    Shape one = shape_collapse(to->shape, axis);
    const Tile *t = tile_of(s, v);
    f.at = NEW_ARRAY(s->m->o->arena, V, n);
    for (uint32_t reg = 0; reg < n; reg++)
        f.at[reg] = math_factor(&s->math, v->type.dtype, r->type.dtype, op->attr.is_unsigned[i], tile_slot(s, t, reg));
    for (uint32_t b = 0; b < to->bits[IN_REGISTER]; b++) {
        uint32_t part = shape_project(to->shape, one, to->basis[IN_REGISTER][b]), below = part & ((1u << low) - 1);
        f.bit[b] = register_of(f.l, below | (part ^ below) << f.l->shape.log2[axis]);
    }
    for (uint32_t b = 0; b < f.l->shape.log2[axis]; b++) f.k[b] = register_of(f.l, 1u << (low + b));
    return f;
}

static V factor(const Factors *f, uint32_t reg, uint32_t k) {
    uint32_t at = 0;
    for (uint32_t i = 0; reg >> i; i++) at ^= reg >> i & 1 ? f->bit[i] : 0;
    for (uint32_t i = 0; k >> i; i++) at ^= k >> i & 1 ? f->k[i] : 0;
    return f->at[at];
}

void simt_dot(Simt *s, const Op *op) {
    const Value *v = op->results[0];
    uint32_t last = v->type.shape.rank - 1u, steps = 1u << op->args[0]->type.shape.log2[last];
    Factors rows = factors_of(s, op, 0, last), columns = factors_of(s, op, 1, last - 1);
    const Tile *sum = tile_of(s, op->args[2]);
    Tile r = tile_create(s, tile_registers(v));
    for (uint32_t reg = 0; reg < r.n; reg++) r.at[reg].base = tile_slot(s, sum, reg);
    for (uint32_t k = 0; k < steps; k++) {
        for (uint32_t reg = 0; reg < r.n; reg++) {
            simt_at(s, reg, 1);
            V x = factor(&rows, reg, k), y = factor(&columns, reg, k);
            r.at[reg].base = math_multiply_add(&s->math, v->type.dtype, x, y, r.at[reg].base);
        }
    }
    s->values[v->id] = r;
}

/* async.c - products by instructions of four warps, whose operands lie in shared memory, or the first in registers.
 *
 * In: shared_matrix, dot_async, dot_wait, proxy_fence. Out: calls of the primitives: for each step of k, each 64 rows
 * that the four warps have and each part of their columns one wgmma, all of them one group.
 * An operand that is made step by step is made while the steps before go on; a fence says that registers are written.
 * Method: offsets are linear over F2, and those of whole units of 8 rows have no bits in common with a swizzle: so one
 * descriptor is made for each operand, and what rows, columns and steps add to it are constants. What the warps' number
 * adds is the same in four of them: it is brought from a warp's first lane, so that the machine sees that.
 */
#include "base/plant.h"
#include "codegen/simt/simt.h"

void simt_shared_matrix(Simt *s, const Op *op) {
    const Buffer *b = &s->f->buffers.at[op->attr.buffer];
    Tile r = tile_create(s, 1);
    V at = simt_i32(s, b->offset);
    if (op->nargs) {
        V stage = LLVMBuildMul(s->m->at, tile_slot(s, tile_of(s, op->args[0]), 0), simt_i32(s, b->bytes), "");
        at = LLVMBuildAdd(s->m->at, stage, at, "");
    }
    r.at[0].base = at;
    s->values[op->results[0]->id] = r;
}

void simt_proxy_fence(Simt *s, const Op *op) {
    (void)op;
    if (!plant(PLANT_NO_FENCE)) prim_call(s, PRIM_PROXY_FENCE, NULL, 0);
}

/* ---- Operands ---------------------------------------------------------------------------------------------------- */

/* One of the two, from the program's first element on. */
typedef struct Matrices {
    SharedOperand o;
    uint32_t dim; /* of the operand that is not k */
    V first;      /* descriptor of where this thread's warps begin */
} Matrices;

/* Bytes from the operand's beginning. */
static uint32_t bytes_to(const Matrices *x, uint32_t index, uint32_t k) {
    Shape s = x->o.places->shape;
    uint32_t flat = index << shape_offset(s, x->dim) | k << shape_offset(s, 1 - x->dim);
    return layout_offset(x->o.places, flat) * type_bytes(type_scalar(x->o.buffer->dtype));
}

/* What the warp's number adds to the place; its lowest bits choose rows of an instruction. */
static V group_offset(Simt *s, const Op *op, const Matrices *x) {
    const Layout *c = op->results[0]->type.layout;
    ThreadMap map = {.is_uniform = true};
    for (uint32_t i = mma_info[op->attr.instr].warps_log2; i < c->bits[IN_WARP]; i++) {
        uint32_t low = shape_offset(c->shape, x->dim), size = c->shape.log2[x->dim];
        uint32_t index = c->basis[IN_WARP][i] >> low & ((1u << size) - 1);
        map.thread[c->bits[IN_LANE] + i] = index ? bytes_to(x, index, 0) : 0;
    }
    return simt_map(s, &map);
}

static Matrices matrices_of(Simt *s, const Op *op, MmaOperand which) {
    Matrices x = {.dim = which == MMA_A ? 0 : 1};
    const char *wrong = shared_operand(s->f, op, which, &x.o);
    if (wrong) bug("dot_async: %s", wrong);
    MatrixSpans spans = x.o.spans;
    if (plant(PLANT_MATRIX_STRIDE)) spans.stride *= 2;
    if (plant(PLANT_MATRIX_LEADING)) spans.leading /= 2;
    V at = tile_slot(s, tile_of(s, op->args[which]), 0);
    if (!plant(PLANT_GROUP_ROWS)) at = LLVMBuildAdd(s->m->at, at, group_offset(s, op, &x), "");
    V args[] = {at, llvm_int(s->m->i64, (int64_t)spans_descriptor(&spans))};
    x.first = prim_call(s, PRIM_WGMMA_AT, args, 2);
    return x;
}

static V descriptor(Simt *s, const Matrices *x, uint32_t index, uint32_t k) {
    enum { UNIT = 16 };
    return LLVMBuildAdd(s->m->at, x->first, llvm_int(s->m->i64, bytes_to(x, index, k) / UNIT), "");
}

/* ---- Sums -------------------------------------------------------------------------------------------------------- */

static V sums_of(Simt *s, const Tile *t, uint32_t first, uint32_t n) {
    V *values = NEW_ARRAY(s->m->o->arena, V, n);
    for (uint32_t i = 0; i < n; i++) values[i] = tile_slot(s, t, first + i);
    return tuple_make(s->m, values, n);
}

static void put_sums(Simt *s, Tile *t, uint32_t first, V sums) {
    const V *values = tuple_values(s->m, sums);
    for (uint32_t i = 0; i < tuple_length(LLVMTypeOf(sums)); i++) t->at[first + i].base = values[i];
}

void simt_dot_async(Simt *s, const Op *op) {
    const Value *v = op->results[0];
    const Tile *c = tile_of(s, op->args[MMA_C]);
    DotParts p = dot_parts(op);
    bool holds = dot_holds_a(op), is_made = holds && op->args[MMA_A]->def && op->args[MMA_A]->def->attr.when;
    Matrices a = {0}, b = matrices_of(s, op, MMA_B);
    if (!holds) a = matrices_of(s, op, MMA_A);
    const MmaInfo *info = &mma_info[op->attr.instr];
    uint32_t n = tile_registers(v), parts = p.rows * p.columns, each = n / parts, k = info->k;
    uint32_t steps = (uint32_t)shape_size(b.o.places->shape, 0) / k, rows = 1u << v->type.layout->shape.log2[0];
    bool turns = plant(PLANT_MATRIX_ACROSS), is_across_a = !holds && a.o.spans.is_across != turns;
    int64_t bits = 0;
    bool is_first = value_const(op->args[MMA_C], &bits) && bits == 0;
    GroupCode code = {op->attr.instr, is_across_a, b.o.spans.is_across, is_first};
    V *sums = NEW_ARRAY(s->m->o->arena, V, parts), site = simt_site(s);
    for (uint32_t i = 0; i < parts; i++) sums[i] = sums_of(s, c, i * each, each);
    V *held = NEW_ARRAY(s->m->o->arena, V, p.rows * steps);
    for (uint32_t i = 0; i < p.rows * steps && holds && !is_made; i++) held[i] = fragment_of(s, op, MMA_A, i);
    for (uint32_t step = 0; step < steps; step++, code.is_first = false) {
        for (uint32_t i = 0; i < p.rows && is_made; i++)
            held[i * steps + step] = fragment_of(s, op, MMA_A, i * steps + step);
        if ((!step || is_made) && !plant(PLANT_SUM_ORDER)) prim_call(s, PRIM_WGMMA_FENCE, NULL, 0);
        for (uint32_t i = 0; i < parts; i++) {
            uint32_t row = i / p.columns * (rows / p.rows), column = i % p.columns * p.n;
            uint32_t at = plant(PLANT_STEP_CONSTANT) ? 0 : step * k;
            uint32_t fragment = i / p.columns * steps + (plant(PLANT_HELD_STEP) ? 0 : step);
            V first = holds ? held[fragment] : descriptor(s, &a, row, at);
            V args[] = {sums[i], first, descriptor(s, &b, column, at), simt_i32(s, group_pack(code)), site};
            sums[i] = prim_tuple(s, holds ? PRIM_WGMMA_HELD : PRIM_WGMMA, LLVMTypeOf(sums[i]), args, 5);
        }
    }
    prim_call(s, PRIM_WGMMA_COMMIT, NULL, 0);
    Tile r = tile_create(s, n);
    for (uint32_t i = 0; i < parts; i++) put_sums(s, &r, i * each, sums[i]);
    s->values[v->id] = r;
}

void simt_dot_wait(Simt *s, const Op *op) {
    const Value *v = op->results[0];
    uint32_t n = tile_registers(v);
    Tile r = tile_create(s, n);
    V sums = sums_of(s, tile_of(s, op->args[0]), 0, n);
    V pending = simt_i32(s, op->attr.pending + plant(PLANT_SUM_EARLY));
    V args[] = {sums, simt_i32(s, n), pending, simt_site(s)};
    put_sums(s, &r, 0, prim_tuple(s, PRIM_WGMMA_WAIT, LLVMTypeOf(sums), args, 4));
    s->values[v->id] = r;
}

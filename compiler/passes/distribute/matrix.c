/* matrix.c - the pass matrix: products that the target has instructions for are made by warps.
 *
 * In: stage TILE. Out: a dot of rank 2 is an mma where a row of mma.def that the target has takes its types, and its
 * tiles are of whole fragments; the others are left to threads. Where the source does not say how many warps a program
 * has, the largest product does. fp8 without instructions is made fp16, and fp32 that may be tf32 is rounded to it.
 * Method: rows are tried from the last, the widest. Warps share a product so that each has about a square of it; of
 * products whose results are made operands all lie along the rows, so that none leaves its warp in between.
 */
#include "base/plant.h"
#include "passes/private.h"

typedef struct Matrix {
    Func *f;
    const PassContext *c;
    const Facts *facts;
    bool *is_product; /* by value: computed of a product, element by element, perhaps in a region */
    bool is_chained;  /* such a value is multiplied again */
    uint32_t warps_log2;
    bool changed;
} Matrix;

/* ---- Which instruction ------------------------------------------------------------------------------------------- */

/* Of an operand of dot, or of one matrix of it, as `d`. */
static bool takes(Mma i, const Op *op, MmaOperand which, DType d) {
    MmaType t = mma_info[i].types[which];
    Shape s = op->args[which]->type.shape;
    if (s.rank == 3) s = (Shape){.rank = 2, .log2 = {s.log2[1], s.log2[2]}};
    if (mma_dtype(i, which) != d || !mma_fits(i, s, which)) return false;
    if (which == MMA_C) return true;
    if (d == DT_FP32) return op->attr.precision == PRECISION_TF32 || op->attr.precision == PRECISION_TF32X3;
    return d != DT_I8 || (t == MMA_U8) == op->attr.is_unsigned[which];
}

/* `groups`: may it be of several warps? */
static bool find(const PassContext *c, const Op *op, DType a, DType b, bool groups, Mma *instr) {
    const DType types[] = {a, b, op->args[MMA_C]->type.dtype};
    for (uint32_t i = MMA_COUNT; i-- > 0;) {
        bool fits = target_has(c->target, mma_info[i].needs) && (groups || !mma_is_grouped((Mma)i));
        for (uint32_t k = MMA_A; k <= MMA_C; k++) fits = fits && takes((Mma)i, op, (MmaOperand)k, types[k]);
        *instr = (Mma)i;
        if (fits) return true;
    }
    return false;
}

bool dot_instr(const PassContext *c, const Op *op, bool groups, Mma *instr, bool *widens) {
    DType a = op->args[MMA_A]->type.dtype, b = op->args[MMA_B]->type.dtype;
    bool is_bf16 = op->attr.precision == PRECISION_BF16X3 || op->attr.precision == PRECISION_BF16X6;
    if (is_bf16) a = b = DT_BF16;
    *widens = false;
    if (find(c, op, a, b, groups, instr)) return true;
    *widens = dtype_is_fp8(a) && dtype_is_fp8(b);
    return *widens && find(c, op, DT_FP16, DT_FP16, groups, instr);
}

/* Four warps take bytes whose rows lie along k: they are copied 16 at a time if they lie so in memory, too. What is
 * computed is stored in any order. */
static bool lies_along_k(const Matrix *x, const Op *op, MmaOperand which) {
    enum { VECTOR = 16, VECTOR_LOG2 = 4 };
    const Value *v = op->args[which];
    uint32_t axis = which == MMA_A ? 1 : 0;
    for (; v->def && v->def->kind == OP_TRANS; v = v->def->args[0])
        if (v->def->attr.perm != attr_perm((const uint8_t[]){0, 1}, 2).perm) axis ^= 1;
    if (!v->def || v->def->kind != OP_LOAD) return true;
    return facts_vector(x->facts, v->def->args[0], axis, VECTOR) >= VECTOR_LOG2;
}

/* Four warps keep sums of fp8 in about 14 bits: for who allows it of all products of a dot, and then of those alone.
 * What split_dot leaves: of rank 2, and of whole numbers. Products one of which is an operand of the next are by four
 * warps where there are rows for all warps: else that operand would go through shared memory. */
static bool choose(const Matrix *x, const Op *op, Mma *instr, bool *widens) {
    enum { GROUP = 4, ROWS = 16 };
    Shape s = op->results[0]->type.shape;
    bool is_one = s.rank == 2 && op->attr.precision <= PRECISION_TF32;
    uint32_t warps = x->f->num_warps ? x->f->num_warps : GROUP;
    bool is_tall = !x->is_chained || shape_size(s, 0) >= (uint64_t)ROWS * warps;
    Type a = op->args[MMA_A]->type;
    bool is_byte = dtype_bits(a.dtype) == 8,
         is_allowed = !dtype_is_fp8(a.dtype) || op->attr.imprecise >= shape_size(a.shape, a.shape.rank - 1u),
         fits = is_allowed && (!is_byte || (lies_along_k(x, op, MMA_A) && lies_along_k(x, op, MMA_B)));
    bool groups = fits && is_tall && warps >= GROUP && !pass_is_missing(x->c, "operands");
    return is_one && dot_instr(x->c, op, groups, instr, widens);
}

/* ---- How many warps ---------------------------------------------------------------------------------------------- */

enum { WARPS_LOG2 = 2, MANY_WARPS_LOG2 = 3, MANY_ELEMENTS_LOG2 = 15 /* 128 x 256 */ };

/* Of rows that begin anywhere: asynchronous copies, which take no registers, are of at least 4 bytes. */
static bool is_in_parts(const Matrix *x, const Op *load) {
    enum { LEAST_COPY = 4 };
    const Value *ptr = load->args[0];
    uint32_t rows = facts_vector(x->facts, ptr, 0, LEAST_COPY), columns = facts_vector(x->facts, ptr, 1, LEAST_COPY);
    return dtype_bits(load->results[0]->type.dtype) << (rows > columns ? rows : columns) < LEAST_COPY * 8;
}

/* Registers of all threads that an operand takes before it is multiplied: of each element that is loaded by itself one,
 * of two that fp8 is made fp16 (`widens`) one. */
static uint64_t held(const Matrix *x, const Op *op, MmaOperand which, bool widens) {
    const Value *v = op->args[which];
    uint64_t elements = 1ull << shape_log2(v->type.shape);
    while (v->def && v->def->nargs == 1 && (op_is_elementwise(v->def->kind) || v->def->kind == OP_TRANS))
        v = v->def->args[0];
    return v->def && v->def->kind == OP_LOAD && is_in_parts(x, v->def) ? elements : widens ? elements / 2 : 0;
}

/* log2 of the warps of a product: more where it is large, or where a round's operands leave four warps no registers. */
static uint32_t warps_wanted(const Matrix *x, const Op *op, bool widens) {
    enum { WARPS_HOLD = 224 * 32 << WARPS_LOG2 };
    Shape s = op->results[0]->type.shape;
    bool is_large = shape_log2(s) >= MANY_ELEMENTS_LOG2,
         is_full = (1ull << shape_log2(s)) + held(x, op, MMA_A, widens) + held(x, op, MMA_B, widens) > WARPS_HOLD;
    return is_large || is_full ? MANY_WARPS_LOG2 : WARPS_LOG2;
}

static uint32_t rows_log2(Mma i) { /* of a warp's fragment */
    return (uint32_t)__builtin_ctz(mma_info[i].m) - mma_info[i].warps_log2;
}

static uint32_t fragments_log2(Mma i, Shape s) {
    return shape_log2(s) - rows_log2(i) - (uint32_t)__builtin_ctz(mma_info[i].n);
}

/* What a region gives is what its op gives. */
static void note_yield(const Matrix *x, const Op *yield) {
    const Op *owner = yield->parent->owner;
    for (uint32_t i = 0; i < owner->nresults; i++)
        x->is_product[owner->results[i]->id] |= x->is_product[yield->args[i]->id];
}

static void note(void *context, Op *op) {
    Matrix *x = context;
    Mma instr;
    if (op->kind == OP_YIELD && op->parent->owner->kind != OP_WHILE) note_yield(x, op);
    bool widens, comes = op_class(op->kind) == CLASS_MATRIX;
    for (uint32_t i = 0; i < op->nargs && op_is_elementwise(op->kind); i++) comes |= x->is_product[op->args[i]->id];
    for (uint32_t i = 0; i < op->nresults; i++) x->is_product[op->results[i]->id] = comes;
    if (op->kind != OP_DOT || !choose(x, op, &instr, &widens)) return;
    x->is_chained |= x->is_product[op->args[MMA_A]->id];
    Shape s = op->results[0]->type.shape;
    uint32_t most = warps_wanted(x, op, widens), has = fragments_log2(instr, s);
    if (has > most) has = most;
    if (has > x->warps_log2) x->warps_log2 = has;
}

/* log2 of the warps along the rows: as many as there are rows for, where four share an instruction, since a wide one
 * reads its rows for more columns. */
static uint32_t share(const Matrix *x, Mma instr, Shape s) {
    uint32_t most_m = s.log2[0] - rows_log2(instr);
    uint32_t most_n = s.log2[1] - (uint32_t)__builtin_ctz(mma_info[instr].n), m = 0, n = 0;
    for (uint32_t i = 0; i < x->warps_log2; i++) {
        bool is_tall = s.log2[0] - m >= s.log2[1] - n || x->is_chained || mma_is_grouped(instr) || n == most_n;
        if (m < most_m && is_tall) m++;
        else n++;
    }
    return m;
}

/* ---- Operands ---------------------------------------------------------------------------------------------------- */

Value *tf32_rounded(Builder *b, Value *x) {
    enum { HALF = 1 << 12, NAN_BITS = 0x7fc00000 };
    bool is_short = x->def && x->def->kind == OP_FPEXT; /* of 16 bits or fewer */
    if (is_short || plant(PLANT_TF32_CUT)) return x;
    Type integers = type_with_dtype(x->type, DT_I32);
    Value *up = build2(b, OP_ADD, build1_to(b, OP_BITCAST, x, integers), build_int(b, integers, HALF));
    Value *nan = build1_to(b, OP_BITCAST, build_int(b, integers, NAN_BITS), x->type);
    return build3(b, OP_SELECT, build_compare(b, OP_FCMP, PRED_NE, x, x), nan, build1_to(b, OP_BITCAST, up, x->type));
}

/* Why no instruction takes it: the row that takes its types tells the least sizes. */
static const char *why_not(const Matrix *x, const Op *op) {
    DType a = op->args[MMA_A]->type.dtype, b = op->args[MMA_B]->type.dtype, sum = op->args[MMA_C]->type.dtype;
    if (x->f->num_ctas > 1) return "fragments do not lie over the blocks of a cluster";
    if (a == DT_FP32 && op->attr.precision == PRECISION_IEEE)
        return "operands of fp32 are multiplied exactly; input_precision=\"tf32\" allows them";
    for (uint32_t i = MMA_COUNT; i-- > 0;) {
        const MmaInfo *m = &mma_info[i];
        bool has = target_has(x->c->target, m->needs) && !mma_is_grouped((Mma)i);
        if (!has || mma_dtype((Mma)i, MMA_A) != a || mma_dtype((Mma)i, MMA_B) != b || mma_dtype((Mma)i, MMA_C) != sum)
            continue;
        return arena_printf(x->f->arena, "its tiles are smaller than a fragment, %u x %u x %u of M, N and K", m->m,
                            m->n, m->k);
    }
    return arena_printf(x->f->arena, "%s has none of %s and %s with a sum of %s", x->c->target->name, dtype_name(a),
                        dtype_name(b), dtype_name(sum));
}

static void remark(void *context, Op *op) {
    const Matrix *x = context;
    if (op->kind == OP_DOT) diag(x->c->diag, op->span, R_MULTIPLY_ADDS, why_not(x, op));
}

/* Is the product's own sum imprecise, and what it is added to is not to be? That may be any number of products. */
static bool adds_apart(const Op *op, Mma instr) {
    int64_t zero;
    bool is_imprecise = mma_is_grouped(instr) && dtype_is_fp8(op->args[MMA_A]->type.dtype);
    bool is_none = value_const(op->args[MMA_C], &zero) && zero == 0;
    return is_imprecise && op->attr.imprecise < DOT_ANY_IMPRECISE && !is_none;
}

static void visit(void *context, Op *op) {
    Matrix *x = context;
    Mma instr;
    bool widens;
    if (op->kind != OP_DOT || !choose(x, op, &instr, &widens)) return;
    Builder b = builder_before(x->f, op);
    Value *args[] = {op->args[0], op->args[1], op->args[2]};
    bool is_apart = adds_apart(op, instr);
    if (is_apart) args[MMA_C] = build_float(&b, op->results[0]->type, 0);
    for (uint32_t i = MMA_A; i <= MMA_B; i++) {
        if (widens) args[i] = build1_to(&b, OP_FPEXT, args[i], type_with_dtype(args[i]->type, DT_FP16));
        if (mma_info[instr].types[i] == MMA_TF32) args[i] = tf32_rounded(&b, args[i]);
    }
    Attr attr = {.instr = instr, .warps_m_log2 = (uint8_t)share(x, instr, op->results[0]->type.shape)};
    Value *r = op_build(&b, OP_MMA, args, 3, attr, args[MMA_C]->type)->results[0];
    if (is_apart) r = build2(&b, OP_FADD, op->args[MMA_C], r);
    r->name = op->results[0]->name;
    value_replace(x->f, op->results[0], r);
    op_erase(x->f, op);
    x->changed = true;
}

void pass_matrix(Func *f, PassContext *c) {
    Matrix x = {.f = f, .c = c, .facts = facts_compute(f, c->scratch)};
    x.is_product = NEW_ARRAY(c->scratch, bool, f->next_value);
    if (f->num_ctas <= 1) { /* fragments do not lie over blocks */
        func_walk(f, note, &x);
        if (f->num_warps) x.warps_log2 = (uint32_t)__builtin_ctz(f->num_warps);
        func_walk(f, visit, &x);
    }
    if (x.changed) f->num_warps = 1u << x.warps_log2;
    if (x.changed) f->num_ctas = 1;
    if (c->remarks && target_has(c->target, FEATURE_MMA)) func_walk(f, remark, &x);
}

/* dot.c - the product of two matrices, and the one by a matrix instruction: type rules, the builder, and what the
 * verifier asks of products that go on while the program does.
 *
 * In: operands a [.., m, k], b [.., k, n], c [.., m, n]. Out: the result's type, which is c's, or a clause that says
 * why not. In stage SIMT each thread holds the rows and columns that its elements of c need: layout_operand of c's
 * layout; of mma the operands are laid out as the instruction takes them; dot_async finds them in shared memory.
 * Method: a sum is under way from its product to a wait that leaves no group behind it, also through what loops and
 * branches hand on. It is found by going over the function until no value is added.
 */
#include "ir/private.h"

bool dot_accumulator(DType a, DType b, DType *acc) {
    bool is_narrow = (dtype_is_fp8(a) && dtype_is_fp8(b)) || a == DT_FP16 || a == DT_BF16 || a == DT_FP32;
    *acc = a == DT_I8 ? DT_I32 : a == DT_FP64 ? DT_FP64 : DT_FP32;
    return (a == b || dtype_is_fp8(a)) && (is_narrow || a == DT_I8 || a == DT_FP64);
}

static bool shapes_fit(Infer *in, Shape a, Shape b, Shape c) {
    uint32_t n = c.rank;
    if (a.rank != n || b.rank != n || n < 2 || n > 3)
        return infer_fail(in, "operands of rank %u, %u and %u", a.rank, b.rank, n);
    bool is_batch = n == 2 || (a.log2[0] == c.log2[0] && b.log2[0] == c.log2[0]);
    if (!is_batch) return infer_fail(in, "operands of different batches");
    if (a.log2[n - 1] != b.log2[n - 2]) return infer_fail(in, "operand 0 has other columns than operand 1 has rows");
    bool is_result = a.log2[n - 2] == c.log2[n - 2] && b.log2[n - 1] == c.log2[n - 1];
    return is_result || infer_fail(in, "operand 2 has not the shape of the product");
}

static bool attribute_fits(Infer *in, DType a, DType b) {
    const Attr *x = &in->attr;
    if (x->precision > PRECISION_BF16X6) return infer_fail(in, "no such precision: %d", (int)x->precision);
    if (x->precision != PRECISION_IEEE && a != DT_FP32) return infer_fail(in, "a precision of %s", dtype_name(a));
    if (x->imprecise && !dtype_is_fp8(a)) return infer_fail(in, "imprecise sums of %s", dtype_name(a));
    bool has_sign = (x->is_unsigned[0] && a != DT_I8) || (x->is_unsigned[1] && b != DT_I8);
    return !has_sign || infer_fail(in, "unsigned operands of %s", dtype_name(a));
}

bool infer_dot(Infer *in) {
    Type a = in->args[0]->type, b = in->args[1]->type, c = in->args[2]->type;
    DType acc;
    if (!dot_accumulator(a.dtype, b.dtype, &acc))
        return infer_fail(in, "%s by %s", dtype_name(a.dtype), dtype_name(b.dtype));
    if (c.dtype != acc) return infer_fail(in, "operand 2 is %s, not %s", dtype_name(c.dtype), dtype_name(acc));
    if (!shapes_fit(in, a.shape, b.shape, c.shape) || !attribute_fits(in, a.dtype, b.dtype)) return false;
    in->result = c;
    if (!c.layout && !a.layout && !b.layout) return true;
    if (!c.layout || !a.layout || !b.layout) return infer_fail(in, "not all operands have a layout");
    uint32_t n = c.shape.rank;
    const Layout *rows = layout_operand(in->layouts, c.layout, n - 1u, a.shape.log2[n - 1]);
    const Layout *columns = layout_operand(in->layouts, c.layout, n - 2u, b.shape.log2[n - 2]);
    if (a.layout != rows) return infer_fail(in, "operand 0 is not laid out as operand 2 asks");
    return b.layout == columns || infer_fail(in, "operand 1 is not laid out as operand 2 asks");
}

Value *build_dot(Builder *b, Value *x, Value *y, Value *acc, Attr attr) {
    return op_build(b, OP_DOT, (Value *[]){x, y, acc}, 3, attr, acc->type)->results[0];
}

/* ---- By a matrix instruction ------------------------------------------------------------------------------------- */

DType mma_dtype(Mma instr, MmaOperand which) {
    switch (mma_info[instr].types[which]) {
    case MMA_F16: return DT_FP16;
    case MMA_BF16: return DT_BF16;
    case MMA_TF32:
    case MMA_F32: return DT_FP32;
    case MMA_E4M3: return DT_FP8E4NV;
    case MMA_E5M2: return DT_FP8E5;
    case MMA_S8:
    case MMA_U8: return DT_I8;
    case MMA_F64: return DT_FP64;
    case MMA_S32: return DT_I32;
    }
    bug("mma_dtype: %s", mma_info[instr].name);
}

const Layout *mma_layout(Layouts *ls, Attr attr, Shape s, uint32_t warps_log2, MmaOperand which) {
    uint32_t warps_m = attr.warps_m_log2 < warps_log2 ? attr.warps_m_log2 : warps_log2;
    return layout_mma(ls, s, attr.instr, warps_m, warps_log2 - warps_m, which);
}

bool infer_mma(Infer *in) {
    Type t[3];
    for (uint32_t i = 0; i < 3; i++) t[i] = in->args[i]->type;
    if (in->attr.instr >= MMA_COUNT) return infer_fail(in, "no such instruction: %d", (int)in->attr.instr);
    if (!shapes_fit(in, t[0].shape, t[1].shape, t[2].shape)) return false;
    for (uint32_t i = MMA_A; i <= MMA_C; i++) {
        DType d = mma_dtype(in->attr.instr, (MmaOperand)i);
        if (t[i].dtype != d)
            return infer_fail(in, "operand %u is %s, not %s", i, dtype_name(t[i].dtype), dtype_name(d));
        if (!mma_fits(in->attr.instr, t[i].shape, (MmaOperand)i))
            return infer_fail(in, "operand %u is not of whole fragments of %s", i, mma_info[in->attr.instr].name);
    }
    in->result = t[2];
    if (!t[0].layout && !t[1].layout && !t[2].layout) return true;
    for (uint32_t i = MMA_A; i <= MMA_C; i++) {
        if (i != MMA_C && mma_is_grouped(in->attr.instr)) continue; /* as they are stored to shared memory */
        if (!t[i].layout) return infer_fail(in, "not all operands have a layout");
        uint32_t warps = t[i].layout->bits[IN_WARP];
        if (in->attr.warps_m_log2 > warps) return infer_fail(in, "more warps along the rows than there are");
        if (t[i].layout != mma_layout(in->layouts, in->attr, t[i].shape, warps, (MmaOperand)i))
            return infer_fail(in, "operand %u is not laid out as %s takes it", i, mma_info[in->attr.instr].name);
    }
    return true;
}

static void note_features(void *context, Op *op) {
    uint64_t *features = context;
    if (op_info[op->kind].attr == ATTR_MMA) *features |= UINT64_C(1) << mma_info[op->attr.instr].needs;
}

uint64_t func_features(Func *f) {
    uint64_t features = 0;
    func_walk(f, note_features, &features);
    return features;
}

/* ---- By instructions of four warps: type rules ------------------------------------------------------------------- */

bool infer_shmatrix(Infer *in) {
    in->result = type_scalar(DT_I32);
    if (in->nargs > 1) return infer_fail(in, "%u operands, not [stage]", in->nargs);
    if (in->nargs && !type_equal(in->args[0]->type, in->result)) return infer_fail(in, "the stage is no scalar i32");
    bool is_turned = in->attr.perm == attr_perm((const uint8_t[]){1, 0}, 2).perm;
    return !in->attr.perm || is_turned || infer_fail(in, "perm is not that of a matrix");
}

bool dot_holds_a(const Op *op) {
    return value_is_tile(op->args[MMA_A]);
}

/* In registers, as the instruction takes it. */
static bool is_held(const Infer *in, Type a, uint32_t warps) {
    return a.layout && dtype_bits(a.dtype) == 16 && a.dtype == mma_dtype(in->attr.instr, MMA_A) &&
           mma_fits(in->attr.instr, a.shape, MMA_A) &&
           a.layout == mma_layout(in->layouts, in->attr, a.shape, warps, MMA_A);
}

bool infer_dotasync(Infer *in) {
    Type c = in->result = in->args[MMA_C]->type;
    const Layout *l = c.layout;
    if (in->attr.instr >= MMA_COUNT || !mma_is_grouped(in->attr.instr))
        return infer_fail(in, "no instruction of several warps");
    bool holds = value_is_tile(in->args[MMA_A]);
    for (uint32_t i = holds ? MMA_B : MMA_A; i <= MMA_B; i++)
        if (!in->args[i]->def || in->args[i]->def->kind != OP_SHMATRIX)
            return infer_fail(in, "operand %u is nothing in shared memory", i);
    if (holds && l && !is_held(in, in->args[MMA_A]->type, l->bits[IN_WARP]))
        return infer_fail(in, "operand 0 is not laid out as %s takes it", mma_info[in->attr.instr].name);
    if (c.dtype != mma_dtype(in->attr.instr, MMA_C) || !mma_fits(in->attr.instr, c.shape, MMA_C))
        return infer_fail(in, "operand 2 is no sum of %s", mma_info[in->attr.instr].name);
    bool fits = l && in->attr.warps_m_log2 >= mma_info[in->attr.instr].warps_log2 &&
                in->attr.warps_m_log2 <= l->bits[IN_WARP] &&
                l == mma_layout(in->layouts, in->attr, c.shape, l->bits[IN_WARP], MMA_C);
    return fits || infer_fail(in, "operand 2 is not laid out as %s takes it", mma_info[in->attr.instr].name);
}

bool infer_dotwait(Infer *in) {
    Type t = in->result = in->args[0]->type;
    return (t.shape.rank && t.layout) || infer_fail(in, "no tile with a layout");
}

/* ---- Operands ---------------------------------------------------------------------------------------------------- */

DotParts dot_parts(const Op *op) {
    enum { MOST_N = 256 };
    const Layout *c = op->results[0]->type.layout;
    const MmaInfo *i = &mma_info[op->attr.instr];
    uint32_t held = op->attr.warps_m_log2 + (uint32_t)__builtin_ctz(i->m) - i->warps_log2;
    DotParts p = {.rows = c->shape.log2[0] > held ? 1u << (c->shape.log2[0] - held) : 1};
    uint32_t each = mma_fragment(op->attr.instr, MMA_C), columns = layout_registers(c) / p.rows / each * i->n;
    p.n = columns < MOST_N ? columns : MOST_N;
    p.columns = columns / p.n;
    return p;
}

const char *shared_operand(const Func *f, const Op *op, MmaOperand which, SharedOperand *out) {
    const Op *at = op->args[which]->def;
    const Buffer *b = &f->buffers.at[at->attr.buffer];
    uint32_t axis = which == MMA_A ? 1 : 0, bits = dtype_bits(b->dtype);
    const MmaInfo *i = &mma_info[op->attr.instr];
    *out = (SharedOperand){.buffer = b, .places = b->places};
    if (b->places->shape.rank != 2) return "an operand that is no matrix";
    if (at->attr.perm) out->places = layout_transpose(f->layouts, b->places, (const uint8_t[]){1, 0});
    if (b->dtype != mma_dtype(op->attr.instr, which) || !mma_fits(op->attr.instr, out->places->shape, which))
        return "an operand that the instruction does not take";
    if (!layout_spans(f->layouts, out->places, bits, axis, &out->spans))
        return "no descriptor says where an operand's elements lie";
    uint32_t atom = 8 * out->spans.span, across = which == MMA_A ? i->m : dot_parts(op).n;
    if (b->align % atom || b->bytes % atom) return "an operand that does not begin where its units repeat";
    bool is_whole = !out->spans.is_across || across * bits / 8 >= out->spans.span;
    return is_whole ? NULL : "an operand whose rows an instruction takes in parts";
}

const char *dot_async_wrong(const Func *f, const Op *op) {
    SharedOperand s[2];
    for (uint32_t i = dot_holds_a(op) ? MMA_B : MMA_A; i <= MMA_B; i++) {
        const char *wrong = shared_operand(f, op, (MmaOperand)i, &s[i]);
        if (wrong) return wrong;
    }
    Shape a = dot_holds_a(op) ? op->args[MMA_A]->type.shape : s[MMA_A].places->shape, b = s[MMA_B].places->shape,
          c = op->results[0]->type.shape;
    bool fits = a.log2[1] == b.log2[0] && a.log2[0] == c.log2[0] && b.log2[1] == c.log2[1];
    return fits ? NULL : "operands whose sizes are not those of a product";
}

/* ---- Proxies ----------------------------------------------------------------------------------------------------- */

#define ANY_RING UINT32_MAX

typedef struct Writes {
    const Func *f;
    bool *is_taken; /* by buffer: a product takes it */
    bool any;
    const Op *wrong;
} Writes;

/* A bulk copy writes by the proxy that products read by. */
static bool is_ring(const Buffer *b) {
    return b->stages > 1 && !b->is_bulk;
}

/* Does op, or one in it, say where a product finds the buffer, or one that is a ring? */
static bool is_place(const Func *f, const Op *op, uint32_t buffer) {
    bool found = op->kind == OP_SHMATRIX && op->attr.buffer == buffer;
    if (op->kind == OP_SHMATRIX && buffer == ANY_RING) found = is_ring(&f->buffers.at[op->attr.buffer]);
    for (uint32_t r = 0; r < op->nregions && !found; r++)
        for (const Op *in = op->regions[r]->first; in && !found; in = in->next) found = is_place(f, in, buffer);
    return found;
}

static bool has_ring(const Writes *w, const Block *b) {
    const Op *op = b->first;
    while (op && !is_place(w->f, op, ANY_RING)) op = op->next;
    return op != NULL;
}

static void note_taken(Writes *w, const Block *b) {
    for (const Op *op = b->first; op; op = op->next) {
        if (op->kind == OP_SHMATRIX) w->is_taken[op->attr.buffer] = w->any = true;
        for (uint32_t r = 0; r < op->nregions; r++) note_taken(w, op->regions[r]);
    }
}

/* What is stored, or what a round's copies bring: a fence comes in the same block, before a product is told where. */
static bool is_shown(const Writes *w, const Op *op) {
    const Block *body = op->parent;
    bool is_store = op->kind == OP_SHSTORE && w->is_taken[op->attr.buffer],
         is_copied = op->kind == OP_COPYWAIT && body->owner && body->owner->kind == OP_FOR && has_ring(w, body);
    const Op *next = op->next;
    if (!is_store && !is_copied) return true;
    while (next && next->kind != OP_PROXYFENCE && !is_place(w->f, next, is_copied ? ANY_RING : op->attr.buffer))
        next = next->next;
    return next && next->kind == OP_PROXYFENCE;
}

static void look_at_writes(Writes *w, const Block *b) {
    for (const Op *op = b->first; op && !w->wrong; op = op->next) {
        bool writes = op->kind == OP_SHSTORE || op->kind == OP_COPYWAIT;
        if (writes && !is_shown(w, op)) w->wrong = op;
        for (uint32_t r = 0; r < op->nregions; r++) look_at_writes(w, op->regions[r]);
    }
}

const Op *write_unshown(const Func *f, Arena *scratch) {
    Writes w = {.f = f, .is_taken = NEW_ARRAY(scratch, bool, f->buffers.len + 1)};
    note_taken(&w, f->body);
    if (w.any) look_at_writes(&w, f->body);
    return w.wrong;
}

const char *shared_matrix_wrong(const Op *op) {
    for (const Use *u = op->results[0]->uses; u; u = u->next)
        if (u->op->kind != OP_DOTASYNC || u->index == MMA_C) return "only a product takes it";
    return NULL;
}

bool product_takes(const Op *product, uint32_t buffer) {
    bool found = false;
    for (uint32_t i = MMA_A; i <= MMA_B; i++) {
        const Op *from = product->args[i]->def;
        found |= from && from->kind == OP_SHMATRIX && from->attr.buffer == buffer;
    }
    return found;
}

/* ---- Sums that are under way ------------------------------------------------------------------------------------- */

typedef struct Sums {
    bool *is_under_way; /* by value id */
    bool grew;
    const Op *wrong;
} Sums;

static void add(Sums *s, const Value *v, bool is_under_way) {
    if (!is_under_way || s->is_under_way[v->id]) return;
    s->is_under_way[v->id] = s->grew = true;
}

/* Groups begun between the product and the wait, where one stands behind the other; else none is known. */
static uint32_t groups_since(const Op *product, const Op *wait) {
    uint32_t n = 0;
    if (product->kind != OP_DOTASYNC || product->parent != wait->parent) return 0;
    for (const Op *op = product->next; op && op != wait; op = op->next) n += op->kind == OP_DOTASYNC;
    return n;
}

static bool leaves(const Op *wait) {
    const Op *product = wait->args[0]->def;
    return wait->attr.pending > (product ? groups_since(product, wait) : 0);
}

static void hand_on(Sums *s, const Op *op) {
    const Block *body = op->regions[0];
    for (uint32_t i = 0; i < op->nresults; i++) {
        for (uint32_t r = 0; r < op->nregions; r++)
            add(s, op->results[i], s->is_under_way[op->regions[r]->last->args[i]->id]);
        if (op->kind != OP_FOR) continue;
        add(s, op->results[i], s->is_under_way[op->args[3 + i]->id]);
        add(s, body->args.at[1 + i], s->is_under_way[op->results[i]->id]);
    }
}

static bool may_take(const Op *op, uint32_t i) {
    bool hands_on = op->kind == OP_YIELD && (op->parent->owner->kind == OP_FOR || op->parent->owner->kind == OP_IF);
    return hands_on || op->kind == OP_FOR || op->kind == OP_DOTWAIT || (op->kind == OP_DOTASYNC && i == MMA_C);
}

static void go_over(Sums *s, const Block *b) {
    for (const Op *op = b->first; op; op = op->next) {
        for (uint32_t i = 0; i < op->nargs && !s->wrong; i++)
            if (s->is_under_way[op->args[i]->id] && !may_take(op, i)) s->wrong = op;
        for (uint32_t r = 0; r < op->nregions; r++) go_over(s, op->regions[r]);
        if (op->kind == OP_DOTASYNC) add(s, op->results[0], true);
        if (op->kind == OP_DOTWAIT) add(s, op->results[0], s->is_under_way[op->args[0]->id] && leaves(op));
        if (op->kind == OP_FOR || op->kind == OP_IF) hand_on(s, op);
    }
}

const Op *sum_used_early(const Func *f, Arena *scratch) {
    Sums s = {.is_under_way = NEW_ARRAY(scratch, bool, f->next_value)};
    do {
        s.grew = false;
        go_over(&s, f->body);
    } while (s.grew && !s.wrong);
    return s.wrong;
}

/* operands.c - how a product by matrix instructions gets its operands.
 *
 * In: stage SIMT, an mma whose operands were converted to the layouts that its instruction takes. Out: a tile that has
 * to cross warps goes to a buffer, in the layout and the order in which it was made; the mma becomes one for each step
 * of the instruction along k, and each takes its part of the buffer. A step's parts are read before the product of the
 * step before. What each warp holds already stays in registers: its parts are extract_slice.
 * Method: both operands are stored side by side, so that one barrier serves them. Products of one tile share its
 * buffer, transposed or not. Places are those that cost least of the swizzles that matrices have and layout_between;
 * parts are read by ldmatrix where that fits (layout_matrices). Instructions of four warps take the buffers themselves,
 * in places that a descriptor can say: such an mma becomes a dot_async and a wait for it. A load that becomes an
 * operand in registers is stored as it is loaded, and read where it is needed. So is a vector beside such products, if
 * one thread may copy it for all.
 */
#include "base/plant.h"
#include "passes/private.h"

enum {
    ALIGN = 128,   /* bytes: all banks */
    SPAN = 128,    /* the widest row of a swizzle, … */
    UNIT_ROWS = 8, /* … and so many of them repeat */
    MOST_USES = 64, /* between a load and the operand that is made of it */
    MOST_VECTORS = MAPS_MOST / 2, /* the other maps are for matrices */
    MOST_SHAPED = 4, /* ops that give a vector the shape of a product's sums */
};

/* A tile in shared memory. */
typedef struct Held {
    const Value *v;
    uint32_t buffer;
    bool is_shown; /* to products of four warps */
} Held;

typedef struct Operands {
    Func *f;
    const PassContext *c;
    Arena *scratch;
    const Facts *facts; /* NULL: nobody has asked */
    VEC(Op *) converts; /* staging one moves others, which would take a walk with them */
    uint32_t vectors;   /* that were staged */
    VEC(Held) held;
    bool changed;
} Operands;

/* ---- Places ------------------------------------------------------------------------------------------------------ */

typedef struct Choice {
    Layouts *ls;
    const Layout *from, *part; /* as it is stored, and as the first part is read */
    uint32_t bytes, parts;
    bool has_matrices; /* the target */
    const Layout *best;
    uint64_t least;
} Choice;

static void consider(Choice *c, const Layout *places) {
    MatrixRows m;
    const Layout *in = layout_in(c->ls, places, c->part);
    if (c->has_matrices && layout_matrices(c->ls, in, c->bytes, &m)) in = m.rows;
    uint64_t cost =
        layout_cost(layout_in(c->ls, places, c->from), c->bytes, false) + layout_cost(in, c->bytes, true) * c->parts;
    if (c->best && cost >= c->least) return;
    c->best = places;
    c->least = cost;
}

static void consider_swizzles(Choice *c) {
    Shape s = c->from->shape;
    for (uint32_t major = 2; major-- > 0;)
        for (uint32_t span = SPAN; span >= 32; span /= 2)
            if (shape_size(s, major) * c->bytes >= span)
                consider(c, layout_swizzled(c->ls, s, major, 8 * c->bytes, span));
}

static const Layout *choose_places(Choice *c) {
    consider_swizzles(c);
    consider(c, layout_between(c->ls, c->from, c->part, c->bytes));
    return c->best;
}

/* ---- Where an operand comes from --------------------------------------------------------------------------------- */

typedef struct Operand {
    const Op *mma;
    MmaOperand which;
    Type part;          /* of a step */
    uint32_t step, n;   /* along k, and how many there are */
    Value *root;        /* what a buffer holds; NULL: the operand stays in registers */
    bool is_transposed; /* the root, seen as the operand */
    uint32_t buffer;
} Operand;

static uint32_t axis_of_k(MmaOperand which) {
    return which == MMA_A ? 1 : 0;
}

/* A product in 8 bits is the next one's operand by two shuffles for each element. Of more a buffer is better. */
static bool stays_in_warp(const Layout *from, const Layout *to) {
    ConvertPlan plan;
    convert_plan(from, to, &plan);
    return plan.kind <= CONVERT_REGISTERS || (plan.kind == CONVERT_SHUFFLE && plan.nselect <= 1);
}

static Operand operand_of(Operands *o, const Op *op, MmaOperand which) {
    Value *v = op->args[which];
    uint32_t axis = axis_of_k(which), step = mma_info[op->attr.instr].k;
    Operand s = {.mma = op, .which = which, .part = v->type, .step = step};
    s.n = (uint32_t)shape_size(v->type.shape, axis) / step;
    s.part.shape.log2[axis] = (uint8_t)__builtin_ctz(step);
    s.part.layout = mma_layout(o->f->layouts, op->attr, s.part.shape, v->type.layout->bits[IN_WARP], which);
    if (!v->def || v->def->kind != OP_CONVERT) return s;
    Value *from = v->def->args[0];
    if (stays_in_warp(from->type.layout, v->type.layout)) return s;
    for (; from->def && from->def->kind == OP_TRANS; from = from->def->args[0])
        s.is_transposed ^= from->def->attr.perm != attr_perm((const uint8_t[]){0, 1}, 2).perm;
    s.root = from;
    return s;
}

static Attr part_attr(const Operand *s) {
    Attr a = {.buffer = s->buffer, .axis = axis_of_k(s->which)};
    if (!s->is_transposed) return a;
    a.perm = attr_perm((const uint8_t[]){1, 0}, 2).perm;
    a.axis = 1 - a.axis;
    return a;
}

static const Layout *in_buffer(Layouts *ls, const Operand *s, const Layout *l) {
    return s->is_transposed ? layout_transpose(ls, l, (const uint8_t[]){1, 0}) : l;
}

static void hold(Operands *o, Operand *s, Op *before) {
    if (!s->root) return;
    for (uint32_t i = 0; i < o->held.len; i++) {
        s->buffer = o->held.at[i].buffer;
        if (o->held.at[i].v == s->root) return;
    }
    Layouts *ls = o->f->layouts;
    Type t = s->root->type;
    uint32_t axis = part_attr(s).axis;
    Choice c = {.ls = ls, .from = t.layout, .bytes = type_bytes(type_scalar(t.dtype)), .parts = s->n};
    c.has_matrices = target_has(o->c->target, FEATURE_MMA);
    c.part = layout_within(ls, in_buffer(ls, s, s->part.layout), axis, t.shape.log2[axis]);
    s->buffer = buffer_add(o->f, (Buffer){.dtype = buffer_dtype(t), .places = choose_places(&c), .align = ALIGN});
    Builder b = builder_to_share(o->f, s->root, before);
    op_build(&b, OP_SHSTORE, &s->root, 1, (Attr){.buffer = s->buffer, .scope = SCOPE_BLOCK}, t);
    vec_push(o->scratch, &o->held, ((Held){s->root, s->buffer, false}));
}

/* ---- Steps ------------------------------------------------------------------------------------------------------- */

static Value *part_of(Operands *o, Builder *b, const Operand *s, uint32_t step) {
    uint32_t begin = plant(PLANT_STEP_CONSTANT) && step ? step - 1 : step;
    Value *at = build_int(b, type_scalar(DT_I32), (int64_t)begin * s->step);
    if (!s->root) {
        Value *args[] = {s->mma->args[s->which], at};
        return op_build(b, OP_SLICE, args, 2, (Attr){.axis = axis_of_k(s->which)}, s->part)->results[0];
    }
    Op *read = op_build(b, OP_SHSLICE, &at, 1, part_attr(s), s->part);
    MatrixRows m;
    read->attr.is_matrices = target_has(o->c->target, FEATURE_MMA) && access_moves_matrices(o->f, read, s->part, &m);
    return read->results[0];
}

static uint32_t words_of(Type t) {
    return (layout_registers(t.layout) * type_bytes(type_scalar(t.dtype)) + 3) / 4;
}

/* Of a thread: the sums, and so many steps of both operands. */
static uint32_t registers_of(Operands *o, Attr attr, Shape c, uint32_t warps_log2, const Operand *s, uint32_t steps) {
    uint32_t sum = 0;
    for (uint32_t i = mma_is_grouped(attr.instr) ? MMA_C : MMA_A; i <= MMA_C; i++) {
        Type t = type_tile(mma_dtype(attr.instr, (MmaOperand)i), c);
        if (i != MMA_C) t.shape.log2[axis_of_k((MmaOperand)i)] = (uint8_t)__builtin_ctz(s->step);
        t.layout = mma_layout(o->f->layouts, attr, t.shape, warps_log2, (MmaOperand)i);
        sum += (i == MMA_C ? 1 : steps) * words_of(t);
    }
    return sum;
}

/* With two steps, and what addresses and the loop take. */
static uint32_t registers_wanted(Operands *o, Attr attr, Shape c, uint32_t warps_log2, const Operand *s) {
    enum { OTHERS = 40 };
    return OTHERS + registers_of(o, attr, c, warps_log2, s, 2);
}

static uint32_t registers_for(const Target *t, uint32_t threads) {
    uint32_t has = t->registers_per_sm / threads;
    return has < t->max_registers ? has : t->max_registers;
}

/* More warps, shared among rows and columns either way, with which the product fits; 0: none. */
static uint32_t warps_that_fit(Operands *o, Attr attr, Shape c, uint32_t warps_log2, const Operand *s) {
    const Target *t = o->c->target;
    for (uint32_t more = 1; t->warp_threads << (warps_log2 + more) <= t->max_threads; more++)
        for (uint32_t i = 0; i <= more; i++) {
            Attr with = attr;
            with.warps_m_log2 = (uint8_t)(attr.warps_m_log2 + i);
            uint32_t has = registers_for(t, t->warp_threads << (warps_log2 + more));
            if (registers_wanted(o, with, c, warps_log2 + more, s) <= has) return 1u << (warps_log2 + more);
        }
    return 0;
}

/* A tile as large as the product, held from round to round: one that is made at once may go piece by piece. */
static bool loop_holds_sums(const Op *op) {
    for (const Op *loop = op->parent->owner; loop; loop = loop->parent->owner)
        for (uint32_t i = 0; op_is_loop(loop) && i < loop->nresults; i++)
            if (type_equal(loop->results[i]->type, op->results[0]->type)) return true;
    return false;
}

/* An error where even the sums and one step leave no registers to a loop that holds them, with -Rperf a remark where
 * threads have fewer than the product wants; and what fits. */
static void judge_registers(Operands *o, const Op *op, const Operand *s) {
    uint32_t has = registers_for(o->c->target, o->f->threads_per_program);
    Shape c = op->results[0]->type.shape, less = c;
    uint32_t warps = op->results[0]->type.layout->bits[IN_WARP], least = registers_of(o, op->attr, c, warps, s, 1),
             wanted = registers_wanted(o, op->attr, c, warps, s);
    bool is_error = least >= has && loop_holds_sums(op);
    if (wanted <= has || !(is_error || o->c->remarks)) return;
    while (shape_log2(less) > 10 && registers_wanted(o, op->attr, less, warps, s) > has)
        less.log2[less.log2[0] > less.log2[1] ? 0 : 1]--;
    uint32_t more = warps_that_fit(o, op->attr, c, warps, s), rows = 1u << less.log2[0], columns = 1u << less.log2[1];
    const char *or_warps = more ? arena_printf(o->scratch, ", or --num-warps=%u,", more) : "";
    diag(o->c->diag, op->span, is_error ? E_PRODUCT : R_PRODUCT, 1u << c.log2[0], 1u << c.log2[1], 1u << warps,
         is_error ? least : wanted, has, rows, columns, or_warps);
}

/* ---- Of instructions of four warps ------------------------------------------------------------------------------- */

/* Does the instruction find the operand in such places of its root? */
static bool is_found(const Operands *o, const Operand *s, const Layout *places, MatrixSpans *spans) {
    Mma instr = s->mma->attr.instr;
    uint32_t bits = dtype_bits(s->root->type.dtype),
             across = s->which == MMA_A ? mma_info[instr].m : dot_parts(s->mma).n;
    return layout_spans(o->f->layouts, in_buffer(o->f->layouts, s, places), bits, axis_of_k(s->which), spans) &&
           (!spans->is_across || across * bits / 8 >= spans->span);
}

/* Of the places that fit those that cost least to store to; the widest rows of several. */
static uint32_t buffer_of(Operands *o, const Operand *s) {
    Type t = s->root->type;
    uint32_t bytes = type_bytes(type_scalar(t.dtype)), align = 0;
    Choice c = {.ls = o->f->layouts, .from = t.layout, .bytes = bytes};
    for (uint32_t major = 2; major-- > 0;)
        for (uint32_t span = SPAN; span >= 32; span /= 2) {
            MatrixSpans spans;
            if (shape_size(t.shape, major) * bytes < span) continue;
            const Layout *places = layout_swizzled(c.ls, t.shape, major, 8 * bytes, span);
            if (!is_found(o, s, places, &spans)) continue;
            uint64_t cost = layout_cost(layout_in(c.ls, places, c.from), bytes, false);
            if (c.best && cost >= c.least) continue;
            c.best = places;
            c.least = cost;
            align = UNIT_ROWS * spans.span;
        }
    if (!c.best) bug("operands: no places for %s", mma_info[s->mma->attr.instr].name);
    return buffer_add(o->f, (Buffer){.dtype = t.dtype, .places = c.best, .align = align});
}

static Operand whole_operand(const Op *op, MmaOperand which) {
    Operand s = {.mma = op, .which = which, .root = op->args[which]};
    for (; s.root->def && s.root->def->kind == OP_TRANS; s.root = s.root->def->args[0])
        s.is_transposed ^= s.root->def->attr.perm != attr_perm((const uint8_t[]){0, 1}, 2).perm;
    return s;
}

static void hold_whole(Operands *o, Operand *s, Op *before) {
    MatrixSpans spans;
    for (uint32_t i = 0; i < o->held.len; i++) {
        const Held *h = &o->held.at[i];
        s->buffer = h->buffer;
        if (h->is_shown && h->v == s->root && is_found(o, s, o->f->buffers.at[h->buffer].places, &spans)) return;
    }
    s->buffer = buffer_of(o, s);
    Builder b = builder_to_share(o->f, s->root, before);
    op_build(&b, OP_SHSTORE, &s->root, 1, (Attr){.buffer = s->buffer, .scope = SCOPE_BLOCK}, s->root->type);
    op_build(&b, OP_PROXYFENCE, NULL, 0, (Attr){0}, (Type){0});
    vec_push(o->scratch, &o->held, ((Held){s->root, s->buffer, true}));
}

/* ---- What becomes an operand in registers ------------------------------------------------------------------------ */

/* Is an operand of more bits made of v, element by element? Of so many uses at most. */
static bool makes_operand(const Value *v, uint32_t bits, uint32_t *uses) {
    bool found = false;
    for (const Use *u = v->uses; u && !found && *uses; u = u->next) {
        OpKind k = u->op->kind;
        bool is_taken = k == OP_MMA && u->index != MMA_C,
             goes_on = op_is_elementwise(k) || op_class(k) == CLASS_MOVE || k == OP_CONVERT;
        --*uses;
        found = is_taken ? dtype_bits(v->type.dtype) > bits : goes_on && makes_operand(u->op->results[0], bits, uses);
    }
    return found;
}

static bool is_uniform(const Value *v) {
    return v->def && (v->def->kind == OP_CONST || v->def->kind == OP_SPLAT);
}

/* The load of this block that alone v is made of, by plain ops that nobody else takes; NULL: there is none. */
static Value *loaded_by(Value *v, const Block *b) {
    while (v && value_used_once(v) && v->def && v->def->parent == b) {
        const Op *op = v->def;
        Value *from = NULL;
        if (op->kind == OP_LOAD) return v;
        if (!op_is_elementwise(op->kind) || op_cost(op) > COST_PLAIN) return NULL;
        for (uint32_t i = 0; i < op->nargs; i++) {
            if (is_uniform(op->args[i])) continue;
            if (from) return NULL;
            from = op->args[i];
        }
        v = from;
    }
    return NULL;
}

/* v once more, of `read` instead of `loaded`, and in its layout. */
static Value *made_of(Builder *b, Value *v, const Value *loaded, Value *read) {
    if (v == loaded) return read;
    const Op *op = v->def;
    Value *args[8];
    for (uint32_t i = 0; i < op->nargs; i++) {
        args[i] = op->args[i];
        if (value_is_tile(args[i])) args[i] = made_of(b, args[i], loaded, read);
    }
    Type t = v->type;
    t.layout = read->type.layout;
    Value *made = op_build(b, op->kind, args, op->nargs, op->attr, t)->results[0];
    made->name = v->name;
    return made;
}

/* In front of who takes v, behind what gives it another shape alone. */
static Op *move_to_reader(Value *v, Op *at) {
    Op *moved[MOST_SHAPED], *to = at->next;
    uint32_t n = 0;
    for (Op *op; value_used_once(v) && n < MOST_SHAPED; v = op->results[0]) {
        op = v->uses->op;
        if (op->parent != at->parent || (op->kind != OP_EXPAND && op->kind != OP_BROADCAST)) break;
        moved[n++] = op;
    }
    if (!value_used_once(v)) return to;
    for (to = v->uses->op; to->parent != at->parent;) to = to->parent->owner;
    for (uint32_t i = 0; i < n; i++) op_move_before(moved[i], to);
    return n ? moved[0] : to;
}

/* Of this type, through a buffer of such places, which will be a ring. */
static void stage_load(Operands *o, Op *convert, Value *loaded, const Layout *places) {
    Type t = loaded->type, to = type_with_dtype(convert->results[0]->type, t.dtype);
    Attr at = {.buffer = buffer_add(o->f, (Buffer){.dtype = t.dtype, .places = places, .align = UNIT_ROWS * SPAN})};
    Builder b = builder_before(o->f, convert);
    op_build(&b, OP_SHSTORE, &loaded, 1, (Attr){.buffer = at.buffer, .scope = SCOPE_BLOCK}, t);
    if (t.shape.rank == 1) b = builder_before(o->f, move_to_reader(convert->results[0], convert));
    Value *read = op_build(&b, OP_SHLOAD, NULL, 0, at, to)->results[0],
          *made = made_of(&b, convert->args[0], loaded, read);
    if (!made->name) made->name = convert->results[0]->name;
    value_replace(o->f, convert->results[0], made);
    op_erase(o->f, convert);
    o->changed = true;
}

/* A loop's load goes to a buffer, and from there to who makes an operand of it. A vector of a loop that multiplies does
 * so if one thread copies it for all: what is made of it is made behind. */
static void stage(Operands *o, Op *convert) {
    uint32_t uses = MOST_USES;
    Value *v = convert->args[0], *loaded = loaded_by(v, convert->parent);
    Type t = v->type;
    uint32_t kind = convert_kind(t.layout, convert->results[0]->type.layout);
    const Op *loop = convert->parent->owner;
    if (!loaded || !loop || loop->kind != OP_FOR || kind < CONVERT_SHUFFLE) return;
    if (t.shape.rank == 1 && block_multiplies(loop->regions[0])) {
        Buffer b = {.dtype = loaded->type.dtype, .places = layout_flat(o->f->layouts, t.shape)};
        if (!o->facts) o->facts = facts_compute(o->f, o->scratch);
        if (o->vectors == MOST_VECTORS || !bulk_takes(o->f, o->c, o->facts, loaded->def, &b)) return;
        stage_load(o, convert, loaded, b.places);
        o->vectors++;
        return;
    }
    if (loaded != v || t.shape.rank != 2 || !makes_operand(convert->results[0], dtype_bits(t.dtype), &uses)) return;
    Choice c = {.ls = o->f->layouts, .from = t.layout, .part = convert->results[0]->type.layout,
                .bytes = type_bytes(type_scalar(t.dtype)), .parts = 1};
    consider_swizzles(&c); /* a copy takes vectors, and whole rows */
    if (c.best) stage_load(o, convert, v, c.best);
}

/* Is the first operand in the registers that the instruction takes it from? So is what was made of another product. */
static bool is_held(const Operands *o, const Op *op) {
    Type a = op->args[MMA_A]->type;
    return dtype_bits(a.dtype) == 16 &&
           a.layout == mma_layout(o->f->layouts, op->attr, a.shape, a.layout->bits[IN_WARP], MMA_A);
}

/* The product goes on while the program does; who waits for it, and when, is the pass async's to say. */
static void begin_product(Operands *o, Op *op) {
    Operand s[] = {whole_operand(op, MMA_A), whole_operand(op, MMA_B)};
    Value *args[3] = {op->args[MMA_A], op->args[MMA_B], op->args[MMA_C]};
    uint32_t first = is_held(o, op) ? MMA_B : MMA_A;
    judge_registers(o, op, s);
    for (uint32_t i = first; i <= MMA_B; i++) hold_whole(o, &s[i], op);
    Builder b = builder_before(o->f, op);
    for (uint32_t i = first; i <= MMA_B; i++) {
        Attr a = {.buffer = s[i].buffer, .perm = part_attr(&s[i]).perm};
        args[i] = op_build(&b, OP_SHMATRIX, NULL, 0, a, type_scalar(DT_I32))->results[0];
    }
    Value *sum = op_build(&b, OP_DOTASYNC, args, 3, op->attr, args[MMA_C]->type)->results[0];
    Value *done = op_build(&b, OP_DOTWAIT, &sum, 1, (Attr){0}, sum->type)->results[0];
    done->name = op->results[0]->name;
    value_replace(o->f, op->results[0], done);
    op_erase(o->f, op);
    o->changed = true;
}

static void visit(void *context, Op *op) {
    Operands *o = context;
    if (op->kind != OP_MMA) return;
    if (mma_is_grouped(op->attr.instr)) {
        begin_product(o, op);
        return;
    }
    Operand a = operand_of(o, op, MMA_A), b = operand_of(o, op, MMA_B);
    judge_registers(o, op, &a);
    if (!a.root && !b.root) return;
    hold(o, &a, op);
    hold(o, &b, op);
    Builder at = builder_before(o->f, op);
    Value *x = part_of(o, &at, &a, 0), *y = part_of(o, &at, &b, 0), *sum = op->args[MMA_C];
    for (uint32_t i = 0; i < a.n; i++) {
        Value *args[] = {x, y, sum};
        if (i + 1 < a.n) {
            x = part_of(o, &at, &a, i + 1);
            y = part_of(o, &at, &b, i + 1);
        }
        if (plant(PLANT_STEP_LATE)) args[MMA_A] = x;
        sum = op_build(&at, OP_MMA, args, 3, op->attr, sum->type)->results[0];
    }
    sum->name = op->results[0]->name;
    value_replace(o->f, op->results[0], sum);
    op_erase(o->f, op);
    o->changed = true;
}

static void note_convert(void *context, Op *op) {
    Operands *o = context;
    if (op->kind == OP_CONVERT) vec_push(o->scratch, &o->converts, op);
}

void pass_operands(Func *f, PassContext *c) {
    if (f->blocks_per_program > 1) return; /* fragments do not lie over blocks */
    Operands o = {.f = f, .c = c, .scratch = c->scratch};
    func_walk(f, note_convert, &o);
    for (uint32_t i = 0; i < o.converts.len; i++) stage(&o, o.converts.at[i]);
    func_walk(f, visit, &o);
    if (o.changed) pass_dce(f, c);
}

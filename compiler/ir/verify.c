/* verify.c - is a function sound? It checks that
 *
 *    1  value and op numbers are unique and below next_value, next_op
 *    2  ops, blocks and regions are linked both ways; results and arguments know where they come from
 *    3  every operand is there, and defined above, in the same block or in one around it
 *    4  the uses of a value are exactly the operands that read it
 *    5  operands, attribute and results fit the op's row and its type rule
 *    6  the body ends in return, `while`'s first region in condition, all others in yield; none of these stands
 *       elsewhere
 *    7  `for` and the ops that combine have one region, `while` and `if` two, no other op any; their arguments, what
 *       ends them and the op's results agree in number and type; a region that combines holds pure ops of scalars
 *    8  at stage TILE nothing has a layout and there is no op of layouts or of shared memory that all see; at stage
 *       SIMT every tile has a layout of its own shape, no scalar has one, and all are of the same threads
 *    9  parameters are scalars, one Param for each; sites that accesses name exist; the distribution is possible: one
 *       block, or several of a cluster or of the grid
 *   10  who meets at a barrier, or is stored to, is of a warp, the block, or of what the program's blocks form
 *   11  buffers have one place for each element; ops that name one fit it, and at stage TILE it is a private one. Where
 *       buffers share bytes they are not alive at once, and no thread sees another's private bytes. Of a counted one
 *       each round is a store, a wait and loads, behind what says that all blocks have begun
 *   12  an op's result can be made when and how its attribute says (schedule.c)
 *   13  a thread holds the vectors of an access of global memory side by side
 *   14  a dot_async finds its operands where their buffers have them, and a fence has shown them to its proxy; its sum
 *       is used behind a wait for it (dot.c)
 *
 * The first complaint ends it. Linear in the function's size, but for the layouts' algebra.
 */
#include "ir/private.h"

typedef struct Verifier {
    const Func *f;
    Text *out;
    const Op **where;
    const Value **defined; /* by value id: in scope here */
    bool *seen, *seen_op;  /* by id: met before */
    uint64_t operands, uses;
    const Layout *threads; /* the first layout met */
} Verifier;

static bool complain(Verifier *v, const Op *op, const char *fmt, ...) PRINTF_LIKE(3, 4);

static bool complain(Verifier *v, const Op *op, const char *fmt, ...) {
    char text[256];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    text_printf(v->out, "in @%s: %s", v->f->name, text);
    if (op && (uint32_t)op->kind < OP_COUNT) {
        text_printf(v->out, ": ");
        op_print(v->f, op, v->out);
    }
    *v->where = op;
    return false;
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

static bool check_type(Verifier *v, const Op *op, Type t) {
    const Layout *l = t.layout;
    if ((uint32_t)t.dtype >= DT_COUNT || (t.dtype == DT_PTR && (uint32_t)t.pointee >= DT_COUNT))
        return complain(v, op, "a type that there is not");
    if (!l)
        return v->f->stage == STAGE_TILE || !t.shape.rank || complain(v, op, "a tile without a layout at stage simt");
    if (v->f->stage == STAGE_TILE) return complain(v, op, "a layout at stage tile");
    if (!t.shape.rank || !shape_equal(l->shape, t.shape)) return complain(v, op, "a layout of another shape");
    if (!v->threads) v->threads = l;
    return layout_same_threads(v->threads, l) || complain(v, op, "layouts of different threads");
}

static bool check_uses(Verifier *v, const Op *op, const Value *x) {
    Use *const *link = &x->uses;
    for (const Use *u = x->uses; u; link = &u->next, u = u->next) {
        bool good = u->op && u->index < u->op->nargs && u->op->args[u->index] == x && u->op->slots[u->index] == u &&
                    u->op->parent;
        if (!good || u->link != link) return complain(v, op, "a use of a value that is none of its operands");
        v->uses++;
    }
    return true;
}

/* `op` defines x, or owns the block that x is an argument of. */
static bool define(Verifier *v, const Op *op, const Value *x) {
    if (!x || x->id >= v->f->next_value) return complain(v, op, "a value's number is out of range");
    if (v->seen[x->id]) return complain(v, op, "value number %u is taken", x->id);
    v->seen[x->id] = true;
    v->defined[x->id] = x;
    return check_type(v, op, x->type) && check_uses(v, op, x);
}

static bool check_operands(Verifier *v, const Op *op) {
    for (uint32_t i = 0; i < op->nargs; i++) {
        const Value *x = op->args[i];
        const Use *u = op->slots[i];
        if (!x || x->id >= v->f->next_value || v->defined[x->id] != x)
            return complain(v, op, "operand %u is not defined above, in the same block or around it", i);
        if (!u || u->op != op || u->index != i || !u->link || *u->link != u)
            return complain(v, op, "operand %u is not in its value's uses", i);
    }
    v->operands += op->nargs;
    return true;
}

/* ---- Ops --------------------------------------------------------------------------------------------------------- */

static OpKind terminator_of(const Block *b) {
    if (!b->owner) return OP_RETURN;
    return b->owner->kind == OP_WHILE && b->owner->regions[0] == b ? OP_CONDITION : OP_YIELD;
}

/* Before there are layouts: a row of one element for each warp or each thread of the program,
 * each of which will hold elements of its own of the tile. */
static bool check_warps(Verifier *v, const Op *op) {
    bool is_reduction = op->kind == OP_REDUCEWARP;
    if (v->f->stage != STAGE_TILE || (!is_reduction && op->kind != OP_SPREADWARP)) return true;
    uint64_t warps = (uint64_t)v->f->num_warps * v->f->num_ctas;
    Type few = is_reduction ? op->results[0]->type : op->args[0]->type,
         all = is_reduction ? op->args[0]->type : op->results[0]->type;
    bool is_of_warps = warps > 1 && shape_elements(few.shape) == warps;
    bool fits = (is_of_warps || shape_elements(few.shape) == warps * 32) && shape_elements(all.shape) >= warps * 32;
    return fits || complain(v, op, "not of %llu warps or their threads at stage tile", (unsigned long long)warps);
}

static bool check_scope(Verifier *v, const Op *op) {
    Scope s = op->attr.scope;
    if (s > SCOPE_BLOCK && s != v->f->scope) return complain(v, op, "the blocks of a program form no such scope");
    if (op->kind == OP_SHSTORE && s == SCOPE_WARP) return complain(v, op, "a warp has no shared memory of its own");
    bool waits = op->kind == OP_BARRIER && op->attr.is_begin;
    return !waits || s == SCOPE_CLUSTER || complain(v, op, "only the blocks of a cluster wait for each other to begin");
}

static const char *vector_wrong(const Op *op) {
    const Layout *l = op_is_access(op->kind) ? op->args[0]->type.layout : NULL;
    uint32_t held = 0;
    for (uint32_t d = 0; l && d < l->shape.rank; d++) {
        uint32_t along = layout_vector(l, d);
        if (along > held) held = along;
    }
    return l && op->attr.mem.vec_log2 > held ? "no thread holds its vectors side by side" : NULL;
}

static bool check_rule(Verifier *v, const Op *op) {
    const OpInfo *row = &op_info[op->kind];
    Infer in = {.layouts = v->f->layouts, .kind = op->kind, .args = op->args, .nargs = op->nargs, .attr = op->attr};
    if (row->nresults >= 0 && op->nresults != (uint32_t)row->nresults)
        return complain(v, op, "%u results, not %d", op->nresults, row->nresults);
    if (row->nresults == 1) {
        if (!op->results[0] || (uint32_t)op->results[0]->type.dtype >= DT_COUNT)
            return complain(v, op, "a result without a type");
        in.hint = op->results[0]->type;
    }
    if (!op_infer(&in)) return complain(v, op, "%s", in.why);
    if (row->nresults == 1 && !type_equal(in.result, in.hint)) return complain(v, op, "the result has the wrong type");
    if (!check_warps(v, op) || !check_scope(v, op)) return false;
    const char *wrong = op_has_buffer(op->kind) ? access_wrong(v->f, op) : NULL;
    if (!wrong && op->kind == OP_DOTASYNC) wrong = dot_async_wrong(v->f, op);
    if (!wrong) wrong = schedule_wrong(v->f, op);
    if (!wrong) wrong = vector_wrong(op);
    if (wrong) return complain(v, op, "%s", wrong);
    bool has_site =
        !op_has_memory(op->kind) || op->attr.mem.site < v->f->sites.len || (!v->f->sites.len && !op->attr.mem.site);
    return has_site || complain(v, op, "no such site: %u", op->attr.mem.site);
}

/* n values handed over, from the operands after `skip` to `to`. */
static bool check_passed(Verifier *v, const Op *from, uint32_t skip, Value *const *to, uint32_t n) {
    if (from->nargs - skip != n)
        return complain(v, from, "%u values are passed on where %u are taken", from->nargs - skip, n);
    for (uint32_t i = 0; i < n; i++)
        if (!type_equal(from->args[skip + i]->type, to[i]->type))
            return complain(v, from, "value %u passed on has the wrong type", i);
    return true;
}

/* What enters and leaves the regions; each ends in the right terminator already. */
static bool check_control(Verifier *v, const Op *op) {
    const Block *first = op->regions[0], *second = op->nregions > 1 ? op->regions[1] : NULL;
    Value *const *args = first->args.at;
    uint32_t n = first->args.len;
    const char *wrong = op_is_combine(op->kind) ? combine_wrong(v->f->layouts, op) : NULL;
    if (op_is_combine(op->kind)) return !wrong || complain(v, op, "%s", wrong);
    switch (op->kind) {
    case OP_FOR:
        if (n == 0 || !type_equal(args[0]->type, op->args[0]->type))
            return complain(v, op, "no counter of the bounds' type");
        return check_passed(v, op, 3, args + 1, n - 1) && check_passed(v, first->last, 0, args + 1, n - 1) &&
               check_passed(v, op, 3, op->results, op->nresults);
    case OP_WHILE:
        return check_passed(v, op, 0, args, n) && check_passed(v, first->last, 1, second->args.at, second->args.len) &&
               check_passed(v, first->last, 1, op->results, op->nresults) && check_passed(v, second->last, 0, args, n);
    default:
        if (n || second->args.len) return complain(v, op, "an arm with arguments");
        return check_passed(v, first->last, 0, op->results, op->nresults) &&
               check_passed(v, second->last, 0, op->results, op->nresults);
    }
}

static bool check_block(Verifier *v, const Block *b, const Op *owner);

static bool check_regions(Verifier *v, const Op *op) {
    uint32_t n = op->kind == OP_FOR || op_is_combine(op->kind) ? 1 : op->kind == OP_WHILE || op->kind == OP_IF ? 2 : 0;
    if (op->nregions != n) return complain(v, op, "%u regions, not %u", op->nregions, n);
    for (uint32_t i = 0; i < n; i++)
        if (!check_block(v, op->regions[i], op)) return false;
    return n == 0 || check_control(v, op);
}

static bool check_op(Verifier *v, const Op *op, const Block *b) {
    if ((uint32_t)op->kind >= OP_COUNT) return complain(v, NULL, "an op of kind %d", (int)op->kind);
    if (op->parent != b) return complain(v, op, "the op does not know its block");
    if (op->id >= v->f->next_op || v->seen_op[op->id])
        return complain(v, op, "op number %u is taken or out of range", op->id);
    v->seen_op[op->id] = true;
    if (v->f->stage < op_info[op->kind].stage)
        return complain(v, op, "an op of stage simt at stage tile");
    if (op_class(op->kind) == CLASS_END && op->next) return complain(v, op, "it ends a block, and something follows");
    if (!check_operands(v, op) || !check_rule(v, op) || !check_regions(v, op)) return false;
    for (uint32_t i = 0; i < op->nresults; i++) {
        const Value *x = op->results[i];
        if (!x || x->def != op || x->block || x->index != i)
            return complain(v, op, "result %u does not know its op", i);
        if (!define(v, op, x)) return false;
    }
    return true;
}

/* ---- Blocks ------------------------------------------------------------------------------------------------------ */

static void leave_block(Verifier *v, const Block *b) {
    for (uint32_t i = 0; i < b->args.len; i++) v->defined[b->args.at[i]->id] = NULL;
    for (const Op *op = b->first; op; op = op->next)
        for (uint32_t i = 0; i < op->nresults; i++) v->defined[op->results[i]->id] = NULL;
}

static bool check_block(Verifier *v, const Block *b, const Op *owner) {
    if (!b || b->owner != owner) return complain(v, owner, "a region does not know its op");
    for (uint32_t i = 0; i < b->args.len; i++) {
        const Value *x = b->args.at[i];
        if (!x || x->block != b || x->def || x->index != i)
            return complain(v, owner, "argument %u does not know its block", i);
        if (!define(v, owner, x)) return false;
    }
    const Op *last = NULL;
    for (const Op *op = b->first; op; last = op, op = op->next) {
        if (op->prev != last) return complain(v, op, "the ops of a block are not linked both ways");
        if (!check_op(v, op, b)) return false;
        if (op->kind == OP_GDCWAIT && owner) return complain(v, op, "not in the kernel's body");
    }
    if (b->last != last) return complain(v, owner, "a block does not know its last op");
    if (!last || last->kind != terminator_of(b))
        return complain(v, last ? last : owner, "a block does not end in %s", op_info[terminator_of(b)].name);
    leave_block(v, b);
    return true;
}

/* ---- The function ------------------------------------------------------------------------------------------------ */

static bool check_lives(Verifier *v) {
    Arena *scratch = arena_create();
    const char *wrong = buffers_wrong(v->f, scratch);
    if (wrong) complain(v, NULL, "%s", wrong);
    arena_destroy(scratch);
    return !wrong;
}

static bool check_products(Verifier *v) {
    Arena *scratch = arena_create();
    const Op *early = sum_used_early(v->f, scratch), *unshown = write_unshown(v->f, scratch);
    arena_destroy(scratch);
    if (unshown) return complain(v, unshown, "no fence shows to products what is written");
    return !early || complain(v, early, "a sum is used while the product that makes it is under way");
}

static bool check_function(Verifier *v) {
    const Func *f = v->f;
    if (f->params.len != f->body->args.len)
        return complain(v, NULL, "%u arguments and %u Params", f->body->args.len, f->params.len);
    for (uint32_t i = 0; i < f->params.len; i++) {
        if (f->body->args.at[i]->type.shape.rank) return complain(v, NULL, "parameter %u is a tile", i);
        if (!f->params.at[i].divisible) return complain(v, NULL, "parameter %u is divisible by 0", i);
    }
    for (uint32_t i = 0; i < f->buffers.len; i++) {
        const char *wrong = buffer_wrong(f, i);
        if (wrong) return complain(v, NULL, "#b%u: %s", i, wrong);
    }
    for (uint32_t i = 0; i < f->maps.len; i++) {
        const char *wrong = map_wrong(f, i);
        if (wrong) return complain(v, NULL, "#m%u: %s", i, wrong);
    }
    if (!f->programs_per_block || !f->blocks_per_program) return complain(v, NULL, "no programs, or no blocks");
    if (f->scope < SCOPE_BLOCK || f->scope > SCOPE_GRID || (f->scope == SCOPE_BLOCK) != (f->blocks_per_program == 1))
        return complain(v, NULL, "programs of %u blocks and scope %d", f->blocks_per_program, (int)f->scope);
    if (!check_block(v, f->body, NULL) || !check_lives(v) || !check_products(v)) return false;
    return v->operands == v->uses || complain(v, NULL, "a value has more uses than operands read it");
}

bool func_verify_at(const Func *f, Text *complaint, const Op **where) {
    Arena *scratch = arena_create();
    Verifier v = {.f = f, .out = complaint, .where = where};
    v.defined = NEW_ARRAY(scratch, const Value *, f->next_value);
    v.seen = NEW_ARRAY(scratch, bool, f->next_value);
    v.seen_op = NEW_ARRAY(scratch, bool, f->next_op);
    *where = NULL;
    bool good = check_function(&v);
    arena_destroy(scratch);
    return good;
}

bool func_verify(const Func *f, Text *complaint) {
    const Op *where;
    return func_verify_at(f, complaint, &where);
}

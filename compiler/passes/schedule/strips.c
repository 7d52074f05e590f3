/* strips.c - the pass strips: what is made of a large product and stored goes from the sums to memory in parts.
 *
 * In: stage SIMT, conversions not spelled out. Out: a store whose value takes many registers, and is computed or comes
 * of more loads, becomes several: of the parts along one axis that are registers of every layout on the way. All that
 * only it needs is made once for each part, of parts (extract_slice) of what others need, too.
 * Method: op by op, each tile is whole before the next op begins, so that sums, an activation's steps and what it is
 * added to live side by side, and an exchange takes as many bytes as the tile. Of strips, one is under way. What the
 * next one loads comes before it. A load passes the stores of other strips, which touch none of its elements (alias.c).
 */
#include "base/plant.h"
#include "passes/private.h"

enum { STRIP_LOG2 = 5 /* registers of a thread */ };

typedef enum Role { ROLE_NONE, ROLE_LATE, ROLE_EARLY /* what loads of the cone need, and they */ } Role;

/* What is made for one store alone. */
typedef struct Cone {
    Func *f;
    Op *root;      /* the store */
    uint8_t *role; /* by id of an op that was there before */
    uint32_t axis, parts_log2;
    bool works; /* it computes or loads */
    ValueMap *maps; /* of each part: from the whole's values */
} Cone;

/* ---- What belongs to it ------------------------------------------------------------------------------------------ */

static Role role_of(const Cone *c, const Op *op) {
    return (Role)c->role[op->id];
}

/* Does v have parts along the axis, or is it the same for all? */
static bool is_whole(const Cone *c, const Value *v) {
    Shape s = c->root->args[1]->type.shape;
    return value_is_tile(v) && v->type.shape.rank == s.rank && v->type.shape.log2[c->axis] == s.log2[c->axis];
}

/* As large as what is stored; or addresses and masks of rows. */
static bool is_in_parts(const Cone *c, const Value *v) {
    bool is_index = dtype_kind(v->type.dtype) != KIND_FLOAT;
    return is_whole(c, v) && (is_index || shape_equal(v->type.shape, c->root->args[1]->type.shape));
}

static bool is_makeable(const Cone *c, const Op *op, bool passes_store) {
    switch (op->kind) {
    case OP_LOAD:
        return passes_store && !op->attr.mem.is_volatile && !accesses_cross_in_parts(c->f, op, c->root);
    case OP_CONST:
    case OP_SPLAT:
    case OP_BROADCAST:
    case OP_CONVERT: return true;
    default: return op_class(op->kind) == CLASS_ELEMENT;
    }
}

/* Does more than the cone need it? Of indices and masks that is no matter: they are made twice. */
static bool is_shared(const Cone *c, const Op *op, Role *role) {
    bool others = false;
    *role = ROLE_NONE;
    for (const Use *u = op->results[0]->uses; u; u = u->next) {
        Role of_user = u->op->parent == op->parent ? role_of(c, u->op) : ROLE_NONE;
        if (of_user > *role) *role = of_user;
        others |= of_user == ROLE_NONE;
    }
    bool is_number = op->kind == OP_LOAD || dtype_kind(op->results[0]->type.dtype) == KIND_FLOAT,
         is_cheap = op->kind == OP_CONST || !is_number;
    return *role == ROLE_NONE || (others && !is_cheap);
}

static void find_cone(Cone *c) {
    bool passes_store = true;
    c->role[c->root->id] = ROLE_LATE;
    for (const Op *op = c->root->prev; op; op = op->prev) {
        Role role;
        if (op->nresults == 1 && !op->nregions && is_in_parts(c, op->results[0]) && !is_shared(c, op, &role) &&
            is_makeable(c, op, passes_store)) {
            c->role[op->id] = (uint8_t)(op->kind == OP_LOAD ? ROLE_EARLY : role);
            bool is_rounding = op->kind == OP_FPTRUNC || op->kind == OP_FPEXT;
            bool is_number = dtype_kind(op->results[0]->type.dtype) == KIND_FLOAT && !is_rounding;
            c->works |= op->kind == OP_LOAD || (is_number && op_class(op->kind) == CLASS_ELEMENT);
        }
        passes_store &= op_is_pure(op->kind) || op->kind == OP_LOAD;
    }
}

/* ---- How it is cut ----------------------------------------------------------------------------------------------- */

/* log2 of the parts that all layouts on the way have registers for. */
static uint32_t count_parts(const Cone *c) {
    uint32_t n = layout_registers(c->root->args[1]->type.layout) >> STRIP_LOG2, most = n ? log2_floor(n) : 0;
    for (const Op *op = c->root; op; op = op->prev) {
        for (uint32_t i = 0; role_of(c, op) && i < op->nargs; i++) {
            if (!is_whole(c, op->args[i])) continue;
            uint32_t has = layout_parts_log2(op->args[i]->type.layout, c->axis);
            if (has < most) most = has;
        }
    }
    return most;
}

/* Along the axis that gives most parts. False: there is nothing to cut. */
static bool find_strips(Func *f, Op *store, Arena *scratch, Cone *best) {
    *best = (Cone){0};
    for (uint32_t axis = 0; axis < store->args[1]->type.shape.rank; axis++) {
        Cone c = {.f = f, .root = store, .role = NEW_ARRAY(scratch, uint8_t, f->next_op), .axis = axis};
        find_cone(&c);
        c.parts_log2 = c.works ? count_parts(&c) : 0;
        if (c.parts_log2 > best->parts_log2) *best = c;
    }
    return best->parts_log2 > 0;
}

/* ---- The parts --------------------------------------------------------------------------------------------------- */

static Type part_type(const Cone *c, Type t) {
    const Layout *l = layout_part(c->f->layouts, t.layout, c->axis, c->parts_log2);
    t.shape = l->shape;
    t.layout = l;
    return t;
}

static Value *build_part(Builder *b, Value *v, uint32_t axis, uint32_t part, Type t) {
    uint32_t begin = plant(PLANT_STRIP_BEGIN) ? 0 : part << t.shape.log2[axis];
    Value *args[] = {v, build_int(b, type_scalar(DT_I32), begin)};
    return op_build(b, OP_SLICE, args, 2, (Attr){.axis = (uint8_t)axis}, t)->results[0];
}

/* A vector that crosses threads, or is made of such a one element by element, for nobody else? */
static bool is_crossing(const Value *v) {
    while (value_used_once(v) && v->def && v->def->nargs == 1 && op_is_elementwise(v->def->kind)) v = v->def->args[0];
    const Op *op = value_used_once(v) && v->type.shape.rank == 1 ? v->def : NULL;
    return op && op->kind == OP_CONVERT && convert_kind(op->args[0]->type.layout, v->type.layout) >= CONVERT_SHUFFLE;
}

static Value *vector_part(const Cone *c, Builder *b, Value *v, uint32_t part) {
    const Op *op = v->def;
    const Layout *l = layout_part(c->f->layouts, v->type.layout, 0, c->parts_log2);
    Type t = {.dtype = v->type.dtype, .shape = l->shape, .layout = l};
    if (op->kind == OP_CONVERT) return build_part(b, op->args[0], 0, part, t);
    Value *from = vector_part(c, b, op->args[0], part);
    return op_build(b, op->kind, &from, 1, op->attr, t)->results[0];
}

/* Of a vector no more than the part is brought to the threads, from where it waits in shared memory. */
static Value *part_of(Cone *c, Builder *b, Value *v, uint32_t part) {
    Value *known = valuemap_get(&c->maps[part], v);
    if (known != v || !is_whole(c, v)) return known;
    Type t = part_type(c, v->type);
    bool is_vector = v->def && v->def->kind == OP_EXPAND && is_crossing(v->def->args[0]);
    Value *made = is_vector ? vector_part(c, b, v->def->args[0], part) : build_part(b, v, c->axis, part, t);
    if (is_vector) made = op_build(b, OP_EXPAND, &made, 1, v->def->attr, t)->results[0];
    valuemap_set(c->f, &c->maps[part], v, made);
    return made;
}

static void make_op(Cone *c, const Op *op, uint32_t part) {
    Builder b = builder_before(c->f, c->root);
    Value *args[4];
    b.span = op->span;
    if (op->nargs > COUNT(args)) bug("strips: %s has %u operands", op_info[op->kind].name, op->nargs);
    for (uint32_t i = 0; i < op->nargs; i++) args[i] = part_of(c, &b, op->args[i], part);
    const Value *whole = op->nresults ? op->results[0] : NULL;
    Type t = part_type(c, whole ? whole->type : op->args[1]->type);
    const Op *made = op_build(&b, op->kind, args, op->nargs, op->attr, t);
    if (!whole) return;
    made->results[0]->name = whole->name;
    valuemap_set(c->f, &c->maps[part], whole, made->results[0]);
}

static void make_part(Cone *c, Op *const *ops, uint32_t n, Role role, uint32_t part) {
    for (uint32_t i = 0; i < n; i++)
        if (role_of(c, ops[i]) == role) make_op(c, ops[i], part);
}

/* The cone's ops in order. */
static uint32_t list_ops(const Cone *c, Op **ops) {
    uint32_t n = 0;
    for (Op *op = c->root; op; op = op->prev)
        if (role_of(c, op)) ops[n++] = op;
    for (uint32_t i = 0; i < n / 2; i++) {
        Op *op = ops[i];
        ops[i] = ops[n - 1 - i];
        ops[n - 1 - i] = op;
    }
    return n;
}

static void make_strips(Cone *c, Arena *scratch, Op **ops) {
    uint32_t n = list_ops(c, ops), parts = UINT32_C(1) << c->parts_log2;
    c->maps = NEW_ARRAY(scratch, ValueMap, parts);
    for (uint32_t i = 0; i < parts; i++) c->maps[i] = valuemap_create(c->f);
    make_part(c, ops, n, ROLE_EARLY, 0);
    for (uint32_t i = 0; i < parts; i++) {
        if (i > 0 && i + 1 < parts) make_part(c, ops, n, ROLE_EARLY, i + 1);
        make_part(c, ops, n, ROLE_LATE, i);
        if (i == 0) make_part(c, ops, n, ROLE_EARLY, 1); /* beside all sums there are no registers for two */
    }
    for (uint32_t i = n; i-- > 0;)
        if (!ops[i]->nresults || !value_used(ops[i]->results[0])) op_erase(c->f, ops[i]);
}

/* ---- The function ------------------------------------------------------------------------------------------------ */

typedef struct Strips {
    Func *f;
    Arena *scratch;
    Op **stores;
    uint32_t len;
    bool has_products;
} Strips;

static void visit(void *context, Op *op) {
    Strips *s = context;
    s->has_products |= op_class(op->kind) == CLASS_MATRIX;
    bool stores = op->kind == OP_STORE || (op->kind == OP_ATOMICRMW && !value_used(op->results[0]));
    if (stores && value_is_tile(op->args[1]) && !op->attr.mem.is_volatile) s->stores[s->len++] = op;
}

void pass_strips(Func *f, PassContext *c) {
    uint32_t most = f->next_op;
    Strips s = {.f = f, .scratch = c->scratch, .stores = NEW_ARRAY(c->scratch, Op *, most)};
    func_walk(f, visit, &s);
    for (uint32_t i = 0; i < s.len && s.has_products; i++) {
        Cone cone;
        if (find_strips(f, s.stores[i], c->scratch, &cone))
            make_strips(&cone, c->scratch, NEW_ARRAY(c->scratch, Op *, f->next_op));
    }
}

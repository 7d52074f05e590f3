/* verify.c - is a function sound? It checks that
 *
 *   1. every block ends in its terminator and has no other: the body in return, a region of for, if and while's second in
 *      yield, while's first in condition;
 *   2. what a terminator passes on has the types of what it becomes;
 *   3. every operand is defined before its use, in the same block or one around it;
 *   4. every op satisfies its type rule, and no operand is missing;
 *   5. links and owners agree: op ↔ block ↔ region, value ↔ op, every use is in its value's list and nothing else is;
 *   6. value numbers are unique and below next_value;
 *   7. the stage: no layouts at TILE; at SIMT one on every tile, of its shape, all with the same threads; ops of shared
 *      memory and barriers only at SIMT.
 */
#include "ir/ir.h"

typedef struct Verifier {
    const Func *f;
    Text *out;
    bool *defined;    /* by value id: seen and in scope */
    bool *seen;       /* by value id: ever defined */
    uint32_t *uses;   /* by value id: operand slots met */
    const Layout *threads; /* the first layout met */
    bool ok;
} Verifier;

static void complain(Verifier *v, const Op *op, const char *why) {
    if (v->ok) {
        text_printf(v->out, "func @%s: %s", v->f->name, why);
        if (op) {
            text_printf(v->out, ": ");
            op_print(v->f, op, v->out);
        }
    }
    v->ok = false;
}

static void define(Verifier *v, const Op *op, const Value *value) {
    if (value->id >= v->f->next_value || v->seen[value->id]) {
        complain(v, op, "a value's number is not its own");
        return;
    }
    v->seen[value->id] = v->defined[value->id] = true;
    bool is_tile = value->type.shape.rank > 0;
    const Layout *l = value->type.layout;
    if (v->f->stage == STAGE_TILE && l) complain(v, op, "a layout at stage tile");
    if (v->f->stage == STAGE_SIMT && is_tile && !l) complain(v, op, "a tile without a layout at stage simt");
    if (!l) return;
    if (!is_tile || !shape_equal(l->shape, value->type.shape)) complain(v, op, "the layout is one of another shape");
    if (!v->threads) v->threads = l;
    if (!layout_same_threads(v->threads, l)) complain(v, op, "layouts of different numbers of threads");
}

static void check_operands(Verifier *v, const Op *op) {
    for (uint32_t i = 0; i < op->nargs; i++) {
        const Value *a = op->args[i];
        if (!a || a->id >= v->f->next_value || !v->defined[a->id]) {
            complain(v, op, "an operand is not defined here");
            return;
        }
        v->uses[a->id]++;
    }
}

/* What the last op of a region hands over, and to whom. */
static void check_passed(Verifier *v, const Op *end, uint32_t skip, Value *const *to, uint32_t n) {
    if (end->nargs - skip != n) {
        complain(v, end, "the number of values passed on is wrong");
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (!type_equal(end->args[skip + i]->type, to[i]->type)) complain(v, end, "a value passed on has the wrong type");
    }
}

static void check_region_end(Verifier *v, const Op *op, uint32_t region) {
    const Op *end = op->regions[region]->last;
    OpKind want = op->kind == OP_WHILE && region == 0 ? OP_CONDITION : OP_YIELD;
    if (!end || end->kind != want) {
        complain(v, op, "a region does not end in its terminator");
        return;
    }
    if (op->kind == OP_IF) check_passed(v, end, 0, op->results, op->nresults);
    else if (op->kind == OP_FOR) check_passed(v, end, 0, op->regions[0]->args.at + 1, op->regions[0]->args.len - 1);
    else if (region == 0) check_passed(v, end, 1, op->regions[1]->args.at, op->regions[1]->args.len);
    else check_passed(v, end, 0, op->regions[0]->args.at, op->regions[0]->args.len);
}

static bool is_terminator(OpKind k) {
    return k == OP_YIELD || k == OP_CONDITION || k == OP_RETURN;
}

static void check_block(Verifier *v, const Block *b);

static void check_op(Verifier *v, const Op *op, const Block *b) {
    Effect effect = op_info[op->kind].effect;
    if (op->parent != b || (op->next && op->next->prev != op)) complain(v, op, "the op is not linked where it stands");
    if (is_terminator(op->kind) && op->next) complain(v, op, "a terminator in the middle of a block");
    bool simt_only = effect == EFFECT_SHARED || op->kind == OP_REDUCEWARP || op->kind == OP_CONVERT;
    if (v->f->stage == STAGE_TILE && simt_only) complain(v, op, "an op of stage simt at stage tile");
    check_operands(v, op);
    if (!v->ok) return;
    const char *why = op_check(op);
    if (why) {
        complain(v, op, why);
        return;
    }
    for (uint32_t r = 0; r < op->nregions && v->ok; r++) {
        if (op->regions[r]->owner != op) complain(v, op, "a region is owned by another op");
        check_block(v, op->regions[r]);
        if (v->ok) check_region_end(v, op, r);
    }
    for (uint32_t i = 0; i < op->nresults && v->ok; i++) {
        if (op->results[i]->def != op || op->results[i]->index != i) complain(v, op, "a result is not linked to its op");
        define(v, op, op->results[i]);
    }
}

static void check_block(Verifier *v, const Block *b) {
    for (uint32_t i = 0; i < b->args.len && v->ok; i++) {
        if (b->args.at[i]->block != b || b->args.at[i]->index != i) complain(v, b->owner, "an argument is not linked to its block");
        define(v, b->owner, b->args.at[i]);
    }
    for (const Op *op = b->first; op && v->ok; op = op->next) check_op(v, op, b);
    /* What a region defined is out of scope behind it. */
    for (uint32_t i = 0; i < b->args.len; i++) v->defined[b->args.at[i]->id] = false;
    for (const Op *op = b->first; op; op = op->next) {
        for (uint32_t i = 0; i < op->nresults; i++) {
            if (op->results[i]->id < v->f->next_value) v->defined[op->results[i]->id] = false;
        }
    }
}

static void check_uses(Verifier *v, const Value *value) {
    uint32_t n = 0;
    for (const Use *u = value->uses; u && v->ok; u = u->next, n++) {
        if (u->index >= u->op->nargs || u->op->args[u->index] != value) complain(v, u->op, "a use is not in its op");
    }
    if (v->ok && n != v->uses[value->id]) complain(v, value->def, "the list of uses misses one or has one too many");
}

static void check_all_uses(Verifier *v, const Block *b) {
    for (uint32_t i = 0; i < b->args.len && v->ok; i++) check_uses(v, b->args.at[i]);
    for (const Op *op = b->first; op && v->ok; op = op->next) {
        for (uint32_t i = 0; i < op->nresults && v->ok; i++) check_uses(v, op->results[i]);
        for (uint32_t r = 0; r < op->nregions; r++) check_all_uses(v, op->regions[r]);
    }
}

bool func_verify(const Func *f, Text *complaint) {
    Arena *scratch = arena_create();
    Verifier v = {.f = f,
                  .out = complaint,
                  .defined = NEW_ARRAY(scratch, bool, f->next_value + 1),
                  .seen = NEW_ARRAY(scratch, bool, f->next_value + 1),
                  .uses = NEW_ARRAY(scratch, uint32_t, f->next_value + 1),
                  .ok = true};
    if (f->params.len != f->body->args.len) complain(&v, NULL, "parameters and arguments differ in number");
    if (!f->body->last || f->body->last->kind != OP_RETURN) complain(&v, NULL, "the body does not end in return");
    check_block(&v, f->body);
    if (v.ok) check_all_uses(&v, f->body);
    arena_destroy(scratch);
    return v.ok;
}

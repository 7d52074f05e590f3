/* fold.c - the passes fold and fold2: constants and identities, and control flow whose course is known.
 *
 * In: any stage. Out: folded ops are gone; `if` of a constant is the arm taken; `for` that never runs is its inits;
 * masks that are constant are no masks. Dead operands stay for dce.
 * Method: forward over each block, an op until it folds no more; the function again until nothing changes.
 */
#include "passes/private.h"

enum { ROUNDS = 8 }; /* more are needed only by loops within loops whose carried values turn constant one by one */

/* ---- Control flow ------------------------------------------------------------------------------------------------ */

static bool fold_if(Func *f, Op *op) {
    int64_t taken;
    if (!value_const(op->args[0], &taken)) return false;
    Block *arm = op->regions[taken ? 0 : 1];
    while (arm->first != arm->last) op_move_before(arm->first, op);
    for (uint32_t i = 0; i < op->nresults; i++) value_replace(f, op->results[i], arm->last->args[i]);
    op_erase(f, op);
    return true;
}

static bool holds_constants(const Block *arm) {
    for (const Op *op = arm->first; op != arm->last; op = op->next)
        if (op->kind != OP_CONST) return false;
    return true;
}

/* Constants leave the arms of an `if` that hold nothing else: it is a select then. */
static void empty_arms(Op *op) {
    if (op->nresults != 1 || !holds_constants(op->regions[0]) || !holds_constants(op->regions[1])) return;
    for (uint32_t r = 0; r < 2; r++)
        while (op->regions[r]->first != op->regions[r]->last) op_move_before(op->regions[r]->first, op);
}

static bool never_runs(const Op *loop) {
    int64_t lo, hi, step;
    if (!value_const(loop->args[0], &lo) || !value_const(loop->args[1], &hi) || !value_const(loop->args[2], &step))
        return false;
    return step > 0 ? lo >= hi : lo <= hi;
}

/* A carried value that every iteration hands on unchanged is its init. */
static bool fold_carried(Func *f, Op *loop) {
    bool changed = false;
    Block *body = loop->regions[0];
    for (uint32_t i = 0; i < loop->nresults; i++) {
        Value *init = loop->args[i + 3], *arg = body->args.at[i + 1], *next = body->last->args[i];
        if (next != arg && next != init) continue;
        if (value_used(loop->results[i])) {
            value_replace(f, loop->results[i], init);
            changed = true;
        }
        bool used_inside = arg->uses && !(value_used_once(arg) && arg->uses->op == body->last);
        if (!used_inside) continue;
        value_replace(f, arg, init);
        changed = true;
    }
    return changed;
}

const Value *value_unextended(const Value *v) {
    return v->def && v->def->kind == OP_SEXT ? v->def->args[0] : v;
}

/* From a program's number to the next one, which does not wrap, in steps of 1 and more. */
static bool runs_once(const Op *op) {
    const Value *lo = value_unextended(op->args[0]), *hi = value_unextended(op->args[1]),
                *step = value_unextended(op->args[2]);
    int64_t n = 0, one = 0;
    bool is_step = (value_const(step, &n) && n > 0) || (step->def && step->def->kind == OP_NPROG);
    if (!is_step || !lo->def || lo->def->kind != OP_PID || !hi->def || hi->def->kind != OP_ADD) return false;
    const Op *from = value_unextended(hi->def->args[0])->def;
    bool is_own = from && from->kind == OP_PID && from->attr.axis == lo->def->attr.axis;
    return is_own && value_const(hi->def->args[1], &one) && one == 1;
}

/* The body in place of the loop. */
static void run_once(Func *f, Op *op) {
    const Block *body = op->regions[0];
    value_replace(f, body->args.at[0], op->args[0]);
    for (uint32_t i = 0; i < op->nresults; i++) value_replace(f, body->args.at[i + 1], op->args[i + 3]);
    while (body->first != body->last) op_move_before(body->first, op);
    for (uint32_t i = 0; i < op->nresults; i++) value_replace(f, op->results[i], body->last->args[i]);
    op_erase(f, op);
}

static bool fold_for(Func *f, Op *op) {
    if (runs_once(op)) {
        run_once(f, op);
        return true;
    }
    if (!never_runs(op)) return fold_carried(f, op);
    for (uint32_t i = 0; i < op->nresults; i++) value_replace(f, op->results[i], op->args[i + 3]);
    op_erase(f, op);
    return true;
}

static bool fold_while(Func *f, Op *op) {
    int64_t go;
    const Block *test = op->regions[0];
    if (!value_const(test->last->args[0], &go) || go) return false;
    /* The test runs once: its ops, then what it hands on. */
    for (uint32_t i = 0; i < op->nargs; i++) value_replace(f, test->args.at[i], op->args[i]);
    while (test->first != test->last) op_move_before(test->first, op);
    for (uint32_t i = 0; i < op->nresults; i++) value_replace(f, op->results[i], test->last->args[i + 1]);
    op_erase(f, op);
    return true;
}

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

static bool fold_load(Func *f, Op *op) {
    int64_t bits;
    if (op->nargs < 2 || !value_const(op->args[1], &bits)) return false;
    if (bits) {
        while (op->nargs > 1) op_remove_arg(f, op, op->nargs - 1);
        return true;
    }
    if (op->attr.mem.is_volatile || !value_used(op->results[0])) return false;
    Builder b = builder_before(f, op);
    Value *zero = op->nargs > 2 ? op->args[2] : build0(&b, OP_CONST, (Attr){0}, op->results[0]->type);
    value_replace(f, op->results[0], zero);
    op_erase(f, op);
    return true;
}

static bool fold_store(Func *f, Op *op) {
    int64_t bits;
    if (op->nargs < 3 || !value_const(op->args[2], &bits)) return false;
    if (bits)
        op_remove_arg(f, op, 2);
    else
        op_erase(f, op);
    return true;
}

/* ---- The walk ---------------------------------------------------------------------------------------------------- */

/* Folds op (pure, or an `if` of pure arms), and what it became, as long as that goes. */
static bool fold_pure(Func *f, Op *op) {
    bool changed = false;
    while (op->nresults == 1 && value_used(op->results[0])) {
        uint32_t first_new = f->next_op;
        Builder b = builder_before(f, op);
        Value *old = op->results[0], *v = op_fold(&b, op);
        if (!v || v == old) break;
        bool is_new = v->def && v->def->id >= first_new;
        if (is_new && !v->name) v->name = old->name;
        value_replace(f, old, v);
        op_erase(f, op);
        changed = true;
        if (!is_new) break;
        op = v->def;
    }
    return changed;
}

static bool fold_op(Func *f, Op *op) {
    switch (op->kind) {
    case OP_IF:
        if (fold_if(f, op)) return true;
        empty_arms(op);
        return fold_pure(f, op);
    case OP_FOR: return fold_for(f, op);
    case OP_WHILE: return fold_while(f, op);
    case OP_LOAD: return fold_load(f, op);
    case OP_STORE: return fold_store(f, op);
    default: return op_is_pure(op->kind) && fold_pure(f, op);
    }
}

static bool fold_block(Func *f, Block *b) {
    bool changed = false;
    for (Op *op = b->first, *next; op; op = next) {
        for (uint32_t r = 0; r < op->nregions; r++) changed |= fold_block(f, op->regions[r]);
        next = op->next;
        changed |= fold_op(f, op);
    }
    return changed;
}

void pass_fold(Func *f, PassContext *c) {
    (void)c;
    for (int i = 0; i < ROUNDS && fold_block(f, f->body); i++) {}
}

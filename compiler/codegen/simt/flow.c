/* flow.c - for, while, if: regions become basic blocks, carried values phi nodes, one per register.
 *
 * In: structured control flow. Out: blocks with the builder standing behind them.
 * Method: what a region yields is materialised (base + offset) where it is yielded, so every phi is one plain value.
 */
#include "codegen/simt/simt.h"

static LLVMBasicBlockRef here(Simt *s) {
    return LLVMGetInsertBlock(s->m->at);
}

static void go(Simt *s, LLVMBasicBlockRef to) {
    LLVMBuildBr(s->m->at, to);
}

static void stand(Simt *s, LLVMBasicBlockRef b) {
    LLVMPositionBuilderAtEnd(s->m->at, b);
}

/* The values as plain slots, built here. */
static Tile materialise(Simt *s, const Value *v) {
    const Tile *t = tile_of(s, v);
    Tile r = tile_create(s, tile_registers(v));
    for (uint32_t i = 0; i < r.n; i++) r.at[i].base = tile_slot(s, t, i);
    return r;
}

static Tile *materialise_all(Simt *s, Value *const *values, uint32_t n) {
    Tile *r = NEW_ARRAY(s->m->o->arena, Tile, n);
    for (uint32_t i = 0; i < n; i++) r[i] = materialise(s, values[i]);
    return r;
}

/* Phi nodes shaped like `in`, with their first edge. */
static Tile phis(Simt *s, const Tile *in, LLVMBasicBlockRef from) {
    Tile r = tile_create(s, in->n);
    for (uint32_t i = 0; i < in->n; i++) {
        V x = in->at[i].base;
        r.at[i].base = LLVMBuildPhi(s->m->at, LLVMTypeOf(x), "");
        LLVMAddIncoming(r.at[i].base, &x, &from, 1);
    }
    return r;
}

static void add_edge(const Tile *phi, const Tile *in, LLVMBasicBlockRef from) {
    if (phi->n != in->n) bug("a carried tile changes its registers");
    for (uint32_t i = 0; i < phi->n; i++) {
        V x = in->at[i].base;
        LLVMAddIncoming(phi->at[i].base, &x, &from, 1);
    }
}

static void bind(Simt *s, Value *const *values, const Tile *tiles, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) s->values[values[i]->id] = tiles[i];
}

/* ---- for --------------------------------------------------------------------------------------------------------- */

/* step > 0 ? iv < hi : iv > hi; the choice is made here where the step is constant. */
static V for_condition(Simt *s, V iv, V hi, V step) {
    V up = LLVMBuildICmp(s->m->at, LLVMIntSLT, iv, hi, "");
    if (plant(PLANT_LOOP_AGAIN)) up = LLVMBuildICmp(s->m->at, LLVMIntSLE, iv, hi, "");
    V down = LLVMBuildICmp(s->m->at, LLVMIntSGT, iv, hi, "");
    V rises = LLVMBuildICmp(s->m->at, LLVMIntSGT, step, llvm_int(LLVMTypeOf(step), 0), "");
    if (LLVMIsAConstantInt(rises)) return LLVMConstIntGetZExtValue(rises) ? up : down;
    return LLVMBuildSelect(s->m->at, rises, up, down, "");
}

void simt_for(Simt *s, const Op *op) {
    uint32_t n = op->nargs - 3;
    const Block *body = op->regions[0];
    Tile lo = materialise(s, op->args[0]);
    V hi = tile_slot(s, tile_of(s, op->args[1]), 0), step = tile_slot(s, tile_of(s, op->args[2]), 0);
    Tile *in = materialise_all(s, op->args + 3, n), *carried = NEW_ARRAY(s->m->o->arena, Tile, n);
    LLVMBasicBlockRef from = here(s), head = simt_new_block(s, "for"), loop = simt_new_block(s, "body");
    go(s, head);
    stand(s, head);
    Tile iv = phis(s, &lo, from);
    for (uint32_t i = 0; i < n; i++) carried[i] = phis(s, &in[i], from);
    V more = for_condition(s, iv.at[0].base, hi, step);
    LLVMBasicBlockRef done = simt_new_block(s, "done");
    LLVMBuildCondBr(s->m->at, more, loop, done);
    stand(s, loop);
    bind(s, body->args.at, &iv, 1);
    bind(s, body->args.at + 1, carried, n);
    simt_block(s, body);
    Tile *next = materialise_all(s, body->last->args, n);
    Tile iv_next = tile_create(s, 1);
    iv_next.at[0].base = LLVMBuildAdd(s->m->at, iv.at[0].base, step, "");
    LLVMBasicBlockRef latch = here(s);
    go(s, head);
    add_edge(&iv, &iv_next, latch);
    for (uint32_t i = 0; i < n; i++)
        add_edge(&carried[i], plant(PLANT_CARRY_OLD) && !i ? &carried[i] : &next[i], latch);
    stand(s, done);
    bind(s, op->results, carried, n);
}

/* ---- while ------------------------------------------------------------------------------------------------------- */

void simt_while(Simt *s, const Op *op) {
    const Block *test = op->regions[0], *body = op->regions[1];
    uint32_t n = op->nargs;
    Tile *in = materialise_all(s, op->args, n), *carried = NEW_ARRAY(s->m->o->arena, Tile, n);
    LLVMBasicBlockRef from = here(s), head = simt_new_block(s, "while"), loop = simt_new_block(s, "body");
    go(s, head);
    stand(s, head);
    for (uint32_t i = 0; i < n; i++) carried[i] = phis(s, &in[i], from);
    bind(s, test->args.at, carried, n);
    simt_block(s, test);
    const Op *condition = test->last;
    uint32_t passed = condition->nargs - 1;
    Tile *out = materialise_all(s, condition->args + 1, passed);
    LLVMBasicBlockRef done = simt_new_block(s, "done");
    LLVMBuildCondBr(s->m->at, tile_slot(s, tile_of(s, condition->args[0]), 0), loop, done);
    stand(s, loop);
    bind(s, body->args.at, out, passed);
    simt_block(s, body);
    Tile *next = materialise_all(s, body->last->args, n);
    LLVMBasicBlockRef latch = here(s);
    go(s, head);
    for (uint32_t i = 0; i < n; i++) add_edge(&carried[i], &next[i], latch);
    stand(s, done);
    bind(s, op->results, out, op->nresults);
}

/* ---- if ---------------------------------------------------------------------------------------------------------- */

/* Builds one arm; gives what it yields and the block it ends in. */
static Tile *build_arm(Simt *s, const Op *op, uint32_t region, LLVMBasicBlockRef arm, LLVMBasicBlockRef join,
                       LLVMBasicBlockRef *end) {
    stand(s, arm);
    simt_block(s, op->regions[region]);
    Tile *r = materialise_all(s, op->regions[region]->last->args, op->nresults);
    *end = here(s);
    go(s, join);
    return r;
}

void simt_if(Simt *s, const Op *op) {
    V condition = tile_slot(s, tile_of(s, op->args[0]), 0);
    LLVMBasicBlockRef yes = simt_new_block(s, "then"), no = simt_new_block(s, "else"), join = simt_new_block(s, "join");
    LLVMBuildCondBr(s->m->at, condition, plant(PLANT_FIRST_ARM) ? no : yes, no);
    LLVMBasicBlockRef yes_end = NULL, no_end = NULL;
    Tile *a = build_arm(s, op, 0, yes, join, &yes_end), *b = build_arm(s, op, 1, no, join, &no_end);
    stand(s, join);
    for (uint32_t i = 0; i < op->nresults; i++) {
        Tile t = phis(s, &a[i], yes_end);
        add_edge(&t, &b[i], no_end);
        s->values[op->results[i]->id] = t;
    }
}

/* record.c - code that tells what it makes, for `fsc viz`: which op begins, and each register of each value.
 *
 * In: an op before and after it is built. Out: calls of the record primitives around its code, where s->records.
 * Method: a tile's registers are told whole (base + offset) when its op is done, but for those that only repeat others;
 * so slots that would be built later are built at their op, which changes no value. Constants are not told.
 */
#include "codegen/simt/simt.h"
#include "runtime/base/hooks.h"

static void record_step(Simt *s, const Op *op) {
    V number = simt_i32(s, op->id);
    prim_call(s, PRIM_RECORD_STEP, &number, 1);
}

/* Any slot as 64 bits: floats and i1 by their bits, zero extended. */
static V bits_of(Simt *s, DType d, V x) {
    V bits = d == DT_PTR ? x : element_bits(s, d, x);
    return LLVMTypeOf(bits) == s->m->i64 ? bits : LLVMBuildZExt(s->m->at, bits, s->m->i64, "");
}

static void record_value(Simt *s, const Value *v) {
    const Tile *t = tile_of(s, v);
    const Layout *l = value_is_tile(v) ? v->type.layout : NULL;
    uint32_t repeats = l ? layout_free(l, IN_REGISTER) : 0;
    for (uint32_t reg = 0; reg < tile_registers(v); reg++) {
        if (reg & repeats) continue;
        V bits = bits_of(s, v->type.dtype, tile_slot(s, t, reg));
        V args[] = {simt_i32(s, v->id), simt_i32(s, l ? reg : NO_REGISTER), bits};
        prim_call(s, PRIM_RECORD_VALUE, args, COUNT(args));
    }
}

void simt_record_begin(Simt *s, const Op *op) {
    bool is_step = op->kind != OP_CONST && op->kind != OP_YIELD && op->kind != OP_CONDITION;
    if (s->records && is_step) record_step(s, op);
}

void simt_record_entry(Simt *s, const Block *b) {
    if (!s->records || !b->owner) return;
    record_step(s, b->owner);
    for (uint32_t i = 0; i < b->args.len; i++) record_value(s, b->args.at[i]);
}

void simt_record_end(Simt *s, const Op *op) {
    if (!s->records || op->kind == OP_CONST) return;
    if (op->nregions) record_step(s, op); /* behind the steps of its regions */
    for (uint32_t i = 0; i < op->nresults; i++) record_value(s, op->results[i]);
}

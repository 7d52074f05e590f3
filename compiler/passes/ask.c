/* ask.c - questions about ops that several passes put.
 *
 * In: an op. Out: yes or no, from the op table and the result's type.
 */
#include "passes/private.h"

bool op_is_elementwise(const Op *op) {
    if (op_info[op->kind].effect != EFFECT_PURE || op->nresults != 1) return false;
    switch (op->kind) {
    case OP_CONST:
    case OP_ARANGE:
    case OP_ROTATED:
    case OP_MOVED:
    case OP_SPLAT:
    case OP_EXPAND:
    case OP_BROADCAST:
    case OP_RESHAPE:
    case OP_TRANS:
    case OP_FLIP:
    case OP_JOIN:
    case OP_SPLIT:
    case OP_GATHER:
    case OP_PID:
    case OP_NPROG:
    case OP_REDUCE:
    case OP_REDUCEWARP:
    case OP_SPREADWARP:
    case OP_CONVERT: return false;
    default: return true;
    }
}

bool op_is_tile_maker(const Op *op) {
    if (op->nresults != 1 || !value_is_tile(op->results[0])) return false;
    OpKind k = op->kind;
    return k == OP_CONST || k == OP_ARANGE || k == OP_ROTATED || k == OP_MOVED || k == OP_SPLAT || k == OP_EXPAND || k == OP_BROADCAST;
}

bool op_is_exponential(OpKind k) {
    return k >= OP_EXP && k <= OP_EXP2TERM;
}

bool op_is_commutative(OpKind k) {
    switch (k) {
    case OP_ADD:
    case OP_MUL:
    case OP_AND:
    case OP_OR:
    case OP_XOR:
    case OP_SMAX:
    case OP_SMIN:
    case OP_UMAX:
    case OP_UMIN:
    case OP_FADD:
    case OP_FMUL: return true;
    default: return false; /* fmax and its kin could tell two NaNs apart */
    }
}

uint32_t log2_floor(uint64_t x) {
    uint32_t n = 0;
    while (x >>= 1) n++;
    return n;
}

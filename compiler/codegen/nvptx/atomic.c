/* atomic.c - atomic operations as inline PTX.
 *
 * In: the operands of the atomic primitives. Out: one atom, or red where the result is dropped and PTX has a reduction
 * of that order: relaxed and release. Other dropped results go to the bit bucket.
 * Method: as in access.c; the result is tied to zero where a predicate may be false.
 */
#include <string.h>

#include "codegen/nvptx/asm.h"

static const char *const operation_text[] = {
    [ATOMIC_ADD] = "add",  [ATOMIC_FADD] = "add", [ATOMIC_SMAX] = "max", [ATOMIC_SMIN] = "min", [ATOMIC_UMAX] = "max",
    [ATOMIC_UMIN] = "min", [ATOMIC_AND] = "and",  [ATOMIC_OR] = "or",    [ATOMIC_XOR] = "xor",  [ATOMIC_XCHG] = "exch"};
_Static_assert(COUNT(operation_text) == ATOMIC_COUNT, "a text for each row of atomic.def");

static const char *const order_text[] = {[ORDER_RELAXED] = ".relaxed",
                                         [ORDER_ACQUIRE] = ".acquire",
                                         [ORDER_RELEASE] = ".release",
                                         [ORDER_ACQ_REL] = ".acq_rel"};
static const char *const reach_text[] = {[REACH_CTA] = ".cta", [REACH_GPU] = ".gpu", [REACH_SYS] = ".sys"};

/* ".u32", ".noftz.f16", … */
static const char *type_text(AtomicCode c, uint32_t bits) {
    bool is_wide = bits == 64;
    switch ((AtomicOp)c.op) {
    case ATOMIC_FADD: return bits == 16 ? (c.is_bf16 ? ".noftz.bf16" : ".noftz.f16") : is_wide ? ".f64" : ".f32";
    case ATOMIC_SMAX:
    case ATOMIC_SMIN: return is_wide ? ".s64" : ".s32";
    case ATOMIC_ADD:
    case ATOMIC_UMAX:
    case ATOMIC_UMIN: return is_wide ? ".u64" : ".u32";
    case ATOMIC_AND:
    case ATOMIC_OR:
    case ATOMIC_XOR:
    case ATOMIC_XCHG: return is_wide ? ".b64" : ".b32";
    case ATOMIC_COUNT: break;
    }
    bug("atomic operation %u", c.op);
}

/* `values`: one operand, or of a compare-and-swap two. */
static V emit(Nvptx *n, Access a, V address, V predicate, const V *values, uint32_t num_values, AtomicCode c,
              const char *operation, const char *type) {
    bool always = asm_is_true(predicate), is_bf16 = a.bits == 16 && c.is_bf16 && num_values == 1, is_red = false;
    if (is_bf16 && order_acquires(c.order)) c.is_dropped = false; /* ptxas 13.0 crashes on the bit bucket here */
    Asm s = asm_begin(n);
    if (!c.is_dropped) asm_outputs(n, &s, a);
    uint32_t at = asm_operand(&s, address, "l"), numbers[2] = {0, 0};
    for (uint32_t i = 0; i < num_values; i++) numbers[i] = asm_operand(&s, values[i], asm_constraint(a));
    if (!always) asm_number(&s, "@", asm_operand(&s, predicate, "b"), " ");
    if (!always && !c.is_dropped) asm_operand(&s, llvm_int(LLVMTypeOf(values[0]), 0), "0");
    is_red = c.is_dropped && num_values == 1 && c.op != ATOMIC_XCHG && !order_acquires(c.order);
    asm_text(&s, is_red ? "red" : "atom");
    asm_text(&s, order_text[c.order]);
    asm_text(&s, reach_text[c.reach]);
    asm_text(&s, ".global.");
    asm_text(&s, operation);
    asm_text(&s, type);
    if (is_red) asm_text(&s, " ");
    else if (c.is_dropped) asm_text(&s, " _, ");
    else asm_number(&s, " ", 0, ", ");
    asm_number(&s, "[", at, "]");
    for (uint32_t i = 0; i < num_values; i++) asm_number(&s, ", ", numbers[i], "");
    asm_text(&s, ";");
    V result = asm_build(n, &s);
    return c.is_dropped ? LLVMGetPoison(LLVMTypeOf(values[0])) : result;
}

V lower_atomic_rmw(Nvptx *n, Access a, const V *in) {
    AtomicCode c = atomic_unpack(LLVMConstIntGetZExtValue(in[3]));
    if (a.bits == 16) asm_need_ptx(n, c.is_bf16 ? 78 : 63);
    return emit(n, a, in[0], in[1], in + 2, 1, c, operation_text[c.op], type_text(c, a.bits));
}

V lower_atomic_cas(Nvptx *n, Access a, const V *in) {
    AtomicCode c = atomic_unpack(LLVMConstIntGetZExtValue(in[4]));
    if (a.bits == 16) asm_need_ptx(n, 63);
    return emit(n, a, in[0], in[1], in + 2, 2, c, "cas", a.bits == 64 ? ".b64" : a.bits == 32 ? ".b32" : ".b16");
}

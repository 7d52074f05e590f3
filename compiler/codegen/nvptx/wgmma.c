/* wgmma.c - matrix instructions of four warps as inline PTX (sm_90a).
 *
 * In: the operands of the wgmma primitives. Out: one statement each.
 * Method: each sum's register is a result tied to an operand, of the products and of the waits alike, so that nothing
 * reads one in between and none is copied.
 */
#include <string.h>

#include "codegen/nvptx/asm.h"
#include "layout/mma.h"

/* Results and what they begin as, if that counts; the statement's other operands come behind these. */
static void asm_sums(Nvptx *n, Asm *s, V tuple, bool counts) {
    uint32_t count = tuple_length(LLVMTypeOf(tuple));
    const V *values = tuple_values(n->m, tuple);
    bool is_integer = LLVMStructGetTypeAtIndex(LLVMTypeOf(tuple), 0) == n->m->i32;
    asm_results(s, LLVMTypeOf(tuple), is_integer ? "r" : "f");
    for (uint32_t i = 0; i < count && counts; i++) asm_operand(s, values[i], arena_printf(s->arena, "%u", i));
}

static V plain(Nvptx *n, const char *text) {
    Asm s = asm_begin(n);
    asm_text(&s, text);
    return asm_together(n, &s);
}

V lower_wgmma_fence(Nvptx *n, Access a, const V *in) {
    (void)a, (void)in;
    return plain(n, "wgmma.fence.sync.aligned;");
}

V lower_wgmma_commit(Nvptx *n, Access a, const V *in) {
    (void)a, (void)in;
    return plain(n, "wgmma.commit_group.sync.aligned;");
}

V lower_proxy_fence(Nvptx *n, Access a, const V *in) {
    (void)a, (void)in;
    return asm_statement(n, "fence.proxy.async.shared::cta;");
}

/* Of an address in units of 16 bytes the low 14 bits. */
V lower_wgmma_at(Nvptx *n, Access a, const V *in) {
    (void)a;
    enum { UNIT_LOG2 = 4, BITS = 18 };
    LLVMBuilderRef at = n->m->at;
    V address = asm_shared_address(n, in[0]);
    V units = LLVMBuildLShr(at, LLVMBuildAnd(at, address, llvm_int(n->m->i32, (1 << BITS) - 1), ""),
                            llvm_int(n->m->i32, UNIT_LOG2), "");
    return LLVMBuildOr(at, LLVMBuildZExt(at, units, n->m->i64, ""), in[1], "");
}

/* An operand's type as PTX spells it: the instruction's name ends in both, or in the one that both have. */
static const char *type_of(const MmaInfo *i, MmaOperand which, char out[8]) {
    const char *first = strchr(i->name, '.') + 1, *second = strchr(first, '.');
    const char *at = which == MMA_B && second ? second + 1 : first;
    snprintf(out, 8, "%.*s", (int)strcspn(at, "."), at);
    return out;
}

/* The statement up to its operands, the sums first. */
static Asm begin(Nvptx *n, V sums, GroupCode code) {
    const MmaInfo *i = &mma_info[code.instr];
    uint32_t count = tuple_length(LLVMTypeOf(sums));
    char text[112], x[8], y[8];
    Asm s = asm_begin(n);
    asm_sums(n, &s, sums, !code.is_first);
    snprintf(text, sizeof text, "wgmma.mma_async.sync.aligned.m%un%uk%u.%s.%s.%s ", i->m, 2 * count, i->k,
             i->types[MMA_C] == MMA_S32 ? "s32" : "f32", type_of(i, MMA_A, x), type_of(i, MMA_B, y));
    asm_text(&s, text);
    asm_braces(&s, 0, count);
    asm_text(&s, ", ");
    return s;
}

/* Does c count, do floats keep their signs, and, of 16 bits, do rows lie across k? */
static V end(Nvptx *n, Asm *s, GroupCode code, bool holds_a) {
    const MmaInfo *i = &mma_info[code.instr];
    char text[32];
    snprintf(text, sizeof text, ", %d", !code.is_first);
    asm_text(s, text);
    if (i->types[MMA_C] != MMA_S32) asm_text(s, ", 1, 1");
    bool turns = mma_bits(i->types[MMA_A]) == 16;
    if (turns && !holds_a) asm_text(s, code.is_across_a ? ", 1" : ", 0");
    if (turns) asm_text(s, code.is_across_b ? ", 1" : ", 0");
    asm_text(s, ";");
    return asm_together(n, s);
}

V lower_wgmma(Nvptx *n, Access a, const V *in) {
    (void)a;
    GroupCode code = group_unpack(LLVMConstIntGetZExtValue(in[3]));
    Asm s = begin(n, in[0], code);
    uint32_t da = asm_operand(&s, in[1], "l"), db = asm_operand(&s, in[2], "l");
    asm_number(&s, "", da, "");
    asm_number(&s, ", ", db, "");
    return end(n, &s, code, false);
}

V lower_wgmma_held(Nvptx *n, Access a, const V *in) {
    (void)a;
    GroupCode code = group_unpack(LLVMConstIntGetZExtValue(in[3]));
    uint32_t words = tuple_length(LLVMTypeOf(in[1])), first = 0;
    const V *values = tuple_values(n->m, in[1]);
    Asm s = begin(n, in[0], code);
    for (uint32_t i = 0; i < words; i++) {
        uint32_t number = asm_operand(&s, values[i], "r");
        if (i == 0) first = number;
    }
    uint32_t db = asm_operand(&s, in[2], "l");
    asm_braces(&s, first, words);
    asm_number(&s, ", ", db, "");
    return end(n, &s, code, true);
}

V lower_wgmma_wait(Nvptx *n, Access a, const V *in) {
    (void)a;
    char text[48];
    Asm s = asm_begin(n);
    asm_sums(n, &s, in[0], true);
    snprintf(text, sizeof text, "wgmma.wait_group.sync.aligned %u;", (unsigned)LLVMConstIntGetZExtValue(in[2]));
    asm_text(&s, text);
    return asm_together(n, &s);
}

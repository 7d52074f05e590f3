/* copy.c - asynchronous copies from global into shared memory as inline PTX (cp.async, sm_80 on).
 *
 * In: the operands of the copy primitives. Out: one asm statement each.
 * Method: 16 bytes go past the L1 (.cg), fewer cannot. With a source size, what lies behind it becomes zero and is not
 * read; a predicate says the same of all of it, in one instruction less.
 */
#include "codegen/nvptx/asm.h"

V lower_copy_async(Nvptx *n, Access a, const V *in) {
    (void)a;
    enum { NEEDS_PTX = 75 /* a predicate does */ };
    uint64_t bytes = LLVMConstIntGetZExtValue(in[5]);
    bool whole = LLVMIsAConstantInt(in[4]) && LLVMConstIntGetZExtValue(in[4]) == bytes, any = asm_is_true(in[3]);
    char number[16];
    Asm s = asm_begin(n);
    Address shared = address_split(n, in[0]), global = address_split(n, in[1]);
    uint32_t to = asm_operand(&s, asm_shared_address(n, shared.base), "r"), from = asm_operand(&s, global.base, "l");
    if (!asm_is_true(in[2])) asm_number(&s, "@", asm_operand(&s, in[2], "b"), " ");
    asm_text(&s, bytes == 16 ? "cp.async.cg.shared.global " : "cp.async.ca.shared.global ");
    asm_address(&s, "", to, shared.offset, ", ");
    asm_address(&s, "", from, global.offset, ", ");
    snprintf(number, sizeof number, "%u", (unsigned)bytes);
    asm_text(&s, number);
    if (!whole) asm_number(&s, ", ", asm_operand(&s, in[4], "r"), "");
    else if (!any) asm_number(&s, ", ", asm_operand(&s, LLVMBuildNot(n->m->at, in[3], ""), "b"), "");
    if (!any) asm_need_ptx(n, NEEDS_PTX);
    asm_text(&s, ";");
    return asm_build(n, &s);
}

V lower_copy_commit(Nvptx *n, Access a, const V *in) {
    (void)a, (void)in;
    return asm_statement(n, "cp.async.commit_group;");
}

V lower_copy_wait(Nvptx *n, Access a, const V *in) {
    char text[40];
    (void)a;
    snprintf(text, sizeof text, "cp.async.wait_group %u;", (unsigned)LLVMConstIntGetZExtValue(in[0]));
    return asm_statement(n, text);
}

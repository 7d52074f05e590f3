/* grid.c - words in global memory by which the blocks of a program meet that reach over the grid, as inline PTX
 * (sm_70 on), and the order between launches.
 *
 * In: the operands of the grid primitives. Out: one asm statement each; a global array of the module,
 * an Area for each program of a launch.
 * Method: an area belongs to one launch at a time, its `owner`: any block's first thread claims it by compare-and-swap,
 * and the last block to leave sets its words to round 0 and gives it back. So nothing is left to the next launch, and
 * two launches of one kernel at once, on two streams, take turns program by program; each launch's blocks are all on
 * the device (a cooperative launch), so waiting ends. A word's value and its round are one access of 64 bits, so no
 * order between accesses is needed to hand a word on.
 */
#include "codegen/nvptx/asm.h"

/* An area: owner (64 bits), blocks that have left so far (32 bits), the words of both halves. */
enum { SPACE_GLOBAL = 1, LEFT = 8, WORDS = 128, WORD = 8, ALIGN = 128 };

static uint32_t area_bytes(const Nvptx *n) {
    return (WORDS + 2 * simt_grid_words(n->f) * WORD + ALIGN - 1) / ALIGN * ALIGN;
}

void nvptx_make_words(Nvptx *n) {
    if (!simt_grid_words(n->f)) return;
    uint32_t programs = n->f->grid_programs ? n->f->grid_programs : GRID_PROGRAMS;
    LLVMTypeRef t = LLVMArrayType2(n->m->i8, (uint64_t)programs * area_bytes(n));
    n->areas = LLVMAddGlobalInAddressSpace(n->m->module, t, arena_printf(n->m->o->arena, "fsc_words_%s", n->f->name),
                                           SPACE_GLOBAL);
    LLVMSetInitializer(n->areas, LLVMConstNull(t));
    LLVMSetLinkage(n->areas, LLVMInternalLinkage);
    LLVMSetAlignment(n->areas, ALIGN);
}

/* Of this block's program. */
static V area(Nvptx *n) {
    LLVMBuilderRef at = n->m->at;
    V block = llvm_intrinsic(n->m, "llvm.nvvm.read.ptx.sreg.ctaid.x", NULL, 0, NULL, 0);
    V program = LLVMBuildUDiv(at, block, llvm_int(n->m->i32, n->f->blocks_per_program), "");
    V offset = LLVMBuildMul(at, program, llvm_int(n->m->i32, area_bytes(n)), "");
    V base = LLVMConstPtrToInt(n->areas, n->m->i64);
    return LLVMBuildAdd(at, base, LLVMBuildZExt(at, offset, n->m->i64, ""), "");
}

static V word_address(Nvptx *n, V index) {
    LLVMBuilderRef at = n->m->at;
    V offset = LLVMBuildMul(at, LLVMBuildZExt(at, index, n->m->i64, ""), llvm_int(n->m->i64, WORD), "");
    return LLVMBuildAdd(at, area(n), LLVMBuildAdd(at, offset, llvm_int(n->m->i64, WORDS), ""), "");
}

/* The launch: its number by the host's count, which a graph's launches share, and by the GPU's. Never 0. */
static V launch_name(Nvptx *n) {
    LLVMBuilderRef at = n->m->at;
    LLVMValueRef kernel = LLVMGetBasicBlockParent(LLVMGetInsertBlock(at));
    V count = LLVMBuildZExt(at, LLVMGetParam(kernel, LLVMCountParams(kernel) - 1), n->m->i64, "");
    Asm s = asm_begin(n);
    asm_outputs(n, &s, (Access){1, 64});
    asm_text(&s, "mov.u64 $0, %gridid;");
    V grid = LLVMBuildAnd(at, asm_build(n, &s), llvm_int(n->m->i64, UINT32_MAX), "");
    return LLVMBuildOr(at, LLVMBuildShl(at, count, llvm_int(n->m->i64, 32), ""), grid, "");
}

/* Takes the area if it is nobody's; `was` is its owner before. */
static void asm_claim(Asm *s, const char *predicate, uint32_t area, uint32_t name) {
    asm_text(s, predicate);
    asm_number(s, "atom.relaxed.gpu.global.cas.b64 was, [", area, "], 0, ");
    asm_number(s, "", name, "; ");
}

V lower_grid_begin(Nvptx *n, Access a, const V *in) {
    (void)a;
    Asm s = asm_begin(n);
    asm_outputs(n, &s, (Access){1, 64});
    uint32_t tid = asm_operand(&s, in[0], "r"), at = asm_operand(&s, area(n), "l"),
             name = asm_operand(&s, launch_name(n), "l");
    asm_number(&s, "{ .reg .pred p; .reg .b64 was; mov.b64 was, 0; setp.eq.u32 p, ", tid, ", 0; ");
    asm_claim(&s, "@p ", at, name);
    asm_text(&s, "mov.b64 $0, was; }");
    return asm_build(n, &s);
}

V lower_grid_begun(Nvptx *n, Access a, const V *in) {
    (void)a;
    Asm s = asm_begin(n);
    uint32_t tid = asm_operand(&s, in[0], "r"), before = asm_operand(&s, in[1], "l"),
             rounds = asm_operand(&s, in[2], "r");
    uint32_t at = asm_operand(&s, area(n), "l"), name = asm_operand(&s, launch_name(n), "l");
    asm_number(&s, "{ .reg .pred p; .reg .b64 was; setp.ne.u32 p, ", tid, ", 0; ");
    asm_number(&s, "setp.ne.or.u32 p, ", rounds, ", 0, p; @p bra done; ");
    asm_number(&s, "mov.b64 was, ", before, "; again: setp.eq.u64 p, was, 0; ");
    asm_number(&s, "setp.eq.or.u64 p, was, ", name, ", p; @p bra mine; ");
    asm_claim(&s, "", at, name);
    asm_text(&s, "bra again; mine: fence.acq_rel.gpu; done: }");
    return asm_build(n, &s);
}

V lower_grid_store(Nvptx *n, Access a, const V *in) {
    (void)a;
    Asm s = asm_begin(n);
    uint32_t at = asm_operand(&s, word_address(n, in[0]), "l"), value = asm_operand(&s, in[2], "r"),
             round = asm_operand(&s, in[3], "r");
    asm_number(&s, "{ .reg .b64 w; mov.b64 w, {", value, ", ");
    asm_number(&s, "", round, "}; ");
    if (!asm_is_true(in[1])) asm_number(&s, "@", asm_operand(&s, in[1], "b"), " ");
    asm_number(&s, "st.relaxed.gpu.global.b64 [", at, "], w; }");
    return asm_build(n, &s);
}

V lower_grid_wait(Nvptx *n, Access a, const V *in) {
    (void)a;
    Asm s = asm_begin(n);
    asm_outputs(n, &s, (Access){1, 32});
    uint32_t at = asm_operand(&s, word_address(n, in[0]), "l"), round = asm_operand(&s, in[2], "r");
    asm_text(&s, "{ .reg .pred p; .reg .b32 r, v; .reg .b64 w; mov.b32 v, 0; ");
    if (!asm_is_true(in[1])) asm_number(&s, "@!", asm_operand(&s, in[1], "b"), " bra done; ");
    asm_number(&s, "again: ld.relaxed.gpu.global.b64 w, [", at, "]; mov.b64 {v, r}, w; ");
    /* the result last: it may have an operand's register */
    asm_number(&s, "setp.ne.u32 p, r, ", round, "; @p bra again; done: mov.b32 $0, v; }");
    return asm_build(n, &s);
}

V lower_grid_fence(Nvptx *n, Access a, const V *in) {
    (void)a, (void)in;
    return asm_statement(n, "fence.acq_rel.gpu;");
}

/* By the block's first warp. */
V lower_grid_leave(Nvptx *n, Access a, const V *in) {
    (void)a;
    Asm s = asm_begin(n);
    uint32_t tid = asm_operand(&s, in[0], "r"), at = asm_operand(&s, area(n), "l");
    uint32_t last = asm_operand(&s, llvm_int(n->m->i32, n->f->blocks_per_program - 1), "r");
    uint32_t words = asm_operand(&s, llvm_int(n->m->i32, 2 * simt_grid_words(n->f)), "r");
    asm_number(&s, "{ .reg .pred p, q; .reg .b32 i; .reg .b64 w, z; mov.b32 i, 0; mov.b64 z, 0; setp.gt.u32 p, ", tid,
               ", 31; @p bra done; ");
    asm_number(&s, "setp.eq.u32 q, ", tid, ", 0; ");
    asm_number(&s, "@q atom.acq_rel.gpu.global.add.u32 i, [", at, "+8], 1; shfl.sync.idx.b32 i, i, 0, 31, -1; ");
    asm_number(&s, "and.b32 i, i, ", last, "; ");
    asm_number(&s, "setp.ne.u32 p, i, ", last, "; @p bra done; ");
    asm_number(&s, "mov.b32 i, ", tid, "; clear: ");
    asm_number(&s, "setp.ge.u32 p, i, ", words, "; @p bra clean; ");
    asm_number(&s, "mad.wide.u32 w, i, 8, ", at,
               "; st.relaxed.gpu.global.b64 [w+128], z; add.u32 i, i, 32; bra clear; ");
    asm_number(&s, "clean: bar.warp.sync -1; fence.acq_rel.gpu; @q st.relaxed.gpu.global.b64 [", at, "], z; done: }");
    _Static_assert(LEFT == 8 && WORDS == 128 && WORD == 8, "the text above has them");
    return asm_build(n, &s);
}

/* ---- Between launches -------------------------------------------------------------------------------------------- */

V lower_gdc_wait(Nvptx *n, Access a, const V *in) {
    (void)a, (void)in;
    return asm_statement(n, "griddepcontrol.wait;");
}

V lower_gdc_launch(Nvptx *n, Access a, const V *in) {
    (void)a, (void)in;
    return asm_statement(n, "griddepcontrol.launch_dependents;");
}

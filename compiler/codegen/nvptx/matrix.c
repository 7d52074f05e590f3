/* matrix.c - matrix instructions of a warp: mma.sync as LLVM's intrinsics, ldmatrix and stmatrix as inline PTX.
 *
 * In: the operands of the matrix primitives. Out: one instruction each, and the arch and PTX version that it needs.
 * Method: shared memory is addressed as access.c does it, in 32 bits.
 * Statements that a warp executes together are convergent.
 */
#include <string.h>

#include "codegen/nvptx/asm.h"
#include "layout/mma.h"

/* ---- Shared memory ----------------------------------------------------------------------------------------------- */

static void matrix_text(Asm *s, const char *name, MatrixCode c) {
    char text[80];
    snprintf(text, sizeof text, "%s.sync.aligned.m8n8.x%u%s.shared.b16 ", name, c.matrices,
             c.is_transposed ? ".trans" : "");
    asm_text(s, text);
}

V lower_ldmatrix(Nvptx *n, Access a, const V *in) {
    (void)a;
    MatrixCode c = matrix_unpack(LLVMConstIntGetZExtValue(in[1]));
    Asm s = asm_begin(n);
    if (c.matrices == 1) asm_outputs(n, &s, (Access){1, 32});
    else asm_results(&s, tuple_type(n->m, n->m->i32, c.matrices), "r");
    Address at = address_split(n, in[0]);
    uint32_t address = asm_operand(&s, asm_shared_address(n, at.base), "r");
    matrix_text(&s, "ldmatrix", c);
    asm_braces(&s, 0, c.matrices);
    asm_address(&s, ", ", address, at.offset, ";");
    V made = asm_together(n, &s);
    return c.matrices == 1 ? tuple_make(n->m, &made, 1) : made;
}

V lower_stmatrix(Nvptx *n, Access a, const V *in) {
    (void)a;
    MatrixCode c = matrix_unpack(LLVMConstIntGetZExtValue(in[2]));
    const V *words = tuple_values(n->m, in[1]);
    Asm s = asm_begin(n);
    Address at = address_split(n, in[0]);
    uint32_t address = asm_operand(&s, asm_shared_address(n, at.base), "r"), first = 0;
    for (uint32_t i = 0; i < c.matrices; i++) {
        uint32_t number = asm_operand(&s, words[i], "r");
        if (i == 0) first = number;
    }
    matrix_text(&s, "stmatrix", c);
    asm_address(&s, "", address, at.offset, ", ");
    asm_braces(&s, first, c.matrices);
    asm_text(&s, ";");
    return asm_together(n, &s);
}

/* ---- Products ---------------------------------------------------------------------------------------------------- */

/* What LLVM names an instruction by, behind its shape: fp16 by what it adds in, small floats by all of it,
 * others by their operands. */
static void intrinsic_name(Mma instr, char *name, size_t size) {
    const MmaInfo *i = &mma_info[instr];
    const char *types = strchr(i->name, '.');
    uint32_t shape = (uint32_t)(types - i->name);
    bool is_small = i->types[MMA_A] == MMA_E4M3 || i->types[MMA_A] == MMA_E5M2, is_one = !strchr(types + 1, '.');
    if (i->types[MMA_A] == MMA_F16) snprintf(name, size, "llvm.nvvm.mma.%.*s.row.col.f32.f32", (int)shape, i->name);
    else if (is_small)
        snprintf(name, size, "llvm.nvvm.mma.%.*s.row.col.f32%s%s.f32", (int)shape, i->name, types, is_one ? types : "");
    else snprintf(name, size, "llvm.nvvm.mma.%.*s.row.col%s", (int)shape, i->name, types);
}

/* The values of a tuple behind those before; fp16 travels in pairs. */
static uint32_t append(Nvptx *n, V tuple, MmaType t, V *args, uint32_t count) {
    const V *values = tuple_values(n->m, tuple);
    uint32_t length = tuple_length(LLVMTypeOf(tuple));
    for (uint32_t i = 0; i < length; i++)
        args[count++] =
            t == MMA_F16 ? LLVMBuildBitCast(n->m->at, values[i], LLVMVectorType(n->m->f16, 2), "") : values[i];
    return count;
}

/* The lowest PTX version, times ten, that has the instructions of a feature. */
static const uint32_t ptx_of[FEATURE_COUNT] = {[FEATURE_MMA] = 65, [FEATURE_MMA_WIDE] = 70, [FEATURE_MMA_FP8] = 84};

V lower_mma(Nvptx *n, Access a, const V *in) {
    (void)a;
    Mma instr = (Mma)LLVMConstIntGetZExtValue(in[3]);
    const MmaInfo *info = &mma_info[instr];
    V args[3 * 4];
    char name[96];
    uint32_t count = 0;
    nvptx_need(n, info->name, UINT64_C(1) << info->needs, ptx_of[info->needs]);
    for (uint32_t i = MMA_A; i <= MMA_C; i++) count = append(n, in[i], info->types[i], args, count);
    intrinsic_name(instr, name, sizeof name);
    return llvm_intrinsic(n->m, name, NULL, 0, args, count);
}

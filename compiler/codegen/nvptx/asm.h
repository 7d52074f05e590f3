/* asm.h - inline PTX under construction, for the files that build it.
 *
 * In: pieces of text, operands with constraints. Out: one asm statement with side effects.
 * Results come first in the constraint list and in operand numbers: asm_outputs before any operand.
 */
#ifndef FSC_NVPTX_ASM_H
#define FSC_NVPTX_ASM_H

#include "codegen/nvptx/nvptx.h"

typedef struct Asm {
    char text[640], constraints[96];
    LLVMTypeRef result, types[12]; /* result: void until asm_outputs */
    V operands[12];
    uint32_t n, outputs;
} Asm;

void asm_outputs(Nvptx *n, Asm *s, Access a); /* a word, or a struct of words */
uint32_t asm_operand(Asm *s, V value, const char *constraint); /* its number in the text */
void asm_text(Asm *s, const char *more);
void asm_number(Asm *s, const char *before, uint32_t number, const char *after);
V asm_build(Nvptx *n, Asm *s);

const char *asm_constraint(Access a); /* of one word */
bool asm_is_true(V predicate);        /* a constant */
V asm_shared_address(Nvptx *n, V offset); /* the 32-bit address of a byte of the block's shared memory */
void asm_need_ptx(Nvptx *n, uint32_t version);

#endif

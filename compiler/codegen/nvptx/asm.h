/* asm.h - inline PTX under construction, for the files that build it.
 *
 * In: pieces of text, operands with constraints. Out: one asm statement with side effects.
 * Results come first in the constraint list and in operand numbers: asm_outputs before any operand.
 */
#ifndef FSC_NVPTX_ASM_H
#define FSC_NVPTX_ASM_H

#include "codegen/nvptx/nvptx.h"

/* Of any length: what grows lies in the compile's arena. */
typedef struct Asm {
    Arena *arena;
    VEC(char) text, constraints;
    LLVMTypeRef result; /* void until asm_outputs */
    VEC(V) operands;
    uint32_t outputs;
} Asm;

Asm asm_begin(Nvptx *n);
void asm_outputs(Nvptx *n, Asm *s, Access a); /* a word, or a struct of words */
void asm_results(Asm *s, LLVMTypeRef tuple, const char *constraint); /* any number of values */
uint32_t asm_operand(Asm *s, V value, const char *constraint); /* its number in the text */
void asm_text(Asm *s, const char *more);
void asm_number(Asm *s, const char *before, uint32_t number, const char *after);
V asm_build(Nvptx *n, Asm *s);
V asm_value(Nvptx *n, Asm *s); /* without side effects */
V asm_statement(Nvptx *n, const char *text); /* without operands */
V asm_together(Nvptx *n, Asm *s); /* what a warp's threads execute together */

/* `[address + offset]`; offsets stay small, whatever a machine's instruction holds. */
typedef struct Address {
    V base;
    int64_t offset;
} Address;

Address address_split(const Nvptx *n, V address);
void asm_address(Asm *s, const char *before, uint32_t number, int64_t offset, const char *after);
void asm_vector(Asm *s, uint32_t first, uint32_t words); /* $first, or {$first, …} */
void asm_braces(Asm *s, uint32_t first, uint32_t words); /* likewise, one word, too, in braces */

const char *asm_constraint(Access a); /* of one word */
bool asm_is_true(V predicate);        /* a constant */
V asm_shared_address(Nvptx *n, V offset); /* the 32-bit address of a byte of the block's shared memory */
void asm_need_ptx(Nvptx *n, uint32_t version);

#endif

/* sums.c - bounds what LLVM's straight-line strength reduction compares.
 *
 * In: the kernel behind our run of LLVM's passes. Out: the same values; in a long kernel, and in one whose
 * products take their operands from rings (that pass makes addresses of copies no better), sums in groups.
 * Method: that pass of LLVM's NVPTX back end compares each sum with every earlier one that shares an operand, in
 * chains: minutes for a thread of some hundred elements. An operand of very many sums is frozen for each group of them:
 * another value to that pass, and the same one again to the early-cse behind it.
 */
#include "codegen/nvptx/nvptx.h"

enum {
    MOST_PAIRS = 1 << 14, /* of sums that share an operand: a second of LLVM's time at most */
    GROUP = 16,           /* sums; a few microseconds for each pair of a group */
};

/* One value of the kernel; a copy of it may stand before `behind`. */
typedef void Visit(Llvm *m, LLVMValueRef x, LLVMValueRef behind, uint64_t *pairs);

static void visit_values(Llvm *m, LLVMValueRef kernel, Visit *visit, uint64_t *pairs) {
    LLVMValueRef entry = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(kernel));
    for (unsigned i = 0; i < LLVMCountParams(kernel); i++) visit(m, LLVMGetParam(kernel, i), entry, pairs);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(kernel); b; b = LLVMGetNextBasicBlock(b)) {
        for (LLVMValueRef at = LLVMGetFirstInstruction(b); at; at = LLVMGetNextInstruction(at)) {
            LLVMValueRef behind = LLVMGetNextInstruction(at);
            while (behind && LLVMIsAPHINode(behind)) behind = LLVMGetNextInstruction(behind);
            if (behind && LLVMGetTypeKind(LLVMTypeOf(at)) == LLVMIntegerTypeKind) visit(m, at, behind, pairs);
        }
    }
}

/* Of two values; sums with constants cost that pass nothing. */
static bool is_sum(LLVMValueRef user) {
    if (LLVMGetInstructionOpcode(user) != LLVMAdd) return false;
    LLVMValueRef x = LLVMGetOperand(user, 0), y = LLVMGetOperand(user, 1);
    return x != y && !LLVMIsConstant(x) && !LLVMIsConstant(y);
}

static uint64_t count_sums(LLVMValueRef x) {
    uint64_t n = 0;
    for (LLVMUseRef u = LLVMGetFirstUse(x); u; u = LLVMGetNextUse(u)) n += is_sum(LLVMGetUser(u));
    return n;
}

static void add_pairs(Llvm *m, LLVMValueRef x, LLVMValueRef behind, uint64_t *pairs) {
    (void)m, (void)behind;
    uint64_t n = count_sums(x);
    *pairs += n * n;
}

static void freeze_groups(Llvm *m, LLVMValueRef x, LLVMValueRef behind, uint64_t *pairs) {
    (void)pairs;
    if (count_sums(x) <= GROUP) return;
    LLVMValueRef copy = NULL;
    LLVMPositionBuilderBefore(m->at, behind);
    uint64_t n = 0;
    for (LLVMUseRef u = LLVMGetFirstUse(x), next = NULL; u; u = next) {
        LLVMValueRef user = LLVMGetUser(u);
        next = LLVMGetNextUse(u);
        if (!is_sum(user)) continue;
        if (n++ % GROUP == 0) copy = LLVMBuildFreeze(m->at, x, "");
        LLVMSetOperand(user, LLVMGetOperand(user, 0) == x ? 0 : 1, copy);
    }
}

void nvptx_group_sums(const Nvptx *n, LLVMValueRef kernel) {
    uint64_t pairs = 0;
    visit_values(n->m, kernel, add_pairs, &pairs);
    if (n->has_rings || pairs > MOST_PAIRS) visit_values(n->m, kernel, freeze_groups, NULL);
}

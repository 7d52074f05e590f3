/* check.c - checked accesses: the launch is asked about each element before it is touched.
 *
 * In: an access with its mask. Out: the access with a mask that holds what was refused, too. Method: one call an
 * element through the hook behind the kernel's arguments (runtime/base/hooks.h); an element that is masked off asks
 * with 0 bytes.
 */
#include "codegen/host/host.h"
#include "runtime/base/hooks.h"

static LLVMValueRef lane(Host *h, LLVMValueRef x, uint32_t i, uint32_t width) {
    return width == 1 ? x : LLVMBuildExtractElement(h->m->at, x, llvm_int(h->m->i32, i), "");
}

static LLVMValueRef element_address(Host *h, const HostAccess *a, uint32_t i, uint32_t width) {
    LLVMBuilderRef at = h->m->at;
    LLVMValueRef first = a->is_vector ? lane(h, a->ptr, i, width) : a->ptr;
    if (LLVMTypeOf(first) == h->m->ptr) first = LLVMBuildPtrToInt(at, first, h->m->i64, "");
    return a->is_vector || i == 0 ? first : LLVMBuildAdd(at, first, llvm_int(h->m->i64, (int64_t)i * a->align), "");
}

void host_check(Host *h, HostAccess *a, const Op *op, uint32_t width) {
    Llvm *m = h->m;
    if (!m->o->check) return;
    LLVMTypeRef types[] = {m->ptr, m->ptr, m->i64, m->i32, m->i32, m->i32};
    LLVMTypeRef type = LLVMFunctionType(m->i32, types, COUNT(types), 0);
    LLVMValueRef index = llvm_int(m->i64, h->f->body->args.len), bytes = llvm_int(m->i32, a->align);
    LLVMValueRef hook = LLVMBuildLoad2(m->at, m->ptr, LLVMBuildInBoundsGEP2(m->at, m->ptr, h->args, &index, 1, ""), "");
    LLVMValueRef function = LLVMBuildLoad2(m->at, m->ptr, hook, ""); /* its first member */
    LLVMValueRef allowed = width == 1 ? NULL : LLVMGetPoison(LLVMVectorType(m->i1, width));
    for (uint32_t i = 0; i < width; i++) {
        LLVMValueRef size =
            a->mask ? LLVMBuildSelect(m->at, lane(h, a->mask, i, width), bytes, llvm_int(m->i32, 0), "") : bytes;
        LLVMValueRef args[] = {hook, h->pid, element_address(h, a, i, width), size,
                               llvm_int(m->i32, op->kind != OP_LOAD), llvm_int(m->i32, op->attr.mem.site)};
        LLVMValueRef answer = LLVMBuildCall2(m->at, type, function, args, COUNT(args), "");
        LLVMValueRef yes = LLVMBuildICmp(m->at, LLVMIntNE, answer, llvm_int(m->i32, 0), "");
        allowed = allowed ? LLVMBuildInsertElement(m->at, allowed, yes, llvm_int(m->i32, i), "") : yes;
    }
    a->mask = allowed;
    a->all = NULL;
}

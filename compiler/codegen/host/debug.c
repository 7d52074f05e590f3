/* debug.c - print and assert of the CPU target: each element to the launch's hook.
 *
 * In: the op. Out: a loop over the tile that calls the hook behind the kernel's arguments (runtime/base/hooks.h,
 * DebugHook).
 * Method: a chunk whose conditions all hold costs one test; where one does not,
 * the hook hears of it and the program ends.
 */
#include <stddef.h>

#include "codegen/host/host.h"
#include "runtime/base/hooks.h"

/* The kernel's second word behind its arguments. */
static LLVMValueRef load_hook(Host *h) {
    Llvm *m = h->m;
    LLVMValueRef index = llvm_int(m->i64, h->f->body->args.len + 1);
    return LLVMBuildLoad2(m->at, m->ptr, LLVMBuildInBoundsGEP2(m->at, m->ptr, h->args, &index, 1, ""), "");
}

static void call_hook(Host *h, size_t member, LLVMValueRef *args, uint32_t n) {
    Llvm *m = h->m;
    LLVMTypeRef types[8];
    LLVMValueRef hook = load_hook(h), offset = llvm_int(m->i64, (int64_t)member);
    LLVMValueRef function =
        LLVMBuildLoad2(m->at, m->ptr, LLVMBuildInBoundsGEP2(m->at, m->i8, hook, &offset, 1, ""), "");
    args[0] = hook;
    args[1] = h->pid;
    for (uint32_t i = 0; i < n; i++) types[i] = LLVMTypeOf(args[i]);
    LLVMBuildCall2(m->at, LLVMFunctionType(m->none, types, n, 0), function, args, n, "");
}

static LLVMValueRef shape_word(Host *h, Shape s) {
    return llvm_int(h->m->i64, (int64_t)debug_shape_pack(s.rank, s.log2));
}

static LLVMValueRef lane_of(Host *h, LLVMValueRef x, uint32_t i, uint32_t width) {
    return width == 1 ? x : LLVMBuildExtractElement(h->m->at, x, llvm_int(h->m->i32, i), "");
}

static LLVMValueRef index_of(Host *h, LLVMValueRef first, uint32_t i) {
    return LLVMBuildAdd(h->m->at, first, llvm_int(h->m->i64, i), "");
}

/* ---- print ------------------------------------------------------------------------------------------------------- */

static void print_element(Host *h, const Op *op, Shape s, LLVMValueRef x, LLVMValueRef index) {
    Llvm *m = h->m;
    bool is_signed = op->attr.shown == SHOWN_SIGNED && x && LLVMTypeOf(x) != m->i1;
    LLVMValueRef value = x ? llvm_debug_bits(m, x, is_signed) : llvm_int(m->i64, 0);
    LLVMValueRef text = LLVMBuildGlobalStringPtr(m->at, op->attr.text, "");
    LLVMValueRef format = x ? LLVMBuildGlobalStringPtr(m->at, shown_format(op->attr.shown), "") : LLVMConstNull(m->ptr);
    LLVMValueRef args[] = {NULL, NULL, text, format, shape_word(h, s), index, value};
    call_hook(h, offsetof(DebugHook, print), args, COUNT(args));
}

void host_print(Host *h, const Op *op) {
    LLVMValueRef zero = llvm_int(h->m->i64, 0);
    if (!op->nargs || !value_is_tile(op->args[0])) {
        print_element(h, op, shape_scalar(), op->nargs ? host_scalar(h, op->args[0]) : NULL, zero);
        return;
    }
    Shape s = op->args[0]->type.shape;
    uint32_t width = host_width(h, s);
    Loop l = host_loop_begin(h, llvm_int(h->m->i64, (int64_t)shape_elements(s)), width, op_info[op->kind].name);
    Chunk c = host_chunk(h, s, l.index, width);
    LLVMValueRef x = host_eval(h, &c, op->args[0]);
    for (uint32_t i = 0; i < width; i++) print_element(h, op, s, lane_of(h, x, i, width), index_of(h, l.index, i));
    host_loop_end(h, &l);
}

/* ---- assert ------------------------------------------------------------------------------------------------------ */

/* The program ends here unless all of x, `width` elements from the index on, are true. */
static void assert_chunk(Host *h, const Op *op, Shape s, LLVMValueRef x, LLVMValueRef index, uint32_t width) {
    Llvm *m = h->m;
    LLVMBasicBlockRef fails = host_new_block(h, "fails");
    LLVMBasicBlockRef holds = host_new_block(h, "holds");
    LLVMBuildCondBr(m->at, width == 1 ? x : llvm_unary(m, "llvm.vector.reduce.and", x), holds, fails);
    LLVMPositionBuilderAtEnd(m->at, fails);
    LLVMValueRef text = LLVMBuildGlobalStringPtr(m->at, op->attr.text, "");
    for (uint32_t i = 0; i < width; i++) {
        LLVMValueRef truth = LLVMBuildZExt(m->at, lane_of(h, x, i, width), m->i32, "");
        LLVMValueRef args[] = {NULL,  NULL, truth, text, shape_word(h, s), index_of(h, index, i),
                               llvm_int(m->i32, op->attr.mem.site)};
        call_hook(h, offsetof(DebugHook, assertion), args, COUNT(args));
    }
    LLVMBuildRetVoid(m->at);
    LLVMPositionBuilderAtEnd(m->at, holds);
}

void host_assert(Host *h, const Op *op) {
    const Value *v = op->args[0];
    if (!value_is_tile(v)) {
        assert_chunk(h, op, shape_scalar(), host_scalar(h, v), llvm_int(h->m->i64, 0), 1);
        return;
    }
    Shape s = v->type.shape;
    uint32_t width = host_width(h, s);
    Loop l = host_loop_begin(h, llvm_int(h->m->i64, (int64_t)shape_elements(s)), width, op_info[op->kind].name);
    Chunk c = host_chunk(h, s, l.index, width);
    assert_chunk(h, op, s, host_eval(h, &c, v), l.index, width);
    host_loop_end(h, &l);
}

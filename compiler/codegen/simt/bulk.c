/* bulk.c - bulk copies of rows of global memory into shared memory, and the barriers that tell of their end.
 *
 * In: bulk_begin, bulk_copy, bulk_wait, bulk_end. Out: primitives, of which thread 0 of the block alone does what is to be done once.
 * Method: element 0 of a row is register 0 of thread 0, which so has the row's address, and index and bound of its mask; the bytes that the
 * mask lets through are the first ones, a multiple of 16 (passes/ahead.c). What they bring is read by copy_read (copy.c).
 */
#include "codegen/simt/simt.h"

enum { ZEROS = 16, BARRIER_BYTES = 8 };

static V is_first(Simt *s) {
    return LLVMBuildICmp(s->m->at, LLVMIntEQ, simt_tid(s), simt_i32(s, 0), "");
}

void simt_bulk_ring(Simt *s, const Op *op) {
    V first = is_first(s), site = simt_site(s), zero = simt_i32(s, 0);
    if (op->kind == OP_BULKBEGIN) {
        V zeros[] = {simt_i32(s, op->attr.i), first, zero, zero, zero, zero, site};
        prim_access(s, PRIM_STORE_SHARED, access_of(4, 4), zeros, COUNT(zeros));
    }
    for (int64_t i = 0; i < op->attr.j; i++) {
        V at = simt_i32(s, op->attr.i + ZEROS + i * BARRIER_BYTES);
        V begin[] = {at, first, simt_i32(s, 1), site}, end[] = {at, first, site};
        if (op->kind == OP_BULKBEGIN) prim_call(s, PRIM_MBAR_INIT, begin, COUNT(begin));
        else prim_call(s, PRIM_MBAR_INVAL, end, COUNT(end));
    }
}

/* How many bytes the mask lets through, of `most`: thread 0 knows. */
static V bytes_within(Simt *s, const Op *op, uint32_t element, int64_t most) {
    Llvm *m = s->m;
    if (op->nargs < 6) return simt_i32(s, most);
    V index = LLVMBuildSExt(m->at, tile_lane(s, tile_of(s, op->args[4]), 0), m->i64, "");
    V bound = LLVMBuildSExt(m->at, tile_lane(s, tile_of(s, op->args[5]), 0), m->i64, "");
    V args[] = {LLVMBuildSub(m->at, bound, index, ""), llvm_int(m->i64, most / element)};
    args[0] = llvm_intrinsic(m, "llvm.smin", &m->i64, 1, args, 2);
    args[1] = llvm_int(m->i64, 0);
    V live = llvm_intrinsic(m, "llvm.smax", &m->i64, 1, args, 2);
    return LLVMBuildMul(m->at, LLVMBuildTrunc(m->at, live, m->i32, ""), simt_i32(s, element), "");
}

void simt_bulk_copy(Simt *s, const Op *op) {
    uint32_t element = type_bytes(type_scalar(op->args[0]->type.pointee));
    int64_t most = op->attr.i * ((int64_t)element << op->attr.mem.vec_log2) * s->f->threads_per_program;
    int64_t row = (int64_t)shape_elements(op->args[0]->type.shape) * element;
    V bytes = bytes_within(s, op, element, most < row ? most : row), site = simt_site(s);
    V barrier = tile_lane(s, tile_of(s, op->args[2]), 0);
    V issue = LLVMBuildAnd(s->m->at, is_first(s), tile_lane(s, tile_of(s, op->args[3]), 0), "");
    V some = LLVMBuildAnd(s->m->at, issue, LLVMBuildICmp(s->m->at, LLVMIntSGT, bytes, simt_i32(s, 0), ""), "");
    V expect[] = {barrier, issue, bytes, site};
    V copy[] = {tile_lane(s, tile_of(s, op->args[1]), 0), tile_lane(s, tile_of(s, op->args[0]), 0), some, bytes, barrier, site};
    prim_call(s, PRIM_MBAR_EXPECT, expect, COUNT(expect));
    prim_call(s, PRIM_COPY_BULK, copy, COUNT(copy));
}

void simt_bulk_wait(Simt *s, const Op *op) {
    V args[] = {tile_lane(s, tile_of(s, op->args[0]), 0), tile_lane(s, tile_of(s, op->args[1]), 0), simt_site(s)};
    prim_call(s, PRIM_MBAR_WAIT, args, COUNT(args));
}

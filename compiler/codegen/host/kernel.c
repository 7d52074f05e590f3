/* kernel.c - the kernel function of the CPU target: scalars, structured control flow, and the order of everything else.
 *
 * In: a planned Host. Out: `void NAME(ptr args, ptr pid, ptr nprog, ptr scratch)` in its module.
 * Method: ops in program order. Scalars become LLVM values, groups of ops a loop, lazy tiles nothing. Scalars cross
 * control flow in phis, tiles in the buffers of the values they become.
 */
#include "codegen/host/host.h"

#include <string.h>

static void emit_block(Host *h, const Block *b);

/* ---- Scalars and elementwise ops --------------------------------------------------------------------------------- */

enum { MOST_INSTRUCTIONS = 60000 /* LLVM takes some seconds for them, and four times as many for twice as many */ };

static LLVMValueRef grid_value(Host *h, LLVMValueRef array, const Op *op) {
    Llvm *m = h->m;
    LLVMValueRef index = llvm_int(m->i64, op->attr.axis);
    LLVMValueRef at = LLVMBuildInBoundsGEP2(m->at, m->i64, array, &index, 1, "");
    return LLVMBuildTrunc(m->at, LLVMBuildLoad2(m->at, m->i64, at, ""), m->i32, "");
}

static LLVMValueRef scalar_op(Host *h, const Op *op) {
    Llvm *m = h->m;
    if (op->kind == OP_CONST) return llvm_bits(m, op->results[0]->type.dtype, op->attr.bits);
    if (op->kind == OP_PID) return grid_value(h, h->pid, op);
    if (op->kind == OP_NPROG) return grid_value(h, h->nprog, op);
    if (op->kind == OP_RESHAPE) { /* of a tile of one element */
        Chunk c = host_chunk(h, op->args[0]->type.shape, llvm_int(m->i64, 0), 1);
        return host_eval(h, &c, op->args[0]);
    }
    LLVMValueRef args[3] = {NULL, NULL, NULL};
    for (uint32_t i = 0; i < op->nargs; i++) args[i] = host_scalar(h, op->args[i]);
    if (op->kind == OP_ADDPTR) {
        LLVMValueRef wide = LLVMTypeOf(args[1]) == m->i64 ? args[1] : LLVMBuildSExt(m->at, args[1], m->i64, "");
        return LLVMBuildGEP2(m->at, llvm_type(m, op->results[0]->type.pointee), args[0], &wide, 1, "");
    }
    return math_op(&h->math, op, args);
}

/* ---- Values that cross control flow ------------------------------------------------------------------------------ */

/* Tiles into the buffers of the values they become. Where one might be read after another was written (a swap), or
 * itself was written in part (a transpose), all go to buffers of their own first. */
static void pass_tiles(Host *h, Value *const *from, Value *const *to, uint32_t n) {
    bool crossing = false, elsewhere = false;
    uint32_t tiles = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (!value_is_tile(from[i])) continue;
        tiles++;
        elsewhere |= host_reads_elsewhere(h, from[i]);
        crossing |= !from[i]->def || h->buffers[from[i]->id] < 0;
    }
    if (tiles == 0) return;
    int64_t *staged = NEW_ARRAY(h->arena, int64_t, n);
    for (uint32_t i = 0; i < n; i++) {
        if (!value_is_tile(from[i]) || h->buffers[from[i]->id] == h->buffers[to[i]->id]) continue;
        staged[i] = elsewhere || (crossing && tiles > 1) ? host_allocate(h, from[i]->type) : h->buffers[to[i]->id];
        host_store_tile(h, from[i], staged[i]);
    }
    for (uint32_t i = 0; i < n; i++) {
        if (!value_is_tile(from[i]) || h->buffers[from[i]->id] == h->buffers[to[i]->id]) continue;
        if (staged[i] != h->buffers[to[i]->id]) host_copy(h, staged[i], h->buffers[to[i]->id], to[i]->type);
    }
}

static LLVMValueRef phi_of(Host *h, const Value *v) {
    return LLVMBuildPhi(h->m->at, llvm_type(h->m, v->type.dtype), "");
}

/* Phis for the scalars among the values. */
static void make_phis(Host *h, Value *const *values, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        if (!value_is_tile(values[i])) h->scalars[values[i]->id] = phi_of(h, values[i]);
    }
}

/* The values that a phi gets from the block the builder is in. */
static void feed_phis(Host *h, Value *const *phis, Value *const *from, uint32_t n) {
    LLVMBasicBlockRef block = LLVMGetInsertBlock(h->m->at);
    for (uint32_t i = 0; i < n; i++) {
        if (value_is_tile(phis[i])) continue;
        LLVMValueRef x = host_scalar(h, from[i]);
        LLVMAddIncoming(h->scalars[phis[i]->id], &x, &block, 1);
    }
}

LLVMBasicBlockRef host_new_block(Host *h, const char *name) {
    return LLVMAppendBasicBlockInContext(h->m->context, h->function, name);
}

/* ---- Control flow ------------------------------------------------------------------------------------------------ */

static void emit_if(Host *h, const Op *op) {
    Llvm *m = h->m;
    LLVMBasicBlockRef arms[2] = {host_new_block(h, "then"), host_new_block(h, "else")}, after = host_new_block(h, "");
    LLVMBasicBlockRef ends[2] = {NULL, NULL};
    LLVMBuildCondBr(m->at, host_scalar(h, op->args[0]), arms[0], arms[1]);
    for (int r = 0; r < 2; r++) {
        LLVMPositionBuilderAtEnd(m->at, arms[r]);
        emit_block(h, op->regions[r]);
        const Op *yield = op->regions[r]->last;
        pass_tiles(h, yield->args, op->results, op->nresults);
        ends[r] = LLVMGetInsertBlock(m->at);
        LLVMBuildBr(m->at, after);
    }
    LLVMPositionBuilderAtEnd(m->at, after);
    for (uint32_t i = 0; i < op->nresults; i++) {
        if (value_is_tile(op->results[i])) continue;
        LLVMValueRef in[2], phi = phi_of(h, op->results[i]);
        for (int r = 0; r < 2; r++) in[r] = host_scalar(h, op->regions[r]->last->args[i]);
        LLVMAddIncoming(phi, in, ends, 2);
        h->scalars[op->results[i]->id] = phi;
    }
}

/* step > 0 ? iv < hi : iv > hi */
static LLVMValueRef loop_goes_on(Host *h, const Op *op, LLVMValueRef iv) {
    Llvm *m = h->m;
    LLVMValueRef hi = host_scalar(h, op->args[1]), step = host_scalar(h, op->args[2]);
    int64_t known = 0;
    LLVMValueRef up = LLVMBuildICmp(m->at, LLVMIntSLT, iv, hi, ""), down = LLVMBuildICmp(m->at, LLVMIntSGT, iv, hi, "");
    if (value_const(op->args[2], &known)) return known > 0 ? up : down;
    LLVMValueRef positive = LLVMBuildICmp(m->at, LLVMIntSGT, step, LLVMConstNull(LLVMTypeOf(step)), "");
    return LLVMBuildSelect(m->at, positive, up, down, "");
}

static void emit_for(Host *h, const Op *op) {
    Llvm *m = h->m;
    Block *body = op->regions[0];
    Value *iv = body->args.at[0], **carried = body->args.at + 1;
    uint32_t n = op->nresults;
    LLVMBasicBlockRef head = host_new_block(h, "for"), inside = host_new_block(h, "body");
    LLVMBasicBlockRef after = host_new_block(h, "");
    pass_tiles(h, op->args + 3, carried, n);
    LLVMBasicBlockRef before = LLVMGetInsertBlock(m->at);
    LLVMBuildBr(m->at, head);

    LLVMPositionBuilderAtEnd(m->at, head);
    LLVMValueRef index = h->scalars[iv->id] = phi_of(h, iv), lo = host_scalar(h, op->args[0]);
    LLVMAddIncoming(index, &lo, &before, 1);
    make_phis(h, carried, n);
    for (uint32_t i = 0; i < n; i++) {
        if (value_is_tile(carried[i])) continue;
        LLVMValueRef x = host_scalar(h, op->args[3 + i]);
        LLVMAddIncoming(h->scalars[carried[i]->id], &x, &before, 1);
    }
    LLVMBuildCondBr(m->at, loop_goes_on(h, op, index), inside, after);

    LLVMPositionBuilderAtEnd(m->at, inside);
    emit_block(h, body);
    pass_tiles(h, body->last->args, carried, n);
    LLVMValueRef next = LLVMBuildAdd(m->at, index, host_scalar(h, op->args[2]), "");
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(m->at);
    LLVMAddIncoming(index, &next, &latch, 1);
    feed_phis(h, carried, body->last->args, n);
    LLVMBuildBr(m->at, head);

    LLVMPositionBuilderAtEnd(m->at, after);
    for (uint32_t i = 0; i < n; i++) {
        if (!value_is_tile(carried[i])) h->scalars[op->results[i]->id] = h->scalars[carried[i]->id];
    }
}

static void emit_while(Host *h, const Op *op) {
    Llvm *m = h->m;
    Block *test = op->regions[0], *body = op->regions[1];
    LLVMBasicBlockRef head = host_new_block(h, "while"), inside = host_new_block(h, "body");
    LLVMBasicBlockRef after = host_new_block(h, "");
    pass_tiles(h, op->args, test->args.at, op->nargs);
    LLVMBasicBlockRef before = LLVMGetInsertBlock(m->at);
    LLVMBuildBr(m->at, head);

    LLVMPositionBuilderAtEnd(m->at, head);
    make_phis(h, test->args.at, test->args.len);
    for (uint32_t i = 0; i < op->nargs; i++) {
        if (value_is_tile(op->args[i])) continue;
        LLVMValueRef x = host_scalar(h, op->args[i]);
        LLVMAddIncoming(h->scalars[test->args.at[i]->id], &x, &before, 1);
    }
    emit_block(h, test);
    const Op *condition = test->last;
    Value **passed = condition->args + 1;
    pass_tiles(h, passed, op->results, op->nresults);
    for (uint32_t i = 0; i < op->nresults; i++) {
        if (value_is_tile(passed[i])) continue;
        h->scalars[op->results[i]->id] = h->scalars[body->args.at[i]->id] = host_scalar(h, passed[i]);
    }
    LLVMBuildCondBr(m->at, host_scalar(h, condition->args[0]), inside, after);

    LLVMPositionBuilderAtEnd(m->at, inside);
    emit_block(h, body);
    pass_tiles(h, body->last->args, test->args.at, test->args.len);
    feed_phis(h, test->args.at, body->last->args, test->args.len);
    LLVMBuildBr(m->at, head);
    LLVMPositionBuilderAtEnd(m->at, after);
}

/* ---- Order ------------------------------------------------------------------------------------------------------- */

/* clang-format off */
static void emit_op(Host *h, const Op *op) {
    const Group *g = h->groups[op->id];
    llvm_debug_at(h->m, op->span);
    if (g && op == g->last) host_group(h, g);
    if (g) return;
    switch (op->kind) {
    case OP_LOAD:
        if (!value_is_tile(op->results[0])) host_load(h, op); /* a tile: in the loops that need it */
        return;
    case OP_STORE: host_store(h, op); return;
    case OP_ATOMICRMW: case OP_ATOMICCAS: host_atomic(h, op); return;
    case OP_PRINT: host_print(h, op); return;
    case OP_ASSERT: host_assert(h, op); return;
    case OP_REDUCE: host_reduce(h, op); return;
    case OP_REDUCEFN: case OP_SCAN: host_combine(h, op); return;
    case OP_DOT: host_dot(h, op); return;
    case OP_FOR: emit_for(h, op); return;
    case OP_WHILE: emit_while(h, op); return;
    case OP_IF: emit_if(h, op); return;
    /* one thread a program; ends are their owner's */
    case OP_BARRIER: case OP_YIELD: case OP_CONDITION: case OP_RETURN: return;
    case OP_GDCWAIT: case OP_GDCLAUNCH: return; /* a launch begins when the one ahead has ended */
#define CASE_CREATE(value) case value:
#define CASE_INDEX(value) case value:
#define CASE_REPEAT(value) case value:
#define CASE_MOVE(value) case value:
#define CASE_ELEMENT(value) case value:
#include "ir/cases.def"
        if (!value_is_tile(op->results[0])) h->scalars[op->results[0]->id] = scalar_op(h, op);
        return;
    /* of warps, and of what threads and blocks share */
    case OP_REDUCEWARP: case OP_REDUCEFNWARP: case OP_SCANWARP: case OP_SCANAPPLY:
#define CASE_COPY(shared) case shared:
#define CASE_SHARED(shared) case shared:
#include "ir/cases.def"
    case OP_DOTASYNC: case OP_DOTWAIT: break;
    case OP_MMA: case OP_SHWAIT:
    case OP_COUNT: break;
    }
    bug("host: op '%s' has no lowering", op_info[op->kind].name);
}
/* clang-format on */

static void emit_block(Host *h, const Block *b) {
    for (const Op *op = b->first; op; op = op->next) emit_op(h, op);
}

void host_block(Host *h, const Block *b) {
    emit_block(h, b);
}

static void bind_params(Host *h) {
    Llvm *m = h->m;
    const Block *body = h->f->body;
    for (uint32_t i = 0; i < body->args.len; i++) {
        LLVMValueRef index = llvm_int(m->i64, i);
        LLVMValueRef slot = LLVMBuildInBoundsGEP2(m->at, m->ptr, h->args, &index, 1, "");
        LLVMValueRef where = LLVMBuildLoad2(m->at, m->ptr, slot, "");
        const Value *v = body->args.at[i];
        bool is_truth = v->type.dtype == DT_I1;
        LLVMValueRef x = LLVMBuildLoad2(m->at, is_truth ? m->i8 : llvm_type(m, v->type.dtype), where, "");
        h->scalars[v->id] = is_truth ? LLVMBuildTrunc(m->at, x, m->i1, "") : x;
    }
}

static LLVMValueRef count_programs(Host *h) {
    Llvm *m = h->m;
    LLVMValueRef product = llvm_int(m->i64, 1);
    for (int i = 0; i < 3; i++) {
        LLVMValueRef index = llvm_int(m->i64, i);
        LLVMValueRef at = LLVMBuildInBoundsGEP2(m->at, m->i64, h->nprog, &index, 1, "");
        product = LLVMBuildMul(m->at, product, LLVMBuildLoad2(m->at, m->i64, at, ""), "");
    }
    return product;
}

/* The code counts on the length of SVE's registers. */
static void mark_registers(const Host *h) {
    uint64_t scale = h->processor->sve_bytes / 16;
    if (scale) llvm_attribute_enum(h->m, h->function, "vscale_range", scale << 32 | scale); /* from, to */
}

bool host_kernel(Host *h) {
    Llvm *m = h->m;
    h->scalars = NEW_ARRAY(h->arena, LLVMValueRef, h->f->next_value);
    h->memo = NEW_ARRAY(h->arena, LLVMValueRef, h->f->next_value);
    h->stamps = NEW_ARRAY(h->arena, uint32_t, h->f->next_value);
    host_plan(h);
    host_ends(h);
    LLVMTypeRef params[] = {m->ptr, m->ptr, m->ptr, m->ptr};
    h->function = LLVMAddFunction(m->module, h->f->name, LLVMFunctionType(m->none, params, 4, false));
    h->args = LLVMGetParam(h->function, 0);
    h->pid = LLVMGetParam(h->function, 1);
    h->nprog = LLVMGetParam(h->function, 2);
    h->scratch = LLVMGetParam(h->function, 3);
    llvm_attribute_enum(m, h->function, "nounwind", 0);
    mark_registers(h);
    LLVMPositionBuilderAtEnd(m->at, host_new_block(h, "entry"));
    llvm_debug_function(m, h->function, h->f->name, h->f->span);
    llvm_debug_at(m, h->f->span);
    bind_params(h);
    if (h->processor->family == FAMILY_X86_64) h->programs = count_programs(h);
    emit_block(h, h->f->body);
    LLVMBuildRetVoid(m->at);
    llvm_debug_finish(m);
    if (llvm_instructions(h->function) <= MOST_INSTRUCTIONS) return true;
    diag(m->o->diag, h->f->span, E_HOST_SIZE, MOST_INSTRUCTIONS);
    diag_note(m->o->diag, h->f->span, "take range instead of static_range, or fewer nested calls");
    return false;
}

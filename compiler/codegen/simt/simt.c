/* simt.c - a Func at STAGE_SIMT as a per-thread LLVM function: the walk over its ops.
 *
 * In: the Func. Out: the function, in m's module.
 * Method: an entry block for what is computed once, then the body's ops in order, each with its line. One switch sends
 * every op kind to its family; a kind without a case does not compile, since the switch has no default.
 */
#include "codegen/simt/simt.h"

/* clang-format off */
static void build_op(Simt *s, const Op *op) {
    switch (op->kind) {
    case OP_CONST: case OP_PID: case OP_NPROG: simt_create_op(s, op); return;
    case OP_ARANGE: case OP_ROTATED: case OP_MOVED: simt_create_op(s, op); return;
    case OP_SPLAT: case OP_EXPAND: simt_create_op(s, op); return;
#define CASE_ELEMENT(element) case element:
#include "ir/cases.def"
        (op->attr.when ? simt_elementwise_on_demand : simt_elementwise)(s, op); return;
    case OP_RESHAPE: case OP_TRANS: case OP_JOIN: case OP_SPLIT: simt_move(s, op); return;
    case OP_BROADCAST:  simt_convert(s, op, true); return;
    case OP_CONVERT:    simt_convert(s, op, false); return;
    case OP_LOAD:       (value_is_deferred(op->results[0]) ? simt_load_deferred : simt_load)(s, op); return;
    case OP_STORE:      (value_is_deferred(op->args[1]) ? simt_store_deferred : simt_store)(s, op); return;
    case OP_ATOMICRMW:
    case OP_ATOMICCAS:  simt_atomic(s, op); return;
    case OP_REDUCE:
    case OP_REDUCEWARP: simt_reduce(s, op); return;
    case OP_SPREADWARP: simt_broadcast_warp(s, op); return;
    case OP_REDUCEFN: case OP_REDUCEFNWARP: case OP_SCAN: case OP_SCANWARP:
        simt_combine(s, op); return;
    case OP_SCANAPPLY:  simt_scan_apply(s, op); return;
    case OP_SHSTORE:    simt_shared_store(s, op); return;
    case OP_SHLOAD:
    case OP_SHSLICE:    simt_shared_load(s, op); return;
    case OP_SHWAIT:     simt_shared_wait(s, op); return;
    case OP_SHGATHER:   simt_shared_gather(s, op); return;
    case OP_COPYASYNC:  simt_copy_async(s, op); return;
    case OP_BULKLOAD:   simt_bulk_load(s, op); return;
    case OP_BULKSTORE:  simt_bulk_store(s, op); return;
    case OP_BULKWAIT:   simt_bulk_wait(s, op); return;
    case OP_COPYREAD:   simt_copy_read(s, op); return;
    case OP_COPYCOMMIT:
    case OP_COPYWAIT:   simt_copy_order(s, op); return;
    case OP_BARRIER:    simt_barrier(s, op); return;
    case OP_GDCWAIT:
    case OP_GDCLAUNCH:  simt_launch_order(s, op); return;
    case OP_FOR:        simt_for(s, op); return;
    case OP_WHILE:      simt_while(s, op); return;
    case OP_IF:         simt_if(s, op); return;
    case OP_CONDITION: case OP_YIELD: case OP_RETURN: return; /* read by the op that owns the region */
    case OP_PRINT: simt_print(s, op); return;
    case OP_ASSERT: simt_assert(s, op); return;
    case OP_OPAQUE: simt_opaque_copy(s, op); return;
    case OP_SPILL: simt_spill(s, op); return;
    case OP_FLIP: simt_flip(s, op); return;
    case OP_DOT: simt_dot(s, op); return;
    case OP_MMA: simt_mma(s, op); return;
    case OP_SHMATRIX: simt_shared_matrix(s, op); return;
    case OP_DOTASYNC: simt_dot_async(s, op); return;
    case OP_DOTWAIT: simt_dot_wait(s, op); return;
    case OP_PROXYFENCE: simt_proxy_fence(s, op); return;
    case OP_SLICE: simt_slice(s, op); return;
    case OP_GATHER: bug("%s was left as one op", op_info[op->kind].name);
    case OP_COUNT: break;
    }
    bug("simt: op kind %d", (int)op->kind);
}
/* clang-format on */

static void simt_op(Simt *s, const Op *op) {
    simt_at_op(s, op);
    s->op_site = UINT32_MAX;
    simt_record_begin(s, op);
    build_op(s, op);
    simt_record_end(s, op);
}

void simt_block(Simt *s, const Block *b) {
    simt_record_entry(s, b);
    for (const Op *op = b->first; op; op = op->next) {
        if (s->late) simt_load_late(s, op);
        if (op->nregions && !op_is_combine(op->kind)) simt_grid_wait(s);
        simt_op(s, op);
    }
    if (!b->owner || !op_is_combine(b->owner->kind)) simt_grid_end_region(s);
}

/* ---- Math on the primitives -------------------------------------------------------------------------------------- */

static V approx(const Math *k, Approx which, V x, V y) {
    static const Prim of[] = {
        [APPROX_EX2] = PRIM_EX2,     [APPROX_LG2] = PRIM_LG2,   [APPROX_RCP] = PRIM_RCP,
        [APPROX_RSQRT] = PRIM_RSQRT, [APPROX_SQRT] = PRIM_SQRT, [APPROX_DIV] = PRIM_DIV,
    };
    Simt *s = (Simt *)k->context;
    V args[] = {x, y};
    return prim_call(s, of[which], args, y ? 2 : 1);
}

static V to_int(const Math *k, ToInt how, V x) {
    static const Prim of[] = {[TO_SIGNED] = PRIM_TO_S32, [TO_NEAREST] = PRIM_NEAREST_S32, [TO_UNSIGNED] = PRIM_TO_U32};
    return prim_call((Simt *)k->context, of[how], &x, 1);
}

static V to_e4m3(const Math *k, V x, V y) {
    V args[] = {x, y};
    return prim_call((Simt *)k->context, PRIM_TO_E4M3, args, 2);
}

static V from_e4m3(const Math *k, V word) {
    return prim_call((Simt *)k->context, PRIM_FROM_E4M3, &word, 1);
}

/* ---- The function ------------------------------------------------------------------------------------------------ */

static void set_param_bounds(Tile *t, const Param *p, DType d) {
    uint32_t bits = dtype_bits(d);
    if (dtype_kind(d) != KIND_INT || bits < 32 || !p->most || p->most > INT32_MAX || p->least > p->most) return;
    bool is_nonnegative = p->least || p->is_nonnegative;
    t->lo = is_nonnegative ? p->least : bits == 32 ? INT32_MIN : -INT64_MAX;
    t->hi = plant(PLANT_SHORT_ROW) ? p->most / 2 : p->most;
}

/* Parameters: the thread where the target step wants one; the kernel's; tensor maps, by their addresses; of packed
 * programs, the grid's three extents; of those whose blocks meet through global memory, the launch's number. */
static LLVMValueRef declare_kernel(Llvm *m, Simt *s, const Func *f, bool has_thread) {
    uint32_t n = f->body->args.len, first = has_thread ? 1 : 0, maps = f->maps.len,
             extents = f->programs_per_block > 1 ? 3
                       : f->scope == SCOPE_GRID  ? 1
                                                 : 0;
    LLVMTypeRef *types = NEW_ARRAY(m->o->arena, LLVMTypeRef, first + n + maps + extents + 1);
    types[0] = m->ptr;
    for (uint32_t i = 0; i < n; i++) types[first + i] = slot_type(s, f->body->args.at[i]->type.dtype);
    for (uint32_t i = 0; i < maps; i++) types[first + n + i] = m->ptr;
    for (uint32_t i = 0; i < extents; i++) types[first + n + maps + i] = m->i32;
    LLVMValueRef k =
        LLVMAddFunction(m->module, f->name, LLVMFunctionType(m->none, types, first + n + maps + extents, 0));
    for (uint32_t i = 0; i < n; i++) {
        const Value *v = f->body->args.at[i];
        Tile t = tile_create(s, 1);
        t.at[0].base = LLVMGetParam(k, first + i);
        set_param_bounds(&t, &f->params.at[i], v->type.dtype);
        s->values[v->id] = t;
    }
    s->maps_at = NEW_ARRAY(m->o->arena, V, maps);
    for (uint32_t i = 0; i < maps; i++) s->maps_at[i] = LLVMGetParam(k, first + n + i);
    if (extents == 3) s->grid = LLVMGetParam(k, first + n + maps);
    return k;
}

LLVMValueRef simt_build(Llvm *m, const Func *f, const Target *t) {
    if (f->stage != STAGE_SIMT) bug("simt_build: %s has no layouts yet", f->name);
    if (!simt_fits(m, f, t, NULL)) return NULL;
    Simt s = {.m = m, .f = f, .t = t};
    s.math = (Math){.m = m, .fast = m->o->fast_math, .features = t->features, .context = &s};
    s.math.approx = approx, s.math.to_int = to_int;
    if (target_has(t, FEATURE_MMA_FP8)) s.math.to_e4m3 = to_e4m3, s.math.from_e4m3 = from_e4m3;
    s.records = m->o->record && t->backend->has_thread;
    s.values = NEW_ARRAY(m->o->arena, Tile, f->next_value);
    s.function = declare_kernel(m, &s, f, t->backend->has_thread);
    s.entry = simt_new_block(&s, "entry");
    LLVMBasicBlockRef body = simt_new_block(&s, "start");
    llvm_debug_function(m, s.function, f->name, f->span);
    for (uint32_t i = 0; i < f->sites.len; i++) vec_push(m->o->arena, &m->sites, f->sites.at[i]);
    LLVMPositionBuilderAtEnd(m->at, body);
    llvm_debug_at(m, f->span);
    if (f->programs_per_block > 1) simt_begin_packed(&s);
    simt_grid_begin(&s);
    simt_begin_bulk(&s);
    simt_block(&s, f->body);
    simt_grid_end(&s);
    LLVMBuildRetVoid(m->at);
    LLVMPositionBuilderAtEnd(m->at, s.entry);
    llvm_debug_at(m, f->span);
    LLVMBuildBr(m->at, body);
    llvm_debug_finish(m);
    return simt_fits(m, f, t, s.function) ? s.function : NULL;
}

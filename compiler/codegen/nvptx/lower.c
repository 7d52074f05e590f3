/* lower.c - the target step: every primitive to an intrinsic or inline PTX, and the module made a PTX kernel.
 *
 * In: a per-thread module. Out: the same module for LLVM's NVPTX back end, and the PTX version it needs.
 * Method: each call of a primitive is replaced at its place by its row of lower.def; then the kernel
 * gets its calling convention and launch bounds, and the record becomes a global byte array.
 */
#include <string.h>

#include "codegen/nvptx/asm.h"

enum { PTX_KERNEL = 71, SPACE_GLOBAL = 1, SPACE_SHARED = 3 };

/* ---- Between threads --------------------------------------------------------------------------------------------- */

static V call(Nvptx *n, const char *name, V *args, unsigned count) {
    return llvm_intrinsic(n->m, name, NULL, 0, args, count);
}

/* Lanes are counted within a segment, the program's own lanes of the warp. Lanes of programs beyond the grid have
 * ended, and none waits for these. */
static V shuffle(Nvptx *n, const char *name, const V *in) {
    uint32_t lanes = n->f->threads_per_program < 32 ? n->f->threads_per_program : 32;
    V args[] = {llvm_int(n->m->i32, -1), in[0], in[1], llvm_int(n->m->i32, (32 - lanes) << 8 | 31)};
    return call(n, name, args, 4);
}

static V lower_shfl_bfly(Nvptx *n, Access a, const V *in) {
    (void)a;
    return shuffle(n, "llvm.nvvm.shfl.sync.bfly.i32", in);
}

static V lower_shfl_idx(Nvptx *n, Access a, const V *in) {
    (void)a;
    return shuffle(n, "llvm.nvvm.shfl.sync.idx.i32", in);
}

static V lower_bar_warp(Nvptx *n, Access a, const V *in) {
    (void)a, (void)in;
    V all = llvm_int(n->m->i32, -1);
    return call(n, "llvm.nvvm.bar.warp.sync", &all, 1);
}

static V lower_bar_block(Nvptx *n, Access a, const V *in) {
    (void)a, (void)in;
    V barrier = llvm_int(n->m->i32, 0);
    return call(n, "llvm.nvvm.barrier.cta.sync.aligned.all", &barrier, 1);
}

static V lower_bar_cluster(Nvptx *n, Access a, const V *in) {
    (void)a, (void)in;
    call(n, "llvm.nvvm.barrier.cluster.arrive.aligned", NULL, 0);
    return call(n, "llvm.nvvm.barrier.cluster.wait.aligned", NULL, 0);
}

/* Of a multiprocessor's index, the sign: it is none that LLVM knows, and to ptxas it may change from one reading to the
 * next. A zero that was shuffled, or read from %laneid or %nwarpid, ptxas 13.0 sees through. */
static V lower_zero(Nvptx *n, Access a, const V *in) {
    (void)in, (void)a;
    Asm s = asm_begin(n);
    asm_outputs(n, &s, (Access){1, 32});
    asm_text(&s, "mov.u32 $0, %smid; shr.u32 $0, $0, 31;");
    return asm_build(n, &s);
}

/* A GPU records nothing. */
static V lower_record(Nvptx *n, Access a, const V *in) {
    (void)n, (void)in, (void)a;
    return NULL;
}

/* `word` is 16 bits there: of the result, or of what is converted. */
static V convert_e4m3(Nvptx *n, const char *text, const V *in, uint32_t count, const char *constraint) {
    if (!target_has(n->t, FEATURE_CLUSTERS)) asm_need_ptx(n, 81); /* before sm_90, whose first PTX has them */
    Asm s = asm_begin(n);
    asm_outputs(n, &s, (Access){1, 32});
    for (uint32_t i = 0; i < count; i++) asm_operand(&s, in[i], constraint);
    asm_text(&s, text);
    return asm_value(n, &s);
}

static V lower_to_e4m3(Nvptx *n, Access a, const V *in) {
    (void)a;
    return convert_e4m3(n, "{ .reg .b16 h; cvt.rn.satfinite.e4m3x2.f32 h, $2, $1; cvt.u32.u16 $0, h; }", in, 2, "f");
}

static V lower_from_e4m3(Nvptx *n, Access a, const V *in) {
    (void)a;
    return convert_e4m3(n, "{ .reg .b16 h; cvt.u16.u32 h, $1; cvt.rn.f16x2.e4m3x2 $0, h; }", in, 1, "r");
}

/* ---- The table --------------------------------------------------------------------------------------------------- */

typedef struct Row {
    Lowering *custom; /* NULL: */
    const char *intrinsic;
    uint32_t operands;
    uint64_t needs; /* features */
    uint32_t ptx;
} Row;

static const Row rows[] = {
#define INTRINSIC(e, ...) [PRIM_##e] = {.intrinsic = __VA_ARGS__},
#define CUSTOM(e, ...)    [PRIM_##e] = {.custom = __VA_ARGS__},
#include "codegen/nvptx/lower.def"
#undef INTRINSIC
#undef CUSTOM
};

/* A primitive without a row does not compile. */
enum {
#define INTRINSIC(e, ...) HAS_##e,
#define CUSTOM(e, ...)    HAS_##e,
#include "codegen/nvptx/lower.def"
#undef INTRINSIC
#undef CUSTOM
    ROW_COUNT
};
#define PRIM(e, ...) _Static_assert((int)HAS_##e == (int)PRIM_##e, "lower.def: the rows follow prims.def");
#include "codegen/prims.def"
#undef PRIM
_Static_assert((int)ROW_COUNT == (int)PRIM_COUNT, "lower.def: one row per primitive");

static V lower_intrinsic(Nvptx *n, const Row *row, V *in) {
    unsigned id = LLVMLookupIntrinsicID(row->intrinsic, strlen(row->intrinsic));
    LLVMTypeRef over = row->operands ? LLVMTypeOf(in[0]) : NULL;
    bool overloaded = LLVMIntrinsicIsOverloaded(id);
    return llvm_intrinsic(n->m, row->intrinsic, overloaded ? &over : NULL, overloaded ? 1 : 0, in, row->operands);
}

void nvptx_need(Nvptx *n, const char *name, uint64_t features, uint32_t ptx) {
    asm_need_ptx(n, ptx);
    if (!(features & ~n->t->features) || n->lacks) return;
    bool is_last = false;
    const char *first = nvptx_first_with(features, &is_last);
    diag(n->m->o->diag, n->f->span, E_NEEDS_ARCH, name, first, is_last ? " or newer" : "", n->t->name);
    n->lacks = true;
}

static V lower_call(void *context, Prim p, Access a, V call, V *in, uint32_t count) {
    Nvptx *n = context;
    const Row *row = &rows[p];
    (void)call, (void)count;
    nvptx_need(n, prim_info[p].name, row->needs, row->ptx);
    return row->custom ? row->custom(n, a, in) : lower_intrinsic(n, row, in);
}

/* ---- Shared memory, kernel, record ------------------------------------------------------------------------------- */

static bool is_product(const Op *op) {
    return op_class(op->kind) == CLASS_MATRIX;
}

static bool has(const Block *b, bool (*is_one)(const Op *op)) {
    for (const Op *op = b->first; op; op = op->next) {
        if (is_one(op)) return true;
        for (uint32_t i = 0; i < op->nregions; i++)
            if (has(op->regions[i], is_one)) return true;
    }
    return false;
}

/* Dynamic shared memory has no size of its own; its base becomes a 32-bit address. */
static void make_shared(Nvptx *n) {
    if (!n->f->shared_bytes) return;
    LLVMTypeRef t = LLVMArrayType2(n->m->i8, 0);
    LLVMValueRef base = LLVMAddGlobalInAddressSpace(n->m->module, t, "fsc_shared", SPACE_SHARED);
    uint32_t align = BUFFER_ALIGN;
    for (uint32_t i = 0; i < n->f->buffers.len; i++)
        if (n->f->buffers.at[i].align > align) align = n->f->buffers.at[i].align;
    LLVMSetAlignment(base, align);
    n->shared_base = LLVMConstPtrToInt(base, n->m->i32);
}

/* A tensor map: 128 bytes that the launch passes by value, and that nobody copies or writes. */
static void pass_map(Llvm *m, LLVMValueRef kernel, uint32_t param) {
    LLVMTypeRef bytes = LLVMArrayType2(m->i8, MAP_BYTES);
    unsigned byval = LLVMGetEnumAttributeKindForName("byval", 5);
    LLVMAddAttributeAtIndex(kernel, param + 1, LLVMCreateTypeAttribute(m->context, byval, bytes));
    LLVMAddAttributeAtIndex(kernel, param + 1, LLVMCreateStringAttribute(m->context, "nvvm.grid_constant", 18, "", 0));
    LLVMSetParamAlignment(LLVMGetParam(kernel, param), MAP_ALIGN);
}

static void make_kernel(Nvptx *n, LLVMValueRef kernel) {
    char text[32];
    LLVMSetFunctionCallConv(kernel, PTX_KERNEL);
    uint32_t threads = n->f->threads_per_program * (n->f->programs_per_block ? n->f->programs_per_block : 1);
    snprintf(text, sizeof text, "%u", threads < 32 ? 32 : threads);
    /* Packed programs: a launch may take a smaller block. */
    llvm_attribute(n->m, kernel, n->f->programs_per_block > 1 ? "nvvm.maxntid" : "nvvm.reqntid", text);
    if (n->f->scope == SCOPE_CLUSTER) {
        snprintf(text, sizeof text, "%u", n->f->blocks_per_program);
        llvm_attribute(n->m, kernel, "nvvm.cluster_dim", text);
    }
    llvm_attribute_enum(n->m, kernel, "nounwind", 0);
    for (uint32_t i = 0; i < n->f->maps.len; i++) pass_map(n->m, kernel, n->f->body->args.len + i);
}

static void make_record(Nvptx *n) {
    const char *text = n->m->o->record_text;
    if (!text) return;
    V bytes = LLVMConstStringInContext2(n->m->context, text, strlen(text), 0);
    char *name = arena_printf(n->m->o->arena, "fsc_record_%s", n->f->name);
    LLVMValueRef g = LLVMAddGlobalInAddressSpace(n->m->module, LLVMTypeOf(bytes), name, SPACE_GLOBAL);
    LLVMSetInitializer(g, bytes);
    LLVMSetGlobalConstant(g, 1);
    LLVMSetAlignment(g, 1);
}

bool nvptx_lower(Nvptx *n, LLVMValueRef kernel) {
    bool has_products = has(n->f->body, is_product);
    n->takes_offsets = has_products || !has(n->f->body, op_is_loop);
    make_shared(n);
    nvptx_make_words(n);
    prim_lower_all(n->m, lower_call, n);
    make_kernel(n, kernel);
    make_record(n);
    return !n->lacks;
}

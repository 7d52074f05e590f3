/* object.c - an object file of kernels: their tables of variants, the CPU's code, and the functions that callers see.
 *
 * In: ObjectKernels. Out: the bytes of an object file for one kind of processors, position independent.
 * Method: one module. IR of the CPU comes as text, one module a variant, is renamed, linked in and made internal; its
 * functions carry their processors as attributes, so that all else runs on any. Then arrays of bytes, tables,
 * functions.
 */
#include "codegen/hostcode.h"

#include <stdlib.h>
#include <string.h>

#include <llvm-c/IRReader.h>
#include <llvm-c/Linker.h>

typedef struct Object {
    Llvm *m;
    const CodegenOptions *o;
    LLVMTargetMachineRef machine; /* any processor of this kind */
    LLVMTypeRef variant, table;     /* fsc_object_variant, fsc_object */
} Object;

enum { CODE_ALIGNMENT = 64 };

/* ---- Data -------------------------------------------------------------------------------------------------------- */

static LLVMValueRef constant(Object *b, LLVMValueRef value, unsigned alignment) {
    LLVMValueRef g = LLVMAddGlobal(b->m->module, LLVMTypeOf(value), "");
    LLVMSetInitializer(g, value);
    LLVMSetGlobalConstant(g, true);
    LLVMSetLinkage(g, LLVMPrivateLinkage);
    LLVMSetAlignment(g, alignment);
    return g;
}

static LLVMValueRef text_constant(Object *b, const char *text) {
    return constant(b, LLVMConstStringInContext2(b->m->context, text, strlen(text), false), 1);
}

static LLVMValueRef bytes_constant(Object *b, Bytes bytes) {
    return constant(b, LLVMConstStringInContext2(b->m->context, bytes.at, bytes.len, true), CODE_ALIGNMENT);
}

/* ---- Code of the CPU --------------------------------------------------------------------------------------------- */

static bool fail(const Object *b, char *text) {
    diag(b->o->diag, (Span){0, 0}, E_LLVM_EMIT, text);
    LLVMDisposeMessage(text);
    return false;
}

static LLVMModuleRef read_ir(Object *b, Bytes ir) {
    LLVMModuleRef module = NULL;
    char *text = NULL;
    LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(ir.at, ir.len, "variant");
    if (!LLVMParseIRInContext(b->m->context, buffer, &module, &text)) return module;
    fail(b, text);
    return NULL;
}

static void set_processor(Object *b, LLVMValueRef function, const char *cpu) {
    Processor p;
    if (!processor_find(cpu, &p)) bug("object: unknown processor %s", cpu);
    llvm_attribute(b->m, function, "target-cpu", p.cpu);
    llvm_attribute(b->m, function, "target-features", p.features);
}

/* The variant's function, now of this module; NULL with an error. */
static LLVMValueRef link_ir(Object *b, const ObjectKernel *k, const ObjectVariant *v) {
    LLVMModuleRef module = read_ir(b, v->ir);
    if (!module) return NULL;
    (void)LLVMStripModuleDebugInfo(module); /* it would tell the paths of the machine that compiled it */
    LLVMValueRef function = LLVMGetNamedFunction(module, k->name);
    if (!function) bug("object: the IR of %s does not define it", k->name);
    const char *name = arena_printf(b->o->arena, "%s.cpu.%u", k->name, (unsigned)(v - k->variants));
    LLVMSetValueName2(function, name, strlen(name));
    if (LLVMLinkModules2(b->m->module, module)) return NULL; /* the context's handler has said why */
    function = LLVMGetNamedFunction(b->m->module, name);
    LLVMSetLinkage(function, LLVMInternalLinkage);
    set_processor(b, function, v->cpu);
    return function;
}

/* ---- Tables ------------------------------------------------------------------------------------------------------ */

static LLVMValueRef variant_entry(Object *b, const ObjectKernel *k, const ObjectVariant *v) {
    Llvm *m = b->m;
    LLVMValueRef function = v->ir.len ? link_ir(b, k, v) : LLVMConstNull(m->ptr);
    if (!function) return NULL;
    LLVMValueRef fields[] = {text_constant(b, v->arch),
                             bytes_constant(b, v->code),
                             llvm_int(m->i64, (int64_t)v->code.len),
                             function,
                             llvm_int(m->i64, (int64_t)v->scratch_bytes),
                             llvm_int(m->i64, (int64_t)v->number)};
    return LLVMConstNamedStruct(b->variant, fields, COUNT(fields));
}

static LLVMValueRef table(Object *b, const ObjectKernel *k) {
    Llvm *m = b->m;
    LLVMValueRef *entries = NEW_ARRAY(b->o->arena, LLVMValueRef, k->num_variants + 1);
    for (uint32_t i = 0; i < k->num_variants; i++) {
        entries[i] = variant_entry(b, k, &k->variants[i]);
        if (!entries[i]) return NULL;
    }
    LLVMValueRef fields[] = {llvm_int(m->i64, OBJECT_ABI), text_constant(b, k->name),
                             constant(b, LLVMConstArray2(b->variant, entries, k->num_variants), 8),
                             llvm_int(m->i64, k->num_variants), LLVMConstNull(m->ptr)};
    LLVMValueRef g = LLVMAddGlobal(m->module, b->table, k->symbol);
    LLVMSetInitializer(g, LLVMConstNamedStruct(b->table, fields, COUNT(fields)));
    LLVMSetAlignment(g, 8);
    return g;
}

/* ---- Functions --------------------------------------------------------------------------------------------------- */

/* As the C type in the header is passed. */
static LLVMTypeRef param_type(const Llvm *m, ObjectParam p) {
    switch (p) {
    case OBJECT_POINTER: return m->ptr;
    case OBJECT_I8: return m->i8;
    case OBJECT_I16: return m->i16;
    case OBJECT_I32: return m->i32;
    case OBJECT_I64: return m->i64;
    case OBJECT_F32: return m->f32;
    case OBJECT_F64: return m->f64;
    }
    bug("object: parameter kind %d", (int)p);
}

/* status NAME(stream, [grid,] parameters): its arguments into the frame, pointers to them into an array. */
static void function(Object *b, const ObjectKernel *k, LLVMValueRef object) {
    Llvm *m = b->m;
    uint32_t first = k->takes_grid ? 2 : 1, n = first + k->num_params;
    LLVMTypeRef *types = NEW_ARRAY(b->o->arena, LLVMTypeRef, n);
    for (uint32_t i = 0; i < n; i++) types[i] = i < first ? m->ptr : param_type(m, k->params[i - first]);
    LLVMValueRef f = LLVMAddFunction(m->module, k->function, LLVMFunctionType(m->i32, types, n, false));
    llvm_attribute_enum(m, f, "nounwind", 0);
    LLVMPositionBuilderAtEnd(m->at, LLVMAppendBasicBlockInContext(m->context, f, ""));
    LLVMTypeRef array = LLVMArrayType2(m->ptr, k->num_params);
    LLVMValueRef values = LLVMBuildAlloca(m->at, array, "");
    for (uint32_t i = 0; i < k->num_params; i++) {
        LLVMValueRef place = LLVMBuildAlloca(m->at, types[first + i], ""), index = llvm_int(m->i64, i);
        LLVMBuildStore(m->at, LLVMGetParam(f, first + i), place);
        LLVMBuildStore(m->at, place, LLVMBuildInBoundsGEP2(m->at, m->ptr, values, &index, 1, ""));
    }
    LLVMTypeRef takes[] = {m->ptr, m->ptr, m->ptr, m->ptr};
    LLVMValueRef launch = llvm_declare(m, "fsc_object_launch", LLVMFunctionType(m->i32, takes, COUNT(takes), false));
    LLVMValueRef grid = k->takes_grid ? LLVMGetParam(f, 1) : LLVMConstNull(m->ptr);
    LLVMBuildRet(m->at, llvm_call(m, launch, (LLVMValueRef[]){object, LLVMGetParam(f, 0), grid, values}, COUNT(takes)));
}

/* ---- The whole --------------------------------------------------------------------------------------------------- */

typedef struct Work {
    const ObjectKernel *kernels;
    uint32_t n;
    const char *cpu;
    const CodegenOptions *o;
    Bytes *out;
    bool ok;
} Work;

static bool build(Work *w, Object *b) {
    for (uint32_t i = 0; i < w->n; i++) {
        LLVMValueRef object = table(b, &w->kernels[i]);
        if (!object) return false;
        function(b, &w->kernels[i], object);
    }
    llvm_verify(b->m, "the object was built");
    return llvm_emit(b->m, b->machine, LLVMObjectFile, w->out);
}

static void work(void *context) {
    Work *w = context;
    Llvm *m = llvm_create(w->o, "object", (Span){0, 0});
    Object b = {.m = m, .o = w->o};
    Processor p, any;
    if (!processor_find(w->cpu, &p)) bug("object: unknown processor %s", w->cpu);
    any = processor_any(&p);
    b.machine = llvm_machine_of(&any, w->o->opt_level);
    llvm_set_machine(m, b.machine);
    LLVMTypeRef variant[] = {m->ptr, m->ptr, m->i64, m->ptr, m->i64, m->i64};
    LLVMTypeRef object[] = {m->i64, m->ptr, m->ptr, m->i64, m->ptr};
    b.variant = LLVMStructCreateNamed(m->context, "fsc_object_variant");
    b.table = LLVMStructCreateNamed(m->context, "fsc_object");
    LLVMStructSetBody(b.variant, variant, COUNT(variant), false);
    LLVMStructSetBody(b.table, object, COUNT(object), false);
    w->ok = build(w, &b);
    llvm_destroy(m);
    llvm_machine_give(b.machine, w->o->opt_level);
}

bool codegen_object(const ObjectKernel *kernels, uint32_t n, const char *cpu, const CodegenOptions *o, Bytes *out) {
    Work w = {.kernels = kernels, .n = n, .cpu = cpu, .o = o, .out = out};
    return llvm_guard(o, (Span){0, 0}, work, &w) && w.ok;
}

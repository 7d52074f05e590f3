/* llvm.c - the wrapper of LLVM's C API: modules, fatal errors, passes, emission, line info.
 *
 * In: calls of the code generators. Out: LLVM's results in fsc's arenas, LLVM's errors as diagnostics.
 * Method: one process-wide fatal handler jumps back to the innermost llvm_guard() of its thread; a diagnostic handler
 * per context turns selection errors into diagnostics. Targets are registered once, on first use; so are options.
 */
#include "codegen/llvm.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/Error.h>
#include <llvm-c/ErrorHandling.h>
#include <llvm-c/Support.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <llvm/Config/llvm-config.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- Staying alive ----------------------------------------------------------------------------------------------- */

typedef struct Guard {
    jmp_buf back;
    const CodegenOptions *o;
    Span where;
} Guard;

static _Thread_local Guard *guard_current;
static pthread_once_t process_once = PTHREAD_ONCE_INIT;

static void fatal_error(const char *reason) {
    Guard *g = guard_current;
    if (!g) bug("LLVM failed outside a guard: %s", reason);
    guard_current = NULL;
    diag(g->o->diag, g->where, E_LLVM_COMPILE, reason);
    longjmp(g->back, 1);
}

/* LLVM's slsr compares each sum of a thread with the others, most of a compile's time; codegen/nvptx/steps.c does its
 * work. It has no switch but this one of the process. */
static const char *const llvm_options[] = {"fsc", "-opt-disable=slsr"};

static void begin_process(void) {
    LLVMInstallFatalErrorHandler(fatal_error);
    LLVMParseCommandLineOptions(COUNT(llvm_options), llvm_options, NULL);
}

bool llvm_guard(const CodegenOptions *o, Span where, void (*work)(void *context), void *context) {
    pthread_once(&process_once, begin_process);
    Guard g;
    g.o = o;
    g.where = where;
    if (setjmp(g.back)) return false;
    guard_current = &g;
    work(context);
    guard_current = NULL;
    return true;
}

static void on_diagnostic(LLVMDiagnosticInfoRef info, void *context) {
    Llvm *m = context;
    if (LLVMGetDiagInfoSeverity(info) != LLVMDSError) return;
    char *text = LLVMGetDiagInfoDescription(info);
    m->failed = true;
    diag(m->o->diag, m->where, E_LLVM_COMPILE, text);
    LLVMDisposeMessage(text);
}

/* ---- Modules ----------------------------------------------------------------------------------------------------- */

Llvm *llvm_create(const CodegenOptions *o, const char *name, Span where) {
    Llvm *m = NEW(o->arena, Llvm);
    m->o = o;
    m->where = where;
    m->context = LLVMContextCreate();
    LLVMContextSetDiagnosticHandler(m->context, on_diagnostic, m);
    m->module = LLVMModuleCreateWithNameInContext(name, m->context);
    m->at = LLVMCreateBuilderInContext(m->context);
    m->none = LLVMVoidTypeInContext(m->context);
    m->i1 = LLVMInt1TypeInContext(m->context);
    m->i8 = LLVMInt8TypeInContext(m->context);
    m->i16 = LLVMInt16TypeInContext(m->context);
    m->i32 = LLVMInt32TypeInContext(m->context);
    m->i64 = LLVMInt64TypeInContext(m->context);
    m->f16 = LLVMHalfTypeInContext(m->context);
    m->bf16 = LLVMBFloatTypeInContext(m->context);
    m->f32 = LLVMFloatTypeInContext(m->context);
    m->f64 = LLVMDoubleTypeInContext(m->context);
    m->ptr = LLVMPointerTypeInContext(m->context, 0);
    return m;
}

void llvm_destroy(Llvm *m) {
    if (!m) return;
    if (m->debug) LLVMDisposeDIBuilder(m->debug);
    LLVMDisposeBuilder(m->at);
    LLVMDisposeModule(m->module);
    LLVMContextDispose(m->context);
}

void llvm_verify(Llvm *m, const char *when) {
    char *text = NULL;
    if (!LLVMVerifyModule(m->module, LLVMReturnStatusAction, &text)) {
        LLVMDisposeMessage(text);
        return;
    }
    bug("unsound LLVM module %s: %s", when, text);
}

Bytes llvm_text(Llvm *m) {
    char *text = LLVMPrintModuleToString(m->module);
    Bytes b = {NULL, strlen(text)};
    b.at = arena_strndup(m->o->arena, text, b.len);
    LLVMDisposeMessage(text);
    return b;
}

bool llvm_run_passes(Llvm *m, LLVMTargetMachineRef machine, const char *pipeline) {
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef e = LLVMRunPasses(m->module, pipeline, machine, options);
    LLVMDisposePassBuilderOptions(options);
    if (e) {
        char *text = LLVMGetErrorMessage(e);
        diag(m->o->diag, m->where, E_LLVM_OPTIMISE, text);
        LLVMDisposeErrorMessage(text);
        return false;
    }
    return !m->failed;
}

bool llvm_emit(Llvm *m, LLVMTargetMachineRef machine, LLVMCodeGenFileType kind, Bytes *out) {
    char *message = NULL;
    LLVMMemoryBufferRef buffer = NULL;
    if (LLVMTargetMachineEmitToMemoryBuffer(machine, m->module, kind, &message, &buffer)) {
        diag(m->o->diag, m->where, E_LLVM_EMIT, message);
        LLVMDisposeMessage(message);
        return false;
    }
    out->len = LLVMGetBufferSize(buffer);
    out->at = arena_strndup(m->o->arena, LLVMGetBufferStart(buffer), out->len);
    LLVMDisposeMemoryBuffer(buffer);
    return !m->failed;
}

/* ---- Machines ---------------------------------------------------------------------------------------------------- */

static LLVMTargetMachineRef machine_create(const char *triple, const char *cpu, const char *features, int opt_level) {
    LLVMTargetRef target = NULL;
    char *message = NULL;
    if (LLVMGetTargetFromTriple(triple, &target, &message)) bug("LLVM has no target %s: %s", triple, message);
    LLVMCodeGenOptLevel level = opt_level <= 0 ? LLVMCodeGenLevelNone : LLVMCodeGenLevelDefault;
    LLVMTargetMachineRef machine =
        LLVMCreateTargetMachine(target, triple, cpu, features, level, LLVMRelocPIC, LLVMCodeModelDefault);
    LLVMSetTargetMachineGlobalISel(machine, false); /* it remembers places of a module that is gone */
    return machine;
}

/* Making a machine takes a third of a millisecond,
 * so those that are done with wait here for the next compile of their kind. */
typedef struct Idle {
    LLVMTargetMachineRef machine;
    int opt_level;
} Idle;

static pthread_mutex_t idle_lock = PTHREAD_MUTEX_INITIALIZER;
static Idle idle[8];
static size_t idle_oldest; /* counts up: the slot that gives way next, where none is free */

static bool string_is(char *of_llvm, const char *text) {
    bool is = strcmp(of_llvm, text) == 0;
    LLVMDisposeMessage(of_llvm);
    return is;
}

static bool machine_is(LLVMTargetMachineRef machine, const char *triple, const char *cpu, const char *features) {
    return string_is(LLVMGetTargetMachineCPU(machine), cpu) &&
           string_is(LLVMGetTargetMachineFeatureString(machine), features) &&
           string_is(LLVMGetTargetMachineTriple(machine), triple);
}

LLVMTargetMachineRef llvm_machine_take(const char *triple, const char *cpu, const char *features, int opt_level) {
    LLVMTargetMachineRef found = NULL;
    pthread_mutex_lock(&idle_lock);
    for (size_t i = 0; i < COUNT(idle) && !found; i++) {
        if (!idle[i].machine || idle[i].opt_level != opt_level || !machine_is(idle[i].machine, triple, cpu, features))
            continue;
        found = idle[i].machine;
        idle[i].machine = NULL;
    }
    pthread_mutex_unlock(&idle_lock);
    return found ? found : machine_create(triple, cpu, features, opt_level);
}

LLVMTargetMachineRef llvm_machine_of(const Processor *p, int opt_level) {
    return llvm_machine_take(p->triple, p->cpu, p->features, opt_level);
}

void llvm_machine_give(LLVMTargetMachineRef machine, int opt_level) {
    if (!machine) return;
    pthread_mutex_lock(&idle_lock);
    size_t i = 0;
    while (i < COUNT(idle) && idle[i].machine) i++;
    if (i == COUNT(idle)) i = idle_oldest++ % COUNT(idle);
    LLVMTargetMachineRef old = idle[i].machine;
    idle[i] = (Idle){machine, opt_level};
    pthread_mutex_unlock(&idle_lock);
    if (old) LLVMDisposeTargetMachine(old);
}

void llvm_set_machine(Llvm *m, LLVMTargetMachineRef machine) {
    char *triple = LLVMGetTargetMachineTriple(machine);
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(machine);
    LLVMSetTarget(m->module, triple);
    LLVMSetModuleDataLayout(m->module, layout);
    LLVMDisposeTargetData(layout);
    LLVMDisposeMessage(triple);
}

/* ---- Small pieces ------------------------------------------------------------------------------------------------ */

LLVMTypeRef llvm_type(const Llvm *m, DType d) {
    switch (d) {
    case DT_I1: return m->i1;
    case DT_I8:
    case DT_FP8E4NV:
    case DT_FP8E5: return m->i8;
    case DT_I16: return m->i16;
    case DT_I32: return m->i32;
    case DT_I64: return m->i64;
    case DT_FP16: return m->f16;
    case DT_BF16: return m->bf16;
    case DT_FP32: return m->f32;
    case DT_FP64: return m->f64;
    case DT_PTR: return m->ptr;
    case DT_COUNT: break;
    }
    bug("llvm_type: element type %d", (int)d);
}

LLVMTypeRef llvm_like(LLVMTypeRef scalar, LLVMTypeRef shape) {
    return LLVMGetTypeKind(shape) == LLVMVectorTypeKind ? LLVMVectorType(scalar, LLVMGetVectorSize(shape)) : scalar;
}

static LLVMValueRef splat(LLVMTypeRef t, LLVMValueRef x) {
    unsigned n = LLVMGetVectorSize(t);
    LLVMValueRef lanes[64];
    if (n > COUNT(lanes)) bug("splat: a vector of %u elements", n);
    for (unsigned i = 0; i < n; i++) lanes[i] = x;
    return LLVMConstVector(lanes, n);
}

LLVMValueRef llvm_int(LLVMTypeRef t, int64_t value) {
    if (LLVMGetTypeKind(t) == LLVMVectorTypeKind) return splat(t, llvm_int(LLVMGetElementType(t), value));
    /* The C API insists that the value fits: cut it to the width first. */
    unsigned width = LLVMGetIntTypeWidth(t);
    uint64_t bits = (uint64_t)value;
    if (width < 64) bits &= (UINT64_C(1) << width) - 1;
    return LLVMConstInt(t, bits, 0);
}

LLVMValueRef llvm_real(LLVMTypeRef t, double value) {
    if (LLVMGetTypeKind(t) == LLVMVectorTypeKind) return splat(t, llvm_real(LLVMGetElementType(t), value));
    return LLVMConstReal(t, value);
}

LLVMValueRef llvm_bits(const Llvm *m, DType d, int64_t bits) {
    LLVMTypeRef t = llvm_type(m, d);
    if (d == DT_PTR) return LLVMConstIntToPtr(llvm_int(m->i64, bits), m->ptr);
    if (LLVMGetTypeKind(t) == LLVMIntegerTypeKind) return llvm_int(t, bits);
    LLVMTypeRef as_int = LLVMIntTypeInContext(m->context, dtype_bits(d));
    return LLVMConstBitCast(llvm_int(as_int, bits), t);
}

LLVMValueRef llvm_intrinsic(Llvm *m, const char *name, LLVMTypeRef *over, unsigned n_over, LLVMValueRef *args,
                            unsigned n) {
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    size_t len = 0;
    const char *base = id ? LLVMIntrinsicGetName(id, &len) : "";
    /* LLVM looks up by prefix: "llvm.nvvm.barrier0.anything" would find a shorter name. */
    if (!id || len != strlen(name) || memcmp(base, name, len)) bug("LLVM has no intrinsic %s", name);
    if ((n_over > 0) != (LLVMIntrinsicIsOverloaded(id) != 0)) bug("intrinsic %s: overloading does not fit", name);
    LLVMValueRef f = LLVMGetIntrinsicDeclaration(m->module, id, over, n_over);
    return LLVMBuildCall2(m->at, LLVMGlobalGetValueType(f), f, args, n, "");
}

LLVMValueRef llvm_splat(Llvm *m, LLVMValueRef x, uint32_t width) {
    if (width == 1) return x;
    LLVMTypeRef t = LLVMVectorType(LLVMTypeOf(x), width);
    LLVMValueRef one = LLVMBuildInsertElement(m->at, LLVMGetPoison(t), x, llvm_int(m->i32, 0), "");
    LLVMValueRef zeros = LLVMConstNull(LLVMVectorType(m->i32, width));
    return LLVMBuildShuffleVector(m->at, one, LLVMGetPoison(t), zeros, "");
}

LLVMValueRef llvm_unary(Llvm *m, const char *name, LLVMValueRef x) {
    LLVMTypeRef t = LLVMTypeOf(x);
    return llvm_intrinsic(m, name, &t, 1, &x, 1);
}

LLVMValueRef llvm_binary(Llvm *m, const char *name, LLVMValueRef x, LLVMValueRef y) {
    LLVMTypeRef t = LLVMTypeOf(x);
    LLVMValueRef args[] = {x, y};
    return llvm_intrinsic(m, name, &t, 1, args, 2);
}

LLVMValueRef llvm_ternary(Llvm *m, const char *name, LLVMValueRef x, LLVMValueRef y, LLVMValueRef z) {
    LLVMTypeRef t = LLVMTypeOf(x);
    LLVMValueRef args[] = {x, y, z};
    return llvm_intrinsic(m, name, &t, 1, args, 3);
}

LLVMValueRef llvm_frame(Llvm *m, LLVMTypeRef t) {
    LLVMValueRef function = LLVMGetBasicBlockParent(LLVMGetInsertBlock(m->at));
    LLVMBuilderRef b = LLVMCreateBuilderInContext(m->context);
    LLVMPositionBuilderBefore(b, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function)));
    LLVMValueRef slot = LLVMBuildAlloca(b, t, "");
    LLVMDisposeBuilder(b);
    return slot;
}

LLVMValueRef llvm_debug_bits(Llvm *m, LLVMValueRef x, bool is_signed) {
    LLVMTypeRef t = LLVMTypeOf(x);
    if (t == m->ptr) return LLVMBuildPtrToInt(m->at, x, m->i64, "");
    if (t == m->f32) x = LLVMBuildFPExt(m->at, x, m->f64, "");
    if (t == m->f32 || t == m->f64) return LLVMBuildBitCast(m->at, x, m->i64, "");
    if (t == m->i64) return x;
    return is_signed ? LLVMBuildSExt(m->at, x, m->i64, "") : LLVMBuildZExt(m->at, x, m->i64, "");
}

LLVMValueRef llvm_declare(Llvm *m, const char *name, LLVMTypeRef type) {
    LLVMValueRef f = LLVMGetNamedFunction(m->module, name);
    if (!f) f = LLVMAddFunction(m->module, name, type);
    if (LLVMGlobalGetValueType(f) != type) bug("%s is declared twice with different types", name);
    return f;
}

/* LLVM only reads the operands. */
LLVMValueRef llvm_call(Llvm *m, LLVMValueRef function, const LLVMValueRef *args, unsigned n) {
    return LLVMBuildCall2(m->at, LLVMGlobalGetValueType(function), function, (LLVMValueRef *)args, n, "");
}

void llvm_attribute(Llvm *m, LLVMValueRef function, const char *key, const char *value) {
    LLVMAttributeRef a =
        LLVMCreateStringAttribute(m->context, key, (unsigned)strlen(key), value, (unsigned)strlen(value));
    LLVMAddAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, a);
}

void llvm_attribute_enum(Llvm *m, LLVMValueRef function, const char *name, uint64_t value) {
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    if (!kind) bug("LLVM has no attribute %s", name);
    LLVMAddAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                            LLVMCreateEnumAttribute(m->context, kind, value));
}

/* ---- Line info --------------------------------------------------------------------------------------------------- */

/* LLVM's C enum ends at 2; 3 is its DebugDirectivesOnly: `.loc` and `.file`, no `.target debug`, no DWARF sections. */
enum { EMISSION_DIRECTIVES = 3 };

/* A file's name as PTX can have it in quotes: ASCII, as ptxas reads no escapes as LLVM writes them. */
static const char *plain_name(Llvm *m, const char *name) {
    char *plain = arena_strndup(m->o->arena, name, strlen(name));
    for (char *at = plain; *at; at++)
        if (*at == '"' || *at == '\\' || *at < ' ' || *at > '~') *at = '_';
    return plain;
}

static LLVMMetadataRef debug_file(Llvm *m, const char *name) {
    const char *directory = m->o->directory ? m->o->directory : "";
    return LLVMDIBuilderCreateFile(m->debug, name, strlen(name), directory, strlen(directory));
}

void llvm_debug_function(Llvm *m, LLVMValueRef function, const char *name, Span span) {
    if (!m->o->line_info) return;
    Place p = diag_place(m->o->diag, span);
    m->scope_file = plain_name(m, m->o->file ? m->o->file : p.source ? p.source->name : "<none>");
    m->debug = LLVMCreateDIBuilder(m->module);
    LLVMMetadataRef version = LLVMValueAsMetadata(llvm_int(m->i32, 3));
    LLVMAddModuleFlag(m->module, LLVMModuleFlagBehaviorWarning, "Debug Info Version", 18, version);
    LLVMMetadataRef file = debug_file(m, m->scope_file);
    LLVMDIBuilderCreateCompileUnit(m->debug, LLVMDWARFSourceLanguageC, file, "fsc", 3, 1, "", 0, 0, "", 0,
                                   (LLVMDWARFEmissionKind)EMISSION_DIRECTIVES, 0, 0, 0, "", 0, "", 0);
    LLVMMetadataRef type = LLVMDIBuilderCreateSubroutineType(m->debug, file, NULL, 0, LLVMDIFlagZero);
    m->scope = LLVMDIBuilderCreateFunction(m->debug, file, name, strlen(name), name, strlen(name), file, p.line, type,
                                           0, 1, p.line, LLVMDIFlagZero, 1);
    m->scope_source = p.source;
    LLVMSetSubprogram(function, m->scope);
}

/* The scope for a line of `source`: the function's own, or a block that names the other file. */
static LLVMMetadataRef debug_scope(Llvm *m, const Source *source) {
    if (source == m->scope_source) return m->scope;
    for (uint32_t i = 0; i < m->other_sources.len; i++)
        if (m->other_sources.at[i] == source) return m->other_scopes.at[i];
    LLVMMetadataRef s =
        LLVMDIBuilderCreateLexicalBlockFile(m->debug, m->scope, debug_file(m, plain_name(m, source->name)), 0);
    vec_push(m->o->arena, &m->other_sources, source);
    vec_push(m->o->arena, &m->other_scopes, s);
    return s;
}

void llvm_debug_line(Llvm *m, uint32_t line, uint32_t column) {
    if (!m->debug) return;
    LLVMSetCurrentDebugLocation2(m->at, LLVMDIBuilderCreateDebugLocation(m->context, line, column, m->scope, NULL));
}

void llvm_debug_at(Llvm *m, Span span) {
    if (!m->debug) return;
    if (m->o->op_lines) {
        llvm_debug_line(m, 1, 0); /* of no op */
        return;
    }
    Place p = diag_place(m->o->diag, span);
    LLVMMetadataRef scope = p.source ? debug_scope(m, p.source) : m->scope;
    LLVMMetadataRef at = LLVMDIBuilderCreateDebugLocation(m->context, p.line, p.col, scope, NULL);
    LLVMSetCurrentDebugLocation2(m->at, at);
}

void llvm_debug_finish(Llvm *m) {
    if (m->debug) LLVMDIBuilderFinalize(m->debug);
}

/* ---- Time -------------------------------------------------------------------------------------------------------- */

double llvm_clock(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void llvm_report_time(const CodegenOptions *o, const char *phase, double since) {
    if (o->timer) o->timer(o->timer_context, phase, llvm_clock() - since);
}

uint64_t llvm_instructions(LLVMValueRef function) {
    uint64_t n = 0;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef at = LLVMGetFirstInstruction(b); at; at = LLVMGetNextInstruction(at)) n++;
    return n;
}

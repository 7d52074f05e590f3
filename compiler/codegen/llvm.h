/* llvm.h - what every code generator needs of LLVM: one module under construction,
 * and the calls that could end the process.
 *
 * In: a CodegenOptions. Out: an Llvm whose context, module and builder the generators use through LLVM's own C API.
 * Method: everything that creates, builds, optimises or emits runs inside llvm_guard(): LLVM's fatal errors come back
 * as a diagnostic and false, never as exit(). Types and small constants are kept here so that generators read like the
 * IR.
 */
#ifndef FSC_CODEGEN_LLVM_H
#define FSC_CODEGEN_LLVM_H

#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>
#include <llvm-c/TargetMachine.h>

#include "codegen/codegen.h"
#include "codegen/processor.h"

/* What a print or assert shows that is known now. */
typedef struct DebugNote {
    const char *text;
    const char *format; /* C's, of 64 bits or a double; NULL: there is no value */
    bool is_float;
    Shape shape;
    Span span;
} DebugNote;

typedef struct Llvm {
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMBuilderRef at; /* where new instructions go; fast-math flags and `contract` are never set */
    LLVMTypeRef none, i1, i8, i16, i32, i64, f16, bf16, f32, f64, ptr;
    const CodegenOptions *o;
    Span where;  /* what an error of LLVM's without a place is reported at: the kernel's name */
    VEC(Span) sites; /* what the sites of device primitives index: Func.sites, then those of other ops */
    VEC(DebugNote) notes; /* what the primitives of print and assert name by number */
    bool failed; /* LLVM's diagnostic handler saw an error */
    /* Line info; NULL where o->line_info is off. */
    LLVMDIBuilderRef debug;
    LLVMMetadataRef scope;          /* the function's DISubprogram */
    const Source *scope_source;     /* the source of the function */
    const char *scope_file;         /* its name in line info */
    VEC(const Source *) other_sources; /* of inlined library code, with a lexical block each */
    VEC(LLVMMetadataRef) other_scopes;
} Llvm;

/* ---- Staying alive ----------------------------------------------------------------------------------------------- */

/* Runs work(context). False if LLVM reported a fatal error meanwhile: it is then an error in o->diag at `where`, and
 * the LLVM objects made inside must not be touched again (they leak: LLVM is not exception safe). Not nested; per
 * thread. */
bool llvm_guard(const CodegenOptions *o, Span where, void (*work)(void *context), void *context);

/* ---- Modules ----------------------------------------------------------------------------------------------------- */

/* A context with one empty module. Errors LLVM reports go to o->diag at `where`. Lives until llvm_destroy. */
Llvm *llvm_create(const CodegenOptions *o, const char *name, Span where);
void llvm_destroy(Llvm *m); /* NULL is allowed */
/* bug() with LLVM's complaint if the module is unsound; `when` says after which step. */
void llvm_verify(Llvm *m, const char *when);
/* The module as text, in o->arena. */
Bytes llvm_text(Llvm *m);
/* LLVM's pass pipeline in opt -passes= notation; false with an error in o->diag. */
bool llvm_run_passes(Llvm *m, LLVMTargetMachineRef machine, const char *pipeline);
/* Assembly or object bytes in o->arena; false with an error in o->diag. */
bool llvm_emit(Llvm *m, LLVMTargetMachineRef machine, LLVMCodeGenFileType kind, Bytes *out);

/* A machine of a registered target. Its processor and features must be ones that LLVM knows: on others it aborts. */
LLVMTargetMachineRef llvm_machine_take(const char *triple, const char *cpu, const char *features, int opt_level);
LLVMTargetMachineRef llvm_machine_of(const Processor *p, int opt_level); /* likewise */
/* Gives it back, once its module is emitted: kept for another compile. Not after a fatal error. NULL is allowed. */
void llvm_machine_give(LLVMTargetMachineRef machine, int opt_level);
void llvm_set_machine(Llvm *m, LLVMTargetMachineRef machine); /* the module's triple and data layout */

/* ---- Small pieces ------------------------------------------------------------------------------------------------ */

LLVMTypeRef llvm_type(const Llvm *m, DType d); /* fp8 as i8, pointers as ptr */
LLVMTypeRef llvm_like(LLVMTypeRef scalar, LLVMTypeRef shape); /* `scalar`, as a vector if `shape` is one */
/* Constants of a scalar type, or splats of a vector type. */
LLVMValueRef llvm_int(LLVMTypeRef t, int64_t value);
LLVMValueRef llvm_real(LLVMTypeRef t, double value);
LLVMValueRef llvm_bits(const Llvm *m, DType d, int64_t bits); /* a constant's bits as ATTR_BITS holds them */
/* An intrinsic by its full base name ("llvm.fma"), overloaded on `n_over` types; an unknown name is a bug. */
LLVMValueRef llvm_intrinsic(Llvm *m, const char *name, LLVMTypeRef *over, unsigned n_over, LLVMValueRef *args,
                            unsigned n);
LLVMValueRef llvm_splat(Llvm *m, LLVMValueRef x, uint32_t width); /* x in each lane; width 1: x itself */
LLVMValueRef llvm_unary(Llvm *m, const char *name, LLVMValueRef x); /* overloaded on the operand's type */
LLVMValueRef llvm_binary(Llvm *m, const char *name, LLVMValueRef x, LLVMValueRef y);
LLVMValueRef llvm_ternary(Llvm *m, const char *name, LLVMValueRef x, LLVMValueRef y, LLVMValueRef z);
/* x, an integer, float or pointer, as 64 bits: a float as the double's. */
LLVMValueRef llvm_debug_bits(Llvm *m, LLVMValueRef x, bool is_signed);
/* Room for a value of type t in the frame of the function under the builder, which stays where it is. */
LLVMValueRef llvm_frame(Llvm *m, LLVMTypeRef t);
/* A function by name, declared on first use. */
LLVMValueRef llvm_declare(Llvm *m, const char *name, LLVMTypeRef type);
LLVMValueRef llvm_call(Llvm *m, LLVMValueRef function, const LLVMValueRef *args, unsigned n);
void llvm_attribute(Llvm *m, LLVMValueRef function, const char *key, const char *value); /* a string attribute */
void llvm_attribute_enum(Llvm *m, LLVMValueRef function, const char *name, uint64_t value);

/* ---- Tuples (tuple.c): structs of n values of one type ----------------------------------------------------------- */

LLVMTypeRef tuple_type(Llvm *m, LLVMTypeRef kind, uint32_t n);
LLVMValueRef tuple_make(Llvm *m, const LLVMValueRef *values, uint32_t n);
bool tuple_is(LLVMTypeRef t);
uint32_t tuple_length(LLVMTypeRef t);
/* All values at once, in the arena: those that were put in, where the tuple was made here. */
LLVMValueRef *tuple_values(Llvm *m, LLVMValueRef tuple);
void tuple_drop(LLVMValueRef tuple); /* the instructions that made it, as far as nobody else uses them */

/* ---- Line info --------------------------------------------------------------------------------------------------- */

/* A compile unit and a subprogram for `function`; nothing without o->line_info. Directives only: `.loc`, no DWARF. */
void llvm_debug_function(Llvm *m, LLVMValueRef function, const char *name, Span span);
void llvm_debug_at(Llvm *m, Span span); /* instructions built from here on belong to `span` */
void llvm_debug_line(Llvm *m, uint32_t line, uint32_t column); /* to these numbers */
void llvm_debug_finish(Llvm *m);        /* once, before passes run */

/* ---- Time -------------------------------------------------------------------------------------------------------- */

double llvm_clock(void);                                                         /* seconds, monotonic */
void llvm_report_time(const CodegenOptions *o, const char *phase, double since); /* to o->timer, if any */

uint64_t llvm_instructions(LLVMValueRef function); /* in all its blocks */

#endif

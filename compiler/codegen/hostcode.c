/* hostcode.c - objects into this process, and the handle of what came of them.
 *
 * In: an object's bytes, the entry's name. Out: a HostCode that owns the JIT and the list of sites.
 */
#include "codegen/hostcode.h"

#include <stdlib.h>
#include <string.h>

#include <llvm-c/Orc.h>

HostCode *hostcode_create(void) {
    HostCode *h = calloc(1, sizeof *h);
    if (!h) bug("out of memory");
    return h;
}

void hostcode_destroy(HostCode *h) {
    if (!h) return;
    if (h->jit) {
        LLVMErrorRef error = LLVMOrcDisposeLLJIT(h->jit);
        if (error) LLVMConsumeError(error);
    }
    free(h->sites);
    free((void *)(uintptr_t)h->counters.lines);
    free(h);
}

void hostcode_set_sites(HostCode *h, const Span *sites, size_t n) {
    h->sites = calloc(n + 1, sizeof *h->sites);
    if (!h->sites) bug("out of memory");
    if (n) memcpy(h->sites, sites, n * sizeof *sites);
    h->num_sites = n;
}

static uintptr_t fail(const CodegenOptions *o, Span where, LLVMErrorRef error) {
    char *text = LLVMGetErrorMessage(error);
    diag(o->diag, where, E_HOST_JIT, text);
    LLVMDisposeErrorMessage(text);
    return 0;
}

/* For any processor: the JIT links objects that are compiled, and would ask this one for all that it can do. */
static LLVMErrorRef jit_create(LLVMOrcLLJITRef *jit) {
    Processor any = processor_any(NULL);
    LLVMOrcLLJITBuilderRef builder = LLVMOrcCreateLLJITBuilder();
    LLVMOrcJITTargetMachineBuilderRef machine =
        LLVMOrcJITTargetMachineBuilderCreateFromTargetMachine(llvm_machine_of(&any, 0));
    LLVMOrcLLJITBuilderSetJITTargetMachineBuilder(builder, machine);
    return LLVMOrcCreateLLJIT(jit, builder);
}

uintptr_t hostcode_link(HostCode *h, Bytes object, const char *symbol, const CodegenOptions *o, Span where) {
    h->object = object;
    h->symbol = symbol;
    LLVMErrorRef error = jit_create(&h->jit);
    if (error) {
        h->jit = NULL;
        return fail(o, where, error);
    }
    LLVMOrcJITDylibRef library = LLVMOrcLLJITGetMainJITDylib(h->jit);
    LLVMOrcDefinitionGeneratorRef process = NULL;
    char prefix = LLVMOrcLLJITGetGlobalPrefix(h->jit);
    error = LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess(&process, prefix, NULL, NULL);
    if (!error) {
        LLVMOrcJITDylibAddGenerator(library, process);
        LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(object.at, object.len, symbol);
        error = LLVMOrcLLJITAddObjectFile(h->jit, library, buffer);
    }
    LLVMOrcExecutorAddress address = 0;
    if (!error) error = LLVMOrcLLJITLookup(h->jit, &address, symbol);
    return error ? fail(o, where, error) : (uintptr_t)address;
}

typedef struct Load {
    HostCode *code;
    Bytes object;
    const char *symbol;
    const CodegenOptions *o;
    uintptr_t entry;
} Load;

static void load(void *context) {
    Load *l = context;
    processor_register();
    l->entry = hostcode_link(l->code, l->object, l->symbol, l->o, (Span){0, 0});
}

HostCode *hostcode_load(Bytes object, const char *symbol, bool is_thread, size_t scratch_bytes,
                        const CodegenOptions *o) {
    Load l = {.code = hostcode_create(), .object = object, .symbol = symbol, .o = o};
    if (!llvm_guard(o, (Span){0, 0}, load, &l) || !l.entry) {
        hostcode_destroy(l.code);
        return NULL;
    }
    if (is_thread) l.code->thread = (EmuKernel *)l.entry;
    else l.code->entry = (HostKernel *)l.entry;
    l.code->scratch_bytes = scratch_bytes;
    return l.code;
}

bool hostcode_set_counters(HostCode *h, const Counting *rows, const CodegenOptions *o, Span where) {
    LLVMOrcExecutorAddress address = 0;
    LLVMErrorRef error = LLVMOrcLLJITLookup(h->jit, &address, COUNTERS);
    if (error) return fail(o, where, error) != 0;
    CodeLine *lines = calloc(rows->lines.len + 1, sizeof *lines);
    if (!lines) bug("out of memory");
    if (rows->lines.len) memcpy(lines, rows->lines.at, rows->lines.len * sizeof *lines);
    h->counters = (HostCounters){lines, rows->lines.len, (uint64_t *)(uintptr_t)address, rows->blocks};
    return true;
}

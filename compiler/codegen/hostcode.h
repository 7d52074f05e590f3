/* hostcode.h - compiled code in this process: what the CPU target and the emulator's both end in.
 *
 * In: an object in memory. Out: the address of its entry, callable until hostcode_destroy. Method: ORC links the object
 * with what the process has (libm and the like). Runs inside llvm_guard().
 */
#ifndef FSC_CODEGEN_HOSTCODE_H
#define FSC_CODEGEN_HOSTCODE_H

#include "codegen/count.h"

#include <llvm-c/LLJIT.h>

HostCode *hostcode_create(void);
/* The address of `symbol` in the object, linked; 0 with an error in o->diag at `where`. */
uintptr_t hostcode_link(HostCode *h, Bytes object, const char *symbol, const CodegenOptions *o, Span where);
void hostcode_set_sites(HostCode *h, const Span *sites, size_t n); /* copied */
/* After hostcode_link, of code that counts; the rows are copied. False with an error in o->diag at `where`. */
bool hostcode_set_counters(HostCode *h, const Counting *rows, const CodegenOptions *o, Span where);

#endif

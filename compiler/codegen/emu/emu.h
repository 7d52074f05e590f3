/* emu.h - the emulator's target step: a per-thread module becomes one for this machine.
 *
 * In: the module that simt_build made without a target; its kernel's first parameter is the thread. Out: the same
 * module with every primitive lowered to a field of the thread or a call through it, and an entry that takes (thread,
 * args).
 */
#ifndef FSC_CODEGEN_EMU_H
#define FSC_CODEGEN_EMU_H

#include "codegen/simt/simt.h"

/* The entry's name in the module. */
#define EMU_ENTRY "fsc_thread"

void emu_lower(Llvm *m, LLVMValueRef kernel);

#endif

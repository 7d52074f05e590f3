/* target.c - NVIDIA's back end: the table of architectures, and LLVM's machines for them.
 *
 * In: an arch, a PTX version. Out: its row; a machine that emits PTX.
 */
#include <llvm-c/Target.h>
#include <pthread.h>

#include "codegen/nvptx/nvptx.h"
#include "runtime/base/arch.h"

static const NvptxTarget targets[] = {
#define TARGET(arch, sm, ptx, features, portable)                                                                      \
    {{arch, &backend_nvptx, features, ARCH_WARP, ARCH_BLOCK, ARCH_REGISTERS, ARCH_REGISTER_FILE, ARCH_SHARED_##sm,     \
      ARCH_CLUSTER_##sm, 16, portable},                                                                                \
     sm,                                                                                                               \
     ptx},
#include "codegen/nvptx/targets.def"
#undef TARGET
};

const Target *nvptx_target(uint32_t i) {
    return i < COUNT(targets) ? &targets[i].target : NULL;
}

const char *nvptx_first_with(uint64_t features, bool *is_last) {
    uint32_t i = 0;
    while (i < COUNT(targets) && features & ~targets[i].target.features) i++;
    *is_last = !(features & ~targets[COUNT(targets) - 1].target.features);
    return i < COUNT(targets) ? targets[i].target.name : "none";
}

/* A cubin runs on its own major version; devices of other ones before the next run none but PTX.
 * Code for sm_90a runs nowhere else, not even as PTX. */
bool nvptx_reaches(const Target *a, const Target *b) {
    uint32_t here = nvptx_of(a)->sm, next = nvptx_of(b)->sm;
    if (a->portable || b->portable) return false;
    return next / 10 == here / 10 || (next / 10 == here / 10 + 1 && next % 10 == 0);
}

/* ---- LLVM's machines --------------------------------------------------------------------------------------------- */

static pthread_once_t registered = PTHREAD_ONCE_INIT;

static void register_nvptx(void) {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
}

LLVMTargetMachineRef nvptx_machine(const char *arch, uint32_t ptx, int opt_level) {
    pthread_once(&registered, register_nvptx);
    char features[16] = "";
    if (ptx) snprintf(features, sizeof features, "+ptx%u", ptx);
    return llvm_machine_take(NVPTX_TRIPLE, arch, features, opt_level);
}

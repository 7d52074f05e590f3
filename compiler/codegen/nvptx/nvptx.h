/* nvptx.h - the target step: a per-thread module becomes one that LLVM's NVPTX back end takes.
 *
 * In: the module that simt_build made. Out: the same module with every primitive lowered to intrinsics and inline PTX,
 * the kernel's calling convention and launch bounds, shared memory, the record. After it, nothing calls fsc.*.
 */
#ifndef FSC_CODEGEN_NVPTX_H
#define FSC_CODEGEN_NVPTX_H

#include "codegen/simt/simt.h"

#define NVPTX_TRIPLE "nvptx64-nvidia-cuda"

/* A row of targets.def. */
typedef struct NvptxTarget {
    Target target;
    uint32_t sm, ptx;
} NvptxTarget;

/* target.c */
const Target *nvptx_target(uint32_t i);
bool nvptx_reaches(const Target *a, const Target *b);
/* the oldest arch that has them; *is_last: the newest has them, too */
const char *nvptx_first_with(uint64_t features, bool *is_last);
/* The machine for a row: `ptx` is the version times ten, 0 leaves LLVM's choice, the lowest for the arch. */
LLVMTargetMachineRef nvptx_machine(const char *arch, uint32_t ptx, int opt_level);

/* ptxas.c: PTX → a cubin and ptxas -v's text. */
bool ptxas_run(const Target *t, Bytes ptx, int opt_level, Assembled *out);

static inline const NvptxTarget *nvptx_of(const Target *t) {
    return (const NvptxTarget *)(const void *)t;
}

typedef struct Nvptx {
    Llvm *m;
    const Func *f;
    const Target *t;
    uint32_t ptx;  /* the PTX version that the kernel needs so far, times ten */
    bool takes_offsets; /* accesses, of constants. Not in kernels with loops, where ptxas would keep more addresses
                         * alive; but of fragments, whose addresses differ by little else */
    V areas;       /* the module's array of words for the programs' blocks to meet through; NULL: they do not */
    bool lacks;    /* the target, something that the kernel needs: there was an error */
    V shared_base; /* the block's shared memory as a 32-bit address space constant; NULL until used */
} Nvptx;

/* Lowers the module. False with an error in o->diag where the target lacks what the kernel needs. Sets n->ptx. */
bool nvptx_lower(Nvptx *n, LLVMValueRef kernel);

/* Behind LLVM's passes: integers that differ by a multiple of a stride, by steps from one to the next (steps.c). */
void nvptx_take_steps(Llvm *m, LLVMValueRef kernel);

/* What a lowering needs beyond its primitive's row: an error at the kernel where the target has it not. */
void nvptx_need(Nvptx *n, const char *name, uint64_t features, uint32_t ptx);

/* One lowering: builds at the call's place what replaces it; operands are the call's. */
typedef V Lowering(Nvptx *n, Access a, const V *operands);

/* access.c - memory as inline PTX */
Lowering lower_load_global, lower_store_global, lower_load_shared, lower_store_shared, lower_store_cluster;
Lowering lower_mbarrier_init, lower_mbarrier_expect, lower_mbarrier_wait, lower_store_async, lower_bulk_load,
    lower_bulk_store, lower_bulk_commit, lower_bulk_wait;
Lowering lower_turn_init, lower_turn;

/* copy.c - asynchronous copies as inline PTX */
Lowering lower_copy_async, lower_copy_commit, lower_copy_wait;

/* matrix.c - matrix instructions as intrinsics and inline PTX */
Lowering lower_ldmatrix, lower_stmatrix, lower_mma;

/* wgmma.c - those of four warps as inline PTX */
Lowering lower_wgmma_fence, lower_wgmma_commit, lower_wgmma_at, lower_wgmma, lower_wgmma_held, lower_wgmma_wait,
    lower_proxy_fence;

/* grid.c - words between the blocks of a grid, and the order between launches, as inline PTX */
void nvptx_make_words(Nvptx *n); /* before any call is lowered */
Lowering lower_grid_begin, lower_grid_begun, lower_grid_store, lower_grid_wait, lower_grid_fence, lower_grid_leave;
Lowering lower_gdc_wait, lower_gdc_launch;

/* debug.c - print and assert through the driver's functions */
Lowering lower_print_begin, lower_print, lower_assert;

/* atomic.c - atomics as inline PTX */
Lowering lower_atomic_rmw, lower_atomic_cas;

#endif

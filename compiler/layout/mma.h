/* mma.h - matrix instructions of a warp or of four, and where their operands' elements lie.
 *
 * An instruction multiplies one fragment of a by one of b and adds one of c. A fragment lies over the 32 lanes of a
 * warp, in registers of 32 bits that hold elements along k, or of 64. A tile is many fragments, along its registers and
 * over warps. Of an instruction of four warps each has the fragment of its own rows, and only c lies in registers.
 */
#ifndef FSC_LAYOUT_MMA_H
#define FSC_LAYOUT_MMA_H

#include "base/target.h"
#include "layout/layout.h"

typedef enum MmaType {
    MMA_F16,
    MMA_BF16,
    MMA_TF32, /* fp32 of which the low 13 bits do not count */
    MMA_E4M3,
    MMA_E5M2,
    MMA_S8,
    MMA_U8,
    MMA_F64,
    MMA_F32,
    MMA_S32,
} MmaType;

typedef enum Mma {
#define MMA(e, ...)   MMA_##e,
#define WGMMA(e, ...) MMA_##e,
#include "layout/mma.def"
#undef MMA
#undef WGMMA
    MMA_COUNT
} Mma;

/* Which of the three: of shape [m, k], [k, n], [m, n]. */
typedef enum MmaOperand { MMA_A, MMA_B, MMA_C } MmaOperand;

typedef struct MmaInfo {
    const char *name;
    MmaType types[3]; /* by MmaOperand */
    uint8_t m, n, k;
    uint8_t warps_log2; /* that execute it together, along m */
    Feature needs;
} MmaInfo;

extern const MmaInfo mma_info[MMA_COUNT];

uint32_t mma_bits(MmaType t);                        /* of an element */
uint32_t mma_fragment(Mma instr, MmaOperand which);  /* elements that a lane holds of one fragment */
bool mma_fits(Mma instr, Shape s, MmaOperand which); /* a tile of rank 2 and of whole fragments of all its warps? */
bool mma_is_grouped(Mma instr); /* of several warps: a and b lie in shared memory */

/* The layout of a tile as operand of instr. The registers of one fragment come first, then further fragments along k
 * (of c: along n), then those along the other dimension. Warps share the fragments along m, then along n, where each
 * gets a run of its own; those that find none left, and of a and b those that differ only along the other operand's
 * dimension, hold the same. */
const Layout *layout_mma(Layouts *ls, Shape s, Mma instr, uint32_t warps_m_log2, uint32_t warps_n_log2,
                         MmaOperand which);

#endif

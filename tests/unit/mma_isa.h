/* mma_isa.h - where the PTX ISA says that the elements of mma's operands lie, shape by shape, as it says it.
 *
 * In: the shape, the bits of an element of a and b, the operand (0: a, 1: b, 2: c), a lane, an element of its fragment.
 * Out: row and column. Written from "Matrix Fragments for mma.m16n8k8", ".m16n8k16", … : groupID is laneid >> 2,
 * threadID_in_group laneid % 4.
 */
#ifndef FSC_MMA_ISA_H
#define FSC_MMA_ISA_H

#include <stdint.h>

/* a and b of the shapes with so many bits. Row and column of a[i]; of b[i] its row. */
static inline void isa_a(uint32_t m, uint32_t k, uint32_t bits, uint32_t group, uint32_t in_group, uint32_t i,
                         uint32_t *row, uint32_t *col) {
    if (m == 8 && k == 4) { /* .f64 */
        *row = group, *col = in_group;
    } else if (m == 8 && k == 16) { /* .s8 */
        *row = group, *col = in_group * 4 + (i & 3);
    } else if (k == 8 && bits == 16) {
        *row = i < 2 ? group : group + 8;
        *col = in_group * 2 + (i & 1);
    } else if (k == 8 && bits == 32) { /* .tf32 */
        *row = i == 0 || i == 2 ? group : group + 8;
        *col = i == 0 || i == 1 ? in_group : in_group + 4;
    } else if (k == 16) {
        *row = i < 2 || (4 <= i && i < 6) ? group : group + 8;
        *col = i < 4 ? in_group * 2 + (i & 1) : in_group * 2 + (i & 1) + 8;
    } else { /* m16n8k32, 8 bits */
        *row = i < 4 || (8 <= i && i < 12) ? group : group + 8;
        *col = i < 8 ? in_group * 4 + (i & 3) : in_group * 4 + (i & 3) + 16;
    }
}

static inline uint32_t isa_b_row(uint32_t k, uint32_t bits, uint32_t in_group, uint32_t i) {
    if (k == 4) return in_group; /* .f64 */
    if (k == 8 && bits == 16) return in_group * 2 + i;
    if (k == 8) return i < 1 ? in_group : in_group + 4; /* .tf32 */
    if (k == 16 && bits == 8) return in_group * 4 + i;
    if (k == 16) return i < 2 ? in_group * 2 + (i & 1) : in_group * 2 + (i & 1) + 8;
    return i < 4 ? in_group * 4 + (i & 3) : in_group * 4 + (i & 3) + 16; /* m16n8k32 */
}

static inline void isa_place(uint32_t m, uint32_t k, uint32_t bits, uint32_t operand, uint32_t lane, uint32_t i,
                             uint32_t *row, uint32_t *col) {
    uint32_t group = lane >> 2, in_group = lane % 4;
    if (operand == 0) {
        isa_a(m, k, bits, group, in_group, i, row, col);
    } else if (operand == 1) {
        *row = isa_b_row(k, bits, in_group, i);
        *col = group;
    } else {
        *row = i < 2 ? group : group + 8;
        *col = in_group * 2 + (i & 1);
    }
}

#endif

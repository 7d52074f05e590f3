/* mma.c - the table of matrix instructions, and the layouts of their operands.
 *
 * In: an instruction, a tile's shape, how many warps lie along m and along n. Out: a layout.
 * Method: PTX ISA, "Matrix fragments for mma": all row.col shapes are of one form. A register holds neighbours along
 * the inner dimension (k; of c two along n), four lanes lie along it, eight along the outer one; m = 16 is a second
 * register, and so is what is left of k.
 */
#include "layout/mma.h"
#include "base/plant.h"

const MmaInfo mma_info[MMA_COUNT] = {
#define ROW(e, name, a, b, c, m, n, k, warps, needs)                                                                   \
    [MMA_##e] = {name, {MMA_##a, MMA_##b, MMA_##c}, m, n, k, warps, FEATURE_##needs},
#define MMA(e, name, a, b, c, m, n, k, needs)   ROW(e, name, a, b, c, m, n, k, 0, needs)
#define WGMMA(e, name, a, b, c, m, n, k, needs) ROW(e, name, a, b, c, m, n, k, 2, needs)
#include "layout/mma.def"
#undef MMA
#undef WGMMA
#undef ROW
};

bool mma_is_grouped(Mma instr) {
    return mma_info[instr].warps_log2 > 0;
}

uint32_t mma_bits(MmaType t) {
    switch (t) {
    case MMA_F16:
    case MMA_BF16: return 16;
    case MMA_TF32:
    case MMA_F32:
    case MMA_S32: return 32;
    case MMA_E4M3:
    case MMA_E5M2:
    case MMA_S8:
    case MMA_U8: return 8;
    case MMA_F64: return 64;
    }
    bug("mma_bits: type %d", (int)t);
}

static uint32_t log2_of(uint32_t x) {
    return (uint32_t)__builtin_ctz(x);
}

/* The dimension along which registers hold neighbours. */
static uint32_t inner_of(MmaOperand which) {
    return which == MMA_B ? 0 : 1;
}

/* log2 of a warp's fragment's size along a dimension of the operand. */
static uint32_t fragment_log2(Mma instr, MmaOperand which, uint32_t dim) {
    const MmaInfo *i = &mma_info[instr];
    uint8_t m = i->m >> i->warps_log2, sizes[3][2] = {{m, i->k}, {i->k, i->n}, {m, i->n}};
    return log2_of(sizes[which][dim]);
}

uint32_t mma_fragment(Mma instr, MmaOperand which) {
    return (1u << (fragment_log2(instr, which, 0) + fragment_log2(instr, which, 1))) / 32;
}

bool mma_fits(Mma instr, Shape s, MmaOperand which) {
    uint32_t rows = which == MMA_B ? 0 : mma_info[instr].warps_log2;
    return s.rank == 2 && s.log2[0] >= fragment_log2(instr, which, 0) + rows &&
           s.log2[1] >= fragment_log2(instr, which, 1);
}

/* The next bases of an owner are these bits of the dimension. */
static void deal(Layout *l, InDim owner, uint32_t dim, uint32_t from, uint32_t to) {
    for (uint32_t bit = from; bit < to; bit++)
        l->basis[owner][l->bits[owner]++] = 1u << (shape_offset(l->shape, dim) + bit);
}

static uint32_t less(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

const Layout *layout_mma(Layouts *ls, Shape s, Mma instr, uint32_t warps_m_log2, uint32_t warps_n_log2,
                         MmaOperand which) {
    if (!mma_fits(instr, s, which)) bug("layout_mma: no whole fragment of %s", mma_info[instr].name);
    uint32_t inner = inner_of(which), outer = 1 - inner, bits = mma_bits(mma_info[instr].types[which]);
    uint32_t in_fragment = fragment_log2(instr, which, inner), out_fragment = fragment_log2(instr, which, outer);
    uint32_t pair = which == MMA_C ? 1 : bits < 32 ? log2_of(32 / bits) : 0;
    Layout l = {.shape = s};
    deal(&l, IN_REGISTER, inner, 0, pair);
    deal(&l, IN_LANE, inner, pair, pair + 2);
    deal(&l, IN_LANE, outer, 0, 3);
    bool is_turned = plant(PLANT_FRAGMENT_PLACE);
    if (is_turned) deal(&l, IN_REGISTER, inner, pair + 2, in_fragment);
    deal(&l, IN_REGISTER, outer, 3, out_fragment);
    if (!is_turned) deal(&l, IN_REGISTER, inner, pair + 2, in_fragment);

    uint32_t first[2], end[2];
    for (uint32_t dim = 0; dim < 2; dim++) {
        first[dim] = fragment_log2(instr, which, dim);
        end[dim] = s.log2[dim];
    }
    /* Along m the warps have fragments that follow each other, so that four of them have 64 rows;
     * along n each has a run. */
    uint32_t along_m = which == MMA_B ? 0 : less(warps_m_log2, end[0] - first[0]);
    uint32_t along_n = which == MMA_A ? 0 : less(warps_n_log2, end[1] - first[1]);
    deal(&l, IN_WARP, 0, first[0], first[0] + along_m);
    l.bits[IN_WARP] = (uint8_t)warps_m_log2;
    deal(&l, IN_WARP, 1, end[1] - along_n, end[1]);
    l.bits[IN_WARP] = (uint8_t)(warps_m_log2 + warps_n_log2);
    first[0] += along_m;
    end[1] -= along_n;
    deal(&l, IN_REGISTER, inner, first[inner], end[inner]);
    deal(&l, IN_REGISTER, outer, first[outer], end[outer]);
    return layout_intern(ls, &l);
}

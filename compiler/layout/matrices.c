/* matrices.c - does an access of shared memory fit ldmatrix or stmatrix, and whose lane names which row then?
 *
 * In: a register layout over offsets (layout_in), the size of an element. Out: the lanes over rows of 16 bytes.
 * Method: PTX ISA, "ldmatrix": of a matrix of 8 rows lane i has the i % 4th word of row i / 4; transposed, of the rows
 * 2 * (i % 4) and the next the 2 bytes at i / 4. Lane 8 j + r gives the address of row r of matrix j. So the bases of
 * word and lanes must be those of the offset within a row, and no other basis may reach into one.
 */
#include "layout/layout.h"

#include <string.h>

enum { LANES = 5, ROWS = 3, ROW = 4, WORD = 2 /* log2 of rows of a matrix, bytes of a row, of a word */ };

/* Owner bits that tell elements of a row apart, the lowest first. */
typedef struct Inside {
    uint32_t bits[ROW], n;
} Inside;

/* Are they the lowest bits of the offset, in order? */
static bool is_row(const Inside *in) {
    for (uint32_t i = 0; i < in->n; i++)
        if (in->bits[i] != UINT32_C(1) << i) return false;
    return true;
}

static bool all_reach_over(const Layout *l, uint32_t row, uint32_t reg, uint32_t lane, uint32_t end) {
    for (InDim d = 0; d < IN_COUNT; d++)
        for (uint32_t i = 0; i < l->bits[d]; i++) {
            bool is_inside = (d == IN_REGISTER && i < reg) || (d == IN_LANE && i >= lane && i < end);
            if (!is_inside && (l->basis[d][i] & ((UINT32_C(1) << row) - 1))) return false;
        }
    return true;
}

bool layout_matrices(Layouts *ls, const Layout *in, uint32_t bytes, MatrixRows *m) {
    uint32_t size = (uint32_t)__builtin_ctz(bytes), row = ROW - size, word = size < WORD ? WORD - size : 0;
    const uint32_t *reg = in->basis[IN_REGISTER], *lane = in->basis[IN_LANE];
    if (size > WORD || in->bits[IN_LANE] != LANES || in->bits[IN_REGISTER] < word) return false;
    Inside straight = {.n = row}, turned = {{lane[2], lane[3], lane[4]}, .n = row};
    for (uint32_t i = 0; i < row; i++) straight.bits[i] = i < word ? reg[i] : lane[i - word];
    bool is_straight = is_row(&straight) && all_reach_over(in, row, word, 0, 2);
    m->is_transposed = !is_straight;
    if (!is_straight && (size != 1 || !is_row(&turned) || !all_reach_over(in, row, 0, 2, LANES))) return false;

    Layout l = {.shape = in->shape};
    const uint32_t rows[2][ROWS] = {{lane[2], lane[3], lane[4]}, {reg[0], lane[0], lane[1]}};
    memcpy(l.basis[IN_LANE], rows[m->is_transposed], sizeof rows[0]);
    uint32_t left = in->bits[IN_REGISTER] - word, several = LANES - ROWS;
    m->word_log2 = word;
    m->count_log2 = left < several ? left : several;
    for (uint32_t i = 0; i < m->count_log2; i++) l.basis[IN_LANE][ROWS + i] = reg[word + i];
    l.bits[IN_LANE] = LANES;
    for (uint32_t i = 0; i < row; i++) l.basis[IN_REGISTER][i] = UINT32_C(1) << i;
    l.bits[IN_REGISTER] = (uint8_t)row;
    for (uint32_t i = word + m->count_log2; i < in->bits[IN_REGISTER]; i++)
        l.basis[IN_REGISTER][l.bits[IN_REGISTER]++] = reg[i];
    for (InDim d = IN_WARP; d < IN_COUNT; d++) {
        l.bits[d] = in->bits[d];
        memcpy(l.basis[d], in->basis[d], sizeof l.basis[d]);
    }
    m->rows = layout_intern(ls, &l);
    m->row_log2 = row;
    return true;
}

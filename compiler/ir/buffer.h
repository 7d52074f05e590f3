/* buffer.h - the part of ir.h that asks about shared buffers and their life times (buffer.c); ir.h includes it. */
#ifndef FSC_IR_BUFFER_H
#define FSC_IR_BUFFER_H

#include "ir/ir.h"

/* Its index. What is 0 in b gets its usual value; it has no bytes yet. */
uint32_t buffer_add(Func *f, Buffer b);
DType buffer_dtype(Type t); /* of the elements of a buffer that holds such a tile: of pointers their bits */
uint32_t buffer_whole(const Buffer *b); /* bytes of all elements of a stage */
uint64_t buffer_bytes(const Buffer *b); /* of all stages, and of what counts for them */
uint32_t buffer_count_offset(const Buffer *b); /* of a counted one: from its first byte to the count of stage 0 */
enum { COUNT_BYTES = 8 /* of each count: an mbarrier */ };
uint32_t store_waits_from(const Buffer *b); /* of a shared_store: the first operand that must have come before */

/* Of a buffer that bulk copies fill, a stage has two: of the bytes that come, and of the warps that have read it. */
static inline uint32_t buffer_counts(const Buffer *b) {
    return b->is_bulk ? 2 * b->stages : b->stages;
}
/* A bulk copy for a later round: may a product still read what it overwrites? */
bool copy_overwrites(const Func *f, const Op *copy);
bool op_is_exchange(const Func *f, const Op *op); /* a store, load or copy of a buffer that all threads see */
/* Whose registers hold which of the buffer's elements, of the tile of type t that op stores or loads: of a part the
 * first one. */
const Layout *access_layout(const Func *f, const Op *op, Type t);
/* Do instructions for matrices fit the access? */
bool access_moves_matrices(const Func *f, const Op *op, Type t, MatrixRows *m);
bool buffers_overlap(const Buffer *x, const Buffer *y); /* false before they have offsets */
/* Of a private buffer: how many threads have elements there, and how many elements (log2)
 * of a thread lie side by side. */
uint32_t buffer_threads(const Buffer *b);
uint32_t buffer_run(const Buffer *b);
uint32_t buffer_run_bytes(const Buffer *b);
/* Of a buffer that all threads see: how many elements (log2), `most` at most, of a thread's first registers lie side by
 * side there. */
uint32_t buffer_vector(const Func *f, const Buffer *b, const Layout *l, uint32_t most);

/* Bulk copies (copy.c). A buffer's boxes: its rows lie along dimension `major`; there are so many boxes along that
 * and along the other one, each of `columns` elements by `rows`. False: they are not those of the map. */
typedef struct Boxes {
    uint32_t major, across, down, columns, rows;
} Boxes;

bool buffer_boxes(const Func *f, const Buffer *b, const BoxMap *m, Boxes *out);

/* An operand of dot_async, as it lies in shared memory (dot.c). */
typedef struct SharedOperand {
    const Buffer *buffer;
    const Layout *places; /* of the operand: the buffer's, or those transposed */
    MatrixSpans spans;
} SharedOperand;

/* Why no instruction finds it there; NULL: it does, and *out is set. */
bool dot_holds_a(const Op *op); /* dot_async: its first operand is in registers */
const char *shared_operand(const Func *f, const Op *op, MmaOperand which, SharedOperand *out);

/* What four warps do one behind the other for one step of k: an instruction of n columns each. */
typedef struct DotParts {
    uint32_t rows, columns, n;
} DotParts;

DotParts dot_parts(const Op *op);

/* Positions in program order, from an op's begin to the end of its regions. */
typedef struct Life {
    uint32_t begin, end; /* begin > end: nobody touches it */
} Life;

typedef struct Lives {
    Life *at; /* by buffer */
    Life *op; /* by op id */
} Lives;

Lives lives_of(const Func *f, Arena *a);
bool lives_meet(Life x, Life y);

#endif

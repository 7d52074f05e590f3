/* distribute.c - how many warps a program gets: the one table, and how it is read.
 *
 * In: a function; its largest tile counts. Out: num_warps.
 * A block holds one program (four of one warp: pack.c), so warps trade enough loads in flight per multiprocessor (many small blocks, many elements a
 * thread) against the registers a thread has. The rows are the best of 1 … 32 warps for row softmax in fp32 on an H200
 * (`bench/gpu.sh tune`, docs/performance.md): 16 elements a thread at 512, 32 at 2K, 64 at 8K and 16K. Beyond that 64 would
 * spill, and threads are what is left. Types under 32 bits are computed in 32, so they count as 4 bytes.
 */
#include "passes/passes.h"

static const struct {
    uint64_t bytes; /* of the tile in registers, at most */
    uint32_t warps;
} table[] = {
    {1 << 11, 1}, {1 << 13, 2}, {1 << 15, 4}, {1 << 16, 8},
};

typedef struct Largest {
    uint64_t elements;
    uint32_t bytes;
} Largest;

static void note_size(void *context, Op *op) {
    Largest *l = context;
    for (uint32_t i = 0; i < op->nresults; i++) {
        Type t = op->results[i]->type;
        if (op->kind != OP_LOAD && op->kind != OP_REDUCE && t.dtype == DT_PTR) continue;
        uint64_t n = t.shape.rank ? shape_elements(t.shape) : 1;
        uint32_t bytes = op->kind == OP_LOAD ? type_bytes(t) : 4;
        if (n > l->elements) *l = (Largest){n, bytes};
        else if (n == l->elements && op->kind == OP_LOAD && bytes < l->bytes) l->bytes = bytes;
    }
}

uint32_t distribute_warps(Func *f) {
    Largest l = {1, 4};
    func_walk(f, note_size, &l);
    uint64_t size = l.elements * (l.bytes < 4 ? 4 : l.bytes);
    for (size_t i = 0; i < COUNT(table); i++) {
        if (size <= table[i].bytes) return table[i].warps;
    }
    return 32;
}

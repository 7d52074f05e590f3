/* distribute.c - how many warps a program gets: the one table, and how it is read.
 *
 * In: the size of a program's largest tile. Out: num_warps.
 * A block holds one program, so warps trade two things: enough loads in flight per multiprocessor (many threads, few
 * elements each) against the cost of an exchange between warps. Measured for row softmax in fp32 on an H200: a warp alone
 * up to 256 elements, 8 elements a thread up to 2K, then 16 to 32, so that two blocks still fit a multiprocessor.
 * Types of 16 bits take the row of their size in bytes: a thread then holds twice the elements in the same registers.
 */
#include "passes/passes.h"

static const struct {
    uint64_t bytes; /* of the tile, at most */
    uint32_t warps;
} table[] = {
    {1024, 1}, {2048, 2}, {8192, 4}, {32768, 8}, {65536, 16},
};

uint32_t distribute_warps(uint64_t elements, uint32_t bytes) {
    for (size_t i = 0; i < COUNT(table); i++) {
        if (elements * bytes <= table[i].bytes) return table[i].warps;
    }
    return 32;
}

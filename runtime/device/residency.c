/* residency.c - one more block on a multiprocessor, where the assembler finds registers for it when it is asked.
 *
 * In: what the assembler made of PTX, and the record's launch. Out: for how many blocks it is to be asked, and the PTX
 * that asks. Method: left to itself the assembler takes 66 registers where 64 would do, which can halve the blocks that
 * a multiprocessor holds. Asked by `.minnctapersm` it keeps the bound, if need be by spills. So it is asked where
 * registers bind, the record wants more threads (RecordLaunch.resident), and a fifth fewer registers would let in one
 * more block. Who asks keeps the answer if it spills no more, or hardly more for twice the blocks. Measured in
 * docs/lab/residency.md.
 */
#include "runtime/device/code.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Blocks beyond which one more is worth little. */
enum { MANY_BLOCKS = 4 };

uint32_t residency_wanted(const fsc_props *p, const RecordLaunch *l, uint32_t registers) {
    fsc_residency now, then;
    uint32_t threads = l->threads_per_block, shared = l->shared_static + l->shared_dynamic;
    if (!l->resident || fsc_occupancy(p, registers, threads, shared, &now) != FSC_OK) return 0;
    uint32_t blocks = now.blocks_per_sm + 1;
    if (now.limit != FSC_LIMIT_REGISTERS || blocks == 1 || blocks > MANY_BLOCKS + 1) return 0;
    if ((uint64_t)blocks * threads > l->resident) return 0;
    fsc_status s = fsc_occupancy(p, registers - registers / 5, threads, shared, &then);
    return s == FSC_OK && then.blocks_per_sm >= blocks ? blocks : 0;
}

bool residency_pays(uint32_t blocks, uint32_t spilled_before, uint32_t spilled) {
    enum { FEW_BYTES = 16 /* of a thread: attention of 64 columns has 0.76 of its speed in one block */ };
    return spilled <= spilled_before + (blocks == 2 ? FEW_BYTES : 0);
}

/* The end of the line that bounds the kernel's threads; NULL: there is none. */
static const char *find_bound(const char *ptx, size_t n) {
    static const char word[] = "\n.reqntid ";
    const char *end = ptx + n;
    for (const char *at = ptx; at + sizeof word <= end; at++)
        if (*at == '\n' && memcmp(at, word, sizeof word - 1) == 0)
            return memchr(at + 1, '\n', (size_t)(end - at) - 1);
    return NULL;
}

char *residency_ask(const char *ptx, size_t n, uint32_t blocks, size_t *length) {
    const char *at = find_bound(ptx, n);
    char line[40];
    int added = snprintf(line, sizeof line, "\n.minnctapersm %u", blocks);
    char *text = at ? malloc(n + (size_t)added + 1) : NULL;
    if (!text) return NULL;
    size_t head = (size_t)(at - ptx);
    memcpy(text, ptx, head);
    memcpy(text + head, line, (size_t)added);
    memcpy(text + head + added, at, n - head);
    *length = n + (size_t)added;
    text[*length] = '\0';
    return text;
}

/* assembly.c - PTX to machine code by the target's assembler: once more for one more block on a multiprocessor, where
 * that pays (runtime/device/residency.c), as the runtime does it with the driver's assembler.
 */
#include "driver.h"
#include "runtime/device/code.h"

#include <stdlib.h>

const fsc_props *card_of_arch(const char *arch) {
    for (size_t i = 0; fsc_gpu_at(i, NULL); i++)
        if (arch_is_of(arch, fsc_gpu_at(i, NULL)->arch)) return fsc_gpu_at(i, NULL);
    return NULL;
}

/* How many blocks to ask for; 0: none, or the PTX has no record. */
static uint32_t wanted_blocks(const Target *t, Bytes ptx, const Assembled *a) {
    size_t offset = 0, length = 0;
    char *text = record_find(ptx.at, ptx.len, &offset, &length);
    Record *r = text ? record_parse(text, length, NULL, 0) : NULL;
    const fsc_props *card = card_of_arch(t->name);
    bool asks = r && card && a->registers && r->num_launches == 1;
    uint32_t blocks = asks ? residency_wanted(card, &r->launches[0], a->registers) : 0;
    record_free(r);
    free(text);
    return blocks;
}

bool assemble_best(const Target *t, Bytes ptx, int opt_level, Assembled *out) {
    if (!t->backend->assemble || !t->backend->assemble(t, ptx, opt_level, out)) return false;
    uint32_t blocks = wanted_blocks(t, ptx, out);
    Assembled other = {0};
    size_t n = 0;
    char *asking = blocks ? residency_ask(ptx.at, ptx.len, blocks, &n) : NULL;
    if (asking && t->backend->assemble(t, (Bytes){asking, n}, opt_level, &other) &&
        residency_pays(blocks, out->spill_bytes, other.spill_bytes)) {
        Assembled first = *out;
        *out = other;
        other = first;
    }
    assembled_free(&other);
    free(asking);
    return true;
}

/* shape.c - what the launches of all devices with blocks share: how many programs a block holds, how many blocks there
 * are, and whether the device has what they need.
 *
 * In: a variant's record, a call. Out: the shape of a launch, or the sentence about what is missing. Method:
 * the blocks are counted in 64 bits.
 */
#include "runtime/device/code.h"

#include <stdio.h>

enum { BLOCKS_TO_KEEP = 4 }; /* for each multiprocessor, before programs share blocks; the smallest block is a warp */

RecordLaunch launch_packed(const RecordLaunch *l, uint64_t programs, uint32_t sms) {
    RecordLaunch s = *l;
    uint64_t wanted = (uint64_t)sms * BLOCKS_TO_KEEP;
    while (s.programs_per_block > 1 && s.threads_per_block > WARP && programs / s.programs_per_block < wanted) {
        s.programs_per_block /= 2;
        s.threads_per_block /= 2;
    }
    return s;
}

RecordLaunch launch_shape(const Call *c, const RecordLaunch *l) {
    uint64_t programs = (uint64_t)c->grid[0] * (uint64_t)c->grid[1] * (uint64_t)c->grid[2]; /* checked: below 2^63 */
    return launch_packed(l, programs, c->kernel->device->props.sms);
}

bool launch_takes(const RecordLaunch *l, const int64_t grid[3]) {
    return l->scope != SCOPE_GRID || (grid[0] <= (int64_t)l->most_programs && grid[1] == 1 && grid[2] == 1);
}

/* Packed programs share a block, large ones take a cluster of them, or blocks that are all on the device at once. */
fsc_status launch_blocks(const Call *c, const RecordLaunch *l, uint32_t *blocks) {
    int64_t programs = c->grid[0], packed = l->programs_per_block;
    if (!launch_takes(l, c->grid))
        return status_fail(c->kernel->device, FSC_ERROR_GRID,
                           "kernel %s was compiled for a grid of up to %u programs along x alone, each shared by %u "
                           "blocks that wait for each other, not for %lld x %lld x %lld; "
                           "the grid of its launch rule fits, and with num_ctas=1 any does",
                           c->variant->record->kernel, l->most_programs, l->blocks_per_program, (long long)programs,
                           (long long)c->grid[1], (long long)c->grid[2]);
    int64_t n = (programs / packed + (programs % packed != 0)) * l->blocks_per_program; /* below 2^31 · 2^32 */
    if (n > INT32_MAX)
        return status_fail(c->kernel->device, FSC_ERROR_GRID, "kernel %s: %lld blocks along x are beyond the limit, %d",
                           c->variant->record->kernel, (long long)n, INT32_MAX);
    *blocks = (uint32_t)n;
    return FSC_OK;
}

/* The real grid behind arguments and maps, for entries that pack programs, or the launch's number, for those that reach
 * over the grid; others have no such parameters and the driver, which knows how many there are, does not look. */
void call_append_grid(Call *c) {
    static atomic_uint launches;
    void **pointers = c->pointers + c->nargs + c->variant->record->num_maps;
    for (size_t i = 0; i < GRID_SLOTS; i++) {
        c->bits[c->nargs + i] = (uint64_t)c->grid[i];
        pointers[i] = &c->bits[c->nargs + i];
    }
    if (c->variant->record->launches[0].scope == SCOPE_GRID)
        c->bits[c->nargs] = atomic_fetch_add(&launches, 1) % UINT32_MAX + 1;
}

const char *variant_line(const Variant *v, uint32_t line, const char *does, char *out, size_t size) {
    *out = '\0';
    if (line) snprintf(out, size, "; %.120s:%u %s", v->record->file, line, does);
    return out;
}

fsc_status launch_fits(const Variant *v, const RecordLaunch *l) {
    fsc_device *d = v->module->device;
    const fsc_props *p = &d->props;
    char where[200];
    uint64_t shared = (uint64_t)l->shared_static + l->shared_dynamic;
    if (l->threads_per_block == 0 || l->threads_per_block > p->max_threads_per_block)
        return status_fail(d, FSC_ERROR_RESOURCE, "kernel %s has %u threads a block; %s takes 1 to %u%s",
                           v->record->kernel, l->threads_per_block, p->name, p->max_threads_per_block,
                           variant_line(v, l->threads_line, "asks for them (num_warps)", where, sizeof where));
    if (shared > p->shared_per_block_optin)
        return status_fail(d, FSC_ERROR_RESOURCE, "kernel %s needs %llu bytes of shared memory a block; %s has %u%s",
                           v->record->kernel, (unsigned long long)shared, p->name, p->shared_per_block_optin,
                           variant_line(v, l->shared_line, "takes most of it", where, sizeof where));
    if (l->scope == SCOPE_CLUSTER && l->blocks_per_program > LARGEST_CLUSTER)
        return status_fail(d, FSC_ERROR_RESOURCE, "kernel %s has %u blocks a program; %s takes 1 to %d",
                           v->record->kernel, l->blocks_per_program, p->name, LARGEST_CLUSTER);
    return FSC_OK;
}

fsc_status variant_check(const Variant *v) {
    const Record *r = v->record;
    const fsc_device *d = v->module->device;
    if (r->num_launches == 0)
        return status_fail(d, FSC_ERROR_RECORD, "the record of kernel %s has no launch", r->kernel);
    if (r->scratch_bytes)
        return status_fail(d, FSC_ERROR_RECORD,
                           "kernel %s wants scratch memory, which this version gives on the CPU only", r->kernel);
    return FSC_OK;
}

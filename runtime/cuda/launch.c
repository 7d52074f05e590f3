/* launch.c - a checked call onto the driver's stream.
 *
 * In: a call, a stream. Out: queued launches. Method: cuLaunchKernel, or cuLaunchKernelEx where a program spans a
 * cluster of blocks, or blocks that are all on the device at once.
 */
#include "runtime/cuda/driver.h"

static fsc_status launch_one(Call *c, uint32_t index, CUstream stream) {
    fsc_device *d = c->kernel->device;
    RecordLaunch shape = launch_shape(c, &c->variant->record->launches[index]), *l = &shape;
    CUfunction function = ((CUfunction *)c->variant->functions)[index];
    const char *name = c->variant->record->kernel;
    uint32_t x = 0, y = (uint32_t)c->grid[1], z = (uint32_t)c->grid[2];
    fsc_status s = launch_blocks(c, l, &x);
    if (s != FSC_OK) return s;
    if (l->scope == SCOPE_BLOCK)
        return CU_FOR(d, name, cuLaunchKernel, function, x, y, z, l->threads_per_block, 1, 1, l->shared_dynamic, stream,
                  c->pointers, NULL);
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                   .value.cluster = {l->blocks_per_program, 1, 1}};
    if (l->scope == SCOPE_GRID)
        attribute = (CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = 1};
    CUlaunchConfig config = {.grid_x = x,
                             .grid_y = y,
                             .grid_z = z,
                             .block_x = l->threads_per_block,
                             .block_y = 1,
                             .block_z = 1,
                             .shared_bytes = l->shared_dynamic,
                             .stream = stream,
                             .attrs = &attribute,
                             .num_attrs = 1};
    return CU_FOR(d, name, cuLaunchKernelEx, &config, function, c->pointers, NULL);
}

fsc_status cuda_launch(Call *c, void *stream) {
    fsc_device *d = c->kernel->device;
    bool pushed = false;
    call_append_grid(c);
    fsc_status s = device_enter(d, &pushed);
    for (uint32_t i = 0; s == FSC_OK && i < c->variant->record->num_launches; i++) s = launch_one(c, i, stream);
    device_leave(d, pushed);
    return s;
}

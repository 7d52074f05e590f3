/* launch.c - a checked call onto the driver's stream.
 *
 * In: a call, a stream. Out: queued launches. Method: cuLaunchKernel, or cuLaunchKernelEx where a program spans a
 * cluster of blocks, or blocks that are all on the device at once, or where the launch may begin before the one ahead
 * has ended. Tensor maps are the driver's to make.
 */
#include "runtime/cuda/driver.h"

/* ---- Tensor maps ------------------------------------------------------------------------------------------------- */

static const CUtensorMapDataType map_types[] = {
    [FSC_I1] = CU_TENSOR_MAP_UINT8,      [FSC_I8] = CU_TENSOR_MAP_UINT8,     [FSC_U8] = CU_TENSOR_MAP_UINT8,
    [FSC_FP8E4NV] = CU_TENSOR_MAP_UINT8, [FSC_FP8E5] = CU_TENSOR_MAP_UINT8,  [FSC_I16] = CU_TENSOR_MAP_UINT16,
    [FSC_U16] = CU_TENSOR_MAP_UINT16,    [FSC_I32] = CU_TENSOR_MAP_INT32,    [FSC_U32] = CU_TENSOR_MAP_UINT32,
    [FSC_I64] = CU_TENSOR_MAP_INT64,     [FSC_U64] = CU_TENSOR_MAP_UINT64,   [FSC_FP16] = CU_TENSOR_MAP_FLOAT16,
    [FSC_BF16] = CU_TENSOR_MAP_BFLOAT16, [FSC_FP32] = CU_TENSOR_MAP_FLOAT32, [FSC_FP64] = CU_TENSOR_MAP_FLOAT64,
};

static CUtensorMapSwizzle swizzle_of(const RecordMap *m) {
    return m->swizzle == 16   ? CU_TENSOR_MAP_SWIZZLE_NONE
           : m->swizzle == 32 ? CU_TENSOR_MAP_SWIZZLE_32B
           : m->swizzle == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
                              : CU_TENSOR_MAP_SWIZZLE_128B;
}

static fsc_status fail_map(const Call *c, CUresult r, const RecordMap *m, const MapSizes *s) {
    fsc_device *d = c->kernel->device;
    const RecordParam *p = &c->variant->record->params[m->param];
    fsc_status status = driver_status(r);
    char sizes[256] = "", error[ERROR_SIZE];
    for (uint32_t i = 0; i < m->num_boxes; i++)
        text_append(sizes, sizeof sizes, "%s%lld every %lld bytes (%u at a time)", i ? ", " : "",
                    (long long)s->extents[i], (long long)s->strides[i], m->boxes[i].elements);
    driver_note(d, r, "cuTensorMapEncodeTiled");
    return status_fail(d, status,
                       "%s: cuTensorMapEncodeTiled gives %s for argument %s of kernel %s: elements of %s at %#llx, the "
                       "fastest dimension first: %s; %s",
                       fsc_status_text(status), driver_error(r, error, sizeof error), p->name,
                       c->variant->record->kernel, p->dtype, (unsigned long long)s->base, sizes, driver_advice(r));
}

fsc_status cuda_encode_map(const Call *c, uint32_t map, const MapSizes *sizes, TensorMap *out) {
    const RecordMap *m = &c->variant->record->maps[map];
    uint64_t extents[RECORD_BOXES], strides[RECORD_BOXES];
    uint32_t box[RECORD_BOXES], steps[RECORD_BOXES];
    for (uint32_t i = 0; i < m->num_boxes; i++) {
        extents[i] = (uint64_t)sizes->extents[i];
        strides[i] = (uint64_t)sizes->strides[i];
        box[i] = m->boxes[i].elements;
        steps[i] = 1;
    }
    fsc_dtype type = fsc_dtype_find(c->variant->record->params[m->param].dtype);
    CUresult r = CU_CALL(cuTensorMapEncodeTiled, out, map_types[type], m->num_boxes, (void *)(uintptr_t)sizes->base,
                         extents, strides + 1, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle_of(m),
                         CU_TENSOR_MAP_L2_PROMOTION_128B, CU_TENSOR_MAP_OOB_FILL_ZEROS);
    return r == CUDA_SUCCESS ? FSC_OK : fail_map(c, r, m, sizes);
}

/* ---- Launches ---------------------------------------------------------------------------------------------------- */

enum { DRIVER_OVERLAPS = 12040 /* graphs of such launches came with 12.3 */ };

/* What the driver must know of a launch beyond its size: 0 to 2 attributes. */
static unsigned int attributes_of(const fsc_device *d, const RecordLaunch *l, CUlaunchAttribute out[2]) {
    unsigned int n = 0;
    if (l->scope == SCOPE_GRID)
        out[n++] = (CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = 1};
    if (l->scope == SCOPE_CLUSTER)
        out[n++] = (CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                       .value.cluster = {l->blocks_per_program, 1, 1}};
    if (l->overlaps && d->props.driver_version >= DRIVER_OVERLAPS)
        out[n++] =
            (CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, .value.programmatic = 1};
    return n;
}

static fsc_status launch_one(Call *c, uint32_t index, CUstream stream) {
    fsc_device *d = c->kernel->device;
    RecordLaunch shape = launch_shape(c, &c->variant->record->launches[index]), *l = &shape;
    CUfunction function = ((CUfunction *)c->variant->functions)[index];
    const char *name = c->variant->record->kernel;
    uint32_t x = 0, y = (uint32_t)c->grid[1], z = (uint32_t)c->grid[2];
    fsc_status s = launch_blocks(c, l, &x);
    if (s != FSC_OK) return s;
    CUlaunchAttribute attributes[2];
    unsigned int n = attributes_of(d, l, attributes);
    if (n == 0)
        return CU_FOR(d, name, cuLaunchKernel, function, x, y, z, l->threads_per_block, 1, 1, l->shared_dynamic, stream,
                  c->pointers, NULL);
    CUlaunchConfig config = {.grid_x = x,
                             .grid_y = y,
                             .grid_z = z,
                             .block_x = l->threads_per_block,
                             .block_y = 1,
                             .block_z = 1,
                             .shared_bytes = l->shared_dynamic,
                             .stream = stream,
                             .attrs = attributes,
                             .num_attrs = n};
    return CU_FOR(d, name, cuLaunchKernelEx, &config, function, c->pointers, NULL);
}

fsc_status cuda_launch(Call *c, void *stream) {
    fsc_device *d = c->kernel->device;
    bool pushed = false;
    call_append_grid(c);
    fsc_status s = device_enter(d, &pushed);
    if (s == FSC_OK) s = call_append_maps(c);
    for (uint32_t i = 0; s == FSC_OK && i < c->variant->record->num_launches; i++) s = launch_one(c, i, stream);
    device_leave(d, pushed);
    return s;
}

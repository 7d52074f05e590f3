/* occupancy.c - how many blocks a multiprocessor holds, from its properties alone; and the table of cards.
 *
 * In: properties, registers, threads, shared bytes. Out: blocks per SM and what binds; waves.
 * Method: one count a resource, the least of them wins. Registers: a warp takes multiples of 256, and each of the four
 * parts of a multiprocessor serves its own warps from its own quarter of the register file.
 */
#include "runtime/base/arch.h"
#include "runtime/base/ascii.h"
#include "runtime/device/status.h"
#include "runtime/fsc_runtime.h"

#include <string.h>

enum { REGISTER_UNIT = 256, SM_PARTS = 4 };

static const char *const limit_names[] = {"nothing", "registers", "shared", "threads", "blocks"};

const char *fsc_limit_name(fsc_limit l) {
    return (size_t)l < sizeof limit_names / sizeof limit_names[0] ? limit_names[l] : "nothing";
}

static uint64_t round_up(uint64_t x, uint64_t unit) {
    return (x + unit - 1) / unit * unit;
}

static uint32_t at_most(uint64_t x) {
    return x < UINT32_MAX ? (uint32_t)x : UINT32_MAX;
}

static uint32_t blocks_by_registers(const fsc_props *p, uint32_t registers, uint32_t warps) {
    if (registers == 0) return UINT32_MAX;
    uint64_t a_warp = round_up((uint64_t)registers * p->warp_size, REGISTER_UNIT);
    if (a_warp * round_up(warps, SM_PARTS) > p->registers_per_block) return 0;
    uint64_t warps_per_part = p->registers_per_sm / SM_PARTS / a_warp;
    return at_most(warps_per_part * SM_PARTS / warps);
}

static uint32_t blocks_by_shared(const fsc_props *p, uint32_t shared) {
    uint64_t unit = strncmp(p->arch, "sm_7", 4) == 0 ? 256 : 128;
    uint64_t a_block = round_up((uint64_t)shared + p->shared_reserved_per_block, unit);
    if (shared > p->shared_per_block_optin) return 0;
    return a_block == 0 ? UINT32_MAX : at_most(p->shared_per_sm / a_block);
}

fsc_status fsc_occupancy(const fsc_props *p, uint32_t registers, uint32_t threads, uint32_t shared,
                         fsc_residency *out) {
    if (!p || !out)
        return status_fail(NULL, FSC_ERROR_USAGE, "fsc_occupancy: no properties or no place for the result");
    if (threads == 0) return status_fail(NULL, FSC_ERROR_USAGE, "a block of no threads has no occupancy");
    if (p->kind != FSC_CUDA || !p->warp_size || !p->registers_per_sm || !p->shared_per_sm || !p->max_threads_per_sm ||
        !p->max_blocks_per_sm)
        return status_fail(NULL, FSC_ERROR_USAGE, "%s is no GPU with known limits",
                           p->name[0] ? p->name : "this device");
    uint32_t warps = (threads - 1) / p->warp_size + 1;
    bool too_many = threads > p->max_threads_per_block;
    fsc_residency o = {
        .by_registers = blocks_by_registers(p, registers, warps),
        .by_shared = blocks_by_shared(p, shared),
        .by_threads = too_many ? 0 : p->max_threads_per_sm / p->warp_size / warps,
        .by_blocks = p->max_blocks_per_sm,
    };
    const uint32_t counts[] = {o.by_registers, o.by_shared, o.by_threads, o.by_blocks};
    o.blocks_per_sm = UINT32_MAX;
    for (int i = 0; i < 4; i++) {
        if (counts[i] >= o.blocks_per_sm) continue;
        o.blocks_per_sm = counts[i];
        o.limit = (fsc_limit)(FSC_LIMIT_REGISTERS + i);
    }
    o.resident_blocks = (uint64_t)p->sms * o.blocks_per_sm;
    o.fill = (double)(o.blocks_per_sm * warps * p->warp_size) / p->max_threads_per_sm;
    if (o.fill > 1) o.fill = 1;
    *out = o;
    return FSC_OK;
}

void fsc_waves(uint64_t blocks, uint64_t resident, uint64_t *waves, double *fill) {
    bool is_empty = blocks == 0 || resident == 0;
    uint64_t last = is_empty ? 0 : blocks % resident;
    if (waves) *waves = is_empty ? 0 : blocks / resident + (last != 0);
    if (fill) *fill = is_empty ? 0 : last ? (double)last / (double)resident : 1;
}

/* ---- Cards ------------------------------------------------------------------------------------------------------- */

#define MB (1024ull * 1024)
#define GB (1024ull * 1024 * 1024)

static const struct {
    const char *key;
    fsc_props props;
} cards[] = {
#define GPU(key_, name_, sm, sms_, l2, memory, gbs, mhz)                                                               \
    {key_,                                                                                                             \
     {.kind = FSC_CUDA,                                                                                                \
      .name = name_,                                                                                                   \
      .arch = "sm_" #sm,                                                                                               \
      .sms = sms_,                                                                                                     \
      .registers_per_sm = ARCH_REGISTER_FILE,                                                                          \
      .registers_per_block = ARCH_REGISTER_FILE,                                                                       \
      .shared_per_sm = ARCH_SHARED_PER_SM_##sm,                                                                        \
      .shared_per_block = ARCH_SHARED,                                                                                 \
      .shared_per_block_optin = ARCH_SHARED_##sm,                                                                      \
      .shared_reserved_per_block = ARCH_RESERVED_##sm,                                                                 \
      .max_threads_per_sm = ARCH_THREADS_PER_SM_##sm,                                                                  \
      .max_threads_per_block = ARCH_BLOCK,                                                                             \
      .max_blocks_per_sm = ARCH_BLOCKS_PER_SM_##sm,                                                                    \
      .warp_size = ARCH_WARP,                                                                                          \
      .l2_bytes = (l2)*MB,                                                                                             \
      .memory_bytes = (memory)*GB,                                                                                     \
      .bandwidth = (gbs)*1000000000ull,                                                                                \
      .clock_khz = (mhz)*1000}},
#include "runtime/device/gpus.def"
#undef GPU
};

static bool same_name(const char *a, const char *b) {
    while (*a && to_lower(*a) == to_lower(*b)) {
        a++;
        b++;
    }
    return *a == '\0' && *b == '\0';
}

const fsc_props *fsc_gpu_at(size_t index, const char **key) {
    if (index >= sizeof cards / sizeof cards[0]) return NULL;
    if (key) *key = cards[index].key;
    return &cards[index].props;
}

const fsc_props *fsc_gpu_find(const char *name) {
    for (size_t i = 0; name && i < sizeof cards / sizeof cards[0]; i++) {
        if (same_name(cards[i].key, name) || same_name(cards[i].props.name, name)) return &cards[i].props;
    }
    return NULL;
}

/* target.c - the table of GPU architectures.
 *
 * In: a name. Out: its row, or NULL: then gpu_target_names() is what to tell the user.
 */
#include <string.h>

#include "codegen/codegen.h"

static const GpuTarget targets[] = {
#define TARGET(arch, sm, ptx, per_block, per_sm, cluster) {arch, sm, ptx, per_block, per_sm, cluster},
#include "codegen/targets.def"
#undef TARGET
};

const GpuTarget *gpu_target_find(const char *arch) {
    for (size_t i = 0; i < COUNT(targets); i++)
        if (!strcmp(targets[i].arch, arch)) return &targets[i];
    return NULL;
}

const char *gpu_target_names(Arena *a) {
    const char *names = "";
    for (size_t i = 0; i < COUNT(targets); i++)
        names = arena_printf(a, "%s%s%s", names, i ? ", " : "", targets[i].arch);
    return names;
}

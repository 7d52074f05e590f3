/* level.h - the levels of level.def by name, and whether this processor has them. */
#ifndef FSC_LEVEL_H
#define FSC_LEVEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum CpuFamily { FAMILY_X86_64, FAMILY_AARCH64, FAMILY_OTHER } CpuFamily;

typedef enum CpuLevel {
#define LEVEL(name, text, family, bytes) LEVEL_##name,
#include "runtime/base/level.def"
#undef LEVEL
    LEVEL_NONE,   /* nothing that could be asked for */
    LEVEL_UNKNOWN /* what a later table has */
} CpuLevel;

typedef struct LevelInfo {
    const char *name;
    CpuFamily family;
    uint32_t vector_bytes;
} LevelInfo;

extern const LevelInfo level_info[LEVEL_NONE];

CpuLevel level_find(const char *name); /* "": LEVEL_NONE; LEVEL_UNKNOWN: there is none of that name */
/* Has this processor, as the system lets this process use it, all of the level? Any thread. */
bool level_is_here(CpuLevel level);

#endif

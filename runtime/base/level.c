/* level.c - asks this processor for the levels of level.def.
 *
 * In: a level. Out: whether this processor has it. Method: x86-64 tells by cpuid. Of AArch64 Linux tells: features are
 * bits of the auxiliary vector, as its ABI has them, and prctl says how long SVE's registers are.
 */
#include "runtime/base/level.h"

#include <string.h>

#if defined __aarch64__ && defined __linux__
#include <sys/auxv.h>
#include <sys/prctl.h>
#endif

const LevelInfo level_info[LEVEL_NONE] = {
#define LEVEL(name, text, family, bytes) {text, FAMILY_##family, bytes},
#include "runtime/base/level.def"
#undef LEVEL
};

CpuLevel level_find(const char *name) {
    CpuLevel l = (CpuLevel)0;
    if (!*name) return LEVEL_NONE;
    while (l < LEVEL_NONE && strcmp(level_info[l].name, name) != 0) l++;
    return l < LEVEL_NONE ? l : LEVEL_UNKNOWN;
}

#if defined __x86_64__ && defined __GNUC__

/* By features that each compiler knows; what else the levels have came with them. */
static bool has_v2(void) {
    return __builtin_cpu_supports("ssse3") && __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt");
}

static bool has_v3(void) {
    return has_v2() && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
}

static bool has_v4(void) {
    return has_v3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
}

bool level_is_here(CpuLevel level) {
    __builtin_cpu_init();
    switch (level) {
    case LEVEL_X86_64: return true;
    case LEVEL_X86_64_V2: return has_v2();
    case LEVEL_X86_64_V3: return has_v3();
    case LEVEL_X86_64_V4: return has_v4();
    default: return level == LEVEL_NONE;
    }
}

#elif defined __aarch64__ && defined __linux__

/* Bits of AT_HWCAP and AT_HWCAP2, which older headers lack in part, and what prctl is asked. */
enum { HAS_ATOMICS = 1 << 8, HAS_FP16 = 1 << 9, HAS_FP16_VECTORS = 1 << 10, HAS_RDM = 1 << 12, HAS_DOT = 1 << 20 };
enum { HAS_SVE = 1 << 22, HAS2_I8MM = 1 << 13, HAS2_BF16 = 1 << 14, ASK_SVE = 51, SVE_LENGTH = 0xffff };

static bool has(unsigned long first, unsigned long second) {
    return (getauxval(AT_HWCAP) & first) == first && (getauxval(AT_HWCAP2) & second) == second;
}

/* Of this thread's registers. */
static bool has_length(uint32_t bytes) {
    int length = prctl(ASK_SVE);
    return length > 0 && ((uint32_t)length & SVE_LENGTH) == bytes;
}

bool level_is_here(CpuLevel level) {
    const unsigned long fp16 = HAS_ATOMICS | HAS_FP16 | HAS_FP16_VECTORS | HAS_RDM;
    switch (level) {
    case LEVEL_ARM: return true;
    case LEVEL_ARM_FP16: return has(fp16, 0);
    case LEVEL_ARM_BF16: return has(fp16 | HAS_DOT, HAS2_I8MM | HAS2_BF16);
    case LEVEL_SVE256:
    case LEVEL_SVE512: return has(fp16 | HAS_SVE, 0) && has_length(level_info[level].vector_bytes);
    default: return level == LEVEL_NONE;
    }
}

#else

bool level_is_here(CpuLevel level) {
    return level == LEVEL_NONE || level == LEVEL_X86_64 || level == LEVEL_ARM; /* no more can be asked for */
}

#endif

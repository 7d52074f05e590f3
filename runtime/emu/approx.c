/* approx.c - the fp32 approximations of a GPU, computed in fp64 and rounded once.
 *
 * In: fp32. Out: the nearest fp32, which is within every bound that prims.def states; subnormals count as zero where
 * the PTX instruction flushes them (.ftz).
 */
#include "runtime/emu/emu.h"

#include <math.h>

static float flush(float x) {
    return fabsf(x) < 0x1p-126f ? copysignf(0, x) : x;
}

float emu_ex2(float x) {
    return flush((float)exp2((double)flush(x)));
}

float emu_lg2(float x) {
    return (float)log2((double)x);
}

float emu_rcp(float x) {
    return flush((float)(1 / (double)flush(x)));
}

float emu_rsqrt(float x) {
    return (float)(1 / sqrt((double)x));
}

float emu_sqrt(float x) {
    return (float)sqrt((double)x);
}

float emu_div(float x, float y) {
    return (float)((double)x / (double)y);
}

/* approx.c - the fp32 approximations of a GPU, computed in fp64 and rounded once; its conversions.
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

int32_t emu_to_s32(float x) {
    if (isnan(x)) return 0;
    return x >= 0x1p31f ? INT32_MAX : x < -0x1p31f ? INT32_MIN : (int32_t)x;
}

int32_t emu_nearest_s32(float x) {
    return emu_to_s32(rintf(x));
}

uint32_t emu_to_u32(float x) {
    if (isnan(x) || x <= 0) return 0;
    return x >= 0x1p32f ? UINT32_MAX : (uint32_t)x;
}

/* ---- fp8e4nv: four bits of exponent, biased by 7, three of the mantissa ------------------------------------------ */

enum { E4M3_MOST = 0x7e, E4M3_NAN = 0x7f, E4M3_SIGN = 0x80 };

static uint32_t e4m3_of(float x) {
    enum { LEAST_EXPONENT = -6, MANTISSA = 3 };
    float size = fabsf(x);
    if (isnan(x)) return E4M3_NAN;
    uint32_t sign = signbit(x) ? E4M3_SIGN : 0;
    if (size >= 512) return sign | E4M3_MOST;
    int exponent = size < 0x1p-6f ? LEAST_EXPONENT : ilogbf(size);
    /* 8 to 16 eighths of 2^exponent; fewer of a subnormal number */
    int eighths = (int)rintf(ldexpf(size, MANTISSA - exponent));
    int code = ((exponent - LEAST_EXPONENT) << MANTISSA) + eighths;
    return sign | (uint32_t)(code < E4M3_MOST ? code : E4M3_MOST);
}

uint32_t emu_to_e4m3(float x, float y) {
    return e4m3_of(x) | e4m3_of(y) << 8;
}

/* fp16 has one bit more of the exponent, biased by 15, and seven more of the mantissa. */
static uint32_t half_of(uint32_t code) {
    enum { HALF_NAN = 0x7fff, HALF_EIGHTHS = 7, BIASES = 8 };
    uint32_t sign = (code & E4M3_SIGN) << 8, size = code & E4M3_NAN;
    if (size == E4M3_NAN) return HALF_NAN;
    if (size >= 8) return sign | ((size + (BIASES << 3)) << HALF_EIGHTHS);
    if (!size) return sign;
    uint32_t exponent = BIASES + 1; /* of the least normal number */
    while (size < 8) size *= 2, exponent--;
    return sign | (((exponent << 3) + (size - 8)) << HALF_EIGHTHS);
}

uint32_t emu_from_e4m3(uint32_t pair) {
    return half_of(pair & 0xff) | half_of(pair >> 8 & 0xff) << 16;
}

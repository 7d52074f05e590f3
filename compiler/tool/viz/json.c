/* json.c - pieces of JSON for the facts of `fsc viz`: strings that may stand in a page, arrays as base64.
 *
 * In: text, bytes, elements by their bits. Out: JSON text.
 */
#include "tool/viz/viz.h"

#include <string.h>

void json_string(Text *out, const char *s, size_t n) {
    text_printf(out, "\"");
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)s[i];
        if (c == '"' || c == '\\')
            text_printf(out, "\\%c", c);
        else if (c == '\n')
            text_printf(out, "\\n");
        else if (c < ' ' || c == '<' || c == 0x7F)
            text_printf(out, "\\u%04x", c);
        else
            text_write(out, (const char *)&c, 1);
    }
    text_printf(out, "\"");
}

void json_word(Text *out, const char *s) {
    json_string(out, s, strlen(s));
}

void json_bytes(Text *out, const void *data, size_t n) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *at = data;
    text_printf(out, "\"");
    for (size_t i = 0; i < n; i += 3) {
        uint32_t left = n - i < 3 ? (uint32_t)(n - i) : 3, word = (uint32_t)at[i] << 16;
        if (left > 1) word |= (uint32_t)at[i + 1] << 8;
        if (left > 2) word |= at[i + 2];
        char four[4] = {digits[word >> 18], digits[word >> 12 & 63], '=', '='};
        if (left > 1) four[2] = digits[word >> 6 & 63];
        if (left > 2) four[3] = digits[word & 63];
        text_write(out, four, sizeof four);
    }
    text_printf(out, "\"");
}

void json_offsets(Text *out, int64_t *at, size_t n) {
    bool is_narrow = true;
    for (size_t i = 0; i < n; i++) is_narrow &= at[i] == (int32_t)at[i];
    for (size_t i = 0; i < n; i++) {
        double wide = (double)at[i];
        int32_t narrow = (int32_t)at[i];
        if (is_narrow)
            memcpy((char *)at + i * sizeof narrow, &narrow, sizeof narrow);
        else
            memcpy(&at[i], &wide, sizeof wide);
    }
    json_bytes(out, at, n * (is_narrow ? sizeof(int32_t) : sizeof(double)));
}

VizPack viz_pack(DType d) {
    if (d == DT_I1) return VIZ_U8;
    if (d == DT_PTR || dtype_bits(d) == 64) return VIZ_F64;
    return dtype_kind(d) == KIND_FLOAT ? VIZ_F32 : VIZ_I32;
}

size_t viz_pack_bytes(VizPack p) {
    return p == VIZ_U8 ? 1 : p == VIZ_F64 ? 8 : 4;
}

void viz_put(void *array, size_t index, DType d, int64_t bits) {
    switch (viz_pack(d)) {
    case VIZ_U8: ((uint8_t *)array)[index] = bits & 1; break;
    case VIZ_I32: ((int32_t *)array)[index] = (int32_t)int_wrap(d, bits); break;
    case VIZ_F32: ((float *)array)[index] = (float)float_from_bits(d, bits); break;
    case VIZ_F64:
        ((double *)array)[index] = dtype_kind(d) == KIND_FLOAT ? float_from_bits(d, bits) : (double)bits;
        break;
    }
}

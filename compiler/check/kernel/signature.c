/* signature.c - the text of --signature: parameter types and values by position, in Triton's form.
 *
 * In: "*fp32:16, i32:1, 1024, fp16". Out: one SigItem a position (check.h).
 * Method: split at commas, trim, then look at the first character. Names of types are looked up in one table that knows
 * the short names and the long forms of Triton, NumPy and torch.
 */
#include "check/check.h"

#include "runtime/base/ascii.h"
#include "runtime/base/number.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Every spelling of an element type, and the short name that the compiler uses. */
static const struct {
    const char *spelling, *name;
} spellings[] = {
    {"i1", "i1"},          {"int1", "i1"},       {"bool", "i1"},        {"u1", "i1"},
    {"i8", "i8"},          {"int8", "i8"},       {"i16", "i16"},        {"int16", "i16"},
    {"short", "i16"},      {"i32", "i32"},       {"int32", "i32"},      {"int", "i32"},
    {"i64", "i64"},        {"int64", "i64"},     {"long", "i64"},       {"u8", "u8"},
    {"uint8", "u8"},       {"u16", "u16"},       {"uint16", "u16"},     {"u32", "u32"},
    {"uint32", "u32"},     {"u64", "u64"},       {"uint64", "u64"},     {"fp8e4nv", "fp8e4nv"},
    {"float8e4nv", "fp8e4nv"}, {"float8_e4m3fn", "fp8e4nv"}, {"fp8e5", "fp8e5"}, {"float8e5", "fp8e5"},
    {"float8_e5m2", "fp8e5"}, {"fp16", "fp16"},  {"f16", "fp16"},       {"float16", "fp16"},
    {"half", "fp16"},      {"bf16", "bf16"},     {"bfloat16", "bf16"},  {"fp32", "fp32"},
    {"f32", "fp32"},       {"float32", "fp32"},  {"float", "fp32"},     {"fp64", "fp64"},
    {"f64", "fp64"},       {"float64", "fp64"},  {"double", "fp64"},
};

const char *dtype_spelling(uint32_t i) {
    return i < COUNT(spellings) ? spellings[i].spelling : NULL;
}

const char *dtype_canonical(const char *name) {
    static const char *const prefixes[] = {"triton.language.", "tl.", "torch.", "np.", "numpy."};
    for (size_t i = 0; i < COUNT(prefixes); i++) {
        size_t n = strlen(prefixes[i]);
        if (strncmp(name, prefixes[i], n) == 0) {
            name += n;
            break;
        }
    }
    for (size_t i = 0; i < COUNT(spellings); i++) {
        if (strcmp(name, spellings[i].spelling) == 0) return spellings[i].name;
    }
    return NULL;
}

static bool is_number(const char *s) {
    if (*s == '+' || *s == '-') s++;
    return is_digit(*s) || (*s == '.' && is_digit(s[1])) || strcmp(s, "inf") == 0 ||
           strcmp(s, "nan") == 0;
}

/* The part after the colon: 16 or 1. */
static bool read_hint(Diag *d, const char *hint, uint32_t position, SigItem *item) {
    if (strcmp(hint, "16") == 0) {
        item->divisible = 16;
    } else if (strcmp(hint, "1") == 0 && item->kind == SIG_TYPE) {
        item->equals_one = true;
    } else {
        diag(d, (Span){0, 0}, E_SIGNATURE_HINT, position, item->text, hint);
        diag_note(d, (Span){0, 0},
                  "':16' says that a pointer or integer is divisible by 16, ':1' that an integer is 1");
        return false;
    }
    return true;
}

static bool read_number(Diag *d, const char *body, uint32_t position, SigItem *item) {
    char *end = NULL;
    errno = 0;
    item->kind = SIG_INT;
    (void)strtoll(body, &end, 0);
    if (*end == '\0' && errno == 0) return true;
    double x = 0;
    item->kind = SIG_FLOAT;
    if (number_read(body, strlen(body), &x)) return true;
    diag(d, (Span){0, 0}, E_SIGNATURE_NUMBER, position, item->text);
    return false;
}

bool descriptor_parse(Arena *a, const char *text, SigItem *item) {
    static const char head[] = "tensordesc<";
    size_t length = strcspn(text, "[");
    const char *p = text + length;
    if (strncmp(text, head, sizeof head - 1) != 0 || *p != '[' || length < sizeof head - 1) return false;
    item->kind = SIG_DESCRIPTOR;
    item->dtype = dtype_canonical(arena_strndup(a, text + sizeof head - 1, length - (sizeof head - 1)));
    for (item->rank = 0; *p != ']' && item->rank < SHAPE_RANK; item->rank++) {
        char *end = NULL;
        errno = 0;
        item->block[item->rank] = strtoll(p + 1, &end, 10);
        if (end == p + 1 || errno || (*end != ',' && *end != ']')) return false;
        p = end;
    }
    return item->dtype && item->rank && strcmp(p, "]>") == 0;
}

static bool read_item(Arena *a, Diag *d, const char *text, uint32_t position, SigItem *item) {
    *item = (SigItem){.text = text, .divisible = 1};
    if (*text == '\0' || strcmp(text, "None") == 0) {
        item->kind = SIG_NONE;
        return true;
    }
    if (strcmp(text, "True") == 0 || strcmp(text, "False") == 0) {
        item->kind = SIG_BOOL;
        return true;
    }
    if (is_number(text)) return read_number(d, text, position, item);

    const char *colon = strchr(text, ':');
    const char *body = colon ? arena_strndup(a, text, (size_t)(colon - text)) : text;
    item->kind = SIG_TYPE;
    if (descriptor_parse(a, body, item)) return colon ? read_hint(d, colon + 1, position, item) : true;
    if (*body == '*') {
        item->kind = SIG_POINTER;
        body++;
        while (*body == ' ') body++;
        if (strncmp(body, "const ", 6) == 0) {
            item->is_const = true;
            body += 6;
            while (*body == ' ') body++;
        } else if (strncmp(body, "k", 1) == 0 && dtype_canonical(body + 1)) { /* Triton's *kfp32: const */
            item->is_const = true;
            body++;
        }
    }
    item->dtype = dtype_canonical(body);
    if (!item->dtype) {
        diag(d, (Span){0, 0}, E_SIGNATURE_TYPE, position, text);
        diag_note(
            d, (Span){0, 0},
            "an item is a type (i32, fp16), a pointer (*fp32, *fp32:16), a descriptor (tensordesc<fp16[64,64]>), "
            "a number, or nothing to leave it unbound");
        return false;
    }
    return colon ? read_hint(d, colon + 1, position, item) : true;
}

bool signature_parse(Arena *a, Diag *d, const char *text, const SigItem **items, uint32_t *count) {
    VEC(SigItem) out = {0};
    bool ok = true;
    for (const char *p = text;;) {
        const char *end = p + strcspn(p, ",<");
        if (*end == '<') end = strchr(end + strcspn(end, ">"), ','); /* what is in brackets is one item */
        else if (!*end) end = NULL;
        size_t n = end ? (size_t)(end - p) : strlen(p);
        while (n && is_space(*p)) p++, n--;
        while (n && is_space(p[n - 1])) n--;
        if (!end && n == 0 && out.len) break; /* a comma at the end */
        SigItem item;
        ok &= read_item(a, d, arena_strndup(a, p, n), out.len + 1, &item);
        vec_push(a, &out, item);
        if (!end) break;
        p = end + 1;
    }
    *items = out.at;
    *count = out.len;
    return ok;
}

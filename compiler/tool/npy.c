/* npy.c - arrays in NumPy's .npy files.
 *
 * A file is a magic, a version, the length of a header and the header: a Python dict in text with descr, fortran_order
 * and shape; then the elements. Only little-endian, C-ordered arrays of the types fsc knows are taken.
 */
#include "tool/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* NumPy's descr and fsc's name; for writing, the first row of a name wins. */
static const struct {
    const char *descr, *dtype;
} descrs[] = {
    {"<f4", "fp32"}, {"<f2", "fp16"}, {"<f8", "fp64"},    {"|i1", "i8"},     {"<i2", "i16"}, {"<i4", "i32"},
    {"<i8", "i64"},  {"|u1", "u8"},   {"<u2", "u16"},     {"<u4", "u32"},    {"<u8", "u64"}, {"|b1", "i1"},
    {"<u2", "bf16"}, {"|V2", "bf16"}, {"|u1", "fp8e4nv"}, {"|u1", "fp8e5"},
};

static bool refuse(const char *path, const char *why) {
    fprintf(stderr, "fsc run: cannot read '%s': %s\n", path, why);
    return false;
}

/* The text after 'key': in the header, or NULL. */
static const char *header_value(const char *header, const char *key) {
    const char *at = strstr(header, key);
    if (!at) return NULL;
    at += strlen(key);
    while (*at == '\'' || *at == '"' || *at == ':' || *at == ' ') at++;
    return at;
}

static bool read_shape(const char *text, Array *a) {
    const char *p = text;
    if (*p++ != '(') return false;
    a->rank = 0;
    for (;;) {
        while (*p == ' ' || *p == ',') p++;
        if (*p == ')') return true;
        char *end = NULL;
        unsigned long long n = strtoull(p, &end, 10);
        if (end == p || a->rank == ARRAY_RANK_MAX) return false;
        a->shape[a->rank++] = n;
        p = end;
    }
}

static bool read_header(const char *path, const char *header, Array *a) {
    const char *descr = header_value(header, "descr"), *order = header_value(header, "fortran_order"),
               *shape = header_value(header, "shape");
    if (!descr || !order || !shape || !read_shape(shape, a)) return refuse(path, "its header is damaged");
    if (strncmp(order, "False", 5) != 0 && a->rank > 1)
        return refuse(path, "it is in Fortran order; save numpy.ascontiguousarray(x)");
    for (size_t i = 0; i < COUNT(descrs); i++) {
        if (strncmp(descr, descrs[i].descr, 3) != 0) continue;
        a->dtype = descrs[i].dtype;
        return true;
    }
    char why[96];
    snprintf(why, sizeof why, "its element type '%.3s' is none that fsc knows", descr);
    return refuse(path, why);
}

bool npy_read(const char *path, Array *a) {
    FILE *f = fopen(path, "rb");
    if (!f) return refuse(path, strerror(errno));
    file_input(path, fileno(f));
    unsigned char head[12];
    Array found = {0};
    bool ok = false;
    char *header = NULL;
    if (fread(head, 1, 10, f) != 10 || memcmp(head, "\x93NUMPY", 6) != 0 || head[6] < 1 || head[6] > 3) {
        refuse(path, "it is not a .npy file");
    } else if (head[6] > 1 && fread(head + 10, 1, 2, f) != 2) {
        refuse(path, "it ends in the header");
    } else {
        size_t n = head[8] | (size_t)head[9] << 8;
        if (head[6] > 1) n |= (size_t)head[10] << 16 | (size_t)head[11] << 24;
        header = n < 1 << 20 ? calloc(1, n + 1) : NULL;
        if (!header || fread(header, 1, n, f) != n) {
            refuse(path, "it ends in the header");
        } else {
            ok = read_header(path, header, &found);
        }
    }
    free(header);
    if (ok) ok = array_create(a, path, found.dtype, found.rank, found.shape);
    if (ok && fread(a->data, 1, a->bytes, f) != a->bytes) {
        ok = refuse(path, "it is shorter than its header says");
        array_destroy(a);
    }
    fclose(f);
    return ok;
}

ExitCode npy_write(const char *path, const Array *a) {
    const char *descr = NULL;
    for (size_t i = 0; i < COUNT(descrs) && !descr; i++) {
        if (strcmp(descrs[i].dtype, a->dtype) == 0) descr = descrs[i].descr;
    }
    Text shape = {0}, out = {0};
    for (uint32_t i = 0; i < a->rank; i++) text_printf(&shape, "%llu, ", (unsigned long long)a->shape[i]);
    char header[512];
    int n = snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr,
                     shape.at ? shape.at : "");
    size_t padded = ((size_t)n + 1 + 10 + 63) / 64 * 64 - 10;
    unsigned char head[10] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (unsigned char)(padded & 255),
                              (unsigned char)(padded >> 8)};
    text_write(&out, (const char *)head, sizeof head);
    text_printf(&out, "%-*s\n", (int)padded - 1, header);
    text_write(&out, a->data, a->bytes);
    ExitCode code = file_write(path, out.at, out.len);
    text_free(&shape);
    text_free(&out);
    return code;
}

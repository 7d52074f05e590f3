/* npy.c - arrays in NumPy's .npy files.
 *
 * A file is a magic, a version, the length of a header and the header: a Python dict in text with descr, fortran_order
 * and shape; then the elements. Only little-endian, C-ordered arrays of the types fsc knows are taken.
 */
#include "tool/run/array.h"

#include "runtime/base/number.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* NumPy's descr and fsc's name; for writing, the first row of a name wins. */
static const struct {
    const char *descr, *dtype;
} descrs[] = {
    {"<f4", "fp32"}, {"<f2", "fp16"}, {"<f8", "fp64"},    {"|i1", "i8"},     {"<i2", "i16"}, {"<i4", "i32"},
    {"<i8", "i64"},  {"|u1", "u8"},   {"<u2", "u16"},     {"<u4", "u32"},    {"<u8", "u64"}, {"|b1", "i1"},
    {"<u2", "bf16"}, {"|V2", "bf16"}, {"|u1", "fp8e4nv"}, {"|u1", "fp8e5"},
};

static const char no_file[] = "No such file or directory; random:SEED:TYPE[SIZES] needs none, as random:0:fp32[4,1000]";

static bool refuse(const char *path, const char *why) {
    fprintf(stderr, "%s: cannot read '%s': %s\n", tool_name, strcmp(path, "-") == 0 ? "standard input" : path, why);
    return false;
}

/* The text after 'key': in the header, or NULL. */
static const char *header_value(const char *header, const char *key) {
    size_t n = strlen(key);
    for (const char *at = header; (at = strstr(at, key)); at += n) {
        if (at == header || (at[-1] != '\'' && at[-1] != '"') || at[n] != at[-1]) continue;
        const char *value = at + n + 1;
        value += strspn(value, " ");
        if (*value == ':') return value + 1 + strspn(value + 1, " ");
    }
    return NULL;
}

/* "(3, 5)", "(3,)", "()"; what is wrong with it, or NULL. */
static const char *read_shape(const char *text, Array *a) {
    const char *p = text, *damaged = "its shape is no tuple of whole numbers";
    bool has_comma = false;
    if (*p++ != '(') return damaged;
    for (a->rank = 0;; a->rank++) {
        int64_t n = 0;
        while (*p == ' ') p++;
        if (*p == ')') return a->rank == 1 && !has_comma ? damaged : NULL;
        if (a->rank && !has_comma) return damaged;
        size_t length = strspn(p, "0123456789");
        if (!number_read_int(p, length, &n)) return damaged;
        if (a->rank == ARRAY_RANK_MAX) return "it has more than 8 dimensions";
        a->shape[a->rank] = (uint64_t)n;
        for (p += length; *p == ' '; p++) continue;
        has_comma = *p == ',';
        p += has_comma;
    }
}
_Static_assert(ARRAY_RANK_MAX == 8, "the sentence says so");

/* The type in quotes; what is wrong with it, or NULL. `why` has room for it. */
static const char *read_descr(const char *text, Array *a, char *why, size_t size) {
    char name[24] = "";
    const char *end = *text == '\'' || *text == '"' ? strchr(text + 1, *text) : NULL;
    if (*text == '[') return "its elements have fields; save one of them, x['name']";
    if (!end) return "its header is damaged";
    for (size_t i = 0; i + 1 < sizeof name && text + 1 + i < end; i++) {
        char c = text[1 + i];
        name[i] = c >= ' ' && c < 127 ? c : '?';
    }
    for (size_t i = 0; i < COUNT(descrs) && !a->dtype; i++)
        if (strcmp(name, descrs[i].descr) == 0) a->dtype = descrs[i].dtype;
    if (a->dtype) return NULL;
    bool is_big = name[0] == '>';
    snprintf(why, size, is_big ? "its elements are big-endian, '%s'; save x.astype(x.dtype.newbyteorder('<'))"
                               : "its element type '%s' is none that fsc knows", name);
    return why;
}

static bool read_header(const char *path, const char *header, Array *a) {
    const char *descr = header_value(header, "descr"), *order = header_value(header, "fortran_order"),
               *shape = header_value(header, "shape");
    char text[128];
    if (!descr || !order || !shape || (strncmp(order, "False", 5) != 0 && strncmp(order, "True", 4) != 0))
        return refuse(path, "its header is damaged");
    const char *why = read_shape(shape, a);
    if (!why && *order == 'T' && a->rank > 1) why = "it is in Fortran order; save numpy.ascontiguousarray(x)";
    if (!why) why = read_descr(descr, a, text, sizeof text);
    return !why || refuse(path, why);
}

/* Whether a file, as opposed to a pipe, has so many bytes more: before there is memory for them. */
static bool has_bytes(FILE *f, uint64_t bytes) {
    struct stat s;
    off_t at = ftello(f);
    if (fstat(fileno(f), &s) != 0 || !S_ISREG(s.st_mode) || at < 0) return true;
    return s.st_size >= at && (uint64_t)(s.st_size - at) >= bytes;
}

/* The header's text behind the magic; NULL: it ends before, or is longer than any. The caller frees. */
static char *read_header_text(FILE *f, int version, const unsigned char *length) {
    unsigned char more[2] = {0};
    if (version > 1 && fread(more, 1, 2, f) != 2) return NULL;
    size_t n = length[0] | (size_t)length[1] << 8 | (size_t)more[0] << 16 | (size_t)more[1] << 24;
    char *header = n < 1 << 20 ? calloc(1, n + 1) : NULL;
    if (header && fread(header, 1, n, f) == n) return header;
    free(header);
    return NULL;
}

static bool read_elements(const char *path, FILE *f, const Array *found, Array *a) {
    uint64_t bytes = 0;
    if (!array_bytes(found->dtype, found->rank, found->shape, &bytes))
        return refuse(path, "its shape has more elements than any memory");
    if (!has_bytes(f, bytes)) return refuse(path, "it is shorter than its header says");
    if (!array_create(a, path, found->dtype, found->rank, found->shape)) return false;
    if (fread(a->data, 1, a->bytes, f) == a->bytes) return true;
    array_destroy(a);
    return refuse(path, "it is shorter than its header says");
}

bool npy_read(const char *path, Array *a) {
    bool is_stdin = strcmp(path, "-") == 0;
    FILE *f = is_stdin ? stdin : fopen(path, "rb");
    if (!f) return refuse(path, errno == ENOENT ? no_file : strerror(errno));
    file_input(is_stdin ? "standard input" : path, fileno(f));
    unsigned char head[10];
    Array found = {0};
    bool ok = fread(head, 1, sizeof head, f) == sizeof head && memcmp(head, "\x93NUMPY", 6) == 0;
    ok = ok && head[6] >= 1 && head[6] <= 3;
    char *header = ok ? read_header_text(f, head[6], head + 8) : NULL;
    if (!ok) refuse(path, "it is not a .npy file");
    else if (!header) refuse(path, "it ends in the header");
    ok = header && read_header(path, header, &found) && read_elements(path, f, &found, a);
    free(header);
    if (!is_stdin) fclose(f);
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

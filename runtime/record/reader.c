/* reader.c - a record's text back into a Record; every sentence it can complain with is here.
 *
 * In: bytes that may be damaged, cut off or of another version. Out: a sound Record, or one sentence.
 * Method: find the "end" line and compare the hash, so damage is seen first; then one function a line head, from a
 * table; then the checks that need the whole (codes against the number of parameters).
 */
#include "runtime/base/number.h"
#include "runtime/record/record.h"
#include "runtime/record/recordtext.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_WORDS = 12, MAX_PARAMS = 4096, MAX_DIMS = 16, MAX_BOX = 256 };

typedef struct Reader {
    Record *r;
    char *line; /* the words' bytes, unescaped in place */
    const char *words[MAX_WORDS];
    uint32_t num_words, number; /* number: of the line, from 1 */
    bool is_interface;          /* types and values may be left open */
    char *err;
    size_t errsize;
} Reader;

static bool fail(Reader *rd, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static bool fail(Reader *rd, const char *fmt, ...) {
    char what[200];
    va_list args;
    va_start(args, fmt);
    vsnprintf(what, sizeof what, fmt, args);
    va_end(args);
    if (!rd->err || !rd->errsize) return false;
    if (rd->number)
        snprintf(rd->err, rd->errsize, "the kernel record is wrong in line %u: %s", rd->number, what);
    else
        snprintf(rd->err, rd->errsize, "the kernel record %s", what);
    return false;
}

/* ---- Words ------------------------------------------------------------------------------------------------------- */

static int hex_digit(char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The quoted word whose opening quote *p stands behind, unescaped in place; *p moves behind the closing quote. */
static bool read_quoted(char **p) {
    char *in = *p, *out = *p;
    for (; *in != '"'; in++) {
        if (*in == '\0') return false;
        if (*in != '\\') {
            *out++ = *in;
            continue;
        }
        in++;
        if (*in == 'x') {
            int high = hex_digit(in[1]), low = high < 0 ? -1 : hex_digit(in[2]);
            if (low < 0 || high + low == 0) return false;
            *out++ = (char)(high * 16 + low);
            in += 2;
        } else if (*in == 'n' || *in == '"' || *in == '\\') {
            *out++ = *in == 'n' ? '\n' : *in;
        } else {
            return false;
        }
    }
    *out = '\0';
    *p = in + 1;
    return true;
}

static bool read_words(Reader *rd) {
    char *p = rd->line;
    rd->num_words = 0;
    for (;;) {
        while (*p == ' ') p++;
        if (*p == '\0') return true;
        if (rd->num_words == MAX_WORDS) return fail(rd, "too many words");
        if (*p == '"') {
            rd->words[rd->num_words++] = ++p;
            if (!read_quoted(&p)) return fail(rd, "a quoted text is not well formed");
            if (*p != ' ' && *p != '\0') return fail(rd, "text follows a closing quote");
            continue;
        }
        rd->words[rd->num_words++] = p;
        while (*p != ' ' && *p != '\0') p++;
        if (*p == ' ') *p++ = '\0';
    }
}

static const char *word(const Reader *rd, uint32_t i) {
    return i < rd->num_words ? rd->words[i] : "";
}

static bool find_word(const char *const *names, const char *w, int *out) {
    for (int i = 0; names[i]; i++) {
        if (strcmp(names[i], w) != 0) continue;
        *out = i;
        return true;
    }
    return false;
}

static bool read_u32(Reader *rd, const char *w, uint32_t *out) {
    int64_t i = 0;
    if (!number_read_int(w, strlen(w), &i) || i < 0 || i > UINT32_MAX) return fail(rd, "'%.40s' is no count", w);
    *out = (uint32_t)i;
    return true;
}

/* The number in a word "name=12". */
static bool read_field(Reader *rd, uint32_t i, const char *name, uint32_t *out) {
    size_t n = strlen(name);
    const char *w = word(rd, i);
    if (strncmp(w, name, n) != 0 || w[n] != '=') return fail(rd, "found '%.40s' where '%s=' must stand", w, name);
    return read_u32(rd, w + n + 1, out);
}

static bool need_words(Reader *rd, uint32_t least, uint32_t most) {
    if (rd->num_words >= least && rd->num_words <= most) return true;
    return fail(rd, "'%.40s' has %u words", word(rd, 0), rd->num_words);
}

static bool need_dtype(Reader *rd, const char *w) {
    return fsc_dtype_find(w) != FSC_DTYPE_NONE || fail(rd, "'%.40s' is no element type", w);
}

/* ---- Lines ------------------------------------------------------------------------------------------------------- */

static bool read_kernel(Reader *rd) {
    if (!need_words(rd, 2, 2)) return false;
    if (*word(rd, 1) == '\0') return fail(rd, "the kernel has no name");
    rd->r->kernel = record_string(rd->r, word(rd, 1));
    return true;
}

static bool read_version(Reader *rd) {
    if (!need_words(rd, 2, 2)) return false;
    rd->r->version = record_string(rd->r, word(rd, 1));
    return true;
}

static bool read_target(Reader *rd) {
    if (!need_words(rd, 2, 2)) return false;
    rd->r->target = record_string(rd->r, word(rd, 1));
    return true;
}

static bool read_file(Reader *rd) {
    if (!need_words(rd, 2, 2)) return false;
    rd->r->file = record_string(rd->r, word(rd, 1));
    return true;
}

static bool read_constexpr(Reader *rd) {
    int kind = 0, origin = 0;
    RuleValue v;
    if (!need_words(rd, 6, 7)) return false;
    if (!find_word(record_value_kinds, word(rd, 3), &kind)) return fail(rd, "'%.40s' is no kind of value", word(rd, 3));
    if (!find_word(record_origins, word(rd, 5), &origin)) return fail(rd, "'%.40s' is no origin", word(rd, 5));
    const char *rule = rd->num_words == 7 ? word(rd, 6) : NULL;
    RecordParam *p =
        record_add_constexpr(rd->r, word(rd, 2), (RecordValueKind)kind, word(rd, 4), (RecordOrigin)origin, rule);
    if (!p) return fail(rd, "out of memory");
    if (rd->is_interface && !*p->value) return true;
    if (kind == RECORD_DTYPE) return need_dtype(rd, p->value);
    return record_value(p, &v) || fail(rd, "'%.40s' is no value", p->value);
}

/* default=1e-05 */
static bool read_default(Reader *rd, const char *text, RecordParam *p) {
    RuleValue v;
    RecordValueKind kind = strpbrk(*p->dtype ? p->dtype : text, *p->dtype ? "f" : ".einfa") ? RECORD_FLOAT : RECORD_INT;
    if (p->kind != RECORD_SCALAR) return fail(rd, "a pointer has a default");
    record_set_default(rd->r, p, kind, text);
    return record_value(p, &v) || fail(rd, "'%.40s' is no value", text);
}

static bool read_param(Reader *rd) {
    int kind = 0;
    if (!need_words(rd, 4, 10)) return false;
    if (rd->r->num_params == MAX_PARAMS) return fail(rd, "more than %d parameters", MAX_PARAMS);
    if (!find_word(record_kinds, word(rd, 1), &kind)) return fail(rd, "'%.40s' is no kind of parameter", word(rd, 1));
    if (*word(rd, 2) == '\0') return fail(rd, "a parameter has no name");
    if (kind == RECORD_CONSTEXPR) return read_constexpr(rd);
    if (!rd->is_interface && !need_dtype(rd, word(rd, 3))) return false;
    RecordParam *p = record_add_param(rd->r, (RecordKind)kind, word(rd, 2), word(rd, 3));
    if (!p) return fail(rd, "out of memory");
    for (uint32_t i = 4; i < rd->num_words; i++) {
        const char *w = word(rd, i);
        if (strcmp(w, "const") == 0)
            p->is_const = true;
        else if (strcmp(w, "equals_one") == 0)
            p->equals_one = true;
        else if (strncmp(w, "least=", 6) == 0 || strncmp(w, "most=", 5) == 0) {
            if (!read_field(rd, i, w[0] == 'l' ? "least" : "most", w[0] == 'l' ? &p->least : &p->most)) return false;
        } else if (strncmp(w, "default=", 8) == 0) {
            if (!read_default(rd, w + 8, p)) return false;
        } else if (!read_field(rd, i, "divisible", &p->divisible))
            return false;
    }
    return p->divisible > 0 || fail(rd, "divisible=0");
}

static bool read_dim(Reader *rd) {
    Record *r = rd->r;
    if (!need_words(rd, 3, 3)) return false;
    if (r->num_params == 0 || r->params[r->num_params - 1].kind == RECORD_SCALAR)
        return fail(rd, "a dimension with no array before it");
    if (r->params[r->num_params - 1].num_dims == MAX_DIMS) return fail(rd, "more than %d dimensions", MAX_DIMS);
    record_add_dim(r, r->num_params - 1, word(rd, 1), word(rd, 2));
    return true;
}

static bool read_map(Reader *rd) {
    uint32_t param = 0, swizzle = 0;
    if (!need_words(rd, 3, 3) || !read_u32(rd, word(rd, 1), &param) || !read_field(rd, 2, "swizzle", &swizzle))
        return false;
    if (rd->r->num_maps == RECORD_MAPS) return fail(rd, "more than %d maps", RECORD_MAPS);
    if (param >= rd->r->num_params || rd->r->params[param].kind != RECORD_POINTER)
        return fail(rd, "a map of parameter %u, which is no pointer", param);
    if (swizzle != 16 && swizzle != 32 && swizzle != 64 && swizzle != 128)
        return fail(rd, "a map swizzled by %u bytes, not by 16, 32, 64 or 128", swizzle);
    return record_add_map(rd->r, param, swizzle) || fail(rd, "out of memory");
}

static bool read_box(Reader *rd) {
    const RecordMap *m = rd->r->num_maps ? &rd->r->maps[rd->r->num_maps - 1] : NULL;
    uint32_t elements = 0;
    if (!m) return fail(rd, "a box with no map before it");
    if (m->num_boxes == RECORD_BOXES) return fail(rd, "a map of more than %d dimensions", RECORD_BOXES);
    uint32_t words = m->num_boxes ? 4 : 3;
    if (!need_words(rd, words, words) || !read_u32(rd, word(rd, 1), &elements)) return false;
    if (elements == 0 || elements > MAX_BOX || (elements & (elements - 1)))
        return fail(rd, "a box of %u elements, which is no power of two up to %d", elements, MAX_BOX);
    uint32_t size = fsc_dtype_size(fsc_dtype_find(rd->r->params[m->param].dtype));
    if (!m->num_boxes && (m->swizzle == 16 ? elements * size % 16 : elements * size != m->swizzle))
        return fail(rd, "rows of %u elements of %u bytes in a map swizzled by %u", elements, size, m->swizzle);
    record_add_box(rd->r, elements, word(rd, 2), m->num_boxes ? word(rd, 3) : NULL);
    return true;
}

static bool read_grid(Reader *rd) {
    if (!need_words(rd, 2, 2)) return false;
    if (rd->r->num_grid == 3) return fail(rd, "more than three grid dimensions");
    record_add_grid(rd->r, word(rd, 1));
    return true;
}

static bool read_config(Reader *rd) {
    if (!need_words(rd, 2, 2)) return false;
    record_set_config(rd->r, word(rd, 1));
    return true;
}

/* num_warps "4", and perhaps what the variant is compiled with. */
static bool read_compiled(Reader *rd) {
    static void (*const set[])(Record * r, const char *code) = {record_set_num_warps, record_set_num_stages,
                                                                record_set_num_ctas};
    int i = 0;
    uint32_t value = 0;
    if (!need_words(rd, 2, 3) || !find_word(record_compiled, word(rd, 0), &i)) return false;
    set[i](rd->r, word(rd, 1));
    if (rd->num_words == 2) return true;
    if (!read_u32(rd, word(rd, 2), &value)) return false;
    record_set_compiled(rd->r, i, value);
    return true;
}

static bool read_tuned(Reader *rd) {
    if (!need_words(rd, 3, 3)) return false;
    record_set_tuned(rd->r, word(rd, 1), word(rd, 2));
    return true;
}

static bool read_require(Reader *rd) {
    if (!need_words(rd, 3, 3)) return false;
    return record_add_require(rd->r, word(rd, 1), word(rd, 2)) || fail(rd, "out of memory");
}

/* That it reaches over the grid or overlaps the launch ahead, how many threads are wanted, or one of the lines that its
 * needs come from. */
static bool read_origin(Reader *rd, uint32_t i, RecordLaunch *l) {
    if (strcmp(word(rd, i), "overlaps") == 0) return l->overlaps = true;
    if (strncmp(word(rd, i), "resident=", 9) == 0) return read_field(rd, i, "resident", &l->resident);
    if (strncmp(word(rd, i), "grid=", 5) == 0)
        return l->scope = SCOPE_GRID, read_field(rd, i, "grid", &l->most_programs);
    bool is_threads = strncmp(word(rd, i), "threads_line=", 13) == 0,
         is_tile = strncmp(word(rd, i), "tile_line=", 10) == 0;
    return is_threads
               ? read_field(rd, i, "threads_line", &l->threads_line)
               : read_field(rd, i, is_tile ? "tile_line" : "shared_line", is_tile ? &l->tile_line : &l->shared_line);
}

static bool read_launch(Reader *rd) {
    if (!need_words(rd, 7, 13)) return false;
    RecordLaunch *l = record_add_launch(rd->r, word(rd, 1), 0, 0, 0, 0);
    if (!l) return fail(rd, "out of memory");
    if (!read_field(rd, 2, "threads", &l->threads_per_block) ||
        !read_field(rd, 3, "programs", &l->programs_per_block) ||
        !read_field(rd, 4, "blocks", &l->blocks_per_program) || !read_field(rd, 5, "static", &l->shared_static) ||
        !read_field(rd, 6, "dynamic", &l->shared_dynamic))
        return false;
    l->scope = l->blocks_per_program > 1 ? SCOPE_CLUSTER : SCOPE_BLOCK;
    for (uint32_t i = 7; i < rd->num_words; i++)
        if (!read_origin(rd, i, l)) return false;
    if (l->programs_per_block == 0 || l->blocks_per_program == 0) return fail(rd, "a launch of no programs or blocks");
    return true;
}

static bool read_scratch(Reader *rd) {
    int64_t n = 0;
    if (!need_words(rd, 2, 2)) return false;
    if (!number_read_int(word(rd, 1), strlen(word(rd, 1)), &n) || n < 0)
        return fail(rd, "'%.40s' is no size", word(rd, 1));
    rd->r->scratch_bytes = (uint64_t)n;
    return true;
}

static bool read_access(Reader *rd) {
    uint32_t line = 0, col = 0, bytes = 0, param = 0;
    if (!need_words(rd, 6, 8)) return false;
    bool is_store = strcmp(word(rd, 1), "store") == 0;
    if (!is_store && strcmp(word(rd, 1), "load") != 0) return fail(rd, "'%.40s' is no access", word(rd, 1));
    if (!read_u32(rd, word(rd, 2), &line) || !read_u32(rd, word(rd, 3), &col) || !read_field(rd, 4, "bytes", &bytes) ||
        !need_dtype(rd, word(rd, 5)))
        return false;
    RecordAccess *a = record_add_access(rd->r, is_store, line, col, bytes, word(rd, 5), 31);
    if (!a) return fail(rd, "out of memory");
    for (uint32_t i = 6; i < rd->num_words; i++) {
        if (strncmp(word(rd, i), "align=", 6) == 0) {
            if (!read_field(rd, i, "align", &a->align)) return false;
            continue;
        }
        if (!read_field(rd, i, "param", &param)) return false;
        if (param >= rd->r->num_params) return fail(rd, "an access through parameter %u, which is not there", param);
        a->param = (int32_t)param;
    }
    return true;
}

static const struct {
    const char *head;
    bool (*read)(Reader *rd);
} lines[] = {
    {"kernel", read_kernel},       {"version", read_version},   {"target", read_target},
    {"file", read_file},           {"param", read_param},       {"dim", read_dim},
    {"grid", read_grid},           {"config", read_config},     {"num_warps", read_compiled},
    {"num_stages", read_compiled}, {"num_ctas", read_compiled}, {"require", read_require},
    {"tuned", read_tuned},         {"launch", read_launch},     {"scratch", read_scratch},
    {"access", read_access},       {"map", read_map},           {"box", read_box},
};

static bool read_line(Reader *rd) {
    if (!read_words(rd)) return false;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        if (strcmp(lines[i].head, word(rd, 0)) == 0) return lines[i].read(rd);
    }
    return fail(rd, "'%.40s' is no line of a record", word(rd, 0));
}

/* ---- The whole --------------------------------------------------------------------------------------------------- */

static bool check_code(Reader *rd, const char *code) {
    char why[160];
    if (!code || rule_check(code, rd->r->num_params, why, sizeof why)) return true;
    return fail(rd, "has a launch rule that is wrong: %s", why);
}

static bool check_codes(Reader *rd) {
    const Record *r = rd->r;
    rd->number = 0;
    for (uint32_t i = 0; i < r->num_params; i++) {
        const RecordParam *p = &r->params[i];
        if (!check_code(rd, p->rule)) return false;
        for (uint32_t k = 0; k < p->num_dims; k++) {
            if (!check_code(rd, p->dims[k].extent) || !check_code(rd, p->dims[k].stride)) return false;
        }
    }
    for (uint32_t i = 0; i < r->num_maps; i++) {
        const RecordMap *m = &r->maps[i];
        if (m->num_boxes == 0) return fail(rd, "has a map without dimensions");
        for (uint32_t k = 0; k < m->num_boxes; k++) {
            if (!check_code(rd, m->boxes[k].extent) || !check_code(rd, m->boxes[k].stride)) return false;
        }
    }
    for (uint32_t i = 0; i < r->num_grid; i++) {
        if (!check_code(rd, r->grid[i])) return false;
    }
    for (uint32_t i = 0; i < r->num_requires; i++) {
        if (!check_code(rd, r->requires[i].code)) return false;
    }
    return check_code(rd, r->tuned_line) && check_code(rd, r->num_warps) && check_code(rd, r->num_stages) &&
           check_code(rd, r->num_ctas);
}

/* The bytes before the "end" line, after comparing their hash with it; 0 after a complaint. */
static size_t find_end(Reader *rd, const char *text, size_t length) {
    const size_t magic = strlen(RECORD_MAGIC), end_line = strlen("end 01234567\n");
    if (length < magic || memcmp(text, RECORD_MAGIC, magic) != 0) {
        bool ours = length >= 11 && memcmp(text, "fsc-record ", 11) == 0;
        fail(rd, ours ? "is of a version that this runtime does not read" : "does not begin with its magic");
        return 0;
    }
    for (size_t i = magic; i + end_line <= length; i++) {
        if (text[i - 1] != '\n' || memcmp(text + i, "end ", 4) != 0) continue;
        char hash[16];
        snprintf(hash, sizeof hash, "%08x\n", record_hash(text, i));
        if (memcmp(text + i + 4, hash, 9) == 0) return i;
        fail(rd, "is damaged: its hash differs");
        return 0;
    }
    fail(rd, "is cut off: it has no end");
    return 0;
}

static Record *parse(const char *text, size_t length, bool is_interface, char *err, size_t errsize) {
    Reader rd = {.err = err, .errsize = errsize, .is_interface = is_interface};
    size_t end = find_end(&rd, text, length);
    if (end == 0) return NULL;
    rd.r = record_create("");
    char *copy = malloc(end + 1);
    bool ok = rd.r && copy;
    if (ok && memchr(text, '\0', end)) ok = fail(&rd, "holds a NUL byte");
    if (ok) {
        memcpy(copy, text, end);
        copy[end] = '\0';
    }
    char *p = ok ? copy + strlen(RECORD_MAGIC) : NULL;
    for (rd.number = 2; ok && *p; rd.number++) {
        char *newline = strchr(p, '\n'); /* the line before "end" ends in one */
        *newline = '\0';
        rd.line = p;
        ok = read_line(&rd);
        p = newline + 1;
    }
    if (ok) ok = check_codes(&rd);
    if (ok && *rd.r->kernel == '\0') ok = fail(&rd, "names no kernel");
    bool lacks_memory = !rd.r || !copy || rd.r->failed;
    free(copy);
    if (lacks_memory && errsize) err[0] = '\0';
    ok = ok && !lacks_memory;
    if (ok) return rd.r;
    record_free(rd.r);
    return NULL;
}

Record *record_parse(const char *text, size_t length, char *err, size_t errsize) {
    return parse(text, length, false, err, errsize);
}

Record *record_parse_interface(const char *text, size_t length) {
    return parse(text, length, true, NULL, 0);
}

/* record.c - building a variant's record and writing its text (record.h has the format).
 *
 * In: parts. Out: Record, text. Method: every string and array lives in chunks that the record owns and frees at once;
 * an array doubles by moving into a new chunk. Memory that runs out sets `failed`, and nothing after it is written.
 */
#include "runtime/record/record.h"

#include "runtime/base/number.h"
#include "runtime/record/recordtext.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

enum { CHUNK = 2048 };

struct RecordChunk {
    struct RecordChunk *next;
    size_t used, size;
    _Alignas(16) unsigned char bytes[];
};

static void *grab(Record *r, size_t size) {
    size = (size + 15) & ~(size_t)15;
    struct RecordChunk *c = r->chunks;
    if (!c || c->size - c->used < size) {
        size_t room = size > CHUNK ? size : CHUNK;
        c = malloc(sizeof *c + room);
        if (!c) {
            r->failed = true;
            return NULL;
        }
        *c = (struct RecordChunk){.next = r->chunks, .size = room};
        r->chunks = c;
    }
    void *p = c->bytes + c->used;
    c->used += size;
    memset(p, 0, size);
    return p;
}

/* Room for one more element; the array and its count are the caller's fields. Capacity is the next power of two. */
static void *push(Record *r, void **array, uint32_t *count, size_t size) {
    uint32_t n = *count;
    if ((n & (n - 1)) == 0) {
        uint32_t cap = n ? n * 2 : 1;
        unsigned char *bigger = grab(r, size * cap);
        if (!bigger) return NULL;
        if (n) memcpy(bigger, *array, size * n);
        *array = bigger;
    }
    ++*count;
    return (unsigned char *)*array + size * n;
}

const char *record_string(Record *r, const char *s) {
    if (!s) return NULL;
    size_t n = strlen(s) + 1;
    char *copy = grab(r, n);
    if (copy) memcpy(copy, s, n);
    return copy;
}

/* Never NULL, so that a record that failed can still be read. */
static const char *keep(Record *r, const char *s) {
    const char *copy = record_string(r, s ? s : "");
    return copy ? copy : "";
}

/* NULL stays NULL. */
static const char *keep_code(Record *r, const char *s) {
    return s ? keep(r, s) : NULL;
}

/* ---- Building ---------------------------------------------------------------------------------------------------- */

Record *record_create(const char *kernel) {
    Record *r = calloc(1, sizeof *r);
    if (!r) return NULL;
    r->version = r->target = r->file = "";
    for (int i = 0; i < 3; i++) r->compiled[i] = -1;
    r->kernel = keep(r, kernel);
    return r;
}

void record_free(Record *r) {
    if (!r) return;
    for (struct RecordChunk *c = r->chunks, *next; c; c = next) {
        next = c->next;
        free(c);
    }
    free(r);
}

void record_set_target(Record *r, const char *target, const char *version, const char *file) {
    r->target = keep(r, target);
    r->version = keep(r, version);
    r->file = keep(r, file);
}

RecordParam *record_add_param(Record *r, RecordKind kind, const char *name, const char *dtype) {
    void *array = r->params;
    RecordParam *p = push(r, &array, &r->num_params, sizeof *p);
    if (!p) return NULL;
    r->params = array;
    *p = (RecordParam){.kind = kind, .name = keep(r, name), .dtype = keep(r, dtype), .divisible = 1, .value = ""};
    return p;
}

void record_set_default(Record *r, RecordParam *p, RecordValueKind kind, const char *value) {
    p->value_kind = kind;
    p->value = keep(r, value);
}

RecordParam *record_add_constexpr(Record *r, const char *name, RecordValueKind kind, const char *value,
                                  RecordOrigin origin, const char *rule) {
    RecordParam *p = record_add_param(r, RECORD_CONSTEXPR, name, "");
    if (!p) return NULL;
    p->value_kind = kind;
    p->value = keep(r, value);
    p->origin = origin;
    p->rule = keep_code(r, rule);
    return p;
}

void record_add_dim(Record *r, uint32_t param, const char *extent, const char *stride) {
    if (param >= r->num_params) return;
    RecordParam *p = &r->params[param];
    void *array = p->dims;
    RecordDim *d = push(r, &array, &p->num_dims, sizeof *d);
    if (!d) return;
    p->dims = array;
    *d = (RecordDim){.extent = keep(r, extent), .stride = keep(r, stride)};
}

RecordMap *record_add_map(Record *r, uint32_t param, uint32_t swizzle) {
    void *array = r->maps;
    RecordMap *m = push(r, &array, &r->num_maps, sizeof *m);
    if (!m) return NULL;
    r->maps = array;
    *m = (RecordMap){.param = param, .swizzle = swizzle};
    return m;
}

void record_add_box(Record *r, uint32_t elements, const char *extent, const char *stride) {
    RecordMap *m = r->num_maps ? &r->maps[r->num_maps - 1] : NULL;
    if (m && m->num_boxes < RECORD_BOXES)
        m->boxes[m->num_boxes++] =
            (RecordBox){.elements = elements, .extent = keep(r, extent), .stride = keep_code(r, stride)};
    else
        r->failed = true;
}

void record_add_grid(Record *r, const char *code) {
    if (r->num_grid < 3)
        r->grid[r->num_grid++] = keep(r, code);
    else
        r->failed = true;
}

void record_set_config(Record *r, const char *text) {
    r->config = keep(r, text);
}

void record_set_num_warps(Record *r, const char *code) {
    r->num_warps = keep_code(r, code);
}

void record_set_num_stages(Record *r, const char *code) {
    r->num_stages = keep_code(r, code);
}

void record_set_num_ctas(Record *r, const char *code) {
    r->num_ctas = keep_code(r, code);
}

void record_set_compiled(Record *r, int i, int64_t value) {
    r->compiled[i] = value;
}

void record_set_tuned(Record *r, const char *file, const char *line) {
    r->tuned_file = keep(r, file);
    r->tuned_line = keep_code(r, line);
}

RecordRequire *record_add_require(Record *r, const char *code, const char *text) {
    void *array = r->requires;
    RecordRequire *q = push(r, &array, &r->num_requires, sizeof *q);
    if (!q) return NULL;
    r->requires = array;
    *q = (RecordRequire){.code = keep(r, code), .text = keep(r, text)};
    return q;
}

RecordLaunch *record_add_launch(Record *r, const char *entry, uint32_t threads_per_block, uint32_t programs_per_block,
                                uint32_t blocks_per_program, uint32_t shared_bytes) {
    void *array = r->launches;
    RecordLaunch *l = push(r, &array, &r->num_launches, sizeof *l);
    if (!l) return NULL;
    r->launches = array;
    *l = (RecordLaunch){.entry = keep(r, entry),
                        .threads_per_block = threads_per_block,
                        .programs_per_block = programs_per_block,
                        .blocks_per_program = blocks_per_program,
                        .scope = blocks_per_program > 1 ? SCOPE_CLUSTER : SCOPE_BLOCK,
                        .shared_dynamic = shared_bytes};
    return l;
}

RecordAccess *record_add_access(Record *r, bool is_store, uint32_t line, uint32_t col, uint32_t vector_bytes,
                                const char *dtype, uint32_t align_log2) {
    void *array = r->accesses;
    RecordAccess *a = push(r, &array, &r->num_accesses, sizeof *a);
    if (!a) return NULL;
    r->accesses = array;
    *a = (RecordAccess){.is_store = is_store,
                        .line = line,
                        .col = col,
                        .vector_bytes = vector_bytes,
                        .dtype = keep(r, dtype),
                        .align = align_log2 < 31 ? (uint32_t)1 << align_log2 : 0,
                        .param = -1};
    return a;
}

bool record_value(const RecordParam *p, RuleValue *out) {
    size_t n = strlen(p->value);
    int64_t i = 0;
    double f = 0;
    bool is_true = strcmp(p->value, "True") == 0; /* as options write it */
    switch (p->value_kind) {
    case RECORD_INT:
    case RECORD_BOOL:
        if (is_true || strcmp(p->value, "False") == 0) return (*out = rule_int(is_true), true);
        if (!number_read_int(p->value, n, &i)) return false;
        *out = rule_int(i);
        return true;
    case RECORD_FLOAT:
        if (!number_read(p->value, n, &f)) return false;
        *out = rule_float(f);
        return true;
    case RECORD_DTYPE: return rule_dtype(p->value, n, out);
    case RECORD_WORD: return (*out = rule_int(0), n != 0);
    }
    return false;
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

const char *const record_kinds[] = {"pointer", "scalar", "constexpr", NULL};
const char *const record_value_kinds[] = {"int", "float", "bool", "dtype", "word", NULL};
const char *const record_origins[] = {"option", "signature", "rule", "default", "config", "tuned", NULL};
const char *const record_compiled[] = {"num_warps", "num_stages", "num_ctas", NULL};

typedef struct Out {
    char *at;
    size_t length, cap;
    bool failed;
} Out;

static void out_bytes(Out *o, const char *s, size_t n) {
    if (o->failed) return;
    if (o->cap - o->length < n + 1) {
        size_t cap = (o->cap + n + 1) * 2;
        char *bigger = realloc(o->at, cap);
        if (!bigger) {
            o->failed = true;
            return;
        }
        o->at = bigger;
        o->cap = cap;
    }
    memcpy(o->at + o->length, s, n);
    o->length += n;
    o->at[o->length] = '\0';
}

static void out(Out *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Short pieces only: numbers and our own words. */
static void out(Out *o, const char *fmt, ...) {
    char text[128];
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (n > 0) out_bytes(o, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
}

static void out_quoted(Out *o, const char *s) {
    out_bytes(o, " \"", 2);
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\')
            out(o, "\\%c", c);
        else if (c == '\n')
            out_bytes(o, "\\n", 2);
        else if (c < 32 || c == 127)
            out(o, "\\x%02x", c);
        else
            out_bytes(o, s, 1);
    }
    out_bytes(o, "\"", 1);
}

/* Bare where the reader takes it as one word. */
static void out_word(Out *o, const char *s) {
    size_t bare = 0;
    while ((unsigned char)s[bare] > 32 && s[bare] != 127 && s[bare] != '"' && s[bare] != '\\' && s[bare] != '=') bare++;
    if (bare == 0 || s[bare]) {
        out_quoted(o, s);
        return;
    }
    out_bytes(o, " ", 1);
    out_bytes(o, s, bare);
}

static void out_code(Out *o, const char *name, const char *code) {
    if (!code) return;
    out(o, "%s", name);
    out_quoted(o, code);
    out(o, "\n");
}

static void write_param(Out *o, const RecordParam *p) {
    out(o, "param %s", record_kinds[p->kind]);
    out_word(o, p->name);
    if (p->kind == RECORD_CONSTEXPR) {
        out(o, " %s", record_value_kinds[p->value_kind]);
        out_word(o, p->value);
        out(o, " %s", record_origins[p->origin]);
        if (p->rule) out_quoted(o, p->rule);
    } else {
        out_word(o, p->dtype);
        if (p->divisible > 1) out(o, " divisible=%u", p->divisible);
        if (p->is_const) out(o, " const");
        if (p->equals_one) out(o, " equals_one");
        if (p->least) out(o, " least=%u", p->least);
        if (p->most) out(o, " most=%u", p->most);
        if (p->kind == RECORD_SCALAR && p->value[0]) out(o, " default=%s", p->value);
    }
    out(o, "\n");
    for (uint32_t i = 0; i < p->num_dims; i++) {
        out(o, "dim");
        out_quoted(o, p->dims[i].extent);
        out_quoted(o, p->dims[i].stride);
        out(o, "\n");
    }
}

static void write_map(Out *o, const RecordMap *m) {
    out(o, "map %u swizzle=%u\n", m->param, m->swizzle);
    for (uint32_t i = 0; i < m->num_boxes; i++) {
        out(o, "box %u", m->boxes[i].elements);
        out_quoted(o, m->boxes[i].extent);
        if (m->boxes[i].stride) out_quoted(o, m->boxes[i].stride);
        out(o, "\n");
    }
}

static void write_launch(Out *o, const RecordLaunch *l) {
    out(o, "launch");
    out_word(o, l->entry);
    out(o, " threads=%u programs=%u blocks=%u static=%u dynamic=%u", l->threads_per_block, l->programs_per_block,
        l->blocks_per_program, l->shared_static, l->shared_dynamic);
    if (l->scope == SCOPE_GRID) out(o, " grid=%u", l->most_programs);
    if (l->threads_line) out(o, " threads_line=%u", l->threads_line);
    if (l->tile_line) out(o, " tile_line=%u", l->tile_line);
    if (l->shared_line) out(o, " shared_line=%u", l->shared_line);
    if (l->resident) out(o, " resident=%u", l->resident);
    if (l->overlaps) out(o, " overlaps");
    out(o, "\n");
}

static void write_access(Out *o, const RecordAccess *a) {
    out(o, "access %s %u %u bytes=%u", a->is_store ? "store" : "load", a->line, a->col, a->vector_bytes);
    out_word(o, a->dtype);
    if (a->align) out(o, " align=%u", a->align);
    if (a->param >= 0) out(o, " param=%d", a->param);
    out(o, "\n");
}

static void write_compiled(Out *o, const char *name, const char *code, int64_t value) {
    if (!code) return;
    out(o, "%s", name);
    out_quoted(o, code);
    if (value >= 0) out(o, " %lld", (long long)value);
    out(o, "\n");
}

static void write_word(Out *o, const char *name, const char *word) {
    out(o, "%s", name);
    out_word(o, word);
    out(o, "\n");
}

uint32_t record_hash(const char *text, size_t length) {
    uint32_t h = 2166136261u; /* FNV-1a's basis and prime for 32 bits */
    for (size_t i = 0; i < length; i++) h = (h ^ (unsigned char)text[i]) * 16777619u;
    return h;
}

char *record_write(const Record *r, size_t *length) {
    Out o = {.failed = r->failed};
    out_bytes(&o, RECORD_MAGIC, strlen(RECORD_MAGIC));
    write_word(&o, "kernel", r->kernel);
    write_word(&o, "version", r->version);
    write_word(&o, "target", r->target);
    out(&o, "file");
    out_quoted(&o, r->file);
    out(&o, "\n");
    for (uint32_t i = 0; i < r->num_params; i++) write_param(&o, &r->params[i]);
    for (uint32_t i = 0; i < r->num_maps; i++) write_map(&o, &r->maps[i]);
    for (uint32_t i = 0; i < r->num_grid; i++) out_code(&o, "grid", r->grid[i]);
    out_code(&o, "config", r->config);
    const char *const codes[] = {r->num_warps, r->num_stages, r->num_ctas};
    for (int i = 0; i < 3; i++) write_compiled(&o, record_compiled[i], codes[i], r->compiled[i]);
    if (r->tuned_line) {
        out(&o, "tuned");
        out_quoted(&o, r->tuned_file);
        out_quoted(&o, r->tuned_line);
        out(&o, "\n");
    }
    for (uint32_t i = 0; i < r->num_requires; i++) {
        out(&o, "require");
        out_quoted(&o, r->requires[i].code);
        out_quoted(&o, r->requires[i].text);
        out(&o, "\n");
    }
    for (uint32_t i = 0; i < r->num_launches; i++) write_launch(&o, &r->launches[i]);
    out(&o, "scratch %llu\n", (unsigned long long)r->scratch_bytes);
    for (uint32_t i = 0; i < r->num_accesses; i++) write_access(&o, &r->accesses[i]);
    if (!o.failed) out(&o, "end %08x\n", record_hash(o.at, o.length));
    if (o.failed) {
        free(o.at);
        return NULL;
    }
    if (length) *length = o.length;
    return o.at;
}

Record *record_copy(const Record *r) {
    size_t n = 0;
    char *text = record_write(r, &n);
    Record *copy = text ? record_parse(text, n, NULL, 0) : NULL;
    free(text);
    return copy;
}

/* print.c - a function as text. read.c reads it back; printing what was read gives the same text.
 *
 * In: a function, sound or not. Out: text; one op a line, regions indented.
 * Method: one walk in program order names every value (its own name made unique, else a number in order) and numbers
 * the layouts; a second walk prints.
 */
#include "ir/private.h"

#include <string.h>

typedef struct Printer {
    const Func *f;
    Text *out;
    Arena *scratch;
    bool spans;
    uint32_t depth;
    const char **names; /* by value id */
    uint32_t nameless;  /* values so far without a name of their own */
    struct Name {
        const char *text; /* NULL: free */
        uint32_t next;    /* the suffix to try next where the name is taken */
    } * taken;            /* open addressing */
    uint32_t slots, used;
    VEC(const Layout *) layouts;
} Printer;

/* ---- Names ------------------------------------------------------------------------------------------------------- */

static struct Name *name_slot(Printer *p, const char *text) {
    uint32_t h = 2166136261u; /* FNV-1a */
    for (const char *at = text; *at; at++) h = (h ^ (unsigned char)*at) * 16777619u;
    uint32_t i = h & (p->slots - 1);
    while (p->taken[i].text && strcmp(p->taken[i].text, text) != 0) i = (i + 1) & (p->slots - 1);
    return &p->taken[i];
}

static void name_take(Printer *p, const char *text) {
    if (2 * (p->used + 1) > p->slots) {
        struct Name *old = p->taken;
        uint32_t n = p->slots;
        p->slots *= 2;
        p->taken = NEW_ARRAY(p->scratch, struct Name, p->slots);
        for (uint32_t i = 0; i < n; i++)
            if (old[i].text) *name_slot(p, old[i].text) = old[i];
    }
    *name_slot(p, text) = (struct Name){text, 1};
    p->used++;
}

/* The name as the reader takes it: letters, digits, _ and ., no digit first. */
static const char *clean_name(Printer *p, const char *name) {
    bool digit = name[0] >= '0' && name[0] <= '9';
    char *text = arena_printf(p->scratch, "%s%s", digit ? "_" : "", name);
    for (char *at = text; *at; at++) {
        bool letter = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') || (*at >= '0' && *at <= '9');
        if (!letter && *at != '_' && *at != '.') *at = '_';
    }
    return text;
}

static void name_value(Printer *p, const Value *v) {
    if (v->id >= p->f->next_value || p->names[v->id]) return; /* not sound: printed as such */
    if (!v->name || !v->name[0]) {
        p->names[v->id] = arena_printf(p->scratch, "%u", p->nameless++);
        return;
    }
    const char *name = clean_name(p, v->name), *wanted = name;
    while (name_slot(p, name)->text) name = arena_printf(p->scratch, "%s_%u", wanted, name_slot(p, wanted)->next++);
    name_take(p, name);
    p->names[v->id] = name;
}

static void note_layout(Printer *p, const Layout *l) {
    if (!l) return;
    for (uint32_t i = p->layouts.len; i > 0; i--)
        if (p->layouts.at[i - 1] == l) return;
    vec_push(p->scratch, &p->layouts, l);
}

static void name_block(Printer *p, const Block *b) {
    for (uint32_t i = 0; i < b->args.len; i++) {
        name_value(p, b->args.at[i]);
        note_layout(p, b->args.at[i]->type.layout);
    }
    for (const Op *op = b->first; op; op = op->next) {
        for (uint32_t i = 0; i < op->nresults; i++) {
            name_value(p, op->results[i]);
            note_layout(p, op->results[i]->type.layout);
        }
        for (uint32_t i = 0; i < op->nregions; i++) name_block(p, op->regions[i]);
    }
}

static uint32_t layout_number(const Printer *p, const Layout *l) {
    uint32_t i = 0;
    while (i < p->layouts.len && p->layouts.at[i] != l) i++;
    return i;
}

/* Flat order goes without saying. */
static bool is_flat(const Printer *p, const Buffer *b) {
    return b->places == layout_flat(p->f->layouts, b->places->shape);
}

static Printer printer_create(const Func *f, Text *out, bool spans) {
    Printer p = {.f = f, .out = out, .scratch = arena_create(), .spans = spans, .slots = 256};
    p.names = NEW_ARRAY(p.scratch, const char *, f->next_value);
    p.taken = NEW_ARRAY(p.scratch, struct Name, p.slots);
    name_block(&p, f->body);
    for (uint32_t i = 0; i < f->buffers.len; i++)
        if (!is_flat(&p, &f->buffers.at[i])) note_layout(&p, f->buffers.at[i].places);
    return p;
}

/* ---- Pieces ------------------------------------------------------------------------------------------------------ */

static void put(Printer *p, const char *s) {
    text_write(p->out, s, strlen(s));
}

static void put_value(Printer *p, const Value *v) {
    const char *name = v && v->id < p->f->next_value ? p->names[v->id] : NULL;
    put(p, "%");
    put(p, name ? name : v ? "<unknown>" : "<none>");
}

static void put_values(Printer *p, Value *const *v, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        put(p, i ? ", " : "");
        put_value(p, v[i]);
    }
}

static void put_type(Printer *p, Type t) {
    uint32_t i = layout_number(p, t.layout);
    if (!t.layout || i == p->layouts.len || !t.shape.rank) {
        type_print(t, p->out);
        return;
    }
    const Type plain = type_with_shape(t, t.shape);
    type_print(plain, p->out);
    p->out->len--; /* the > */
    text_printf(p->out, ", #l%u>", i);
}

static void put_types(Printer *p, Value *const *v, uint32_t n) {
    put(p, "(");
    for (uint32_t i = 0; i < n; i++) {
        put(p, i ? ", " : "");
        put_type(p, v[i]->type);
    }
    put(p, ")");
}

static void put_span(Printer *p, Span s) {
    if (p->spans) text_printf(p->out, " loc(%u:%u)", s.begin, s.end);
}

static const char *word_at(const char *const *words, uint32_t i) {
    for (uint32_t n = 0; words[n]; n++)
        if (n == i) return words[n];
    return "?";
}

/* ---- Attributes in braces: { first, second } --------------------------------------------------------------------- */

typedef struct Braces {
    Printer *p;
    bool open;
} Braces;

static void brace(Braces *b, const char *fmt, ...) PRINTF_LIKE(2, 3);
static void brace(Braces *b, const char *fmt, ...) {
    char text[64];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    put(b->p, b->open ? ", " : " {");
    put(b->p, text);
    b->open = true;
}

static void brace_memory(Braces *b, const MemAttr *m) {
    if (m->align_log2) brace(b, "align = %llu", 1ULL << m->align_log2);
    if (m->vec_log2) brace(b, "vec = %llu", 1ULL << m->vec_log2);
    if (m->mask_kind) brace(b, "mask = %s", m->mask_kind <= MASK_PREFIX ? mask_words[m->mask_kind] : "?");
    if (m->cache) brace(b, "cache = %s", m->cache <= CACHE_CV ? cache_words[m->cache] : "?");
    if (m->evict) brace(b, "evict = %s", m->evict <= EVICT_LAST ? evict_words[m->evict] : "?");
    if (m->is_volatile) brace(b, "volatile");
    if (m->wants_line) brace(b, "line");
    if (m->is_rotated) brace(b, "rotated");
    if (m->is_versioned) brace(b, "versioned");
    if (m->is_late) brace(b, "late");
    if (m->is_guarded) brace(b, "guarded");
    if (b->p->spans) brace(b, "site = %u", m->site);
}

static void brace_atomic(Braces *b, const Op *op) {
    const MemAttr *m = &op->attr.mem;
    if (op->kind == OP_ATOMICRMW) brace(b, "op = %s", m->atomic < ATOMIC_COUNT ? atomic_words[m->atomic] : "?");
    brace(b, "order = %s", m->order <= ORDER_ACQ_REL ? order_words[m->order] : "?");
    brace(b, "reach = %s", m->reach <= REACH_SYS ? reach_words[m->reach] : "?");
}

static void brace_loop(Braces *b, const LoopAttr *l) {
    if (l->num_stages) brace(b, "stages = %d", l->num_stages);
    if (l->unroll_factor) brace(b, "unroll = %d", l->unroll_factor);
    if (l->flatten) brace(b, "flatten");
    if (l->disable_licm) brace(b, "no_licm");
}

static void brace_perm(Braces *b, const Op *op) {
    uint8_t perm[SHAPE_RANK];
    uint32_t rank = op->nresults && op->results[0] ? op->results[0]->type.shape.rank : 0;
    if (op->kind == OP_SHMATRIX) rank = 2;
    attr_perm_read(op->attr, perm);
    brace(b, "perm = [");
    for (uint32_t i = 0; i < rank && i < SHAPE_RANK; i++) text_printf(b->p->out, "%s%u", i ? ", " : "", perm[i]);
    put(b->p, "]");
}

static void put_braces(Printer *p, const Op *op) {
    Braces b = {p, false};
    const Attr *a = &op->attr;
    switch (op_info[op->kind].attr) {
    case ATTR_AXIS:
        if (op->nargs) brace(&b, "axis = %u", a->axis);
        break;
    case ATTR_PERM: brace_perm(&b, op); break;
    case ATTR_HALF: brace(&b, "half = %u", a->half); break;
    case ATTR_BITMASK: brace(&b, "mask = %u", a->flip); break;
    case ATTR_ROUND:
        if (a->round != ROUND_NEAREST) brace(&b, "round = %s", word_at(round_words, a->round));
        break;
    case ATTR_ACCURACY:
        if (a->accuracy != ACCURACY_FULL) brace(&b, "accuracy = %s", word_at(accuracy_words, a->accuracy));
        break;
    case ATTR_MEM:
        if (op_is_atomic(op->kind)) brace_atomic(&b, op);
        brace_memory(&b, &a->mem);
        if (a->map) brace(&b, "map = m%u", a->map - 1);
        break;
    case ATTR_BULK:
    case ATTR_COPY:
        brace(&b, "buffer = b%u", a->buffer);
        if (op_has_map(op->kind)) brace(&b, "map = m%u", a->map);
        if (a->is_begin) brace(&b, "begin");
        if (a->is_prefetch) brace(&b, "prefetch");
        if (a->is_across) brace(&b, "across");
        if (a->ahead) brace(&b, "ahead = %u", a->ahead);
        if (a->is_read) brace(&b, "read");
        if (op_info[op->kind].attr == ATTR_COPY) brace_memory(&b, &a->mem);
        break;
    case ATTR_PENDING: brace(&b, "pending = %u", a->pending); break;
    case ATTR_REDUCE:
        brace(&b, "axis = %u", a->axis);
        brace(&b, "combine = %s", a->combine < OP_COUNT ? op_info[a->combine].name : "?");
        if (a->is_scattered) brace(&b, "scatter");
        if (a->is_packed) brace(&b, "packed");
        if (a->is_paired) brace(&b, "paired");
        break;
    case ATTR_COMBINE:
        brace(&b, "axis = %u", a->axis);
        if (a->flags & COMBINE_REVERSE) brace(&b, "reverse");
        if (a->flags & COMBINE_EXCLUSIVE) brace(&b, "exclusive");
        break;
    case ATTR_DOT:
        if (a->precision != PRECISION_IEEE) brace(&b, "precision = %s", word_at(precision_words, a->precision));
        if (a->imprecise) brace(&b, "imprecise = %u", a->imprecise);
        if (a->is_unsigned[0]) brace(&b, "unsigned_a");
        if (a->is_unsigned[1]) brace(&b, "unsigned_b");
        break;
    case ATTR_MMA:
        brace(&b, "instr = %s", word_at(mma_words, a->instr));
        brace(&b, "warps_m = %u", 1u << a->warps_m_log2);
        break;
    case ATTR_SHARED:
        brace(&b, "buffer = b%u", a->buffer);
        if (a->scope > SCOPE_BLOCK) brace(&b, "%s", word_at(scope_words, a->scope));
        if (op->kind == OP_SHLOAD && a->flip) brace(&b, "flip = %u", a->flip);
        if (op->kind == OP_SHGATHER || op->kind == OP_SHSLICE) brace(&b, "axis = %u", a->axis);
        if ((op->kind == OP_SHSLICE || op->kind == OP_SHMATRIX) && a->perm) brace_perm(&b, op);
        if (a->is_matrices) brace(&b, "matrices");
        break;
    case ATTR_TEXT:
        brace(&b, "text = ");
        quoted_print(a->text ? a->text : "", p->out);
        if (op->kind == OP_PRINT) brace(&b, "as = %s", word_at(shown_words, a->shown));
        if (op->kind == OP_ASSERT && p->spans) brace(&b, "site = %u", a->mem.site);
        break;
    case ATTR_LOOP: brace_loop(&b, &a->loop); break;
    case ATTR_NONE:
    case ATTR_BITS:
    case ATTR_RANGE: break;
    case ATTR_PRED:
        if (a->run_log2) brace(&b, "axis = %u, run = %u", a->axis, 1u << a->run_log2);
        break;
    case ATTR_SCOPE:
        if (a->is_begin) brace(&b, "begin");
        break;
    }
    if (a->when) brace(&b, "when = %s", word_at(when_words, a->when));
    if (b.open) put(p, "}");
}

/* ---- Ops --------------------------------------------------------------------------------------------------------- */

/* What stands between the name and the operands. */
static void put_leading(Printer *p, const Op *op) {
    const Attr *a = &op->attr;
    switch (op_info[op->kind].attr) {
    case ATTR_BITS:
        put(p, " ");
        constant_print(op->nresults ? op->results[0]->type : type_scalar(DT_I64), a->bits, p->out);
        break;
    case ATTR_RANGE: text_printf(p->out, " %lld, %lld", (long long)a->start, (long long)a->end); break;
    case ATTR_AXIS:
        if (!op->nargs) text_printf(p->out, " %u", a->axis);
        break;
    case ATTR_PRED: text_printf(p->out, " %s", word_at(op->kind == OP_ICMP ? icmp_words : fcmp_words, a->pred)); break;
    case ATTR_SCOPE: text_printf(p->out, " %s", word_at(scope_words, a->scope)); break;
    default: break;
    }
}

static void put_carried(Printer *p, const Op *op, const Block *b, uint32_t first_arg, uint32_t first_operand) {
    if (op->nargs <= first_operand) return;
    put(p, " carry (");
    for (uint32_t i = first_operand; i < op->nargs; i++) {
        uint32_t at = i - first_operand + first_arg;
        put(p, i > first_operand ? ", " : "");
        put_value(p, b && at < b->args.len ? b->args.at[at] : NULL);
        put(p, " = ");
        put_value(p, op->args[i]);
    }
    put(p, ")");
}

static void put_header(Printer *p, const Op *op) {
    const Block *b = op->nregions ? op->regions[0] : NULL;
    put_values(p, op->results, op->nresults);
    if (op->nresults) put(p, " = ");
    put(p, op_info[op->kind].name);
    put_leading(p, op);
    if (op->kind == OP_FOR && op->nargs >= 3) {
        put(p, " ");
        put_value(p, b && b->args.len ? b->args.at[0] : NULL);
        put(p, " = ");
        put_value(p, op->args[0]);
        put(p, " to ");
        put_value(p, op->args[1]);
        put(p, " step ");
        put_value(p, op->args[2]);
        put_carried(p, op, b, 1, 3);
    } else if (op->kind == OP_WHILE) {
        put_carried(p, op, b, 0, 0);
    } else if (op->nargs) {
        put(p, " ");
        put_values(p, op->args, op->nargs);
    }
    if (op_is_combine(op->kind) && b) {
        put(p, " by (");
        put_values(p, b->args.at, b->args.len);
        put(p, ")");
    }
    put_braces(p, op);
    if (op->nresults) put(p, " : ");
    if (op->nresults && op_info[op->kind].nresults == 1)
        put_type(p, op->results[0]->type);
    else if (op->nresults)
        put_types(p, op->results, op->nresults);
    put_span(p, op->span);
}

static void put_indent(Printer *p) {
    for (uint32_t i = 0; i < p->depth; i++) put(p, "  ");
}

static void put_block(Printer *p, const Block *b);

static bool is_empty_else(const Op *op) {
    const Op *only = op->regions[1]->first;
    return only && only->kind == OP_YIELD && !only->next && only->nargs == 0;
}

static void put_regions(Printer *p, const Op *op) {
    put(p, " {\n");
    put_block(p, op->regions[0]);
    put_indent(p);
    if (op->kind == OP_IF && op->nregions > 1 && (p->spans || !is_empty_else(op))) {
        put(p, "} else {\n");
        put_block(p, op->regions[1]);
        put_indent(p);
    } else if (op->kind == OP_WHILE && op->nregions > 1) {
        const Block *b = op->regions[1];
        put(p, "} do (");
        for (uint32_t i = 0; i < b->args.len; i++) {
            put(p, i ? ", " : "");
            put_value(p, b->args.at[i]);
            put(p, ": ");
            put_type(p, b->args.at[i]->type);
        }
        put(p, ") {\n");
        put_block(p, b);
        put_indent(p);
    }
    put(p, "}");
}

static void put_block(Printer *p, const Block *b) {
    p->depth++;
    for (const Op *op = b->first; op; op = op->next) {
        put_indent(p);
        put_header(p, op);
        if (op->nregions) put_regions(p, op);
        put(p, "\n");
    }
    p->depth--;
}

/* ---- The function ------------------------------------------------------------------------------------------------ */

static void put_param(Printer *p, uint32_t i) {
    const Param none = {0}, *q = i < p->f->params.len ? &p->f->params.at[i] : &none;
    Braces b = {p, false};
    put_value(p, p->f->body->args.at[i]);
    put(p, ": ");
    put_type(p, p->f->body->args.at[i]->type);
    if (q->divisible > 1) brace(&b, "divisible = %u", q->divisible);
    if (q->is_const) brace(&b, "const");
    if (q->is_unsigned) brace(&b, "unsigned");
    if (q->is_nonnegative) brace(&b, "nonnegative");
    if (q->least) brace(&b, "least = %u", q->least);
    if (q->most) brace(&b, "most = %u", q->most);
    if (b.open) put(p, "}");
    put_span(p, q->span);
}

static void put_signature(Printer *p) {
    const Func *f = p->f;
    text_printf(p->out, "func @%s(", f->name);
    for (uint32_t i = 0; i < f->body->args.len; i++) {
        put(p, i ? ", " : "");
        put_param(p, i);
    }
    text_printf(p->out, ") stage %s", f->stage == STAGE_TILE ? "tile" : "simt");
    if (f->num_warps) text_printf(p->out, " warps %u", f->num_warps);
    if (f->num_stages) text_printf(p->out, " stages %u", f->num_stages);
    if (f->num_ctas) text_printf(p->out, " ctas %u", f->num_ctas);
    if (f->threads_per_program) text_printf(p->out, " threads %u", f->threads_per_program);
    if (f->programs_per_block != 1) text_printf(p->out, " packed %u", f->programs_per_block);
    if (f->scope > SCOPE_BLOCK) text_printf(p->out, " %s %u", word_at(scope_words, f->scope), f->blocks_per_program);
    if (f->grid_blocks) text_printf(p->out, " blocks %u", f->grid_blocks);
    if (f->grid_programs) text_printf(p->out, " programs %u", f->grid_programs);
    if (f->resident) text_printf(p->out, " resident %u", f->resident);
    if (f->shared_bytes) text_printf(p->out, " shared %u", f->shared_bytes);
    if (!p->spans) return;
    put(p, " sites (");
    for (uint32_t i = 0; i < f->sites.len; i++)
        text_printf(p->out, "%s%u:%u", i ? ", " : "", f->sites.at[i].begin, f->sites.at[i].end);
    put(p, ")");
    put_span(p, f->span);
}

static void print_function(const Func *f, Text *out, bool spans) {
    Printer p = printer_create(f, out, spans);
    for (uint32_t i = 0; i < p.layouts.len; i++) {
        text_printf(out, "#l%u = ", i);
        layout_write(p.layouts.at[i], out);
        put(&p, "\n");
    }
    for (uint32_t i = 0; i < f->buffers.len; i++) {
        const Buffer *b = &f->buffers.at[i];
        text_printf(out, "#b%u = ", i);
        buffer_print(b, is_flat(&p, b) ? UINT32_MAX : layout_number(&p, b->places), out);
        put(&p, "\n");
    }
    maps_print(f, out);
    put_signature(&p);
    put(&p, " {\n");
    put_block(&p, f->body);
    put(&p, "}\n");
    arena_destroy(p.scratch);
}

void func_print(const Func *f, Text *out) {
    print_function(f, out, false);
}

void func_print_spans(const Func *f, Text *out) {
    print_function(f, out, true);
}

void op_print(const Func *f, const Op *op, Text *out) {
    Printer p = printer_create(f, out, false);
    p.layouts.len = 0; /* there is no list above to refer to */
    put_header(&p, op);
    arena_destroy(p.scratch);
}

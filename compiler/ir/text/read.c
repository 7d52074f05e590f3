/* read.c - a function from its text (print.c says how that looks).
 *
 * In: a source. Out: a verified function, or errors at their places.
 * Method: recursive descent, one op a line. A wrong line is left out, its results count as known, and reading goes on
 * with the next; a wrong head of a block ends it, since the blocks' nesting is lost.
 */
#include "ir/text/reader.h"

#include <string.h>

enum { DEPTH = 500 /* nested regions at most */ };

/* ---- Defining ---------------------------------------------------------------------------------------------------- */

static void define(Reader *r, const char *begin, const char *name, Value *v) {
    void *old;
    if (names_find(&r->values, name, &old) && v) {
        read_fail(r, begin, "%%%s is defined twice", name);
        return;
    }
    if (v && (name[0] < '0' || name[0] > '9')) v->name = name;
    names_set(r, &r->values, name, v);
}

static void poison(Reader *r, const Line *l) {
    void *old;
    for (uint32_t i = 0; i < l->results.len; i++)
        if (!names_find(&r->values, l->results.at[i], &old)) names_set(r, &r->values, l->results.at[i], NULL);
}

/* ---- Parts of a line --------------------------------------------------------------------------------------------- */

static bool read_leading(Reader *r, Line *l) {
    const OpInfo *row = &op_info[l->kind];
    Attr *a = &l->attr;
    int64_t x;
    switch (row->attr) {
    case ATTR_BITS: return (l->constant = read_number_word(r)) != NULL;
    case ATTR_RANGE:
        return read_int(r, INT64_MIN, INT64_MAX, &a->start) && expect(r, ",") &&
               read_int(r, INT64_MIN, INT64_MAX, &a->end);
    case ATTR_AXIS: return row->nargs > 0 || read_u32(r, 0, SHAPE_RANK, &a->axis);
    case ATTR_PRED:
        return read_choice(r, l->kind == OP_ICMP ? icmp_words : fcmp_words, &x) && (a->pred = (Pred)x, true);
    case ATTR_SCOPE: return read_choice(r, scope_words, &x) && (a->scope = (Scope)x, true);
    default: return true;
    }
}

static bool read_operand(Reader *r, Line *l) {
    Value *v;
    if (!read_value(r, &v)) return false;
    vec_push(r->f->arena, &l->args, v);
    return true;
}

static bool read_operands(Reader *r, Line *l) {
    if (!at_char(r, '%')) return true;
    do
        if (!read_operand(r, l)) return false;
    while (accept_text(r, ","));
    return true;
}

static bool read_listed_type(Reader *r, Line *l) {
    Type t = {0};
    if (!read_type(r, &t)) return false;
    vec_push(r->f->arena, &l->types, t);
    return true;
}

static bool read_types(Reader *r, Line *l) {
    if (!accept_text(r, ":")) return true;
    if (!accept_text(r, "(")) return read_listed_type(r, l);
    do
        if (!read_listed_type(r, l)) return false;
    while (accept_text(r, ","));
    return expect(r, ")");
}

static bool read_name(Reader *r, Line *l) {
    const char *name = read_sigil(r, '%', "a name, as in %x");
    if (!name) return false;
    vec_push(r->f->arena, &l->inner, name);
    return true;
}

static bool read_carried(Reader *r, Line *l) {
    if (!accept_text(r, "carry")) return true;
    if (!expect(r, "(")) return false;
    do
        if (!read_name(r, l) || !expect(r, "=") || !read_operand(r, l)) return false;
    while (accept_text(r, ","));
    return expect(r, ")");
}

static bool count_types(Reader *r, const Line *l) {
    if (l->types.len == l->results.len) return true;
    return read_fail(r, l->begin, "%u results and %u types", l->results.len, l->types.len);
}

/* Attributes, types, place: the end of every op's head. A { may also begin the region. */
static bool read_tail(Reader *r, Line *l, bool has_region) {
    const char *here = r->at;
    if (accept_text(r, "{")) {
        skip_comment(r);
        bool is_region = has_region && (r->at == r->end || *r->at == '\n' || *r->at == '}');
        r->at = here;
        if (!is_region && !read_braces(r, l)) return false;
    }
    if (!read_types(r, l) || !count_types(r, l)) return false;
    l->span = span_from(r, l->begin);
    return read_span(r, &l->span);
}

/* ---- Ops --------------------------------------------------------------------------------------------------------- */

static bool infer_line(Reader *r, Line *l, Type *result) {
    Infer in = {.layouts = r->f->layouts, .kind = l->kind, .args = l->args.at, .nargs = l->args.len, .attr = l->attr};
    if (l->types.len) in.hint = l->types.at[0];
    if (!op_infer(&in)) return read_fail(r, l->begin, "'%s': %s", op_info[l->kind].name, in.why);
    *result = in.result;
    return true;
}

static Op *make_op(Reader *r, Line *l) {
    Builder b = builder_at_end(r->f, l->block);
    Op *op = op_create(r->f, l->kind, l->args.at, l->args.len, l->attr, l->span);
    for (uint32_t i = 0; i < l->results.len; i++)
        define(r, l->begin, l->results.at[i], op_add_result(r->f, op, l->types.at[i], NULL));
    op_link(&b, op);
    return op;
}

static bool read_plain(Reader *r, Line *l) {
    const OpInfo *row = &op_info[l->kind];
    const char *why;
    Type result;
    if (!read_leading(r, l) || !read_operands(r, l) || !read_tail(r, l, false)) return false;
    if (l->results.len != (uint32_t)row->nresults)
        return read_fail(r, l->begin, "'%s' has %d results, not %u", row->name, row->nresults, l->results.len);
    if (l->constant && !constant_read(l->types.at[0].dtype, l->constant, &l->attr.bits, &why))
        return read_fail(r, l->begin, "'%s' is %s", l->constant, why);
    if (!infer_line(r, l, &result)) return false;
    if (row->nresults == 1 && !type_equal(result, l->types.at[0])) {
        Text t = {0};
        type_print(result, &t);
        read_fail(r, l->begin, "the result of this '%s' is %s", row->name, t.at);
        text_free(&t);
        return false;
    }
    if ((row->attr == ATTR_MEM || l->kind == OP_ASSERT) && !r->has_sites) {
        l->attr.mem.site = r->f->sites.len;
        vec_push(r->f->arena, &r->f->sites, l->span);
    }
    make_op(r, l);
    return true;
}

static bool read_block(Reader *r, Block *b);

static bool read_region(Reader *r, Block *b) {
    return expect(r, "{") && read_block(r, b) && expect(r, "}");
}

static bool read_for(Reader *r, Line *l) {
    Type none;
    if (!read_name(r, l) || !expect(r, "=") || !read_operand(r, l) || !expect(r, "to") || !read_operand(r, l) ||
        !expect(r, "step") || !read_operand(r, l) || !read_carried(r, l) || !read_tail(r, l, true) ||
        !infer_line(r, l, &none))
        return false;
    Op *op = make_op(r, l);
    Block *b = op_add_region(r->f, op);
    for (uint32_t i = 0; i < l->inner.len; i++)
        define(r, l->begin, l->inner.at[i], block_add_arg(r->f, b, op->args[i ? i + 2 : 0]->type, NULL));
    return read_region(r, b);
}

static bool read_while(Reader *r, Line *l) {
    if (!read_carried(r, l) || !read_tail(r, l, true)) return false;
    Op *op = make_op(r, l);
    Block *test = op_add_region(r->f, op), *body = op_add_region(r->f, op);
    for (uint32_t i = 0; i < l->inner.len; i++)
        define(r, l->begin, l->inner.at[i], block_add_arg(r->f, test, op->args[i]->type, NULL));
    if (!read_region(r, test) || !expect(r, "do") || !expect(r, "(")) return false;
    while (at_char(r, '%')) {
        Type t = {0};
        const char *begin = r->at, *name = read_sigil(r, '%', "a name");
        if (!name || !expect(r, ":") || !read_type(r, &t)) return false;
        define(r, begin, name, block_add_arg(r->f, body, t, NULL));
        if (!accept_text(r, ",")) break;
    }
    return expect(r, ")") && read_region(r, body);
}

static bool read_if(Reader *r, Line *l) {
    Type none;
    if (!read_operand(r, l) || !read_tail(r, l, true) || !infer_line(r, l, &none)) return false;
    Op *op = make_op(r, l);
    Block *yes = op_add_region(r->f, op), *no = op_add_region(r->f, op);
    if (!read_region(r, yes)) return false;
    if (accept_text(r, "else")) return read_region(r, no);
    Builder b = builder_at_end(r->f, no);
    b.span = op->span;
    build_yield(&b, NULL, 0);
    return true;
}

static bool read_combined(Reader *r, Line *l) {
    Type none;
    if (!read_operands(r, l) || !expect(r, "by") || !expect(r, "(")) return false;
    for (bool more = true; more; more = accept_text(r, ","))
        if (!read_name(r, l)) return false;
    if (!expect(r, ")") || !read_tail(r, l, true) || !infer_line(r, l, &none)) return false;
    Op *op = make_op(r, l);
    Block *b = op_add_region(r->f, op);
    uint32_t n = combine_width(op);
    for (uint32_t i = 0; i < l->inner.len; i++)
        define(r, l->begin, l->inner.at[i], block_add_arg(r->f, b, type_scalar(op->args[i % n]->type.dtype), NULL));
    return read_region(r, b);
}

static bool read_results(Reader *r, Line *l) {
    if (!at_char(r, '%')) return true;
    do {
        const char *name = read_sigil(r, '%', "a name, as in %x");
        if (!name) return false;
        vec_push(r->f->arena, &l->results, name);
    } while (accept_text(r, ","));
    return expect(r, "=");
}

static bool read_control(Reader *r, Line *l) {
    bool good = op_is_combine(l->kind) ? read_combined(r, l)
                : l->kind == OP_FOR    ? read_for(r, l)
                : l->kind == OP_IF     ? read_if(r, l)
                                       : read_while(r, l);
    if (!good) r->lost = true;
    return good;
}

static bool read_op(Reader *r, Line *l) {
    if (!read_results(r, l)) return false;
    skip_blanks(r);
    const char *begin = r->at, *word = read_word(r, "an op");
    if (!word) return false;
    if (!op_find(word, &l->kind)) return read_fail(r, begin, "there is no op '%s'", word);
    if (l->kind == OP_SHSTORE) l->attr.scope = SCOPE_BLOCK;
    bool is_control = l->kind == OP_FOR || l->kind == OP_WHILE || l->kind == OP_IF || op_is_combine(l->kind);
    if (!(is_control ? read_control(r, l) : read_plain(r, l))) return false;
    skip_comment(r);
    if (r->at == r->end || *r->at == '\n' || *r->at == '}') return true;
    return read_fail(r, r->at, "expected the line's end behind '%s'", word);
}

/* Up to the block's }. False only when lost. */
static bool read_block(Reader *r, Block *b) {
    const char *begin = r->at;
    if (++r->depth > DEPTH) {
        r->lost = true;
        return read_fail(r, begin, "blocks nested deeper than %d", DEPTH);
    }
    for (skip_lines(r); r->at < r->end && *r->at != '}'; skip_lines(r)) {
        Line l = {.begin = r->at, .block = b};
        if (!read_op(r, &l)) {
            poison(r, &l);
            if (r->lost || diag_full(r->d)) return r->lost = true, false;
            skip_line(r);
        }
    }
    r->depth--;
    if (r->at < r->end) return true;
    r->lost = true;
    return read_fail(r, begin, "this block has no end");
}

/* ---- The function ------------------------------------------------------------------------------------------------ */

static bool read_param_item(Reader *r, Param *p) {
    int64_t x;
    skip_blanks(r);
    const char *begin = r->at, *word = read_word(r, "an attribute");
    if (!word) return false;
    if (!strcmp(word, "const")) return p->is_const = true;
    if (!strcmp(word, "unsigned")) return p->is_unsigned = true;
    if (!strcmp(word, "nonnegative")) return p->is_nonnegative = true;
    uint32_t *to = !strcmp(word, "divisible") ? &p->divisible
                   : !strcmp(word, "least")   ? &p->least
                   : !strcmp(word, "most")    ? &p->most
                                              : NULL;
    if (!to) return read_fail(r, begin, "a parameter has no attribute '%s'", word);
    if (!expect(r, "=") || !read_int(r, 1, UINT32_MAX, &x)) return false;
    *to = (uint32_t)x;
    return true;
}

static bool read_param(Reader *r) {
    Param p = {.divisible = 1};
    Type t = {0};
    skip_blanks(r);
    const char *begin = r->at, *name = read_sigil(r, '%', "a parameter, as in %x: *fp32");
    if (!name || !expect(r, ":") || !read_type(r, &t)) return false;
    if (accept_text(r, "{")) {
        do
            if (!read_param_item(r, &p)) return false;
        while (accept_text(r, ","));
        if (!expect(r, "}")) return false;
    }
    p.span = span_from(r, begin);
    if (!read_span(r, &p.span)) return false;
    Value *v = func_add_param(r->f, t, p);
    define(r, begin, name, v);
    r->f->params.at[r->f->params.len - 1].name = v->name;
    return true;
}

static bool read_sites(Reader *r) {
    int64_t begin, end;
    r->has_sites = true;
    if (!expect(r, "(")) return false;
    if (accept_text(r, ")")) return true;
    do {
        if (!read_int(r, 0, UINT32_MAX, &begin) || !expect(r, ":") || !read_int(r, 0, UINT32_MAX, &end)) return false;
        Span s = {(uint32_t)begin, (uint32_t)end};
        vec_push(r->f->arena, &r->f->sites, s);
    } while (accept_text(r, ","));
    return expect(r, ")");
}

/* What follows the parameters: stage, the distribution, places. */
static bool read_property(Reader *r) {
    static const char *const stages[] = {"tile", "simt", NULL};
    Func *f = r->f;
    struct {
        const char *word;
        uint32_t *to;
        Scope scope; /* of so many blocks */
    } counts[] = {{"warps", &f->num_warps, 0},
                  {"stages", &f->num_stages, 0},
                  {"ctas", &f->num_ctas, 0},
                  {"threads", &f->threads_per_program, 0},
                  {"packed", &f->programs_per_block, 0},
                  {"cluster", &f->blocks_per_program, SCOPE_CLUSTER},
                  {"shared", &f->shared_bytes, 0},
                  {"resident", &f->resident, 0},
                  {"grid", &f->blocks_per_program, SCOPE_GRID},
                  {"blocks", &f->grid_blocks, 0},
                  {"programs", &f->grid_programs, 0}};
    int64_t x;
    if (accept_text(r, "stage")) {
        if (!read_choice(r, stages, &x)) return false;
        f->stage = (Stage)x;
        return true;
    }
    if (accept_text(r, "sites")) return read_sites(r);
    for (uint32_t i = 0; i < COUNT(counts); i++) {
        if (!accept_text(r, counts[i].word)) continue;
        if (!read_int(r, 1, UINT32_MAX, &x)) return false;
        *counts[i].to = (uint32_t)x;
        if (counts[i].scope) f->scope = counts[i].scope;
        return true;
    }
    const char *here = r->at;
    if (!read_span(r, &f->span)) return false;
    return r->at > here || read_fail(r, r->at, "expected a property of the function, or '{', here");
}

/* #name = : a layout, where it stands at a line's begin; any other # is a comment. */
static bool at_layout_line(const Reader *r) {
    const char *c = r->at + 1;
    while (c < r->end && ((*c >= 'a' && *c <= 'z') || (*c >= '0' && *c <= '9'))) c++;
    return c > r->at + 1 && r->end - c > 2 && memcmp(c, " = ", 3) == 0;
}

/* Layouts, buffers, comments and empty lines, up to behind the word func. */
static bool read_prologue(Reader *r) {
    for (;; skip_line(r)) {
        skip_blanks(r);
        while (r->at < r->end && *r->at == '\n') {
            r->at++;
            skip_blanks(r);
        }
        if (r->at == r->end || *r->at != '#') return expect(r, "func");
        if (!at_layout_line(r)) continue;
        if (!read_layout_line(r)) return false;
        skip_comment(r);
        if (r->at < r->end && *r->at != '\n') return read_fail(r, r->at, "expected the line's end behind the layout");
    }
}

static bool read_head(Reader *r) {
    const char *begin = r->at, *name = read_sigil(r, '@', "a function's name, as in @softmax");
    if (!name || !expect(r, "(")) return false;
    r->f->name = name;
    r->f->span = span_from(r, begin);
    if (!accept_text(r, ")")) {
        do
            if (!read_param(r)) return false;
        while (accept_text(r, ","));
        if (!expect(r, ")")) return false;
    }
    while (!at_char(r, '{'))
        if (!read_property(r)) return false;
    return read_region(r, r->f->body);
}

Func *func_read(Arena *a, Strings *s, Diag *d, const Source *src) {
    uint32_t errors = diag_errors(d);
    Func *f = func_create(a, s, "", (Span){src->base, src->base + 1});
    Reader r = {.d = d, .src = src, .at = src->text, .end = src->text + src->len, .f = f};
    if (!read_prologue(&r) || !read_head(&r)) return NULL;
    skip_lines(&r);
    if (r.at < r.end) read_fail(&r, r.at, "expected nothing behind the function");
    if (diag_errors(d) > errors) return NULL;
    Text why = {0};
    const Op *where = NULL;
    if (!func_verify_at(f, &why, &where)) diag(d, where ? where->span : f->span, E_IR_RULE, why.at);
    text_free(&why);
    return diag_errors(d) > errors ? NULL : f;
}

/* code.c - the code of a variant as facts: tile IR op by op with its lines and owners, PTX beside it.
 *
 * In: the compile that ran. Out: {"ir": [...], "values": {...}, "layouts": [...], "ptx": "..."}.
 * Method: a walk over the function in program order; what the page needs of a value is its type, shape and layout, and
 * a layout is its bases. PTX comes from a second compile of the same variant.
 */
#include "tool/viz/viz.h"

#include <stdlib.h>
#include <string.h>

typedef struct Code {
    const fsc_compilation *c;
    const char *file;
    Text ops, values;
    VEC(const Layout *) layouts;
    Arena *arena;
    uint32_t depth;
} Code;

/* ---- Values ------------------------------------------------------------------------------------------------------ */

static uint32_t layout_index(Code *k, const Layout *l) {
    for (uint32_t i = 0; i < k->layouts.len; i++)
        if (k->layouts.at[i] == l) return i;
    vec_push(k->arena, &k->layouts, l);
    return k->layouts.len - 1;
}

static void put_value(Code *k, const Value *v) {
    text_printf(&k->values, "%s\"%u\": {\"type\": \"%s\"", k->values.len ? ",\n" : "", v->id,
                dtype_name(v->type.dtype));
    if (v->type.dtype == DT_PTR) text_printf(&k->values, ", \"pointee\": \"%s\"", dtype_name(v->type.pointee));
    if (value_is_tile(v)) {
        text_printf(&k->values, ", \"shape\": [");
        for (uint32_t d = 0; d < v->type.shape.rank; d++)
            text_printf(&k->values, "%s%llu", d ? ", " : "", (unsigned long long)shape_size(v->type.shape, d));
        text_printf(&k->values, "], \"layout\": %u", layout_index(k, v->type.layout));
    }
    int64_t bits = 0;
    if (value_const(v, &bits) && v->type.dtype != DT_PTR) {
        double x = dtype_kind(v->type.dtype) == KIND_FLOAT ? float_from_bits(v->type.dtype, bits) : (double)bits;
        text_printf(&k->values, ", \"constant\": \"%.17g\"", x);
    }
    text_printf(&k->values, "}");
}

static void put_ids(Code *k, const char *name, Value *const *v, uint32_t n) {
    text_printf(&k->ops, ", \"%s\": [", name);
    for (uint32_t i = 0; i < n; i++) text_printf(&k->ops, "%s%u", i ? ", " : "", v[i]->id);
    text_printf(&k->ops, "]");
}

/* ---- Ops --------------------------------------------------------------------------------------------------------- */

/* The op's one line without the layouts of its types, which the page shows by themselves. */
static void put_text(Code *k, const Op *op) {
    Text line = {0}, plain = {0};
    op_print(k->c->func, op, &line);
    for (const char *at = line.at; *at;) {
        const char *end = strncmp(at, ", #layout<", 10) == 0 ? strchr(at, '>') : NULL;
        if (!end) text_write(&plain, at, 1);
        at = end ? end + 1 : at + 1;
    }
    json_word(&k->ops, plain.at ? plain.at : "");
    text_free(&line);
    text_free(&plain);
}

static uint32_t line_of(const Code *k, Span span) {
    Place p = diag_place(k->c->diag, span);
    return p.source && strcmp(p.source->name, k->file) == 0 ? p.line : 0;
}

static void put_attributes(Code *k, const Op *op) {
    if (op_info[op->kind].attr == ATTR_REDUCE)
        text_printf(&k->ops, ", \"axis\": %lld, \"combine\": \"%s\"", (long long)op->attr.axis,
                    op_info[op->attr.combine].name);
    if (op->attr.accuracy)
        text_printf(&k->ops, ", \"accuracy\": \"%s\"", op->attr.accuracy == ACCURACY_RELAXED ? "relaxed" : "term");
    if (op_info[op->kind].attr == ATTR_MEM) text_printf(&k->ops, ", \"vector\": %u", 1u << op->attr.mem.vec_log2);
    if (op_has_buffer(op->kind)) text_printf(&k->ops, ", \"buffer\": %u", op->attr.buffer);
    if (op_info[op->kind].attr == ATTR_COMBINE || op_info[op->kind].attr == ATTR_AXIS)
        text_printf(&k->ops, ", \"axis\": %lld", (long long)op->attr.axis);
}

static void put_end(Code *k, const char *text) {
    text_printf(&k->ops, ",\n{\"op\": -1, \"kind\": \"\", \"line\": 0, \"depth\": %u, \"text\": \"%s\"}", k->depth,
                text);
}

static void put_block(Code *k, const Block *b);

static void put_op(Code *k, const Op *op) {
    text_printf(&k->ops,
                "%s{\"op\": %u, \"kind\": \"%s\", \"line\": %u, \"depth\": %u, \"text\": ", k->ops.len ? ",\n" : "",
                op->id, op_info[op->kind].name, line_of(k, op->span), k->depth);
    put_text(k, op);
    put_ids(k, "args", op->args, op->nargs);
    put_ids(k, "results", op->results, op->nresults);
    text_printf(&k->ops, ", \"means\": ");
    json_word(&k->ops, op_info[op->kind].meaning);
    put_attributes(k, op);
    if (op->nregions) put_ids(k, "enters", op->regions[0]->args.at, op->regions[0]->args.len);
    text_printf(&k->ops, "}");
    for (uint32_t i = 0; i < op->nresults; i++) put_value(k, op->results[i]);
    for (uint32_t i = 0; i < op->nregions; i++) {
        if (i) put_end(k, op->kind == OP_IF ? "} else {" : "} do {");
        k->depth++;
        put_block(k, op->regions[i]);
        k->depth--;
    }
    if (op->nregions) put_end(k, "}");
}

static void put_block(Code *k, const Block *b) {
    for (uint32_t i = 0; i < b->args.len; i++) put_value(k, b->args.at[i]);
    for (const Op *op = b->first; op; op = op->next) put_op(k, op);
}

/* ---- Layouts ----------------------------------------------------------------------------------------------------- */

static void put_layout(Text *out, const Layout *l) {
    text_printf(out, "{\"bases\": [");
    for (int d = 0; d < IN_COUNT; d++) {
        text_printf(out, "%s[", d ? ", " : "");
        for (uint32_t i = 0; i < l->bits[d]; i++) text_printf(out, "%s%u", i ? ", " : "", l->basis[d][i]);
        text_printf(out, "]");
    }
    text_printf(out, "], \"text\": ");
    Text line = {0};
    layout_write(l, &line);
    json_word(out, line.at ? line.at : "");
    text_free(&line);
    text_printf(out, "}");
}

/* ---- PTX --------------------------------------------------------------------------------------------------------- */

/* Of a compile whose lines name ops (fsc.h, op_lines): the text without them, and from which line on an instruction
 * belongs to which registers of which op, as [line, op, first register, registers]; no registers: to all of the op. */
static void put_ptx(Text *out, const char *ptx) {
    Text clean = {0}, plain = {0}, ops = {0};
    uint32_t lines = 0, entries = 0;
    ptx_readable(ptx, "", "", false, &clean);
    for (const char *at = clean.at, *next; at && *at; at = next) {
        size_t n = strcspn(at, "\n");
        next = at + n + (at[n] == '\n');
        char *end = NULL;
        if (strncmp(at, "\t.loc\t", 6) == 0 && strtoul(at + 6, &end, 10)) {
            unsigned long line = strtoul(end, &end, 10), column = strtoul(end, &end, 10);
            text_printf(&ops, "%s[%u, %ld, %lu, %u]", entries++ ? ", " : "", lines, (long)(line >> 4) - 1,
                        column ? column - 1 : 0, column ? 1u << (line & 15) : 0);
        } else if (strncmp(at, "\t.file\t", 7) != 0) {
            text_write(&plain, at, (size_t)(next - at));
            lines++;
        }
    }
    json_string(out, plain.at ? plain.at : "", plain.len);
    text_printf(out, ", \"ptx_ops\": [%s]", ops.at ? ops.at : "");
    text_free(&clean);
    text_free(&plain);
    text_free(&ops);
}

static void put_target(Text *out, const VizRun *r) {
    ToolOptions o = *r->j->o;
    fsc_compilation *c = NULL;
    fsc_status s = job_variant_options(r->j, r->card, &o.compile) ? FSC_OK : FSC_ERROR_RULE;
    o.compile.emit = FSC_EMIT_PTX;
    o.compile.op_lines = true;
    if (s == FSC_OK) s = fsc_compile(&o.compile, r->j->text, r->j->length, &c);
    text_printf(out, ",\n\"arch\": ");
    json_word(out, s == FSC_OK ? c->target->name : o.compile.arch);
    text_printf(out, ", \"ptx\": ");
    if (s == FSC_OK)
        put_ptx(out, fsc_compilation_output(c, NULL));
    else
        json_word(out, arena_printf(o.arena, "// does not compile for %s:\n%s", o.compile.arch,
                                    c ? fsc_compilation_diagnostics(c) : ""));
    fsc_compilation_destroy(c);
}

void viz_code(Text *out, const VizRun *r) {
    Code k = {.c = r->code, .file = r->j->o->compile.file, .arena = r->j->o->arena};
    const Func *f = r->code->func;
    put_block(&k, f->body);
    text_printf(out, "{\"kernel\": \"%s\", \"line\": %u, \"shared\": %u, \"params\": [", f->name, line_of(&k, f->span),
                f->shared_bytes);
    for (uint32_t i = 0; i < f->params.len; i++)
        text_printf(out, "%s{\"name\": \"%s\", \"value\": %u}", i ? ", " : "", f->params.at[i].name,
                    f->body->args.at[i]->id);
    text_printf(out, "],\n\"ir\": [\n%s],\n\"values\": {\n%s},\n\"layouts\": [", k.ops.at ? k.ops.at : "",
                k.values.at ? k.values.at : "");
    for (uint32_t i = 0; i < k.layouts.len; i++) {
        text_printf(out, "%s", i ? ",\n" : "");
        put_layout(out, k.layouts.at[i]);
    }
    text_printf(out, "],\n\"buffers\": [");
    for (uint32_t i = 0; i < f->buffers.len; i++) {
        const Buffer *b = &f->buffers.at[i];
        text_printf(out, "%s{\"type\": \"%s\", \"offset\": %lld, \"bytes\": %u, \"stages\": %u}", i ? ", " : "",
                    dtype_name(b->dtype), (long long)b->offset, b->bytes, b->stages);
    }
    text_printf(out, "]");
    put_target(out, r);
    text_printf(out, "}");
    text_free(&k.ops);
    text_free(&k.values);
}

/* buffer.c - shared buffers as lines at a function's head, and their names in ops.
 *
 * In: a buffer, or a line's text. Out: text, or a buffer of the function.
 */
#include "ir/text/reader.h"

void buffer_print(const Buffer *b, uint32_t layout, Text *out) {
    text_printf(out, "#buffer<");
    if (b->stages > 1) text_printf(out, "%u x ", b->stages);
    text_printf(out, "[");
    shape_print(b->places->shape, out);
    text_printf(out, "] %s", dtype_name(b->dtype));
    if (layout != UINT32_MAX) text_printf(out, " at #l%u", layout);
    if (b->is_private) text_printf(out, " private");
    if (b->is_counted) text_printf(out, " counted");
    if (b->is_bulk) text_printf(out, " bulk");
    if (b->bytes != buffer_whole(b)) text_printf(out, " bytes %u", b->bytes);
    if (b->align != BUFFER_ALIGN) text_printf(out, " align %u", b->align);
    if (b->offset >= 0) text_printf(out, " offset %lld", (long long)b->offset);
    if (b->counts >= 0) text_printf(out, " counts %lld", (long long)b->counts);
    text_printf(out, ">");
}

/* 64x64, or nothing. */
static bool read_sizes(Reader *r, Shape *s) {
    if (accept_text(r, "]")) return true;
    const char *begin = r->at, *word = read_word(r, "a shape, as in [64x64]");
    for (const char *at = word; at; at = *at == 'x' ? at + 1 : NULL) {
        uint64_t size = 0, log2 = 0;
        for (; *at >= '0' && *at <= '9' && size <= UINT32_MAX; at++) size = size * 10 + (uint64_t)(*at - '0');
        while (log2 < SHAPE_BITS && UINT64_C(1) << log2 < size) log2++;
        if (size != UINT64_C(1) << log2 || (*at && *at != 'x') || s->rank == SHAPE_RANK ||
            shape_log2(*s) + log2 > SHAPE_BITS)
            return read_fail(r, begin, "a buffer has " SHAPE_RULE);
        s->log2[s->rank++] = (uint8_t)log2;
    }
    return word && expect(r, "]");
}

static bool read_bytes(Reader *r, int64_t least, uint32_t *out) {
    int64_t x;
    if (!read_int(r, least, INT32_MAX, &x)) return false;
    *out = (uint32_t)x;
    return true;
}

static bool read_buffer(Reader *r, Buffer *b) {
    Shape s = {0};
    Type t;
    int64_t offset = -1, counts = -1;
    if (!at_char(r, '[') && (!read_bytes(r, 2, &b->stages) || !expect(r, "x"))) return false;
    if (!expect(r, "[") || !read_sizes(r, &s) || !read_type(r, &t)) return false;
    skip_blanks(r);
    const char *begin = r->at;
    if (accept_text(r, "at") && !read_layout(r, &b->places)) return false;
    if (!b->places) b->places = layout_flat(r->f->layouts, s);
    if (!shape_equal(b->places->shape, s)) return read_fail(r, begin, "the layout is one of another shape");
    b->dtype = t.dtype;
    b->is_private = accept_text(r, "private");
    b->is_counted = accept_text(r, "counted");
    b->is_bulk = accept_text(r, "bulk");
    if (accept_text(r, "bytes") && !read_bytes(r, 1, &b->bytes)) return false;
    if (accept_text(r, "align") && !read_bytes(r, 1, &b->align)) return false;
    if (accept_text(r, "offset") && !read_int(r, 0, INT32_MAX, &offset)) return false;
    if (accept_text(r, "counts") && !read_int(r, 0, INT32_MAX, &counts)) return false;
    if (!expect(r, ">")) return false;
    uint32_t i = buffer_add(r->f, *b);
    r->f->buffers.at[i].offset = offset;
    r->f->buffers.at[i].counts = counts;
    return true;
}

bool read_buffer_line(Reader *r, const char *begin, const char *name) {
    Buffer b = {0};
    void *old;
    bool good = read_buffer(r, &b);
    if (good && names_find(&r->buffers, name, &old))
        good = read_fail(r, begin, "the buffer #%s is defined twice", name);
    names_set(r, &r->buffers, name, good ? (void *)(uintptr_t)r->f->buffers.len : NULL);
    return good;
}

bool read_buffer_name(Reader *r, uint32_t *out) {
    skip_blanks(r);
    const char *begin = r->at, *name = read_word(r, "a buffer, as in b0");
    void *thing = NULL;
    if (!name) return false;
    if (!names_find(&r->buffers, name, &thing)) return read_fail(r, begin, "the buffer #%s is not defined above", name);
    *out = (uint32_t)(uintptr_t)thing - 1;
    return thing != NULL;
}

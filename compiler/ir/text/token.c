/* token.c - the reader's tokens: words, numbers, names, types, layouts, places.
 *
 * In: the text at Reader.at. Out: the token, or a complaint at its place.
 * Method: by hand, a character at a time. `#` begins a comment except where a layout is due.
 */
#include "ir/text/reader.h"

#include <string.h>

/* ---- Names ------------------------------------------------------------------------------------------------------- */

static struct NameEntry *names_slot(const Names *n, const char *name) {
    uint32_t i = (uint32_t)(((uintptr_t)name >> 4) * UINT32_C(2654435761) >> 7) & (n->slots - 1);
    while (n->at[i].name && n->at[i].name != name) i = (i + 1) & (n->slots - 1);
    return &n->at[i];
}

bool names_find(const Names *n, const char *name, void **thing) {
    if (!n->slots) return false;
    const struct NameEntry *e = names_slot(n, name);
    *thing = e->thing;
    return e->name != NULL;
}

void names_set(Reader *r, Names *n, const char *name, void *thing) {
    if (2 * (n->used + 1) > n->slots) {
        Names old = *n;
        n->slots = old.slots ? old.slots * 2 : 64;
        n->at = NEW_ARRAY(r->f->arena, struct NameEntry, n->slots);
        for (uint32_t i = 0; i < old.slots; i++)
            if (old.at[i].name) *names_slot(n, old.at[i].name) = old.at[i];
    }
    struct NameEntry *e = names_slot(n, name);
    n->used += e->name == NULL;
    *e = (struct NameEntry){name, thing};
}

/* ---- Places and complaints --------------------------------------------------------------------------------------- */

Span span_from(const Reader *r, const char *begin) {
    uint32_t from = r->src->base + (uint32_t)(begin - r->src->text),
             to = r->src->base + (uint32_t)(r->at - r->src->text);
    return (Span){from, to > from ? to : from + 1};
}

bool read_fail(Reader *r, const char *begin, const char *fmt, ...) {
    char text[512]; /* the longest list of words, too */
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    diag(r->d, span_from(r, begin), E_IR_TEXT, text);
    return false;
}

/* ---- Characters -------------------------------------------------------------------------------------------------- */

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_word(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.' ||
           (unsigned char)c >= 0x80;
}

void skip_blanks(Reader *r) {
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\r')) r->at++;
}

void skip_line(Reader *r) {
    while (r->at < r->end && *r->at != '\n') r->at++;
}

void skip_comment(Reader *r) {
    skip_blanks(r);
    if (r->at < r->end && *r->at == '#') skip_line(r);
}

void skip_lines(Reader *r) {
    for (skip_comment(r); r->at < r->end && *r->at == '\n'; skip_comment(r)) r->at++;
}

bool at_char(Reader *r, char c) {
    skip_blanks(r);
    return r->at < r->end && *r->at == c;
}

bool accept_text(Reader *r, const char *s) {
    size_t n = strlen(s);
    skip_blanks(r);
    if ((size_t)(r->end - r->at) < n || memcmp(r->at, s, n) != 0) return false;
    if (is_word(s[n - 1]) && r->at + n < r->end && is_word(r->at[n])) return false;
    r->at += n;
    return true;
}

bool expect(Reader *r, const char *s) {
    if (accept_text(r, s)) return true;
    return read_fail(r, r->at, "expected '%s' here", s);
}

/* ---- Words and numbers ------------------------------------------------------------------------------------------- */

const char *read_word(Reader *r, const char *wanted) {
    skip_blanks(r);
    const char *begin = r->at;
    while (r->at < r->end && is_word(*r->at)) r->at++;
    if (r->at > begin) return str_intern(r->f->strings, begin, (size_t)(r->at - begin));
    read_fail(r, begin, "expected %s here", wanted);
    return NULL;
}

const char *read_sigil(Reader *r, char sigil, const char *wanted) {
    if (!at_char(r, sigil)) {
        read_fail(r, r->at, "expected %s here", wanted);
        return NULL;
    }
    const char *begin = ++r->at;
    while (r->at < r->end && is_word(*r->at)) r->at++;
    if (r->at > begin) return str_intern(r->f->strings, begin, (size_t)(r->at - begin));
    read_fail(r, begin - 1, "expected a name behind '%c'", sigil);
    return NULL;
}

const char *read_number_word(Reader *r) {
    skip_blanks(r);
    const char *begin = r->at;
    if (r->at < r->end && *r->at == '-') r->at++;
    bool hex = r->end - r->at > 1 && r->at[0] == '0' && r->at[1] == 'x';
    for (char last = 0; r->at < r->end; last = *r->at++) {
        bool sign = (*r->at == '+' || *r->at == '-') && last == 'e' && !hex;
        if (!sign && !is_word(*r->at)) break;
    }
    if (r->at > begin) return str_intern(r->f->strings, begin, (size_t)(r->at - begin));
    read_fail(r, begin, "expected a number here");
    return NULL;
}

bool read_int(Reader *r, int64_t least, int64_t most, int64_t *out) {
    skip_blanks(r);
    const char *begin = r->at, *why, *word = read_number_word(r);
    if (!word) return false;
    if (constant_read(DT_I64, word, out, &why) && *out >= least && *out <= most) return true;
    return read_fail(r, begin, "expected an integer from %lld to %lld here", (long long)least, (long long)most);
}

bool read_perm(Reader *r, Attr *a) {
    uint8_t perm[SHAPE_RANK];
    uint32_t rank = 0;
    int64_t axis;
    if (!expect(r, "[")) return false;
    do {
        if (rank == SHAPE_RANK) return read_fail(r, r->at, "more than %d axes", SHAPE_RANK);
        if (!read_int(r, 0, SHAPE_RANK - 1, &axis)) return false;
        perm[rank++] = (uint8_t)axis;
    } while (accept_text(r, ","));
    a->perm = attr_perm(perm, rank).perm;
    return expect(r, "]");
}

bool read_choice(Reader *r, const char *const *words, int64_t *out) {
    skip_blanks(r);
    const char *begin = r->at, *word = read_word(r, "a word");
    if (!word) return false;
    Text all = {0};
    for (int64_t i = 0; words[i]; i++) {
        if (strcmp(words[i], word) == 0) {
            text_free(&all);
            *out = i;
            return true;
        }
        text_printf(&all, "%s%s", i ? ", " : "", words[i]);
    }
    read_fail(r, begin, "'%s' is none of: %s", word, all.at ? all.at : "");
    text_free(&all);
    return false;
}

bool read_span(Reader *r, Span *out) {
    int64_t begin, end;
    if (!accept_text(r, "loc")) return true;
    if (!expect(r, "(") || !read_int(r, 0, UINT32_MAX, &begin) || !expect(r, ":") || !read_int(r, 0, UINT32_MAX, &end))
        return false;
    *out = (Span){(uint32_t)begin, (uint32_t)end};
    return expect(r, ")");
}

bool read_value(Reader *r, Value **out) {
    skip_blanks(r);
    const char *begin = r->at, *name = read_sigil(r, '%', "a value, as in %x");
    void *thing = NULL;
    if (!name) return false;
    if (!names_find(&r->values, name, &thing)) return read_fail(r, begin, "%%%s is not defined above", name);
    *out = thing;
    return thing != NULL; /* else the line that defines it was wrong, and that was said */
}

/* ---- Layouts and types ------------------------------------------------------------------------------------------- */

bool read_layout(Reader *r, const Layout **out) {
    skip_blanks(r);
    const char *begin = r->at, *why = NULL;
    if ((size_t)(r->end - r->at) > 8 && memcmp(r->at, "#layout<", 8) == 0) {
        *out = layout_read(r->f->layouts, &r->at, &why);
        return *out || read_fail(r, r->at, "%s", why);
    }
    const char *name = read_sigil(r, '#', "a layout, as in #l0 or #layout<...>");
    void *thing = NULL;
    if (!name) return false;
    if (!names_find(&r->layouts, name, &thing)) return read_fail(r, begin, "the layout #%s is not defined above", name);
    *out = thing;
    return thing != NULL;
}

bool read_layout_line(Reader *r) {
    const Layout *l = NULL;
    const char *begin = r->at, *name = read_sigil(r, '#', "a layout's name");
    void *old;
    if (!name || !expect(r, "=")) return false;
    if (accept_text(r, "#buffer<")) return read_buffer_line(r, begin, name);
    if (accept_text(r, "#map<")) return read_map_line(r, begin, name);
    bool good = read_layout(r, &l);
    if (good && names_find(&r->layouts, name, &old))
        good = read_fail(r, begin, "the layout #%s is defined twice", name);
    names_set(r, &r->layouts, name, (void *)(uintptr_t)l);
    return good;
}

static bool read_element(Reader *r, Type *t) {
    bool is_pointer = accept_text(r, "*");
    skip_blanks(r);
    const char *begin = r->at, *word = read_word(r, "an element type, as in fp32");
    DType d;
    if (!word) return false;
    if (!dtype_find(word, &d) || d == DT_PTR) return read_fail(r, begin, "'%s' is no element type", word);
    *t = is_pointer ? type_pointer(d) : type_scalar(d);
    return true;
}

/* The sizes and the x behind each: 4x8x. */
static bool read_shape(Reader *r, Shape *s) {
    skip_blanks(r);
    while (r->at < r->end && is_digit(*r->at)) {
        const char *begin = r->at;
        uint64_t size = 0, log2 = 0;
        while (r->at < r->end && is_digit(*r->at) && size <= UINT32_MAX) size = size * 10 + (uint64_t)(*r->at++ - '0');
        while (log2 < SHAPE_BITS && UINT64_C(1) << log2 < size) log2++;
        if (size != UINT64_C(1) << log2 || s->rank == SHAPE_RANK || shape_log2(*s) + log2 > SHAPE_BITS)
            return read_fail(r, begin, "a tile has " SHAPE_RULE);
        s->log2[s->rank++] = (uint8_t)log2;
        if (r->at == r->end || *r->at != 'x') return read_fail(r, r->at, "expected 'x' behind a tile's size");
        r->at++;
    }
    return s->rank > 0 || read_fail(r, r->at, "expected a tile's size here");
}

bool read_type(Reader *r, Type *out) {
    Shape s = {0};
    skip_blanks(r);
    const char *begin = r->at;
    if (!accept_text(r, "tile")) return read_element(r, out);
    if (!expect(r, "<") || !read_shape(r, &s) || !read_element(r, out)) return false;
    out->shape = s;
    if (accept_text(r, ",") && !read_layout(r, &out->layout)) return false;
    if (out->layout && !shape_equal(out->layout->shape, s))
        return read_fail(r, begin, "the layout is one of another shape");
    return expect(r, ">");
}

/* json.c - a reader of JSON.
 *
 * In: bytes. Out: a tree, or NULL. Method: recursive descent; strings are unescaped into the arena.
 */
#include "tool/json.h"

#include "runtime/base/ascii.h"
#include "runtime/base/number.h"

#include <string.h>

enum { DEEPEST = 200 };

typedef struct Reader {
    Arena *a;
    const char *at, *end;
    uint32_t depth;
} Reader;

static const Json null = {.kind = JSON_NULL, .text = ""};

static void skip_space(Reader *r) {
    while (r->at < r->end && is_space(*r->at)) r->at++;
}

static bool take(Reader *r, char c) {
    skip_space(r);
    if (r->at >= r->end || *r->at != c) return false;
    r->at++;
    return true;
}

static bool take_word(Reader *r, const char *word) {
    size_t n = strlen(word);
    if ((size_t)(r->end - r->at) < n || memcmp(r->at, word, n) != 0) return false;
    r->at += n;
    return true;
}

static bool read_hex(Reader *r, uint32_t *out) {
    *out = 0;
    if (r->end - r->at < 4) return false;
    for (int i = 0; i < 4; i++, r->at++) {
        const char *digits = "0123456789abcdef", *found = strchr(digits, to_lower(*r->at));
        if (!*r->at || !found) return false;
        *out = *out << 4 | (uint32_t)(found - digits);
    }
    return true;
}

static void put_utf8(Text *t, uint32_t c) {
    char s[4];
    size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned char first[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = n; i-- > 1; c >>= 6) s[i] = (char)(0x80 | (c & 0x3f));
    s[0] = (char)(first[n] | c);
    text_write(t, s, n);
}

/* Behind \u: a character, or the first half of one with the second behind it. */
static bool read_unicode(Reader *r, Text *t) {
    uint32_t c, low;
    if (!read_hex(r, &c)) return false;
    if (c >= 0xd800 && c < 0xdc00 && take_word(r, "\\u") && read_hex(r, &low) && low >= 0xdc00 && low < 0xe000)
        c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
    put_utf8(t, c == 0 || (c >= 0xd800 && c < 0xe000) ? 0xfffd : c);
    return true;
}

static const char *read_string(Reader *r) {
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    Text t = {0};
    const char *out = NULL;
    text_write(&t, "", 0);
    while (r->at < r->end && *r->at != '"') {
        char c = *r->at++;
        if (c != '\\') {
            text_write(&t, &c, 1);
            continue;
        }
        const char *known = r->at < r->end && *r->at ? strchr(from, *r->at) : NULL;
        if (known) text_write(&t, to + (known - from), 1), r->at++;
        else if (!take_word(r, "u") || !read_unicode(r, &t)) break;
    }
    if (take(r, '"')) out = arena_strndup(r->a, t.at ? t.at : "", t.len);
    text_free(&t);
    return out;
}

static Json *read_value(Reader *r);

static bool read_items(Reader *r, Json *j, char close) {
    Json **last = &j->first;
    if (take(r, close)) return true;
    do {
        const char *name = NULL;
        if (close == '}' && !(take(r, '"') && (name = read_string(r)) && take(r, ':'))) return false;
        if (!(*last = read_value(r))) return false;
        (*last)->name = name;
        last = &(*last)->next;
    } while (take(r, ','));
    return take(r, close);
}

static bool read_number(Reader *r, Json *j) {
    const char *from = r->at;
    while (r->at < r->end && (is_digit(*r->at) || (*r->at && strchr("+-.eE", *r->at)))) r->at++;
    const char *digits = from + (from < r->at && *from == '-');
    if (digits == r->at || !number_read(digits, (size_t)(r->at - digits), &j->number)) return false;
    if (digits != from) j->number = -j->number;
    return true;
}

static Json *read_value(Reader *r) {
    Json *j = NEW(r->a, Json);
    bool ok = false;
    *j = null;
    if (r->depth >= DEEPEST) return NULL;
    r->depth++;
    if (take(r, '{')) j->kind = JSON_OBJECT, ok = read_items(r, j, '}');
    else if (take(r, '[')) j->kind = JSON_LIST, ok = read_items(r, j, ']');
    else if (take(r, '"')) j->kind = JSON_STRING, ok = (j->text = read_string(r)) != NULL;
    else if (take_word(r, "null")) ok = true;
    else if (take_word(r, "true")) j->kind = JSON_BOOL, j->number = 1, ok = true;
    else if (take_word(r, "false")) j->kind = JSON_BOOL, ok = true;
    else j->kind = JSON_NUMBER, ok = read_number(r, j);
    r->depth--;
    return ok ? j : NULL;
}

const Json *json_read(Arena *a, const char *text, size_t length) {
    Reader r = {.a = a, .at = text, .end = text + length};
    const Json *j = read_value(&r);
    skip_space(&r);
    return r.at == r.end ? j : NULL;
}

const Json *json_at(const Json *j, const char *path) {
    while (j && *path) {
        size_t n = strcspn(path, ".");
        const Json *m = j->first;
        while (m && !(m->name && strncmp(m->name, path, n) == 0 && !m->name[n])) m = m->next;
        path += n + (path[n] == '.');
        j = m;
    }
    return j ? j : &null;
}

const char *json_text(const Json *j, const char *path) {
    return json_at(j, path)->text;
}

uint32_t json_count(const Json *j, const char *path) {
    double x = json_at(j, path)->number;
    return x >= 1 && x <= UINT32_MAX ? (uint32_t)x : 0;
}

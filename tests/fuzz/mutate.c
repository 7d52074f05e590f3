/* mutate.c - libFuzzer's mutations for text that has tokens and lines: the language's and the IR's.
 *
 * In: an input; WORDS, the table of words that vocabulary.py wrote. Out: a changed input.
 * Method: one to four edits, mostly of whole tokens: another word of the same group (a builtin of as many arguments, a
 * type, an operator), a name of the same input, an expression of the same input or the other; else of lines; else
 * libFuzzer's own. Each edit is one replacement of a range of bytes.
 */
#include "fuzz.h"

#include <string.h>

enum { TOKENS = 4096, EDITS = 4, PIECE = 2048 };

typedef enum Group {
#define GROUP(name) G_##name,
#include WORDS
#undef GROUP
    G_NONE
} Group;

static const struct {
    Group group;
    const char *text;
} words[] = {
#define WORD(group, text) {G_##group, text},
#include WORDS
#undef WORD
};

static const char *const numbers[] = {"0",
                                      "1",
                                      "2",
                                      "3",
                                      "4",
                                      "5",
                                      "7",
                                      "8",
                                      "16",
                                      "31",
                                      "32",
                                      "63",
                                      "64",
                                      "100",
                                      "127",
                                      "128",
                                      "255",
                                      "256",
                                      "1000",
                                      "1024",
                                      "4096",
                                      "32768",
                                      "65535",
                                      "65536",
                                      "1048576",
                                      "2147483647",
                                      "2147483648",
                                      "4294967295",
                                      "4294967296",
                                      "9223372036854775807",
                                      "9223372036854775808",
                                      "18446744073709551615",
                                      "0.0",
                                      "0.5",
                                      "1e-5",
                                      "1e30",
                                      "1e300",
                                      "-1",
                                      "inf",
                                      "nan",
                                      "0x7fc00000",
                                      "True",
                                      "None"};

typedef struct Token {
    uint32_t begin, end;
    enum { T_WORD, T_NUMBER, T_STRING, T_MARK, T_LINE } kind;
} Token;

typedef struct Edit {
    uint8_t *at;
    size_t size, most;
    uint32_t random;
    uint32_t count;
    Token tokens[TOKENS];
} Edit;

static uint32_t roll(Edit *e, uint32_t n) {
    e->random ^= e->random << 13;
    e->random ^= e->random >> 17;
    e->random ^= e->random << 5;
    return n ? e->random % n : 0;
}

/* ---- Tokens ------------------------------------------------------------------------------------------------------ */

static bool is_word(uint8_t c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c >= 0x80;
}

static bool is_digit(uint8_t c) {
    return c >= '0' && c <= '9';
}

static bool is_sigil(const uint8_t *s, size_t left) {
    return left > 1 && (*s == '%' || *s == '#') && is_word(s[1]);
}

static size_t token_length(const uint8_t *s, size_t left, Token *t) {
    size_t n = 1;
    t->kind = T_MARK;
    if (*s == '\n') {
        t->kind = T_LINE;
    } else if (is_digit(*s)) {
        t->kind = T_NUMBER;
        while (n < left && (is_word(s[n]) || (s[n] == '.' && n + 1 < left && is_digit(s[n + 1])))) n++;
    } else if (is_word(*s) || is_sigil(s, left)) {
        t->kind = T_WORD;
        while (n < left && is_word(s[n])) n++;
    } else if (*s == '"' || *s == '\'') {
        t->kind = T_STRING;
        while (n < left && s[n] != *s && s[n] != '\n') n++;
        if (n < left && s[n] == *s) n++;
    } else if (n < left && strchr("=*/<>", s[n]) && strchr("=!<>*/+-%&|^:", *s) && s[n] && *s) {
        n++;
    }
    return n;
}

static void tokenize(Edit *e) {
    e->count = 0;
    for (size_t at = 0; at < e->size && e->count < TOKENS;) {
        if (e->at[at] == ' ' || e->at[at] == '\t' || e->at[at] == '\r') {
            at++;
            continue;
        }
        Token *t = &e->tokens[e->count++];
        t->begin = (uint32_t)at;
        at += token_length(e->at + at, e->size - at, t);
        t->end = (uint32_t)at;
    }
}

/* ---- One replacement --------------------------------------------------------------------------------------------- */

static bool replace(Edit *e, size_t begin, size_t end, const void *text, size_t n) {
    uint8_t copy[PIECE]; /* the text may lie in what moves */
    if (n > sizeof copy || e->size - (end - begin) + n > e->most) return false;
    if (n) memcpy(copy, text, n);
    memmove(e->at + begin + n, e->at + end, e->size - end);
    if (n) memcpy(e->at + begin, copy, n);
    e->size = e->size - (end - begin) + n;
    return true;
}

static bool replace_token(Edit *e, const Token *t, const char *text) {
    return replace(e, t->begin, t->end, text, strlen(text));
}

/* A random token, of one kind or (T_LINE) of any. */
static Token *pick(Edit *e, int kind) {
    for (int tries = 0; e->count && tries < 16; tries++) {
        Token *t = &e->tokens[roll(e, e->count)];
        if (kind == T_LINE || (int)t->kind == kind) return t;
    }
    return NULL;
}

static Group group_of(const Edit *e, const Token *t) {
    size_t n = t->end - t->begin;
    for (size_t i = 0; i < COUNT(words); i++)
        if (strlen(words[i].text) == n && memcmp(words[i].text, e->at + t->begin, n) == 0) return words[i].group;
    return G_NONE;
}

static const char *word_of(Edit *e, Group g) {
    for (int tries = 0; tries < 400; tries++) {
        uint32_t i = roll(e, COUNT(words));
        if (g == G_NONE || words[i].group == g) return words[i].text;
    }
    return words[0].text;
}

/* ---- Edits of tokens --------------------------------------------------------------------------------------------- */

static bool edit_same_group(Edit *e) {
    Token *t = pick(e, T_LINE), *other;
    if (!t) return false;
    if (t->kind == T_NUMBER) return replace_token(e, t, numbers[roll(e, COUNT(numbers))]);
    Group g = group_of(e, t);
    if (g != G_NONE) return replace_token(e, t, word_of(e, g));
    other = pick(e, t->kind == T_LINE ? T_WORD : (int)t->kind);
    return other && replace(e, t->begin, t->end, e->at + other->begin, other->end - other->begin);
}

static bool edit_name(Edit *e) {
    Token *t = pick(e, T_WORD), *other = pick(e, T_WORD);
    return t && other && replace(e, t->begin, t->end, e->at + other->begin, other->end - other->begin);
}

static bool edit_delete(Edit *e) {
    Token *t = pick(e, T_LINE);
    return t && replace(e, t->begin, t->end, "", 0);
}

static bool edit_insert(Edit *e) {
    Token *t = pick(e, T_LINE);
    char text[80];
    int n = snprintf(text, sizeof text, roll(e, 4) ? " %s " : "%s", word_of(e, G_NONE));
    return t && replace(e, t->begin, t->begin, text, (size_t)n);
}

static bool edit_swap(Edit *e) {
    Token *t = pick(e, T_LINE), *other = t ? pick(e, (int)t->kind) : NULL;
    if (!t || !other || t == other) return false;
    Token a = *(t < other ? t : other), b = *(t < other ? other : t);
    uint8_t first[256];
    size_t n = a.end - a.begin;
    if (n > sizeof first) return false;
    memcpy(first, e->at + a.begin, n);
    uint8_t second[256];
    size_t m = b.end - b.begin;
    if (m > sizeof second) return false;
    memcpy(second, e->at + b.begin, m);
    return replace(e, b.begin, b.end, first, n) && replace(e, a.begin, a.end, second, m);
}

/* A name or number becomes the argument of a call, or an operand. */
static bool edit_wrap(Edit *e) {
#ifdef HAS_CALLS
    Token *t = pick(e, roll(e, 3) ? T_WORD : T_NUMBER), *other = pick(e, roll(e, 2) ? T_WORD : T_NUMBER);
    char text[256];
    if (!t || !other || t->end - t->begin > 64 || other->end - other->begin > 64) return false;
    int n = (int)(t->end - t->begin), m = (int)(other->end - other->begin), made;
    const char *x = (const char *)e->at + t->begin, *y = (const char *)e->at + other->begin;
    switch (roll(e, 6)) {
    case 0: made = snprintf(text, sizeof text, "%s(%.*s)", word_of(e, G_CALL1), n, x); break;
    case 1: made = snprintf(text, sizeof text, "%s(%.*s, %.*s)", word_of(e, G_CALL2), n, x, m, y); break;
    case 2: made = snprintf(text, sizeof text, "%.*s.to(%s)", n, x, word_of(e, G_TYPE)); break;
    case 3: made = snprintf(text, sizeof text, "(%.*s %s %.*s)", n, x, word_of(e, G_COMPARE), m, y); break;
    case 4: made = snprintf(text, sizeof text, "%.*s, %s=%.*s", n, x, word_of(e, G_ARGUMENT), m, y); break;
    default: made = snprintf(text, sizeof text, "(%.*s %s %.*s)", n, x, word_of(e, G_BINARY), m, y); break;
    }
    return replace(e, t->begin, t->end, text, (size_t)made);
#else
    return edit_same_group(e);
#endif
}

/* The tokens from an opening bracket up to the one that closes it, with a name before it; false: none found. */
static bool find_expression(Edit *e, size_t *begin, size_t *end) {
    uint32_t i = e->count ? roll(e, e->count) : 0, depth = 0;
    while (i < e->count && !strchr("([{", e->at[e->tokens[i].begin])) i++;
    if (i == e->count || !e->at[e->tokens[i].begin]) return false;
    bool named = i && e->tokens[i - 1].kind == T_WORD && e->tokens[i - 1].end == e->tokens[i].begin;
    *begin = e->tokens[named ? i - 1 : i].begin;
    for (; i < e->count; i++) {
        uint8_t c = e->at[e->tokens[i].begin];
        if (c && strchr("([{", c)) depth++;
        if (c && strchr(")]}", c) && --depth == 0) break;
    }
    *end = i < e->count ? e->tokens[i].end : 0;
    return i < e->count;
}

static bool edit_expression(Edit *e) {
    size_t begin, end, from, to;
    Token *t = pick(e, roll(e, 2) ? T_WORD : T_NUMBER);
    if (!t || !find_expression(e, &begin, &end)) return false;
    if (roll(e, 2)) return replace(e, t->begin, t->end, e->at + begin, end - begin);
    if (roll(e, 2)) return replace(e, begin, end, e->at + t->begin, t->end - t->begin);
    return find_expression(e, &from, &to) && replace(e, begin, end, e->at + from, to - from);
}

/* ---- Edits of lines ---------------------------------------------------------------------------------------------- */

static void pick_line(Edit *e, size_t *begin, size_t *end) {
    size_t at = e->size ? roll(e, (uint32_t)e->size) : 0;
    for (*begin = at; *begin && e->at[*begin - 1] != '\n';) --*begin;
    for (*end = at; *end < e->size && e->at[*end] != '\n';) ++*end;
    if (*end < e->size) ++*end;
}

/* The result of a line of the IR gets a name of its own where the line is doubled. */
static bool rename_result(Edit *e, size_t begin) {
#ifdef HAS_CALLS
    (void)begin;
    return e != NULL;
#else
    char text[16];
    while (begin < e->size && e->at[begin] == ' ') begin++;
    if (begin == e->size || e->at[begin] != '%') return true;
    int n = snprintf(text, sizeof text, "%%w%u", roll(e, 1000));
    size_t end = begin + 1;
    while (end < e->size && is_word(e->at[end])) end++;
    return replace(e, begin, end, text, (size_t)n);
#endif
}

static bool edit_line(Edit *e) {
    size_t begin, end, from, to;
    pick_line(e, &begin, &end);
    pick_line(e, &from, &to);
    switch (roll(e, 5)) {
    case 0: return replace(e, begin, end, "", 0);
    case 1: return replace(e, end, end, e->at + begin, end - begin) && rename_result(e, end);
    case 2: return replace(e, from, from, e->at + begin, end - begin) && rename_result(e, from);
    case 3: return replace(e, begin, begin, "    ", 4);
    default: {
        size_t blanks = 0;
        while (blanks < 4 && begin + blanks < end && e->at[begin + blanks] == ' ') blanks++;
        return replace(e, begin, begin + blanks, "", 0);
    }
    }
}

static bool edit_bytes(Edit *e) {
    size_t n = LLVMFuzzerMutate(e->at, e->size, e->most);
    e->size = n;
    return true;
}

/* How often each is taken, of 32. */
static const struct {
    uint32_t weight;
    bool (*edit)(Edit *e);
} edits[] = {{10, edit_same_group}, {5, edit_name},       {2, edit_delete}, {3, edit_insert}, {2, edit_swap},
             {4, edit_wrap},        {2, edit_expression}, {3, edit_line},   {1, edit_bytes}};

static void edit_once(Edit *e) {
    uint32_t at = roll(e, 32), i = 0;
    tokenize(e);
    while (i + 1 < COUNT(edits) && at >= edits[i].weight) at -= edits[i++].weight;
    edits[i].edit(e);
}

static Edit work; /* too large for the stack of a fuzzer */

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
    Edit *e = &work;
    e->at = data, e->size = size, e->most = most;
    e->random = seed * 2654435761u | 1;
    if (size == 0) return LLVMFuzzerMutate(data, size, most);
    for (uint32_t n = 1 + roll(e, EDITS); n; n--) edit_once(e);
    return e->size;
}

/* Lines of the other input go in at a line of the first; or an expression of it in the place of one. */
size_t LLVMFuzzerCustomCrossOver(const uint8_t *data, size_t size, const uint8_t *other, size_t other_size,
                                 uint8_t *out, size_t most, unsigned seed) {
    static uint8_t copy[1 << 16];
    Edit *e = &work;
    size_t begin, end, from, to;
    if (size > most || other_size > sizeof copy) return 0;
    memcpy(copy, other, other_size);
    *e = (Edit){.at = copy, .size = other_size, .most = sizeof copy, .random = seed * 2654435761u | 1};
    bool of_lines = roll(e, 2);
    tokenize(e);
    pick_line(e, &from, &to);
    for (uint32_t more = roll(e, 6); of_lines && more; more--)
        while (to < other_size && copy[to++] != '\n') {
        }
    if (!of_lines && !find_expression(e, &from, &to)) of_lines = true;
    memcpy(out, data, size);
    e->at = out, e->size = size, e->most = most;
    tokenize(e);
    pick_line(e, &begin, &end);
    if (of_lines)
        replace(e, begin, roll(e, 2) ? begin : end, copy + from, to - from);
    else if (find_expression(e, &begin, &end))
        replace(e, begin, end, copy + from, to - from);
    return e->size;
}

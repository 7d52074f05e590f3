/* reader.h - what the two halves of the reader share: tokens, names and types (token.c), ops and functions (read.c).
 *
 * Every read_… moves `at` behind what it took. It returns false after reporting what it found and what it wanted there;
 * the caller gives up its line. `lost` says that the nesting of blocks is no longer known: then reading ends.
 */
#ifndef FSC_IR_READER_H
#define FSC_IR_READER_H

#include "ir/private.h"

typedef struct Names { /* interned name -> thing; open addressing */
    struct NameEntry {
        const char *name;
        void *thing; /* NULL: defined by a line that was wrong */
    } * at;
    uint32_t slots, used;
} Names;

typedef struct Reader {
    Diag *d;
    const Source *src;
    const char *at, *end;
    Func *f;
    Names values, layouts, buffers, maps;
    bool has_sites; /* the text lists them; else each access makes its own */
    bool lost;
    uint32_t depth;
} Reader;

/* One op's line while it is read. */
typedef struct Line {
    const char *begin;
    Block *block;
    OpKind kind;
    Attr attr;
    Span span;
    VEC(const char *) results;
    VEC(Value *) args;
    VEC(const char *) inner; /* names that the region's arguments get */
    VEC(Type) types;
    const char *constant; /* to be read once the type is known */
} Line;

bool names_find(const Names *n, const char *name, void **thing);
void names_set(Reader *r, Names *n, const char *name, void *thing);

Span span_from(const Reader *r, const char *begin); /* up to `at`, one byte at least */
bool read_fail(Reader *r, const char *begin, const char *fmt, ...) PRINTF_LIKE(3, 4);

void skip_blanks(Reader *r);           /* spaces and tabs */
void skip_comment(Reader *r);          /* and a comment, up to the line's end */
void skip_lines(Reader *r);            /* and empty lines */
void skip_line(Reader *r);             /* whatever it holds */
bool at_char(Reader *r, char c);       /* after blanks */
bool accept_text(Reader *r, const char *s); /* after blanks; a word only if it ends there */
bool expect(Reader *r, const char *s);
/* Interned. A word: letters, digits, _ and . ; %name and #name come without the first character. NULL: reported. */
const char *read_word(Reader *r, const char *wanted);
const char *read_sigil(Reader *r, char sigil, const char *wanted);
const char *read_number_word(Reader *r);
bool read_int(Reader *r, int64_t least, int64_t most, int64_t *out);
bool read_perm(Reader *r, Attr *a); /* [1, 0] */
bool read_choice(Reader *r, const char *const *words, int64_t *out);
bool read_quoted(Reader *r, const char **out); /* what quoted_print wrote */
bool read_span(Reader *r, Span *out); /* loc(begin:end), if it is there */
bool read_type(Reader *r, Type *out);
bool read_value(Reader *r, Value **out); /* %name of something defined */
bool read_layout(Reader *r, const Layout **out); /* #name or #layout<…> */
bool read_layout_line(Reader *r);        /* #name = #layout<…>, #name = #buffer<…>, or #name = #map<…> */
bool read_buffer_line(Reader *r, const char *begin, const char *name); /* from behind #buffer< on (text/buffer.c) */
bool read_buffer_name(Reader *r, uint32_t *out); /* b0 of something defined */
bool read_map_line(Reader *r, const char *begin, const char *name); /* from behind #map< on (text/map.c) */
bool read_map_name(Reader *r, uint32_t *out); /* m0 of something defined, as its number from 1 on */
bool read_u32(Reader *r, uint32_t least, uint32_t most, uint32_t *out);
bool read_braces(Reader *r, Line *l);    /* an op's attributes (attr.c) */

#endif

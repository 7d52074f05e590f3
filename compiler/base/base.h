/* base.h - what every folder of the compiler stands on: arenas, vectors, interned strings, spans, diagnostics.
 *
 * Memory has two lifetimes, and both are arenas: the compile (sources, strings, diagnostics, the AST) and the function
 * (one kernel's IR and layouts). Nothing in the compiler frees a single object; an arena is dropped whole.
 *
 * A user error is diag() at a span, and the compile goes on to find the next one. A bug is bug(), which ends the
 * compile with exit code 70 and says where. Nothing here knows the language, the IR or LLVM.
 */
#ifndef FSC_BASE_H
#define FSC_BASE_H

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#if defined(__GNUC__)
#define PRINTF_LIKE(fmt, args) __attribute__((format(printf, fmt, args)))
#define NORETURN __attribute__((noreturn))
#define MAYBE_UNUSED __attribute__((unused))
#else
#define PRINTF_LIKE(fmt, args)
#define NORETURN
#define MAYBE_UNUSED
#endif

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- Arenas ------------------------------------------------------------------------------------------------------ */

typedef struct Arena Arena;

Arena *arena_create(void);
void arena_destroy(Arena *a); /* NULL is allowed */
/* Zeroed memory, aligned to 16 bytes; never NULL (out of memory is bug()). */
void *arena_alloc(Arena *a, size_t size);
char *arena_printf(Arena *a, const char *fmt, ...) PRINTF_LIKE(2, 3);
char *arena_strndup(Arena *a, const char *s, size_t n);

#define NEW(a, T) ((T *)arena_alloc((a), sizeof(T)))
#define NEW_ARRAY(a, T, n) ((T *)arena_alloc((a), sizeof(T) * (size_t)(n)))

/* ---- Vectors: VEC(T) v = {0}; vec_push(a, &v, x); v.at[i], v.len ------------------------------------------------- */

#define VEC(T)             \
    struct {               \
        T *at;             \
        uint32_t len, cap; \
    }

/* Room for one more element of `size` bytes; old storage stays in the arena. */
void *vec_grow(Arena *a, void *at, uint32_t *cap, size_t size);

#define vec_push(a, v, x)                                                                                      \
    do {                                                                                                       \
        if ((v)->len == (v)->cap) (v)->at = vec_grow((a), (v)->at, &(v)->cap, sizeof(*(v)->at));                \
        (v)->at[(v)->len++] = (x);                                                                             \
    } while (0)

/* ---- Interned strings: two equal names are one pointer, so names compare with == --------------------------------- */

typedef struct Strings Strings;

Strings *strings_create(Arena *a);
const char *str_intern(Strings *s, const char *text, size_t n);
const char *str_intern0(Strings *s, const char *text);
/* The nearest of `count` names, the first of several; NULL if none is near. */
const char *nearest_name(const char *name, const char *const *names, uint32_t count);

/* ---- Growing text (printers, diagnostics, files in memory) ------------------------------------------------------- */

typedef struct Text {
    char *at; /* always NUL-terminated once something was written; owned, release with text_free */
    size_t len, cap;
} Text;

void text_printf(Text *t, const char *fmt, ...) PRINTF_LIKE(2, 3);
void text_write(Text *t, const char *s, size_t n);
void text_free(Text *t);
/* Length of the well-formed UTF-8 character at s, 0 if there is none. */
uint32_t utf8_length(const char *s, size_t left);
/* The same, and 0 of control characters, and of those that turn the direction of text: a terminal would obey them. */
uint32_t visible_length(const char *s, size_t left);
/* Text of a source, for a terminal: bytes that are no visible text are shown as <XX>; tabs stay. */
void text_visible(Text *t, const char *s, size_t n);
/* A string of JSON, with its quotes; what is no UTF-8 becomes U+FFFD. */
void text_json(Text *t, const char *s);

/* ---- Sources and spans ------------------------------------------------------------------------------------------- */

/* A half-open range of bytes. Every source of a compile (the user's file, the embedded library) gets its own range of
 * one offset space, so a span alone names file, line and column. {0,0} is "nowhere". */
typedef struct Span {
    uint32_t begin, end;
} Span;

typedef struct Source {
    const char *name; /* as the user wrote it: "softmax.dsl", "<stdin>" */
    const char *text; /* NUL-terminated copy; may hold NULs inside */
    uint32_t len;
    uint32_t base; /* offset of text[0] in the offset space; the first source starts at 1 */
    VEC(uint32_t) lines; /* text offsets of line starts */
    bool is_library;     /* embedded in the compiler */
} Source;

typedef struct Place {
    const Source *source; /* NULL for nowhere */
    uint32_t line, col;   /* from 1; col counts bytes */
} Place;

static inline Span span_join(Span a, Span b) {
    if (a.end == 0) return b;
    if (b.end == 0) return a;
    Span s = {a.begin < b.begin ? a.begin : b.begin, a.end > b.end ? a.end : b.end};
    return s;
}

/* ---- Diagnostics ------------------------------------------------------------------------------------------------- */

typedef enum Severity {
    SEV_NOTE,    /* belongs to the error or warning before it: what to do, the other place */
    SEV_REMARK,  /* asked for by -R: how the code could be faster */
    SEV_WARNING, /* the compile goes on */
    SEV_ERROR,   /* the compile goes on to find the next, and yields nothing */
} Severity;

typedef struct Diag Diag;

/* `limit`: errors after that many are counted, not kept (0: no limit). */
Diag *diag_create(Arena *a, uint32_t limit);
const Source *diag_add_source(Diag *d, const char *name, const char *text, size_t len);
const Source *diag_add_library(Diag *d, const char *name, const char *text, size_t len);
const Source *diag_source(const Diag *d, uint32_t index); /* in the order in which they came; NULL: there are no more */
Place diag_place(const Diag *d, Span s);

/* The rows of diag.def: E_UNKNOWN_NAME is "E0201" and its sentence, in one literal,
 * so that the C compiler sees the format. */
#define DIAG(code, name, sentence) MAYBE_UNUSED static const char name[] = #code sentence;
#include "base/diag.def"
#undef DIAG
enum { DIAG_CODE = 5 /* characters of a code */ };

/* An error, a warning or a remark: a row of diag.def and what its sentence asks for.
 * What to do goes into diag_note after it. */
void diag(Diag *d, Span s, const char *row, ...) PRINTF_LIKE(3, 4);
void diag_note(Diag *d, Span s, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* What the last message asks for, where it is known to the letter: this text in place of the span. */
void diag_fix(Diag *d, Span s, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* While `call` is not {0,0}: errors and warnings at a place in the embedded library are shown
 * at `call`, the user's, with a note that shows their own place. Returns what it was before. */
Span diag_inside(Diag *d, Span call, const char *function);

uint32_t diag_errors(const Diag *d);
/* Does the last error or warning have the code of this row? */
bool diag_ends_with(const Diag *d, const char *row);
bool diag_mentions(const Diag *d, const char *words); /* as whole words, in the last message that is no note */
/* The place of the error that follows place number *next of the messages; false: there is none. *next starts at 0. */
bool diag_next_error(const Diag *d, uint32_t *next, Span *place);
typedef struct DiagMark {
    uint32_t messages, errors, hidden, repeated;
    bool inside_failed;
} DiagMark;

DiagMark diag_mark(const Diag *d);
/* Forgets what came after the mark; true: errors were among it. */
bool diag_rewind(Diag *d, DiagMark mark);
/* Takes back what came after the mark, to be given later or never; NULL: nothing came. */
typedef struct DiagTaken DiagTaken;
const DiagTaken *diag_take(Diag *d, DiagMark mark);
bool diag_taken_fails(const DiagTaken *t); /* Are errors among it? NULL is allowed, here and below. */
void diag_give(Diag *d, const DiagTaken *t);
bool diag_full(const Diag *d); /* the error limit is reached: callers may stop early */
/* Everything so far by its place in the file, what has none first: `file:line:col: error: …`, the lines that it and
 * its notes are about, notes without a place of their own. */
void diag_print(const Diag *d, Text *out, bool color);
const char *diag_source_text(const Diag *d, Span s); /* as the file has it; "" of nowhere */
/* The source with every fix made that overlaps no other; how many there are. */
uint32_t diag_fixed(const Diag *d, const Source *s, Text *out);
/* The same for programs: {"diagnostics": […]}, or a SARIF 2.1.0 log. */
void diag_print_json(const Diag *d, Text *out);
void diag_print_sarif(const Diag *d, Text *out);

/* ---- Bugs -------------------------------------------------------------------------------------------------------- */

/* A bug of fsc, never of its input: prints what and where, then leaves through the handler (the library's entry point
 * turns it into FSC_ERROR_INTERNAL; the tool exits with 70). */
void bug(const char *fmt, ...) PRINTF_LIKE(1, 2) NORETURN;
/* The innermost handler; it must not return. NULL restores the default (print to stderr and abort). */
typedef void BugHandler(void *context, const char *message);
void bug_set_handler(BugHandler *handler, void *context); /* per thread */

#endif

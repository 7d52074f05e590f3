/* explain.c - `fsc --explain CODE`: the page of docs/reference/diagnostics/ for a code, as text for a terminal.
 *
 * In: the pages, carried as bytes; `## CODE: title` begins one, fences hold its examples. Out:
 * the page on standard output.
 */
#include "tool/tool.h"

#include <ctype.h>
#include <string.h>

#define PAGE_FILE(name, ...) static const unsigned char page_##name[] = {__VA_ARGS__, 0};
#include "tool/pages.def"
#undef PAGE_FILE

static const unsigned char *const files[] = {
#define PAGE_FILE(name, ...) page_##name,
#include "tool/pages.def"
#undef PAGE_FILE
};

/* The line "## CODE: …" of a file, or NULL. */
static const char *find_page(const char *file, const char *code) {
    for (const char *at = file; (at = strstr(at, "\n## ")) != NULL; at++) {
        if (strncmp(at + 4, code, strlen(code)) == 0 && at[4 + strlen(code)] == ':') return at + 4;
    }
    return NULL;
}

/* "python wrong --arch=sm_12" opens an example: what stands above it. */
static void print_opening(const char *line, size_t n, bool is_body) {
    const char *word = memchr(line, ' ', n);
    size_t left = word ? n - (size_t)(word - line) - 1 : 0;
    const char *options = word ? memchr(word + 1, ' ', left) : NULL;
    printf("\n%.*s", (int)(options ? options - word - 1 : (ptrdiff_t)left), word ? word + 1 : "");
    if (is_body) printf(", in the body of k(x: *fp32, y: *fp32, n: i32, B: constexpr = 128)");
    if (options) printf(", with%.*s", (int)(line + n - options), options);
    printf(":\n");
}

/* Whether the example that begins here is a kernel's body, not a whole file. */
static bool is_body(const char *text) {
    const char *end = strstr(text, "\n```");
    for (const char *at = text; at && at < end; at = strchr(at, '\n'), at += at != NULL) {
        if (at[0] == '@' || at[0] == '#' || strncmp(at, "def ", 4) == 0 || strncmp(at, "func ", 5) == 0) return false;
    }
    return true;
}

static void print_page(const char *at) {
    bool in_example = false, is_first = true;
    for (const char *end; *at && (is_first || strncmp(at, "## ", 3) != 0); at = *end ? end + 1 : end) {
        end = at + strcspn(at, "\n");
        int n = (int)(end - at);
        if (strncmp(at, "```", 3) == 0) {
            in_example = !in_example;
            if (in_example) print_opening(at + 3, (size_t)n - 3, is_body(at));
        } else if (in_example) {
            printf("    %.*s\n", n, at);
        } else if (n) {
            printf("%.*s\n%s", n, at, is_first ? "\n" : "");
        }
        is_first = false;
    }
}

ExitCode explain(const char *word) {
    char code[8] = "";
    for (size_t i = 0; word[i] && i + 1 < sizeof code; i++) code[i] = (char)toupper((unsigned char)word[i]);
    for (size_t i = 0; i < COUNT(files); i++) {
        const char *page = find_page((const char *)files[i], code);
        if (!page) continue;
        print_page(page);
        return EXIT_DONE;
    }
    fprintf(stderr, "fsc: '%s' is no code of a diagnostic; a code is E, W or R and four digits, such as E0201\n", word);
    return EXIT_CALL;
}

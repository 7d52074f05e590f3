/* man.c - `fsc --man=COMMAND`: the manual pages fsc(1), fsc-run(1) …,
 * from the table of options and the heads of --help.
 *
 * In: rows and heads. Out: a page for man(1) on standard output.
 */
#include "tool/tool.h"

#include <string.h>

/* Text as it is: a hyphen is a minus, a backslash itself, a dot or quote at a line's beginning no request. */
static void print_text(const char *text, size_t n) {
    bool is_begin = true;
    for (size_t i = 0; i < n; i++) {
        if (is_begin && (text[i] == '.' || text[i] == '\'')) printf("\\&");
        is_begin = text[i] == '\n';
        if (text[i] == '-') printf("\\-");
        else if (text[i] == '\\') printf("\\e");
        else putchar(text[i]);
    }
}

static void print_all(const char *text) {
    print_text(text, strlen(text));
}

/* The length of the first sentence, without what ends it. */
static size_t summary(const char *what) {
    return strcspn(what, ":.\n");
}

static void print_page(Arena *a, const CommandHead *h) {
    size_t n = 0, num_heads = 0;
    const ToolOption *rows = option_rows(&n);
    const CommandHead *heads = command_heads(&num_heads);
    const char *word = command_word(a, h), *between = *word ? "-" : "";
    printf(".TH \"%s%s%s\" 1 \"\" \"%s\" \"fsc\"\n.SH NAME\n", FSC_TOOL_NAME, between, word, fsc_version());
    print_all(arena_printf(a, "%s%s%s", FSC_TOOL_NAME, between, word));
    printf(" \\- ");
    print_text(h->what, summary(h->what));
    printf("\n.SH SYNOPSIS\n.B ");
    print_all(h->usage);
    printf("\n.SH DESCRIPTION\n");
    print_all(h->what);
    printf("\n.SH OPTIONS\n");
    for (size_t i = 0; i < n; i++) {
        if (!(rows[i].commands & (int)h->command)) continue;
        printf(".TP\n.B ");
        if (rows[i].letter) print_all(arena_printf(a, "-%c, ", rows[i].letter));
        print_all(option_spelling(a, &rows[i]));
        printf("\n");
        print_all(rows[i].help);
        printf("\n");
    }
    const char *lines = command_examples(h->command);
    if (*lines) printf(".SH EXAMPLES\n");
    for (; *lines; lines += strcspn(lines, "\n") + 1) {
        printf(".PP\n.B ");
        print_text(lines, strcspn(lines, "\n"));
        printf("\n");
    }
    printf(".SH EXIT STATUS\n0 done, 1 the input is wrong, 2 the call is wrong, 3 the environment lacks something, 70 "
           "a bug.\n.SH SEE ALSO\n");
    for (size_t i = 0; i < num_heads; i++) {
        const char *other = command_word(a, &heads[i]);
        if (&heads[i] != h) printf(".BR %s%s%s (1),\n", FSC_TOOL_NAME, *other ? "\\-" : "", other);
    }
    printf(".BR libfsc (3)\n");
}

ExitCode man_print(Arena *a, const char *command) {
    size_t n = 0;
    const CommandHead *heads = command_heads(&n);
    for (size_t i = 0; i < n; i++) {
        const char *word = command_word(a, &heads[i]);
        if (strcmp(*word ? word : "fsc", command) != 0) continue;
        print_page(a, &heads[i]);
        return EXIT_DONE;
    }
    fprintf(stderr, "fsc: --man takes fsc or a command, not '%s'\n", command);
    return EXIT_CALL;
}

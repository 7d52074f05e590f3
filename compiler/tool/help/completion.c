/* completion.c - `fsc --completion=SHELL`: what bash, zsh and fish offer behind "fsc", from the table of options.
 *
 * In: the rows of options.def, the commands. Out: a script on standard output.
 */
#include "tool/tool.h"

#include "codegen/codegen.h"
#include "passes/passes.h"

#include <string.h>

static const char *pass_words(Arena *a, const char *words) {
    uint32_t n = 0;
    const char *const *names = pass_names(&n);
    for (uint32_t i = 0; i < n; i++) words = arena_printf(a, "%s%s%s", words, *words ? " " : "", names[i]);
    return words;
}

static const char *card_words(Arena *a) {
    const char *words = "", *key = NULL;
    for (size_t i = 0; fsc_gpu_at(i, &key); i++) words = arena_printf(a, "%s%s%s", words, i ? " " : "", key);
    return words;
}

/* Rows of diag.def that are one mistake share a code. */
static const char *code_words(Arena *a) {
    static const char *const codes[] = {
#define DIAG(code, ...) #code,
#include "base/diag.def"
#undef DIAG
    };
    const char *words = codes[0];
    for (size_t i = 1; i < COUNT(codes); i++)
        if (!strstr(words, codes[i])) words = arena_printf(a, "%s %s", words, codes[i]);
    return words;
}

/* What an option's value can be, separated by blanks; NULL: anything, files are offered. */
static const char *values_of(Arena *a, const ToolOption *row) {
    static const struct {
        const char *option, *values;
    } fixed[] = {{"color", "auto always never"}, {"diagnostics-format", "text json sarif"}, {"remarks", "perf"},
                 {"completion", "bash zsh fish"}, {"device", "auto cpu emu cuda"}, {"num-warps", "1 2 4 8 16 32"},
                 {"opt", "0 1 2 3"}};
    for (size_t i = 0; i < COUNT(fixed); i++)
        if (strcmp(row->name, fixed[i].option) == 0) return fixed[i].values;
    if (strcmp(row->name, "emit") == 0) return emit_names(a, " ", " ");
    if (strcmp(row->name, "passes") == 0) return pass_words(a, "");
    if (strcmp(row->name, "print-after") == 0) return pass_words(a, "all");
    if (strcmp(row->name, "gpu") == 0 && row->argument) return card_words(a);
    if (strcmp(row->name, "explain") == 0) return code_words(a);
    if (strcmp(row->name, "arch") != 0) return NULL;
    char *names = arena_printf(a, "%s native cpu emu", target_names(a)), *to = names;
    for (const char *at = names; *at; at++) {
        if (*at != ',') *to++ = *at;
    }
    *to = '\0';
    return names;
}

static bool has(const CommandHead *h, const ToolOption *row) {
    return (row->commands & (int)h->command) != 0;
}

static bool is_first_of_name(const ToolOption *rows, size_t i) {
    for (size_t k = 0; k < i; k++) {
        if (strcmp(rows[k].name, rows[i].name) == 0) return false;
    }
    return true;
}

static const char *command_words(Arena *a) {
    size_t n = 0;
    const CommandHead *heads = command_heads(&n);
    const char *words = "";
    for (size_t i = 0; i < n; i++) {
        const char *word = command_word(a, &heads[i]);
        if (*word) words = arena_printf(a, "%s%s%s", words, *words ? " " : "", word);
    }
    return words;
}

/* Commands whose next word is one of a few. */
enum { CHOOSING = 2 };
static const char *const choosing[CHOOSING] = {"help", "cache"};

static const char *choices_of(Arena *a, size_t i) {
    return i ? "path list stat clear" : command_words(a);
}

/* ---- bash -------------------------------------------------------------------------------------------------------- */

static void bash_options(Arena *a, const CommandHead *h) {
    size_t n = 0;
    const ToolOption *rows = option_rows(&n);
    const char *word = command_word(a, h);
    printf("    %s) words='", *word ? word : "*");
    for (size_t i = 0; i < n; i++) {
        const char *spelling = option_spelling(a, &rows[i]);
        size_t length = strcspn(spelling, "= ");
        if (has(h, &rows[i])) printf("%.*s ", (int)(length + (spelling[length] == '=')), spelling);
    }
    printf("';;\n");
}

/* Words are split at "=": --emit=cu is three of them. */
static void bash(Arena *a) {
    size_t n = 0, num_heads = 0;
    const ToolOption *rows = option_rows(&n);
    const CommandHead *heads = command_heads(&num_heads);
    printf("_fsc() {\n    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words=\n"
           "    [[ $cur == '=' ]] && cur=\n    [[ $prev == '=' ]] && prev=${COMP_WORDS[COMP_CWORD-2]}\n    case $prev "
           "in\n");
    for (size_t i = 0; i < n; i++) {
        const char *values = values_of(a, &rows[i]);
        if (values && is_first_of_name(rows, i))
            printf("    --%s) COMPREPLY=($(compgen -W '%s' -- \"$cur\")); return;;\n", rows[i].name, values);
    }
    printf("    --kernel) local file\n        for file in \"${COMP_WORDS[@]}\"; do [[ $file == *.dsl || "
           "$file == *.py ]] && break; done\n        "
           "COMPREPLY=($(compgen -W \"$(%s --list-kernels \"$file\" 2>/dev/null)\" -- \"$cur\"));"
           " return;;\n",
           FSC_TOOL_NAME);
    printf("    esac\n    if [[ $cur != -* ]]; then\n        COMPREPLY=($(compgen -f -- \"$cur\"))\n"
           "        [[ $COMP_CWORD == 1 ]] && COMPREPLY+=($(compgen -W '%s help' -- \"$cur\"))\n",
           command_words(a));
    for (size_t i = 0; i < CHOOSING; i++)
        printf("        [[ $COMP_CWORD == 2 && ${COMP_WORDS[1]} == %s ]] && "
               "COMPREPLY=($(compgen -W '%s' -- \"$cur\"))\n",
               choosing[i], choices_of(a, i));
    printf("        return 0\n    fi\n    case ${COMP_WORDS[1]} in\n");
    for (size_t i = num_heads; i-- > 0;) bash_options(a, &heads[i]); /* compile, which is any word, last */
    printf("    esac\n    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n    [[ ${COMPREPLY[0]-} == *= ]] && "
           "compopt -o nospace 2>/dev/null\n"
           "    return 0\n}\ncomplete -o filenames -F _fsc %s\n",
           FSC_TOOL_NAME);
}

/* ---- zsh --------------------------------------------------------------------------------------------------------- */

/* Inside '…[…]': quotes end and begin the word, brackets and colons have a backslash. */
static void zsh_text(const char *text) {
    for (; *text; text++) {
        if (*text == '\'') printf("'\\''");
        else if (strchr("[]:\\", *text)) printf("\\%c", *text);
        else putchar(*text);
    }
}

static void zsh_option(Arena *a, const ToolOption *row) {
    const char *values = values_of(a, row), *spelling = option_spelling(a, row);
    size_t length = strcspn(spelling, "= ");
    printf("            '*%.*s%s[", (int)length, spelling, !row->argument ? "" : spelling[length] == '=' ? "=" : ":");
    zsh_text(row->help);
    printf("]");
    bool is_kernel = strcmp(row->name, "kernel") == 0;
    if (row->argument) printf(":value:");
    if (is_kernel) printf("($(%s --list-kernels ${words[(r)*.(dsl|py)]} 2>/dev/null))", FSC_TOOL_NAME);
    else if (row->argument && values) printf("(%s)", values);
    else if (row->argument) printf("_files");
    printf("'\n");
}

static void zsh(Arena *a) {
    size_t n = 0, num_heads = 0;
    const ToolOption *rows = option_rows(&n);
    const CommandHead *heads = command_heads(&num_heads);
    printf("#compdef %s\n_fsc() {\n    local -a specs\n    (( CURRENT == 2 )) && compadd %s help\n",
           FSC_TOOL_NAME, command_words(a));
    for (size_t i = 0; i < CHOOSING; i++)
        printf("    [[ $CURRENT == 3 && ${words[2]} == %s && ${words[3]} != -* ]] && compadd %s && return\n",
               choosing[i], choices_of(a, i));
    printf("    case ${words[2]} in\n");
    for (size_t i = num_heads; i-- > 0;) {
        const char *word = command_word(a, &heads[i]);
        printf("    %s)\n        specs=(\n", *word ? word : "*");
        for (size_t k = 0; k < n; k++) {
            if (has(&heads[i], &rows[k])) zsh_option(a, &rows[k]);
        }
        printf("        );;\n");
    }
    printf("    esac\n    _arguments $specs '*:file:_files'\n}\n_fsc \"$@\"\n");
}

/* ---- fish -------------------------------------------------------------------------------------------------------- */

static void fish_text(const char *text) {
    putchar('\'');
    for (; *text; text++) {
        if (*text == '\'' || *text == '\\') putchar('\\');
        putchar(*text);
    }
    putchar('\'');
}

static void fish_option(Arena *a, const CommandHead *h, const ToolOption *row) {
    const char *values = values_of(a, row), *word = command_word(a, h), *spelling = option_spelling(a, row);
    const char *is_not = *word ? "" : "not ", *which = *word ? word : command_words(a);
    printf("complete -c %s -n '%s__fish_seen_subcommand_from %s'", FSC_TOOL_NAME, is_not, which);
    if (row->letter) printf(" -s %c", row->letter);
    printf(" -%c %s", spelling[1] == '-' ? 'l' : 'o', row->name);
    bool is_kernel = strcmp(row->name, "kernel") == 0;
    if (is_kernel)
        printf(" -x -a '(%s --list-kernels (commandline -opc | string match -r \".*\\.(?:dsl|py)\") 2>/dev/null)'",
               FSC_TOOL_NAME);
    else if (row->argument && values) printf(" -x -a '%s'", values);
    else if (row->argument) printf(" -r");
    printf(" -d ");
    fish_text(row->help);
    printf("\n");
}

static void fish(Arena *a) {
    size_t n = 0, num_heads = 0;
    const ToolOption *rows = option_rows(&n);
    const CommandHead *heads = command_heads(&num_heads);
    printf("complete -c %s -n __fish_use_subcommand -a '%s help'\n", FSC_TOOL_NAME, command_words(a));
    for (size_t i = 0; i < CHOOSING; i++)
        printf("complete -c %s -n '__fish_seen_subcommand_from %s' -x -a '%s'\n", FSC_TOOL_NAME, choosing[i],
               choices_of(a, i));
    for (size_t i = 0; i < num_heads; i++) {
        for (size_t k = 0; k < n; k++) {
            if (has(&heads[i], &rows[k])) fish_option(a, &heads[i], &rows[k]);
        }
    }
}

ExitCode completion_print(Arena *a, const char *shell) {
    static const struct {
        const char *name;
        void (*print)(Arena *a);
    } shells[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}};
    for (size_t i = 0; i < COUNT(shells); i++) {
        if (strcmp(shells[i].name, shell) != 0) continue;
        shells[i].print(a);
        return EXIT_DONE;
    }
    fprintf(stderr, "fsc: --completion takes bash, zsh or fish, not '%s'\n", shell);
    return EXIT_CALL;
}

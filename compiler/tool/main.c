/* main.c - the tool's entry: which command, then that command.
 *
 *     fsc FILE            compile (tool/compile/compile.c)
 *     fsc run FILE …      compile and launch (tool/run/run.c)
 *     fsc test FILE…      the cases in its comments (tool/test/test.c)
 *     fsc info FILE       resources and occupancy (tool/info/info.c)
 *     fsc bench FILE …    time over sizes (tool/bench/bench.c)
 *     fsc tune FILE …     which configuration is fastest (tool/tune/tune.c)
 *     fsc profile FILE …  count what each line does (tool/profile/profile.c)
 *     fsc viz FILE …      a page that plays it (tool/viz/viz.c)
 *     fsc explore FILE …  that page in a browser, while the file changes (tool/explore/explore.c)
 *     fsc fmt FILE…       the house style (tool/edit/fmt.c)
 *     fsc lsp             a language server for editors (tool/edit/lsp.c)
 *     fsc help COMMAND    its options
 *     fsc devices         what there is to run on (tool/info/devices.c)
 *     fsc cache WHAT      the variants on disk (tool/info/cache.c)
 */
#include "check/check.h"
#include "passes/passes.h"
#include "tool/interrupt.h"
#include "tool/tool.h"

#include <string.h>

static const struct {
    const char *name;
    Command command;
    ExitCode (*run)(ToolOptions *o);
} commands[] = {
    {"run", COMMAND_RUN, command_run},
    {"info", COMMAND_INFO, command_info},
    {"devices", COMMAND_DEVICES, command_devices},
    {"bench", COMMAND_BENCH, command_bench},
    {"tune", COMMAND_TUNE, command_tune},
    {"cache", COMMAND_CACHE, command_cache},
    {"profile", COMMAND_PROFILE, command_profile},
    {"viz", COMMAND_VIZ, command_viz},
    {"explore", COMMAND_EXPLORE, command_explore},
    {"fmt", COMMAND_FMT, command_fmt},
    {"lsp", COMMAND_LSP, command_lsp},
    {"test", COMMAND_TEST, command_test},
};

/* fsc help, fsc help COMMAND. */
static ExitCode help(const char *word) {
    const char *meant = word ? command_suggest(word) : NULL;
    Command command = COMMAND_COMPILE;
    bool is_known = !word;
    for (size_t i = 0; i < COUNT(commands) && word; i++) {
        if (strcmp(word, commands[i].name) == 0) command = commands[i].command, is_known = true;
    }
    if (is_known) options_help(command);
    else if (meant) fprintf(stderr, "fsc: '%s' is no command; did you mean 'fsc help %s'?\n", word, meant);
    else fprintf(stderr, "fsc: '%s' is no command; 'fsc help' names them\n", word);
    return is_known ? EXIT_DONE : EXIT_CALL;
}

/* fsc --list-passes */
static void list_passes(void) {
    uint32_t n = 0;
    const PassInfo *passes = pass_table(&n);
    printf("%-12s %-2s  %-20s %s\n", "pass", "-O", "runs for", "why there");
    for (uint32_t i = 0; i < n; i++)
        printf("%-12s %-2d  %-20s %s\n", passes[i].name, passes[i].level, passes[i].where, passes[i].why);
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "help") == 0) return (int)file_finish(help(argv[2]));
    ToolOptions o = {.arena = arena_create(), .command = COMMAND_COMPILE};
    ExitCode (*run)(ToolOptions *) = command_compile;
    int first = 1;
    for (size_t i = 0; i < COUNT(commands) && argc > 1; i++) {
        if (strcmp(argv[1], commands[i].name) != 0) continue;
        o.command = commands[i].command;
        run = commands[i].run;
        first = 2;
    }
    ExitCode code = EXIT_DONE;
    if (!options_parse(&o, argc - first, argv + first)) {
        code = EXIT_CALL;
    } else if (o.help) {
        options_help(o.command);
    } else if (o.version) {
        printf("%s\n", fsc_version());
    } else if (o.list_builtins) {
        Text list = {0};
        builtin_list(o.arena, &list);
        fputs(list.at, stdout);
        text_free(&list);
    } else if (o.list_passes) {
        list_passes();
    } else if (o.completion) {
        code = completion_print(o.arena, o.completion);
    } else if (o.man) {
        code = man_print(o.arena, o.man);
    } else if (o.explain) {
        code = explain(o.explain);
    } else {
        code = run(&o);
    }
    arena_destroy(o.arena);
    code = file_finish(code);
    interrupt_pass_on();
    return (int)code;
}

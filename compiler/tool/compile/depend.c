/* depend.c - -MD: what the outputs depend on, as a rule that make and ninja read: the source,
 * and files that it imports from. */
#include "tool/tool.h"

#include <string.h>

/* A name as make reads it. */
static void print_name(const char *name, Text *out) {
    for (; *name; name++) {
        if (*name == ' ' || *name == '#' || *name == '\\') text_printf(out, "\\");
        if (*name == '$') text_printf(out, "$");
        text_printf(out, "%c", *name);
    }
}

const char *depend_name(const ToolOptions *o, const char *output) {
    if (o->depend_file) return o->depend_file;
    const char *slash = strrchr(output, '/'), *dot = strrchr(output, '.');
    size_t stem = dot && (!slash || dot > slash + 1) ? (size_t)(dot - output) : strlen(output);
    return arena_printf(o->arena, "%.*s.d", (int)stem, output);
}

void depend_note(ToolOptions *o, const char *files) {
    for (const char *p = files; *p; p++) {
        size_t n = strcspn(p, "\n");
        const char *name = arena_strndup(o->arena, p, n);
        bool is_new = true;
        for (uint32_t i = 0; i < o->imported.len; i++) is_new &= strcmp(o->imported.at[i], name) != 0;
        FILE *f = is_new ? fopen(name, "rb") : NULL;
        if (is_new) vec_push(o->arena, &o->imported, name);
        if (f) {
            file_input(name, fileno(f));
            fclose(f);
        }
        p += n;
    }
}

ExitCode depend_write(const ToolOptions *o, const char *source, const char *output, const char *also) {
    Text rule = {0};
    if (!o->depend) return EXIT_DONE;
    print_name(output, &rule);
    if (also) text_printf(&rule, " ");
    if (also) print_name(also, &rule);
    text_printf(&rule, ":");
    if (strcmp(source, "-") != 0) text_printf(&rule, " ");
    if (strcmp(source, "-") != 0) print_name(source, &rule);
    for (uint32_t i = 0; i < o->imported.len; i++) {
        text_printf(&rule, " ");
        print_name(o->imported.at[i], &rule);
    }
    text_printf(&rule, "\n");
    ExitCode code = file_write(depend_name(o, output), rule.at, rule.len);
    text_free(&rule);
    return code;
}

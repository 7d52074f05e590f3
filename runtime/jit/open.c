/* open.c - a handle of the JIT from names and texts, for callers that have no struct of options. Part of libfsc.
 *
 * In: settings by name. Out: a handle, as fsc_jit_create makes it. Method: the file is read once without them; its
 * interface tells parameters from options, and what is left is no name of anything.
 */
#include "runtime/jit/jit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef enum OptionKind { OPTION_COUNT, OPTION_LEVEL, OPTION_SWITCH, OPTION_WORD } OptionKind;

static const struct {
    const char *name;
    OptionKind kind;
    size_t offset;
} options[] = {
#define OPTION(field, kind) {#field, OPTION_##kind, offsetof(fsc_compile_options, field)},
#include "runtime/jit/option.def"
#undef OPTION
};

/* The settings as they are told apart. */
typedef struct Opening {
    fsc_compile_options o;
    fsc_name_value *defines, *types;
    const Record *interface;
    Text why;
} Opening;

static bool read_number(const char *text, unsigned long most, unsigned long *out) {
    char *end = NULL;
    errno = 0;
    *out = strtoul(text, &end, 10);
    return *text >= '0' && *text <= '9' && *end == '\0' && errno == 0 && *out <= most;
}

static bool set_option(Opening *p, size_t i, const char *value) {
    static const char *const wanted[] = {"a whole number", "0, 1, 2 or 3", "true or false", ""};
    char *field = (char *)&p->o + options[i].offset;
    unsigned long n = 0;
    bool is_on = strcmp(value, "true") == 0 || strcmp(value, "1") == 0, ok = true;
    switch (options[i].kind) {
    case OPTION_COUNT:
        ok = read_number(value, 1u << 20, &n);
        *(uint32_t *)(void *)field = (uint32_t)n;
        break;
    case OPTION_LEVEL:
        ok = read_number(value, 3, &n);
        *(int *)(void *)field = (int)n;
        break;
    case OPTION_SWITCH:
        ok = is_on || strcmp(value, "false") == 0 || strcmp(value, "0") == 0;
        *(bool *)(void *)field = is_on;
        break;
    case OPTION_WORD: *(const char **)(void *)field = value; break;
    }
    if (!ok) text_printf(&p->why, "option %s is %s, not '%s'", options[i].name, wanted[options[i].kind], value);
    return ok;
}

static const RecordParam *find_param(const Record *r, const char *name) {
    for (uint32_t i = 0; r && i < r->num_params; i++)
        if (strcmp(r->params[i].name, name) == 0) return &r->params[i];
    return NULL;
}

static bool unknown(Opening *p, const fsc_name_value *s, bool is_runtime) {
    const Record *r = p->interface;
    const char *gap = "";
    if (is_runtime) {
        text_printf(&p->why, "'%s' of kernel %s is an argument of each launch, not fixed for all of them", s->name,
                    r->kernel);
        return false;
    }
    text_printf(&p->why, "kernel %s has no parameter '%s', and there is no such option; its parameters are ", r->kernel,
                s->name);
    for (uint32_t i = 0; i < r->num_params; i++, gap = ", ") text_printf(&p->why, "%s%s", gap, r->params[i].name);
    text_printf(&p->why, "; options are ");
    for (size_t i = 0; i < COUNT(options); i++) text_printf(&p->why, "%s%s", i ? ", " : "", options[i].name);
    return false;
}

static bool take_setting(Opening *p, const fsc_name_value *s) {
    const RecordParam *param = find_param(p->interface, s->name);
    bool is_open = param && param->kind == RECORD_SCALAR && param->dtype[0] == '\0';
    if (is_open || (param && param->kind == RECORD_CONSTEXPR && param->value_kind == RECORD_DTYPE)) {
        p->types[p->o.num_types++] = *s;
        return true;
    }
    if (param && param->kind == RECORD_CONSTEXPR) {
        p->defines[p->o.num_defines++] = *s;
        return true;
    }
    for (size_t i = 0; !param && i < COUNT(options); i++)
        if (strcmp(options[i].name, s->name) == 0) return set_option(p, i, s->value);
    return unknown(p, s, param != NULL);
}

fsc_status fsc_jit_open(fsc_device *device, const char *file, const char *source, size_t length, const char *kernel,
                        const fsc_name_value *settings, size_t num_settings, fsc_jit **out) {
    Opening p = {0};
    fsc_compile_options_init(&p.o);
    p.o.file = file;
    p.o.kernel = kernel;
    fsc_status s = fsc_jit_create(device, source, length, &p.o, out);
    if (s == FSC_OK && !pairs_are_whole(settings, num_settings)) {
        (*out)->is_usable = false;
        return jit_fail(*out, FSC_ERROR_USAGE,
                        "fsc_jit_open: the settings are NULL, or one has a name or a value that is");
    }
    if (s != FSC_OK || num_settings == 0) return s;
    p.interface = (*out)->interface;
    p.defines = calloc(2 * num_settings, sizeof *p.defines);
    bool ok = p.defines != NULL;
    if (ok) p.types = p.defines + num_settings;
    p.o.defines = p.defines;
    p.o.types = p.types;
    for (size_t i = 0; i < num_settings && ok; i++) ok = take_setting(&p, &settings[i]);
    if (ok) {
        fsc_jit_destroy(*out);
        s = fsc_jit_create(device, source, length, &p.o, out);
    } else {
        (*out)->is_usable = false; /* without its settings it is another kernel */
        s = jit_fail(*out, p.defines ? FSC_ERROR_USAGE : FSC_ERROR_MEMORY, p.defines ? p.why.at : "out of memory");
    }
    free(p.defines);
    text_free(&p.why);
    return s;
}

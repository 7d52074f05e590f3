/* bind.c - binds the words of `fsc run` to a kernel's parameters.
 *
 * In: NAME=VALUE words and the kernel's interface. Out: an array for each pointer, a value for each scalar.
 * Method: words first; then every array that exists binds the names in its shape contract (two that contradict are an
 * error that shows both); then strides nobody said are contiguous, and scalars take their defaults; last, arrays that
 * only the contract describes are made.
 */
#include "tool/run/bind.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool complain(const char *fmt, ...) PRINTF_LIKE(1, 2);
static bool complain(const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    fprintf(stderr, "%s: ", tool_name);
    vfprintf(stderr, fmt, args);
    fprintf(stderr, "\n");
    va_end(args);
    return false;
}

static Bound *find(const Bounds *b, const char *name) {
    for (uint32_t i = 0; i < b->interface->num_params; i++) {
        if (strcmp(b->at[i].param->name, name) == 0) return &b->at[i];
    }
    return NULL;
}

bool complain_parameter(const Record *r, const char *name) {
    Arena *scratch = arena_create();
    const char **names = NEW_ARRAY(scratch, const char *, r->num_params);
    for (uint32_t i = 0; i < r->num_params; i++) names[i] = r->params[i].name;
    const char *meant = nearest_name(name, names, r->num_params);
    if (meant) complain("kernel %s has no parameter '%s'; did you mean '%s'?", r->kernel, name, meant);
    else complain("kernel %s has no parameter '%s'", r->kernel, name);
    arena_destroy(scratch);
    fprintf(stderr, "  the parameters of %s are", r->kernel);
    for (uint32_t i = 0; i < r->num_params; i++) fprintf(stderr, " %s", r->params[i].name);
    fprintf(stderr, "\n");
    return false;
}

static bool is_float_dtype(const char *dtype) {
    return strchr(dtype, 'f') != NULL;
}

RuleEnv bounds_env(const Bounds *b) {
    return (RuleEnv){.values = b->fill.values, .num_values = b->interface->num_params};
}

/* ---- Words ------------------------------------------------------------------------------------------------------- */

static void give_value(RuleBinding *to, const fsc_arg *a) {
    to->known = a->kind != FSC_ARG_UNSIGNED;
    to->value = a->kind == FSC_ARG_FLOAT ? rule_float(a->u.real) : rule_int(a->u.integer);
}

bool number_bind(RuleBinding *to, const char *text) {
    fsc_arg number;
    if (!number_argument(text, &number)) return false;
    give_value(to, &number);
    return true;
}

/* A constexpr that no rule chooses, as shape contracts name it: by -D, or its default. */
static void bind_constant(Bounds *b, Bound *p) {
    RecordParam said = *p->param;
    if (said.kind != RECORD_CONSTEXPR || said.rule) return;
    for (uint32_t i = 0; i < b->o->defines.len; i++)
        if (strcmp(b->o->defines.at[i].name, said.name) == 0) said.value = b->o->defines.at[i].value;
    if (said.value && said.value_kind == RECORD_BOOL && strcmp(said.value, "True") == 0) said.value = "1";
    if (said.value && said.value_kind == RECORD_BOOL && strcmp(said.value, "False") == 0) said.value = "0";
    p->value->known = said.value && said.value[0] && record_value(&said, &p->value->value);
}

static bool bind_word(Bounds *b, Word *w) {
    Bound *p = find(b, w->name);
    if (!p) return complain_parameter(b->interface, w->name);
    if (p->word) return complain("'%s' is given twice", w->name);
    p->word = w;
    if (p->param->kind == RECORD_CONSTEXPR) {
        fsc_name_value pair = {w->name, w->text};
        if (p->param->value_kind == RECORD_DTYPE) {
            vec_push(b->o->arena, &b->o->types, pair);
        } else {
            vec_push(b->o->arena, &b->o->defines, pair);
        }
        if (w->kind == WORD_NUMBER) give_value(p->value, &p->word->number);
        return true;
    }
    if (p->param->kind == RECORD_POINTER && w->kind == WORD_NUMBER)
        return complain("'%s' is a pointer; give a buffer such as %s=random:0:fp32[4,8] or %s=in.npy", w->name, w->name,
                        w->name);
    if (p->param->kind == RECORD_SCALAR) {
        if (w->kind != WORD_NUMBER && p->param->dtype[0])
            return complain("'%s' is a scalar; give a number: %s=8", w->name, w->name);
        if (w->kind != WORD_NUMBER) return true; /* a bare parameter: a buffer makes it a pointer */
        if (w->number.kind == FSC_ARG_FLOAT && p->param->dtype[0] && !is_float_dtype(p->param->dtype))
            return complain("'%s' is an integer (%s), not %s", w->name, p->param->dtype, w->text);
        give_value(p->value, &p->word->number);
    }
    return true;
}

/* ---- Directions and arrays --------------------------------------------------------------------------------------- */

/* Does the element type of an array fit the pointer? Open types take what comes. */
static bool dtype_fits(const Bounds *b, Bound *p, const char *dtype) {
    const char *want = p->param->dtype;
    const Bound *decider = find(b, want);
    if (want[0] == '\0' || decider) return true;
    return strcmp(want, dtype) == 0 || complain("%s points to %s, and the array has %s; give one of %s", p->param->name,
                                                want, dtype, want);
}

/* Which parameters are read and written; where no word fixes a constexpr the source is compiled as it will run. */
static void find_accesses(Bounds *b, fsc_jit *jit) {
    const fsc_compile_options *c = &b->o->compile;
    bool is_final = b->o->defines.len == c->num_defines && b->o->types.len == c->num_types;
    for (uint32_t i = 0; i < b->interface->num_params; i++) {
        fsc_status s = fsc_jit_access(jit, i, &b->at[i].reads, &b->at[i].writes);
        if (s != FSC_ERROR_SOURCE || !is_final || b->no_access) continue;
        const char *why = fsc_jit_message(jit);
        /* types come with arrays */
        if (!strstr(why, "[E0502]")) b->no_access = arena_strndup(b->o->arena, why, strlen(why));
    }
}

static bool complain_source(Bounds *b) {
    fputs(b->no_access, stderr);
    b->is_wrong_source = true;
    return false;
}

static bool load_array(Bounds *b, Bound *p) {
    const Word *w = p->word;
    const char *type = element_bytes(p->param->dtype) ? p->param->dtype : "fp32";
    if (w->kind == WORD_RANDOM || w->kind == WORD_ZEROS || w->kind == WORD_STEPS) {
        if (!array_create(&p->array, w->name, w->dtype, w->rank, w->shape)) return false;
        if (w->kind == WORD_RANDOM) array_fill_random(&p->array, w->seed);
        if (w->kind == WORD_STEPS) array_fill_steps(&p->array, w->seed);
    } else if (w->has_shape) {
        if (!array_create(&p->array, w->name, w->dtype, w->rank, w->shape)) return false;
    } else if (p->reads) {
        if (p->writes && strcmp(w->path, "-") != 0 && access(w->path, F_OK) != 0)
            return b->no_access
                       ? complain_source(b)
                       : complain("there is no '%s', and kernel %s may read %s; give %s=zeros:%s[4,8], or to have it "
                                  "written, with its "
                                  "shape: %s=%s:%s[4,8]",
                                  w->path, b->interface->kernel, w->name, w->name, type, w->name, w->path, type);
        if (strcmp(w->path, "-") == 0 && b->from_stdin)
            return complain("standard input is read for %s; %s needs a file of its own", b->from_stdin, w->name);
        if (strcmp(w->path, "-") == 0) b->from_stdin = w->name;
        if (!npy_read(w->path, &p->array)) return false;
        /* bf16 as u16 */
        if (w->dtype && element_bytes(w->dtype) == element_bytes(p->array.dtype)) p->array.dtype = w->dtype;
    } else {
        return true; /* to be written: its shape comes from the contract */
    }
    return dtype_fits(b, p, p->array.dtype);
}

/* ---- Shape contracts --------------------------------------------------------------------------------------------- */

static bool bind_shape(Bounds *b, const Bound *p) {
    fsc_array a = {.rank = p->array.rank};
    char err[FILL_WHY];
    int64_t stride = 1;
    for (uint32_t i = a.rank; i-- > 0;) { /* contiguous */
        a.shape[i] = (int64_t)p->array.shape[i];
        a.strides[i] = stride;
        stride *= a.shape[i];
    }
    return !p->array.data || fill_array(&b->fill, (uint32_t)(p - b->at), &a, err, sizeof err) || complain("%s", err);
}

/* T: as an option says, else as an array of that type has it, else its default. */
static const char *type_of(const Bounds *b, const RecordParam *decider) {
    const char *given = option_dtype(b->o, decider->name);
    for (uint32_t i = 0; i < b->interface->num_params && !given; i++)
        if (b->at[i].array.data && strcmp(b->at[i].param->dtype, decider->name) == 0) given = b->at[i].array.dtype;
    return given ? given : decider->value;
}

/* For contracts and --grid. */
static void bind_types(Bounds *b) {
    for (uint32_t i = 0; i < b->interface->num_params; i++) {
        const RecordParam *p = &b->interface->params[i];
        if (p->kind != RECORD_CONSTEXPR || p->value_kind != RECORD_DTYPE) continue;
        const char *name = type_of(b, p);
        b->at[i].value->known = rule_dtype(name, strlen(name), &b->at[i].value->value);
    }
}

/* An array that is only written: its shape from the contract, its type from the parameter. */
static bool make_from_contract(Bounds *b, Bound *p) {
    const RecordParam *param = p->param;
    if (param->num_dims == 0)
        return complain("%s has no shape contract; say its shape: %s=%s:fp32[4,8]", param->name, param->name,
                        p->word && p->word->path ? p->word->path : "out.npy");
    RuleEnv env = bounds_env(b);
    uint64_t shape[ARRAY_RANK_MAX];
    for (uint32_t i = 0; i < param->num_dims && i < ARRAY_RANK_MAX; i++) {
        int64_t n = 0;
        char err[128];
        RuleStatus s = rule_eval_int(param->dims[i].extent, &env, &n, err, sizeof err);
        if (s == RULE_UNBOUND) return complain("the shape of %s needs %s; give %s=NUMBER", param->name, err, err);
        if (s != RULE_OK || n < 0)
            return complain("the shape of %s: %s", param->name, s == RULE_OK ? "a negative extent" : err);
        shape[i] = (uint64_t)n;
    }
    const char *dtype = p->word && p->word->dtype ? p->word->dtype : param->dtype;
    const Bound *decider = find(b, dtype);
    if (decider) dtype = type_of(b, decider->param);
    if (!dtype || element_bytes(dtype) == 0)
        return complain("the element type of %s is open; say it: %s=out.npy:fp32", param->name, param->name);
    return array_create(&p->array, param->name, dtype, param->num_dims, shape) && bind_shape(b, p);
}

/* --print and --expect want it. */
static bool is_asked(const ToolOptions *o, const char *name) {
    bool is_named = false;
    for (uint32_t i = 0; i < o->prints.len; i++) is_named |= strcmp(o->prints.at[i], name) == 0;
    for (uint32_t i = 0; i < o->expects.len; i++) is_named |= strcmp(o->expects.at[i].name, name) == 0;
    return is_named;
}

bool bounds_make(Bounds *b, ToolOptions *o, fsc_jit *jit) {
    const Record *interface = fsc_jit_interface(jit);
    *b = (Bounds){.o = o, .interface = interface};
    b->from_stdin = strcmp(o->words.at[0], "-") == 0 ? "the source" : NULL;
    b->at = NEW_ARRAY(o->arena, Bound, interface->num_params);
    b->fill = (Fill){interface, NEW_ARRAY(o->arena, RuleBinding, interface->num_params),
                     NEW_ARRAY(o->arena, FillOrigin, interface->num_params)};
    b->words = NEW_ARRAY(o->arena, Word, o->words.len);
    for (uint32_t i = 0; i < interface->num_params; i++) {
        b->at[i].param = &interface->params[i];
        b->at[i].value = &b->fill.values[i];
        b->at[i].value->name = interface->params[i].name;
        b->at[i].is_asked = is_asked(o, interface->params[i].name);
        bind_constant(b, &b->at[i]);
    }
    for (uint32_t i = 1; i < o->words.len; i++) {
        Word *w = &b->words[i - 1];
        if (!word_parse(o->arena, o->words.at[i], w)) return false;
        if (w->kind == WORD_FILE) w->path = tool_path(o, w->path);
        if (!bind_word(b, w)) return false;
    }
    find_accesses(b, jit);
    for (uint32_t i = 0; i < interface->num_params; i++) {
        Bound *p = &b->at[i];
        if (p->word && p->word->kind != WORD_NUMBER && !load_array(b, p)) return false;
        if (!bind_shape(b, p)) return false;
    }
    bind_types(b);
    fill_defaults(&b->fill);
    for (uint32_t i = 0; i < interface->num_params; i++) {
        Bound *p = &b->at[i];
        if (p->param->kind != RECORD_POINTER || p->array.data) continue;
        const char *name = p->param->name;
        bool makes_all = b->o->command & (COMMAND_BENCH | COMMAND_TEST | COMMAND_TUNE | COMMAND_VIZ |
                                           COMMAND_EXPLORE);
        bool is_made = makes_all || (p->is_asked && !p->reads);
        if (!p->word && !is_made)
            return p->reads || !p->writes
                       ? complain("buffer '%s' is missing; give %s=in.npy, or %s=random:0:fp32[4,8]", name, name, name)
                       : complain("buffer '%s' is missing; give %s=out.npy, which is written, or %s=zeros:fp32[4,8]",
                                  name, name, name);
        if (!make_from_contract(b, p)) return false;
        if (!p->word && p->reads) array_fill_random(&p->array, i); /* of bench and test, for example */
    }
    fill_defaults(&b->fill); /* of what the arrays made now say */
    for (uint32_t i = 0; i < interface->num_params; i++) {
        Bound *p = &b->at[i];
        bool is_beyond = p->word && p->word->kind == WORD_NUMBER && p->word->number.kind == FSC_ARG_UNSIGNED;
        if (is_beyond) p->value->known = false; /* whatever its default is */
        if (p->param->kind != RECORD_SCALAR || p->array.data || p->value->known || is_beyond) continue;
        if (!p->param->dtype[0])
            return complain("argument '%s' is missing; give %s=NUMBER, or %s=random:0:fp32[4,8] for a pointer",
                            p->param->name, p->param->name, p->param->name);
        return complain("scalar '%s' is missing; give %s=NUMBER", p->param->name, p->param->name);
    }
    o->compile.defines = o->defines.at;
    o->compile.num_defines = o->defines.len;
    o->compile.types = o->types.at;
    o->compile.num_types = o->types.len;
    return true;
}

void bounds_free(Bounds *b) {
    for (uint32_t i = 0; b->at && i < b->interface->num_params; i++) {
        array_destroy(&b->at[i].array);
        array_destroy(&b->at[i].given);
    }
}

/* candidates.c - what `fsc tune` tries: configurations of @autotune, times values that the command line names.
 *
 * In: a file, options. Out: a list without repetitions. The first is what a launch takes without a tuning file.
 */
#include "tool/compile/package.h"
#include "tool/tune/tune.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CANDIDATES = 512 };

static const char *const words[3] = {"num_warps", "num_stages", "num_ctas"};

/* The kernel's interface under configuration n (0: as options say). The caller frees both. */
static ExitCode interface_of(Tune *u, uint32_t n, fsc_compilation **c, Record **r) {
    fsc_compile_options o = u->o->compile;
    o.arch = u->props.arch;
    o.tuned = "off";
    o.config = n;
    fsc_status s = driver_interface(&o, u->text, u->length, c, r);
    return s == FSC_OK ? EXIT_DONE : compile_finish(u->o, *c, s);
}

static void add_define(Arena *a, Candidate *c, const char *name, const char *value) {
    for (uint32_t i = 0; i < c->defines.len; i++) {
        if (strcmp(c->defines.at[i].name, name) != 0) continue;
        c->defines.at[i].value = value;
        return;
    }
    fsc_name_value pair = {name, value};
    vec_push(a, &c->defines, pair);
}

static bool add_config(Tune *u, const Record *r, uint32_t n, Candidates *out) {
    Arena *a = u->o->arena;
    const char *const codes[] = {r->num_warps, r->num_stages, r->num_ctas};
    Candidate c = {0};
    for (uint32_t i = 0; i < r->num_params; i++) {
        const RecordParam *p = &r->params[i];
        if (p->kind != RECORD_CONSTEXPR || p->origin != RECORD_CONFIG) continue;
        if (p->value_kind == RECORD_FLOAT || p->value_kind == RECORD_DTYPE) {
            fprintf(stderr, "fsc tune: configuration %u is left out: %s is no whole number or truth value\n", n,
                    p->name);
            return false;
        }
        add_define(a, &c, arena_printf(a, "%s", p->name), arena_printf(a, "%s", p->value));
    }
    for (int i = 0; i < 3; i++)
        if (codes[i] && isdigit((unsigned char)*codes[i])) c.compiled[i] = (uint32_t)strtoul(codes[i], NULL, 10);
    vec_push(a, out, c);
    return true;
}

static ExitCode read_configs(Tune *u, Candidates *out) {
    unsigned count = 1;
    ExitCode code = EXIT_DONE;
    for (uint32_t n = 0; n <= count && code == EXIT_DONE; n++) {
        fsc_compilation *c = NULL;
        Record *r = NULL;
        code = interface_of(u, n, &c, &r);
        if (code == EXIT_DONE && n == 0) {
            u->kernel = arena_printf(u->o->arena, "%s", r->kernel);
            if (!r->config || sscanf(r->config, "%*u of %u", &count) != 1) count = 0;
        } else if (code == EXIT_DONE) {
            (void)add_config(u, r, n, out);
        }
        record_free(r);
        fsc_compilation_destroy(c);
    }
    Candidate as_it_is = {0};
    if (!count) vec_push(u->o->arena, out, as_it_is);
    return code;
}

/* Each candidate with each value of the axis. */
static void multiply(Arena *a, Candidates *all, const VariantAxis *axis, int word) {
    Candidates out = {0};
    for (uint32_t i = 0; i < all->len; i++) {
        for (uint32_t k = 0; k < axis->values.len; k++) {
            Candidate c = all->at[i];
            memset(&c.defines, 0, sizeof c.defines);
            for (uint32_t d = 0; d < all->at[i].defines.len; d++) vec_push(a, &c.defines, all->at[i].defines.at[d]);
            if (word >= 0)
                c.compiled[word] = (uint32_t)strtoul(axis->values.at[k], NULL, 10);
            else
                add_define(a, &c, axis->name, axis->values.at[k]);
            vec_push(a, &out, c);
        }
    }
    *all = out;
}

/* The line of a row, and whether another candidate has it. */
static void add_candidate(Tune *u, Candidate c) {
    Arena *a = u->o->arena;
    const char *text = "";
    for (uint32_t i = 0; i < c.defines.len; i++)
        text = arena_printf(a, "%s%s%s=%s", text, *text ? " " : "", c.defines.at[i].name, c.defines.at[i].value);
    for (int i = 0; i < 3; i++) {
        if (u->props.kind == FSC_CPU) c.compiled[i] = 0; /* its code has no warps */
        if (c.compiled[i]) text = arena_printf(a, "%s%s%s=%u", text, *text ? " " : "", words[i], c.compiled[i]);
    }
    for (uint32_t i = 0; i < u->candidates.len; i++)
        if (strcmp(u->candidates.at[i].text, text) == 0) return;
    c.text = text;
    vec_push(a, &u->candidates, c);
}

static bool take_list(Tune *u, const char *list, int word, Candidates *all) {
    VariantAxis axis;
    if (!list) return true;
    if (!variant_axis_parse(u->o->arena, arena_printf(u->o->arena, "%s=%s", words[word], list), &axis)) return false;
    multiply(u->o->arena, all, &axis, word);
    return true;
}

ExitCode candidates_find(Tune *u) {
    Candidates all = {0};
    const Candidate as_it_is = {0};
    ExitCode code = read_configs(u, &all);
    if (code != EXIT_DONE) return code;
    bool has_configs = all.len > 1 || (all.len && all.at[0].defines.len);
    for (uint32_t i = 0; i < u->o->variants.len; i++) {
        VariantAxis axis;
        if (!variant_axis_parse(u->o->arena, u->o->variants.at[i], &axis)) return EXIT_CALL;
        multiply(u->o->arena, &all, &axis, -1);
    }
    if (!take_list(u, u->o->warps_list, 0, &all) || !take_list(u, u->o->stages_list, 1, &all)) return EXIT_CALL;
    if (!has_configs) add_candidate(u, as_it_is);
    for (uint32_t i = 0; i < all.len; i++) add_candidate(u, all.at[i]);
    if (u->candidates.len > MOST_CANDIDATES) {
        fprintf(stderr, "fsc tune: %u configurations; at most %d\n", u->candidates.len, MOST_CANDIDATES);
        return EXIT_CALL;
    }
    if (u->candidates.len > 1) return EXIT_DONE;
    fprintf(
        stderr,
        "fsc tune: nothing to choose from: kernel %s has no @autotune%s; name values with --variants NAME=64..1024%s\n",
        u->kernel, has_configs ? " of several configurations" : "",
        u->props.kind == FSC_CPU ? " (the CPU's code has no warps and no stages)" : ", or --num-warps 2,4,8");
    return EXIT_CALL;
}

ExitCode candidates_key(Tune *u) {
    if (u->o->key_list) return (split_list(u->o->arena, u->o->key_list, &u->key), EXIT_DONE);
    fsc_compile_options o = u->o->compile;
    fsc_compilation *c = NULL;
    o.emit = FSC_EMIT_AST;
    fsc_status s = driver_compile(&o, u->text, u->length, true, &c);
    ExitCode code = s == FSC_OK ? EXIT_DONE : compile_finish(u->o, c, s);
    const Node *key = code == EXIT_DONE && c->module ? check_autotune_key(c->module, u->kernel) : NULL;
    for (uint32_t i = 0; key && i < key->list.len; i++)
        if (key->list.at[i]->kind == NODE_STRING)
            vec_push(u->o->arena, &u->key, arena_printf(u->o->arena, "%s", key->list.at[i]->name));
    fsc_compilation_destroy(c);
    return code;
}

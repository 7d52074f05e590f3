/* tune.c - `fsc tune FILE --axis N=256..16384:*2 NAME=VALUE…`: which configuration is fastest, written down.
 *
 * In: a file, the configurations of its @autotune or those that options name, points as of `fsc bench`. Out: a line for
 * each point; the tuning file, which is written anew after each, so that nothing measured is lost.
 */
#include "tool/tune/tune.h"

#include "codegen/codegen.h"
#include "tool/interrupt.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- Points ------------------------------------------------------------------------------------------------------ */

static const Bound *find_bound(const Job *j, const char *name) {
    for (uint32_t i = 0; i < j->bounds.interface->num_params; i++)
        if (strcmp(j->bounds.at[i].param->name, name) == 0) return &j->bounds.at[i];
    return NULL;
}

static bool is_key(const Bound *p) {
    return p->value->known && !p->value->value.is_float &&
           (p->param->kind == RECORD_SCALAR || p->value->value.is_dtype);
}

/* "n_cols=512 T=fp32" */
static const char *point_text(const Tune *u, const Job *j) {
    const char *out = "";
    for (uint32_t i = 0; i < u->key.len; i++) {
        const Bound *p = find_bound(j, u->key.at[i]);
        char text[64];
        if (p && is_key(p))
            out = arena_printf(u->o->arena, "%s%s%s=%s", out, *out ? " " : "", u->key.at[i],
                               rule_value_print(p->value->value, text, sizeof text));
    }
    return out;
}

/* What a contract calls a stride follows from the sizes. */
static bool is_stride(const Record *r, uint32_t index) {
    for (uint32_t i = 0; i < r->num_params; i++)
        for (uint32_t d = 0; d < r->params[i].num_dims; d++)
            if (rule_uses(r->params[i].dims[d].stride, index)) return true;
    return false;
}

static void add_key(Tune *u, const char *name) {
    for (uint32_t i = 0; i < u->key.len; i++)
        if (strcmp(u->key.at[i], name) == 0) return;
    vec_push(u->o->arena, &u->key, arena_printf(u->o->arena, "%s", name));
}

/* The sizes and types that differ between the first point and the last. */
static void find_key(Tune *u, const Job *first, const Job *last) {
    for (uint32_t i = 0; i < first->bounds.interface->num_params; i++) {
        const Bound *a = &first->bounds.at[i], *b = &last->bounds.at[i];
        if (!is_key(a) || !is_key(b) || a->value->value.i == b->value->value.i) continue;
        if (!is_stride(first->bounds.interface, i)) add_key(u, a->param->name);
    }
}

static Job job_at(const Tune *u, ToolOptions *o) {
    return (Job){
        .o = o, .device = u->device, .props = u->props, .grid = {1, 1, 1}, .text = u->text, .length = u->length};
}

/* Types count wherever the points have several. */
static ExitCode decide_key(Tune *u) {
    Point first = sweep_first(&u->sweep), last = first;
    for (Point p = first; sweep_next(&u->sweep, &p);) last = p;
    ToolOptions a = sweep_options(&u->sweep, &first), b = sweep_options(&u->sweep, &last);
    Job x = job_at(u, &a), y = job_at(u, &b);
    ExitCode code = candidates_key(u);
    if (code == EXIT_DONE) code = job_open(&x);
    if (code == EXIT_DONE) code = job_open(&y);
    for (uint32_t i = 0; code == EXIT_DONE && i < u->key.len; i++) {
        const Bound *p = find_bound(&x, u->key.at[i]);
        if (p && (is_key(p) || !u->o->key_list)) continue;
        if (!p)
            (void)complain_parameter(x.bounds.interface, u->key.at[i]);
        else
            fprintf(stderr, "fsc tune: --key %s: it is no whole number and no dtype\n", u->key.at[i]);
        code = EXIT_CALL;
    }
    if (code == EXIT_DONE && !u->key.len) find_key(u, &x, &y);
    for (uint32_t i = 0; u->sweep.dtypes.len > 1 && i < u->sweep.dtype_params.len; i++)
        add_key(u, u->sweep.dtype_params.at[i]);
    job_free(&x);
    job_free(&y);
    return code;
}

/* ---- One after the other ----------------------------------------------------------------------------------------- */

static void print_point(const char *point, const Verdict *v) {
    printf("%s%s%s  %.4f ms", point, *point ? ": " : "", *v->best->text ? v->best->text : "the kernel as it is", v->ms);
    if (v->is_tie) printf(", a tie with %s", *v->next->text ? v->next->text : "the kernel as it is");
    if (v->first_ms > 0 && v->first_ms > v->ms) printf(", %.2f times as fast as without", v->first_ms / v->ms);
    printf("\n");
    fflush(stdout);
}

static ExitCode tune_point(Tune *u, const Point *p) {
    ToolOptions o = sweep_options(&u->sweep, p);
    Job base = job_at(u, &o);
    Verdict v = {0};
    ExitCode code = job_open(&base);
    const char *point = code == EXIT_DONE ? point_text(u, &base) : "";
    if (code == EXIT_DONE && table_has(&u->table, point)) {
        printf("%s%sis in %s already\n", point, *point ? ": " : "", u->table.path);
    } else if (code == EXIT_DONE) {
        code = point_measure(u, &base, point, &v);
        if (code == EXIT_DONE && v.best) {
            print_point(point, &v);
            code = table_put(u, point, &v);
        }
    }
    job_free(&base);
    u->done += v.best || !interrupt_came();
    return code;
}

static ExitCode tune_all(Tune *u) {
    u->points = u->sweep.dtypes.len;
    for (uint32_t i = 0; i < u->sweep.num_axes; i++) u->points *= u->sweep.axes[i].at.len;
    Point p = sweep_first(&u->sweep);
    ExitCode code;
    do {
        code = tune_point(u, &p);
    } while (code == EXIT_DONE && !interrupt_came() && sweep_next(&u->sweep, &p));
    return code;
}

static ExitCode run_tune(Tune *u) {
    fsc_status s = fsc_device_open(u->o->device, &u->device);
    if (s == FSC_OK) s = fsc_device_props(u->device, &u->props);
    if (s != FSC_OK) return tool_fail(s, fsc_last_message());
    if (u->props.kind == FSC_EMU) {
        fprintf(stderr, "fsc tune: what emulated threads take says nothing of a GPU; take --device=cuda or cpu\n");
        return EXIT_CALL;
    }
    s = flush_create(u->device, &u->props, &u->flush);
    if (s != FSC_OK) return tool_fail(s, fsc_last_message());
    ExitCode code = candidates_find(u);
    if (code == EXIT_DONE) code = sweep_types(&u->sweep, u->device, u->text, u->length);
    if (code == EXIT_DONE) code = decide_key(u);
    if (code == EXIT_DONE) code = table_read(u);
    if (code != EXIT_DONE) return code;
    interrupt_begin(u->device);
    code = tune_all(u);
    interrupt_end();
    if (interrupt_came())
        fprintf(stderr, "fsc tune: stopped after %u points, which are in %s; the same call goes on there\n", u->done,
                u->table.path);
    return code;
}

ExitCode command_tune(ToolOptions *o) {
    enum { ROUNDS = 15, LEAST = 6, MOST = 1000 };
    if (o->words.len == 0) {
        fprintf(stderr, "fsc tune: no input file; 'fsc tune --help' says how to call it\n");
        return EXIT_CALL;
    }
    if (!o->has_repeat) o->repeat = ROUNDS;
    if (o->repeat < LEAST || o->repeat > MOST) {
        fprintf(stderr, "fsc tune: --repeat takes %d to %d: fewer rounds cannot tell a difference from noise\n", LEAST,
                MOST);
        return EXIT_CALL;
    }
    Tune u = {.o = o};
    if (!sweep_read(&u.sweep, o)) return EXIT_CALL;
    char *text = file_read(o->words.at[0], &u.length);
    if (!text) return EXIT_INPUT;
    u.text = text;
    o->compile.file = strcmp(o->words.at[0], "-") == 0 ? "<stdin>" : o->words.at[0];
    o->compile.tuned = "off";
    ExitCode code = run_tune(&u);
    flush_destroy(&u.flush);
    fsc_device_close(u.device);
    free(text);
    return code;
}

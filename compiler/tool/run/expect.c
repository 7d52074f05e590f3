/* expect.c - what a launch gave against what it should give.
 *
 * In: the job's arrays after its first launch, and NAME:WHAT of --expect; WHAT is a .npy file, another kernel's file,
 * or a formula over what the kernel was given. Out: a line for each, with the worst element.
 * Method: NaN and infinities must stand at the same places; then |got - want| <= atol + rtol * |want|.
 */
#include "tool/run/expect.h"

#include "tool/run/formula.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What torch.testing.assert_close allows; of 8 bits, two roundings. Integers are exact. */
static const struct {
    const char *dtype;
    double rtol, atol;
} tolerances[] = {{"fp64", 1e-7, 1e-7},   {"fp32", 1.3e-6, 1e-5},   {"fp16", 1e-3, 1e-5},
                  {"bf16", 1.6e-2, 1e-5}, {"fp8e4nv", 0.125, 1e-2}, {"fp8e5", 0.25, 1e-2}};

static const Bound *find(const Bounds *b, const char *name) {
    for (uint32_t i = 0; i < b->interface->num_params; i++)
        if (strcmp(b->at[i].param->name, name) == 0) return &b->at[i];
    return NULL;
}

static bool ends_with(const char *text, size_t n, const char *end) {
    size_t k = strlen(end);
    return n >= k && strncmp(text + n - k, end, k) == 0;
}

ExitCode expect_names(const Job *j) {
    const ToolOptions *o = j->o;
    for (uint32_t i = 0; i < o->prints.len + o->expects.len; i++) {
        bool is_print = i < o->prints.len;
        const char *name = is_print ? o->prints.at[i] : o->expects.at[i - o->prints.len].name;
        const Bound *p = find(&j->bounds, name);
        if (!p) return complain_parameter(j->bounds.interface, name), EXIT_CALL;
        if (!p->array.data || (!is_print && !p->writes)) {
            fprintf(stderr, "%s: --%s %s: %s\n", tool_name, is_print ? "print" : "expect", name,
                    p->array.data ? "the kernel does not write it; name one of its outputs"
                                  : "it is no buffer; name one");
            return EXIT_CALL;
        }
    }
    return EXIT_DONE;
}

/* ---- What is expected -------------------------------------------------------------------------------------------- */

/* What the buffer held before the launch. */
static const Array *given(const Bound *p) {
    return p->given.data ? &p->given : &p->array;
}

static Values *look_up(void *context, Arena *arena, const char *name) {
    const Bound *p = find(context, name);
    if (!p) return NULL;
    if (p->array.data) return values_of_array(arena, given(p));
    if (p->value->known && p->value->value.is_dtype) return NULL;
    if (p->value->known)
        return values_number(arena, p->value->value.is_float ? (Real)p->value->value.f : (Real)p->value->value.i);
    bool is_beyond = p->word && p->word->kind == WORD_NUMBER && p->word->number.kind == FSC_ARG_UNSIGNED;
    return is_beyond ? values_number(arena, (Real)(uint64_t)p->word->number.u.integer) : NULL;
}

/* A file's array; 16 and 8 bits that are no NumPy type are there as unsigned integers. */
static Values *read_reference(Job *j, Arena *arena, const char *path, const Array *got) {
    Array a;
    if (!npy_read(tool_path(j->o, path), &a)) return NULL;
    if (a.dtype[0] == 'u' && element_bytes(a.dtype) == element_bytes(got->dtype) && strchr(got->dtype, 'f'))
        a.dtype = got->dtype;
    Values *v = values_of_array(arena, &a);
    array_destroy(&a);
    return v;
}

/* The words that give another kernel what this one was given; what it alone writes is asked of its contracts. */
static void give_words(const Job *j, const fsc_jit *front, ToolOptions *o) {
    const Record *other = fsc_jit_interface(front);
    for (uint32_t i = 0; i < other->num_params; i++) {
        const char *name = arena_strndup(o->arena, other->params[i].name, strlen(other->params[i].name)), *word = NULL;
        const Bound *p = find(&j->bounds, name);
        if (!p) vec_push(o->arena, &o->prints, name);
        if (!p || other->params[i].kind == RECORD_CONSTEXPR) continue;
        if (p->array.data) {
            word = arena_printf(o->arena, "%s=zeros:%s[", name, p->array.dtype);
            for (uint32_t k = 0; k < p->array.rank; k++)
                word = arena_printf(o->arena, "%s%s%" PRIu64, word, k ? "," : "", p->array.shape[k]);
            word = arena_printf(o->arena, "%s]", word);
        } else if (p->word) {
            word = arena_printf(o->arena, "%s=%s", name, p->word->text);
        }
        if (word) vec_push(o->arena, &o->words, word);
    }
}

/* Launches the other kernel once and takes its array of that name. */
static Values *launch_other(Job *other, Arena *arena, const char *name) {
    fsc_status s = FSC_OK;
    if (job_make(other) != EXIT_DONE) return NULL;
    s = job_launch(other);
    if (s == FSC_OK) s = fsc_stream_wait(other->device, NULL);
    if (s != FSC_OK) return job_fail(other, s), NULL;
    const Bound *p = find(&other->bounds, name);
    if (!p || !p->array.data) return complain_parameter(other->bounds.interface, name), NULL;
    if (!p->writes) {
        fprintf(stderr, "%s: kernel %s does not write %s\n", tool_name, other->bounds.interface->kernel, name);
        return NULL;
    }
    if (p->array.bytes)
        s = fsc_memory_read(other->device, p->array.data, other->buffers[p - other->bounds.at], p->array.bytes);
    if (s != FSC_OK) return tool_fail(s, fsc_last_message()), NULL;
    return values_of_array(arena, &p->array);
}

/* FILE or FILE:KERNEL. */
static Values *run_reference(Job *j, Arena *arena, const char *name, const char *what) {
    const char *colon = strrchr(what, ':');
    ToolOptions o = *j->o;
    o.command = COMMAND_RUN;
    memset(&o.words, 0, sizeof o.words);
    memset(&o.defines, 0, sizeof o.defines);
    memset(&o.types, 0, sizeof o.types);
    memset(&o.expects, 0, sizeof o.expects);
    memset(&o.prints, 0, sizeof o.prints);
    fsc_compile_options_init(&o.compile);
    o.compile.kernel = colon ? colon + 1 : NULL;
    o.compile.color = j->o->compile.color;
    o.compile.include = j->o->compile.include;
    o.compile.file = tool_path(j->o, arena_strndup(o.arena, what, colon ? (size_t)(colon - what) : strlen(what)));
    Job other = {.o = &o, .device = j->device, .props = j->props, .grid = {1, 1, 1}, .like = &j->bounds};
    char *text = file_read(o.compile.file, &other.length);
    if (!text) return NULL;
    other.text = text;
    fsc_jit *front = NULL;
    Values *v = NULL;
    if (fsc_jit_create(j->device, text, other.length, &o.compile, &front) == FSC_OK) {
        vec_push(o.arena, &o.words, o.compile.file);
        give_words(j, front, &o);
        v = launch_other(&other, arena, name);
    } else {
        fputs(fsc_jit_message(front), stderr);
    }
    fsc_jit_destroy(front);
    job_free(&other);
    free(text);
    return v;
}

static Values *expected(Job *j, Arena *arena, const fsc_name_value *e, const Array *got) {
    const char *colon = strrchr(e->value, ':'), *why = NULL;
    size_t file = colon ? (size_t)(colon - e->value) : strlen(e->value);
    if (ends_with(e->value, strlen(e->value), ".npy")) return read_reference(j, arena, e->value, got);
    if (ends_with(e->value, file, ".dsl") || ends_with(e->value, file, ".py"))
        return run_reference(j, arena, e->name, e->value);
    Values *v = formula_evaluate(arena, e->value, look_up, &j->bounds, &why);
    if (!v) fprintf(stderr, "%s: --expect %s: %s\n", tool_name, e->name, why);
    return v;
}

/* ---- The comparison ---------------------------------------------------------------------------------------------- */

/* Equal but for axes of length 1. */
static bool same_shape(const Array *a, const Values *v) {
    uint32_t i = 0, k = 0;
    for (;;) {
        while (i < a->rank && a->shape[i] == 1) i++;
        while (k < v->rank && v->shape[k] == 1) k++;
        if (i == a->rank || k == v->rank) return i == a->rank && k == v->rank;
        if (a->shape[i++] != v->shape[k++]) return false;
    }
}

typedef struct Difference {
    uint64_t special, beyond; /* elements where NaN or infinity are not the same; those beyond the tolerance */
    uint64_t first, worst;    /* the first of the former; where the error is most of what is allowed */
    Real error, share;        /* there; share: of what is allowed */
} Difference;

static Difference compare(const Array *got, const Values *want, double rtol, double atol) {
    Difference d = {0};
    for (uint64_t i = 0; i < got->count; i++) {
        Real x = array_number(got, i), y = want->at[want->count == 1 ? 0 : i];
        if (!isfinite(x) || !isfinite(y)) {
            bool is_same = isnan(x) ? isnan(y) : x == y;
            if (!is_same && !d.special++) d.first = i;
            continue;
        }
        Real error = fabsl(x - y), allowed = (Real)atol + (Real)rtol * fabsl(y);
        Real share = error == 0 ? 0 : allowed > 0 ? error / allowed : (Real)INFINITY;
        d.beyond += share > 1;
        if (share > d.share || (share == d.share && error > d.error)) d.worst = i, d.error = error, d.share = share;
    }
    return d;
}

static const char *place(Arena *arena, const Array *a, uint64_t i) {
    const char *text = "";
    for (uint32_t k = a->rank; k-- > 0; i /= a->shape[k])
        text = arena_printf(arena, "%" PRIu64 "%s%s", i % a->shape[k], *text ? "," : "", text);
    return arena_printf(arena, "[%s]", text);
}

static bool report(const ToolOptions *o, Arena *arena, const fsc_name_value *e, const Array *got, const Values *want,
                   Text *out) {
    double rtol = 0, atol = 0;
    for (size_t i = 0; i < COUNT(tolerances); i++)
        if (strcmp(tolerances[i].dtype, got->dtype) == 0) rtol = tolerances[i].rtol, atol = tolerances[i].atol;
    if (o->has_rtol) rtol = o->rtol;
    if (o->has_atol) atol = o->atol;
    if (!same_shape(got, want) && want->count != 1) {
        Values shape = {.rank = got->rank};
        memcpy(shape.shape, got->shape, sizeof shape.shape);
        text_printf(out, "%s is not as expected: it has %s, and %s gives %s\n", e->name, values_shape(arena, &shape),
                    e->value, values_shape(arena, want));
        return false;
    }
    Difference d = compare(got, want, rtol, atol);
    if (!d.special && !d.beyond) {
        if (d.error == 0)
            text_printf(out, "%s is as expected, to the last bit\n", e->name);
        else
            text_printf(out,
                        "%s is as expected: the largest error is %.3Lg, at %s, %.2Lg of what rtol %g, atol %g allow\n",
                        e->name, d.error, place(arena, got, d.worst), d.share, rtol, atol);
        return true;
    }
    uint64_t at = d.special ? d.first : d.worst;
    Real x = array_number(got, at), y = want->at[want->count == 1 ? 0 : at];
    text_printf(out, "%s is not as expected by %s\n", e->name, e->value);
    if (d.special)
        text_printf(out,
                    "  NaN or infinity is not where it should be in %" PRIu64 " of %" PRIu64 " elements, first at %s",
                    d.special, got->count, place(arena, got, at));
    else
        text_printf(out, "  %" PRIu64 " of %" PRIu64 " elements are too far off, the worst at %s", d.beyond, got->count,
                    place(arena, got, at));
    text_printf(out, ": got %.9Lg, expected %.9Lg\n", x, y);
    if (!d.special)
        text_printf(out, "  the error there is %.3Lg; rtol %g, atol %g allow %.3Lg\n", d.error, rtol, atol,
                    (Real)atol + (Real)rtol * fabsl(y));
    return false;
}

ExitCode expect_all(Job *j, Text *out) {
    ExitCode code = EXIT_DONE;
    for (uint32_t i = 0; i < j->o->expects.len && code != EXIT_CALL; i++) {
        const fsc_name_value *e = &j->o->expects.at[i];
        const Bound *p = find(&j->bounds, e->name);
        Arena *arena = arena_create();
        const Values *want = expected(j, arena, e, &p->array);
        if (!want)
            code = EXIT_CALL;
        else if (!report(j->o, arena, e, &p->array, want, out))
            code = EXIT_INPUT;
        arena_destroy(arena);
    }
    return code;
}

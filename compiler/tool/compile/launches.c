/* launches.c - the launches that an object's variants are made for.
 *
 * In: a kernel's interface, options with the values of one combination of --variants, a card. Out: specialisations,
 * each with a number that is the same for every card.
 * Method: representative launches through runtime/record/specialise.c, so that an object's variants are the JIT's. Of
 * buffers at multiples of 16 bytes: rows of whole vectors, and any others, for each range of lengths; where their tile
 * is so long that few programs share out their rows, also for each range of few programs, whatever the length. Last,
 * one that takes nothing for granted, so that there is always one that fits.
 */
#include "runtime/base/arch.h"
#include "tool/compile/package.h"
#include "tool/info/needs.h"

#include <stdlib.h>
#include <string.h>

/* What is said of a launch's arguments, in this order. */
typedef enum Alignment { ALIGN_ALL, ALIGN_POINTERS, ALIGN_NOTHING } Alignment;

_Static_assert(3 * 64 * 16 < LAUNCHES, "numbers of launches");
enum { MOST_LENGTHS = 64, MOST_FEW = 16, WHOLE = 4096 /* any number of whole vectors */ };

typedef struct Launches {
    Arena *arena;
    const fsc_compile_options *o;
    const Record *interface;
    const fsc_props *card;
    Specialiser specialiser;
    bool has_length; /* one argument is a row's length: */
    uint32_t length; /* this parameter, … */
    int64_t tile;    /* … with this tile, … */
    bool is_covered; /* … which it has in the ranges of lengths alone */
    PackageLaunches out;
} Launches;

/* ---- What matters ------------------------------------------------------------------------------------------------ */

static bool is_integer(const RecordParam *p) {
    return p->kind == RECORD_SCALAR && (p->dtype[0] == 'i' || p->dtype[0] == 'u') && strcmp(p->dtype, "i1") != 0;
}

static bool has_integers(const Launches *l) {
    bool found = false;
    for (uint32_t i = 0; i < l->interface->num_params; i++)
        found |= is_integer(&l->interface->params[i]) && specialise_matters(l->interface, i);
    return found;
}

/* -D n<=8320 and the like. */
static bool is_bounded(const fsc_compile_options *o, const char *name) {
    size_t n = strlen(name);
    for (size_t i = 0; i < o->num_defines; i++) {
        const char *own = o->defines[i].name;
        if (strncmp(own, name, n) == 0 && (own[n] == '<' || own[n] == '>') && !own[n + 1]) return true;
    }
    return false;
}

/* ---- One launch -------------------------------------------------------------------------------------------------- */

/* length, programs: 0: not said. */
static const fsc_arg *make_arguments(const Launches *l, Alignment a, int64_t length, int64_t programs) {
    const Specialiser *s = &l->specialiser;
    fsc_arg *args = NEW_ARRAY(l->arena, fsc_arg, s->num_arguments);
    for (uint32_t i = 0; i < s->num_arguments; i++) {
        uint32_t index = s->arguments[i];
        const RecordParam *p = &l->interface->params[index];
        args[i].kind = FSC_ARG_MISSING;
        if (a == ALIGN_NOTHING) continue;
        if (p->kind == RECORD_POINTER)
            args[i] = specialise_pointer(i);
        else if (length && index == l->length)
            args[i] = fsc_int(length);
        else if (programs && index == s->programs)
            args[i] = fsc_int(programs);
        else if (a == ALIGN_ALL && is_integer(p) && specialise_matters(l->interface, index))
            args[i] = fsc_int(WHOLE);
    }
    return args;
}

/* False: a launch rule has no value. */
static bool make(const Launches *l, const fsc_arg *args, Specialisation *out) {
    char why[384];
    uint32_t n = l->interface->num_params;
    *out = (Specialisation){.values = NEW_ARRAY(l->arena, RuleBinding, n), .facts = NEW_ARRAY(l->arena, SpecFact, n)};
    bool ok = specialise(&l->specialiser, NULL, args, out, why, sizeof why);
    for (uint32_t i = 0; i < n; i++) {
        out->facts[i].dtype = FSC_DTYPE_NONE;                                            /* types are the options' */
        if (l->interface->params[i].kind != RECORD_CONSTEXPR) out->values[i].known = false; /* these are made up */
    }
    return ok;
}

static void add(Launches *l, Alignment a, uint32_t length, uint32_t few, const Specialisation *s) {
    PackageLaunch one = {*s, ((uint64_t)a * MOST_LENGTHS + length) * MOST_FEW + few};
    vec_push(l->arena, &l->out, one);
}

/* ---- All of them ------------------------------------------------------------------------------------------------- */

/* Each range of lengths once: of lengths that are whole vectors, or of the others. */
static void add_lengths(Launches *l, Alignment a) {
    Specialisation s;
    uint32_t n = 1;
    for (int64_t v = l->tile / 2 + 1; l->has_length && v <= l->tile && n < MOST_LENGTHS; v++) {
        if (!make(l, make_arguments(l, a, v, 0), &s)) return;
        bool is_whole = s.facts[l->length].divisible != 0;
        if (is_whole != (a == ALIGN_ALL) || !s.facts[l->length].range.most) continue;
        v = s.facts[l->length].range.most;
        add(l, a, n++, 0, &s);
    }
}

/* Each range of few programs once, for the longest rows of the tile; it holds for all rows that have this tile. */
static void add_few(Launches *l, Alignment a) {
    int64_t length = a == ALIGN_ALL ? l->tile : l->tile - 1;
    uint32_t n = 1;
    Specialisation s;
    if (!l->has_length || !l->specialiser.may_be_few || l->specialiser.programs == l->length) return;
    for (int64_t programs = 1; programs <= (int64_t)l->card->sms && n < MOST_FEW; programs = s.launch.few.most + 1) {
        if (!make(l, make_arguments(l, a, length, programs), &s) || !s.launch.few.most) return;
        s.facts[l->length].range = (Bucket){(uint32_t)(l->tile / 2 + 1), (uint32_t)l->tile};
        s.facts[l->specialiser.programs].divisible = 0;
        s.facts[l->specialiser.programs].equals_one = s.launch.few.most == 1;
        add(l, a, 0, n++, &s);
    }
}

static void add_all(Launches *l) {
    const char *signature = l->o->signature;
    bool is_said = signature && strchr(signature, ':'); /* what is taken for granted */
    Specialisation s;
    for (Alignment a = has_integers(l) ? ALIGN_ALL : ALIGN_POINTERS; a < ALIGN_NOTHING && !is_said; a++) {
        add_few(l, a);
        add_lengths(l, a);
        if (!l->is_covered && make(l, make_arguments(l, a, 0, 0), &s)) add(l, a, 0, 0, &s);
    }
    (void)make(l, make_arguments(l, ALIGN_NOTHING, 0, 0), &s);
    add(l, ALIGN_NOTHING, 0, 0, &s);
}

/* ---- Before ------------------------------------------------------------------------------------------------------ */

/* The card of that arch with the fewest multiprocessors: what reaches over them runs on the others, too. */
static fsc_props find_card(const char *arch) {
    fsc_props card = {.kind = FSC_CUDA, .warp_size = ARCH_WARP};
    for (size_t i = 0; fsc_gpu_at(i, NULL); i++) {
        const fsc_props *p = fsc_gpu_at(i, NULL);
        if (strcmp(p->arch, arch) == 0 && (!card.sms || p->sms < card.sms)) card = *p;
    }
    return card;
}

/* The one argument that is a row's length, and its tile; kernels with several have no ranges. */
static void find_length(Launches *l) {
    const Specialiser *s = &l->specialiser;
    for (uint32_t i = 0; i < s->num_rows; i++) {
        uint32_t length = s->rows[i].length;
        RecordParam p = l->interface->params[s->rows[i].tile];
        RuleValue v;
        char rule[32];
        p.value = s->given.values[s->rows[i].tile];
        bool is_tile = p.value && record_value(&p, &v) && rule_is_int(v) && v.i > 1 && v.i <= INT32_MAX / 4;
        if (!is_tile || is_bounded(l->o, l->interface->params[length].name)) continue;
        if (l->has_length && (length != l->length || v.i != l->tile)) {
            l->has_length = l->is_covered = false;
            return;
        }
        (void)snprintf(rule, sizeof rule, "$%u npow2", length);
        l->has_length = true;
        l->length = length;
        l->tile = v.i;
        l->is_covered |= strcmp(p.rule, rule) == 0;
    }
}

PackageLaunches package_launches(Arena *a, const fsc_compile_options *o, const Record *interface, const char *arch,
                                 fsc_props *card) {
    Launches l = {.arena = a, .o = o, .interface = interface, .card = card};
    *card = find_card(arch);
    const char **values = NEW_ARRAY(a, const char *, interface->num_params);
    const SpecGiven given = variant_given(o, interface, values);
    for (uint32_t i = 0; i < interface->num_params; i++) {
        const RecordParam *p = &interface->params[i];
        bool has_default = p->kind == RECORD_CONSTEXPR && p->rule && p->value && p->value[0];
        if (!values[i] && has_default) values[i] = p->value; /* as the compile does, which knows no argument */
    }
    if (!specialiser_open(&l.specialiser, interface, l.card, &given))
        bug("out of memory for the variants of %s", interface->kernel);
    find_length(&l);
    add_all(&l);
    specialiser_close(&l.specialiser);
    return l.out;
}

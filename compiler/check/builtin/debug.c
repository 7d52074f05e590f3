/* debug.c - what only shows with --device-debug: device_print, print, device_assert, assert of a run-time condition.
 *
 * In: a bound Call, an assert. Out: None, and the ops print and assert where the options ask for them.
 * Method: types are checked in either case; without the option nothing is built,
 * and what was computed for it is dead code.
 */
#include "check/builtin/builtin.h"

#include <string.h>

/* The same with and without the option. */
static bool may_stand(Checker *c, const char *what, Span at) {
    if (!c->combines) return true;
    diag(c->d, at, E_COMBINE_DEBUG, what);
    diag_note(c->d, at, "look at what goes into the reduction or scan, or at what comes out");
    return false;
}

/* ---- Printing ---------------------------------------------------------------------------------------------------- */

static Shown shown_hex(uint32_t bits) {
    return bits <= 8 ? SHOWN_HEX8 : bits == 16 ? SHOWN_HEX16 : bits == 32 ? SHOWN_HEX32 : SHOWN_HEX64;
}

static Shown shown_float(SType t) {
    if (t == ST_FP16) return SHOWN_FP16;
    if (t == ST_BF16) return SHOWN_BF16;
    return t == ST_FP32 ? SHOWN_FP32 : t == ST_FP64 ? SHOWN_FP64 : SHOWN_FP8;
}

static SType bits_type(SType t) {
    uint32_t bits = stype_bits(t);
    return bits == 8 ? ST_U8 : bits == 16 ? ST_U16 : bits == 32 ? ST_U32 : ST_U64;
}

static void show(Checker *c, const Sem *s, const char *text, bool hex, Span at) {
    c->b.span = at;
    if (s->is_pointer) {
        build_print(&c->b, s->v, text, SHOWN_HEX64);
        return;
    }
    if (hex && stype_is_float(s->type)) s = bitcast_to(c, s, bits_type(s->type), false, at);
    Shown as = hex ? shown_hex(stype_bits(s->type)) : stype_is_unsigned(s->type) ? SHOWN_UNSIGNED : SHOWN_SIGNED;
    if (stype_is_float(s->type)) {
        as = shown_float(s->type);
        if (stype_bits(s->type) < 32) s = convert_to(c, s, ST_FP32, at);
    }
    c->b.span = at;
    build_print(&c->b, s->v, text, as);
}

/* "prefix: ", however much of that the prefix has. */
static const char *text_before(Checker *c, const char *prefix, uint32_t operand, uint32_t count) {
    size_t n = strlen(prefix);
    while (n && prefix[n - 1] == ' ') n--;
    if (n && prefix[n - 1] == ':') n--;
    const char *text = n ? arena_printf(c->a, "%.*s: ", (int)n, prefix) : "";
    return count > 1 ? arena_printf(c->a, "%s(operand %u) ", text, operand) : text;
}

/* Arguments from..most were not reached from the left: none may be given. */
bool values_close_ranks(Checker *c, Call *call, uint32_t from, uint32_t most) {
    for (uint32_t i = from; i <= most; i++) {
        if (!call->arg[i]) continue;
        diag(c->d, call->at[i], E_BY_POSITION, call->builtin->name);
        return false;
    }
    return true;
}

/* Values first … first + count - 1 of the call. */
static const Sem *print_values(Checker *c, Call *call, const char *prefix, uint32_t first, uint32_t count,
                               uint32_t most, bool hex) {
    bool good = may_stand(c, arena_printf(c->a, "'%s'", call->builtin->name), call->span);
    good &= values_close_ranks(c, call, first + count, most);
    for (uint32_t i = first; i < first + count; i++) {
        const Sem *s = call->arg[i];
        if (sem_is_number(s) || s->kind == SEM_RUN) continue;
        diag(c->d, call->at[i], E_ARGUMENT_KIND, call->builtin->name, "numbers, tiles and pointers",
             sem_type_text(c, s));
        diag_note(c->d, call->at[i], "static_print shows what is known at compile time");
        good = false;
    }
    if (!good || !c->o->device_debug) return &sem_none;
    c->b.span = call->span;
    if (count == 0) build_print(&c->b, NULL, prefix, SHOWN_SIGNED);
    for (uint32_t i = 0; i < count; i++) {
        const Sem *s = to_run(c, call->arg[first + i], call->at[first + i]);
        if (!sem_is_error(s)) show(c, s, text_before(c, prefix, i, count), hex, call->span);
    }
    return &sem_none;
}

static uint32_t count_from(const Call *call, uint32_t first, uint32_t most) {
    uint32_t n = 0;
    while (n < most && call->arg[first + n]) n++;
    return n;
}

enum { VALUES = 8 /* the prefix before them, hex behind */ };

const Sem *builtin_device_print(Checker *c, Call *call) {
    const Sem *prefix = call->arg[0];
    if (prefix->kind != SEM_STRING) {
        diag(c->d, call->at[0], E_ARGUMENT_KIND, call->builtin->name, "a string as its prefix",
             sem_type_text(c, prefix));
        diag_note(c->d, call->at[0], "as in device_print(\"x\", x)");
        return &sem_error;
    }
    return print_values(c, call, prefix->s, 1, count_from(call, 1, VALUES), VALUES, call_flag(call, VALUES + 1, false));
}

/* A string in front is the prefix. */
const Sem *builtin_print(Checker *c, Call *call) {
    bool has_prefix = call->arg[0] && call->arg[0]->kind == SEM_STRING;
    uint32_t first = has_prefix ? 1 : 0;
    return print_values(c, call, has_prefix ? call->arg[0]->s : "", first, count_from(call, first, VALUES + 1 - first),
                        VALUES, false);
}

/* ---- Asserting --------------------------------------------------------------------------------------------------- */

/* An assertion: device_assert, or the statement. */
typedef struct Assertion {
    const char *name;
    const char *message;
    const Sem *cond, *mask; /* mask NULL: all elements */
    Span at, mask_at;
} Assertion;

/* As i1; NULL after an error. */
static const Sem *as_truth(Checker *c, const Assertion *a, const Sem *s, Span at, const char *wanted) {
    if (!sem_is_error(s) && !sem_is_number(s) && (s->kind != SEM_RUN || s->is_pointer || stype_is_float(s->type))) {
        diag(c->d, at, E_ARGUMENT_KIND, a->name, wanted, sem_type_text(c, s));
        diag_note(c->d, at, "compare it, as in x >= 0");
        return NULL;
    }
    s = to_run(c, s, at);
    if (sem_is_error(s)) return NULL;
    if (s->type != ST_I1) s = check_compare(c, CMP_NE, s, sem_i64(c, 0), at);
    return sem_is_error(s) ? NULL : s;
}

static const Sem *assert_holds(Checker *c, const Assertion *a) {
    const Sem *cond = a->cond, *mask = a->mask;
    if (!a->message || !may_stand(c, "an assertion", a->at)) return &sem_error;
    if (sem_is_number(cond) && const_truth(cond)) return &sem_none;
    if (sem_is_number(cond)) cond = sem_bool(c, false);
    cond = as_truth(c, a, cond, a->at, "truth values or ints");
    if (!cond) return &sem_error;
    if (mask && mask->kind != SEM_NONE) {
        mask = as_truth(c, a, mask, a->mask_at, "truth values or ints as its mask");
        const Sem *out = mask ? check_compare(c, CMP_EQ, mask, sem_bool(c, false), a->mask_at) : &sem_error;
        cond = sem_is_error(out) ? out : check_binary(c, BIN_OR, cond, out, span_join(a->at, a->mask_at));
        if (sem_is_error(cond)) return cond;
    }
    if (!c->o->device_debug) return &sem_none;
    c->b.span = a->at;
    build_assert(&c->b, cond->v, a->message, add_site(c, a->at));
    return &sem_none;
}

/* NULL after an error. */
static const char *message_of(Checker *c, const char *name, const Sem *s, Span at) {
    if (!s || s->kind == SEM_NONE) return "assertion failed";
    if (s->kind == SEM_STRING) return s->s;
    if (!sem_is_error(s)) diag(c->d, at, E_ARGUMENT_KIND, name, "a string as its message", sem_type_text(c, s));
    return NULL;
}

const Sem *builtin_device_assert(Checker *c, Call *call) {
    Assertion a = {.name = call->builtin->name,
                   .cond = call->arg[0],
                   .mask = call->arg[2],
                   .at = call->at[0],
                   .mask_at = call->at[2]};
    a.message = message_of(c, a.name, call->arg[1], call->at[1]);
    return assert_holds(c, &a);
}

void assert_run(Checker *c, const Node *n, const Sem *cond) {
    Assertion a = {.name = "assert", .cond = cond, .at = n->a->span};
    a.message = message_of(c, a.name, n->b ? check_expr(c, n->b) : NULL, n->b ? n->b->span : n->span);
    assert_holds(c, &a);
}

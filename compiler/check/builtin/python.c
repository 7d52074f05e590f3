/* python.c - what runs at compile time: Python's own functions on constants, static checks, and hints.
 *
 * In: a bound Call. Out: a constant, or None.
 * Method: a hint strengthens what is known of a run-time parameter (Param); about other values it is accepted, and the
 * facts pass finds what it can by itself.
 */
#include "check/builtin/builtin.h"

#include "runtime/base/ascii.h"
#include "runtime/base/number.h"

#include <stdlib.h>
#include <string.h>

const Sem *builtin_constexpr(Checker *c, Call *call) {
    if (sem_is_const(call->arg[0])) return sem_weak(c, call->arg[0]);
    diag(c->d, call->at[0], E_CONST_CALL, sem_type_text(c, call->arg[0]));
    diag_note(c->d, call->at[0], "make it a constexpr parameter, or compute it from constexpr values");
    return &sem_error;
}

/* A number becomes a value at run time. */
const Sem *builtin_to_tensor(Checker *c, Call *call) {
    return to_run(c, call->arg[0], call->at[0]);
}

const Sem *builtin_len(Checker *c, Call *call) {
    const Sem *s = call->arg[0];
    if (s->kind == SEM_TUPLE) return sem_i64(c, s->count);
    if (s->kind == SEM_STRING) return sem_i64(c, (int64_t)strlen(s->s));
    if (sem_is_tile(s)) return sem_i64(c, (int64_t)shape_size(sem_shape(s), 0));
    diag(c->d, call->at[0], E_LEN, sem_type_text(c, s));
    diag_note(c->d, call->at[0], "it counts a tuple, a string, or a tile along its first axis");
    return &sem_error;
}

static const Sem *not_constant(Checker *c, Call *call) {
    const char *name = call->builtin->name;
    diag(c->d, call->at[0], E_PYTHON_CALL, name, sem_type_text(c, call->arg[0]));
    if (call->arg[0]->kind == SEM_RUN) {
        const char *type = strcmp(name, "float") == 0 ? "fp32" : strcmp(name, "bool") == 0 ? "i1" : "i32";
        if (strcmp(name, "str") == 0) diag_note(c->d, call->at[0], "device_print shows a run-time value");
        else diag_note(c->d, call->at[0], "a run-time value converts with .to(%s)", type);
    }
    return &sem_error;
}

const Sem *builtin_python_int(Checker *c, Call *call) {
    const Sem *s = call->arg[0];
    Int i;
    if (s->kind == SEM_INT || s->kind == SEM_BOOL) return sem_int(c, s->i);
    if (s->kind == SEM_FLOAT && int_from_double(s->f, &i)) return sem_int(c, i);
    return not_constant(c, call);
}

const Sem *builtin_python_float(Checker *c, Call *call) {
    const Sem *s = call->arg[0];
    if (s->kind == SEM_FLOAT) return sem_float(c, s->f);
    if (sem_is_number(s)) return sem_float(c, int_to_double(s->i));
    if (s->kind == SEM_STRING) { /* 'inf', '-inf', 'nan', '1e-5' */
        double x = 0;
        const char *text = s->s, *end = text + strlen(text);
        while (is_space(*text)) text++;
        while (end > text && is_space(end[-1])) end--;
        if (number_read(text, (size_t)(end - text), &x)) return sem_float(c, x);
    }
    return not_constant(c, call);
}

const Sem *builtin_python_bool(Checker *c, Call *call) {
    return sem_is_const(call->arg[0]) ? sem_bool(c, const_truth(call->arg[0])) : not_constant(c, call);
}

const Sem *builtin_python_str(Checker *c, Call *call) {
    const Sem *s = call->arg[0];
    if (s->kind == SEM_STRING) return s;
    if (sem_is_number(s)) return sem_string(c, number_text(c, s));
    return not_constant(c, call);
}

/* Of a list, or of what is a tuple already: Triton's tl.tuple as well as Python's tuple. */
const Sem *builtin_tuple(Checker *c, Call *call) {
    if (call->arg[0]->kind == SEM_TUPLE) return call->arg[0];
    diag(c->d, call->at[0], E_ARGUMENT_KIND, call->builtin->name, "a tuple", sem_type_text(c, call->arg[0]));
    return &sem_error;
}

/* torch.finfo(T) and iinfo: a type has its own limits (expr/index.c). */
const Sem *builtin_limits(Checker *c, Call *call) {
    bool wants_float = call->builtin->aux, is_float = stype_is_float(call->arg[0]->type);
    if (wants_float == is_float) return call->arg[0];
    const char *wanted = wants_float ? "a type of floats" : "a type of integers";
    diag(c->d, call->at[0], E_ARGUMENT_KIND, call->builtin->name, wanted, sem_type_text(c, call->arg[0]));
    return &sem_error;
}

/* The condition of a while; what else it is told changes nothing. */
const Sem *builtin_condition(Checker *c, Call *call) {
    (void)c;
    return call->arg[0];
}

static bool is_instance(const Sem *x, const char *type) {
    if (strcmp(type, "pointer_type") == 0) return x->kind == SEM_TYPE && x->is_pointer;
    if (strcmp(type, "constexpr") == 0) return sem_is_const(x);
    if (strcmp(type, "tensor") == 0) return x->kind == SEM_RUN;
    if (strcmp(type, "tensor_descriptor") == 0) return x->kind == SEM_BLOCK && x->block->is_descriptor;
    if (strcmp(type, "int") == 0) return x->kind == SEM_INT || x->kind == SEM_BOOL;
    if (strcmp(type, "float") == 0) return x->kind == SEM_FLOAT;
    if (strcmp(type, "bool") == 0) return x->kind == SEM_BOOL;
    if (strcmp(type, "tuple") == 0) return x->kind == SEM_TUPLE;
    return strcmp(type, "str") == 0 && x->kind == SEM_STRING;
}

static bool names_type(const char *name) {
    static const char *const names[] = {"constexpr", "tensor", "tensor_descriptor", "tuple",
                                        "int",       "float",  "bool",              "str",
                                        "pointer_type"};
    for (size_t i = 0; i < COUNT(names); i++)
        if (strcmp(name, names[i]) == 0) return true;
    return false;
}

const Sem *builtin_isinstance(Checker *c, Call *call) {
    const Sem *types = call->arg[1];
    if (types->kind != SEM_TUPLE) types = sem_tuple(c, &call->arg[1], 1);
    bool found = false;
    for (uint32_t i = 0; i < types->count; i++) {
        if (types->items[i]->kind != SEM_BUILTIN || !names_type(types->items[i]->builtin->name)) {
            diag(c->d, call->at[1], E_ISINSTANCE, sem_type_text(c, types->items[i]));
            return &sem_error;
        }
        found |= is_instance(call->arg[0], types->items[i]->builtin->name);
    }
    return sem_bool(c, found);
}

/* Of a module, what its name may be; of a value, its properties and what is called as its method. */
const Sem *builtin_hasattr(Checker *c, Call *call) {
    const Sem *of = call->arg[0];
    const char *name = call->arg[1]->s;
    if (of->kind == SEM_MODULE && of->home) return sem_bool(c, file_member(c, of->home, name, call->span) != NULL);
    if (of->kind == SEM_MODULE) return sem_bool(c, module_member(c, name) != NULL);
    return sem_bool(c, (of->kind == SEM_RUN || sem_is_number(of)) && value_has(name));
}

/* obj.name, or what is given for an obj that has none. */
const Sem *builtin_getattr(Checker *c, Call *call) {
    Node *n = NEW(c->a, Node);
    *n = (Node){.kind = NODE_ATTRIBUTE, .span = call->span, .a = call->node->list.at[0], .name = call->arg[1]->s};
    if (call->arg[2] && !const_truth(builtin_hasattr(c, call))) return call->arg[2];
    uint32_t errors = diag_errors(c->d);
    const Sem *s = attribute_of(c, n, call->arg[0]);
    if (diag_errors(c->d) != errors) diag_note(c->d, call->span, "getattr(obj, name, default) may say what it is then");
    return s;
}

const Sem *builtin_only_loop(Checker *c, Call *call) {
    diag(c->d, call->span, E_NO_FUNCTION_HERE, call->builtin->name);
    if (strstr(call->builtin->name, "range"))
        diag_note(c->d, call->span, "write it as in: for i in %s(...):", call->builtin->name);
    else
        diag_note(c->d, call->span, "it stands in isinstance(x, %s)", call->builtin->name);
    return &sem_error;
}

/* ---- Static checks ----------------------------------------------------------------------------------------------- */

const Sem *builtin_static_assert(Checker *c, Call *call) {
    const Sem *cond = call->arg[0], *message = call->arg[1];
    if (!sem_is_const(cond)) {
        diag(c->d, call->at[0], E_CONST_ASSERT, sem_type_text(c, cond));
        diag_note(c->d, call->at[0], "device_assert looks at run-time values, with --device-debug");
        return &sem_error;
    }
    if (const_truth(cond)) return &sem_none;
    if (message && message->kind == SEM_STRING) {
        diag(c->d, call->span, E_STATIC_ASSERT_TEXT, message->s);
    } else {
        diag(c->d, call->span, E_STATIC_ASSERT);
    }
    return &sem_none;
}

const Sem *builtin_static_print(Checker *c, Call *call) {
    Text out = {0};
    uint32_t count = 0, most = (uint32_t)call->builtin->max;
    while (count < most && call->arg[count]) count++;
    if (!values_close_ranks(c, call, count, most - 1)) return &sem_error;
    for (uint32_t i = 0; i < count; i++) {
        if (i) text_printf(&out, " ");
        spend_looking(c, call->arg[i]);
        sem_print(c, call->arg[i], &out);
    }
    diag_note(c->d, call->span, "%s", out.at ? out.at : "");
    text_free(&out);
    return &sem_none;
}

/* ---- Hints ------------------------------------------------------------------------------------------------------- */

/* The parameter that v is, where what is said here holds for the whole kernel; else NULL. */
static Param *param_of(Checker *c, const Value *v) {
    if (!v || v->def || v->block != c->f->body || c->b.block != c->f->body) return NULL;
    return v->index < c->f->params.len ? &c->f->params.at[v->index] : NULL;
}

static void strengthen(Param *p, int64_t divisor) {
    uint32_t power = 1;
    while (divisor > 1 && divisor % 2 == 0 && power < (1u << 30)) {
        divisor /= 2;
        power *= 2;
    }
    if (power > p->divisible) p->divisible = power;
}

/* n >= bound, n <= bound: what fits the record. */
static void learn_bound(Param *p, Pred pred, int64_t bound) {
    bool above = pred == PRED_SGE || pred == PRED_SGT, below = pred == PRED_SLE || pred == PRED_SLT;
    if (above && bound >= -(pred == PRED_SGT)) p->is_nonnegative = true;
    if (pred == PRED_SGT && bound < INT64_MAX) bound++;
    if (pred == PRED_SLT && bound > INT64_MIN) bound--;
    if (bound < 1 || bound > UINT32_MAX) return;
    if (above && bound > p->least) p->least = (uint32_t)bound;
    if (below && (!p->most || bound < p->most)) p->most = (uint32_t)bound;
}

/* x >= 0 of a scalar: from here on the names that hold it hold max(x, 0), of which the facts know as much. A loop or
 * branch does not change names of what was made outside of it, which would be carried or merged for nothing. */
static void learn_sign(Checker *c, Value *x, Pred pred, int64_t bound) {
    Value *known = NULL;
    if ((x->def ? x->def->parent : x->block) != c->b.block) return;
    if ((pred != PRED_SGE && pred != PRED_SGT) || bound < -(pred == PRED_SGT) || value_is_tile(x)) return;
    for (uint32_t i = 0; i < c->frame->variables.len; i++) {
        Binding b = c->frame->variables.at[i].now;
        if (!b.sem || b.sem->kind != SEM_RUN || (b.sem->wide ? b.sem->wide : b.sem->v) != x) continue;
        if (!known) known = build2(&c->b, OP_SMAX, x, build_int(&c->b, x->type, 0));
        b.sem = b.sem->wide ? sem_with(c, b.sem, b.sem->v, known) : sem_with(c, b.sem, known, NULL);
        frame_set(c, i, b);
    }
}

/* n % 16 == 0, n >= 0 and n <= 8192, in the ops that they became. */
static void learn(Checker *c, const Value *cond) {
    const Op *cmp = cond->def;
    int64_t bound, divisor;
    if (!cmp || cmp->kind != OP_ICMP || !value_const(cmp->args[1], &bound)) return;
    Pred p = cmp->attr.pred;
    const Op *rem = cmp->args[0]->def;
    Param *direct = param_of(c, cmp->args[0]);
    if (direct) learn_bound(direct, p, bound);
    else learn_sign(c, cmp->args[0], p, bound);
    if (p != PRED_EQ || bound != 0 || !rem || (rem->kind != OP_SREM && rem->kind != OP_UREM)) return;
    Param *param = param_of(c, rem->args[0]);
    if (param && value_const(rem->args[1], &divisor) && divisor > 0) strengthen(param, divisor);
}

const Sem *builtin_assume(Checker *c, Call *call) {
    const Sem *cond = call->arg[0];
    if (sem_is_const(cond)) {
        if (!const_truth(cond)) diag(c->d, call->span, E_ASSUME);
        return &sem_none;
    }
    if (condition_of(c, cond, call->at[0], "the condition of assume")->kind != SEM_RUN) return &sem_none;
    c->b.span = call->span;
    learn(c, cond->v);
    return &sem_none;
}

const Sem *builtin_multiple_of(Checker *c, Call *call) {
    const Sem *values = call->arg[1];
    if (values->kind != SEM_TUPLE) values = sem_tuple(c, &call->arg[1], 1);
    uint32_t rank = sem_shape(call->arg[0]).rank;
    if (values->count != 1 && values->count != rank) {
        diag(c->d, call->at[1], E_HINT_COUNT, call->builtin->name, values->count, sem_type_text(c, call->arg[0]));
        diag_note(c->d, call->at[1], "it is one int, or one for each dimension");
        return &sem_error;
    }
    for (uint32_t i = 0; i < values->count; i++) {
        int64_t n;
        if (!sem_want_int(c, values->items[i], call->at[1], argument_of(c, call, 1), &n)) return &sem_error;
        if (n < 1) {
            diag(c->d, call->at[1], E_HINT, call->builtin->name, (long long)n);
            return &sem_error;
        }
        const Sem *x = call->arg[0];
        Param *p = x->kind == SEM_RUN && call->builtin->aux ? param_of(c, x->v) : NULL;
        if (p && values->count == 1) strengthen(p, n);
    }
    return call->arg[0];
}

/* In tile IR every load and store of a program is in order already; on a GPU all its threads meet here. */
const Sem *builtin_debug_barrier(Checker *c, Call *call) {
    c->b.span = call->span;
    op_build(&c->b, OP_BARRIER, NULL, 0, (Attr){.scope = SCOPE_BLOCK}, (Type){0});
    return &sem_none;
}

/* The launch behind waits for this one alone. If no program of this one waited, it could end before those ahead. */
const Sem *builtin_gdc(Checker *c, Call *call) {
    OpKind kind = (OpKind)call->builtin->aux;
    if (kind == OP_GDCWAIT && c->b.block != c->f->body) {
        diag(c->d, call->span, E_GDC_PLACE);
        diag_note(c->d, call->span, "call it in the kernel's body: outside of 'if' and loops, ahead of any early "
                                    "'return'");
        return &sem_error;
    }
    c->b.span = call->span;
    op_build(&c->b, kind, NULL, 0, (Attr){0}, (Type){0});
    return &sem_none;
}

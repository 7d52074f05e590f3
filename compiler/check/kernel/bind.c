/* bind.c - the kernel's parameters: values of the constexpr ones, the function's arguments, and their lines in the
 * record.
 *
 * In: Params after declare.c. Out: every constexpr and dtype bound or reported, Func arguments, names of the body.
 * Method: what is not fixed from outside is evaluated from the launch rule as far as its inputs are known, else it
 * takes its default; the record says which (RecordOrigin), so that a launch can compare.
 */
#include "check/sema.h"

#include <string.h>

static const Span nowhere = {0, 0};

/* ---- Launch rule and defaults ------------------------------------------------------------------------------------ */

static bool known_value(Checker *c, const ParamInfo *p, RuleValue *out) {
    const Sem *s = p->value;
    int64_t i;
    if (s && (s->kind == SEM_INT || s->kind == SEM_BOOL) && int_fits(s->i, &i)) return (*out = rule_int(i), true);
    if (s && s->kind == SEM_FLOAT) return (*out = rule_float(s->f), true);
    if (s && s->kind == SEM_NONE) return (*out = rule_int(0), true); /* as a launch has it: RECORD_WORD */
    if (s && s->kind == SEM_TYPE && !s->is_pointer)
        return rule_dtype(stype_name(s->type), strlen(stype_name(s->type)), out);
    if (p->role == ROLE_SCALAR && p->equals_one) return (*out = rule_int(1), true);
    for (uint32_t k = 0; k < c->o->num_known; k++) {
        RecordParam text = {.kind = RECORD_CONSTEXPR, .value_kind = RECORD_FLOAT, .value = c->o->known[k].value};
        if (strcmp(c->o->known[k].name, p->name) != 0) continue;
        if (!strpbrk(text.value, ".einfa")) text.value_kind = RECORD_INT;
        return record_value(&text, out);
    }
    return false;
}

bool rule_number(Checker *c, const Params *p, const char *code, Span at, RuleValue *out) {
    RuleBinding *values = NEW_ARRAY(c->a, RuleBinding, p->count + 1);
    char err[256];
    for (uint32_t i = 0; i < p->count; i++) {
        values[i].name = p->at[i].name;
        values[i].known = known_value(c, &p->at[i], &values[i].value);
    }
    RuleEnv env = {.values = values,
                   .num_values = p->count,
                   .num_sms = c->o->num_sms,
                   .max_shared = c->o->max_shared,
                   .num_regs = c->o->num_regs,
                   .warp_size = c->o->warp_size};
    RuleStatus status = rule_eval(code, &env, out, err, sizeof err);
    if (status == RULE_OK) return true;
    if (status != RULE_UNBOUND) diag(c->d, at, E_RULE_VALUE, err);
    return false;
}

const Sem *default_of(Checker *c, const ParamInfo *p) {
    if (!p->node->b) return NULL;
    frame_push(c, NULL, nowhere);
    const Sem *s = check_expr(c, p->node->b);
    frame_pop(c);
    if (s->kind == SEM_RUN) {
        diag(c->d, p->node->b->span, E_CONST_DEFAULT, p->name);
        return &sem_error;
    }
    if (p->role == ROLE_DTYPE && s->kind != SEM_TYPE && !sem_is_error(s)) {
        diag(c->d, p->node->b->span, E_DEFAULT_TYPE, p->name, sem_type_text(c, s));
        return &sem_error;
    }
    return s;
}

/* One more value from the launch rule? */
static bool settle_rules(Checker *c, Params *p) {
    bool changed = false;
    for (uint32_t i = 0; i < p->count; i++) {
        ParamInfo *param = &p->at[i];
        RuleValue v;
        uint32_t errors = diag_errors(c->d);
        if (!param->rule || param->value || param->failed) continue;
        bool is_there = rule_number(c, p, param->rule, param->rule_at, &v);
        if (is_there && v.is_dtype) {
            diag(c->d, param->rule_at, E_RULE_VALUE,
                 arena_printf(c->a, "it gives %s a type, and it can only give numbers", param->name));
        } else if (is_there) {
            param->value = v.is_float ? sem_float(c, v.f) : sem_i64(c, v.i);
            param->origin = param->is_tuned ? RECORD_TUNED : RECORD_RULE;
            changed = true;
        }
        if (diag_errors(c->d) != errors) param->failed = true;
    }
    return changed;
}

/* Whose default counts first: types, which no rule gives; what has no rule, for a rule may ask for it; the rest. */
typedef enum Turn { TURN_TYPES, TURN_NO_RULE, TURN_REST, TURNS } Turn;

static bool takes_default(const ParamInfo *p, Turn turn) {
    bool may = p->role == ROLE_CONSTEXPR || p->role == ROLE_DTYPE || (p->role == ROLE_BARE && !p->typed);
    return may && (turn != TURN_TYPES || p->role == ROLE_DTYPE) && (turn != TURN_NO_RULE || !p->rule);
}

/* One more value from a default? Only one at a time: a rule may need just that. */
static bool settle_default(Checker *c, Params *p, Turn turn) {
    for (uint32_t i = 0; i < p->count; i++) {
        ParamInfo *param = &p->at[i];
        if (param->value || param->failed || !takes_default(param, turn)) continue;
        const Sem *s = param->otherwise ? param->otherwise : default_of(c, param);
        if (!s) continue;
        if (param->role == ROLE_BARE) param->role = ROLE_CONSTEXPR;
        param->value = s;
        param->origin = param->otherwise ? RECORD_CONFIG : RECORD_DEFAULT;
        param->failed = sem_is_error(s);
        return true;
    }
    return false;
}

static bool settle_one(Checker *c, Params *p) {
    if (settle_rules(c, p)) return true;
    for (Turn turn = TURN_TYPES; turn < TURNS; turn++)
        if (settle_default(c, p, turn)) return true;
    return false;
}

void params_settle(Checker *c, Params *p) {
    while (settle_one(c, p)) continue;
    params_types(c, p);
    params_report_unbound(c, p);
    params_types(c, p); /* failures reach *T */
}

/* ---- Into the function ------------------------------------------------------------------------------------------- */

static Value *add_argument(Checker *c, const ParamInfo *p) {
    bool is_pointer = p->role == ROLE_POINTER;
    DType d = stype_memory(p->type);
    Type t = is_pointer ? type_pointer(d) : type_scalar(d);
    uint32_t natural = is_pointer ? type_bytes(type_scalar(d)) : 1; /* elements lie on their own size */
    Param param = {.name = p->name,
                   .span = p->span,
                   .divisible = p->divisible > natural ? p->divisible : natural,
                   .is_const = p->is_const,
                   .is_unsigned = !is_pointer && stype_is_unsigned(p->type),
                   .least = p->least,
                   .most = p->most};
    return func_add_param(c->f, t, param);
}

static const Sem *scalar_sem(Checker *c, const ParamInfo *p, Value *v) {
    if (p->equals_one) { /* known to the passes only: what the source means must not hang on it */
        return sem_run(c, p->type, const_value(c, sem_i64(c, 1), p->type, shape_scalar()), NULL);
    }
    if (p->type != ST_I1) return sem_run(c, p->type, v, NULL);
    return sem_run(c, ST_I1, build_compare(&c->b, OP_ICMP, PRED_NE, v, build_int(&c->b, v->type, 0)), NULL);
}

static const Sem *enter(Checker *c, const ParamInfo *p) {
    if (p->failed) return &sem_error;
    if (p->role == ROLE_CONSTEXPR || p->role == ROLE_DTYPE) return p->value ? sem_weak(c, p->value) : &sem_error;
    if (!p->typed) return &sem_error;
    Value *v = add_argument(c, p);
    if (p->role == ROLE_SCALAR && p->value) { /* fixed by -D: still passed, and required to be this (params_record) */
        if (sem_natural(p->value) == p->type && !p->value->i.neg) return sem_strong(c, p->value);
        return sem_run(c, p->type, const_value(c, p->value, p->type, shape_scalar()), NULL);
    }
    if (p->role == ROLE_SCALAR) return scalar_sem(c, p, v);
    Sem *s = NEW(c->a, Sem);
    *s = (Sem){.kind = SEM_RUN, .is_pointer = true, .is_const = p->is_const, .type = p->type, .v = v};
    return s;
}

/* A scalar that is an extent of some contract is not negative: the runtime checks it. */
static void mark_extents(Checker *c, const Params *p) {
    for (uint32_t i = 0; i < p->count; i++) {
        const Node *t = p->at[i].node->a;
        for (uint32_t k = 0; t && t->kind == NODE_POINTER && k < t->list.len; k++) {
            const Node *extent = t->list.at[k]->a;
            for (uint32_t j = 0; extent->kind == NODE_NAME && j < c->f->params.len; j++) {
                if (strcmp(c->f->params.at[j].name, extent->name) == 0) c->f->params.at[j].is_nonnegative = true;
            }
        }
    }
}

/* The descriptor of which at[*i] is the pointer; *i is its last part then. */
static const Sem *enter_descriptor(Checker *c, const Params *p, uint32_t *i) {
    const ParamInfo *base = &p->at[*i];
    const Sem *values[2 * SHAPE_RANK];
    values[0] = enter(c, base);
    for (uint32_t k = 1; k < 2 * base->descriptor->rank; k++) values[k] = enter(c, &p->at[++*i]);
    return block_of_host(c, base->descriptor, values, base->span);
}

void params_enter(Checker *c, Params *p) {
    Frame *frame = c->frame;
    c->entry = frame_push(c, p->fn, (Span){0, 0});
    for (uint32_t i = 0; i < p->count; i++) {
        const ParamInfo *param = &p->at[i];
        Binding b = {.sem = param->descriptor ? enter_descriptor(c, p, &i) : enter(c, param), .span = param->span};
        c->frame = c->entry;
        frame_set(c, frame_variable(c, param->name), b);
        c->frame = frame;
        frame_set(c, frame_variable(c, param->name), b);
    }
    mark_extents(c, p);
}

/* ---- Into the record --------------------------------------------------------------------------------------------- */

static RecordValueKind value_kind(const Sem *s) {
    switch (s->kind) {
    case SEM_INT: return RECORD_INT;
    case SEM_FLOAT: return RECORD_FLOAT;
    case SEM_BOOL: return RECORD_BOOL;
    case SEM_TYPE: return RECORD_DTYPE;
    default: return RECORD_WORD;
    }
}

static const char *value_text(Checker *c, const Sem *s) {
    if (s->kind == SEM_TYPE) return stype_name(s->type);
    if (s->kind == SEM_BOOL) return s->i.mag ? "1" : "0";
    if (s->kind == SEM_STRING) return arena_printf(c->a, "'%s'", s->s);
    if (s->kind == SEM_FUNCTION) return s->fn->name;
    return sem_is_number(s) ? number_text(c, s) : s->kind == SEM_NONE ? "None" : "(...)";
}

static void record_contract(Checker *c, const Params *p, uint32_t index) {
    const Node *t = p->at[index].node->a;
    if (!t || t->kind != NODE_POINTER || !t->list.len) return;
    void *names = (void *)(uintptr_t)p;
    uint32_t rank = t->list.len;
    const char **extents = NEW_ARRAY(c->a, const char *, rank), **strides = NEW_ARRAY(c->a, const char *, rank);
    for (uint32_t k = rank; k-- > 0;) {
        const Node *dim = t->list.at[k];
        extents[k] = rule_compile(c->a, c->d, dim->a, name_of_param, names);
        if (dim->b) {
            strides[k] = rule_compile(c->a, c->d, dim->b, name_of_param, names);
        } else if (k + 1 == rank) {
            strides[k] = "1";
        } else if (extents[k + 1] && strides[k + 1]) { /* contiguous behind the next dimension */
            bool unit = strcmp(strides[k + 1], "1") == 0;
            strides[k] = unit ? extents[k + 1] : arena_printf(c->a, "%s %s *", extents[k + 1], strides[k + 1]);
        }
        if (!extents[k] || !strides[k]) return;
    }
    for (uint32_t k = 0; k < rank; k++) record_add_dim(c->record, index, extents[k], strides[k]);
}

/* The default, which the launch may replace: NULL where only the host's world could say what it is. */
static const Sem *known_default(Checker *c, const ParamInfo *p) {
    DiagMark mark = diag_mark(c->d);
    const Sem *s = default_of(c, p);
    return take_back(c, mark) ? NULL : s;
}

static void record_constexpr(Checker *c, const ParamInfo *p, bool interface) {
    bool is_chosen = interface && p->origin == RECORD_CONFIG && p->value; /* by --config, not by the default */
    const Sem *s = interface && !is_chosen ? known_default(c, p) : p->value;
    const Sem *of_kind = p->value ? p->value : s; /* launch rules ask for what an option gives */
    RecordValueKind kind = of_kind ? value_kind(of_kind) : p->role == ROLE_DTYPE ? RECORD_DTYPE : RECORD_INT;
    const char *text = s && !sem_is_error(s) ? value_text(c, s) : "";
    record_add_constexpr(c->record, p->name, kind, text, interface && !is_chosen ? RECORD_DEFAULT : p->origin,
                         is_chosen ? NULL : p->rule);
}

/* The default of a scalar: what `fsc run` passes where nobody names it. */
static void record_default(Checker *c, const ParamInfo *param, RecordParam *r) {
    if (param->role != ROLE_SCALAR || !param->node->b || !param->typed || param->failed) return;
    const Sem *s = c->file->mode == SYNTAX_PYTHON ? known_default(c, param) : default_of(c, param);
    if (!s || !sem_is_number(s)) return; /* None: somebody else's way of saying that it may be left out */
    if (!number_fits(s, param->type)) {
        if (param->node->a)
            diag(c->d, param->node->b->span, E_DEFAULT_VALUE, param->name, sem_type_text(c, s),
                 stype_name(param->type));
        return;
    }
    const char *text = s->kind == SEM_BOOL ? value_text(c, s) : number_text(c, s);
    record_set_default(c->record, r, stype_is_float(param->type) ? RECORD_FLOAT : RECORD_INT, text);
}

static void record_run_time(Checker *c, const Params *p, uint32_t index) {
    const ParamInfo *param = &p->at[index];
    const char *dtype = param->typed             ? stype_name(param->type)
                        : param->type_param >= 0 ? p->at[param->type_param].name
                                                 : "";
    bool is_pointer = param->role == ROLE_POINTER;
    RecordParam *r = record_add_param(c->record, is_pointer ? RECORD_POINTER : RECORD_SCALAR, param->name, dtype);
    r->is_const = param->is_const;
    r->equals_one = param->equals_one;
    r->divisible = param->divisible;
    for (uint32_t i = 0; c->f && i < c->f->params.len; i++) { /* with what assume() added */
        const Param *known = &c->f->params.at[i];
        uint32_t natural = is_pointer && param->typed ? type_bytes(type_scalar(stype_memory(param->type))) : 1;
        if (strcmp(known->name, param->name) != 0) continue;
        if (known->divisible > natural) r->divisible = known->divisible;
        r->least = known->least;
        r->most = known->most;
    }
    record_contract(c, p, index);
    record_default(c, param, r);
}

/* A scalar that -D fixed: the launch is refused where it is given another value. */
static void record_fixed(Checker *c, const Params *p, uint32_t index) {
    const Sem *s = p->at[index].value;
    const char *value = s->kind == SEM_BOOL ? value_text(c, s) : number_text(c, s);
    record_add_require(c->record, arena_printf(c->a, "$%u %s ==", index, value),
                       arena_printf(c->a, "%s == %s", p->at[index].name, value));
}

void params_record(Checker *c, const Params *p, bool interface) {
    for (uint32_t i = 0; i < p->count; i++) {
        const ParamInfo *param = &p->at[i];
        bool open_default = interface && param->role == ROLE_BARE && param->node->b;
        if (param->role == ROLE_CONSTEXPR || param->role == ROLE_DTYPE || open_default) {
            record_constexpr(c, param, interface);
            record_contract(c, p, i); /* of an array that is left out */
        } else {
            record_run_time(c, p, i);
        }
    }
    for (uint32_t i = 0; !interface && i < p->count; i++) {
        if (p->at[i].role == ROLE_SCALAR && p->at[i].value && !p->at[i].failed) record_fixed(c, p, i);
    }
}

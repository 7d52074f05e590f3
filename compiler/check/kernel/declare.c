/* declare.c - the kernel's parameters: what the annotations say, and what the command line adds.
 *
 * In: PARAM nodes; --signature, -D, -T. Out: Params with roles, types, and the values given from outside.
 * Method: annotations first (a `*T` remembers which dtype parameter T is), then the signature by position, then -T and
 * -D by name; the strongest word on a value is -D, then the signature.
 */
#include "check/sema.h"

#include "runtime/base/number.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PARAMETERS = 4096, MOST_DIMENSIONS = 64 /* of a contract: arrays have no more anywhere */ };

static const Span nowhere = {0, 0};

typedef VEC(ParamInfo) ParamList;

static uint32_t param_slot(const Params *p, const char *name) {
    uint32_t h = 2166136261u; /* FNV-1a */
    for (const char *s = name; *s; s++) h = (h ^ (uint8_t)*s) * 16777619u;
    uint32_t i = h & (p->num_slots - 1);
    while (p->slots[i] && strcmp(p->at[p->slots[i] - 1].name, name) != 0) i = (i + 1) & (p->num_slots - 1);
    return i;
}

int params_find(const Params *p, const char *name) {
    return (int)p->slots[param_slot(p, name)] - 1;
}

/* ---- Annotations ------------------------------------------------------------------------------------------------- */

static bool is_word(const Node *n, const char *word) {
    return (n->kind == NODE_NAME || n->kind == NODE_ATTRIBUTE) && strcmp(n->name, word) == 0;
}

/* A type's name, or that of a dtype parameter. */
static bool element_type(Checker *c, Params *p, ParamInfo *param, const Node *n) {
    const char *canonical = n->kind == NODE_NAME || n->kind == NODE_ATTRIBUTE ? dtype_canonical(n->name) : NULL;
    if (n->kind == NODE_NAME) {
        int i = params_find(p, n->name); /* its role may not be known yet: look at the annotation */
        const Node *other = i >= 0 ? p->at[i].node->a : NULL;
        if (other && is_word(other, "dtype")) param->type_param = i;
        if (param->type_param >= 0) return true;
    }
    if (canonical && stype_find(canonical, &param->type)) {
        param->typed = true;
        return true;
    }
    if (triton_rules(c) && param->role == ROLE_SCALAR) { /* torch.Tensor, Optional[int]: Triton does not look at it */
        param->role = ROLE_BARE;
        return true;
    }
    diag(c->d, n->span, E_PARAMETER_TYPE);
    diag_note(c->d, n->span,
              "write *fp32 for a pointer, i32 for a number, constexpr, dtype, or the name of a dtype parameter");
    param->failed = true;
    return false;
}

static bool declare(Checker *c, Params *p, ParamInfo *param) {
    const Node *t = param->node->a;
    if (param->node->op) {
        diag(c->d, param->span, E_PARAMETER_STAR, param->node->op == 1 ? "*" : "**", param->name);
        param->failed = true;
        return false;
    }
    if (!t || is_word(t, "tensor")) return true;
    if (is_word(t, "const")) { /* tl.const: a pointer, to what is only read */
        param->is_const = true;
        return true;
    }
    if (t->kind == NODE_POINTER) {
        if (t->list.len > MOST_DIMENSIONS) {
            diag(c->d, t->list.at[MOST_DIMENSIONS]->span, E_CONTRACT_RANK, t->list.len, MOST_DIMENSIONS);
            param->failed = true;
            return false;
        }
        param->role = ROLE_POINTER;
        param->is_const = t->flag;
        return element_type(c, p, param, t->a);
    }
    if (is_word(t, "constexpr")) {
        param->role = ROLE_CONSTEXPR;
        return true;
    }
    if (is_word(t, "dtype")) {
        param->role = ROLE_DTYPE;
        return true;
    }
    param->role = ROLE_SCALAR;
    return element_type(c, p, param, t);
}

/* ---- Descriptors that the host makes ----------------------------------------------------------------------------- */

/* What the command line says of a parameter, if that is a descriptor. */
static const SigItem *given_descriptor(Checker *c, const Node *n, const SigItem *item) {
    if (item && item->kind == SIG_DESCRIPTOR) return item;
    for (uint32_t i = 0; i < c->o->num_types; i++) {
        const NameValue *type = &c->o->types[i];
        SigItem *named = NEW(c->a, SigItem);
        named->divisible = 1;
        if (strcmp(type->name, n->name) == 0 && descriptor_parse(c->a, type->value, named)) return named;
    }
    return NULL;
}

static Node *new_node(Checker *c, const Node *like, NodeKind kind, const char *name, Node *a, Node *b) {
    Node *n = NEW(c->a, Node);
    *n = (Node){.kind = kind, .depth = 3, .span = like->span, .a = a, .b = b};
    n->name = name ? str_intern0(c->s, name) : NULL;
    return n;
}

static ParamInfo param_info(const Node *n) {
    return (ParamInfo){.node = n, .name = n->name, .span = n->span, .type_param = -1, .divisible = 1};
}

/* x: tensordesc<bf16[128,64]> is x: *bf16[x_shape_0:x_stride_0, x_shape_1], and behind it the sizes and the strides;
 * the last of them is 1. */
static void add_descriptor(Checker *c, ParamList *out, const Node *n, const SigItem *item) {
    Node *pointer = new_node(c, n, NODE_POINTER, NULL, new_node(c, n, NODE_NAME, item->dtype, NULL, NULL), NULL);
    ParamInfo base = param_info(new_node(c, n, n->kind, n->name, pointer, NULL));
    base.descriptor = item;
    base.divisible = item->divisible;
    base.failed = n->a != NULL || n->op;
    if (base.failed) diag(c->d, n->span, E_GIVEN_TYPE, "--signature", n->name, "a descriptor");
    vec_push(c->a, out, base);
    uint32_t parts = 2 * item->rank - 1;
    for (uint32_t i = 0; i < parts; i++) {
        uint32_t axis = i < item->rank ? i : i - item->rank;
        const char *name = arena_printf(c->a, "%s_%s_%u", n->name, i < item->rank ? "shape" : "stride", axis);
        Node *type = new_node(c, n, NODE_NAME, i < item->rank ? "i32" : "i64", NULL, NULL);
        ParamInfo part = param_info(new_node(c, n, n->kind, name, type, NULL));
        Node *value = new_node(c, n, NODE_NAME, name, NULL, NULL);
        if (i < item->rank) vec_push(c->a, &pointer->list, new_node(c, n, NODE_DIM, NULL, value, NULL));
        else pointer->list.at[axis]->b = value;
        part.is_part = true;
        part.divisible = item->divisible;
        vec_push(c->a, out, part);
    }
}

static bool list_params(Checker *c, Params *p) {
    const NodeList *source = &p->fn->list;
    bool ok = source->len <= MOST_PARAMETERS;
    ParamList list = {0};
    if (!ok) diag(c->d, source->at[MOST_PARAMETERS]->span, E_PARAMETERS, source->len, MOST_PARAMETERS);
    p->is_garbled = c->o->signature && !signature_parse(c->a, c->d, c->o->signature, &p->items, &p->num_items);
    for (uint32_t i = 0; i < source->len && i < MOST_PARAMETERS; i++) {
        const Node *n = source->at[i];
        const SigItem *item = given_descriptor(c, n, i < p->num_items && !p->is_garbled ? &p->items[i] : NULL);
        if (item) add_descriptor(c, &list, n, item);
        else vec_push(c->a, &list, param_info(n));
    }
    p->at = list.at;
    p->count = list.len;
    return ok;
}

bool params_declare(Checker *c, const Node *fn, Params *p) {
    *p = (Params){.fn = fn, .num_slots = 16};
    bool ok = list_params(c, p);
    while (p->num_slots < p->count * 2) p->num_slots *= 2;
    p->slots = NEW_ARRAY(c->a, uint32_t, p->num_slots);
    for (uint32_t i = 0; i < p->count; i++) {
        const Node *n = p->at[i].node;
        uint32_t slot = param_slot(p, n->name);
        if (p->slots[slot]) {
            diag(c->d, n->span, E_PARAMETER_NAME_TWICE, n->name);
            diag_note(c->d, p->at[p->slots[slot] - 1].span, "it is here first");
            ok = false;
        } else {
            p->slots[slot] = i + 1;
        }
    }
    for (uint32_t i = 0; i < p->count; i++) ok &= declare(c, p, &p->at[i]);
    return ok;
}

/* ---- Values and types as text ------------------------------------------------------------------------------------ */

/* 1024, -1, 0x10, 0.5, inf, True, None, fp32, "text". NULL: none of these. */
static const Sem *read_value(Checker *c, const char *text, bool any_text) {
    char *end = NULL;
    SType t;
    bool negative = text[0] == '-';
    if (strcmp(text, "True") == 0) return sem_bool(c, true);
    if (strcmp(text, "False") == 0) return sem_bool(c, false);
    if (strcmp(text, "None") == 0) return &sem_none;
    errno = 0;
    unsigned long long magnitude = strtoull(negative ? text + 1 : text, &end, 0);
    bool starts = (text[negative] >= '0' && text[negative] <= '9') || text[negative] == '.';
    if (starts && *end == '\0' && errno == 0) return sem_int(c, (Int){magnitude, negative && magnitude != 0});
    double x = 0;
    const char *word = negative ? text + 1 : text;
    bool is_word = strcmp(word, "inf") == 0 || strcmp(word, "nan") == 0;
    if ((starts || is_word) && number_read(text, strlen(text), &x)) return sem_float(c, x);
    const char *canonical = dtype_canonical(text);
    if (canonical && stype_find(canonical, &t)) return sem_type(c, t, false);
    size_t n = strlen(text);
    if (n >= 2 && (text[0] == '"' || text[0] == '\'') && text[n - 1] == text[0])
        return sem_string(c, arena_strndup(c->a, text + 1, n - 2));
    return any_text ? sem_string(c, text) : NULL;
}

static void unknown_name(Checker *c, const Params *p, const char *option, const char *name) {
    const char **names = NEW_ARRAY(c->a, const char *, p->count + 1);
    for (uint32_t i = 0; i < p->count; i++) names[i] = p->at[i].name;
    const char *near = nearest_name(name, names, p->count);
    if (near) {
        diag(c->d, nowhere, E_OPTION_PARAMETER_NEAR, option, name, p->fn->name, name, near);
    } else {
        diag(c->d, nowhere, E_OPTION_PARAMETER, option, name, p->fn->name, name);
    }
}

/* ---- The command line -------------------------------------------------------------------------------------------- */

static bool set_type(Checker *c, Params *p, ParamInfo *param, bool is_pointer, SType t, const char *from) {
    if (param->role == ROLE_BARE) param->role = is_pointer ? ROLE_POINTER : ROLE_SCALAR;
    bool fits =
        (param->role == ROLE_POINTER) == is_pointer && (param->role == ROLE_POINTER || param->role == ROLE_SCALAR);
    if (fits && param->type_param >= 0) { /* *T: the type says what T is */
        ParamInfo *of = &p->at[param->type_param];
        if (!of->value) {
            of->value = sem_type(c, t, false);
            of->origin = RECORD_SIGNATURE;
        }
        fits = of->value->kind != SEM_TYPE || of->value->type == t;
    }
    if (!fits || (param->typed && param->type != t)) {
        diag(c->d, param->span, E_GIVEN_TYPE, from, param->name, type_text(c, t, is_pointer, shape_scalar()));
        param->failed = true;
        return false;
    }
    param->typed = true;
    param->type = t;
    return true;
}

bool param_set_value(Checker *c, ParamInfo *param, const Sem *s, RecordOrigin origin, const char *from) {
    bool is_left_out = param->role == ROLE_SCALAR && s->kind == SEM_NONE && triton_rules(c);
    bool fits = param->role == ROLE_DTYPE     ? s->kind == SEM_TYPE
                : is_left_out                 ? true
                : param->role == ROLE_SCALAR  ? sem_is_number(s)
                : param->role == ROLE_POINTER ? s->kind == SEM_NONE /* an array that is left out */
                                              : true;
    if (fits && param->role == ROLE_SCALAR && param->typed && !is_left_out) fits = number_fits(s, param->type);
    if (!fits) {
        diag(c->d, param->span, E_GIVEN_VALUE, from, param->name, sem_type_text(c, s));
        param->failed = true;
        return false;
    }
    if (param->role == ROLE_BARE || param->role == ROLE_POINTER || is_left_out) param->role = ROLE_CONSTEXPR;
    param->value = s;
    param->origin = origin;
    return true;
}

static bool apply_item(Checker *c, Params *p, ParamInfo *param, const SigItem *item) {
    SType t = ST_I32;
    if (item->kind == SIG_NONE && strcmp(item->text, "None") == 0 && param->role != ROLE_DTYPE) {
        return param_set_value(c, param, &sem_none, RECORD_SIGNATURE, "--signature");
    }
    if (item->kind == SIG_NONE) return true;
    if (param->descriptor) return true;
    if (item->dtype && !stype_find(item->dtype, &t)) bug("signature: dtype %s", item->dtype);
    if (item->kind == SIG_POINTER) {
        if (item->is_const) param->is_const = true;
        if (item->divisible > param->divisible) param->divisible = item->divisible;
        return set_type(c, p, param, true, t, "--signature");
    }
    if (item->kind == SIG_TYPE) {
        if (param->role == ROLE_DTYPE || param->role == ROLE_CONSTEXPR) {
            return param_set_value(c, param, sem_type(c, t, false), RECORD_SIGNATURE, "--signature");
        }
        if (item->divisible > param->divisible) param->divisible = item->divisible;
        param->equals_one |= item->equals_one;
        return set_type(c, p, param, false, t, "--signature");
    }
    const Sem *s = read_value(c, item->text, false);
    return s ? param_set_value(c, param, s, RECORD_SIGNATURE, "--signature") : true;
}

/* What a wrong signature leaves without type or value is not reported once more. */
static void leave_open(Params *p) {
    for (uint32_t i = 0; i < p->count; i++) {
        ParamInfo *param = &p->at[i];
        if (!param->value && !param->typed && !param->node->b && param->type_param < 0) param->failed = true;
    }
}

static bool apply_signature(Checker *c, Params *p) {
    if (p->is_garbled) return (leave_open(p), false);
    if (p->num_items > p->fn->list.len) {
        leave_open(p);
        diag(c->d, nowhere, E_SIGNATURE_COUNT, p->num_items, p->fn->name, p->fn->list.len);
        diag_note(c->d, p->fn->span, "it is declared here");
        return false;
    }
    bool ok = true;
    for (int pass = 0; pass < 2; pass++) { /* dtype parameters first: *T is compared with what T is */
        uint32_t item = 0;
        for (uint32_t i = 0; i < p->count && item < p->num_items; i++) {
            if (p->at[i].is_part) continue;
            if ((p->at[i].role == ROLE_DTYPE) == (pass == 0)) ok &= apply_item(c, p, &p->at[i], &p->items[item]);
            item++;
        }
    }
    return ok;
}

static bool apply_type(Checker *c, Params *p, const NameValue *nv) {
    int index = params_find(p, nv->name);
    if (index < 0) return (unknown_name(c, p, "-T", nv->name), false);
    ParamInfo *param = &p->at[index];
    if (param->descriptor) return true;
    const char *text = nv->value;
    bool is_pointer = *text == '*';
    if (is_pointer) text++;
    if (is_pointer && strncmp(text, "const ", 6) == 0) {
        param->is_const = true;
        text += 6;
    }
    SType t;
    const char *canonical = dtype_canonical(text);
    if (!canonical || !stype_find(canonical, &t)) {
        param->failed = true;
        diag(c->d, nowhere, E_OPTION_TYPE, nv->name, nv->value);
        diag_note(c->d, nowhere, "a type is such as fp32, i32, or *fp16 for a pointer");
        return false;
    }
    if (param->role == ROLE_DTYPE && !is_pointer) {
        return param_set_value(c, param, sem_type(c, t, false), RECORD_OPTION, "-T");
    }
    return set_type(c, p, param, is_pointer, t, "-T");
}

/* -D n<=1024, -D n>=1: bounds of a scalar, which arrive as the names "n<" and "n>". Several: all hold. */
static bool apply_bound(Checker *c, Params *p, const NameValue *nv, size_t length) {
    char *end = NULL;
    const char *name = arena_strndup(c->a, nv->name, length);
    int index = params_find(p, name);
    if (index < 0) return (unknown_name(c, p, "-D", name), false);
    ParamInfo *param = &p->at[index];
    errno = 0;
    unsigned long long bound = strtoull(nv->value, &end, 0);
    bool is_number = nv->value[0] >= '0' && nv->value[0] <= '9' && *end == '\0' && errno == 0 && bound <= UINT32_MAX;
    if (!is_number || param->role != ROLE_SCALAR || (param->typed && stype_is_float(param->type))) {
        param->failed = true;
        if (is_number) diag(c->d, nowhere, E_OPTION_BOUND_OF, nv->name, nv->value);
        else diag(c->d, nowhere, E_OPTION_BOUND, nv->name, nv->value);
        return false;
    }
    bool is_most = nv->name[length] == '<';
    if (is_most && (!param->most || bound < param->most)) param->most = bound ? (uint32_t)bound : 1;
    if (!is_most && bound > param->least) param->least = (uint32_t)bound;
    return true;
}

/* -D ACTIVATION=relu: a function of the file, or one that it imports. */
static const Sem *function_named(Checker *c, const char *name) {
    const Node *n = global_node(c, str_intern0(c->s, name));
    const Sem *s = n && n->kind != NODE_CONSTANT ? scope_global(c, n->name, nowhere) : NULL;
    return s && s->kind == SEM_FUNCTION ? s : NULL;
}

static bool apply_define(Checker *c, Params *p, const NameValue *nv) {
    size_t length = strlen(nv->name);
    bool is_variant = length && nv->name[length - 1] == ':';
    const char *name = is_variant ? arena_strndup(c->a, nv->name, length - 1) : nv->name;
    if (length && (nv->name[length - 1] == '<' || nv->name[length - 1] == '>'))
        return apply_bound(c, p, nv, length - 1);
    int index = params_find(p, name);
    const Node *constant = index < 0 ? global_node(c, str_intern0(c->s, name)) : NULL;
    if (index < 0 && (!constant || constant->kind != NODE_CONSTANT)) return (unknown_name(c, p, "-D", name), false);
    ParamInfo *param = constant ? NULL : &p->at[index];
    bool any_text = param && param->node->b && param->node->b->kind == NODE_STRING;
    const Sem *s = read_value(c, nv->value, any_text);
    if (!s) s = function_named(c, nv->value);
    if (!s) {
        if (param) param->failed = true;
        diag(c->d, nowhere, E_OPTION_VALUE, name, nv->value);
        return false;
    }
    if (constant) return (global_set(c, constant, sem_weak(c, s)), true);
    return param_set_value(c, param, s, is_variant ? RECORD_RULE : RECORD_OPTION, is_variant ? "--variants" : "-D");
}

bool params_options(Checker *c, Params *p) {
    bool ok = true;
    for (uint32_t i = 0; i < c->o->num_types; i++) ok &= apply_type(c, p, &c->o->types[i]);
    ok &= apply_signature(c, p);
    for (uint32_t i = 0; i < c->o->num_defines; i++) ok &= apply_define(c, p, &c->o->defines[i]);
    for (uint32_t i = 0; i < c->o->num_divisible; i++) {
        int index = params_find(p, c->o->divisible[i].name);
        if (index < 0) continue;
        ParamInfo *param = &p->at[index];
        uint32_t by = (uint32_t)strtoul(c->o->divisible[i].value, NULL, 10);
        if (by == 1) param->equals_one = true;
        if (by > param->divisible) param->divisible = by;
    }
    return ok;
}

void params_types(Checker *c, Params *p) {
    for (uint32_t i = 0; i < p->count; i++) {
        ParamInfo *param = &p->at[i];
        if (param->type_param < 0) continue;
        const ParamInfo *of = &p->at[param->type_param];
        if (of->failed) param->failed = true;
        if (!of->value || of->value->kind != SEM_TYPE) continue;
        param->typed = true;
        param->type = of->value->type;
    }
    (void)c;
}

/* index.c - what follows a value: .attribute and [index].
 *
 * In: ATTRIBUTE and SUBSCRIPT nodes. Out: Sems.
 * Method: modules (tl, tl.math, libdevice, …) all name the same builtins and types; on values a name that is no
 * property is a builtin with the value as its first argument.
 */
#include "check/sema.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const char *const submodules[] = {"language", "math", "extra",      "cuda",        "libdevice",
                                         "tldevice", "hip",  "standard",   "core",        "random",
                                         "testing",  "nn",   "functional", "PropagateNan", "version"};

static const Sem *builtin_sem(Checker *c, const Builtin *b, const Sem *self) {
    Sem *s = NEW(c->a, Sem);
    s->kind = SEM_BUILTIN;
    s->builtin = b;
    s->self = self;
    return s;
}

static const struct {
    const char *name, *what, *instead;
} refused[] = {
#define REFUSED(name, what, instead) {name, what, instead},
#include "check/builtin/refused.def"
#undef REFUSED
};

bool refused_name(Checker *c, const char *name, Span at) {
    for (size_t i = 0; i < COUNT(refused); i++) {
        if (strcmp(name, refused[i].name) != 0) continue;
        diag(c->d, at, E_REFUSED, name, refused[i].what);
        diag_note(c->d, at, "%s", refused[i].instead);
        return true;
    }
    return false;
}

/* ---- Words of other libraries -------------------------------------------------------------------------------- */

static const struct {
    const char *name, *fix, *instead;
} words[] = {
#define WORD(name, fix, instead) {name, fix, instead},
#include "check/builtin/words.def"
#undef WORD
};

bool is_foreign_word(const char *name) {
    for (size_t i = 0; i < COUNT(words); i++)
        if (strcmp(name, words[i].name) == 0) return true;
    return false;
}

bool note_word(Checker *c, const char *name, Span at) {
    for (size_t i = 0; i < COUNT(words); i++) {
        if (strcmp(name, words[i].name) != 0) continue;
        diag_note(c->d, at, "%s", words[i].instead);
        if (words[i].fix) fix_tail(c, at, name, words[i].fix);
        return true;
    }
    return false;
}

void fix_head(Checker *c, Span at, const char *name, const char *with) {
    diag_fix(c->d, (Span){at.begin, at.begin + (uint32_t)strlen(name)}, "%s", with);
}

void fix_tail(Checker *c, Span at, const char *name, const char *with) {
    diag_fix(c->d, (Span){at.end - (uint32_t)strlen(name), at.end}, "%s", with);
}

static const char *const properties[] = {"dtype", "shape", "numel", "type", "T"};

static const Builtin *method(const char *name) {
    const Builtin *b = builtin_find(name);
    return b && (!b->run || b->max > 0) ? b : NULL;
}

bool value_has(const char *name) {
    for (size_t i = 0; i < COUNT(properties); i++)
        if (strcmp(name, properties[i]) == 0) return true;
    return method(name) != NULL;
}

static const Sem *unknown(Checker *c, const Node *n, const char *of, bool is_module) {
    uint32_t count;
    const char *const *builtins = builtin_names(&count);
    VEC(const char *) names = {0};
    for (uint32_t i = 0; i < count; i++) vec_push(c->a, &names, builtins[i]);
    for (uint32_t i = 0; is_module && dtype_spelling(i); i++) vec_push(c->a, &names, dtype_spelling(i));
    for (size_t i = 0; !is_module && i < COUNT(properties); i++) vec_push(c->a, &names, properties[i]);
    const char *near = nearest_name(n->name, names.at, names.len);
    if (is_foreign_word(n->name)) {
        diag(c->d, n->span, E_NO_ATTRIBUTE, of, n->name);
        note_word(c, n->name, n->span);
    } else if (near && strcmp(near, n->name) != 0) { /* a builtin that this value does not have */
        diag(c->d, n->span, E_NO_ATTRIBUTE_NEAR, of, n->name, near);
        fix_tail(c, n->span, n->name, near);
    } else {
        diag(c->d, n->span, E_NO_ATTRIBUTE, of, n->name);
    }
    return &sem_error;
}

const Sem *module_member(Checker *c, const char *name) {
    const Builtin *b = builtin_find(name);
    SType t;
    const char *canonical = dtype_canonical(name);
    if (canonical && stype_find(canonical, &t)) return sem_type(c, t, false);
    if (b) return builtin_sem(c, b, NULL);
    for (size_t i = 0; i < COUNT(submodules); i++) {
        if (strcmp(name, submodules[i]) == 0) return sem_module(c, submodules[i]);
    }
    if (strcmp(name, "pi32_t") == 0) return sem_type(c, ST_I32, true);
    if (strcmp(name, "TRITON_MAX_TENSOR_NUMEL") == 0) return sem_i64(c, 1 << TILE_BITS);
    if (strcmp(name, "inf") == 0) return sem_float(c, INFINITY);
    if (strcmp(name, "nan") == 0) return sem_float(c, NAN);
    if (strcmp(name, "pi") == 0) return sem_float(c, 3.14159265358979323846);
    return strcmp(name, "e") == 0 ? sem_float(c, 2.71828182845904523536) : NULL;
}

const Sem *private_member(Checker *c, const char *module, const char *name) {
    bool has_some = strcmp(module, "standard") == 0 || strcmp(module, "core") == 0;
    return has_some ? library_find(c, "standard", name) : NULL;
}

static const Sem *of_file(Checker *c, const Node *n, const Sem *m) {
    const Sem *s = file_member(c, m->home, n->name, n->span);
    if (s) return s;
    diag(c->d, n->span, E_OTHER_NAME, n->name, m->s);
    diag_note(c->d, n->span, "write its definition into this file, in kernel language");
    return &sem_error;
}

static const Sem *of_module(Checker *c, const Node *n, const Sem *m) {
    if (m->home) return of_file(c, n, m);
    if (strcmp(m->s, "PropagateNan") == 0) return sem_bool(c, strcmp(n->name, "ALL") == 0);
    if (strcmp(m->s, "version") == 0 && strcmp(n->name, "hip") == 0) return &sem_none; /* of torch: not AMD's */
    bool is_libdevice = strcmp(m->s, "libdevice") == 0; /* where CUDA's meaning differs, its row has that prefix */
    const Builtin *b = is_libdevice ? builtin_find(arena_printf(c->a, "libdevice.%s", n->name)) : NULL;
    const Sem *s = b ? builtin_sem(c, b, NULL) : module_member(c, n->name);
    if (!s) s = private_member(c, m->s, n->name);
    if (!s && refused_name(c, n->name, n->span)) return &sem_error;
    return s ? s : unknown(c, n, arena_printf(c->a, "the module %s", m->s), true);
}

/* What torch.finfo and iinfo say of a type; NULL: the word is none of theirs, or they have it not. */
static const Sem *limit_of(Checker *c, const Sem *t, const char *name) {
    static const struct {
        SType type;
        int digits, least; /* bits of the fraction; the exponent of the smallest normal number */
        double max;
    } floats[] = {
        {ST_FP16, 10, -14, 65504},      {ST_BF16, 7, -126, 0x1.fep127},        {ST_FP32, 23, -126, 0x1.fffffep127},
        {ST_FP8E4NV, 3, -6, 448},       {ST_FP8E5, 2, -14, 57344},             {ST_FP64, 52, -1022, DBL_MAX},
    };
    int bits = (int)stype_bits(t->type);
    bool wants_max = strcmp(name, "max") == 0, wants_min = strcmp(name, "min") == 0;
    if (strcmp(name, "bits") == 0) return sem_i64(c, bits);
    for (size_t i = 0; i < COUNT(floats); i++) {
        if (floats[i].type != t->type) continue;
        if (wants_max || wants_min) return sem_float(c, wants_max ? floats[i].max : -floats[i].max);
        if (strcmp(name, "eps") == 0) return sem_float(c, ldexp(1, -floats[i].digits));
        bool is_least = strcmp(name, "tiny") == 0 || strcmp(name, "smallest_normal") == 0;
        return is_least ? sem_float(c, ldexp(1, floats[i].least)) : NULL;
    }
    bool is_signed = stype_class(t->type) == CLASS_SIGNED;
    uint64_t most = UINT64_MAX >> (64 - bits + is_signed);
    if (wants_max) return sem_int(c, int_unsigned(most));
    return wants_min ? sem_i64(c, is_signed ? -(int64_t)most - 1 : 0) : NULL;
}

static const Sem *of_type(Checker *c, const Node *n, const Sem *t) {
    if (strcmp(n->name, "element_ty") == 0 && t->is_pointer) return sem_type(c, t->type, false);
    if (strcmp(n->name, "scalar") == 0 || strcmp(n->name, "element_ty") == 0) return t;
    if (strcmp(n->name, "primitive_bitwidth") == 0) return sem_i64(c, t->is_pointer ? 64 : stype_bits(t->type));
    bool is_int = !t->is_pointer && stype_class(t->type) != CLASS_FLOAT;
    if (is_int && strcmp(n->name, "int_bitwidth") == 0) return sem_i64(c, stype_bits(t->type));
    const Sem *limit = t->is_pointer ? NULL : limit_of(c, t, n->name);
    return limit ? limit : unknown(c, n, sem_type_text(c, t), false);
}

/* What may follow `is_`, beside the name of a type. */
static bool type_group(const char *word, const Sem *t, bool *answer) {
    STypeClass class = stype_class(t->type);
    bool is_float = class == CLASS_FLOAT && !t->is_pointer, is_int = class != CLASS_FLOAT && !t->is_pointer;
    const struct {
        const char *name;
        bool answer;
    } groups[] = {
        {"int", is_int},
        {"int_signed", is_int && class == CLASS_SIGNED},
        {"int_unsigned", is_int && class != CLASS_SIGNED},
        {"floating", is_float},
        {"standard_floating", is_float && stype_bits(t->type) > 8},
        {"fp8", is_float && stype_bits(t->type) == 8},
        {"bool", is_int && class == CLASS_BOOL},
        {"ptr", t->is_pointer},
    };
    for (size_t i = 0; i < COUNT(groups); i++) {
        if (strcmp(word, groups[i].name) != 0) continue;
        *answer = groups[i].answer;
        return true;
    }
    return false;
}

/* tl.dtype("int32"); NULL: `of` is no module. */
static const Sem *type_named(Checker *c, const Node *of, const Node *arg) {
    const Sem *module = check_expr(c, of), *s = module->kind == SEM_MODULE ? check_expr(c, arg) : NULL;
    SType t;
    if (!s || sem_is_error(s)) return s;
    const char *canonical = s->kind == SEM_STRING ? dtype_canonical(s->s) : NULL;
    if (canonical && stype_find(canonical, &t)) return sem_type(c, t, false);
    diag(c->d, arg->span, E_KIND_TYPE, "name", "dtype", "the name of a type, such as \"fp32\"", sem_type_text(c, s));
    return &sem_error;
}

const Sem *shape_tuple(Checker *c, Shape shape) {
    const Sem **items = NEW_ARRAY(c->a, const Sem *, shape.rank + 1u);
    for (uint32_t i = 0; i < shape.rank; i++) items[i] = sem_i64(c, (int64_t)shape_size(shape, i));
    return sem_tuple(c, items, shape.rank);
}

/* x.type.get_block_shapes(), which is x.shape; NULL: no such call. */
static const Sem *shape_of_type(Checker *c, const Node *call) {
    const Node *n = call->a;
    bool is_asked = n->kind == NODE_ATTRIBUTE && strcmp(n->name, "get_block_shapes") == 0 && !call->list.len;
    if (!is_asked || n->a->kind != NODE_ATTRIBUTE || strcmp(n->a->name, "type") != 0) return NULL;
    const Sem *x = check_expr(c, n->a->a);
    if (sem_is_error(x)) return x;
    return sem_is_value(x) ? shape_tuple(c, sem_shape(x)) : unknown(c, n->a, sem_type_text(c, x), false);
}

const Sem *type_question(Checker *c, const Node *call) {
    const Node *n = call->a;
    const Sem *shape = shape_of_type(c, call);
    SType of;
    bool answer;
    if (shape) return shape;
    bool may_name = n->kind == NODE_ATTRIBUTE && strcmp(n->name, "dtype") == 0 && call->list.len == 1;
    if (may_name && n->a->kind == NODE_NAME) return type_named(c, n->a, call->list.at[0]);
    if (n->kind != NODE_ATTRIBUTE || call->list.len || strncmp(n->name, "is_", 3) != 0) return NULL;
    const char *word = n->name + 3, *canonical = dtype_canonical(word);
    bool is_group = type_group(word, &sem_none, &answer);
    if (!is_group && !(canonical && stype_find(canonical, &of))) return NULL;
    const Sem *t = check_expr(c, n->a);
    if (sem_is_error(t)) return t;
    if (t->kind != SEM_TYPE) return unknown(c, n, sem_type_text(c, t), false);
    if (is_group) (void)type_group(word, t, &answer);
    else answer = t->type == of && !t->is_pointer;
    return sem_bool(c, answer);
}

static const Sem *of_block(Checker *c, const Node *n, const Sem *s) {
    if (strcmp(n->name, "block_shape") == 0) return shape_tuple(c, s->block->shape);
    const Sem *property = block_property(c, s, n->name);
    const Builtin *b = property ? NULL : block_method(c, s, n->name);
    if (property) return property;
    return b ? builtin_sem(c, b, s) : unknown(c, n, sem_type_text(c, s), false);
}

const Sem *check_attribute(Checker *c, const Node *n) {
    return attribute_of(c, n, check_expr(c, n->a));
}

const Sem *attribute_of(Checker *c, const Node *n, const Sem *s) {
    if (sem_is_error(s)) return s;
    if (s->kind == SEM_MODULE) return of_module(c, n, s);
    if (strcmp(n->name, "value") == 0 && sem_is_const(s)) return sem_weak(c, s);
    if (s->kind == SEM_TYPE) return of_type(c, n, s);
    if (s->kind == SEM_BLOCK) return of_block(c, n, s);
    const Sem *field = s->kind == SEM_TUPLE ? record_field(s, n->name) : NULL;
    if (field) return field;
    if (s->kind != SEM_RUN && !sem_is_number(s)) return unknown(c, n, sem_type_text(c, s), false);
    if (strcmp(n->name, "dtype") == 0 || strcmp(n->name, "type") == 0)
        return sem_type(c, sem_natural(s), s->kind == SEM_RUN && s->is_pointer);
    if (strcmp(n->name, "shape") == 0) return shape_tuple(c, sem_shape(s));
    if (strcmp(n->name, "numel") == 0) return sem_i64(c, (int64_t)shape_elements(sem_shape(s)));
    if (strcmp(n->name, "T") == 0) {
        c->b.span = n->span;
        if (sem_shape(s).rank <= 2 && s->kind == SEM_RUN) return check_transpose(c, ".T", s, n->span);
        diag(c->d, n->span, E_TRANSPOSE, sem_type_text(c, s));
        diag_note(c->d, n->span, "it takes two axes; trans(x, ...) and permute name the order of more");
        return &sem_error;
    }
    const Builtin *b = method(n->name);
    return b ? builtin_sem(c, b, s) : unknown(c, n, sem_type_text(c, s), false);
}

/* ---- [index] ----------------------------------------------------------------------------------------------------- */

/* A bound of a slice, with Python's meaning; left out: that one. */
static bool slice_bound(Checker *c, const Node *n, int64_t count, int64_t left_out, int64_t *out) {
    *out = left_out;
    if (!n || n->kind == NODE_NONE) return true;
    if (!sem_want_int(c, check_expr(c, n), n->span, "a bound of a slice", out)) return false;
    if (*out < 0) *out += count;
    *out = *out < 0 ? 0 : *out > count ? count : *out;
    return true;
}

/* t[low:high]; steps are 1. */
static const Sem *tuple_slice(Checker *c, const Node *n, const Sem *s) {
    int64_t low, high;
    if (n->c) {
        diag(c->d, n->span, E_INDEX_TUPLE);
        return &sem_error;
    }
    if (!slice_bound(c, n->a, s->count, 0, &low) || !slice_bound(c, n->b, s->count, s->count, &high)) return &sem_error;
    return high > low ? sem_tuple(c, s->items + low, (uint32_t)(high - low)) : sem_tuple(c, NULL, 0);
}

static const Sem *tuple_item(Checker *c, const Node *n, const Sem *s) {
    int64_t i;
    if (n->list.len == 1 && n->list.at[0]->kind == NODE_SLICE) return tuple_slice(c, n->list.at[0], s);
    if (n->list.len != 1) {
        diag(c->d, n->span, E_INDEX_TUPLE);
        return &sem_error;
    }
    if (!sem_want_int(c, check_expr(c, n->list.at[0]), n->list.at[0]->span, "the index of a tuple", &i))
        return &sem_error;
    if (i < 0) i += s->count;
    if (i < 0 || i >= s->count) {
        diag(c->d, n->list.at[0]->span, E_INDEX_OUTSIDE, s->count);
        return &sem_error;
    }
    return s->items[i];
}

static bool is_left_out(const Node *n) {
    return !n || n->kind == NODE_NONE;
}

static bool is_whole(const Node *n) {
    return n->kind == NODE_SLICE && is_left_out(n->a) && is_left_out(n->b) && is_left_out(n->c);
}

static const Sem *refuse_index(Checker *c, const Sem *s, const Node *at) {
    diag(c->d, at->span, E_INDEX_TILE);
    if (s->is_pointer && !sem_is_tile(s)) {
        diag_note(c->d, at->span, "an element is load(pointer + index)");
        return &sem_error;
    }
    diag_note(c->d, at->span,
              "x[:, None] adds a dimension; elements are chosen where they are loaded, or with where(...)");
    bool is_new = (at->kind == NODE_NAME || at->kind == NODE_ATTRIBUTE) && strcmp(at->name, "newaxis") == 0;
    if (is_new) diag_fix(c->d, at->span, "None");
    return &sem_error;
}

const Sem *check_subscript(Checker *c, const Node *n) {
    const Sem *s = check_expr(c, n->a);
    if (sem_is_error(s)) return s;
    if (s->kind == SEM_TUPLE) return tuple_item(c, n, s);
    if (s->kind != SEM_RUN) {
        diag(c->d, n->span, E_INDEX_VALUE, sem_type_text(c, s));
        return &sem_error;
    }
    uint32_t kept = 0, rank = sem_shape(s).rank;
    for (uint32_t i = 0; i < n->list.len; i++) {
        const Node *item = n->list.at[i];
        if (item->kind != NODE_NONE && !is_whole(item)) return refuse_index(c, s, item);
        kept += item->kind != NODE_NONE;
    }
    bool is_triton_scalar = rank == 0 && triton_rules(c); /* each `:` of it stands for nothing */
    if (kept > rank && !is_triton_scalar) {
        diag(c->d, n->span, E_INDEX_COUNT, kept, sem_type_text(c, s), rank);
        return &sem_error;
    }
    if (rank + n->list.len - kept > SHAPE_RANK) {
        diag(c->d, n->span, E_RANK, rank + n->list.len - kept, SHAPE_RANK);
        return &sem_error;
    }
    c->b.span = n->span;
    for (uint32_t i = 0; i < n->list.len; i++) {
        if (n->list.at[i]->kind == NODE_NONE) s = expand_at(c, s, is_triton_scalar ? sem_shape(s).rank : i);
    }
    return s;
}

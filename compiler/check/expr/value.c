/* value.c - semantic values: making them, comparing them, and saying in words what they are.
 *
 * In: what the other files of check/ found. Out: Sems in the compile's arena, texts for messages.
 */
#include "check/sema.h"

#include "runtime/base/number.h"

#include <math.h>
#include <string.h>

enum { MOST_SIZE = 65536, LEVEL_SIZE = 64 /* of a tuple in a tuple: what walks them calls itself */ };

const Sem sem_error = {.kind = SEM_ERROR}, sem_none = {.kind = SEM_NONE};

/* ---- Element types ----------------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    DType dtype;
    uint32_t bits;
    STypeClass class;
} stypes[ST_COUNT] = {
#define DTYPE(e, name, bits, class, ...) {name, DT_##e, bits, CLASS_##class},
#define UTYPE(e, name, bits, dtype) {name, DT_##dtype, bits, CLASS_UNSIGNED},
#include "runtime/base/dtype.def"
#undef DTYPE
#undef UTYPE
};

const char *stype_name(SType t) {
    return stypes[t].name;
}

DType stype_dtype(SType t) {
    return stypes[t].dtype;
}

DType stype_memory(SType t) {
    return t == ST_I1 ? DT_I8 : stypes[t].dtype;
}

uint32_t stype_bits(SType t) {
    return stypes[t].bits;
}

STypeClass stype_class(SType t) {
    return stypes[t].class;
}

bool stype_is_float(SType t) {
    return stypes[t].class == CLASS_FLOAT;
}

bool stype_is_unsigned(SType t) {
    return stypes[t].class == CLASS_UNSIGNED || stypes[t].class == CLASS_BOOL;
}

SType stype_signed(SType t) {
    for (int s = 0; s < ST_COUNT; s++) {
        if (stypes[s].class == CLASS_SIGNED && stypes[s].bits == stypes[t].bits) return (SType)s;
    }
    bug("stype_signed: no signed type is as wide as %s", stype_name(t));
}

bool stype_find(const char *canonical, SType *out) {
    for (int t = 0; t < ST_COUNT; t++) {
        if (strcmp(stypes[t].name, canonical) != 0) continue;
        *out = (SType)t;
        return true;
    }
    return false;
}

/* ---- Making ------------------------------------------------------------------------------------------------------ */

static Sem *make(Checker *c, SemKind kind) {
    Sem *s = NEW(c->a, Sem);
    s->kind = kind;
    return s;
}

const Sem *sem_bool(Checker *c, bool x) {
    Sem *s = make(c, SEM_BOOL);
    s->weak = true;
    s->i = int_from(x);
    return s;
}

const Sem *sem_int(Checker *c, Int x) {
    Sem *s = make(c, SEM_INT);
    s->weak = true;
    s->i = x;
    return s;
}

const Sem *sem_i64(Checker *c, int64_t x) {
    return sem_int(c, int_from(x));
}

const Sem *sem_float(Checker *c, double x) {
    Sem *s = make(c, SEM_FLOAT);
    s->weak = true;
    s->f = x;
    return s;
}

const Sem *sem_string(Checker *c, const char *text) {
    Sem *s = make(c, SEM_STRING);
    size_t length = strlen(text) / 16 + 1;
    s->s = text;
    s->size = length > MOST_SIZE ? MOST_SIZE + 1 : (uint32_t)length;
    return s;
}

const Sem *sem_type(Checker *c, SType t, bool is_pointer) {
    Sem *s = make(c, SEM_TYPE);
    s->type = t;
    s->is_pointer = is_pointer;
    return s;
}

const Sem *sem_module(Checker *c, const char *name) {
    Sem *s = make(c, SEM_MODULE);
    s->s = name;
    return s;
}

const Sem *sem_file(Checker *c, FileScope *file) {
    Sem *s = make(c, SEM_MODULE);
    s->s = file->path;
    s->home = file;
    return s;
}

const Sem *sem_tuple(Checker *c, const Sem **items, uint32_t count) {
    Sem *s = make(c, SEM_TUPLE);
    s->items = items;
    s->count = count;
    uint64_t size = 0;
    bool nests = false;
    for (uint32_t i = 0; i < count; i++) {
        size += items[i]->size ? items[i]->size : 1;
        nests |= items[i]->kind == SEM_TUPLE;
    }
    if (nests) size += LEVEL_SIZE;
    s->size = size > MOST_SIZE ? MOST_SIZE + 1 : (uint32_t)size;
    return s;
}

void spend_looking(Checker *c, const Sem *s) {
    c->steps += s->size / 8;
}

const Sem *sem_limited(Checker *c, const Sem *s, Span at) {
    spend_looking(c, s);
    if (s->size <= MOST_SIZE) return s;
    if (s->kind == SEM_TUPLE) diag(c->d, at, E_TUPLE_SIZE, MOST_SIZE);
    else diag(c->d, at, E_STRING_SIZE, 16 * MOST_SIZE);
    return &sem_error;
}

const Sem *sem_run(Checker *c, SType t, Value *v, Value *wide) {
    Sem *s = make(c, SEM_RUN);
    s->type = t;
    s->v = v;
    s->wide = wide;
    return s;
}

const Sem *sem_pointer(Checker *c, SType pointee, Value *v) {
    Sem *s = make(c, SEM_RUN);
    s->type = pointee;
    s->is_pointer = true;
    s->v = v;
    return s;
}

const Sem *sem_with(Checker *c, const Sem *s, Value *v, Value *wide) {
    Sem *r = NEW(c->a, Sem);
    *r = *s;
    r->v = v;
    r->wide = wide;
    return r;
}

static const Sem *with_weak(Checker *c, const Sem *s, bool weak) {
    if (!sem_is_number(s) || s->weak == weak) return s;
    Sem *copy = NEW(c->a, Sem);
    *copy = *s;
    copy->weak = weak;
    return copy;
}

const Sem *sem_strong(Checker *c, const Sem *s) {
    return with_weak(c, s, false);
}

const Sem *sem_weak(Checker *c, const Sem *s) {
    return with_weak(c, s, true);
}

/* ---- Asking ------------------------------------------------------------------------------------------------------ */

bool sem_is_error(const Sem *s) {
    return s->kind == SEM_ERROR;
}

bool sem_is_number(const Sem *s) {
    return s->kind == SEM_BOOL || s->kind == SEM_INT || s->kind == SEM_FLOAT;
}

bool sem_is_const(const Sem *s) {
    return s->kind != SEM_RUN && s->kind != SEM_ERROR;
}

bool sem_is_tile(const Sem *s) {
    return s->kind == SEM_RUN && s->v->type.shape.rank != 0;
}

bool sem_is_value(const Sem *s) {
    return sem_is_number(s) || (s->kind == SEM_RUN && !s->is_pointer);
}

Shape sem_shape(const Sem *s) {
    return s->kind == SEM_RUN ? s->v->type.shape : shape_scalar();
}

SType sem_natural(const Sem *s) {
    if (s->kind == SEM_RUN) return s->type;
    if (s->kind == SEM_BOOL) return ST_I1;
    if (s->kind == SEM_FLOAT) return ST_FP32;
    int64_t x;
    if (!int_fits(s->i, &x)) return ST_U64;
    return x >= INT32_MIN && x <= INT32_MAX ? ST_I32 : ST_I64;
}

bool sem_same_type(const Sem *x, const Sem *y) {
    return x->type == y->type && x->is_pointer == y->is_pointer && shape_equal(sem_shape(x), sem_shape(y));
}

bool sem_equal(const Sem *x, const Sem *y) {
    if (x == y) return true;
    if (x->kind != y->kind) return false;
    switch (x->kind) {
    case SEM_NONE: return true;
    case SEM_BOOL:
    case SEM_INT: return int_compare(x->i, y->i) == 0;
    case SEM_FLOAT: return x->f == y->f ? signbit(x->f) == signbit(y->f) : isnan(x->f) && isnan(y->f);
    case SEM_STRING:
    case SEM_MODULE: return strcmp(x->s, y->s) == 0;
    case SEM_TYPE: return x->type == y->type && x->is_pointer == y->is_pointer;
    case SEM_FUNCTION: return x->fn == y->fn;
    case SEM_BUILTIN: return x->builtin == y->builtin && x->self == y->self;
    case SEM_RECORD:
    case SEM_TUPLE:
        if (x->count != y->count) return false;
        for (uint32_t i = 0; i < x->count; i++) {
            if (!sem_equal(x->items[i], y->items[i])) return false;
        }
        return true;
    case SEM_BLOCK:
        if (!sem_same_block(x, y)) return false;
        for (uint32_t i = 0; i < x->count; i++)
            if (!sem_equal(x->items[i], y->items[i])) return false;
        return true;
    case SEM_RUN: return x->v == y->v && x->type == y->type;
    case SEM_ERROR: break;
    }
    return false;
}

/* ---- Saying ------------------------------------------------------------------------------------------------------ */

const char *type_text(Checker *c, SType t, bool is_pointer, Shape shape) {
    const char *element = arena_printf(c->a, "%s%s", is_pointer ? "*" : "", stype_name(t));
    if (shape.rank == 0) return element;
    Text size = {0};
    shape_print(shape, &size);
    const char *text = arena_printf(c->a, "tile<%sx%s>", size.at, element);
    text_free(&size);
    return text;
}

const char *number_text(Checker *c, const Sem *s) {
    if (s->kind == SEM_BOOL) return s->i.mag ? "True" : "False";
    if (s->kind == SEM_INT) return int_text(c->a, s->i);
    if (isinf(s->f)) return s->f < 0 ? "-inf" : "inf";
    if (isnan(s->f)) return "nan";
    char text[40];
    return arena_printf(c->a, "%s", number_print(s->f, text, sizeof text));
}

const char *sem_type_text(Checker *c, const Sem *s) {
    switch (s->kind) {
    case SEM_ERROR: return "an error";
    case SEM_NONE: return "None";
    case SEM_BOOL: return arena_printf(c->a, "the bool %s", number_text(c, s));
    case SEM_INT: return arena_printf(c->a, "the int %s", number_text(c, s));
    case SEM_FLOAT: return arena_printf(c->a, "the float %s", number_text(c, s));
    case SEM_STRING: return arena_printf(c->a, "the string \"%s\"", s->s);
    case SEM_TYPE: return arena_printf(c->a, "the type %s", type_text(c, s->type, s->is_pointer, shape_scalar()));
    case SEM_TUPLE: return arena_printf(c->a, "a tuple of %u", s->count);
    case SEM_RECORD: return arena_printf(c->a, "the named tuple %s", s->s);
    case SEM_BLOCK:
        return arena_printf(c->a, "a %s of %s", s->block->is_descriptor ? "descriptor" : "block pointer",
                            type_text(c, s->type, false, s->block->shape));
    case SEM_FUNCTION: return arena_printf(c->a, "the function %s", s->fn->name);
    case SEM_BUILTIN: return arena_printf(c->a, "the builtin %s", s->builtin->name);
    case SEM_MODULE: return arena_printf(c->a, "the module %s", s->s);
    case SEM_RUN: return type_text(c, s->type, s->is_pointer, sem_shape(s));
    }
    return "";
}

bool sem_want_int(Checker *c, const Sem *s, Span at, const char *what, int64_t *out) {
    if (sem_is_error(s)) return false;
    if ((s->kind == SEM_INT || s->kind == SEM_BOOL) && int_fits(s->i, out)) return true;
    diag(c->d, at, E_CONST_INT, what, sem_type_text(c, s));
    if (s->kind == SEM_INT) diag_note(c->d, at, "it is beyond 64 bits with a sign");
    if (s->kind == SEM_RUN) diag_note(c->d, at, "make it a constexpr parameter, or compute it from constexpr values");
    return false;
}

bool sem_want_bool(Checker *c, const Sem *s, Span at, const char *what, bool *out) {
    if (sem_is_error(s)) return false;
    if (s->kind == SEM_INT || s->kind == SEM_BOOL || s->kind == SEM_NONE) {
        *out = const_truth(s);
        return true;
    }
    diag(c->d, at, E_CONST_BOOL, what, sem_type_text(c, s));
    return false;
}

/* repeat.c - a launch from Python that is like one before, without a line of Python. Part of libfsc.
 *
 * In: the arguments of a call, as CPython passes them to a function in C. Out: what the launch before gave back, or
 * what the package's own way gives, with its errors.
 * Method: behind a launch the package tells what makes another one like it (Known): the class of each argument, the
 * values of constants, device and element types of torch's tensors. Arguments that match are packed as _arrays.py packs
 * them, and go to fsc_jit_call. Whatever does not match, or fails, goes the package's way.
 * The build needs no Python: the functions below are of its stable ABI (PEP 384), found in the process that has loaded
 * both. Elsewhere they are NULL, and nobody calls what is here. Every function wants the interpreter's lock.
 */
#include "fsc.h"

#include <stdlib.h>

typedef struct Object Object;     /* PyObject */
typedef struct ThreadState State; /* PyThreadState */
typedef ptrdiff_t Size;           /* Py_ssize_t */

#define PYTHON __attribute__((weak)) extern
PYTHON Object *PyCapsule_New(void *pointer, const char *name, void (*destroy)(Object *));
PYTHON void *PyCapsule_GetPointer(Object *capsule, const char *name);
PYTHON Object *PyObject_Type(Object *o);
PYTHON Object *PyObject_GetAttr(Object *o, Object *name);
PYTHON Object *PyObject_Call(Object *callable, Object *args, Object *named);
PYTHON Object *PyObject_CallFunctionObjArgs(Object *callable, ...);
PYTHON int PyCallable_Check(Object *o);
PYTHON int PyObject_RichCompareBool(Object *x, Object *y, int op);
PYTHON Object *PyTuple_New(Size count);
PYTHON Size PyTuple_Size(Object *tuple);
PYTHON Object *PyTuple_GetItem(Object *tuple, Size i);
PYTHON int PyTuple_SetItem(Object *tuple, Size i, Object *item);
PYTHON Object *PyDict_New(void);
PYTHON Object *PyDict_Copy(Object *dict);
PYTHON int PyDict_SetItem(Object *dict, Object *key, Object *value);
PYTHON long long PyLong_AsLongLong(Object *o);
PYTHON void *PyLong_AsVoidPtr(Object *o);
PYTHON double PyFloat_AsDouble(Object *o);
PYTHON Object *PyErr_Occurred(void);
PYTHON void PyErr_Clear(void);
PYTHON State *PyEval_SaveThread(void);
PYTHON void PyEval_RestoreThread(State *state);
PYTHON void Py_IncRef(Object *o);
PYTHON void Py_DecRef(Object *o);

/* What _repeat.py calls. */
FSC_API Object *fsc_python_open(Object *words);
FSC_API int fsc_python_know(Object *capsule, Object *told);
FSC_API void fsc_python_forget(Object *capsule);
FSC_API Object *fsc_python_launch(Object *self, Object *const *args, Size count, Object *names);

enum { EQUAL = 2 /* Py_EQ */, MOST_ARGS = 64, MOST_KNOWN = 64 };
static const char CAPSULE[] = "fsc.launches";

/* What an argument must be like, by its number in _repeat.py. */
typedef enum Kind {
    SAME,    /* this very object */
    CONSTANT, /* equal to it */
    INTEGER,
    REAL,
    TENSOR, /* torch's, of this dtype, on the launch's device */
    NUM_KINDS,
} Kind;

typedef struct Given {
    Kind kind;
    Object *type, *value; /* its class; what it is, of a tensor the dtype */
    Object *name;         /* of the parameter */
    uint32_t place;       /* among the launch's values */
    fsc_dtype dtype;
} Given;

/* One launch that was. Objects are borrowed: the package keeps the tuple that they came in. */
typedef struct Known {
    fsc_jit *jit;
    Object *names;  /* of the last arguments, those by name: a tuple, or NULL */
    Object *device; /* of its tensors */
    Object *stream_of, *index; /* stream_of(index) is torch's current stream, or NULL */
    Object *meta;              /* what a grid that is a function is called with */
    Object *result;
    size_t by_position, count; /* arguments of the call */
    size_t num_values;
    bool takes_sizes; /* of tensors: contracts and checks ask for them */
    Given given[];
} Known;

/* Launches of one kernel, the latest in front. */
typedef struct Launches {
    size_t count;
    bool is_closed; /* none of them counts any more */
    Known *at[MOST_KNOWN];
    /* tuple, int, None; "shape", "dtype", "device"; Tensor.data_ptr, Tensor.stride */
    Object *tuple, *integer, *none, *shape, *dtype, *device, *data_ptr, *stride;
} Launches;

/* ---- What the package tells -------------------------------------------------------------------------------------- */

static void destroy(Object *capsule) {
    Launches *l = PyCapsule_GetPointer(capsule, CAPSULE);
    for (size_t i = 0; l && i < l->count; i++) free(l->at[i]);
    free(l);
}

static Object *item(Object *tuple, Size i) {
    return PyTuple_GetItem(tuple, i);
}

static size_t number(Object *tuple, Size i) {
    return (size_t)PyLong_AsLongLong(item(tuple, i));
}

/* A kernel's launches, none yet, as a capsule. words: the objects of Launches in their order; the caller keeps them. */
Object *fsc_python_open(Object *words) {
    Launches *l = calloc(1, sizeof *l);
    if (!l) return NULL;
    Object **const places[] = {&l->tuple, &l->integer, &l->none,     &l->shape,
                               &l->dtype, &l->device,  &l->data_ptr, &l->stride};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) *places[i] = item(words, (Size)i);
    Object *capsule = PyCapsule_New(l, CAPSULE, destroy);
    if (!capsule) free(l);
    return capsule;
}

static Given given_of(Object *t) {
    return (Given){(Kind)number(t, 0),  item(t, 1), item(t, 2), item(t, 3), (uint32_t)number(t, 4),
                   (fsc_dtype)number(t, 5)};
}

/* One more launch: (jit's address, names or None, device, stream_of or None, index, meta, result, arguments by
 * position, values, ((kind, type, value, name, place, dtype), …), takes_sizes). The caller keeps the tuple. 0: it is
 * known now. */
int fsc_python_know(Object *capsule, Object *told) {
    Launches *l = PyCapsule_GetPointer(capsule, CAPSULE);
    Object *all = item(told, 9);
    size_t count = (size_t)PyTuple_Size(all), values = number(told, 8);
    if (!l || l->count == MOST_KNOWN || count > MOST_ARGS || values > MOST_ARGS) return 1;
    Known *k = calloc(1, sizeof *k + count * sizeof *k->given);
    if (!k) return 1;
    k->jit = PyLong_AsVoidPtr(item(told, 0));
    k->names = item(told, 1) == l->none ? NULL : item(told, 1);
    k->device = item(told, 2);
    k->stream_of = item(told, 3) == l->none ? NULL : item(told, 3);
    k->index = item(told, 4);
    k->meta = item(told, 5);
    k->result = item(told, 6);
    k->by_position = number(told, 7);
    k->num_values = values;
    k->count = count;
    k->takes_sizes = number(told, 10) != 0;
    for (size_t i = 0; i < count; i++) k->given[i] = given_of(item(all, (Size)i));
    l->at[l->count++] = k;
    return 0;
}

/* From now on nothing is like a launch before, for those either who have the function already. */
void fsc_python_forget(Object *capsule) {
    Launches *l = PyCapsule_GetPointer(capsule, CAPSULE);
    if (l) l->is_closed = true; /* another thread may be at a launch: they stay until the capsule goes */
}

/* ---- Is it like that one? ---------------------------------------------------------------------------------------- */

static bool is_equal(Object *x, Object *y) {
    if (x == y) return true;
    int found = PyObject_RichCompareBool(x, y, EQUAL);
    if (found < 0) PyErr_Clear();
    return found == 1;
}

static bool is_of(Object *o, const Object *type) {
    Object *found = PyObject_Type(o);
    Py_DecRef(found); /* the object keeps its class */
    return found == type;
}

/* Names at a call are interned: the same text is the same object. */
static bool same_names(Object *x, Object *y) {
    if (x == y) return true;
    if (!x || !y || PyTuple_Size(x) != PyTuple_Size(y)) return false;
    for (Size i = 0; i < PyTuple_Size(x); i++)
        if (item(x, i) != item(y, i)) return false;
    return true;
}

static bool is_like(const Known *k, Object *const *args, size_t by_position, Object *names) {
    if (k->by_position != by_position || !same_names(k->names, names)) return false;
    for (size_t i = 0; i < k->count; i++) {
        const Given *g = &k->given[i];
        if (g->kind == SAME ? args[i] != g->value : !is_of(args[i], g->type)) return false;
        if (g->kind == CONSTANT && !is_equal(args[i], g->value)) return false;
    }
    return true;
}

/* ---- Packing ----------------------------------------------------------------------------------------------------- */

/* The elements of a tuple of whole numbers; false: it is none, or too long. Takes the reference. */
static bool take_sizes(Object *tuple, int64_t *to, uint32_t *rank) {
    if (!tuple) return false;
    Size count = PyTuple_Size(tuple);
    bool ok = count >= 0 && count <= FSC_RANK_MAX;
    for (Size i = 0; ok && i < count; i++) {
        to[i] = PyLong_AsLongLong(item(tuple, i));
        ok = to[i] != -1 || !PyErr_Occurred();
    }
    *rank = ok ? (uint32_t)count : 0;
    Py_DecRef(tuple);
    return ok;
}

static bool has(Object *o, Object *name, Object *want, bool by_value) {
    Object *found = PyObject_GetAttr(o, name);
    if (!found) return false;
    bool ok = found == want || (by_value && is_equal(found, want));
    Py_DecRef(found);
    return ok;
}

static bool take_tensor(const Launches *l, const Known *k, const Given *g, Object *o, fsc_value *v) {
    if (!has(o, l->dtype, g->value, false) || !has(o, l->device, k->device, true)) return false;
    Object *address = PyObject_CallFunctionObjArgs(l->data_ptr, o, NULL);
    if (!address) return false;
    v->arg = fsc_pointer(PyLong_AsVoidPtr(address), 0, g->dtype);
    Py_DecRef(address);
    uint32_t strides;
    v->array.rank = FSC_RANK_MAX + 1;
    if (!k->takes_sizes) return true;
    return take_sizes(PyObject_GetAttr(o, l->shape), v->array.shape, &v->array.rank) &&
           take_sizes(PyObject_CallFunctionObjArgs(l->stride, o, NULL), v->array.strides, &strides) &&
           strides == v->array.rank;
}

static bool take(const Launches *l, const Known *k, Object *const *args, fsc_value *values) {
    for (size_t i = 0; i < k->num_values; i++) values[i].arg.kind = FSC_ARG_MISSING;
    for (size_t i = 0; i < k->count; i++) {
        const Given *g = &k->given[i];
        fsc_value *v = &values[g->place];
        if (g->kind == INTEGER) v->arg = fsc_int(PyLong_AsLongLong(args[i]));
        if (g->kind == REAL) v->arg = fsc_float(PyFloat_AsDouble(args[i]));
        bool may_fail = (g->kind == INTEGER && v->arg.u.integer == -1) || (g->kind == REAL && v->arg.u.real == -1);
        if (may_fail && PyErr_Occurred()) return false;
        if (g->kind == TENSOR && !take_tensor(l, k, g, args[i], v)) return false;
    }
    return true;
}

static void to_front(Launches *l, size_t i) {
    Known *k = l->at[i];
    for (; i > 0; i--) l->at[i] = l->at[i - 1];
    l->at[0] = k;
}

/* The launch that this one is like, with its values packed; NULL: there is none. */
static const Known *find(Launches *l, Object *const *args, size_t by_position, Object *names, fsc_value *values) {
    for (size_t i = 0; !l->is_closed && i < l->count; i++) {
        const Known *k = l->at[i];
        if (!is_like(k, args, by_position, names)) continue;
        bool ok = take(l, k, args, values);
        if (ok && i > 0 && l->at[i] == k) to_front(l, i); /* another thread may have had the lock */
        if (ok) return k;
        PyErr_Clear();
    }
    return NULL;
}

/* How a launch ended: done; not here, nothing was done; or with the exception of a grid that is a function. */
typedef enum Outcome { DONE, NOT_HERE, RAISED } Outcome;

static Outcome not_here(void) {
    PyErr_Clear();
    return NOT_HERE;
}

static bool take_grid(const Launches *l, Object *grid, int64_t *to) {
    uint32_t count = 1;
    if (is_of(grid, l->integer)) return to[0] = PyLong_AsLongLong(grid), to[0] != -1;
    if (!is_of(grid, l->tuple) || PyTuple_Size(grid) > 3 || PyTuple_Size(grid) < 1) return false;
    Py_IncRef(grid);
    return take_sizes(grid, to, &count);
}

/* grid(meta), with the launch's own arguments in meta. */
static Object *ask_grid(const Known *k, Object *grid, Object *const *args) {
    Object *meta = PyDict_Copy(k->meta);
    bool ok = meta;
    for (size_t i = 0; ok && i < k->count; i++)
        if (k->given[i].kind >= INTEGER) ok = PyDict_SetItem(meta, k->given[i].name, args[i]) == 0;
    Object *found = ok ? PyObject_CallFunctionObjArgs(grid, meta, NULL) : NULL;
    if (meta) Py_DecRef(meta);
    return found;
}

static Outcome grid_of(const Launches *l, const Known *k, Object *grid, Object *const *args, int64_t *to) {
    bool is_function = PyCallable_Check(grid);
    Object *sizes = is_function ? ask_grid(k, grid, args) : grid;
    if (!sizes) return RAISED;
    Outcome done = take_grid(l, sizes, to) ? DONE : not_here();
    if (is_function) Py_DecRef(sizes);
    return done;
}

/* torch's current stream; false: nobody says. */
static bool stream_of(const Known *k, void **stream) {
    if (!k->stream_of) return true;
    Object *found = PyObject_CallFunctionObjArgs(k->stream_of, k->index, NULL);
    if (!found) return false;
    *stream = PyLong_AsVoidPtr(found);
    Py_DecRef(found);
    return *stream || !PyErr_Occurred();
}

/* ---- The launch -------------------------------------------------------------------------------------------------- */

static Outcome launch(const Launches *l, const Known *k, const fsc_value *values, Object *grid, Object *const *args) {
    int64_t sizes[3] = {1, 1, 1};
    void *stream = NULL;
    bool by_rule = grid == l->none;
    Outcome found = by_rule ? DONE : grid_of(l, k, grid, args, sizes);
    if (found != DONE) return found;
    if (!stream_of(k, &stream)) return not_here();
    State *state = PyEval_SaveThread();
    fsc_status s = fsc_jit_call(k->jit, by_rule ? NULL : sizes, values, k->num_values, stream);
    PyEval_RestoreThread(state);
    return s == FSC_OK ? DONE : NOT_HERE;
}

static Object *package_way(Object *run, Object *const *args, size_t by_position, Object *names) {
    Object *tuple = PyTuple_New((Size)by_position), *named = names ? PyDict_New() : NULL;
    bool ok = tuple && (named || !names);
    for (size_t i = 0; ok && i < by_position; i++) {
        Py_IncRef(args[i]);
        ok = PyTuple_SetItem(tuple, (Size)i, args[i]) == 0;
    }
    for (Size i = 0; ok && names && i < PyTuple_Size(names); i++)
        ok = PyDict_SetItem(named, item(names, i), args[by_position + (size_t)i]) == 0;
    Object *result = ok ? PyObject_Call(run, tuple, named) : NULL;
    if (tuple) Py_DecRef(tuple);
    if (named) Py_DecRef(named);
    return result;
}

/* launch(grid, *args, **named); self: (capsule, run), where run(grid, *args, **named) is the package's way.
 * METH_FASTCALL | METH_KEYWORDS: args are `count` by position, behind them those of `names`. */
Object *fsc_python_launch(Object *self, Object *const *args, Size count, Object *names) {
    Launches *l = PyCapsule_GetPointer(item(self, 0), CAPSULE);
    fsc_value values[MOST_ARGS];
    const Known *k = l && count > 0 ? find(l, args + 1, (size_t)count - 1, names, values) : NULL;
    Outcome end = k ? launch(l, k, values, args[0], args + 1) : NOT_HERE;
    if (end == NOT_HERE) return package_way(item(self, 1), args, (size_t)count, names);
    if (end == RAISED) return NULL;
    Py_IncRef(k->result);
    return k->result;
}

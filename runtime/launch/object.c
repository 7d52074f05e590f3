/* object.c - kernels compiled ahead of time: from the table in an object to a launch.
 *
 * In: an fsc_object, a stream, pointers to the arguments. Out: a launch. Method: an object has a list with one kernel
 * for each context that it ran in, which readers walk without a lock and which only grows. A new context opens a
 * device, shared by all objects, and gives its kernel the best code of each variant; the code itself is loaded when a
 * launch takes it.
 */
#include "runtime/base/level.h"
#include "runtime/base/process.h"
#include "runtime/cuda/driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where a launch runs, as the caller's thread has it. */
typedef struct Place {
    bool is_cpu;
    CUcontext context;     /* current; NULL: none */
    unsigned long long id; /* of the context, as an address may be used again; 0: the driver does not tell */
} Place;

/* A device that objects use. */
typedef struct Shared {
    struct Shared *next;
    Place place;
    fsc_device *device;
    size_t users; /* Loaded ones */
} Shared;

/* An object at a place. */
typedef struct Loaded {
    struct Loaded *next;
    Place place;
    Shared *shared;
    fsc_kernel *kernel;
} Loaded;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of what is added and taken away */
static Shared *devices;

/* ---- Places ------------------------------------------------------------------------------------------------------ */

static bool is_cpu(const fsc_object_variant *v) {
    return strncmp(v->arch, "cpu", 3) == 0;
}

static bool has_cpu(const fsc_object *o) {
    return is_cpu(&o->variants[o->num_variants - 1]);
}

static bool is_missing(fsc_status s) {
    return s == FSC_NO_DRIVER || s == FSC_NO_DEVICE;
}

static bool same_place(const Place *a, const Place *b) {
    return a->is_cpu == b->is_cpu && a->context == b->context && a->id == b->id;
}

static fsc_status find_place(const fsc_object *o, fsc_stream stream, Place *p) {
    *p = (Place){.is_cpu = stream == FSC_STREAM_CPU || is_cpu(&o->variants[0])};
    if (p->is_cpu) return FSC_OK;
    if (driver_state() != FSC_OK) {
        p->is_cpu = is_missing(driver_state()) && has_cpu(o);
        return p->is_cpu ? FSC_OK : driver_load();
    }
    fsc_status s = CU(NULL, cuCtxGetCurrent, &p->context);
    if (s == FSC_OK && p->context && cuda.cuCtxGetId) s = CU(NULL, cuCtxGetId, p->context, &p->id);
    return s;
}

static fsc_status open_place(const fsc_object *o, const Place *p, fsc_device **out) {
    if (p->is_cpu) return fsc_device_open("cpu", out);
    fsc_status s = fsc_device_open("cuda", out);
    return is_missing(s) && has_cpu(o) ? fsc_device_open("cpu", out) : s;
}

/* ---- Devices, under the lock ------------------------------------------------------------------------------------- */

static fsc_status shared_take(const fsc_object *o, const Place *p, Shared **out) {
    for (Shared *s = devices; s; s = s->next) {
        if (!same_place(&s->place, p)) continue;
        s->users++;
        *out = s;
        return FSC_OK;
    }
    Shared *made = calloc(1, sizeof *made);
    if (!made) return status_memory(NULL);
    *made = (Shared){.next = devices, .place = *p, .users = 1};
    fsc_status s = open_place(o, p, &made->device);
    if (s != FSC_OK) {
        free(made);
        return s;
    }
    devices = *out = made;
    return FSC_OK;
}

static void shared_give(Shared *shared) {
    if (--shared->users) return;
    Shared **at = &devices;
    while (*at != shared) at = &(*at)->next;
    *at = shared->next;
    fsc_device_close(shared->device);
    free(shared);
}

/* ---- Code for a device ------------------------------------------------------------------------------------------- */

/* The level that the word behind "cpu" names. */
static CpuLevel level_of(const fsc_object_variant *v) {
    return level_find(v->arch + 3 + (v->arch[3] == ' '));
}

static bool is_text(const fsc_object_variant *v) {
    return v->size < 4 || memcmp(v->code, "\177ELF", 4) != 0;
}

/* How well code of the CPU suits this processor: the more it asks for the better, if that is here; else it is a last
 * resort, which make_host refuses. */
static unsigned level_rank(const fsc_object_variant *v) {
    CpuLevel level = level_of(v);
    if (!level_is_here(level)) return 1;
    return level == LEVEL_NONE ? 2 : 3 + level;
}

/* How well the code suits the device; 0: not at all. Any cubin before any PTX, newer before older. */
static unsigned rank_of(const fsc_object_variant *v, const fsc_device *d) {
    unsigned number = 0;
    char suffix = '\0';
    if (d->kind->has_entry) return is_cpu(v) ? level_rank(v) : 0;
    bool fits = arch_fits(v->arch, d->props.arch, is_text(v)) && arch_read(v->arch, &number, &suffix);
    return fits ? number * 4 + (suffix ? 2u : 0) + (is_text(v) ? 0 : 1u << 20) + 1 : 0;
}

/* Whether no other entry of the variant suits the device better. */
static bool is_best(const fsc_object *o, const fsc_object_variant *v, const fsc_device *d) {
    unsigned rank = rank_of(v, d);
    if (rank == 0) return false;
    for (uint64_t i = 0; i < o->num_variants; i++) {
        const fsc_object_variant *w = &o->variants[i];
        unsigned other = w->number == v->number ? rank_of(w, d) : 0;
        if (other > rank || (other == rank && w < v)) return false;
    }
    return true;
}

static fsc_status make_host(fsc_device *d, const fsc_object *o, const fsc_object_variant *v, fsc_module **out) {
    CpuLevel level = level_of(v);
    if (!level_is_here(level)) {
        CpuLevel least = level_is_here(LEVEL_X86_64) ? LEVEL_X86_64 : LEVEL_ARM;
        return status_fail(d, FSC_ERROR_ARCH,
                           "kernel %s is compiled for processors of %s, and this one is none: compile it with %s among "
                           "the --cpu",
                           o->kernel, v->arch + 4, level_info[least].name);
    }
    char why[256] = "";
    Record *r = record_parse(v->code, v->size, why, sizeof why);
    if (!r && !*why) return status_memory(d);
    if (!r) return status_fail(d, FSC_ERROR_RECORD, "kernel %s: %s", o->kernel, why);
    fsc_host_code code = {.entry = v->entry, .scratch_bytes = v->scratch_bytes};
    fsc_status s = fsc_module_host(d, r, &code, out);
    record_free(r);
    return s;
}

static fsc_status add_variant(fsc_kernel **k, fsc_module *m, const char *name) {
    return *k ? fsc_kernel_add_variant(*k, m, name) : fsc_kernel_create(m, name, k);
}

static bool is_first_of_arch(const fsc_object *o, uint64_t index) {
    for (uint64_t i = 0; i < index; i++) {
        if (strcmp(o->variants[i].arch, o->variants[index].arch) == 0) return false;
    }
    return true;
}

static fsc_status refuse(const fsc_object *o, const fsc_device *d) {
    char have[256] = "";
    for (uint64_t i = 0; i < o->num_variants; i++) {
        size_t used = strlen(have);
        if (is_first_of_arch(o, i))
            snprintf(have + used, sizeof have - used, "%s%s", used ? ", " : "", o->variants[i].arch);
    }
    return status_fail(d, FSC_ERROR_ARCH,
                       "kernel %s is compiled for %s, and %s is %s: compile it with --arch=%s among the others",
                       o->kernel, have, d->props.name, d->props.arch, d->props.arch);
}

/* Code for few programs that reach over more multiprocessors than this device has: the bound of the number of programs
 * is that of the blocks which wait for each other. */
static bool is_too_wide(const fsc_device *d, const Record *r) {
    const RecordLaunch *l = r->num_launches ? &r->launches[0] : NULL;
    bool is_few = false;
    for (uint32_t i = 0; l && l->scope == SCOPE_GRID && i < r->num_params; i++)
        is_few |= r->params[i].most == l->most_programs;
    return is_few && (uint64_t)l->most_programs * l->blocks_per_program > d->props.sms;
}

static fsc_status make_kernel(const fsc_object *o, fsc_device *d, fsc_kernel **out) {
    fsc_kernel *k = NULL;
    fsc_status s = FSC_OK;
    for (uint64_t i = 0; i < o->num_variants; i++) {
        if (!o->variants[i].arch || !o->variants[i].code)
            return status_fail(d, FSC_ERROR_USAGE, "kernel %s: variant %llu has no arch, or no code", o->kernel,
                               (unsigned long long)i);
    }
    for (uint64_t i = 0; s == FSC_OK && i < o->num_variants; i++) {
        const fsc_object_variant *v = &o->variants[i];
        fsc_module *m = NULL;
        if (!is_best(o, v, d)) continue;
        s = d->kind->has_entry ? make_host(d, o, v, &m) : module_load_later(d, v->code, v->size, &m);
        bool is_usable = s == FSC_OK && !(m->num_records && is_too_wide(d, m->records[0]));
        if (is_usable) s = add_variant(&k, m, o->kernel);
        fsc_module_unload(m);
    }
    if (s == FSC_OK && !k) s = refuse(o, d);
    if (s != FSC_OK) {
        fsc_kernel_destroy(k);
        return s;
    }
    k->is_object = true;
    *out = k;
    return FSC_OK;
}

/* ---- The list ---------------------------------------------------------------------------------------------------- */

static Loaded *find_loaded(const fsc_object *o, const Place *p) {
    Loaded *l = __atomic_load_n(&o->loaded, __ATOMIC_ACQUIRE);
    while (l && !same_place(&l->place, p)) l = l->next;
    return l;
}

static fsc_status load_locked(fsc_object *o, const Place *p, Loaded **out) {
    *out = find_loaded(o, p);
    if (*out) return FSC_OK;
    Shared *shared = NULL;
    fsc_kernel *k = NULL;
    Loaded *l = calloc(1, sizeof *l);
    if (!l) return status_memory(NULL);
    fsc_status s = shared_take(o, p, &shared);
    if (s == FSC_OK) s = make_kernel(o, shared->device, &k);
    if (s != FSC_OK) {
        if (shared) shared_give(shared);
        free(l);
        return s;
    }
    *l = (Loaded){.next = o->loaded, .place = *p, .shared = shared, .kernel = k};
    __atomic_store_n(&o->loaded, (void *)l, __ATOMIC_RELEASE);
    *out = l;
    return FSC_OK;
}

static fsc_status load_at(fsc_object *o, fsc_stream stream, Loaded **out) {
    if (!o || o->abi != FSC_OBJECT_ABI || !o->num_variants)
        return status_fail(NULL, FSC_ERROR_USAGE,
                           o && o->abi != FSC_OBJECT_ABI
                               ? "the object was made by another version of fsc than this libfsc-runtime"
                               : "fsc_object: the object is NULL, or has no variant");
    if (!o->kernel || !o->variants || !o->variants[0].arch || !o->variants[o->num_variants - 1].arch)
        return status_fail(NULL, FSC_ERROR_USAGE,
                           "fsc_object: the object's kernel, its variants or their arch are NULL");
    Place p;
    fsc_status s = find_place(o, stream, &p);
    if (s != FSC_OK) return s;
    if (p.is_cpu && !has_cpu(o))
        return status_fail(NULL, FSC_ERROR_USAGE, "kernel %s has no CPU version: compile it with cpu among the --arch",
                           o->kernel);
    *out = find_loaded(o, &p);
    if (*out) return FSC_OK;
    HOLD_FORKS;
    pthread_mutex_lock(&lock);
    s = load_locked(o, &p, out);
    pthread_mutex_unlock(&lock);
    return s;
}

fsc_status fsc_object_load(fsc_object *o, fsc_stream stream) {
    Loaded *l = NULL;
    fsc_status s = load_at(o, stream, &l);
    if (s != FSC_OK) return s;
    const VariantTable *t = kernel_table(l->kernel);
    for (size_t i = 0; i < t->count; i++) {
        fsc_status one = variant_ready(t->at[i]); /* one that is too large keeps no other from being loaded */
        if (s == FSC_OK) s = one;
    }
    return s;
}

void fsc_object_unload(fsc_object *o) {
    if (!o) return;
    HOLD_FORKS;
    pthread_mutex_lock(&lock);
    for (Loaded *l = o->loaded, *next; l; l = next) {
        next = l->next;
        fsc_kernel_destroy(l->kernel);
        shared_give(l->shared);
        free(l);
    }
    __atomic_store_n(&o->loaded, NULL, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&lock);
}

/* ---- Launching --------------------------------------------------------------------------------------------------- */

static int64_t read_int(fsc_dtype t, const void *at) {
    switch (fsc_dtype_size(t)) {
    case 1: return t == FSC_I1 ? *(const uint8_t *)at != 0 : t == FSC_I8 ? *(const int8_t *)at : *(const uint8_t *)at;
    case 2: return t == FSC_I16 ? *(const int16_t *)at : *(const uint16_t *)at;
    case 4: return t == FSC_I32 ? (int64_t) * (const int32_t *)at : (int64_t) * (const uint32_t *)at;
    default: return *(const int64_t *)at;
    }
}

static fsc_arg read_value(RecordKind kind, fsc_dtype t, const void *at) {
    if (kind == RECORD_POINTER) return fsc_pointer(*(const void *const *)at, 0, FSC_DTYPE_NONE);
    if (t == FSC_FP64) return fsc_float(*(const double *)at);
    bool is_float = t == FSC_FP32 || t == FSC_FP16 || t == FSC_BF16 || t == FSC_FP8E4NV || t == FSC_FP8E5;
    if (t == FSC_U64) return fsc_uint(*(const uint64_t *)at);
    return is_float ? fsc_float((double)*(const float *)at) : fsc_int(read_int(t, at));
}

/* A program that opened a GPU hands its memory to an object that has no code for GPUs:
 * the processor would fault there. */
static fsc_status check_host_memory(const Loaded *l, const fsc_arg *args, uint32_t n) {
    fsc_device *d = l->kernel->device;
    if (!d->kind->is_host || !driver_is_loaded() || !cuda.cuPointerGetAttribute) return FSC_OK;
    for (uint32_t i = 0; i < n; i++) {
        CUdeviceptr at = (CUdeviceptr)(uintptr_t)args[i].u.pointer;
        int type = 0;
        void *seen_at = NULL;
        if (args[i].kind != FSC_ARG_POINTER || !at) continue;
        if (CU_CALL(cuPointerGetAttribute, &type, CU_POINTER_MEMORY_TYPE, at) != CUDA_SUCCESS ||
            type != CU_MEMORY_DEVICE)
            continue;
        if (CU_CALL(cuPointerGetAttribute, &seen_at, CU_POINTER_HOST_POINTER, at) == CUDA_SUCCESS) continue;
        return status_fail(d, FSC_ERROR_ARCH,
                           "argument %u of kernel %s is memory of a GPU, and this is its CPU version: compile it with "
                           "the GPU's --arch "
                           "among the others, or open the device \"cpu\"",
                           i + 1, kernel_table(l->kernel)->at[0]->record->kernel);
    }
    return FSC_OK;
}

fsc_status fsc_object_launch(fsc_object *o, fsc_stream stream, const int64_t grid[3], const void *const *values) {
    fsc_arg small[CALL_ARGS], *args = small;
    Loaded *l = NULL;
    fsc_status s = load_at(o, stream, &l);
    if (s != FSC_OK) return s;
    const Variant *v = kernel_table(l->kernel)->at[0];
    if (v->num_slots && !values)
        return status_fail(l->kernel->device, FSC_ERROR_USAGE, "fsc_object_launch: values is NULL");
    if (v->num_slots > CALL_ARGS) args = malloc(v->num_slots * sizeof *args);
    if (!args) return status_memory(l->kernel->device);
    for (uint32_t i = 0; i < v->num_slots; i++)
        args[i] = read_value(v->record->params[v->slots[i].param].kind, v->slots[i].dtype, values[i]);
    s = check_host_memory(l, args, v->num_slots);
    if (s == FSC_OK) s = fsc_launch(l->kernel, grid, args, v->num_slots, stream == FSC_STREAM_CPU ? NULL : stream);
    if (args != small) free(args);
    return s;
}

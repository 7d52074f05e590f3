/* fakecuda.c - a driver with the real one's interface and no GPU: it keeps the rules, counts calls and fails on demand.
 *
 * In: what the tests say (fakecuda.h). Out: what they look at. Two H100-like devices; memory is the host's. Here are
 * the state, devices, contexts, memory, streams and events; modules and launches are in fakecode.c. An error that kills
 * a context sticks. FAKE_CUDA_INIT makes cuInit give that error; FAKE_CUDA_LOG: a file of all calls and kernels;
 * FAKE_CUDA_VERSION: the driver's, such as 11080.
 */
#include "fakecuda.h"
#include "fakedriver.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct Context {
    int device;
};
/* Everything the driver hands out stands behind a head like this, so that a reset frees what a lost context held. */
struct Head {
    struct Head *next, *prev;
    size_t bytes;
};
enum { HEAD = 256 };
static struct Head all = {&all, &all, 0};

enum { CALLS = 96, STACK = 16 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    const char *name;
    int count, fail_at, error;
} calls[CALLS];
static struct Context primary[8], own[8];
static _Thread_local struct Context *stack[STACK];
static _Thread_local int depth;
static int sticky;
#define AS_NEW                                                                                                         \
    {                                                                                                                  \
        .devices = 2, .blocks = 3, .memory = (size_t)1 << 32, .version = 13000, .ptx = 90, .registers = 64,            \
        .threads = 1024                                                                                                \
    }
static const FakeState as_new = AS_NEW;
FakeState fake = AS_NEW;

/* Of the driver's errors: what they are called, and which kill the context. */
static const struct {
    CUresult error;
    const char *name;
    bool is_fatal;
} errors[] = {
#define KEPT false
#define LOST true
#define CUDA_ERROR(name, number, status, fate, advice) {number, "CUDA_ERROR_" #name, fate},
#include "runtime/cuda/cuda_error.def"
#undef CUDA_ERROR
};

enum { ERRORS = sizeof errors / sizeof errors[0] };

bool fake_error_at(int index, int *error, const char **name, bool *is_fatal) {
    if (index < 0 || index >= ERRORS) return false;
    *error = errors[index].error;
    *name = errors[index].name;
    *is_fatal = errors[index].is_fatal;
    return true;
}

static bool is_fatal(CUresult r) {
    int i = 0;
    while (i < ERRORS && errors[i].error != r) i++;
    return i < ERRORS && errors[i].is_fatal;
}

static int slot_of(const char *name) {
    int i = 0;
    while (i < CALLS - 1 && calls[i].name && strcmp(calls[i].name, name) != 0) i++;
    calls[i].name = name;
    return i;
}

void fake_write_log(const char *line) {
    const char *path = getenv("FAKE_CUDA_LOG");
    FILE *f = path ? fopen(path, "a") : NULL;
    if (f) fprintf(f, "%s\n", line);
    if (f) fclose(f);
}

CUresult fake_count(const char *name) {
    pthread_mutex_lock(&lock);
    fake_write_log(name);
    int i = slot_of(name);
    calls[i].count++;
    CUresult r = calls[i].fail_at && calls[i].count == calls[i].fail_at ? calls[i].error : 0;
    if (is_fatal(r)) {
        sticky = r;
        fake.lost = true;
    }
    pthread_mutex_unlock(&lock);
    return r;
}

CUresult fake_enter(const char *name) {
    CUresult r = fake_count(name);
    return r ? r : sticky;
}

void *fake_take(size_t bytes) {
    struct Head *h = aligned_alloc(HEAD, (bytes + 2 * HEAD - 1) / HEAD * HEAD);
    if (!h) return NULL;
    pthread_mutex_lock(&lock);
    *h = (struct Head){all.next, &all, bytes};
    all.next->prev = h;
    all.next = h;
    fake.live++;
    pthread_mutex_unlock(&lock);
    return memset((char *)h + HEAD, 0, bytes);
}

size_t fake_give(void *p) {
    struct Head *h = (struct Head *)(void *)((char *)p - HEAD);
    size_t bytes = h->bytes;
    pthread_mutex_lock(&lock);
    h->prev->next = h->next;
    h->next->prev = h->prev;
    fake.live--;
    pthread_mutex_unlock(&lock);
    free(h);
    return bytes;
}

bool fake_has_context(void) {
    return depth > 0 && stack[depth - 1];
}

void fake_reset(void) {
    while (all.next != &all) fake_give((char *)all.next + HEAD);
    fake = as_new;
    sticky = 0;
    memset(calls, 0, sizeof calls);
    depth = 0;
    fake_forget_code();
    for (int i = 0; i < 8; i++) primary[i].device = own[i].device = i;
}

void fake_fail(const char *call, int nth, int error) {
    int i = slot_of(call);
    calls[i].fail_at = calls[i].count + nth;
    calls[i].error = error;
}

int fake_calls(const char *call) {
    return calls[slot_of(call)].count;
}

int fake_depth(void) {
    return depth;
}

void fake_set_current(int device) {
    depth = device < 0 ? 0 : 1;
    if (device >= 0) stack[0] = &own[device];
}

bool fake_current_is_own(void) {
    return depth == 1 && stack[0] >= own && stack[0] < own + 8;
}

/* ---- The driver's functions -------------------------------------------------------------------------------------- */

API(cuInit, unsigned flags) {
    const char *error = getenv("FAKE_CUDA_INIT");
    for (int i = 0; i < 8; i++) primary[i].device = own[i].device = i;
    return flags ? 1 : error ? atoi(error) : 0;
}

API(cuDriverGetVersion, int *version) {
    const char *said = getenv("FAKE_CUDA_VERSION");
    COUNT();
    *version = said ? atoi(said) : fake.version;
    return 0;
}

API(cuGetErrorName, CUresult error, const char **name) {
    CUresult failed = fake_count(__func__);
    *name = NULL;
    for (int i = 0; i < ERRORS && !failed; i++) {
        if (errors[i].error == error) *name = errors[i].name;
    }
    return failed ? failed : *name ? 0 : 1;
}

API(cuGetErrorString, CUresult error, const char **text) {
    CUresult failed = fake_count(__func__);
    *text = failed ? NULL : "text of the fake driver";
    return failed ? failed : error < 0;
}

API(cuDeviceGetCount, int *count) {
    COUNT();
    *count = fake.devices;
    return 0;
}

API(cuDeviceGet, int *device, int ordinal) {
    COUNT();
    if (ordinal < 0 || ordinal >= fake.devices) return 101;
    *device = ordinal;
    return 0;
}

API(cuDeviceGetName, char *name, int length, int device) {
    COUNT();
    snprintf(name, (size_t)length, "Fake H100 %d", device);
    return 0;
}

API(cuDeviceTotalMem_v2, size_t *bytes, int device) {
    COUNT();
    (void)device;
    *bytes = (size_t)80 << 30;
    return 0;
}

API(cuDeviceGetAttribute, int *value, int attribute, int device) {
    const int values[][2] = {{88, fake.pageable},
                             {1, 1024},     {8, 49152},  {10, 32},       {12, 65536}, {13, 1980000}, {16, 132},
                                    {36, 2619000}, {37, 5120},  {38, 52428800}, {39, 2048},  {75, 9},       {76, 0},
                                    {81, 233472},  {82, 65536}, {97, 232448},   {106, 32},   {111, 1024}};
    COUNT();
    (void)device;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        if (values[i][0] != attribute) continue;
        *value = values[i][1];
        return 0;
    }
    return 1;
}

API(cuDevicePrimaryCtxRetain, void **context, int device) {
    COUNT();
    fake.retained++;
    *context = &primary[device];
    return 0;
}

API(cuDevicePrimaryCtxRelease_v2, int device) {
    (void)device;
    CUresult failed = fake_count(__func__);
    if (--fake.retained == 0) sticky = 0; /* the next one is a new context */
    return failed;
}

API(cuCtxGetCurrent, void **context) {
    COUNT();
    *context = depth ? stack[depth - 1] : NULL;
    return 0;
}

API(cuCtxGetId, struct Context *context, unsigned long long *id) {
    COUNT();
    *id = (unsigned long long)fake.generation * 100 +
          (unsigned long long)(context - own >= 0 && context - own < 8) * 10 + (unsigned long long)context->device + 1;
    return 0;
}

API(cuCtxGetDevice, int *device) {
    COUNT();
    NEED_CONTEXT();
    *device = stack[depth - 1]->device;
    return 0;
}

API(cuCtxPushCurrent_v2, void *context) {
    COUNT();
    if (depth == STACK) return 1;
    stack[depth++] = context;
    return 0;
}

API(cuCtxPopCurrent_v2, void **context) {
    if (depth == 0) return 201;
    *context = stack[--depth];
    return fake_count(__func__); /* the real one, too, tells of what went wrong before, and pops all the same */
}

API(cuCtxSynchronize, void) {
    ENTER();
    NEED_CONTEXT();
    return 0;
}

API(cuMemAlloc_v2, unsigned long long *address, size_t bytes) {
    ENTER();
    NEED_CONTEXT();
    if (bytes == 0) return 1;
    if (bytes > fake.memory || fake.allocated > fake.memory - bytes) return 2;
    void *p = fake_take(bytes);
    if (!p) return 2;
    fake.allocated += bytes;
    *address = (unsigned long long)(uintptr_t)p;
    return 0;
}

API(cuMemFree_v2, unsigned long long address) {
    ENTER();
    NEED_CONTEXT();
    fake.allocated -= fake_give((void *)(uintptr_t)address);
    return 0;
}

API(cuMemcpyHtoD_v2, unsigned long long to, const void *from, size_t bytes) {
    ENTER();
    NEED_CONTEXT();
    memcpy((void *)(uintptr_t)to, from, bytes);
    return 0;
}

API(cuMemcpyDtoH_v2, void *to, unsigned long long from, size_t bytes) {
    ENTER();
    NEED_CONTEXT();
    memcpy(to, (void *)(uintptr_t)from, bytes);
    return 0;
}

/* 2: of a device; what it did not hand out it does not know. */
API(cuPointerGetAttribute, void *value, int attribute, unsigned long long address) {
    ENTER();
    const char *p = (const char *)(uintptr_t)address;
    bool is_known = false;
    pthread_mutex_lock(&lock);
    for (struct Head *h = all.next; h && h != &all && !is_known; h = h->next)
        is_known = p >= (char *)h + HEAD && p < (char *)h + HEAD + h->bytes;
    pthread_mutex_unlock(&lock);
    if (!is_known || attribute != 2) return 1;
    *(int *)value = 2;
    return 0;
}

API(cuMemsetD8_v2, unsigned long long address, unsigned char byte, size_t bytes) {
    ENTER();
    NEED_CONTEXT();
    memset((void *)(uintptr_t)address, byte, bytes);
    return 0;
}

API(cuStreamCreate, void **stream, unsigned flags) {
    ENTER();
    NEED_CONTEXT();
    (void)flags;
    *stream = fake_take(1);
    return 0;
}

API(cuStreamDestroy_v2, void *stream) {
    ENTER();
    NEED_CONTEXT();
    fake_give(stream);
    return 0;
}

API(cuCtxSetCurrent, void *context) {
    depth = 1;
    stack[0] = context;
    return 0;
}

API(cuStreamSynchronize, void *stream) {
    ENTER();
    NEED_CONTEXT();
    (void)stream;
    return 0;
}

API(cuEventCreate, void **event, unsigned flags) {
    ENTER();
    NEED_CONTEXT();
    (void)flags;
    *event = fake_take(sizeof(int));
    return 0;
}

API(cuEventDestroy_v2, void *event) {
    ENTER();
    fake_give(event);
    return 0;
}

API(cuEventRecord, void *event, void *stream) {
    ENTER();
    NEED_CONTEXT();
    (void)stream;
    *(int *)event = calls[slot_of(__func__)].count;
    return 0;
}

API(cuEventSynchronize, void *event) {
    ENTER();
    (void)event;
    return 0;
}

API(cuEventElapsedTime, float *milliseconds, void *start, void *end) {
    ENTER();
    *milliseconds = 0.5f * (float)(*(int *)end - *(int *)start);
    return 0;
}


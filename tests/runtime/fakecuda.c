/* fakecuda.c - a driver with the real one's interface and no GPU: it keeps the rules, counts calls and fails on demand.
 *
 * Two H100-like devices; memory is the host's. A module is PTX text, or such text behind the headers of an ELF file; a
 * function exists if ".entry NAME" is in it.
 * ".version 99.0" is a version it does not know, "not ptx" a text it does not accept, both with a log. An error of a
 * kernel (700 to 719) sticks. FAKE_CUDA_INIT makes cuInit give that error; FAKE_CUDA_LOG: a file of all calls and kernels.
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
struct Function {
    char name[64];
    int dynamic_shared;
    struct Function *next;
};

/* Everything the driver hands out stands behind a head like this, so that a reset frees what a lost context held. */
struct Head {
    struct Head *next, *prev;
    size_t bytes;
};
enum { HEAD = 256 };
static struct Head all = {&all, &all, 0};

enum { CALLS = 64, LAUNCHES = 64, STACK = 16 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    const char *name;
    int count, fail_at, error;
} calls[CALLS];
static struct Context primary[8], own[8];
static _Thread_local struct Context *stack[STACK];
static _Thread_local int depth;
static struct Function *functions;
static FakeLaunch launched[LAUNCHES];
static int sticky;
static void *captured; /* the stream whose launches a graph records, and how many it has */
static int recorded;
static const FakeState as_new = {.devices = 2, .blocks = 3, .memory = (size_t)1 << 32, .version = 13000};
FakeState fake = {.devices = 2, .blocks = 3, .memory = (size_t)1 << 32, .version = 13000};

#ifdef OLD_DRIVER
#define cuLaunchKernel   cuLaunchKernel_missing
#define cuLaunchKernelEx cuLaunchKernelEx_missing
#endif
#ifdef NO_CLUSTERS
#define cuLaunchKernelEx cuLaunchKernelEx_missing
#endif

static int slot_of(const char *name) {
    int i = 0;
    while (i < CALLS - 1 && calls[i].name && strcmp(calls[i].name, name) != 0) i++;
    calls[i].name = name;
    return i;
}

static void write_log(const char *line) {
    const char *path = getenv("FAKE_CUDA_LOG");
    FILE *f = path ? fopen(path, "a") : NULL;
    if (f) fprintf(f, "%s\n", line);
    if (f) fclose(f);
}

CUresult fake_enter(const char *name) {
    pthread_mutex_lock(&lock);
    write_log(name);
    int i = slot_of(name);
    calls[i].count++;
    CUresult r = sticky;
    if (calls[i].fail_at && calls[i].count == calls[i].fail_at) {
        r = calls[i].error;
        if (r >= 700 && r <= 719 && r != 701) sticky = r;
    }
    pthread_mutex_unlock(&lock);
    return r;
}

void *fake_take(size_t bytes) {
    struct Head *h = aligned_alloc(HEAD, (bytes + 2 * HEAD - 1) / HEAD * HEAD);
    if (!h) return NULL;
    pthread_mutex_lock(&lock);
    *h = (struct Head){all.next, &all, bytes};
    all.next->prev = h;
    all.next = h;
    pthread_mutex_unlock(&lock);
    return memset((char *)h + HEAD, 0, bytes);
}

size_t fake_give(void *p) {
    struct Head *h = (struct Head *)(void *)((char *)p - HEAD);
    size_t bytes = h->bytes;
    pthread_mutex_lock(&lock);
    h->prev->next = h->next;
    h->next->prev = h->prev;
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
    captured = NULL;
    memset(calls, 0, sizeof calls);
    depth = 0;
    while (functions) {
        struct Function *next = functions->next;
        free(functions);
        functions = next;
    }
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
FakeLaunch fake_launch(int index) {
    return launched[index];
}

void fake_set_current(int device) {
    depth = device < 0 ? 0 : 1;
    if (device >= 0) stack[0] = &own[device];
}

bool fake_current_is_own(void) {
    return depth == 1 && stack[0] >= own && stack[0] < own + 8;
}

int fake_attribute(const char *entry) {
    for (struct Function *f = functions; f; f = f->next) {
        if (strcmp(f->name, entry) == 0) return f->dynamic_shared;
    }
    return -1;
}

/* ---- The driver's functions ------------------------------------------------------------------------------------------- */

API(cuInit, unsigned flags) {
    const char *error = getenv("FAKE_CUDA_INIT");
    for (int i = 0; i < 8; i++) primary[i].device = own[i].device = i;
    return flags ? 1 : error ? atoi(error) : 0;
}

API(cuDriverGetVersion, int *version) {
    ENTER();
    *version = fake.version;
    return 0;
}

API(cuGetErrorName, CUresult error, const char **name) {
    static const struct {
        CUresult error;
        const char *name;
    } names[] = {{1, "CUDA_ERROR_INVALID_VALUE"},
                 {2, "CUDA_ERROR_OUT_OF_MEMORY"},
                 {100, "CUDA_ERROR_NO_DEVICE"},
                 {101, "CUDA_ERROR_INVALID_DEVICE"},
                 {201, "CUDA_ERROR_INVALID_CONTEXT"},
                 {218, "CUDA_ERROR_INVALID_PTX"},
                 {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"},
                 {500, "CUDA_ERROR_NOT_FOUND"},
                 {700, "CUDA_ERROR_ILLEGAL_ADDRESS"},
                 {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"},
                 {719, "CUDA_ERROR_LAUNCH_FAILED"},
                 {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (names[i].error != error) continue;
        *name = names[i].name;
        return 0;
    }
    *name = NULL;
    return 1;
}

API(cuGetErrorString, CUresult error, const char **text) {
    *text = "text of the fake driver";
    return error < 0;
}

API(cuDeviceGetCount, int *count) {
    ENTER();
    *count = fake.devices;
    return 0;
}

API(cuDeviceGet, int *device, int ordinal) {
    ENTER();
    if (ordinal < 0 || ordinal >= fake.devices) return 101;
    *device = ordinal;
    return 0;
}

API(cuDeviceGetName, char *name, int length, int device) {
    ENTER();
    snprintf(name, (size_t)length, "Fake H100 %d", device);
    return 0;
}

API(cuDeviceTotalMem_v2, size_t *bytes, int device) {
    ENTER();
    (void)device;
    *bytes = (size_t)80 << 30;
    return 0;
}

API(cuDeviceGetAttribute, int *value, int attribute, int device) {
    static const int values[][2] = {{1, 1024},     {8, 49152},  {10, 32},       {12, 65536}, {13, 1980000}, {16, 132},
                                    {36, 2619000}, {37, 5120},  {38, 52428800}, {39, 2048},  {75, 9},       {76, 0},
                                    {81, 233472},  {82, 65536}, {97, 232448},   {106, 32},   {111, 1024}};
    ENTER();
    (void)device;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        if (values[i][0] != attribute) continue;
        *value = values[i][1];
        return 0;
    }
    return 1;
}

API(cuDevicePrimaryCtxRetain, void **context, int device) {
    ENTER();
    fake.retained++;
    *context = &primary[device];
    return 0;
}

API(cuDevicePrimaryCtxRelease_v2, int device) {
    (void)device;
    fake.retained--;
    return 0;
}

API(cuCtxGetCurrent, void **context) {
    *context = depth ? stack[depth - 1] : NULL;
    return 0;
}

API(cuCtxGetId, struct Context *context, unsigned long long *id) {
    ENTER();
    *id = (unsigned long long)fake.generation * 100 + (unsigned long long)(context - own >= 0 && context - own < 8) * 10 +
          (unsigned long long)context->device + 1;
    return 0;
}

API(cuCtxGetDevice, int *device) {
    NEED_CONTEXT();
    *device = stack[depth - 1]->device;
    return 0;
}

API(cuCtxPushCurrent_v2, void *context) {
    ENTER();
    if (depth == STACK) return 1;
    stack[depth++] = context;
    return 0;
}

API(cuCtxPopCurrent_v2, void **context) {
    if (depth == 0) return 201;
    *context = stack[--depth];
    return 0;
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

API(cuStreamBeginCapture_v2, void *stream, int mode) {
    ENTER();
    NEED_CONTEXT();
    (void)mode;
    if (!stream) return 900;
    captured = stream;
    recorded = 0;
    return 0;
}

/* A graph, also one that is ready to be launched, is the number of its launches. */
API(cuStreamEndCapture, void *stream, void **graph) {
    ENTER();
    if (stream != captured) return 1;
    *graph = fake_take(sizeof recorded);
    *(int *)*graph = recorded;
    captured = NULL;
    return 0;
}

API(cuGraphInstantiateWithFlags, void **ready, void *graph, unsigned long long flags) {
    ENTER();
    (void)flags;
    *ready = fake_take(sizeof recorded);
    *(int *)*ready = *(int *)graph;
    return 0;
}

API(cuGraphLaunch, void *ready, void *stream) {
    ENTER();
    NEED_CONTEXT();
    (void)stream;
    fake.launches += *(int *)ready;
    return 0;
}

API(cuGraphExecDestroy, void *ready) {
    fake_give(ready);
    return 0;
}

API(cuGraphDestroy, void *graph) {
    fake_give(graph);
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

static CUresult complain(const char *what, CUresult r, unsigned n, const int *options, void **values) {
    char *log = NULL;
    size_t size = 0;
    for (unsigned i = 0; i < n; i++) {
        if (options[i] == 5) log = values[i];
        if (options[i] == 6) size = (size_t)(uintptr_t)values[i];
    }
    if (log) snprintf(log, size, "%s\n", what);
    return r;
}

API(cuModuleLoadDataEx, void **module, const void *image, unsigned n, int *options, void **values) {
    ENTER();
    NEED_CONTEXT();
    if (captured) return 900; /* CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED */
    nanosleep(&(struct timespec){.tv_nsec = fake.delay * 1000000L}, NULL);
    const char *text = image;
    bool is_cubin = memcmp(text, "\177ELF", 4) == 0;
    if (is_cubin) text += FAKE_ELF;
    if (strstr(text, "not ptx"))
        return complain("ptxas application ptx input, line 3; fatal   : Parsing error", 218, n, options, values);
    if (strstr(text, ".version 99.0"))
        return complain("ptxas fatal   : Unsupported .version 99.0", 222, n, options, values);
    *module = strcpy(fake_take(strlen(text) + 1), text);
    fake.modules++;
    fake.cubins += is_cubin;
    return 0;
}

API(cuModuleUnload, void *module) {
    ENTER();
    fake_give(module);
    fake.modules--;
    return 0;
}

API(cuModuleGetFunction, void **function, void *module, const char *name) {
    ENTER();
    char line[96];
    snprintf(line, sizeof line, ".entry %s(", name);
    if (!strstr((const char *)module, line)) return 500;
    struct Function *f = calloc(1, sizeof *f);
    snprintf(f->name, sizeof f->name, "%s", name);
    f->dynamic_shared = -1;
    f->next = functions;
    functions = f;
    *function = f;
    return 0;
}

API(cuFuncGetAttribute, int *value, int attribute, void *function) {
    static const int values[] = {1024, 16, 0, 8,
                                 64,   70, 90}; /* threads, shared, const, local, registers, ptx, binary */
    ENTER();
    (void)function;
    *value = values[attribute];
    return 0;
}

API(cuFuncSetAttribute, void *function, int attribute, int value) {
    ENTER();
    if (attribute == 8) ((struct Function *)function)->dynamic_shared = value;
    return 0;
}

API(cuOccupancyMaxActiveBlocksPerMultiprocessor, int *n, void *function, int threads, size_t shared) {
    ENTER();
    NEED_CONTEXT();
    (void)function, (void)threads, (void)shared;
    *n = fake.blocks;
    return 0;
}

static CUresult keep(const struct Function *f, const unsigned sizes[7], unsigned cluster, void *stream, void **params) {
    if (sizes[0] == 0 || sizes[1] == 0 || sizes[2] == 0) return 1;
    if (sizes[1] > 65535 || sizes[2] > 65535 || sizes[3] > 1024) return 1;
    if (sizes[6] + 16 > 49152 && f->dynamic_shared < (int)sizes[6]) return 1;
    if (captured && stream == captured) {
        recorded++;
        return 0;
    }
    pthread_mutex_lock(&lock);
    FakeLaunch *l = &launched[fake.launches++ % LAUNCHES];
    memset(l, 0, sizeof *l);
    write_log(strcpy(l->entry, f->name));
    memcpy(l->grid, sizes, sizeof l->grid);
    memcpy(l->block, sizes + 3, sizeof l->block);
    l->shared = sizes[6];
    l->cluster = cluster;
    l->stream = stream;
    for (int i = 0; i < fake.params; i++) memcpy(&l->params[i], params[i], 8);
    pthread_mutex_unlock(&lock);
    return 0;
}

API(cuLaunchKernel, void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
    unsigned shared, void *stream, void **params, void **extra) {
    ENTER();
    NEED_CONTEXT();
    (void)extra;
    return keep(function, (const unsigned[]){gx, gy, gz, bx, by, bz, shared}, 0, stream, params);
}

struct Config {
    unsigned grid[3], block[3], shared;
    void *stream;
    struct {
        int id, pad;
        unsigned value[16];
    } * attrs;
    unsigned num_attrs;
};

API(cuLaunchKernelEx, const struct Config *c, void *function, void **params, void **extra) {
    ENTER();
    NEED_CONTEXT();
    (void)extra;
    unsigned cluster = c->num_attrs == 1 && c->attrs[0].id == 4 ? c->attrs[0].value[0] : 0;
    if (cluster == 0 || c->grid[0] % cluster) return 912;
    return keep(
        function,
        (const unsigned[]){c->grid[0], c->grid[1], c->grid[2], c->block[0], c->block[1], c->block[2], c->shared},
        cluster, c->stream, params);
}

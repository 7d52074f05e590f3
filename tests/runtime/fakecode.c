/* fakecode.c - the fake driver's modules, functions, launches and graphs.
 *
 * A module is PTX text, or such text behind the headers of an ELF file; a function exists if ".entry NAME" is in it.
 * A .version beyond FakeState.ptx is one it does not know, "not ptx" a text it does not accept, both with a log.
 * OLD_DRIVER and NO_CLUSTERS: built without the functions that old drivers lack.
 */
#include "fakecuda.h"
#include "fakedriver.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef OLD_DRIVER
#define cuLaunchKernel   cuLaunchKernel_missing
#define cuLaunchKernelEx cuLaunchKernelEx_missing
#define cuTensorMapEncodeTiled cuTensorMapEncodeTiled_missing
#endif
#ifdef NO_CLUSTERS
#define cuLaunchKernelEx cuLaunchKernelEx_missing
#define cuTensorMapEncodeTiled cuTensorMapEncodeTiled_missing
#endif

struct Function {
    char name[64];
    int dynamic_shared;
    bool is_asked; /* its PTX asks for blocks on a multiprocessor */
    struct Function *next;
};

enum { LAUNCHES = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct Function *functions;
static FakeLaunch launched[LAUNCHES];
static FakeBehind behind[LAUNCHES];
static void *captured; /* the stream whose launches a graph records, and how many it has */
static int recorded;

void fake_forget_code(void) {
    captured = NULL;
    while (functions) {
        struct Function *next = functions->next;
        free(functions);
        functions = next;
    }
}

FakeLaunch fake_launch(int index) {
    return launched[index];
}

FakeBehind fake_behind(int index) {
    return behind[index];
}

int fake_attribute(const char *entry) {
    for (struct Function *f = functions; f; f = f->next) {
        if (strcmp(f->name, entry) == 0) return f->dynamic_shared;
    }
    return -1;
}

/* ---- Modules and functions --------------------------------------------------------------------------------------- */

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

/* FAKE_CUDA_CODE: a file that the text of each module goes into; the last stays. */
static void keep_text(const char *text) {
    const char *path = getenv("FAKE_CUDA_CODE");
    FILE *f = path ? fopen(path, "w") : NULL;
    if (!f) return;
    fputs(text, f);
    fclose(f);
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
    const char *version = strstr(text, ".version ");
    unsigned major = 0, minor = 0;
    if (version && sscanf(version, ".version %2u.%1u", &major, &minor) == 2 && (int)(major * 10 + minor) > fake.ptx) {
        char log[64];
        snprintf(log, sizeof log, "ptxas fatal   : Unsupported .version %u.%u", major, minor);
        return complain(log, 222, n, options, values);
    }
    keep_text(text);
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
    f->is_asked = strstr((const char *)module, "\n.minnctapersm 2\n");
    pthread_mutex_lock(&lock);
    f->next = functions;
    functions = f;
    pthread_mutex_unlock(&lock);
    *function = f;
    return 0;
}

API(cuFuncGetAttribute, int *value, int attribute, void *function) {
    bool is_asked = ((struct Function *)function)->is_asked;
    const int values[] = {fake.threads, 16, 0, is_asked ? fake.spills : 8, is_asked ? fake.asked : fake.registers,
                          70,           90}; /* threads, shared, const, local, registers, ptx, binary */
    ENTER();
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

/* ---- Graphs ------------------------------------------------------------------------------------------------------ */

API(cuStreamBeginCapture_v2, void *stream, int mode) {
    ENTER();
    NEED_CONTEXT();
    (void)mode;
    if (!stream) return 900;
    captured = stream;
    recorded = 0;
    return 0;
}

API(cuStreamIsCapturing, void *stream, int *status) {
    ENTER();
    NEED_CONTEXT();
    *status = captured && stream == captured;
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

/* ---- Tensor maps ------------------------------------------------------------------------------------------------- */

_Static_assert(sizeof(FakeMap) <= 128, "a map has 128 bytes");

/* The rules of the driver's manual, for maps that are swizzled and not interleaved. */
API(cuTensorMapEncodeTiled, void *map, int type, unsigned rank, void *base, const uint64_t *extents,
    const uint64_t *strides, const uint32_t *box, const uint32_t *steps, int interleave, int swizzle, int promotion,
    int fill) {
    static const uint32_t bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2};
    ENTER();
    if ((uintptr_t)map % 64 || (uintptr_t)base % 16 || !base || type < 0 || type > 9 || rank < 1 || rank > 5) return 1;
    if (interleave || swizzle < 1 || swizzle > 3 || promotion < 0 || promotion > 3 || fill) return 1;
    uint32_t row = box[0] * bytes[type];
    if (row % 16 || row > 16u << swizzle) return 1;
    FakeMap m = {.magic = FAKE_MAP,
                 .base = (uintptr_t)base,
                 .type = (uint8_t)type,
                 .rank = (uint8_t)rank,
                 .swizzle = (uint8_t)swizzle,
                 .promotion = (uint8_t)promotion};
    for (unsigned i = 0; i < rank; i++) {
        if (extents[i] < 1 || extents[i] > (uint64_t)1 << 32 || box[i] < 1 || box[i] > 256 || steps[i] != 1) return 1;
        if (i && (strides[i - 1] % 16 || strides[i - 1] >= (uint64_t)1 << 40)) return 1;
        m.extents[i] = (uint32_t)extents[i];
        m.box[i] = box[i];
        if (i) m.strides[i - 1] = strides[i - 1];
    }
    memset(map, 0, 128);
    memcpy(map, &m, sizeof m);
    return 0;
}

/* ---- Launches ---------------------------------------------------------------------------------------------------- */

static CUresult keep(const struct Function *f, const unsigned sizes[7], unsigned cluster, unsigned overlaps,
                     void *stream, void **params) {
    if (sizes[0] == 0 || sizes[1] == 0 || sizes[2] == 0) return 1;
    if (sizes[1] > 65535 || sizes[2] > 65535 || sizes[3] > 1024) return 1;
    if (sizes[6] > 49152 && f->dynamic_shared < (int)sizes[6]) return 1;
    if (captured && stream == captured) {
        recorded++;
        return 0;
    }
    pthread_mutex_lock(&lock);
    FakeBehind *b = &behind[fake.launches % LAUNCHES];
    FakeLaunch *l = &launched[fake.launches++ % LAUNCHES];
    memset(l, 0, sizeof *l);
    memset(b, 0, sizeof *b);
    fake_write_log(strcpy(l->entry, f->name));
    memcpy(l->grid, sizes, sizeof l->grid);
    memcpy(l->block, sizes + 3, sizeof l->block);
    l->shared = sizes[6];
    l->cluster = cluster;
    l->overlaps = overlaps;
    l->stream = stream;
    for (int i = 0; i < fake.params; i++) memcpy(&l->params[i], params[i], 8);
    for (int i = 0; i < fake.maps; i++) memcpy(&b->maps[i], params[fake.params + i], sizeof b->maps[i]);
    for (int i = 0; i < fake.behind; i++) memcpy(&b->words[i], params[fake.params + fake.maps + i], 8);
    pthread_mutex_unlock(&lock);
    return 0;
}

API(cuLaunchKernel, void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
    unsigned shared, void *stream, void **params, void **extra) {
    ENTER();
    NEED_CONTEXT();
    (void)extra;
    return keep(function, (const unsigned[]){gx, gy, gz, bx, by, bz, shared}, 0, 0, stream, params);
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

enum { COOPERATIVE = 2, CLUSTER = 4, OVERLAPS = 6 }; /* CUlaunchAttributeID */
enum { COOPERATIVE_BLOCKS = 396 /* 3 on each of 132 multiprocessors */ };

API(cuLaunchKernelEx, const struct Config *c, void *function, void **params, void **extra) {
    ENTER();
    NEED_CONTEXT();
    (void)extra;
    unsigned cluster = 0, overlaps = 0;
    if (c->num_attrs == 0) return 1;
    for (unsigned i = 0; i < c->num_attrs; i++) {
        int id = c->attrs[i].id;
        unsigned value = c->attrs[i].value[0];
        if (id != COOPERATIVE && id != CLUSTER && id != OVERLAPS) return 1;
        if (id == COOPERATIVE && c->grid[0] * c->grid[1] * c->grid[2] > COOPERATIVE_BLOCKS) return 720;
        if (id != OVERLAPS && (value == 0 || c->grid[0] % value)) return 912;
        *(id == OVERLAPS ? &overlaps : &cluster) = value;
    }
    return keep(
        function,
        (const unsigned[]){c->grid[0], c->grid[1], c->grid[2], c->block[0], c->block[1], c->block[2], c->shared},
        cluster, overlaps, c->stream, params);
}

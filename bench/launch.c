/* launch.c - what a first call costs, from source and from the cache on disk, and what each further launch costs.
 *
 *     launch start FILE DEVICE [RUNS]    FILE is softmax.dsl, for 4096 x 1000: each run is a process of its own
 *     launch calls DEVICE [CALLS]        a kernel of 4 and one of 20 arguments; on a GPU beside cuLaunchKernel
 *
 * In: device "cuda", "cpu" or "emu". Out: lines of medians. Method: `start` makes a folder of its own, for our cache
 * and for the driver's; a process opens the device, and the clock runs from there until the kernel is loaded. `calls`
 * takes turns between the ways to launch, times each call alone, and waits for the stream every 64 rounds.
 */
#define _DEFAULT_SOURCE
#include "fsc.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_RUNS = 101, ROUNDS_BETWEEN_WAITS = 64, WAYS = 4, MOST_ARGS = 20 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *x, size_t n) {
    qsort(x, n, sizeof *x, by_size);
    return x[n / 2];
}

static int fail(const char *what) {
    fprintf(stderr, "launch: %s: %s\n", what, fsc_last_message());
    return 3;
}

/* ---- The first call ---------------------------------------------------------------------------------------------- */

/* Milliseconds of one process. */
typedef struct Start {
    double front;   /* fsc_jit_create: the file is read, its key known */
    double compile; /* the compiler's own phases, from its table of times */
    double total;   /* until the kernel is loaded */
    double from_disk;
    double registers, spills; /* as the driver has the kernel: the same from source and from disk */
} Start;

/* The sum of the table's milliseconds. */
static double sum_times(const char *log) {
    double sum = 0, ms;
    for (const char *line = log; line && *line; line = strchr(line, '\n'), line += line != NULL) {
        char phase[64], unit[4];
        if (sscanf(line, "%63[^0-9] %lf %3s", phase, &ms, unit) == 3 && strcmp(unit, "ms") == 0) sum += ms;
    }
    return sum;
}

/* In a process of its own: one first call; writes a Start to the file. */
static int start_once(const char *path, const char *device, int out) {
    char text[65536];
    FILE *f = fopen(path, "rb");
    size_t length = f ? fread(text, 1, sizeof text, f) : 0;
    if (f) fclose(f);
    if (!length || length == sizeof text)
        return fprintf(stderr, "launch: %s cannot be read, or is larger than 64 KB\n", path), 2;
    fsc_device *d = NULL;
    fsc_jit *j = NULL;
    fsc_kernel *k = NULL;
    void *x = NULL, *y = NULL;
    fsc_compile_options o;
    fsc_kernel_report report;
    fsc_variant_counts counts;
    const uint64_t bytes = (uint64_t)4096 * 1000 * 4;
    fsc_compile_options_init(&o);
    o.file = "softmax.dsl";
    fsc_status s = fsc_device_open(device, &d);
    if (s == FSC_OK) s = fsc_memory_alloc(d, bytes, &x);
    if (s == FSC_OK) s = fsc_memory_alloc(d, bytes, &y);
    if (s != FSC_OK) return fail(device);
    const fsc_arg args[] = {fsc_pointer(y, bytes, FSC_FP32),
                            fsc_pointer(x, bytes, FSC_FP32),
                            fsc_int(1000),
                            fsc_int(1000),
                            fsc_int(4096),
                            fsc_int(1000)};
    Start t = {.front = now()};
    double begin = t.front;
    s = fsc_jit_create(d, text, length, &o, &j);
    t.front = now() - begin;
    if (s == FSC_OK) s = fsc_jit_prepare(j, args, 6, &k);
    if (s == FSC_OK) s = fsc_kernel_warmup(k, 0, &report);
    t.total = now() - begin;
    if (s != FSC_OK) return fail("the first call");
    fsc_jit_counts(j, &counts);
    t.compile = sum_times(fsc_jit_log(j));
    t.from_disk = counts.from_disk;
    t.registers = report.registers;
    t.spills = report.spill_bytes;
    fsc_jit_destroy(j);
    fsc_memory_free(d, x);
    fsc_memory_free(d, y);
    fsc_device_close(d);
    return write(out, &t, sizeof t) == sizeof t ? 0 : 3;
}

static bool start_process(const char *path, const char *device, Start *t) {
    int ends[2], status = 0;
    if (pipe(ends) != 0) return false;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) _exit(start_once(path, device, ends[1]));
    close(ends[1]);
    bool ok = child > 0 && read(ends[0], t, sizeof *t) == sizeof *t;
    close(ends[0]);
    return child > 0 && waitpid(child, &status, 0) == child && ok && status == 0;
}

static bool clear_folder(const char *folder) {
    char command[600];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command) == 0;
}

static void print_start(const char *what, Start *runs, size_t n) {
    double front[MOST_RUNS], compile[MOST_RUNS], rest[MOST_RUNS], total[MOST_RUNS];
    for (size_t i = 0; i < n; i++) {
        front[i] = runs[i].front;
        compile[i] = runs[i].compile;
        total[i] = runs[i].total;
        rest[i] = total[i] - front[i] - compile[i];
    }
    double whole = median(total, n);
    printf("%-32s %8.2f ms (fastest %.2f): read %.2f, compile %.2f, load and keep %.2f", what, whole, total[0],
           median(front, n), median(compile, n), median(rest, n));
    if (runs->registers > 0) printf("; %.0f registers, %.0f bytes spilled", runs->registers, runs->spills);
    printf("\n");
}

static int measure_start(const char *path, const char *device, size_t runs) {
    char folder[] = "/tmp/fsc-launchXXXXXX";
    static const char *const what[] = {"source, cache off", "source, empty cache", "from disk, a new process"};
    Start t[MOST_RUNS];
    if (!mkdtemp(folder)) return 3;
    char drivers[64];
    snprintf(drivers, sizeof drivers, "%s/driver", folder);
    setenv("CUDA_CACHE_PATH", drivers, 1);
    bool ok = true;
    for (int kind = 0; ok && kind < 3; kind++) {
        setenv("FSC_CACHE_DIR", kind ? folder : "off", 1);
        for (size_t i = 0; ok && i < runs; i++) {
            if (kind < 2) ok = clear_folder(folder) && mkdir(folder, 0700) == 0;
            ok = ok && start_process(path, device, &t[i]) && t[i].from_disk == (kind == 2);
        }
        if (ok) print_start(what[kind], t, runs);
    }
    if (!clear_folder(folder) || !ok) return fprintf(stderr, "launch: a run of its own failed\n"), 3;
    return 0;
}

/* ---- Every further call ------------------------------------------------------------------------------------------ */

static const char four[] = "@kernel(grid=(cdiv(n, 128),))\n"
                           "def four(y: *fp32, x: *fp32, f: fp32, n: i32):\n"
                           "    i = program_id(0) * 128 + arange(0, 128)\n"
                           "    store(y + i, load(x + i, mask=i < n) * f, mask=i < n)\n";
static const char twenty[] =
    "@kernel(grid=(cdiv(n, 128),))\n"
    "def twenty(y: *fp32, x: *fp32, f: fp32, n: i32, a: i32, b: i32, c: i32, d: i32, e: i32, g: i32, h: i32, k: i32,\n"
    "           l: i32, m: i32, o: i32, p: i32, q: i32, r: i32, s: i32, t: i32):\n"
    "    i = program_id(0) * 128 + arange(0, 128)\n"
    "    z = a + b + c + d + e + g + h + k + l + m + o + p + q + r + s + t\n"
    "    store(y + i, load(x + i, mask=i < n) * f + z.to(fp32), mask=i < n)\n";

/* The driver beside fsc: only what a raw launch takes. */
typedef struct Raw {
    int (*load)(void **module, const void *image, unsigned n, void *options, void *values);
    int (*function)(void **function, void *module, const char *name);
    int (*launch)(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                  unsigned shared, void *stream, void **params, void **extra);
    int (*retain)(void **context, int device);
    int (*push)(void *context);
    int (*begin)(void *stream, int mode);
    int (*end)(void *stream, void **graph);
    int (*instantiate)(void **exec, void *graph, unsigned long long flags);
    int (*replay)(void *exec, void *stream);
} Raw;

static bool find(void *library, const char *name, void *slot) {
    void *symbol = dlsym(library, name);
    memcpy(slot, &symbol, sizeof symbol);
    return symbol != NULL;
}

static bool raw_open(Raw *raw) {
    const char *path = getenv("FSC_CUDA_LIBRARY");
    void *library = dlopen(path && *path ? path : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    int (*init)(unsigned flags) = NULL;
    void *context = NULL;
    if (!library || !find(library, "cuInit", &init) || !find(library, "cuModuleLoadDataEx", &raw->load) ||
        !find(library, "cuModuleGetFunction", &raw->function) || !find(library, "cuLaunchKernel", &raw->launch) ||
        !find(library, "cuDevicePrimaryCtxRetain", &raw->retain) || !find(library, "cuCtxPushCurrent_v2", &raw->push))
        return false;
    (void)find(library, "cuStreamBeginCapture_v2", &raw->begin);
    (void)find(library, "cuStreamEndCapture", &raw->end);
    (void)find(library, "cuGraphInstantiateWithFlags", &raw->instantiate);
    (void)find(library, "cuGraphLaunch", &raw->replay);
    return init(0) == 0 && raw->retain(&context, 0) == 0 && raw->push(context) == 0;
}

typedef struct Calls {
    fsc_device *device;
    fsc_jit *jit;
    fsc_kernel *kernel;
    Raw *raw; /* NULL: no GPU */
    void *function, *stream;
    fsc_arg args[MOST_ARGS];
    uint64_t bits[MOST_ARGS];
    void *params[MOST_ARGS];
    unsigned nargs, threads;
    float *host;
    void *x, *y;
} Calls;

enum { N = 1000, BLOCKS = (N + 127) / 128 };

/* The same kernel once more, loaded by the driver alone. */
static bool raw_kernel(Calls *c, const char *source, const char *name) {
    fsc_props p;
    fsc_compile_options o;
    fsc_compilation *compiled = NULL;
    void *module = NULL;
    fsc_compile_options_init(&o);
    bool ok = fsc_device_props(c->device, &p) == FSC_OK;
    o.arch = p.arch;
    o.num_warps = 4;
    ok = ok && fsc_compile(&o, source, strlen(source), &compiled) == FSC_OK;
    ok = ok && c->raw->load(&module, fsc_compilation_output(compiled, NULL), 0, NULL, NULL) == 0;
    ok = ok && c->raw->function(&c->function, module, name) == 0;
    fsc_compilation_destroy(compiled);
    return ok;
}

static bool calls_make(Calls *c, const char *source, const char *name, unsigned nargs) {
    fsc_compile_options o;
    fsc_compile_options_init(&o);
    o.num_warps = 4;
    c->nargs = nargs;
    c->threads = 128;
    c->args[0] = fsc_pointer(c->y, N * 4, FSC_FP32);
    c->args[1] = fsc_pointer(c->x, N * 4, FSC_FP32);
    c->args[2] = fsc_float(2);
    c->args[3] = fsc_int(N);
    for (unsigned i = 4; i < nargs; i++) c->args[i] = fsc_int(i);
    const float two = 2;
    for (unsigned i = 0; i < nargs; i++) {
        c->params[i] = &c->bits[i];
        c->bits[i] = i < 2 ? (uintptr_t)c->args[i].u.pointer : (uint64_t)c->args[i].u.integer;
    }
    memcpy(&c->bits[2], &two, sizeof two);
    if (fsc_jit_create(c->device, source, strlen(source), &o, &c->jit) != FSC_OK) return false;
    if (fsc_jit_prepare(c->jit, c->args, nargs, &c->kernel) != FSC_OK) return false;
    return !c->raw || raw_kernel(c, source, name);
}

static bool call_raw(Calls *c) {
    return c->raw->launch(c->function, BLOCKS, 1, 1, c->threads, 1, 1, 0, c->stream, c->params, NULL) == 0;
}

static bool call_grid(Calls *c) {
    static const int64_t grid[3] = {BLOCKS, 1, 1};
    return fsc_launch(c->kernel, grid, c->args, c->nargs, c->stream) == FSC_OK;
}

static bool call_rule(Calls *c) {
    return fsc_launch(c->kernel, NULL, c->args, c->nargs, c->stream) == FSC_OK;
}

static bool call_jit(Calls *c) {
    return fsc_jit_launch(c->jit, NULL, c->args, c->nargs, c->stream) == FSC_OK;
}

static const struct {
    const char *what;
    bool (*call)(Calls *c);
} ways[WAYS] = {{"cuLaunchKernel", call_raw},
                {"fsc_launch, grid given", call_grid},
                {"fsc_launch, launch rule", call_rule},
                {"fsc_jit_launch", call_jit}};

static bool calls_time(Calls *c, size_t n) {
    double *times[WAYS] = {NULL}, base = 0;
    bool ok = true;
    for (int w = 0; w < WAYS; w++) ok &= (times[w] = malloc(n * sizeof(double))) != NULL;
    for (size_t i = 0; ok && i < n; i++) {
        for (int w = c->raw ? 0 : 1; ok && w < WAYS; w++) {
            double begin = now();
            ok = ways[w].call(c);
            times[w][i] = (now() - begin) * 1e6;
        }
        if (ok && i % ROUNDS_BETWEEN_WAITS == 0) ok = fsc_stream_wait(c->device, c->stream) == FSC_OK;
    }
    for (int w = c->raw ? 0 : 1; ok && w < WAYS; w++) {
        double ns = median(times[w], n);
        if (w == 0) base = ns;
        printf("%2u arguments  %-24s %8.0f ns", c->nargs, ways[w].what, ns);
        if (base > 0) printf("  %.2f x", ns / base);
        printf("\n");
    }
    for (int w = 0; w < WAYS; w++) free(times[w]);
    return ok;
}

/* One launch as a node of a CUDA graph, replayed twice: y = x * 2 (+ the other arguments' sum). */
static bool calls_capture(Calls *c) {
    void *graph = NULL, *exec = NULL;
    Raw *r = c->raw;
    if (!r || !r->begin || !r->end || !r->instantiate || !r->replay) return true;
    float want = 0;
    for (unsigned i = 4; i < c->nargs; i++) want += (float)i;
    bool ok = fsc_memory_fill(c->device, c->y, 0, N * 4) == FSC_OK && r->begin(c->stream, 2) == 0; /* relaxed */
    ok = ok && call_rule(c) && r->end(c->stream, &graph) == 0 && r->instantiate(&exec, graph, 0) == 0;
    for (int i = 0; i < 2; i++) ok = ok && r->replay(exec, c->stream) == 0;
    ok = ok && fsc_stream_wait(c->device, c->stream) == FSC_OK &&
         fsc_memory_read(c->device, c->host, c->y, N * 4) == FSC_OK;
    for (int i = 0; ok && i < N; i++) ok = c->host[i] == (float)i * 2 + want;
    printf("%2u arguments  captured into a graph and replayed: %s\n", c->nargs, ok ? "right" : "WRONG");
    return ok;
}

static int measure_calls(const char *device, size_t n) {
    Raw raw = {0};
    Calls c = {0};
    bool is_cuda = strncmp(device, "cuda", 4) == 0;
    if (is_cuda && !raw_open(&raw)) return fail("the driver");
    bool ok = fsc_device_open(device, &c.device) == FSC_OK && fsc_stream_create(c.device, &c.stream) == FSC_OK;
    ok = ok && fsc_memory_alloc(c.device, N * 4, &c.x) == FSC_OK && fsc_memory_alloc(c.device, N * 4, &c.y) == FSC_OK;
    ok = ok && (c.host = malloc(N * 4)) != NULL;
    for (int i = 0; ok && i < N; i++) c.host[i] = (float)i;
    ok = ok && fsc_memory_write(c.device, c.x, c.host, N * 4) == FSC_OK;
    c.raw = is_cuda ? &raw : NULL;
    for (int i = 0; ok && i < 2; i++) {
        ok = i ? calls_make(&c, twenty, "twenty", 20) : calls_make(&c, four, "four", 4);
        if (!ok && c.jit) fprintf(stderr, "%s\n", fsc_jit_message(c.jit));
        ok = ok && calls_time(&c, n) && calls_capture(&c);
        fsc_jit_destroy(c.jit);
        c.jit = NULL;
    }
    if (!ok) return fail("a launch");
    free(c.host);
    fsc_memory_free(c.device, c.x);
    fsc_memory_free(c.device, c.y);
    fsc_stream_destroy(c.device, c.stream);
    fsc_device_close(c.device);
    return 0;
}

int main(int argc, char **argv) {
    size_t n = argc > 4 ? strtoul(argv[4], NULL, 10) : 15, calls = argc > 3 ? strtoul(argv[3], NULL, 10) : 20000;
    if (argc > 3 && strcmp(argv[1], "start") == 0 && n > 0 && n <= MOST_RUNS) return measure_start(argv[2], argv[3], n);
    if (argc > 2 && strcmp(argv[1], "calls") == 0 && calls > 0) return measure_calls(argv[2], calls);
    fprintf(stderr,
            "usage: launch start softmax.dsl cuda|cpu|emu [RUNS, up to %d]\n       launch calls cuda|cpu|emu [CALLS]\n",
            MOST_RUNS);
    return 2;
}

/* fuzz_ptx.c - fuzzes source -> PTX (and the other targets' code): what passes the check compiles, or says why not.
 *
 * In: an input of libFuzzer. Out: a crash for every compile that ends in anything but success or errors of the user's:
 * a bug, a signal, an exit of LLVM's, more than SECONDS of processor time, more than MEGABYTES of memory.
 * Method: the front half runs here; a kernel that passes it is compiled in a child process. What the child covers comes
 * back through shared memory and is counted as this process's own.
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "fuzz.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Sanitizers slow a compile down about fourfold: SECONDS here is 2 for what users run. */
enum { SECONDS = 8, MEGABYTES = 768, EXIT_BUG = 70 };

/* The counters of -fsanitize=fuzzer-no-link: those of the whole program lie in one section. */
extern uint8_t __start___sancov_cntrs[], __stop___sancov_cntrs[];

static uint8_t *shared;
static size_t counters;

/* One of the targets, chosen by the input itself so that it is the same each time. */
static const struct {
    const char *arch;
    fsc_emit emit;
} targets[] = {{"sm_75", FSC_EMIT_PTX}, {"sm_80", FSC_EMIT_PTX}, {"sm_90", FSC_EMIT_PTX}, {"sm_120", FSC_EMIT_PTX},
               {"sm_90", FSC_EMIT_PTX}, {"sm_80", FSC_EMIT_PTX}, {"emu", FSC_EMIT_LLVM},  {"cpu", FSC_EMIT_ASM}};

/* Exit code 0, or EXIT_BUG with the messages on stderr. */
static int compile(const uint8_t *data, size_t size, const char *kernel) {
    FuzzOptions f;
    fsc_compile_options o;
    fsc_name_value defines[FUZZ_WORDS], types[FUZZ_WORDS];
    uint32_t h = fuzz_hash(data, size);
    fuzz_options(data, size, kernel, &f);
    for (uint32_t i = 0; i < f.num_defines; i++) defines[i] = (fsc_name_value){f.defines[i].name, f.defines[i].value};
    for (uint32_t i = 0; i < f.num_types; i++) types[i] = (fsc_name_value){f.types[i].name, f.types[i].value};
    fsc_compile_options_init(&o);
    o.file = fuzz_mode(data, size) == SYNTAX_PYTHON ? "fuzz.py" : "fuzz.dsl";
    o.arch = targets[h % COUNT(targets)].arch;
    o.emit = targets[h % COUNT(targets)].emit;
    o.opt_level = h >> 8 & 1 ? 2 : (int)(h >> 9 & 3);
    o.fast_math = (h >> 11 & 7) == 0;
    o.verify_each = (h >> 14 & 3) == 0;
    o.kernel = kernel;
    o.signature = f.signature;
    o.defines = defines, o.num_defines = f.num_defines;
    o.types = types, o.num_types = f.num_types;
    o.config = f.config, o.num_warps = f.num_warps, o.num_stages = f.num_stages;
    fsc_compilation *c = NULL;
    fsc_status s = fsc_compile(&o, (const char *)data, size, &c);
    bool said = s == FSC_OK || fsc_compilation_diagnostics(c)[0];
    if ((s == FSC_OK || s == FSC_ERROR_SOURCE || s == FSC_ERROR_USAGE) && said) return 0;
    fprintf(stderr, "fuzz_ptx: --arch=%s -O%d: status %d: %s\n", o.arch, o.opt_level, (int)s,
            fsc_compilation_diagnostics(c));
    return EXIT_BUG;
}

static size_t resident_megabytes(pid_t child) {
    char path[64];
    unsigned long pages = 0;
    snprintf(path, sizeof path, "/proc/%ld/statm", (long)child);
    FILE *f = fopen(path, "r");
    if (!f) return 0;
    if (fscanf(f, "%*u %lu", &pages) != 1) pages = 0;
    fclose(f);
    return pages * (size_t)sysconf(_SC_PAGESIZE) >> 20;
}

/* Waits for the child, and looks at its memory now and then. NULL, or what is wrong with how it ended. */
static const char *watch(pid_t child, size_t before) {
    static char text[64];
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    for (int status;;) {
        pid_t got = waitpid(child, &status, WNOHANG);
        if (got == child && WIFEXITED(status) && WEXITSTATUS(status) == 0) return NULL;
        if (got == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU) return "too slow";
        if (got == child || got < 0) {
            snprintf(text, sizeof text, WIFSIGNALED(status) ? "ended by signal %d" : "exit code %d",
                     WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
            return text;
        }
        struct timespec t = {.tv_nsec = 20000000};
        sigtimedwait(&set, NULL, &t);
        if (resident_megabytes(child) <= before + MEGABYTES) continue;
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
        return "too much memory";
    }
}

/* For the tests of the fuzzer: each way to fail that watch() must see. */
static void fail_on_purpose(const char *how) {
    if (strcmp(how, "signal") == 0) raise(SIGKILL);
    if (strcmp(how, "exit") == 0) exit(1);
    if (strcmp(how, "bug") == 0) bug("planted");
    while (strcmp(how, "slow") == 0) clock();
    while (strcmp(how, "memory") == 0) {
        static void *volatile block; /* else nothing is allocated at all */
        block = calloc(1, 1 << 20);
        if (block) memset(block, 1, 1 << 20);
    }
}

static void run_child(const uint8_t *data, size_t size, const char *kernel) {
    struct rlimit seconds = {SECONDS, SECONDS + 1};
    signal(SIGXCPU, SIG_DFL);
    setrlimit(RLIMIT_CPU, &seconds);
    const char *how = getenv("FUZZ_PLANT");
    if (how) fail_on_purpose(how);
    int code = compile(data, size, kernel);
    memcpy(shared, __start___sancov_cntrs, counters);
    _exit(code);
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    static const char warm[] = "@kernel(grid=(1,))\ndef k(x: *fp32):\n    store(x + arange(0, 128), exp(1.5))\n";
    counters = (size_t)(__stop___sancov_cntrs - __start___sancov_cntrs);
    shared = mmap(NULL, counters, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) bug("no shared memory");
    sigset_t set; /* watch() takes it */
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigprocmask(SIG_BLOCK, &set, NULL);
    for (size_t i = 0; i < COUNT(targets); i++) { /* LLVM's targets are set up once, here */
        fsc_compile_options o;
        fsc_compilation *c = NULL;
        fsc_compile_options_init(&o);
        o.arch = targets[i].arch;
        o.emit = targets[i].emit;
        if (fsc_compile(&o, warm, sizeof warm - 1, &c) != FSC_OK) bug("%s", fsc_compilation_diagnostics(c));
        fsc_compilation_destroy(c);
    }
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char kernel[64];
    if (!fuzz_front(data, size, kernel)) return 0;
    size_t before = resident_megabytes(getpid());
    memset(shared, 0, counters);
    pid_t child = fork();
    if (child < 0) bug("no child process");
    if (child == 0) run_child(data, size, kernel);
    const char *wrong = watch(child, before);
    if (wrong) bug("the compile of kernel %s: %s", kernel, wrong);
    memcpy(__start___sancov_cntrs, shared, counters);
    return 0;
}

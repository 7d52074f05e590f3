/* ptxas.c - NVIDIA's assembler as a process: PTX text in, cubin bytes and its -v report out.
 *
 * fsc needs ptxas for nothing but --emit=cubin and for registers where there is no driver. It is looked for in
 * $FSC_PTXAS, PATH, $CUDA_HOME, the usual place of a toolkit, and in a build tree what `bootstrap --with-ptxas`
 * unpacks. What goes in and comes out lies in memory, behind descriptors that the process inherits: no file is left,
 * whatever happens.
 */
#define _GNU_SOURCE
#include "codegen/nvptx/nvptx.h"

#include "runtime/base/ascii.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* The descriptors of ptxas, and the first that is none of them. */
enum { PTXAS_IN = 3, PTXAS_OUT, PTXAS_FREE };

/* What is handed to ptxas. */
typedef struct Files {
    int in, out, log;
} Files;

static char found[PATH_MAX];
static pthread_once_t find_once = PTHREAD_ONCE_INIT;

static bool try_path(const char *folder, size_t n, const char *rest) {
    if (snprintf(found, sizeof found, "%.*s%s", (int)n, folder, rest) < (int)sizeof found && access(found, X_OK) == 0)
        return true;
    found[0] = '\0';
    return false;
}

/* What `bootstrap --with-ptxas` fetched, for a program that lies in the folder where this was built. Beside a program
 * anywhere else, such as one from an archive in a folder of many users, anybody may have put a ptxas. */
static bool try_build_tree(void) {
    static const char build[] = FSC_BUILD_FOLDER "/";
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self);
    bool is_here = n > (ssize_t)(sizeof build - 1) && memcmp(self, build, sizeof build - 1) == 0;
    return is_here && try_path(FSC_FETCHED_PTXAS, strlen(FSC_FETCHED_PTXAS), "");
}

static void find_ptxas(void) {
    const char *named = getenv("FSC_PTXAS"), *home = getenv("CUDA_HOME"), *path = getenv("PATH");
    if (named && *named) {
        (void)try_path(named, strlen(named), "");
        return;
    }
    for (const char *p = path; p && *p;) {
        size_t n = strcspn(p, ":");
        if (n && try_path(p, n, "/ptxas")) return;
        p += n + (p[n] == ':');
    }
    if (home && try_path(home, strlen(home), "/bin/ptxas")) return;
    if (try_path("/usr/local/cuda", 15, "/bin/ptxas")) return;
    (void)try_build_tree();
}

const char *ptxas_find(void) {
    pthread_once(&find_once, find_ptxas);
    return found[0] ? found : NULL;
}

/* A file without a name, closed in other processes, and none of the numbers that ptxas gets; -1 on failure. */
static int memory_file(const char *what) {
    int low = memfd_create(what, MFD_CLOEXEC), file = low < 0 ? -1 : fcntl(low, F_DUPFD_CLOEXEC, PTXAS_FREE);
    if (low >= 0) (void)close(low);
    return file;
}

static bool write_all(int file, const char *data, size_t n) {
    for (size_t done = 0; done < n;) {
        ssize_t put = write(file, data + done, n - done);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return false;
        done += (size_t)put;
    }
    return true;
}

static bool read_all(int file, Text *out) {
    char chunk[4096];
    for (off_t at = 0;;) {
        ssize_t n = pread(file, chunk, sizeof chunk, at);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return n == 0;
        text_write(out, chunk, (size_t)n);
        at += n;
    }
}

enum { NOT_RUN = -1, STATUS_UNKNOWN = -2 };

/* Runs argv with both output streams into the log, to its end: the exit status; NOT_RUN, also where a signal ended it;
 * or STATUS_UNKNOWN where the host program ignores SIGCHLD, or waits for all children itself. */
static int run_logged(char *const argv[], const Files *f) {
    posix_spawn_file_actions_t actions;
    if (posix_spawn_file_actions_init(&actions) != 0) return NOT_RUN;
    pid_t child = 0;
    int status = -1;
    bool ok = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0) == 0 &&
              posix_spawn_file_actions_adddup2(&actions, f->log, 1) == 0 &&
              posix_spawn_file_actions_adddup2(&actions, f->log, 2) == 0 &&
              posix_spawn_file_actions_adddup2(&actions, f->in, PTXAS_IN) == 0 &&
              posix_spawn_file_actions_adddup2(&actions, f->out, PTXAS_OUT) == 0 &&
              posix_spawn(&child, argv[0], &actions, NULL, argv, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    if (!ok) return NOT_RUN;
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) return errno == ECHILD ? STATUS_UNKNOWN : NOT_RUN;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : NOT_RUN;
}

/* Whether the file has all that its header speaks of: ptxas came to its end. */
static bool is_whole_cubin(const Text *t) {
    Elf64_Ehdr h;
    if (t->len < sizeof h || memcmp(t->at, ELFMAG, SELFMAG) != 0) return false;
    memcpy(&h, t->at, sizeof h);
    size_t sections = (size_t)h.e_shnum * h.e_shentsize, segments = (size_t)h.e_phnum * h.e_phentsize;
    return sections && h.e_shoff <= t->len && sections <= t->len - h.e_shoff && h.e_phoff <= t->len &&
           segments <= t->len - h.e_phoff;
}

/* Runs ptxas; true: `cubin` is what it made. */
static bool assemble(char *const argv[], const Files *f, Text *cubin) {
    int status = run_logged(argv, f);
    if (status != 0 && status != STATUS_UNKNOWN) return false;
    return read_all(f->out, cubin) && cubin->len && (status == 0 || is_whole_cubin(cubin));
}

/* The first number before these words of the report, as in "26 registers"; 0: it is not there. */
static uint32_t number(const char *report, const char *words) {
    for (const char *next = report ? strstr(report, words) : NULL; next; next = strstr(next + 1, words)) {
        const char *at = next;
        while (at > report && is_space(at[-1])) at--;
        const char *end = at;
        while (at > report && is_digit(at[-1])) at--;
        if (at < end) return (uint32_t)strtoul(at, NULL, 10);
    }
    return 0;
}

bool ptxas_run(const Target *t, Bytes ptx, int opt_level, Assembled *out) {
    const char *tool = ptxas_find();
    if (!tool) {
        text_printf(&out->report, "no ptxas found; put it on PATH, set FSC_PTXAS, or run ./bootstrap --with-ptxas");
        return false;
    }
    char level[8], target[32];
    snprintf(level, sizeof level, "-O%d", opt_level < 1 ? 0 : 3);
    snprintf(target, sizeof target, "-arch=%s", t->name);
    char from[32], to[32];
    snprintf(from, sizeof from, "/proc/self/fd/%d", PTXAS_IN);
    snprintf(to, sizeof to, "/proc/self/fd/%d", PTXAS_OUT);
    char *argv[] = {(char *)(uintptr_t)tool, "-v", level, target, from, "-o", to, NULL};
    Files f = {memory_file("in.ptx"), memory_file("out.cubin"), memory_file("log")};
    bool done =
        f.in >= 0 && f.out >= 0 && f.log >= 0 && write_all(f.in, ptx.at, ptx.len) && assemble(argv, &f, &out->binary);
    if (f.log >= 0) (void)read_all(f.log, &out->report);
    out->registers = number(out->report.at, "registers");
    out->spill_bytes = number(out->report.at, "bytes spill stores");
    if (!done && out->report.len == 0)
        text_printf(&out->report, "%s could not be run, or is no ptxas: it wrote nothing", tool);
    for (int i = 0; i < 3; i++) {
        int file = (int[]){f.in, f.out, f.log}[i];
        if (file >= 0) (void)close(file);
    }
    return done;
}

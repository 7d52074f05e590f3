/* explore.c - `fsc explore FILE`: the page of `fsc viz` in a browser, made anew whenever a file changes.
 *
 * In: a file, what its parameters are. Out: a server (server.h) until Ctrl-C.
 * Method: one loop that waits for everything: clients, a compile, a signal, a tenth of a second. A compile is a process
 * of its own: what it prints is shown, a mistake of the compiler ends it alone, and one whose file has changed again is
 * stopped. It says which files it has read.
 */
#include "tool/explore/server.h"
#include "tool/tool.h"
#include "tool/viz/page.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OUT_PAGE, OUT_MESSAGES, OUT_FILES, OUTS };
enum { TICK = 100 /* milliseconds */ };

typedef struct Explore {
    ToolOptions *o;
    Server server;
    Text page;     /* that is served */
    uint32_t made; /* pages so far */
    pid_t child;   /* 0: none */
    int from[OUTS];
    Text outs[OUTS];
    VEC(const char *) files; /* that are watched */
    uint64_t seen, stamp;    /* of the files: at the last look, and as the last compile began */
} Explore;

/* ---- Signals ----------------------------------------------------------------------------------------------------- */

static int bell[2]; /* a byte for each signal */

static void on_signal(int number) {
    int kept = errno;
    char byte = (char)number;
    ssize_t n = write(bell[1], &byte, 1);
    (void)n;
    errno = kept;
}

static const int ends[] = {SIGINT, SIGTERM, SIGHUP};

/* What is ignored, as by nohup, stays so. */
static bool hear_signals(void) {
    struct sigaction act = {.sa_handler = on_signal}, before;
    sigemptyset(&act.sa_mask);
    bool ok = pipe(bell) == 0 && fcntl(bell[1], F_SETFL, O_NONBLOCK) == 0;
    for (size_t i = 0; i < COUNT(ends) && ok; i++) {
        ok = sigaction(ends[i], NULL, &before) == 0;
        if (ok && before.sa_handler != SIG_IGN) ok = sigaction(ends[i], &act, NULL) == 0;
    }
    if (!ok) fprintf(stderr, "fsc explore: no signals: %s\n", strerror(errno));
    return ok;
}

/* ---- Files ------------------------------------------------------------------------------------------------------- */

static void watch(Explore *e, const char *path, size_t n) {
    for (size_t i = 0; i < e->files.len; i++)
        if (strlen(e->files.at[i]) == n && memcmp(e->files.at[i], path, n) == 0) return;
    vec_push(e->o->arena, &e->files, arena_strndup(e->o->arena, path, n));
}

/* Differs when a file has changed, or another one has its name. */
static uint64_t stamp_of(const Explore *e) {
    uint64_t hash = 0;
    for (size_t i = 0; i < e->files.len; i++) {
        struct stat st;
        if (stat(e->files.at[i], &st) != 0) st = (struct stat){.st_size = -1};
        const uint64_t parts[] = {(uint64_t)st.st_mtim.tv_sec, (uint64_t)st.st_mtim.tv_nsec, (uint64_t)st.st_size,
                                  (uint64_t)st.st_ino};
        for (size_t k = 0; k < COUNT(parts); k++)
            hash = (hash ^ parts[k]) * UINT64_C(0x9E3779B97F4A7C15) + (hash >> 29);
    }
    return hash;
}

/* ---- A compile --------------------------------------------------------------------------------------------------- */

/* In the new process: the page, messages and names of files go to the pipes. */
static void compile_here(Explore *e, int to[OUTS]) {
    static const struct sigaction as_ever = {.sa_handler = SIG_DFL};
    ToolOptions o = *e->o;
    for (size_t i = 0; i < COUNT(ends); i++) (void)sigaction(ends[i], &as_ever, NULL);
    server_close(&e->server);
    bool ok = dup2(to[OUT_PAGE], STDOUT_FILENO) >= 0 && dup2(to[OUT_MESSAGES], STDERR_FILENO) >= 0;
    o.output = "-";
    o.live = e->made + 1;
    ExitCode code = ok ? command_viz(&o) : EXIT_ENVIRONMENT;
    code = file_finish(code);
    for (size_t i = 0; i < o.imported.len; i++) dprintf(to[OUT_FILES], "%s\n", o.imported.at[i]);
    (void)fflush(NULL);
    _exit((int)code);
}

static bool start(Explore *e) {
    int to[OUTS];
    for (int i = 0; i < OUTS; i++) {
        int ends_of[2];
        if (pipe(ends_of) != 0) return false; /* with the process */
        e->from[i] = ends_of[0];
        to[i] = ends_of[1];
        text_free(&e->outs[i]);
        (void)fcntl(e->from[i], F_SETFL, O_NONBLOCK);
    }
    (void)fflush(NULL);
    e->stamp = e->seen = stamp_of(e);
    e->child = fork();
    if (e->child == 0) compile_here(e, to);
    for (int i = 0; i < OUTS; i++) close(to[i]);
    server_tell(&e->server, "busy", e->made + 1);
    return e->child > 0;
}

static void close_pipes(Explore *e) {
    for (int i = 0; i < OUTS; i++) {
        if (e->from[i] >= 0) close(e->from[i]);
        e->from[i] = -1;
    }
}

static void stop(Explore *e) {
    if (e->child > 0) {
        kill(e->child, SIGKILL);
        (void)waitpid(e->child, NULL, 0);
    }
    e->child = 0;
    close_pipes(e);
}

/* What there is to read. */
static void collect(Explore *e, int which) {
    char bytes[65536];
    ssize_t n;
    while ((n = read(e->from[which], bytes, sizeof bytes)) > 0) text_write(&e->outs[which], bytes, (size_t)n);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    close(e->from[which]);
    e->from[which] = -1;
}

/* The process has ended: its page, or one with what it said. */
static void finish(Explore *e) {
    int status = 0;
    while (waitpid(e->child, &status, 0) < 0 && errno == EINTR) continue;
    e->child = 0;
    for (const char *at = e->outs[OUT_FILES].at; at && *at; at += strcspn(at, "\n") + 1)
        watch(e, at, strcspn(at, "\n"));
    e->stamp = e->seen = e->files.len && e->stamp == e->seen ? stamp_of(e) : e->stamp;
    const char *said = e->outs[OUT_MESSAGES].at ? e->outs[OUT_MESSAGES].at : "";
    fputs(said, stderr);
    text_free(&e->page);
    e->made++;
    if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_DONE) {
        text_write(&e->page, e->outs[OUT_PAGE].at, e->outs[OUT_PAGE].len);
    } else {
        Text text = {0};
        text_printf(&text, "%s", said);
        if (WIFSIGNALED(status)) text_printf(&text, "the compiler was ended by signal %d\n", WTERMSIG(status));
        viz_problem_page(&e->page, e->o->words.at[0], "does not compile", text.at ? text.at : "", e->made);
        text_free(&text);
    }
    e->server.version = e->made;
    server_tell(&e->server, NULL, e->made);
}

/* A compile of files that stand still: half of a file that an editor writes is none. */
static bool look(Explore *e) {
    uint64_t now = stamp_of(e);
    bool is_still = now == e->seen, is_other = now != e->stamp;
    e->seen = now;
    if (!is_still || !is_other) return true;
    stop(e);
    return start(e);
}

/* ---- The loop ---------------------------------------------------------------------------------------------------- */

static bool turn(Explore *e, bool *goes_on) {
    struct pollfd wants[1 + OUTS + 1 + SERVER_CLIENTS];
    wants[0] = (struct pollfd){.fd = bell[0], .events = POLLIN};
    for (int i = 0; i < OUTS; i++) wants[1 + i] = (struct pollfd){.fd = e->from[i], .events = POLLIN};
    size_t n = 1 + OUTS + server_wants(&e->server, wants + 1 + OUTS);
    if (poll(wants, (nfds_t)n, TICK) < 0 && errno != EINTR) return false;
    *goes_on = !(wants[0].revents & POLLIN);
    bool has_child = e->child > 0;
    for (int i = 0; i < OUTS; i++)
        if (e->from[i] >= 0 && wants[1 + i].revents) collect(e, i);
    if (has_child && e->from[OUT_PAGE] < 0 && e->from[OUT_MESSAGES] < 0 && e->from[OUT_FILES] < 0) finish(e);
    server_turn(&e->server, wants + 1 + OUTS);
    return !*goes_on || look(e);
}

static ExitCode serve(Explore *e) {
    bool goes_on = true, ok = start(e);
    while (goes_on && ok) ok = turn(e, &goes_on);
    if (!ok) fprintf(stderr, "fsc explore: %s\n", strerror(errno));
    server_tell(&e->server, "end", e->made);
    return ok ? EXIT_DONE : EXIT_ENVIRONMENT;
}

ExitCode command_explore(ToolOptions *o) {
    size_t length = 0;
    const char *file = o->words.len ? o->words.at[0] : "-";
    if (strcmp(file, "-") == 0) {
        fprintf(stderr, "fsc explore: %s; 'fsc explore --help' says how to call it\n",
                o->words.len ? "standard input cannot be watched; give a file" : "no input file");
        return EXIT_CALL;
    }
    char *text = file_read(file, &length); /* is it there? */
    free(text);
    if (!text) return EXIT_INPUT;
    Explore *e = NEW(o->arena, Explore);
    *e = (Explore){.o = o, .from = {-1, -1, -1}};
    e->server.page = &e->page;
    watch(e, file, strlen(file));
    viz_problem_page(&e->page, file, "is compiled", "", 0);
    ExitCode code = hear_signals() && server_open(&e->server, (uint16_t)o->port) ? EXIT_DONE : EXIT_ENVIRONMENT;
    if (code == EXIT_DONE) {
        printf("http://127.0.0.1:%u/%s/\n", e->server.port, e->server.secret);
        (void)fflush(stdout);
        code = serve(e);
    }
    stop(e);
    server_close(&e->server);
    text_free(&e->page);
    for (int i = 0; i < OUTS; i++) text_free(&e->outs[i]);
    return code;
}

/* file.c - the one place where the tool reads and writes whole files.
 *
 * In: names. Out: text; files that are written whole, or left as they were.
 * Method: files that were read, and those that will be written, are known by device and inode, or by folder and name,
 * so that no output takes the place of an input or of another output. A regular file is written under a random name
 * beside it, which is nobody else's (O_EXCL), and renamed; a signal that ends the process removes that name first. A
 * symbolic link stays, and what it points to is written. Standard output, by any name, and what is no regular file are
 * written as they are.
 */
#define _GNU_SOURCE
#include "tool/tool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_TEXT = 64 << 20, MOST_LINKS = 40, MOST_TRIES = 16, TEMPORARY = 32 };

/* ---- Which files are used ---------------------------------------------------------------------------------------- */

/* A file by what it is; one that is not there yet by its place. */
typedef struct Identity {
    bool is_there, has_place;
    struct stat file, folder;
    char name[NAME_MAX + 1]; /* in the folder */
} Identity;

typedef struct Used {
    Identity id;
    char *path; /* as the call names it; owned */
    bool is_output, is_update;
} Used;

static Used *used;
static size_t num_used;

static bool same_inode(const struct stat *a, const struct stat *b) {
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool is_same(const Identity *a, const Identity *b) {
    if (a->is_there && b->is_there && same_inode(&a->file, &b->file)) return true;
    return a->has_place && b->has_place && same_inode(&a->folder, &b->folder) && strcmp(a->name, b->name) == 0;
}

static void remember(const char *path, const Identity *id, bool is_output, bool is_update) {
    Used *more = realloc(used, (num_used + 1) * sizeof *used);
    char *copy = strdup(path);
    if (!more || !copy) bug("out of memory: the names of %zu files", num_used + 1);
    used = more;
    used[num_used++] = (Used){*id, copy, is_output, is_update};
}

void file_input(const char *path, int file) {
    Identity id = {.is_there = fstat(file, &id.file) == 0};
    if (id.is_there && S_ISREG(id.file.st_mode)) remember(path, &id, false, false);
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

/* `path` without its last name: where that name is; "." for none. */
static void folder_of(const char *path, char out[PATH_MAX]) {
    const char *slash = strrchr(path, '/');
    size_t n = !slash ? 1 : slash == path ? 1 : (size_t)(slash - path);
    memcpy(out, slash ? path : ".", n);
    out[n] = '\0';
}

static char *refuse_text(const char *path, char *text, const char *why) {
    fprintf(stderr, "fsc: cannot read '%s': %s\n", path, why);
    free(text);
    return NULL;
}

/* All of it, as far as a source may go: a device may have no end. */
static char *read_text(const char *path, FILE *f, size_t *length) {
    size_t len = 0, cap = 1 << 16;
    char *text = malloc(cap);
    while (text) {
        len += fread(text + len, 1, cap - len - 1, f);
        if (len + 1 < cap || len > MOST_TEXT) break;
        cap *= 2;
        char *more = realloc(text, cap);
        if (!more) free(text);
        text = more;
    }
    if (!text) return refuse_text(path, text, "out of memory");
    if (ferror(f)) return refuse_text(path, text, strerror(errno));
    if (len > MOST_TEXT) return refuse_text(path, text, "it goes on beyond 64 MB, the most that a source may have");
    text[len] = '\0';
    *length = len;
    return text;
}

static bool is_source(const char *name) {
    const char *dot = strrchr(name, '.');
    return dot && dot != name && (!strcmp(dot, ".dsl") || !strcmp(dot, ".py") || !strcmp(dot, ".ir"));
}

static int by_name(const void *x, const void *y) {
    return strcmp(*(char *const *)x, *(char *const *)y);
}

/* The source in the folder that was meant: called so but for what follows the dot, or nearly so. NULL: none. */
static char *find_meant(const char *folder, const char *name) {
    VEC(char *) names = {0};
    Arena *a = arena_create();
    DIR *d = opendir(folder);
    const char *found = NULL;
    size_t stem = is_source(name) ? (size_t)(strrchr(name, '.') - name) : strlen(name);
    for (const struct dirent *e; d && (e = readdir(d));)
        if (is_source(e->d_name)) vec_push(a, &names, arena_strndup(a, e->d_name, strlen(e->d_name)));
    if (names.len) qsort(names.at, names.len, sizeof *names.at, by_name);
    for (uint32_t i = 0; i < names.len && !found; i++)
        if (strncmp(names.at[i], name, stem) == 0 && names.at[i] + stem == strrchr(names.at[i], '.'))
            found = names.at[i];
    if (!found) found = nearest_name(name, (const char *const *)names.at, names.len);
    char *meant = found ? strdup(found) : NULL;
    if (d) closedir(d);
    arena_destroy(a);
    return meant;
}

/* Why not, and what was meant, perhaps. */
static void say_closed(const char *path, int why) {
    char folder[PATH_MAX] = "";
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    fprintf(stderr, "fsc: cannot open '%s': %s", path, strerror(why));
    if (why == ENOENT && strlen(path) < sizeof folder) {
        folder_of(path, folder);
        char *meant = find_meant(folder, name);
        if (access(folder, F_OK) != 0) fprintf(stderr, "; there is no folder '%s'", folder);
        else if (meant) fprintf(stderr, "; did you mean '%.*s%s'?", (int)(name - path), path, meant);
        else fprintf(stderr, "; FILE is the path of a .dsl, .py or .ir file");
        free(meant);
    }
    fprintf(stderr, "\n");
}

const char *tool_path(const ToolOptions *o, const char *path) {
    bool is_own = !o->folder || path[0] == '/' || strcmp(path, "-") == 0;
    return is_own ? path : arena_printf(o->arena, "%s/%s", o->folder, path);
}

char *file_read(const char *path, size_t *length) {
    bool is_stdin = strcmp(path, "-") == 0;
    FILE *f = is_stdin ? stdin : fopen(path, "rb");
    struct stat st;
    char *text = NULL;
    if (!f) {
        say_closed(path, errno);
        return NULL;
    }
    if (fstat(fileno(f), &st) == 0 && S_ISDIR(st.st_mode)) {
        fprintf(stderr, "fsc: '%s' is a directory; name a .dsl, .py or .ir file\n", path);
    } else {
        file_input(is_stdin ? "standard input" : path, fileno(f));
        text = read_text(path, f, length);
    }
    if (!is_stdin) fclose(f);
    return text;
}

/* ---- Where a name leads ------------------------------------------------------------------------------------------ */

typedef struct Target {
    Identity id;
    bool is_stdout, is_special; /* special: opened and written as it is */
    int folder;                 /* open, with id.name in it; -1: none */
} Target;

static ExitCode refuse(const char *path, ExitCode code, const char *why) {
    fprintf(stderr, "fsc: cannot write '%s': %s\n", path, why);
    return code;
}

/* Where everybody may make links, only those of the caller and of the folder's owner are followed:
 * the kernel's own rule. */
static bool is_planted(const struct stat *link, const struct stat *folder) {
    bool is_shared = (folder->st_mode & S_ISVTX) && (folder->st_mode & S_IWOTH);
    return is_shared && link->st_uid != geteuid() && link->st_uid != folder->st_uid;
}

/* Follows links, those of files that are not there, too: the folder and the name where the file is or would be. */
static ExitCode follow(const char *path, Target *t) {
    char at[PATH_MAX], folder[PATH_MAX], link[PATH_MAX];
    if (strlen(path) >= sizeof at) return refuse(path, EXIT_ENVIRONMENT, strerror(ENAMETOOLONG));
    memcpy(at, path, strlen(path) + 1);
    for (int links = 0; links <= MOST_LINKS; links++) {
        folder_of(at, folder);
        const char *slash = strrchr(at, '/'), *name = slash ? slash + 1 : at;
        if (!*name) return refuse(path, EXIT_CALL, "it is the name of a folder");
        if (strlen(name) > NAME_MAX) return refuse(path, EXIT_ENVIRONMENT, strerror(ENAMETOOLONG));
        memcpy(t->id.name, name, strlen(name) + 1);
        t->folder = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (t->folder < 0 || fstat(t->folder, &t->id.folder) != 0)
            return refuse(path, EXIT_ENVIRONMENT, strerror(errno));
        t->id.has_place = true;
        t->id.is_there = fstatat(t->folder, name, &t->id.file, AT_SYMLINK_NOFOLLOW) == 0;
        if (!t->id.is_there || !S_ISLNK(t->id.file.st_mode)) return EXIT_DONE;
        if (is_planted(&t->id.file, &t->id.folder))
            return refuse(path, EXIT_CALL,
                          "it is another user's symbolic link in a folder that everybody may write to; remove it, or "
                          "name another file");
        ssize_t n = readlinkat(t->folder, name, link, sizeof link - 1);
        (void)close(t->folder);
        t->folder = -1;
        if (n < 0) return refuse(path, EXIT_ENVIRONMENT, strerror(errno));
        link[n] = '\0';
        int length =
            link[0] == '/' ? snprintf(at, sizeof at, "%s", link) : snprintf(at, sizeof at, "%s/%s", folder, link);
        if (length >= (int)sizeof at) return refuse(path, EXIT_ENVIRONMENT, strerror(ENAMETOOLONG));
    }
    return refuse(path, EXIT_ENVIRONMENT, strerror(ELOOP));
}

static ExitCode find_target(const char *path, Target *t) {
    struct stat out, st;
    bool has_out = fstat(STDOUT_FILENO, &out) == 0, is_there = stat(path, &st) == 0;
    *t = (Target){.folder = -1};
    t->is_stdout = strcmp(path, "-") == 0 || (is_there && has_out && same_inode(&st, &out));
    if (t->is_stdout) {
        t->id.is_there = has_out && S_ISREG(out.st_mode);
        t->id.file = out;
        return EXIT_DONE;
    }
    if (is_there && S_ISDIR(st.st_mode)) return refuse(path, EXIT_CALL, "it is a directory; name a file");
    t->is_special = is_there && !S_ISREG(st.st_mode);
    ExitCode code = t->is_special ? EXIT_DONE : follow(path, t);
    if (code != EXIT_DONE || t->is_special) return code;
    /* a descriptor's file, which has lost its name */
    t->is_special = is_there && !(t->id.is_there && same_inode(&st, &t->id.file));
    if (t->is_special || !t->id.is_there) return EXIT_DONE;
    bool is_read_only = (t->id.file.st_mode & 0222) == 0 ||
                        (faccessat(t->folder, t->id.name, W_OK, AT_EACCESS) != 0 && errno == EACCES);
    return is_read_only ? refuse(path, EXIT_ENVIRONMENT, "the file is read-only; chmod u+w it, or name another file")
                        : EXIT_DONE;
}

/* Whether the file is one that was read, or another output. `is_update`: it was read once, to be written back. */
static ExitCode check_alone(const char *path, const Target *t, bool is_update, const Used *own) {
    for (size_t i = 0; i < num_used; i++) {
        const Used *u = &used[i];
        if (u == own || !is_same(&t->id, &u->id) || (u->is_output && t->is_stdout)) continue;
        if (!u->is_output && is_update) {
            is_update = false;
            continue;
        }
        if (u->is_output)
            fprintf(stderr, "fsc: '%s' and '%s' are one file; each output needs its own\n", u->path, path);
        else
            fprintf(stderr, "fsc: the output '%s' would overwrite '%s', which is read; name another file\n", path,
                    u->path);
        return EXIT_CALL;
    }
    return EXIT_DONE;
}

static void release(Target *t) {
    if (t->folder >= 0) (void)close(t->folder);
    t->folder = -1;
}

ExitCode file_claim(const char *path, bool is_update) {
    Target t;
    ExitCode code = find_target(path, &t);
    if (code == EXIT_DONE) code = check_alone(path, &t, is_update, NULL);
    if (code == EXIT_DONE) remember(path, &t.id, true, is_update);
    release(&t);
    return code;
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

/* The temporary file that is being written: what a signal removes. */
static struct {
    int folder;
    char name[TEMPORARY];
} pending;
static atomic_bool is_pending;

static void on_signal(int number) {
    if (atomic_exchange(&is_pending, false)) (void)unlinkat(pending.folder, pending.name, 0);
    (void)raise(number); /* by now the default: it ends the process */
}

/* Those that would end the process; one that is ignored, as under nohup, stays so. */
static void catch_signals(void) {
    static const int numbers[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU, SIGXFSZ};
    struct sigaction before, now = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&now.sa_mask);
    for (size_t i = 0; i < COUNT(numbers); i++)
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            (void)sigaction(numbers[i], &now, NULL);
}

/* A new file under a name that nobody can foresee; -1 on failure. */
static int open_temporary(int folder) {
    int file = -1;
    catch_signals();
    for (int i = 0; i < MOST_TRIES && file < 0; i++) {
        uint64_t bits = 0;
        if (getrandom(&bits, sizeof bits, 0) != (ssize_t)sizeof bits) return -1;
        pending.folder = folder;
        snprintf(pending.name, sizeof pending.name, ".fsc-%016llx", (unsigned long long)bits);
        atomic_store(&is_pending, true);
        file = openat(folder, pending.name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (file < 0) atomic_store(&is_pending, false);
        if (file < 0 && errno != EEXIST) break;
    }
    return file;
}

static bool put(int file, const char *data, size_t length) {
    for (size_t done = 0; done < length;) {
        ssize_t n = write(file, data + done, length - done);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        done += (size_t)n;
    }
    return true;
}

/* Beside the target, then in its place, with its owner and mode. */
static bool replace(const Target *t, const char *data, size_t length) {
    int file = open_temporary(t->folder);
    if (file < 0) return false;
    const struct stat *before = &t->id.file;
    if (t->id.is_there && fchown(file, before->st_uid, before->st_gid) == 0) (void)fchmod(file, before->st_mode & 0777);
    bool ok = put(file, data, length);
    int error = errno;
    if (close(file) != 0 && ok) {
        ok = false;
        error = errno;
    }
    if (ok && renameat(t->folder, pending.name, t->folder, t->id.name) != 0) {
        ok = false;
        error = errno;
    }
    if (!ok) (void)unlinkat(t->folder, pending.name, 0);
    atomic_store(&is_pending, false);
    errno = error;
    return ok;
}

/* A device, a pipe, a file without a name. */
static bool write_special(const char *path, const char *data, size_t length) {
    int file = open(path, O_WRONLY | O_TRUNC | O_NOCTTY | O_CLOEXEC);
    bool ok = file >= 0 && put(file, data, length);
    return file >= 0 && close(file) == 0 && ok;
}

static bool write_stdout(const char *data, size_t length) {
    return fwrite(data, 1, length, stdout) == length && fflush(stdout) == 0;
}

ExitCode file_write(const char *path, const char *data, size_t length) {
    Target t;
    const Used *own = NULL;
    for (size_t i = 0; i < num_used && !own; i++)
        if (used[i].is_output && strcmp(used[i].path, path) == 0) own = &used[i];
    ExitCode code = find_target(path, &t);
    /* files may have been read since */
    if (code == EXIT_DONE) code = check_alone(path, &t, own && own->is_update, own);
    if (code == EXIT_DONE) {
        bool ok = t.is_stdout    ? write_stdout(data, length)
                  : t.is_special ? write_special(path, data, length)
                                 : replace(&t, data, length);
        if (!ok) code = refuse(t.is_stdout ? "standard output" : path, EXIT_ENVIRONMENT, strerror(errno));
        else if (!own) remember(path, &t.id, true, false);
    }
    release(&t);
    return code;
}

ExitCode file_finish(ExitCode code) {
    bool ok = fflush(stdout) == 0;
    if (ok && !ferror(stdout)) return code;
    fprintf(stderr, "fsc: cannot write to standard output: %s\n", ok ? "some of it is lost" : strerror(errno));
    return code == EXIT_DONE ? EXIT_ENVIRONMENT : code;
}

/* import.c - names that imports bind: modules, builtins and types of triton and torch, and what other files define.
 *
 * In: IMPORT nodes. Out: Sems, NULL for what is not found, and an error that says where such a name comes from.
 * Method: a module is sought as Python does: behind dots from the file's own folder, else in the folder that holds the
 * file's package (its own folder, where it is in none), then in those of -I. A file is read when the first of its names
 * is used.
 */
#include "check/sema.h"

#include <string.h>
#include <sys/stat.h>

enum { MOST_FILES = 256, MOST_BYTES = 16 << 20 };

/* ---- Files ------------------------------------------------------------------------------------------------------- */

static bool is_folder(const char *path) {
    struct stat s;
    return stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

static bool is_file(const char *path) {
    struct stat s;
    return stat(path, &s) == 0 && S_ISREG(s.st_mode) && s.st_size <= MOST_BYTES;
}

static const char *folder_of(Checker *c, const char *path) {
    const char *slash = strrchr(path, '/');
    if (!slash) return ".";
    return slash == path ? "/" : arena_strndup(c->a, path, (size_t)(slash - path));
}

static const char *parent(Checker *c, const char *folder) {
    const char *slash = strrchr(folder, '/'), *last = slash ? slash + 1 : folder;
    if (strcmp(folder, ".") == 0) return "..";
    return strcmp(last, "..") == 0 ? arena_printf(c->a, "%s/..", folder) : folder_of(c, folder);
}

static const char *joined(Checker *c, const char *folder, const char *name) {
    if (strcmp(folder, ".") == 0) return name;
    return arena_printf(c->a, strcmp(folder, "/") == 0 ? "%s%s" : "%s/%s", folder, name);
}

static const char *init_of(Checker *c, const char *folder) {
    return joined(c, folder, "__init__.py");
}

/* folder: where its submodules lie; NULL: it has none. path NULL: a folder without a file of its own. */
static FileScope *read_module(Checker *c, const char *path, const char *folder, SyntaxMode mode) {
    const char *key = path ? path : folder;
    struct stat s;
    if (stat(key, &s) != 0 || c->files.len == MOST_FILES) return NULL;
    for (uint32_t i = 0; i < c->files.len; i++) { /* one file may have several paths */
        if (c->files.at[i]->device == (uint64_t)s.st_dev && c->files.at[i]->inode == (uint64_t)s.st_ino)
            return c->files.at[i];
    }
    Text text = {0};
    FILE *f = path ? fopen(path, "rb") : NULL;
    char chunk[4096];
    for (size_t n; f && (n = fread(chunk, 1, sizeof chunk, f)) > 0;) text_write(&text, chunk, n);
    if (f) fclose(f);
    const Module *m = NEW(c->a, Module);
    if (f) m = syntax_parse(c->a, c->s, c->d, diag_add_source(c->d, path, text.at ? text.at : "", text.len), mode);
    text_free(&text);
    FileScope *file = scope_of_file(c, m);
    file->path = key;
    file->folder = folder;
    file->device = (uint64_t)s.st_dev;
    file->inode = (uint64_t)s.st_ino;
    vec_push(c->a, &c->files, file);
    return f || !path ? file : NULL;
}

/* The module `name` of a folder: a package, a file, or a folder of modules. */
static FileScope *module_in(Checker *c, const char *folder, const char *name, SyntaxMode mode) {
    const char *inner = joined(c, folder, name), *init = init_of(c, inner);
    const char *file = arena_printf(c->a, "%s%s", inner, mode == SYNTAX_PYTHON ? ".py" : ".dsl");
    if (mode == SYNTAX_PYTHON && is_file(init)) return read_module(c, init, inner, mode);
    if (is_file(file)) return read_module(c, file, NULL, mode);
    return is_folder(inner) ? read_module(c, NULL, inner, mode) : NULL;
}

/* ---- Modules ----------------------------------------------------------------------------------------------------- */

static const char *path_text(Checker *c, const Node *n) {
    return n->kind == NODE_ATTRIBUTE ? arena_printf(c->a, "%s.%s", path_text(c, n->a), n->name) : n->name;
}

static const Node *path_root(const Node *n) {
    while (n->kind == NODE_ATTRIBUTE) n = n->a;
    return n;
}

/* The module of a dotted path below a folder. */
static FileScope *module_below(Checker *c, const char *folder, const Node *path, SyntaxMode mode) {
    if (path->kind == NODE_NAME) return module_in(c, folder, path->name, mode);
    FileScope *outer = module_below(c, folder, path->a, mode);
    return outer && outer->folder ? module_in(c, outer->folder, path->name, mode) : NULL;
}

static FileScope *module_of_folders(Checker *c, const char *folders, const Node *path, SyntaxMode mode) {
    FileScope *found = NULL;
    for (const char *p = folders; p && *p && !found;) {
        size_t n = strcspn(p, ":");
        if (n) found = module_below(c, arena_strndup(c->a, p, n), path, mode);
        p += n + (p[n] == ':');
    }
    return found;
}

static FileScope *module_of(Checker *c, const Node *n) {
    const FileScope *from = c->file;
    const char *folder = folder_of(c, from->path);
    if (c->o->seeks_files) *c->o->seeks_files = true;
    if (n->integer) {
        for (uint64_t i = 1; i < n->integer && i < MOST_FILES; i++) folder = parent(c, folder);
        const char *init = init_of(c, folder);
        if (!n->a) return read_module(c, is_file(init) ? init : NULL, folder, from->mode);
        return module_below(c, folder, n->a, from->mode);
    }
    while (is_file(init_of(c, folder))) folder = parent(c, folder);
    FileScope *found = module_below(c, folder, n->a, from->mode);
    return found ? found : module_of_folders(c, c->o->include, n->a, from->mode);
}

const Sem *file_member(Checker *c, const FileScope *file, const char *name, Span at) {
    FileScope *here = c->file;
    c->file = (FileScope *)(uintptr_t)file;
    const Sem *s = scope_global(c, str_intern0(c->s, name), at);
    c->file = here;
    FileScope *inner = !s && file->folder ? module_in(c, file->folder, name, file->mode) : NULL;
    return inner ? sem_file(c, inner) : s;
}

/* ---- Names ------------------------------------------------------------------------------------------------------- */

/* Packages that are the compiler's own. */
static bool is_known(const char *root) {
    static const char *const names[] = {"triton", "torch", "math", "numpy", "fsc", "collections"};
    for (size_t i = 0; i < COUNT(names); i++) {
        if (strcmp(root, names[i]) == 0) return true;
    }
    return false;
}

static const char *root_of(const Node *n) {
    return n->integer || !n->a ? "" : path_root(n->a)->name;
}

static const Sem *known_member(Checker *c, const Node *n) {
    if (!n->b && n->a->kind == NODE_NAME) return sem_module(c, n->a->name);
    const char *name = n->b ? n->b->name : n->a->name, *module = n->b ? n->a->name : n->a->a->name;
    if (strcmp(module, "fsc") == 0 && strcmp(name, "triton") == 0) return sem_module(c, name); /* which stands in */
    bool is_libdevice = strcmp(module, "libdevice") == 0;
    const Sem *device = is_libdevice ? module_member(c, arena_printf(c->a, "libdevice.%s", name)) : NULL;
    const Sem *s = device ? device : module_member(c, name); /* where CUDA's meaning differs */
    return s ? s : private_member(c, module, name);
}

/* Other packages hand triton's modules on under these names, behind questions to the host. */
static const Sem *handed_on(Checker *c, const Node *n) {
    static const char *const names[] = {"triton", "tl", "libdevice", "tldevice"};
    for (size_t i = 0; n->b && i < COUNT(names); i++) {
        if (strcmp(n->b->name, names[i]) == 0) return sem_module(c, names[i]);
    }
    return NULL;
}

const Sem *import_find(Checker *c, const Node *n, Span at) {
    if (is_known(root_of(n))) return known_member(c, n);
    const Sem *s = handed_on(c, n);
    FileScope *file = s ? NULL : module_of(c, n);
    if (!file) return s;
    return n->b ? file_member(c, file, n->b->name, at) : sem_file(c, file);
}

static const char *origin_text(Checker *c, const Node *n) {
    Text t = {0};
    for (uint64_t i = 0; i < n->integer && i < MOST_FILES; i++) text_write(&t, ".", 1);
    if (n->a) text_printf(&t, "%s", path_text(c, n->a));
    else text_printf(&t, "%s", n->b ? n->b->name : "*");
    const char *text = arena_strndup(c->a, t.at, t.len);
    text_free(&t);
    return text;
}

void import_missing(Checker *c, const Node *n, const char *name, Span at) {
    const char *root = root_of(n);
    if (strcmp(root, "triton") == 0 && refused_name(c, n->b ? n->b->name : n->a->name, at)) return;
    FileScope *file = is_known(root) ? NULL : module_of(c, n);
    bool is_read = file && file->path != file->folder;
    if (is_read || is_known(root)) {
        diag(c->d, at, E_OTHER_NAME, name, origin_text(c, n));
        diag_note(c->d, n->span, "it is imported here; write its definition into this file, in kernel language");
    } else {
        diag(c->d, at, E_OTHER_FILE, name, origin_text(c, n));
        diag_note(c->d, n->span,
                  "it is imported here; -I FOLDER says where that is, or copy its definition into this file");
    }
}

/* A name that is sought in the files of a file's imports of *; these may import each other. */
struct StarSearch {
    const FileScope *file;
    const char *name;
    const StarSearch *outer;
};

static bool is_sought(const Checker *c, const char *name) {
    for (const StarSearch *s = c->searches; s; s = s->outer) {
        if (s->file == c->file && s->name == name) return true;
    }
    return false;
}

/* from x import *: the last that has the name. */
const Sem *import_by_star(Checker *c, const char *name, Span at) {
    const Sem *s = NULL;
    const StarSearch here = {c->file, name, c->searches};
    if (is_sought(c, name)) return NULL;
    c->searches = &here;
    for (uint32_t i = c->file->stars.len; i-- > 0 && !s;) {
        const Node *n = c->file->stars.at[i];
        FileScope *file = is_known(root_of(n)) ? NULL : module_of(c, n);
        if (file) s = file_member(c, file, name, at);
        else if (is_known(root_of(n))) s = module_member(c, name);
    }
    c->searches = here.outer;
    return s;
}

/* What Python has without an import. */
static bool is_pythons(const char *name) {
    static const char *const names[] = {"abs", "bool", "float", "hasattr", "int",   "isinstance", "len", "max",
                                        "min", "pow",  "print", "range",   "round", "str",        "sum"};
    for (size_t i = 0; i < COUNT(names); i++) {
        if (strcmp(name, names[i]) == 0) return true;
    }
    return false;
}

const Node *import_around(Checker *c, const char *name) {
    const FileScope *file = c->file;
    bool is_inside = c->frame->fn && c->frame->fn->op == FUNCTION_INSIDE;
    for (uint32_t i = file->inner.len; is_inside && i-- > 0;) {
        if (file->inner.at[i]->name == name) return file->inner.at[i];
    }
    if (file->mode == SYNTAX_DSL || is_pythons(name) || !builtin_find(name)) return NULL;
    for (uint32_t i = 0; i < file->stars.len; i++) {
        const Node *n = file->stars.at[i];
        if (!is_known(root_of(n)) && !module_of(c, n)) return n;
    }
    return NULL;
}

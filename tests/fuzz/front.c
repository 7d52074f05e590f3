/* front.c - the front half of the compiler on one input, in this process.
 *
 * In: bytes. Out: nothing but the word whether a kernel passed; a bug(), a report of a sanitizer, or a text that does
 * not read back ends the process, which is how libFuzzer learns of it.
 * Method: options from the input's own RUN: lines; then the calls that the driver makes, for up to MOST kernels.
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 4 };

/* Arenas come and go: a long quarantine of theirs is only page faults. LLVM is not built with ASan, and finds the
 * operators of libFuzzer's own C++ library: no mismatch of ours. */
const char *__asan_default_options(void) {
    return "quarantine_size_mb=4:alloc_dealloc_mismatch=0:detect_stack_use_after_return=0";
}

/* ---- Options of the input ---------------------------------------------------------------------------------------- */

/* The next word of a command, quotes taken off, in place; NULL at the end. */
static char *next_word(char **at) {
    char *from = *at, *to, *word, quote = 0;
    while (*from == ' ' || *from == '\t') from++;
    if (!*from) return NULL;
    for (word = to = from; *from && (quote || (*from != ' ' && *from != '\t')); from++) {
        if (quote ? *from == quote : *from == '"' || *from == '\'')
            quote = quote ? 0 : *from;
        else
            *to++ = *from;
    }
    *at = *from ? from + 1 : from;
    *to = '\0';
    return word;
}

/* The value of option `name` in --name=VALUE or --name VALUE; NULL: another word. */
static char *value_of(char *word, const char *name, char **rest) {
    size_t n = strlen(name);
    if (strncmp(word, name, n) != 0) return NULL;
    if (word[n] == '\0') return next_word(rest);
    if (name[1] != '-') return word + n;
    return word[n] == '=' ? word + n + 1 : NULL;
}

static void add_pair(NameValue *list, uint32_t *count, char *text) {
    char *equals = strchr(text, '=');
    if (!equals || *count == FUZZ_WORDS) return;
    *equals = '\0';
    list[(*count)++] = (NameValue){text, equals + 1};
}

static uint32_t small_number(const char *text) {
    unsigned long n = strtoul(text, NULL, 10);
    return n > 64 ? 64 : (uint32_t)n;
}

static void read_options(FuzzOptions *o) {
    char *rest = o->text, *word, *value;
    while ((word = next_word(&rest))) {
        if ((value = value_of(word, "-D", &rest)))
            add_pair(o->defines, &o->num_defines, value);
        else if ((value = value_of(word, "-T", &rest)))
            add_pair(o->types, &o->num_types, value);
        else if ((value = value_of(word, "--kernel", &rest)))
            o->kernel = value;
        else if ((value = value_of(word, "--signature", &rest)))
            o->signature = value;
        else if ((value = value_of(word, "--arch", &rest)))
            o->arch = value;
        else if ((value = value_of(word, "--config", &rest)))
            o->config = small_number(value);
        else if ((value = value_of(word, "--num-warps", &rest)))
            o->num_warps = small_number(value);
        else if ((value = value_of(word, "--num-stages", &rest)))
            o->num_stages = small_number(value);
    }
}

/* The offset behind the next "RUN:" from `at`, or `size`. */
static size_t find_run(const uint8_t *data, size_t size, size_t at) {
    for (; at + 4 <= size; at++)
        if (memcmp(data + at, "RUN:", 4) == 0) return at + 4;
    return size;
}

void fuzz_options(const uint8_t *data, size_t size, const char *kernel, FuzzOptions *o) {
    FuzzOptions first = {0};
    bool has_first = false;
    for (size_t at = find_run(data, size, 0); at < size; at = find_run(data, size, at)) {
        *o = (FuzzOptions){0};
        size_t n = 0;
        while (at + n < size && n < FUZZ_TEXT - 1 && data[at + n] != '\n' && data[at + n] != '|') n++;
        memcpy(o->text, data + at, n);
        read_options(o);
        if (!kernel || (o->kernel && strcmp(o->kernel, kernel) == 0)) return;
        if (has_first || o->kernel) continue;
        memcpy(first.text, data + at, n); /* read anew: the words of `o` point into `o` */
        has_first = true;
    }
    *o = first;
    read_options(o);
}

SyntaxMode fuzz_mode(const uint8_t *data, size_t size) {
    static const char mark[] = "import triton";
    for (size_t at = 0; at + sizeof mark <= size; at++)
        if (memcmp(data + at, mark, sizeof mark - 1) == 0) return SYNTAX_PYTHON;
    return SYNTAX_DSL;
}

uint32_t fuzz_hash(const uint8_t *data, size_t size) {
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < size; i++) h = (h ^ data[i]) * 16777619u;
    return h ^ h >> 15;
}

/* ---- The text form ----------------------------------------------------------------------------------------------- */

static void read_back(const Func *f, void (*print)(const Func *f, Text *out)) {
    Arena *a = arena_create();
    Text first = {0}, second = {0}, errors = {0};
    Diag *d = diag_create(a, 1);
    print(f, &first);
    const Func *g = func_read(a, strings_create(a), d, diag_add_source(d, "again.ir", first.at, first.len));
    if (!g) {
        diag_print(d, &errors, false);
        bug("the text of %s does not read back: %s\n%s", f->name, errors.at, first.at);
    }
    print(g, &second);
    if (first.len != second.len || memcmp(first.at, second.at, first.len) != 0)
        bug("the text of %s reads back as another:\n%s---\n%s", f->name, first.at, second.at);
    text_free(&first);
    text_free(&second);
    arena_destroy(a);
}

void fuzz_round_trip(const Func *f) {
    Text complaint = {0};
    if (!func_verify(f, &complaint)) bug("%s is unsound: %s", f->name, complaint.at);
    text_free(&complaint);
    read_back(f, func_print);
    read_back(f, func_print_spans);
}

/* ---- The front half ---------------------------------------------------------------------------------------------- */

static bool check_one(Arena *a, Strings *s, Diag *d, const Module *m, const FuzzOptions *f, const char *kernel) {
    CheckOptions o = {
        .kernel = kernel,
        .signature = f->signature,
        .defines = f->defines,
        .types = f->types,
        .num_defines = f->num_defines,
        .num_types = f->num_types,
        .config = f->config,
        .num_warps = f->num_warps,
        .num_stages = f->num_stages,
        .warp_size = 32,
    };
    Record *interface = check_interface(a, s, d, m, &o);
    if (interface) record_free(interface);
    Kernel *k = check_kernel(a, s, d, m, &o);
    bool good = k && !diag_errors(d); /* behind an error, also an earlier kernel's, its function has no end */
    if (k && k->func && good) fuzz_round_trip(k->func);
    if (k && k->record) record_free(k->record);
    return good && k->func;
}

bool fuzz_front(const uint8_t *data, size_t size, char name[64]) {
    Arena *a = arena_create();
    Strings *s = strings_create(a);
    Diag *d = diag_create(a, 20);
    Text messages = {0};
    const Source *source = diag_add_source(d, "fuzz.dsl", (const char *)data, size);
    Module *m = syntax_parse(a, s, d, source, fuzz_mode(data, size));
    bool parsed = diag_errors(d) == 0, good = false;
    const Node *functions[MOST];
    uint32_t n = check_entry_points(m, functions, MOST);
    for (uint32_t i = 0; i < n && i < MOST; i++) {
        FuzzOptions o;
        fuzz_options(data, size, functions[i]->name, &o);
        if (!check_one(a, s, d, m, &o, functions[i]->name) || good) continue;
        good = parsed && strlen(functions[i]->name) < 64;
        if (good) snprintf(name, 64, "%s", functions[i]->name);
    }
    diag_print(d, &messages, false);
    text_free(&messages);
    if (parsed && n == 0) { /* what the driver would say to it */
        FuzzOptions o;
        fuzz_options(data, size, NULL, &o);
        check_one(a, s, d, m, &o, o.kernel);
    }
    arena_destroy(a);
    return good;
}

/* hostcode.h - kernels of the CPU target, compiled from tile IR as text and run beside guard bytes. */
#ifndef HOSTCODE_H
#define HOSTCODE_H

#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "codegen/codegen.h"

enum { PAGE = 1 << 16, GUARD = 256, MARK = 0xa5 };

static const char *const processors[] = {
    NULL,
#if defined __x86_64__
    "x86-64",
#endif
};
static const int levels[] = {0, 2};

/* ---- Compiling and running --------------------------------------------------------------------------------------- */

typedef struct Kernel {
    Arena *arena;
    CodegenOptions options;
    Func *f;
    HostCode *code;
} Kernel;

static void fail_with(const Diag *d, const char *text) {
    Text errors = {0};
    diag_print(d, &errors, false);
    print_error("%s\n%s\n", text, errors.at ? errors.at : "no message");
    text_free(&errors);
    fail();
}

static Kernel kernel_read(const char *text, int level) {
    Kernel k = {.arena = arena_create()};
    k.options = (CodegenOptions){.diag = diag_create(k.arena, 10), .arena = k.arena, .opt_level = level};
    const Source *source = diag_add_source(k.options.diag, "host.ir", text, strlen(text));
    k.f = func_read(k.arena, strings_create(k.arena), k.options.diag, source);
    if (!k.f) fail_with(k.options.diag, text);
    return k;
}

static bool generate(Kernel *k, const char *cpu, Emit what, Generated *out) {
    k->options.cpu = cpu;
    bool ok = codegen(k->f, target_find("cpu"), what, &k->options, out);
    if (!ok) assert_null(out->code);
    return ok;
}

static Kernel kernel_compile(const char *text, const char *cpu, int level) {
    Kernel k = kernel_read(text, level);
    Generated out;
    (void)generate(&k, cpu, EMIT_CODE, &out);
    k.code = out.code;
    if (!k.code) fail_with(k.options.diag, text);
    return k;
}

static void kernel_destroy(Kernel *k) {
    hostcode_destroy(k->code);
    arena_destroy(k->arena);
}

/* One program, its scratch memory between bytes that it must leave alone, filled with what must not matter. */
static void kernel_run(const Kernel *k, const void *const *args) {
    size_t size = k->code->scratch_bytes, room = (size + 63) / 64 * 64 + 2 * GUARD;
    unsigned char *memory = aligned_alloc(64, room), *scratch = memory + GUARD;
    assert_non_null(memory);
    memset(memory, MARK, room);
    const int64_t pid[3] = {0, 0, 0}, grid[3] = {1, 1, 1};
    k->code->entry(args, pid, grid, scratch);
    for (size_t i = 0; i < GUARD; i++) assert_int_equal(memory[i], MARK);
    for (size_t i = GUARD + size; i < room; i++) assert_int_equal(memory[i], MARK);
    free(memory);
}

static void run_once(const char *text, const char *cpu, int level, const void *const *args) {
    Kernel k = kernel_compile(text, cpu, level);
    kernel_run(&k, args);
    kernel_destroy(&k);
}

static bool code_has(const char *text, const char *word) {
    Kernel k = kernel_read(text, 2);
    Generated out;
    assert_true(generate(&k, NULL, EMIT_LLVM, &out));
    bool found = strstr(out.text.at, word) != NULL;
    kernel_destroy(&k);
    return found;
}

#endif

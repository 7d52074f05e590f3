/* cachefix.h - what the tests of the cache share: a folder of their own, files in it, damage, processes. */
#ifndef CACHEFIX_H
#define CACHEFIX_H

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static char folder[256]; /* the test's own; FSC_CACHE_DIR */

static inline void remove_folder(const char *path) {
    DIR *d = opendir(path);
    char name[600];
    for (struct dirent *at; d && (at = readdir(d)) != NULL;) {
        if (strcmp(at->d_name, ".") == 0 || strcmp(at->d_name, "..") == 0) continue;
        snprintf(name, sizeof name, "%.255s/%.255s", path, at->d_name);
        if (unlink(name) != 0) remove_folder(name);
    }
    if (d) closedir(d);
    (void)rmdir(path);
}

static inline int folder_open(void **state) {
    (void)state;
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%.200s/fsc-cacheXXXXXX", base && *base ? base : "/tmp");
    if (!mkdtemp(folder)) return -1;
    unsetenv("FSC_CACHE_SIZE");
    return setenv("FSC_CACHE_DIR", folder, 1);
}

static inline int folder_close(void **state) {
    (void)state;
    (void)chmod(folder, 0700);
    remove_folder(folder);
    return 0;
}

/* How many files of the folder begin so and end so; the last one's path in found (may be NULL). */
static inline int files_of(const char *beginning, const char *ending, char found[600]) {
    DIR *d = opendir(folder);
    int n = 0;
    for (struct dirent *at; d && (at = readdir(d)) != NULL;) {
        size_t length = strlen(at->d_name), end = strlen(ending);
        if (strncmp(at->d_name, beginning, strlen(beginning)) != 0) continue;
        if (length < end || strcmp(at->d_name + length - end, ending) != 0) continue;
        if (found) snprintf(found, 600, "%.255s/%.255s", folder, at->d_name);
        n++;
    }
    if (d) closedir(d);
    return n;
}

static inline size_t file_size(const char *path) {
    struct stat s;
    assert_int_equal(stat(path, &s), 0);
    return (size_t)s.st_size;
}

/* Changes one byte of a file in its place. */
static inline void file_damage(const char *path, size_t offset) {
    unsigned char byte = 0;
    int file = open(path, O_RDWR);
    assert_int_equal(pread(file, &byte, 1, (off_t)offset), 1);
    byte ^= 0x20;
    assert_int_equal(pwrite(file, &byte, 1, (off_t)offset), 1);
    close(file);
}

/* Runs work in a process of its own and gives its exit status; -1 after a signal. */
static inline int in_process(int (*work)(void)) {
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) _exit(work());
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) return -2;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* The user is the superuser, for whom modes mean nothing: give the folder away and become someone else. */
static inline void be_nobody(void) {
    if (geteuid() != 0) return;
    if (chown(folder, 65534, 65534) != 0 || setgid(65534) != 0 || setuid(65534) != 0) _exit(99);
}

#endif

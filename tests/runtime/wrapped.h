/* wrapped.h - allocations that fail when a test says so, and how many there are, of locks as well. One file of a
 * program includes it; the linker's --wrap puts these in the place of malloc and the like for all but shared
 * libraries. */
#ifndef WRAPPED_H
#define WRAPPED_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_long wrapped_allocations, wrapped_locks;
static atomic_long wrapped_fail_at; /* that allocation from now on fails, 1 is the next; 0: none */

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
int __real_pthread_mutex_lock(pthread_mutex_t *m);
int __real_pthread_rwlock_rdlock(pthread_rwlock_t *l);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
int __wrap_pthread_mutex_lock(pthread_mutex_t *m);
int __wrap_pthread_rwlock_rdlock(pthread_rwlock_t *l);

static int wrapped_fails(void) {
    atomic_fetch_add(&wrapped_allocations, 1);
    return atomic_load(&wrapped_fail_at) && atomic_fetch_sub(&wrapped_fail_at, 1) == 1;
}

void *__wrap_malloc(size_t n) {
    return wrapped_fails() ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size) {
    return wrapped_fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t n) {
    return wrapped_fails() ? NULL : __real_realloc(p, n);
}

int __wrap_pthread_mutex_lock(pthread_mutex_t *m) {
    atomic_fetch_add(&wrapped_locks, 1);
    return __real_pthread_mutex_lock(m);
}

int __wrap_pthread_rwlock_rdlock(pthread_rwlock_t *l) {
    atomic_fetch_add(&wrapped_locks, 1);
    return __real_pthread_rwlock_rdlock(l);
}

#endif

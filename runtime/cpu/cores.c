/* cores.c - how many threads this process can keep busy, and on which cores they wake.
 *
 * In: nothing. Out: a number. Method: the cores that the affinity mask allows, and no more than the quotas of the
 * process's control group and of all above it (`cpu.max` of cgroup v2), rounded up.
 */
#define _GNU_SOURCE /* sched_getaffinity, gettid */
#include "runtime/cpu/pool.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if defined __x86_64__
#include <cpuid.h>
#endif

enum { MOST_CORES = 1024, LONGEST_PATH = 4096 };

/* "150000 100000" is a core and a half; "max 100000" is no quota. */
static uint32_t quota_of(const char *folder) {
    char path[LONGEST_PATH + 16];
    long long quota = 0, period = 0;
    snprintf(path, sizeof path, "%s/cpu.max", folder);
    FILE *f = fopen(path, "re");
    if (!f) return UINT32_MAX;
    bool limited = fscanf(f, "%lld %lld", &quota, &period) == 2 && quota > 0 && period > 0;
    fclose(f);
    if (!limited) return UINT32_MAX;
    long long cores = (quota - 1) / period + 1;
    return cores < MOST_CORES ? (uint32_t)cores : MOST_CORES;
}

uint32_t cores_quota(const char *root, const char *group) {
    char folder[LONGEST_PATH];
    uint32_t least = UINT32_MAX;
    size_t base = strlen(root);
    if (snprintf(folder, sizeof folder, "%s%s", root, group) >= (int)sizeof folder) return least;
    for (;;) { /* the group, and those above it */
        uint32_t n = quota_of(folder);
        if (n < least) least = n;
        char *slash = strrchr(folder, '/');
        if (!slash || (size_t)(slash - folder) < base) return least;
        *slash = '\0';
    }
}

/* The path behind "0::", the line of cgroup v2; false where there is none. */
static bool find_group(char *path, size_t size) {
    FILE *f = fopen("/proc/self/cgroup", "re");
    bool found = false;
    while (f && !found && fgets(path, (int)size, f)) found = strncmp(path, "0::", 3) == 0;
    if (f) fclose(f);
    if (!found) return false;
    path[strcspn(path, "\n")] = '\0';
    memmove(path, path + 3, strlen(path + 3) + 1);
    return true;
}

static uint32_t count_allowed(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return (uint32_t)CPU_COUNT(&set);
    long n = sysconf(_SC_NPROCESSORS_ONLN); /* more than a cpu_set_t has */
    return n < 1 ? 1 : n > MOST_CORES ? MOST_CORES : (uint32_t)n;
}

uint32_t cores_count(void) {
    char group[LONGEST_PATH];
    uint32_t allowed = count_allowed();
    uint32_t quota = find_group(group, sizeof group) ? cores_quota("/sys/fs/cgroup", group) : UINT32_MAX;
    return quota < allowed ? quota : allowed;
}

/* ---- Places ------------------------------------------------------------------------------------------------------ */

struct CorePlace {
    pid_t thread;
    cpu_set_t allowed; /* before it was placed */
    bool is_placed;
};

static bool is_virtual(void) {
#if defined __x86_64__
    unsigned a, b, c, d;
    return __get_cpuid(1, &a, &b, &c, &d) && c >> 31;
#else
    return true; /* who knows */
#endif
}

CorePlace *cores_place_new(void) {
    CorePlace *p = is_virtual() ? calloc(1, sizeof *p) : NULL;
    if (p) p->thread = gettid();
    return p;
}

void cores_place(CorePlace *p, uint32_t index) {
    int own = sched_getcpu();
    cpu_set_t one;
    if (!p || p->is_placed || own < 0 || sched_getaffinity(p->thread, sizeof p->allowed, &p->allowed) != 0) return;
    CPU_ZERO(&one);
    for (size_t core = 0; core < CPU_SETSIZE && CPU_COUNT(&one) == 0; core++) {
        if (core == (size_t)own || !CPU_ISSET(core, &p->allowed)) continue;
        if (index-- == 0) CPU_SET(core, &one);
    }
    if (CPU_COUNT(&one)) p->is_placed = sched_setaffinity(p->thread, sizeof one, &one) == 0;
}

void cores_unplace(CorePlace *p) {
    if (p && p->is_placed) (void)sched_setaffinity(0, sizeof p->allowed, &p->allowed);
    if (p) p->is_placed = false;
}

/* level_test.c - an object with code for several levels of processors: which one runs, and what is refused. */
#include "objectfix.h"
#include "runtime/base/level.h"

#include <stdatomic.h>

static atomic_int taken; /* the level whose code ran */

#define LEVEL(name, text, family, bytes)                                                                               \
    static void entry_##name(const void *const *args, const int64_t *pid, const int64_t *nprog, void *scratch) {       \
        (void)args, (void)pid, (void)nprog, (void)scratch;                                                             \
        atomic_store(&taken, LEVEL_##name);                                                                            \
    }
#include "runtime/base/level.def"
#undef LEVEL

static const struct {
    const char *arch;
    fsc_host_entry *entry;
} levels[] = {
#define LEVEL(name, text, family, bytes) {"cpu " text, entry_##name},
#include "runtime/base/level.def"
#undef LEVEL
};

/* A variant whose code is for a level. */
static void add_level(Made *m, const char *arch, fsc_host_entry *entry) {
    Record *r = variant_record("cpu", "softmax", 1, "1024");
    size_t n = m->object.num_variants++, size = 0;
    m->codes[n] = record_write(r, &size);
    m->variants[n] = (fsc_object_variant){.arch = arch, .code = m->codes[n], .size = size, .entry = entry};
    record_free(r);
}

/* Of all that this processor has, what asks for the most; in whatever order they stand. */
static void cpu_levels(void **state) {
    (void)state;
    int best = LEVEL_NONE;
    for (int l = 0; l < LEVEL_NONE; l++)
        if (level_is_here((CpuLevel)l)) best = l;
    assert_true(best < LEVEL_NONE);
#if defined __x86_64__
    assert_true(level_info[best].family == FAMILY_X86_64 && !level_is_here(LEVEL_SVE256));
    assert_int_equal(level_is_here(LEVEL_X86_64_V4), __builtin_cpu_supports("avx512vl") != 0);
    assert_int_equal(level_is_here(LEVEL_X86_64_V3), __builtin_cpu_supports("avx2") != 0);
#endif
    for (int turn = 0; turn < 2; turn++) {
        Made m;
        begin(&m);
        for (int l = 0; l < LEVEL_NONE; l++) {
            int at = turn ? LEVEL_NONE - 1 - l : l;
            add_level(&m, levels[at].arch, levels[at].entry);
        }
        atomic_store(&taken, LEVEL_NONE);
        assert_int_equal(launch(&m, FSC_STREAM_CPU, 700, false), FSC_OK);
        assert_int_equal(atomic_load(&taken), best);
        end(&m);
    }
}

/* What this processor has not is never run, be it alone or with others of its kind. */
static void cpu_level_is_not_here(void **state) {
    (void)state;
    Made m;
    begin(&m);
    for (int l = 0; l < LEVEL_NONE; l++) {
        if (level_is_here((CpuLevel)l)) continue;
        add_level(&m, levels[l].arch, levels[l].entry);
        atomic_store(&taken, LEVEL_NONE);
        assert_int_equal(launch(&m, FSC_STREAM_CPU, 700, false), FSC_ERROR_ARCH);
        assert_int_equal(atomic_load(&taken), LEVEL_NONE);
        assert_non_null(strstr(fsc_last_message(), "and this one is none: compile it with "));
    }
    assert_true(m.object.num_variants > 0);
    end(&m);
    begin(&m);
    add_level(&m, "cpu x86-64-v9", levels[0].entry); /* of a later fsc */
    assert_int_equal(launch(&m, FSC_STREAM_CPU, 700, false), FSC_ERROR_ARCH);
    assert_non_null(strstr(fsc_last_message(), "is compiled for processors of x86-64-v9, and this one is none"));
    assert_int_equal(atomic_load(&taken), LEVEL_NONE);
    end(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(cpu_levels, fresh, nothing_left),
        cmocka_unit_test_setup_teardown(cpu_level_is_not_here, fresh, nothing_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

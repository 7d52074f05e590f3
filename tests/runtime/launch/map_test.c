/* map_test.c - tensor maps at launches, on the fake driver: what they say, which calls take them, what is kept. */
#include "fakefix.h"

#include "runtime/launch/quick.h"

#include <pthread.h>

enum { X, W, N, LD, K };

/* k(x: bf16, w: fp32, n, ld, k): maps of x, n rows of k elements ld apart, and of w, rows of n * k elements. */
static Record *mapped(const char *target, bool has_maps, uint32_t programs) {
    Record *r = record_create("k");
    record_set_target(r, target, "0.1.0", "k.dsl");
    record_add_param(r, RECORD_POINTER, "x", "bf16");
    record_add_param(r, RECORD_POINTER, "w", "fp32");
    record_add_param(r, RECORD_SCALAR, "n", "i32");
    record_add_param(r, RECORD_SCALAR, "ld", "i64");
    record_add_param(r, RECORD_SCALAR, "k", "i32");
    if (has_maps) {
        record_add_map(r, X, 128);
        record_add_box(r, 64, "$4", NULL);
        record_add_box(r, 128, "$2", "$3");
        record_add_map(r, W, 64);
        record_add_box(r, 16, "$2 $4 *", NULL);
        record_add_box(r, 8, "2147483647", "$2 $4 *");
        record_add_box(r, 1, "7", "$3 2 *");
    }
    record_add_grid(r, "$2");
    record_add_launch(r, has_maps ? "mapped" : "plain", 128, programs, 1, 0);
    return r;
}

static void add(fsc_device *d, fsc_kernel *k, Record *r) {
    fsc_module *m = NULL;
    assert_int_equal(load(d, r, "8.0", &m), FSC_OK);
    assert_int_equal(fsc_kernel_add_variant(k, m, NULL), FSC_OK);
    fsc_module_unload(m);
    record_free(r);
}

static const fsc_arg good[] = {{FSC_ARG_POINTER, FSC_BF16, 0, {(void *)0x7000000000}},
                               {FSC_ARG_POINTER, FSC_FP32, 0, {(void *)0x7100000000}},
                               {FSC_ARG_INT, FSC_DTYPE_NONE, 0, {.integer = 24}},
                               {FSC_ARG_INT, FSC_DTYPE_NONE, 0, {.integer = 512}},
                               {FSC_ARG_INT, FSC_DTYPE_NONE, 0, {.integer = 500}}};

static FakeLaunch last(void) {
    return fake_launch((fake.launches - 1) % 64);
}

static FakeBehind last_behind(void) {
    return fake_behind((fake.launches - 1) % 64);
}

static void maps_say_what_the_arguments_do(void **state) {
    (void)state;
    fsc_device *d = open_cuda();
    fsc_kernel *k = load_kernel(d, mapped("sm_90", true, 1));
    fake.params = 5;
    fake.maps = 2;
    for (int way = 0; way < 2; way++) {
        const VariantTable *t = kernel_table(k);
        Quick *kept = t->at[0]->quick;
        if (way) t->at[0]->quick = NULL;
        assert_non_null(kept);
        assert_int_equal(fsc_launch(k, NULL, good, 5, NULL), FSC_OK);
        t->at[0]->quick = kept;
        const FakeLaunch l = last();
        const FakeBehind b = last_behind();
        const FakeMap *x = &b.maps[0], *w = &b.maps[1];
        assert_true(x->magic == FAKE_MAP && x->base == 0x7000000000 && x->type == 9 && x->rank == 2 && x->swizzle == 3);
        assert_true(x->extents[0] == 500 && x->extents[1] == 24 && x->strides[0] == 1024);
        assert_true(x->box[0] == 64 && x->box[1] == 128 && x->promotion == 2);
        assert_true(w->magic == FAKE_MAP && w->base == 0x7100000000 && w->type == 7 && w->rank == 3 && w->swizzle == 2);
        assert_true(w->extents[0] == 12000 && w->extents[1] == INT32_MAX && w->extents[2] == 7);
        assert_true(w->strides[0] == 48000 && w->strides[1] == 4096 && w->box[2] == 1);
        assert_true(l.params[N] == 24 && l.params[K] == 500);
    }
    fsc_kernel_destroy(k);
    fsc_device_close(d);
}

/* Entries that pack programs take the grid behind the maps. */
static void the_grid_is_behind_them(void **state) {
    (void)state;
    fsc_device *d = open_cuda();
    fsc_kernel *k = load_kernel(d, mapped("sm_90", true, 4));
    fake.params = 5;
    fake.maps = 2;
    fake.behind = 3;
    assert_int_equal(fsc_launch(k, (const int64_t[]){9, 8, 7}, good, 5, NULL), FSC_OK);
    const FakeBehind b = last_behind();
    assert_true(b.maps[1].magic == FAKE_MAP);
    assert_true(b.words[0] == 9 && b.words[1] == 8 && b.words[2] == 7);
    fsc_kernel_destroy(k);
    fsc_device_close(d);
}

/* The map's own variant, the other one, or the sentence where there is no other; both ways. */
static void other_calls_take_another_variant(void **state) {
    (void)state;
    static const struct {
        int index;
        fsc_arg arg;
        bool fits;
        const char *says;
    } cases[] = {
        {N, {FSC_ARG_INT, 0, 0, {.integer = 24}}, true, ""},
        {X,
         {FSC_ARG_POINTER, FSC_BF16, 0, {(void *)0x7000000008}},
         false,
         "argument x is at 0x7000000008, and a tensor map takes multiples of 16 bytes"},
        {X, {FSC_ARG_POINTER, FSC_BF16, 0, {NULL}}, false, "argument x is at 0, and a tensor map"},
        {LD,
         {FSC_ARG_INT, 0, 0, {.integer = 508}},
         false,
         "argument x has a stride of 508 elements of 2 bytes along dimension 1 of 2, and a tensor map takes multiples "
         "of 16 bytes below 2^40"},
        {LD, {FSC_ARG_INT, 0, 0, {.integer = 504}}, true, ""},
        {LD, {FSC_ARG_INT, 0, 0, {.integer = 0}}, false, "a stride of 0 elements"},
        {LD, {FSC_ARG_INT, 0, 0, {.integer = -512}}, false, "a stride of -512 elements"},
        {LD,
         {FSC_ARG_INT, 0, 0, {.integer = ((int64_t)1 << 39) - 8}},
         false,
         "argument w has a stride of 1099511627760"},
        {LD, {FSC_ARG_INT, 0, 0, {.integer = ((int64_t)1 << 37) - 8}}, true, ""},
        {LD, {FSC_ARG_INT, 0, 0, {.integer = (int64_t)1 << 39}}, false, "argument x has a stride"},
        {LD, {FSC_ARG_INT, 0, 0, {.integer = INT64_MAX / 16 * 16}}, false, "argument x has a stride"},
        {K,
         {FSC_ARG_INT, 0, 0, {.integer = 0}},
         false,
         "argument x has 0 elements along dimension 2 of 2, and a tensor map takes 1 to 2^32"},
        {K, {FSC_ARG_INT, 0, 0, {.integer = -1}}, false, "argument x has -1 elements"},
        {K, {FSC_ARG_INT, 0, 0, {.integer = 178956970}}, true, ""}, /* times 24 elements of w: just below 2^32 */
        {K, {FSC_ARG_INT, 0, 0, {.integer = 178956971}}, false, "argument w has 4294967304 elements"},
    };
    fsc_device *d = open_cuda();
    fsc_kernel *two = load_kernel(d, mapped("sm_90", false, 1)), *one = load_kernel(d, mapped("sm_90", true, 1));
    add(d, two, mapped("sm_90", true, 1));
    for (size_t i = 0; i < 2 * sizeof cases / sizeof cases[0]; i++) {
        const VariantTable *t = kernel_table(two);
        Quick *kept[] = {t->at[0]->quick, t->at[1]->quick};
        fsc_arg args[5];
        memcpy(args, good, sizeof args);
        args[cases[i / 2].index] = cases[i / 2].arg;
        if (i % 2) t->at[0]->quick = t->at[1]->quick = NULL;
        assert_int_equal(fsc_launch(two, (const int64_t[]){1, 1, 1}, args, 5, NULL), FSC_OK);
        t->at[0]->quick = kept[0];
        t->at[1]->quick = kept[1];
        if (strcmp(last().entry, cases[i / 2].fits ? "mapped" : "plain") != 0)
            fail_msg("case %zu: %s", i / 2, last().entry);
        fsc_status s = fsc_launch(one, (const int64_t[]){1, 1, 1}, args, 5, NULL);
        assert_int_equal(s, cases[i / 2].fits ? FSC_OK : FSC_NO_VARIANT);
        assert_int_equal(kernel_maps_fit(one, args, 5), cases[i / 2].fits);
        assert_true(kernel_maps_fit(two, args, 5));
        if (s != FSC_OK && !strstr(fsc_device_message(d), cases[i / 2].says))
            fail_msg("case %zu: '%s'", i / 2, fsc_device_message(d));
    }
    fsc_kernel_destroy(one);
    fsc_kernel_destroy(two);
    fsc_device_close(d);
}

static void maps_are_kept_by_value(void **state) {
    (void)state;
    fsc_device *d = open_cuda();
    fsc_kernel *k = load_kernel(d, mapped("sm_90", true, 1));
    fsc_arg args[5];
    memcpy(args, good, sizeof args);
    fake.maps = 1;
    fake.params = 5;
    for (int i = 0; i < 10; i++) assert_int_equal(fsc_launch(k, NULL, args, 5, NULL), FSC_OK);
    assert_int_equal(fake_calls("cuTensorMapEncodeTiled"), 2);
    args[X].u.pointer = (void *)0x7000000010;
    assert_int_equal(fsc_launch(k, NULL, args, 5, NULL), FSC_OK);
    assert_int_equal(fake_calls("cuTensorMapEncodeTiled"), 3);
    assert_true(last_behind().maps[0].base == 0x7000000010);
    args[K].u.integer = 499;
    assert_int_equal(fsc_launch(k, NULL, args, 5, NULL), FSC_OK);
    assert_true(last_behind().maps[0].extents[0] == 499);
    for (int i = 0; i < 200; i++) {
        args[X].u.pointer = (void *)(uintptr_t)(0x7000000000 + 16 * (i * 7 % 50));
        assert_int_equal(fsc_launch(k, NULL, args, 5, NULL), FSC_OK);
        assert_true(last_behind().maps[0].base == (uintptr_t)args[X].u.pointer);
    }
    fsc_kernel_destroy(k);
    fsc_device_close(d);
}

/* A call's maps are its own, whatever others keep at the same time. */
static void *launch_many(void *kernel) {
    for (int i = 0; i < 20000; i++) {
        fsc_arg args[5];
        Call c;
        memcpy(args, good, sizeof args);
        args[X].u.pointer = (void *)(uintptr_t)(0x7000000000 + 16 * (i * 31 % 97));
        if (call_begin(&c, kernel, NULL, args, 5) != FSC_OK || call_append_maps(&c) != FSC_OK) return kernel;
        FakeMap x, w;
        memcpy(&x, &c.maps[0], sizeof x);
        memcpy(&w, &c.maps[1], sizeof w);
        call_end(&c);
        if (x.magic != FAKE_MAP || x.base != (uintptr_t)args[X].u.pointer || x.extents[1] != 24) return kernel;
        if (w.magic != FAKE_MAP || w.base != (uintptr_t)args[W].u.pointer || w.extents[2] != 7) return kernel;
    }
    return NULL;
}

static void threads_share_what_is_kept(void **state) {
    (void)state;
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    fsc_device *d = open_cuda();
    fsc_kernel *k = load_kernel(d, mapped("sm_90", true, 1));
    for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&threads[i], NULL, launch_many, k), 0);
    for (int i = 0; i < THREADS; i++) {
        void *failed = NULL;
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    fsc_kernel_destroy(k);
    fsc_device_close(d);
}

static void failures_name_what_was_asked(void **state) {
    (void)state;
    fsc_device *d = open_cuda();
    fsc_kernel *k = load_kernel(d, mapped("sm_90", true, 1));
    fake_fail("cuTensorMapEncodeTiled", 1, 1);
    assert_int_not_equal(fsc_launch(k, NULL, good, 5, NULL), FSC_OK);
    assert_non_null(strstr(fsc_device_message(d), "cuTensorMapEncodeTiled gives CUDA_ERROR_INVALID_VALUE"));
    assert_non_null(strstr(fsc_device_message(d),
                           "argument x of kernel k: elements of bf16 at 0x7000000000, the fastest dimension first: 500 "
                           "every 2 bytes (64 at a time), 24 every 1024 bytes (128 at a time)"));
    assert_int_equal(fake.launches, 0);
    assert_int_equal(fsc_launch(k, NULL, good, 5, NULL), FSC_OK); /* what failed is not kept */
    assert_int_equal(fake.launches, 1);
    fsc_kernel_destroy(k);
    fsc_device_close(d);
}

int main(void) {
    setenv("FSC_CUDA_LIBRARY", FAKE_DRIVER, 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(maps_say_what_the_arguments_do, fresh, nothing_left),
        cmocka_unit_test_setup_teardown(the_grid_is_behind_them, fresh, nothing_left),
        cmocka_unit_test_setup_teardown(other_calls_take_another_variant, fresh, nothing_left),
        cmocka_unit_test_setup_teardown(maps_are_kept_by_value, fresh, nothing_left),
        cmocka_unit_test_setup_teardown(threads_share_what_is_kept, fresh, nothing_left),
        cmocka_unit_test_setup_teardown(failures_name_what_was_asked, fresh, nothing_left),
    };
    return cmocka_run_group_tests_name("map", tests, NULL, NULL);
}

/* device_test.c - the tables of devices: each row of devices.def has what the public functions call without asking. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "runtime/device/device.h"

static const Device *const kinds[] = {
#define DEVICE(name) &device_##name,
#include "runtime/device/devices.def"
#undef DEVICE
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static void every_kind_is_whole(void **state) {
    (void)state;
    for (int i = 0; i < KINDS; i++) {
        const Device *k = kinds[i];
        assert_true(k->open && k->close && k->alloc && k->free && k->write && k->read && k->fill);
        assert_true(k->stream_create && k->stream_destroy && k->stream_wait && k->wait);
        assert_true(k->event_create && k->event_destroy && k->event_record && k->event_elapsed);
        assert_true(k->report && k->launch);
        assert_true(!k->enter == !k->leave);
        assert_true(!k->load == !k->unload);
        assert_true(!k->load != !k->has_entry); /* images, or entries in this process */
        assert_true(k->is_host == (k->has_entry != NULL));
    }
}

/* A name finds its own row: none begins another, and none is "auto". */
static void names_tell_kinds_apart(void **state) {
    (void)state;
    for (int i = 0; i < KINDS; i++) {
        assert_string_not_equal(kinds[i]->name, "auto");
        assert_true(kinds[i]->least <= kinds[i]->most);
        for (int j = 0; j < KINDS; j++) {
            if (i == j) continue;
            assert_int_not_equal(strncmp(kinds[j]->name, kinds[i]->name, strlen(kinds[i]->name)), 0);
            assert_int_not_equal(kinds[i]->kind, kinds[j]->kind);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_is_whole),
        cmocka_unit_test(names_tell_kinds_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

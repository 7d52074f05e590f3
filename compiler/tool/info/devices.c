/* devices.c - `fsc devices`: what there is to run on.
 *
 * The CPU and the emulator are always there. No driver is no error: the list says why there is no GPU in it.
 */
#include "base/schema.h"
#include "tool/tool.h"

#include <inttypes.h>
#include <string.h>

static void print_text(const fsc_props *p, const char *word) {
    if (p->kind != FSC_CUDA) {
        const char *what = p->kind == FSC_CPU ? "this machine's processor" : "a GPU's threads, emulated for tests";
        printf("%-8s %s, %u threads\n", word, what, p->sms);
        return;
    }
    printf("%-8s %s, %s, %u SMs, %" PRIu64 " MiB, %u KiB shared per block, driver %u.%u\n", word, p->name, p->arch,
           p->sms, p->memory_bytes >> 20, p->shared_per_block_optin >> 10, p->driver_version / 1000,
           p->driver_version % 1000 / 10);
}

static void print_json(const fsc_props *p, const char *word, bool first) {
    printf("%s\n  {\"device\": \"%s\", \"name\": \"%s\", \"arch\": \"%s\", \"sms\": %u, \"registers_per_sm\": %u, "
           "\"shared_per_sm\": %u, \"shared_per_block\": %u, \"max_threads_per_sm\": %u, \"max_blocks_per_sm\": %u, "
           "\"l2_bytes\": %" PRIu64 ", \"memory_bytes\": %" PRIu64 ", \"driver_version\": %u}",
           first ? "" : ",", word, p->name, p->arch, p->sms, p->registers_per_sm, p->shared_per_sm,
           p->shared_per_block_optin, p->max_threads_per_sm, p->max_blocks_per_sm, p->l2_bytes, p->memory_bytes,
           p->driver_version);
}

static bool show(const ToolOptions *o, const char *word, bool first) {
    fsc_device *device = NULL;
    fsc_props props;
    if (fsc_device_open(word, &device) != FSC_OK || fsc_device_props(device, &props) != FSC_OK) {
        fprintf(stderr, "fsc devices: %s: %s\n", word, fsc_last_message());
        fsc_device_close(device);
        return false;
    }
    if (o->json) {
        print_json(&props, word, first);
    } else {
        print_text(&props, word);
    }
    fsc_device_close(device);
    return true;
}

ExitCode command_devices(ToolOptions *o) {
    if (o->words.len) {
        fprintf(stderr, "fsc devices: takes no file; '%s' is too much\n", o->words.at[0]);
        return EXIT_CALL;
    }
    int count = 0;
    fsc_status s = fsc_device_count(FSC_CUDA, &count);
    bool ok = true, first = true;
    if (o->json) printf("{\"schema_version\": %d, \"devices\": [", SCHEMA_DEVICES);
    for (int i = 0; i < count; i++) {
        char word[32];
        snprintf(word, sizeof word, "cuda:%d", i);
        ok &= show(o, word, first);
        first = false;
    }
    ok &= show(o, "cpu", first);
    ok &= show(o, "emu", false);
    if (o->json) printf("\n]}\n");
    else if (s != FSC_OK) printf("no GPU: %s\n", fsc_last_message());
    return ok ? EXIT_DONE : EXIT_ENVIRONMENT;
}

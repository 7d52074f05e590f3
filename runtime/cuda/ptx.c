/* ptx.c - what a driver that does not know a PTX's version is told: both versions, and which driver would.
 *
 * In: PTX text, the driver's CUDA version. Out: a clause. Method: the text's .version line, the rows of ptx.def.
 */
#include "runtime/cuda/driver.h"

#include <stdio.h>
#include <string.h>

static const struct {
    unsigned version, cuda;
} rows[] = {
#define PTX(version, cuda) {version, cuda},
#include "runtime/cuda/ptx.def"
#undef PTX
};

enum { ROWS = sizeof rows / sizeof rows[0] };

/* 87 for 8.7; 0: the text does not say. */
static unsigned version_of(const char *text) {
    const char *at = strstr(text, ".version");
    unsigned major = 0, minor = 0;
    return at && sscanf(at, ".version %3u.%1u", &major, &minor) == 2 ? major * 10 + minor : 0;
}

static unsigned most_of(unsigned driver) {
    unsigned most = 0;
    for (int i = 0; i < ROWS && rows[i].cuda <= driver; i++) most = rows[i].version;
    return most;
}

static unsigned cuda_for(unsigned version) {
    for (int i = 0; i < ROWS; i++) {
        if (rows[i].version >= version) return rows[i].cuda;
    }
    return 0;
}

void ptx_explain(const char *text, uint32_t driver, char *out, size_t size) {
    unsigned version = version_of(text), most = most_of(driver), wanted = version ? cuda_for(version) : 0;
    char has[32] = "of an unknown version", takes[40] = "", least[48] = "a newer driver";
    if (version) snprintf(has, sizeof has, "of version %u.%u", version / 10, version % 10);
    if (most) snprintf(takes, sizeof takes, ", which takes PTX up to %u.%u", most / 10, most % 10);
    if (wanted > driver) snprintf(least, sizeof least, "one of CUDA %u.%u or newer", wanted / 1000, wanted / 10 % 100);
    snprintf(out, size,
             "the PTX is %s, and the driver supports CUDA %u.%u%s: install %s, or load a cubin (--emit=cubin)", has,
             driver / 1000, driver / 10 % 100, takes, least);
}

/* status.c - statuses by name and text, and how a call fails: the message goes to the thread and to the device.
 *
 * In: a status and a sentence. Out: the same status. Method: rows of status.def; the thread's message is thread-local,
 * the device's is kept under its lock and handed out as a copy.
 */
#include "runtime/base/process.h"
#include "runtime/device/device.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name, *text;
    int exit_code;
} rows[] = {
#define STATUS(e, exit_code, text) {#e, text, exit_code},
#include "runtime/base/status.def"
#undef STATUS
};

#define STATUS(e, ...) ROW_##e,
enum {
#include "runtime/base/status.def"
};
#undef STATUS
#define STATUS(e, ...) _Static_assert((int)(e) == (int)ROW_##e, "status.def is in the order of fsc_status");
#include "runtime/base/status.def"
#undef STATUS

int fsc_version_number(void) {
    return FSC_VERSION_NUMBER;
}

static bool is_status(fsc_status s) {
    return (size_t)s < sizeof rows / sizeof rows[0];
}

const char *fsc_status_name(fsc_status s) {
    return is_status(s) ? rows[s].name : "FSC_?";
}

const char *fsc_status_text(fsc_status s) {
    return is_status(s) ? rows[s].text : "no status of this library";
}

int fsc_status_exit_code(fsc_status s) {
    return is_status(s) ? rows[s].exit_code : 70;
}

static _Thread_local char last_message[MESSAGE_SIZE];

const char *fsc_last_message(void) {
    return last_message;
}

void text_append(char *text, size_t size, const char *fmt, ...) {
    size_t used = strlen(text);
    va_list args;
    va_start(args, fmt);
    if (used + 1 < size) vsnprintf(text + used, size - used, fmt, args);
    va_end(args);
}

fsc_status status_fail(const fsc_device *d, fsc_status s, const char *fmt, ...) {
    char text[MESSAGE_SIZE]; /* fmt's arguments may point into last_message */
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    memcpy(last_message, text, sizeof text);
    if (d) {
        HOLD_FORKS;
        fsc_device *writable = (fsc_device *)d; /* the message is no part of what const promises */
        pthread_mutex_lock(&writable->lock);
        memcpy(writable->message, text, sizeof text);
        pthread_mutex_unlock(&writable->lock);
    }
    return s;
}

fsc_status status_memory(const fsc_device *d) {
    return status_fail(d, FSC_ERROR_MEMORY, "out of memory on the host");
}

const char *fsc_device_message(const fsc_device *d) {
    static _Thread_local char copy[MESSAGE_SIZE];
    if (!d) return fsc_last_message();
    HOLD_FORKS;
    fsc_device *writable = (fsc_device *)d;
    pthread_mutex_lock(&writable->lock);
    memcpy(copy, writable->message, sizeof copy);
    pthread_mutex_unlock(&writable->lock);
    return copy;
}

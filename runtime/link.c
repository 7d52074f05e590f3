/* link.c - PTX to a cubin by the driver's linker, so that the next process need not assemble it.
 *
 * In: PTX. Out: the cubin's bytes. Method: a link of one input; its result belongs to the link, so it is copied.
 */
#include "runtime/internal.h"
#include "runtime/load.h"

#include <stdlib.h>
#include <string.h>

/* False and no message where a call fails; what kills the context is kept in d. */
#define TRY(name, ...) (r = cuda.name(__VA_ARGS__), driver_note(d, r, #name), r == CUDA_SUCCESS)

static bool link_text(fsc_device *d, char *text, size_t size, void **cubin, size_t *cubin_size) {
    CUlinkState link = NULL;
    CUresult r;
    void *made = NULL;
    if (!TRY(cuLinkCreate, 0, NULL, NULL, &link)) return false;
    bool ok = TRY(cuLinkAddData, link, CU_JIT_INPUT_PTX, text, size + 1, "kernel", 0, NULL, NULL); /* with its NUL */
    ok = ok && TRY(cuLinkComplete, link, &made, cubin_size);
    *cubin = ok && *cubin_size ? malloc(*cubin_size) : NULL;
    if (*cubin) memcpy(*cubin, made, *cubin_size);
    (void)TRY(cuLinkDestroy, link);
    return *cubin != NULL;
}

bool module_assemble(fsc_device *d, const char *ptx, size_t size, void **cubin, size_t *cubin_size) {
    bool pushed = false;
    *cubin = NULL;
    *cubin_size = 0;
    if (!cuda.cuLinkCreate || !cuda.cuLinkAddData || !cuda.cuLinkComplete || !cuda.cuLinkDestroy) return false;
    char *text = malloc(size + 1);
    bool ok = text && device_enter(d, &pushed) == FSC_OK;
    if (ok) {
        memcpy(text, ptx, size);
        text[size] = '\0';
        ok = link_text(d, text, size, cubin, cubin_size);
    }
    device_leave(d, pushed);
    free(text);
    return ok;
}

/* link.c - PTX to a cubin by the driver's linker, so that the next process need not assemble it.
 *
 * In: PTX. Out: the cubin's bytes. Method: a link of one input; its result belongs to the link, so it is copied.
 */
#include "runtime/internal.h"
#include "runtime/load.h"

#include <stdlib.h>
#include <string.h>

static bool link_text(char *text, size_t size, void **cubin, size_t *cubin_size) {
    CUlinkState link = NULL;
    void *made = NULL;
    if (cuda.cuLinkCreate(0, NULL, NULL, &link) != CUDA_SUCCESS) return false;
    CUresult r = cuda.cuLinkAddData(link, CU_JIT_INPUT_PTX, text, size + 1, "kernel", 0, NULL, NULL); /* with its NUL */
    if (r == CUDA_SUCCESS) r = cuda.cuLinkComplete(link, &made, cubin_size);
    *cubin = r == CUDA_SUCCESS && *cubin_size ? malloc(*cubin_size) : NULL;
    if (*cubin) memcpy(*cubin, made, *cubin_size);
    (void)cuda.cuLinkDestroy(link);
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
        ok = link_text(text, size, cubin, cubin_size);
    }
    device_leave(d, pushed);
    free(text);
    return ok;
}

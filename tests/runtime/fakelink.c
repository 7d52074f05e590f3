/* fakelink.c - the fake driver's linker: PTX becomes a cubin, which is the same text behind the headers of an ELF file.
 *
 * "not ptx" is a text that it does not accept. A driver without clusters (NO_CLUSTERS) has no linker, either.
 */
#include "fakecuda.h"
#include "fakedriver.h"

#include <string.h>

#ifdef NO_CLUSTERS
#define cuLinkCreate_v2 cuLinkCreate_missing
#endif

/* A cubin of this driver: an ELF file of one section, the PTX; 64 bytes each of head and section. */
static void put_number(char *at, size_t bytes, uint64_t x) {
    for (size_t i = 0; i < bytes; i++) at[i] = (char)(x >> 8 * i & 255);
}

API(cuLinkCreate_v2, unsigned n, int *options, void **values, void **link) {
    ENTER();
    NEED_CONTEXT();
    (void)n, (void)options, (void)values;
    *link = fake_take(sizeof(void *));
    fake.links++;
    return 0;
}

API(cuLinkAddData_v2, void *link, int type, void *data, size_t size, const char *name, unsigned n, int *options, void **values) {
    ENTER();
    (void)name, (void)n, (void)options, (void)values;
    const char *text = data;
    if (type != 1 || size == 0 || text[size - 1] != '\0') return 1;
    if (strstr(text, "not ptx")) return 218;
    char *cubin = fake_take(FAKE_ELF + size);
    static const unsigned char head[] = {0x7f, 'E', 'L', 'F', 2, 1, 1};
    memcpy(cubin, head, sizeof head);
    put_number(cubin + 40, 8, 64);      /* where the sections are, how large each is, how many */
    put_number(cubin + 58, 2, 64);
    put_number(cubin + 60, 2, 1);
    put_number(cubin + 64 + 4, 4, 1);   /* the section: of bytes, from, so many */
    put_number(cubin + 64 + 24, 8, FAKE_ELF);
    put_number(cubin + 64 + 32, 8, size);
    memcpy(cubin + FAKE_ELF, text, size);
    *(void **)link = cubin;
    return 0;
}

API(cuLinkComplete, void *link, void **cubin, size_t *size) {
    ENTER();
    *cubin = *(void **)link;
    *size = FAKE_ELF + strlen((char *)*cubin + FAKE_ELF) + 1;
    return 0;
}

API(cuLinkDestroy, void *link) {
    ENTER();
    if (*(void **)link) fake_give(*(void **)link);
    fake_give(link);
    fake.links--;
    return 0;
}

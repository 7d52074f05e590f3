/* digest.h - SHA-256 (FIPS 180-4) of what a cache entry's content hangs on, and a fast sum against damage. */
#ifndef FSC_DIGEST_H
#define FSC_DIGEST_H

#include <stddef.h>
#include <stdint.h>

enum { DIGEST_HEX = 64 }; /* characters, without the NUL */

typedef struct Digest {
    uint32_t state[8];
    uint64_t bytes; /* so far */
    unsigned char block[64];
} Digest;

void digest_begin(Digest *d);
void digest_add(Digest *d, const void *data, size_t n);
/* The length and the bytes, so that ("ab", "c") and ("a", "bc") differ. */
void digest_field(Digest *d, const void *data, size_t n);
void digest_text(Digest *d, const char *text); /* a field; NULL differs from "" */
void digest_end(Digest *d, char hex[DIGEST_HEX + 1]);

/* Any change within eight bytes changes it; other damage is missed once in 2^64. Not against attackers. */
uint64_t damage_sum(const void *data, size_t n);

#endif

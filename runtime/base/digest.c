/* digest.c - SHA-256 and the sum against damage.
 *
 * In: bytes. Out: 64 hexadecimal digits, or 64 bits. Method: FIPS 180-4, section 6.2, block by block; the sum mixes
 * words of eight bytes by steps that can be undone, so that two contents of one length that differ in one word never
 * agree.
 */
#include "runtime/base/digest.h"

#include <stdio.h>
#include <string.h>

/* The fractions of the cube roots of the first 64 primes, and of the square roots of the first 8. */
static const uint32_t rounds[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};
static const uint32_t begin[8] = {
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
};

static uint32_t turn(uint32_t x, unsigned n) {
    return x >> n | x << (32 - n);
}

static void expand(const unsigned char *block, uint32_t w[64]) {
    for (int i = 0; i < 16; i++) {
        const unsigned char *p = block + 4 * i;
        w[i] = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
    }
    for (int i = 16; i < 64; i++) {
        uint32_t a = turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^ w[i - 15] >> 3;
        uint32_t b = turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + a + w[i - 7] + b;
    }
}

static void take_block(Digest *d, const unsigned char *block) {
    uint32_t w[64], s[8];
    expand(block, w);
    memcpy(s, d->state, sizeof s);
    for (int i = 0; i < 64; i++) {
        uint32_t e = s[4], a = s[0];
        uint32_t one = s[7] + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & s[5]) ^ (~e & s[6])) + rounds[i] + w[i];
        uint32_t two = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
        memmove(s + 1, s, 7 * sizeof *s);
        s[4] += one;
        s[0] = one + two;
    }
    for (int i = 0; i < 8; i++) d->state[i] += s[i];
}

void digest_begin(Digest *d) {
    d->bytes = 0;
    memcpy(d->state, begin, sizeof begin);
}

void digest_add(Digest *d, const void *data, size_t n) {
    const unsigned char *at = data;
    while (n > 0) {
        size_t used = d->bytes % 64, room = 64 - used, take = n < room ? n : room;
        memcpy(d->block + used, at, take);
        d->bytes += take;
        at += take;
        n -= take;
        if (used + take == 64) take_block(d, d->block);
    }
}

void digest_field(Digest *d, const void *data, size_t n) {
    unsigned char length[8];
    for (int i = 0; i < 8; i++) length[i] = (unsigned char)((uint64_t)n >> 8 * i);
    digest_add(d, length, sizeof length);
    digest_add(d, data, n);
}

void digest_text(Digest *d, const char *text) {
    digest_add(d, text ? "t" : "n", 1);
    if (text) digest_field(d, text, strlen(text));
}

void digest_end(Digest *d, char hex[DIGEST_HEX + 1]) {
    static const unsigned char pad[64] = {0x80};
    unsigned char length[8];
    for (int i = 0; i < 8; i++) length[i] = (unsigned char)(d->bytes * 8 >> (56 - 8 * i));
    digest_add(d, pad, 1 + (119 - d->bytes % 64) % 64);
    digest_add(d, length, sizeof length);
    for (int i = 0; i < 8; i++) snprintf(hex + 8 * i, 9, "%08x", d->state[i]);
}

uint64_t damage_sum(const void *data, size_t n) {
    const unsigned char *at = data;
    uint64_t sum = 0x9e3779b97f4a7c15u ^ n;
    for (size_t i = 0; i < n; i += 8) {
        uint64_t word = 0;
        memcpy(&word, at + i, n - i < 8 ? n - i : 8);
        sum = (sum ^ word) * 0xff51afd7ed558ccdu;
        sum ^= sum >> 32;
    }
    return sum;
}

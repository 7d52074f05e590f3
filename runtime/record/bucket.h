/* bucket.h - for which lengths of a row a kernel is compiled: the ranges that an integer argument falls into.
 *
 * Where the launch rule makes a constexpr parameter the next power of two of an integer argument, the kernel has a tile
 * of that size and masks off what lies beyond the argument. A variant that knows a range of the argument needs no
 * registers for vectors beyond it and no masks for those below it. Ranges are few, so that a changing argument seldom
 * compiles anew: over 1 … 16384, with what divisibility doubles, 64 variants.
 */
#ifndef FSC_BUCKET_H
#define FSC_BUCKET_H

#include <stdbool.h>
#include <stdint.h>

typedef struct Bucket {
    uint32_t least, most;
} Bucket;

/* What integers are specialised by: elements in 16 bytes of an array whose element has so many bytes, 0 if they are not
 * known. BUCKET_NO_UNIT where there is no array. */
enum { BUCKET_NO_UNIT = 2, BUCKET_MOST_UNIT = 16 };
uint32_t bucket_unit(uint32_t bytes);
/* Is it specialised as a multiple of the unit? Not below 16, but for 0: so short a row has little to win. */
bool bucket_is_whole(int64_t value, uint32_t unit);

/* The range around `value`, which lies in the upper half of its tile. */
Bucket bucket_of(uint32_t value, uint32_t unit);
/* Few programs, with rows long enough (at most `longest` elements) to be shared by several blocks: the range of their
 * number around `rows`; false: there are more than multiprocessors, or rows are short. */
bool bucket_of_rows(int64_t rows, uint32_t sms, uint32_t longest, Bucket *out);

#endif

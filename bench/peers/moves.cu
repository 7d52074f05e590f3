/* moves.cu - memory moved and nothing computed, with a kernel's mix of reads and writes:
 * the limit that it is compared with.
 *
 * In: up to two arrays to read, up to two to write, each of `bytes`, aligned to 16. Out: a CUDA error code. Method:
 * four vectors of 16 bytes a thread and array, a block apart; what is only read goes into a number that is written if
 * it is one it never is.
 */
#include <cstdint>

constexpr int THREADS = 256, VECTORS = 4;

__device__ uint4 mix(uint4 a, uint4 b) { return {a.x ^ b.x, a.y ^ b.y, a.z ^ b.z, a.w ^ b.w}; }

template <int READS, int WRITES>
__global__ void __launch_bounds__(THREADS)
    move(uint4 *y0, uint4 *y1, const uint4 *x0, const uint4 *x1, int64_t count, unsigned *never) {
    int64_t first = (int64_t)blockIdx.x * (THREADS * VECTORS) + threadIdx.x;
    uint4 v[VECTORS];
#pragma unroll
    for (int i = 0; i < VECTORS; i++) {
        int64_t at = first + i * THREADS;
        v[i] = at < count ? x0[at] : uint4{0, 0, 0, 0};
        if (READS > 1 && at < count) v[i] = mix(v[i], x1[at]);
    }
    if constexpr (WRITES == 0) {
        unsigned all = 0;
#pragma unroll
        for (int i = 0; i < VECTORS; i++) all |= v[i].x & v[i].y & v[i].z & v[i].w;
        if (all == 0xDEADBEEFu) *never = all;
    } else {
#pragma unroll
        for (int i = 0; i < VECTORS; i++) {
            int64_t at = first + i * THREADS;
            if (at < count) y0[at] = v[i];
            if (WRITES > 1 && at < count) y1[at] = v[i];
        }
    }
}

#define ENTRY(READS, WRITES)                                                                                           \
    extern "C" int move_##READS##_##WRITES(void *y0, void *y1, const void *x0, const void *x1, int64_t bytes,          \
                                           void *never, void *stream) {                                                \
        int64_t count = bytes / 16, blocks = (count + THREADS * VECTORS - 1) / (THREADS * VECTORS);                    \
        move<READS, WRITES><<<(unsigned)blocks, THREADS, 0, static_cast<cudaStream_t>(stream)>>>(                      \
            (uint4 *)y0, (uint4 *)y1, (const uint4 *)x0, (const uint4 *)x1, count, (unsigned *)never);                 \
        return (int)cudaGetLastError();                                                                                \
    }
ENTRY(1, 0)
ENTRY(1, 1)
ENTRY(2, 1)
ENTRY(2, 2)

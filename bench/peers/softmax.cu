/* softmax.cu - row softmax by hand in CUDA, for fp32, fp16 and bf16: what fsc's own is compared with.
 *
 * In: rows of n elements, any stride and alignment. Out: the softmax of each; a CUDA error code. Method: the row stays
 * in registers as vectors of 16 bytes, read at the first aligned place; what is before and behind them is one element a
 * thread. Short rows share blocks, 8 to 32 lanes each; longer ones have a block, or a cluster of blocks. Warps exchange
 * (maximum, sum) pairs, once.
 */
#include <cooperative_groups.h>
#include <cstdint>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace cg = cooperative_groups;

constexpr float LOG2E = 1.44269504f;
constexpr int WARP = 32;

__device__ float wide(float x) { return x; }
__device__ float wide(__half x) { return __half2float(x); }
__device__ float wide(__nv_bfloat16 x) { return __bfloat162float(x); }
template <typename T> __device__ T narrow(float x);
template <> __device__ float narrow(float x) { return x; }
template <> __device__ __half narrow(float x) { return __float2half_rn(x); }
template <> __device__ __nv_bfloat16 narrow(float x) { return __float2bfloat16_rn(x); }

__device__ float exp_of(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x * LOG2E));
    return y;
}

/* 16 bytes of a row, packed; elements are made wide where they are used. */
template <typename T> struct alignas(16) Vector {
    static constexpr int SIZE = 16 / sizeof(T);
    unsigned words[4];
    __device__ float get(int k) const {
        if constexpr (sizeof(T) == 4) return __uint_as_float(words[k]);
        unsigned short bits = (unsigned short)(words[k / 2] >> 16 * (k % 2));
        return wide(*reinterpret_cast<T *>(&bits));
    }
    __device__ void set(int k, T x) {
        if constexpr (sizeof(T) == 4) {
            words[k] = __float_as_uint(x);
        } else {
            unsigned bits = *reinterpret_cast<unsigned short *>(&x);
            words[k / 2] = k % 2 ? (words[k / 2] & 0xFFFFu) | bits << 16 : (words[k / 2] & 0xFFFF0000u) | bits;
        }
    }
    /* `zero` is 0, which the compiler cannot know: it makes narrow elements wide again,
     * instead of keeping them wide. */
    __device__ void forget(unsigned zero) {
        if constexpr (sizeof(T) == 2) {
#pragma unroll
            for (int k = 0; k < 4; k++) words[k] ^= zero;
        }
    }
};

/* The maximum of some elements, and the sum of exp(x - maximum) over them. */
struct Pair {
    float max, sum;
};

/* exp(m - top), for parts that held nothing as well. */
__device__ float shrink(float m, float top) { return m == top ? 1.0f : exp_of(m - top); }

__device__ Pair join(Pair a, Pair b) {
    float top = fmaxf(a.max, b.max);
    return {top, a.sum * shrink(a.max, top) + b.sum * shrink(b.max, top)};
}

template <int LANES> __device__ Pair join_lanes(Pair p) {
#pragma unroll
    for (int by = LANES / 2; by; by /= 2)
        p = join(p, {__shfl_xor_sync(~0u, p.max, by), __shfl_xor_sync(~0u, p.sum, by)});
    return p;
}

/* Where a row's aligned vectors are: `head` elements before them, `whole` vectors, `tail` elements behind. */
template <typename T> struct Parts {
    int head, whole, tail;
    __device__ Parts(const T *row, int n) {
        int before = (16 - (int)((uintptr_t)row & 15)) % 16 / (int)sizeof(T);
        head = min(n, before);
        whole = (n - head) / Vector<T>::SIZE;
        tail = n - head - whole * Vector<T>::SIZE;
    }
};

/* The pair of the whole row from each warp's: one exchange in a block, a second one in a cluster of blocks. */
template <int WARPS, bool CLUSTER> __device__ Pair exchange(Pair own) {
    __shared__ Pair warps[WARPS];
    __shared__ Pair block;
    int lane = threadIdx.x % WARP;
    if (lane == 0) warps[threadIdx.x / WARP] = own;
    __syncthreads();
    Pair all = join_lanes<WARPS>(warps[lane % WARPS]);
    if constexpr (CLUSTER) {
        cg::cluster_group cluster = cg::this_cluster();
        if (threadIdx.x == 0) block = all;
        cluster.sync();
        for (unsigned r = 0; r < cluster.num_blocks(); r++)
            if (r != cluster.block_rank()) all = join(all, *cluster.map_shared_rank(&block, r));
        cluster.sync(); /* nobody leaves while its pair is read */
    }
    return all;
}

template <int LANES> __device__ float max_of_lanes(float m) {
#pragma unroll
    for (int by = (LANES < WARP ? LANES : WARP) / 2; by; by /= 2) m = fmaxf(m, __shfl_xor_sync(~0u, m, by));
    return m;
}

template <int LANES> __device__ float sum_of_lanes(float sum) {
#pragma unroll
    for (int by = (LANES < WARP ? LANES : WARP) / 2; by; by /= 2) sum += __shfl_xor_sync(~0u, sum, by);
    return sum;
}

/* A lane's vectors of a row: those at first, first + step, … below `whole`; the others count as -inf. */
template <typename T, int VECTORS> struct Slice {
    static constexpr int SIZE = Vector<T>::SIZE;
    static constexpr bool KEEPS_EXP = sizeof(T) == 4; /* in 16 bits exp is taken twice: half the registers */
    Vector<T> v[VECTORS] = {};

    __device__ void load(const T *from, int first, int step, int whole) {
#pragma unroll
        for (int i = 0; i < VECTORS; i++) {
            if (first + i * step < whole) {
                v[i] = reinterpret_cast<const Vector<T> *>(from)[first + i * step];
                continue;
            }
#pragma unroll
            for (int k = 0; k < SIZE; k++) v[i].set(k, narrow<T>(-INFINITY));
        }
    }

    __device__ float max(unsigned zero) {
        float m = -INFINITY;
#pragma unroll
        for (int i = 0; i < VECTORS; i++) {
#pragma unroll
            for (int k = 0; k < SIZE; k++) m = fmaxf(m, v[i].get(k));
            v[i].forget(zero);
        }
        return m;
    }

    __device__ float sum_exp(float shift, unsigned zero) {
        float sum = 0.0f;
#pragma unroll
        for (int i = 0; i < VECTORS; i++) {
#pragma unroll
            for (int k = 0; k < SIZE; k++) {
                float e = exp_of(v[i].get(k) - shift);
                if constexpr (KEEPS_EXP) v[i].set(k, e);
                sum += e;
            }
            v[i].forget(zero);
        }
        return sum;
    }

    /* exp(x - top) / sum: `kept` times what sum_exp kept, else `scale` times what is taken anew. */
    __device__ void store(T *to, int first, int step, int whole, float top, float scale, float kept) {
        bool is_aligned = ((uintptr_t)to & 15) == 0;
#pragma unroll
        for (int i = 0; i < VECTORS; i++) {
            int at = first + i * step;
            if (at >= whole) continue;
#pragma unroll
            for (int k = 0; k < SIZE; k++) {
                float e = KEEPS_EXP ? v[i].get(k) * kept : exp_of(v[i].get(k) - top) * scale;
                v[i].set(k, narrow<T>(e));
            }
            if (is_aligned) {
                reinterpret_cast<Vector<T> *>(to)[at] = v[i];
                continue;
            }
#pragma unroll
            for (int k = 0; k < SIZE; k++) to[at * SIZE + k] = narrow<T>(v[i].get(k));
        }
    }
};

template <typename T, int LANES, int ROWS, int VECTORS, bool CLUSTER>
__global__ void __launch_bounds__(LANES *ROWS)
    softmax_rows(T *y, const T *x, int64_t y_stride, int64_t x_stride, int rows, int n, unsigned zero) {
    int blocks = 1, rank = 0;
    if constexpr (CLUSTER) {
        blocks = (int)cg::this_cluster().num_blocks();
        rank = (int)cg::this_cluster().block_rank();
    }
    int64_t row = (int64_t)(blockIdx.x / blocks) * ROWS + threadIdx.x / LANES;
    bool is_row = row < rows;
    if (!is_row) row = rows - 1; /* its lanes still take part in the shuffles */
    const T *in = x + row * x_stride;
    T *out = y + row * y_stride;
    Parts<T> parts(in, n);
    int first = rank * LANES + threadIdx.x % LANES, step = blocks * LANES;

    float head = first < parts.head ? wide(in[first]) : -INFINITY;
    float tail = first < parts.tail ? wide(in[n - parts.tail + first]) : -INFINITY;
    Slice<T, VECTORS> slice;
    slice.load(in + parts.head, first, step, parts.whole);
    float m = max_of_lanes<LANES>(fmaxf(fmaxf(head, tail), slice.max(zero)));
    float shift = m == -INFINITY ? 0.0f : m;
    Pair all = {m, sum_of_lanes<LANES>(exp_of(head - shift) + exp_of(tail - shift) + slice.sum_exp(shift, zero))};
    if constexpr (LANES > WARP) all = exchange<LANES / WARP, CLUSTER>(all);
    float scale = 1.0f / all.sum;
    float kept = scale * shrink(m, all.max); /* of what was taken relative to the warp's maximum */

    if (!is_row) return;
    if (first < parts.head) out[first] = narrow<T>(exp_of(head - shift) * kept);
    if (first < parts.tail) out[n - parts.tail + first] = narrow<T>(exp_of(tail - shift) * kept);
    slice.store(out + parts.head, first, step, parts.whole, all.max, scale, kept);
}

/* Rows beyond what registers hold: read twice, element by element. */
template <typename T, int THREADS>
__global__ void __launch_bounds__(THREADS) softmax_long(T *y, const T *x, int64_t y_stride, int64_t x_stride, int n) {
    const T *in = x + blockIdx.x * x_stride;
    T *out = y + blockIdx.x * y_stride;
    Pair own = {-INFINITY, 0.0f};
    for (int i = threadIdx.x; i < n; i += THREADS) {
        float v = wide(in[i]), top = fmaxf(own.max, v);
        own.sum = own.sum * shrink(own.max, top) + shrink(v, top);
        own.max = top;
    }
    Pair all = exchange<THREADS / WARP, false>(join_lanes<WARP>(own));
    for (int i = threadIdx.x; i < n; i += THREADS) out[i] = narrow<T>(exp_of(wide(in[i]) - all.max) / all.sum);
}

/* ---- Which form for which length --------------------------------------------------------------------------------- */

template <typename T, int LANES, int ROWS, int VECTORS, bool CLUSTER>
static int start(T *y, const T *x, int64_t y_stride, int64_t x_stride, int rows, int n, int blocks,
                 cudaStream_t stream) {
    auto kernel = softmax_rows<T, LANES, ROWS, VECTORS, CLUSTER>;
    cudaLaunchAttribute cluster = {};
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim = {(unsigned)blocks, 1, 1};
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3((unsigned)((rows + ROWS - 1) / ROWS * blocks));
    config.blockDim = dim3(LANES * ROWS);
    config.stream = stream;
    config.attrs = &cluster;
    config.numAttrs = CLUSTER ? 1 : 0;
    if (CLUSTER && blocks > 8) (void)cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    return (int)cudaLaunchKernelEx(&config, kernel, y, x, y_stride, x_stride, rows, n, 0u);
}

/* One row each: lanes a row, rows a block, vectors a lane. The first that holds the row is taken. */
#define FORMS(FORM) \
    FORM(8, 16, 1) FORM(8, 16, 2) FORM(16, 8, 2) \
    FORM(32, 4, 2) FORM(32, 4, 3) FORM(32, 4, 4) FORM(32, 4, 6) FORM(32, 4, 8) \
    FORM(128, 1, 3) FORM(128, 1, 4) FORM(128, 1, 5) FORM(128, 1, 6) FORM(128, 1, 8) FORM(128, 1, 10) \
    FORM(256, 1, 6) FORM(256, 1, 8) FORM(256, 1, 9) FORM(256, 1, 10) FORM(256, 1, 12) FORM(256, 1, 16) \
    FORM(512, 1, 10) FORM(512, 1, 12) FORM(512, 1, 16)

template <typename T>
static int softmax(void *y_, const void *x_, int64_t y_stride, int64_t x_stride, int rows, int n, cudaStream_t stream) {
    T *y = static_cast<T *>(y_);
    const T *x = static_cast<const T *>(x_);
    int vectors = n / Vector<T>::SIZE;
    if (rows <= 0 || n <= 0) return 0;
#define FORM(LANES, ROWS, VECTORS)                                                                                     \
    if (vectors <= LANES * VECTORS)                                                                                    \
        return start<T, LANES, ROWS, VECTORS, false>(y, x, y_stride, x_stride, rows, n, 1, stream);
    FORMS(FORM)
#undef FORM
    constexpr int THREADS = 512, VECTORS = 8;
    for (int blocks = 2; blocks <= 16; blocks *= 2)
        if (vectors <= blocks * THREADS * VECTORS)
            return start<T, THREADS, 1, VECTORS, true>(y, x, y_stride, x_stride, rows, n, blocks, stream);
    softmax_long<T, 1024><<<(unsigned)rows, 1024, 0, stream>>>(y, x, y_stride, x_stride, n);
    return (int)cudaGetLastError();
}

#define ENTRY(NAME, T) \
    extern "C" int NAME(void *y, const void *x, int64_t y_stride, int64_t x_stride, int rows, int n, void *stream) { \
        return softmax<T>(y, x, y_stride, x_stride, rows, n, static_cast<cudaStream_t>(stream)); \
    }
ENTRY(softmax_fp32, float)
ENTRY(softmax_fp16, __half)
ENTRY(softmax_bf16, __nv_bfloat16)

/* cutlass_products.cu - products of bf16 matrices by CUTLASS 2's kernels for sm_80, each tile a function.
 *
 * nvcc -O3 -std=c++17 -arch=sm_90 -Xcompiler -fPIC -shared -cudart shared -ICUTLASS/include cutlass_products.cu -o
 * libcutlass_products.so, and products.py --cutlass libcutlass_products.so. All matrices are row-major and contiguous.
 */
#include <cutlass/gemm/device/gemm.h>

namespace {

using T = cutlass::bfloat16_t;
using Rows = cutlass::layout::RowMajor;
enum { GROUP = 8, VECTOR = 8 };

template <int BM, int BN, int BK, int STAGES>
int product(int m, int n, int k, void *a, void *b, void *c, void *stream) {
    using cutlass::gemm::GemmShape;
    using Gemm = cutlass::gemm::device::Gemm<
        T, Rows, T, Rows, T, Rows, float, cutlass::arch::OpClassTensorOp, cutlass::arch::Sm80, GemmShape<BM, BN, BK>,
        GemmShape<64, 64, BK>, GemmShape<16, 8, 16>,
        cutlass::epilogue::thread::LinearCombination<T, VECTOR, float, float>,
        cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<GROUP>, STAGES>;
    auto out = static_cast<T *>(c);
    typename Gemm::Arguments args({m, n, k}, {static_cast<T *>(a), k}, {static_cast<T *>(b), n}, {out, n}, {out, n},
                                  {1.0f, 0.0f});
    return static_cast<int>(Gemm()(args, nullptr, static_cast<cudaStream_t>(stream)));
}

} // namespace

#define PRODUCT(BM, BN, BK, STAGES)                                                                                    \
    extern "C" int product_##BM##x##BN##x##BK##s##STAGES(int m, int n, int k, void *a, void *b, void *c, void *stream) \
    {                                                                                                                  \
        return product<BM, BN, BK, STAGES>(m, n, k, a, b, c, stream);                                                  \
    }
PRODUCT(128, 128, 32, 4)
PRODUCT(128, 128, 64, 3)
PRODUCT(128, 256, 64, 3)
PRODUCT(128, 256, 64, 4)
PRODUCT(256, 128, 64, 3)

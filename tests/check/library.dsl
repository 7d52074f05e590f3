# RUN: fsc --emit=tile --passes= %s -o - | FileCheck %s
# RUN: fsc --emit=ptx --arch=sm_80 %s -o - | FileCheck --check-prefix=LINES %s
# Functions of the library are inlined; they see the builtins, not the file's names,
# and count as the line that calls them.
@jit
def exp(x):
    return x + 3.0

@kernel(grid=(1,))
def k(x: *fp32, h: *fp16):
    i = arange(0, 128)
    v = load(x + i)
    # CHECK: = fabs %v : tile<128xfp32>
    # CHECK: %[[E:.*]] = exp %{{.*}} : tile<128xfp32>
    # CHECK: fdiv %{{.*}}, %{{.*}} : tile<128xfp32>
    # LINES: .loc [[F:[0-9]+]] [[#@LINE+1]]
    store(x + i, sigmoid(v))
    # LINES-NOT: .file {{.*}}lib/
    # LINES: .file [[F]] "{{.*}}library.dsl"
    # LINES-NOT: .file {{.*}}lib/
    # As a method, and of a narrower type: through fp32, rounded once.
    # CHECK: %[[W:.*]] = fpext %{{.*}} : tile<128xfp32>
    # CHECK: fabs %[[W]] : tile<128xfp32>
    # CHECK: fptrunc %{{.*}} : tile<128xfp16>
    store(h + i, load(h + i).sigmoid())
    # CHECK: reduce %v {axis = 0, combine = fmax}
    store(x + i, tl.softmax(v))
    # A constant is computed at compile time.
    # CHECK: const 0.5 : fp32
    store(x, sigmoid(0.0))
    # CHECK: const 3.0
    # CHECK-NOT: exp
    store(x, exp(load(x)))

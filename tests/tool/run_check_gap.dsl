# An access that misses its buffer by far hits no other buffer of the launch.
# RUN: exits 1 fsc run --device=emu --check %s x=zeros:fp32[64] y=zeros:fp32[64] z=zeros:fp32[64] 2>&1 | FileCheck %s
# RUN: exits 1 fsc run --device=cpu --check %s x=zeros:fp32[64] y=zeros:fp32[64] z=zeros:fp32[64] 2>&1 | FileCheck %s
# CHECK: run_check_gap.dsl:[[#@LINE+10]]:5: out-of-bounds: program (0, 0, 0){{.*}}: writes 4 bytes at {{[xyz]\[-?[0-9]+\], (beyond the end|before the beginning)}}
# CHECK: run_check_gap.dsl:[[#@LINE+10]]:5: out-of-bounds: program (0, 0, 0){{.*}}: writes 4 bytes at {{[xyz]\[-?[0-9]+\], (beyond the end|before the beginning)}}
# CHECK: (32 times)
# CHECK-NOT: race
# CHECK: the checks found 2 mistakes
@kernel(grid=(1,))
def f(z: *fp32, y: *fp32, x: *fp32):
    i = arange(0, 32) * 4000
    v = load(z + arange(0, 32))
    # 500,000 bytes before and behind
    store(y + 100 + i, v)
    store(y - 1 - i, v)

# A comparison in a part of a tile, as strips are made of, keeps its run, which may be longer than the part.
# RUN: fsc %s --arch=sm_90 --num-warps=1 --signature="*bf16, *bf16, i32" --verify-each --emit=simt -o - | FileCheck %s
# CHECK-COUNT-4: icmp slt {{.*}}run = 64} : tile<16x64
@kernel(grid=(1,))
def f(x: *bf16, y: *bf16, n: i32):
    i = arange(0, 64)[:, None] * 64 + arange(0, 64)[None, :]
    product = dot(full((64, 1), 0, u8), full((1, 1), 255, u8), full((64, 1), 0, i32))
    store(x + i, where(product < 0, full((64, 64), 1.0, bf16), 0.0))
    same = program_id(0) + full((64, 64), 0, i32)
    store(y + i, where(same < n, full((64, 64), 1.0, bf16), full((64,), 0.0, bf16)))

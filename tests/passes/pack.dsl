# Programs of one warp share a block, unless they have a barrier for the block or shared memory;
# the entry then takes the grid.
# RUN: fsc --emit=simt --kernel=small %s -o - | FileCheck %s --check-prefix=PACKED
# RUN: fsc --emit=ptx --kernel=small %s -o - | FileCheck %s --check-prefix=PTX
# RUN: fsc --emit=report --kernel=small %s -o - | FileCheck %s --check-prefix=RECORD
# RUN: fsc --emit=simt --kernel=small --num-warps=2 %s -o - | FileCheck %s --check-prefix=ALONE
# RUN: fsc --emit=simt --kernel=small -O0 %s -o - | FileCheck %s --check-prefix=ALONE
# PACKED: packed 4
# ALONE-NOT: packed
# PTX: .entry small
# PTX-COUNT-5: .param
# PTX: .maxntid 128
# PTX: ntid.x
# RECORD: launch small threads=128 programs=4 blocks=1
@kernel(grid=(n,), num_warps=1)
def small(y: *fp32, n: i32):
    store(y + program_id(0) * 32 + arange(0, 32), 1.0)

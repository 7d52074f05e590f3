# Small tiles take less than a warp: 16-byte accesses, two a lane, shuffles within the program's lanes; a warp where the
# user or control flow wants one.
# RUN: fsc %s --kernel soft --emit=ptx --arch=sm_90 --signature "*fp32:16, *fp32:16, i32:16, i32" -o - \
# RUN:   | FileCheck --check-prefixes=ALL,EIGHT %s
# RUN: fsc %s --kernel soft --emit=ptx --arch=sm_90 -T T=fp16 --signature "*fp16:16, *fp16:16, i32:16, i32" -o - \
# RUN:   | FileCheck --check-prefixes=ALL,FOUR %s
# RUN: fsc %s --kernel soft --emit=ptx --arch=sm_90 -T T=fp16 -o - | FileCheck --check-prefixes=SECTOR %s
# RUN: fsc %s --kernel soft --emit=ptx --arch=sm_90 -D BLOCK=128 -o - | FileCheck --check-prefix=SIXTEEN %s
# RUN: fsc %s --kernel soft --emit=ptx --arch=sm_90 -D BLOCK=256 -o - | FileCheck --check-prefix=WARP %s
# RUN: fsc %s --kernel soft --emit=ptx --arch=sm_90 --num-warps 1 -o - | FileCheck --check-prefix=WARP %s
# RUN: fsc %s --kernel soft --emit=ptx --arch=sm_90 --passes=-subwarp -o - | FileCheck --check-prefix=WARP %s
# RUN: fsc %s --kernel persistent --emit=ptx --arch=sm_90 -o - | FileCheck --check-prefix=WARP %s
# RUN: fsc %s --kernel early --emit=ptx --arch=sm_90 -o - | FileCheck --check-prefix=WARP %s
# RUN: fsc %s --kernel loaded --emit=ptx --arch=sm_90 -o - | FileCheck --check-prefix=WARP %s
# RUN: fsc %s --kernel steered --emit=ptx --arch=sm_90 -o - | FileCheck --check-prefix=WARP %s
# RUN: fsc %s --kernel sorted --emit=ptx --arch=sm_90 -o - | FileCheck --check-prefix=PLAIN %s
# RUN: fsc %s --kernel alike --emit=ptx --arch=sm_90 -o - | FileCheck --check-prefix=EIGHT_LANES %s
# RUN: fsc %s --kernel soft --emit=simt --arch=sm_90 -o - | FileCheck --check-prefix=IR %s
# RUN: fsc info %s --kernel soft n_rows=1000 n_cols=64 stride=64 | FileCheck --check-prefix=INFO %s
# ALL: .maxntid 128
# EIGHT: shr.u32 {{.*}}, %r{{[0-9]+}}, 3;
# FOUR: shr.u32 {{.*}}, %r{{[0-9]+}}, 2;
# ALL-COUNT-2: ld.global.v4.b32
# EIGHT: shfl.sync.bfly.b32 {{.*}}, 4, 6175, -1;
# FOUR: shfl.sync.bfly.b32 {{.*}}, 2, 7199, -1;
# ALL: shfl.sync.bfly.b32 {{.*}}, 1, {{6175|7199}}, -1;
# ALL-COUNT-2: st.global.v4.b32
# SECTOR: shfl.sync.bfly.b32 {{.*}}, 8, 4127, -1;
# SIXTEEN: shfl.sync.bfly.b32 {{.*}}, 8, 4127, -1;
# WARP: shr.u32 {{.*}}, %r{{[0-9]+}}, 5;
# WARP: shfl.sync.bfly.b32 {{.*}}, 16, 31, -1;
# PLAIN-NOT: {{6175|7199|4127}}
# EIGHT_LANES: shfl.sync.bfly.b32 {{.*}}, 4, 6175, -1;
# IR: warps 1 threads 8
# INFO: threads per program    8 (4 programs a warp)
@kernel(grid=(n_rows,), BLOCK=next_power_of_2(n_cols))
def soft(y: *T[n_rows:stride, n_cols], x: *T[n_rows:stride, n_cols], stride: i32, n_cols: i32, BLOCK: constexpr = 64, T: dtype = fp32, n_rows: i32 = 1):
    cols = arange(0, BLOCK)
    v = load(x + program_id(0) * stride + cols, mask=cols < n_cols, other=-inf).to(fp32)
    e = exp(v - max(v, axis=0))
    store(y + program_id(0) * stride + cols, e / sum(e, axis=0), mask=cols < n_cols)


@kernel
def persistent(y: *fp32, x: *fp32, n: i32):
    i = arange(0, 64)
    for row in range(program_id(0), n, num_programs(0)):
        v = load(x + row * 64 + i)
        store(y + row * 64 + i, v - max(v, axis=0))


@kernel
def early(y: *fp32, x: *fp32, n: i32):
    i = arange(0, 64)
    if program_id(0) < n:
        v = load(x + program_id(0) * 64 + i)
        store(y + program_id(0) * 64 + i, v - max(v, axis=0))


@kernel
def loaded(y: *fp32, x: *fp32, turns: *i32):
    i = arange(0, 64)
    v = load(x + program_id(0) * 64 + i)
    for k in range(0, load(turns + program_id(0))):
        v = v - max(v, axis=0)
    store(y + program_id(0) * 64 + i, v)


@kernel
def steered(y: *fp32, x: *fp32):
    i = arange(0, 64)
    v = load(x + program_id(0) * 64 + i)
    while max(v, axis=0) > 1:
        v = v / 2
    store(y + program_id(0) * 64 + i, v)


@kernel
def sorted(y: *fp32, x: *fp32):
    i = arange(0, 64)
    store(y + program_id(0) * 64 + i, sort(load(x + program_id(0) * 64 + i)))


@kernel
def alike(y: *fp32, x: *fp32, turns: i32):
    i = arange(0, 64)
    v = load(x + program_id(0) * 64 + i)
    for k in range(program_id(1), turns):
        v = v - max(v, axis=0)
    store(y + program_id(0) * 64 + i, v)

# RUN: fsc %s --kernel=everything -D B=64 --num-warps=4
# One statement of each kind, for the mutations to take apart.
import triton.language as tl
SIZES = (16, 32)
EPS = 1e-6

@jit
def both(a, b, *rest, flip: constexpr = False):
    """What branches on a constexpr, and returns twice."""
    if flip:
        return b, a
    return a, b + len(rest)

@kernel(grid=(cdiv(n, B), 2), num_warps=min(8, max(1, B // 32)))
def everything(y: *T, x: *const fp32[n, 4], n: i64, B: constexpr = next_power_of_2(n), T: dtype = fp16):
    pid, other = program_id(0), program_id(axis=1)
    i = pid * B + arange(0, B)
    mask = (i < n) & (i >= 0)
    a, b = both(load(x + i, mask=mask, other=-inf), 2.0, flip=True)
    total: fp32 = 0.0
    for j in range(0, n, 2, num_stages=2):
        v = load(x + i[:, None] * 4 + arange(0, 4)[None, :], mask=mask[:, None])
        if j > 3 and not other == 1:
            continue
        total += sum(max(v, axis=1), 0) if j % 2 else 1.0
        if total > 1e30:
            break
    for s in static_range(2):
        a = where(mask, a * s + exp(a) ** 2, -a / 1.0 % 7.5)
    while pid > SIZES[0]:
        pid -= 1 << 2
        if pid == 7:
            return
    assert B >= 1, f"B is {B}"
    atomic_add(y + i, (a + b).to(fp16), mask=mask, sem="relaxed")
    tl.store(y + i, tl.cast(a / (total + EPS), T, fp_downcast_rounding="rtz"), mask, cache_modifier=".cg")

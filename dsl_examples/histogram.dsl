# counts[b] += how many of the n values of x are b, for 0 <= b < bins; other values are left out. Clear counts first.
#
# Only the sums matter, not who adds first: "relaxed" lets the GPU send the additions off without waiting.
#
#   fsc run histogram.dsl x=a.npy counts=zeros.npy
@kernel(grid=(cdiv(n, BLOCK),), BLOCK=1024)
def histogram(counts: *i32[bins], x: *T[n], n: i32, bins: i32, BLOCK: constexpr = 1024, T: dtype = i32):
    i = program_id(0) * BLOCK + arange(0, BLOCK)
    b = load(x + i, mask=i < n, other=-1).to(i32)
    atomic_add(counts + b, 1, mask=(b >= 0) & (b < bins), sem="relaxed")

# test: x=random:0:i32[5000] counts=random:1:i32[64]
# expect counts: counts + sum(x == arange(bins)[:, None], axis=1)[:, 0]

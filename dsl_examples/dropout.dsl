# y = x with each element kept with probability 1 - p and scaled by 1 / (1 - p), else 0.
#
# Who is kept depends on seed and position alone: a backward pass computes the same choice again and stores no mask.
#
#   fsc run dropout.dsl x=a.npy y=b.npy p=0.1 seed=42
@kernel(grid=(cdiv(n, BLOCK),), BLOCK=1024)
def dropout(y: *T[n], x: *T[n], n: i32, p: fp32, seed: i64, BLOCK: constexpr = 1024, T: dtype = fp32):
    i = program_id(0) * BLOCK + arange(0, BLOCK)
    mask = i < n
    v = load(x + i, mask=mask).to(fp32)
    keep = rand(seed, i) > p
    store(y + i, where(keep, v / (1 - p), 0.0), mask=mask)

# test nothing dropped: x=random:0:fp32[1000] p=0 seed=42
# expect y: x

# The k largest elements of each row and where they stand, the largest first; of equal ones, the first. NaN counts as
# more than any number, as in torch.topk. A row may have any length.
#
#   value[i, r] = x[i, index[i, r]],   index[i, :] = the first k columns of row i in descending order
#
# An element becomes a 64-bit key: its bits in the order of the numbers, then its column from the right, so that no two
# keys are equal. A program goes over its row in chunks. Of a chunk that has a key above the least one kept, a sorting
# network takes the K largest, and another one merges them with those kept. Of random numbers most chunks have none.
#
#   fsc run topk.dsl x=in.npy value=v.npy:fp32[1823,8] index=i.npy:i32[1823,8]
@jit
def key_of(v, col):
    bits = (v.to(fp32) + 0.0).to(i32, bitcast=True)
    order = where(v == v, bits ^ (bits >> 31 & 0x7fffffff), 0x7fffffff)
    return order.to(i64) << 32 | 0x7fffffff - col.to(i64)

@kernel(grid=(n_rows,), K=next_power_of_2(k), BLOCK=max(K, min(1024, next_power_of_2(n_cols))),
        require=(K >= k, k <= n_cols))
def topk_rows(value: *T[n_rows, k], index: *i32[n_rows, k], x: *T[n_rows:x_stride, n_cols], x_stride: i32,
              n_rows: i32, n_cols: i32, k: i32, K: constexpr = 8, BLOCK: constexpr = 1024, T: dtype = fp32):
    row = program_id(0)
    least = -9223372036854775807 - 1
    kept = full((K,), least, i64)
    for first in range(0, n_cols, BLOCK):
        cols = first + arange(0, BLOCK)
        mask = cols < n_cols
        keys = where(mask, key_of(load(x + row * x_stride + cols, mask=mask), cols), least)
        if max(keys, axis=0) > min(kept, axis=0):
            kept = topk(cat(kept, topk(keys, K)), K)
    r = arange(0, K)
    at = (0x7fffffff - (kept & 0x7fffffff)).to(i32)
    store(value + row * k + r, load(x + row * x_stride + at, mask=r < k), mask=r < k)
    store(index + row * k + r, at, mask=r < k)

# test the largest alone: x=random:0:fp32[5,3000] value=zeros:fp32[5,1] index=zeros:i32[5,1]
# expect index: argmax(x, axis=1)[:, None]
# expect value: max(x, axis=1)[:, None]

# One attention out of parts of it: o[i, :] = sum_p w[p] parts[p, i, :] / sum_p w[p],   w[p] = exp(lse[p, i]).
#
# Each part is the mean of the values at some of the keys, with the logarithm of its sum of weights, as
# attention_decode.dsl writes them. The largest logarithm is taken off all, as in softmax.dsl. A row without keys is 0.
# The launch begins while the one that writes the parts still runs, and waits for its end.
#
#   fsc run attention_merge.dsl parts=parts.npy lse=lse.npy o=out.npy
@kernel(grid=(n_rows,), PARTS=next_power_of_2(n_parts), DIM=next_power_of_2(dim), require=(PARTS >= n_parts,
        DIM >= dim))
def attention_merge(o: *T[n_rows, dim], parts: *const fp32[n_parts, n_rows, dim], lse: *const fp32[n_parts, n_rows],
                    n_parts: i32, n_rows: i32, dim: i32, PARTS: constexpr = 8, DIM: constexpr = 64, T: dtype = fp16):
    gdc_wait()
    row = program_id(0)
    p = arange(0, PARTS)
    d = arange(0, DIM)
    each = load(lse + p * n_rows + row, mask=p < n_parts, other=-inf)
    m = max(each, axis=0)
    w = exp(each - (0.0 if m == -inf else m))
    s = sum(w, axis=0)
    part = load(parts + (p * n_rows + row)[:, None] * dim + d[None, :],
                mask=(p < n_parts)[:, None] & (d < dim)[None, :])
    store(o + row * dim + d, sum(w[:, None] * part, axis=0) / (1.0 if s == 0.0 else s), mask=d < dim)

# test: parts=random:0:fp32[3,10,40] lse=random:1:fp32[3,10] -T T=fp32
# expect o: sum(exp(lse)[:, :, None] * parts, axis=0) / sum(exp(lse)[:, :, None], axis=0)

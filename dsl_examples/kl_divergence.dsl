# How far the row softmax q of one matrix of scores lies from the row softmax p of another, as a student's from a
# teacher's: the Kullback-Leibler divergence in nats, and what flows back to the student's scores b.
#
#   loss[i]  = sum_j p[i, j] * (log p[i, j] - log q[i, j]),   p = softmax(a), q = softmax(b)
#   db[i, j] = q[i, j] - p[i, j]
#
# Neither p nor q is formed for the logarithms: log p is a - m - log(sum_k exp(a[k] - m)), which never underflows. Where
# p is 0 (a score of -inf) the term is 0, whatever q is there. db may be b: a row is read before it is written.
#
#   fsc run kl_divergence.dsl a=teacher.npy b=student.npy loss=loss.npy db=grad.npy
@jit
def log_softmax(v):
    v -= max(v, axis=0)
    return v - log(sum(exp(v), axis=0))


@kernel(grid=(n_rows,), BLOCK=next_power_of_2(n_cols), require=(BLOCK >= n_cols,))
def kl_divergence(loss: *fp32[n_rows], db: *T[n_rows:db_stride, n_cols], a: *T[n_rows:a_stride, n_cols],
                  b: *T[n_rows:b_stride, n_cols], db_stride: i32, a_stride: i32, b_stride: i32, n_rows: i32,
                  n_cols: i32, BLOCK: constexpr = 1024, T: dtype = fp32):
    row = program_id(0)
    cols = arange(0, BLOCK)
    mask = cols < n_cols
    log_p = log_softmax(load(a + row * a_stride + cols, mask=mask, other=-inf).to(fp32))
    log_q = log_softmax(load(b + row * b_stride + cols, mask=mask, other=-inf).to(fp32))
    p = exp(log_p)
    store(loss + row, sum(where(p == 0, 0.0, p * (log_p - log_q)), axis=0))
    store(db + row * db_stride + cols, exp(log_q) - p, mask=mask)

# test: a=random:0:fp32[5,300] b=random:1:fp32[5,300]
# expect loss: sum(exp(a) / sum(exp(a), axis=1) * (a - log(sum(exp(a), axis=1)) - b + log(sum(exp(b), axis=1))), axis=1)
# expect db: exp(b) / sum(exp(b), axis=1) - exp(a) / sum(exp(a), axis=1)

# Exponentials of which no more than 16 bits are left are computed to no more; others are not.
# RUN: fsc %s --kernel=softmax -T T=fp16 --arch=sm_90 --verify-each --passes=-online --emit=simt -o - \
# RUN:   | FileCheck %s --check-prefixes=RELAXED
# RUN: fsc %s --kernel=softmax -T T=bf16 --arch=emu --verify-each --emit=simt -o - \
# RUN:   | FileCheck %s --check-prefixes=RELAXED
# RUN: fsc %s --kernel=softmax -T T=fp32 --arch=sm_90 --emit=simt -o - | FileCheck %s --check-prefix=FULL
# RUN: fsc %s --kernel=softmax -T T=fp16 --arch=sm_90 --passes=-relax_exp --emit=simt -o - \
# RUN:   | FileCheck %s --check-prefix=FULL
# RUN: fsc %s --kernel=softmax -T T=fp16 --arch=sm_90 -O0 --emit=simt -o - | FileCheck %s --check-prefix=FULL
# RUN: fsc %s --kernel=softmax -T T=fp16 --arch=cpu --emit=tile -o - | FileCheck %s --check-prefix=RELAXED
# RUN: fsc %s --kernel=softmax -T T=fp32 --arch=cpu --emit=tile -o - | FileCheck %s --check-prefix=FULL
# RUN: fsc %s --kernel=log_sum --arch=cpu --emit=tile -o - | FileCheck %s --check-prefix=TERM
# RUN: fsc %s --kernel=chosen -T T=fp16 --arch=sm_90 --emit=simt -o - | FileCheck %s --check-prefix=RELAXED
# RUN: fsc %s --kernel=chosen -T T=fp16 -D KEPT=True --arch=sm_90 --emit=simt -o - | FileCheck %s --check-prefix=FULL
# RUN: fsc %s --kernel=chosen -T T=fp32 --arch=sm_90 --emit=simt -o - | FileCheck %s --check-prefix=FULL
# RUN: fsc %s --kernel=differences -T T=fp16 --arch=sm_90 --emit=simt -o - | FileCheck %s --check-prefix=FULL
# RUN: fsc %s --kernel=halves -T T=fp16 --arch=sm_90 --emit=simt -o - | FileCheck %s --check-prefix=HALVES
# RUN: fsc %s --kernel=halves -T T=fp16 -D MOST=-0.5 --arch=sm_90 --emit=simt -o - | FileCheck %s --check-prefix=MORE
# HALVES: exp2 %{{.*}} {accuracy = relaxed}
# MORE-NOT: accuracy =
# RUN: fsc %s --kernel=logs -T T=fp16 --arch=sm_90 --emit=simt -o - | FileCheck %s --check-prefix=FULL
# RUN: fsc %s --kernel=both -T T=fp16 --arch=sm_90 --emit=simt -o - | FileCheck %s --check-prefix=FULL
# RUN: fsc %s --kernel=steers -T T=fp16 --arch=sm_90 --emit=simt -o - | FileCheck %s --check-prefix=FULL
# RUN: fsc %s --kernel=powers -T T=fp16 --arch=sm_90 --emit=simt -o - | FileCheck %s --check-prefix=FULL
# RUN: fsc %s --kernel=powers -T T=bf16 --arch=sm_90 --emit=simt -o - | FileCheck %s --check-prefix=RELAXED
# RUN: fsc %s --kernel=rounds -T T=fp16 --arch=sm_90 --emit=simt -o - | FileCheck %s --check-prefix=FULL
# RUN: fsc %s --kernel=log_sum --arch=sm_90 --verify-each --passes=-online --emit=simt -o - \
# RUN:   | FileCheck %s --check-prefix=TERM
# RUN: fsc %s --kernel=log_sum -T T=bf16 --arch=emu --verify-each --emit=simt -o - | FileCheck %s --check-prefix=TERM
# RUN: fsc %s --kernel=log_sum -D FACTOR=0.5 --arch=sm_90 --emit=simt -o - | FileCheck %s --check-prefix=TERM
# RUN: fsc %s --kernel=log_sum -D FACTOR=-0.5 --arch=sm_90 --emit=simt -o - | FileCheck %s --check-prefix=FULL
# RUN: fsc %s --kernel=log_sum --arch=sm_90 --passes=-relax_exp --emit=simt -o - | FileCheck %s --check-prefix=FULL
# RUN: fsc %s --kernel=log_sum_so_far --arch=sm_90 --emit=simt -o - | FileCheck %s --check-prefix=FULL
# RUN: fsc %s --kernel=log_sum_scaled --arch=sm_90 --emit=simt -o - | FileCheck %s --check-prefix=FULL
# RUN: fsc %s --kernel=attention --arch=sm_90 --verify-each --emit=simt -o - | FileCheck %s --check-prefixes=SHRINK,WEIGHT
# RUN: fsc %s --kernel=attention --arch=sm_75 --verify-each --emit=simt -o - | FileCheck %s --check-prefixes=SHRINK,WEIGHT
# RUN: fsc %s --kernel=attention -D FIRST=200.0 --arch=sm_90 --emit=simt -o - | FileCheck %s --check-prefix=NOTERM
# RUN: fsc %s --kernel=attention -D KEPT=True --arch=sm_90 --emit=simt -o - | FileCheck %s --check-prefixes=SHRINK,STORED
# RUN: fsc %s --kernel=attention -D BASE2=False --arch=sm_90 --emit=simt -o - | FileCheck %s --check-prefix=NOTERM
# RUN: fsc %s --kernel=attention -D BASE2=False -D SIGN=0.5 --arch=sm_90 --emit=simt -o - \
# RUN:   | FileCheck %s --check-prefix=WEIGHT
# SHRINK: %shrink = exp2 %{{.*}} {accuracy = term}
# WEIGHT: %p = exp{{2?}} %{{.*}} {accuracy = term}
# STORED: %p = exp2 %d : tile
# NOTERM-NOT: accuracy = term
# RELAXED: exp %{{.*}} {accuracy = relaxed}
# TERM: exp %{{.*}} {accuracy = term}
# FULL-NOT: accuracy =
# FULL: = exp %
# FULL-NOT: accuracy =
@kernel
def softmax(y: *T, x: *T, n: i32, BLOCK: constexpr = 1024, T: dtype = fp16):
    cols = arange(0, BLOCK)
    v = load(x + cols, mask=cols < n, other=-inf).to(fp32)
    e = exp(v - max(v, axis=0))
    store(y + cols, e / sum(e, axis=0), mask=cols < n)


# An arm of an if gives what the if is: both may err as that.
@kernel
def chosen(y: *T, x: *T, s: *fp32, edge: i32, KEPT: constexpr = False, T: dtype = fp16):
    i = arange(0, 128)
    e = exp(load(x + i).to(fp32))
    if edge > 0:
        e = where(i < edge, e, 0.0)
        if KEPT:
            store(s + i, e)
    store(y + i, e)


# What is left of a difference may be much less than its terms.
@kernel
def differences(y: *T, x: *T, T: dtype = fp16):
    i = arange(0, 128)
    store(y + i, exp(load(x + i).to(fp32)) - 1.0)


# Of 1 less what is 1/2 at most the error is no larger than that of what is taken off.
@kernel
def halves(y: *T, x: *T, MOST: constexpr = -1.0, T: dtype = fp16):
    i = arange(0, 128)
    store(y + i, 1.0 - exp2(minimum(load(x + i).to(fp32), MOST)))


@kernel
def logs(y: *T, x: *T, T: dtype = fp16):
    i = arange(0, 128)
    store(y + i, log(exp(load(x + i).to(fp32)) + 1.0))


@kernel
def both(y: *T, s: *fp32, x: *T, T: dtype = fp16):
    i = arange(0, 128)
    e = exp(load(x + i).to(fp32))
    store(y + i, e)
    store(s + i, e)


@kernel
def steers(y: *T, x: *T, T: dtype = fp16):
    i = arange(0, 128)
    v = load(x + i).to(fp32)
    store(y + i, where(exp(v) > 2.0, v, 0.0))


# The errors of factors add up: eight of them are too many for fp16, not for bf16.
@kernel
def powers(y: *T, x: *T, T: dtype = fp16):
    i = arange(0, 128)
    e = exp(load(x + i).to(fp32))
    e = e * e
    e = e * e
    store(y + i, e * e)


# What goes round a loop is not followed.
@kernel
def rounds(y: *T, x: *T, n: i32, T: dtype = fp16):
    i = arange(0, 128)
    s = zeros((128,), fp32)
    for k in range(0, n):
        s += exp(load(x + k * 128 + i).to(fp32))
    store(y + i, s)


# Terms of a sum of which e^0 is one. A factor that turns the difference round makes the others larger.
@kernel
def log_sum(y: *fp32, x: *T, n: i32, BLOCK: constexpr = 1024, FACTOR: constexpr = 1.0, T: dtype = fp32):
    cols = arange(0, BLOCK)
    v = load(x + cols, mask=cols < n, other=-inf).to(fp32)
    m = max(v, axis=0)
    store(y, m + log(sum(exp((v - m) * FACTOR), axis=0)))


# The largest term may be elsewhere.
@kernel
def log_sum_so_far(y: *fp32, x: *fp32, so_far: fp32, BLOCK: constexpr = 1024):
    v = load(x + arange(0, BLOCK))
    m = maximum(max(v, axis=0), so_far)
    store(y, sum(exp(v - m), axis=0))


@kernel
def log_sum_scaled(y: *fp32, x: *fp32, factor: fp32, BLOCK: constexpr = 1024):
    v = load(x + arange(0, BLOCK))
    m = max(v, axis=0)
    store(y, m + log(sum(exp((v - m) * factor), axis=0)))


# Terms of a sum that a loop goes on with, weights of what is summed beside it, and what both shrink by. A factor may
# have any sign where ex2 takes the difference as it is. Not where the maximum begins above all terms, and a term not
# where it is kept in fp32.
@kernel
def attention(y: *fp16, z: *fp32, x: *const fp16, n: i32, factor: fp32, SIGN: constexpr = None, FIRST: constexpr = -inf,
              KEPT: constexpr = False, BASE2: constexpr = True):
    i = arange(0, 64)
    at = i[:, None] * 64 + i[None, :]
    v = load(x + at)
    t = factor if SIGN is None else SIGN
    m = full((64,), FIRST, fp32)
    s = zeros((64,), fp32)
    sums = zeros((64, 64), fp32)
    for k in range(0, n):
        score = dot(load(x + k * 4096 + at), v)
        m_new = maximum(m, max(score, axis=1))
        shrink = exp2((m - m_new) * t) if BASE2 else exp((m - m_new) * t)
        d = score * t - (m_new * t)[:, None]
        p = exp2(d) if BASE2 else exp(d)
        s = s * shrink + sum(p, axis=1)
        sums = dot(p.to(fp16), v, sums * shrink[:, None])
        if KEPT:
            store(z + at, p)
        m = m_new
    store(y + at, sums / s[:, None])

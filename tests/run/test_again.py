"""test_again.py - rows that several loops need: loaded again by each on the CPU, or kept, as what is between allows.

In half of these kernels something writes the row, or may, between the loops that need it: what was loaded counts.
Weights are loaded by the loops that need them, also behind stores, as nothing writes what is const.
"""
import numpy as np

from case import case, close

ROWS = """
@kernel(grid=(m,))
def f(y: *fp32, s: *fp32, x: *T, w: *const T, n: i32, m: i32, N: constexpr = 512, T: dtype = fp32):
    row = program_id(0)
    i = arange(0, N)
    mask = i < n
    v = load(x + row * N + i, mask=mask, other=0.0).to(fp32)
    u = load(w + i, mask=mask, other=1.0).to(fp32)
    BODY
"""
N = 512
V = np.arange(N)
# name: the kernel's lines, and what they leave of a row v with its weights u: y, s, and the row itself.
BODIES = {
    "nothing between": ("a = max(v, axis=0); r = sum((v - a) * u, axis=0); store(y + row * N + i, v * r, mask=mask)\n"
                        "    store(s + row, r)", lambda v, u, n: (v * ((v - v.max()) * u).sum(),
                                                                  ((v - v.max()) * u).sum(), v)),
    "a store of one": ("a = sum(v, axis=0); store(x + row * N, (a * 0.0 + 5.0).to(T)); r = sum(v * a, axis=0)\n"
                       "    store(s + row, r); store(y + row * N + i, v, mask=mask)",
                       lambda v, u, n: (v, (v * v.sum()).sum(), np.where(V == 0, 5.0, v))),
    "a store of all": ("a = sum(v, axis=0); store(x + row * N + i, (v + 1.0).to(T), mask=mask)\n"
                       "    r = sum(v * u, axis=0) + a; store(s + row, r); store(y + row * N + i, v * u, mask=mask)",
                       lambda v, u, n: (v * u, (v * u).sum() + v.sum(), np.where(V < n, v + 1, v))),
    "a branch": ("a = sum(v, axis=0)\n    if a > -1000.0:\n        store(x + row * N + i, (v * 0.0).to(T), mask=mask)\n"
                 "    r = sum(v * u, axis=0); store(s + row, r); store(y + row * N + i, v - u, mask=mask)",
                 lambda v, u, n: (v - u, (v * u).sum(), np.where(V < n, 0.0, v))),
    "a loop": ("r = 0.0\n    for k in range(2):\n        r += sum(v * u, axis=0)\n"
               "        store(x + row * N + i, (v * 0.0 + k).to(T), mask=mask)\n"
               "    store(s + row, r); store(y + row * N + i, v * 2.0, mask=mask)",
               lambda v, u, n: (v * 2, 2 * (v * u).sum(), np.where(V < n, 1.0, v))),
    "an exchange": ("a = sum(v, axis=0); atomic_xchg(s + row, a); r = sum(v * u, axis=0)\n"
                    "    store(y + row * N + i, v + r, mask=mask)", lambda v, u, n: (v + (v * u).sum(), v.sum(), v)),
    "weights elsewhere": ("t = flip(u, 0); r = sum(v * t, axis=0); store(s + row, r)\n"
                          "    store(y + row * N + i, v * u, mask=mask)",
                          lambda v, u, n: (v * u, (v * u[::-1]).sum(), v)),
    "weights in a loop": ("r = 0.0\n    for k in range(3):\n        r += sum(v * u + k, axis=0)\n"
                          "    store(s + row, r); store(y + row * N + i, u, mask=mask)",
                          lambda v, u, n: (u, 3 * (v * u).sum() + 3 * N, v)),
}


@case(name=list(BODIES), n=[1, 31, 33, 500, 512], dtype=["fp32", "fp16"])
def loaded_or_kept(bench, name, n, dtype):
    m, rng = 3, np.random.default_rng(n)
    lines, want = BODIES[name]
    x, w = rng.integers(-8, 8, (m, N)) / 8.0, rng.integers(-4, 4, N) / 4.0
    y, s, row = bench.buffer("fp32", m * N), bench.buffer("fp32", m), bench.buffer(dtype, m * N, x)
    source = ROWS.replace("BODY", lines.replace("; ", "\n    "))
    bench.run(source, y, s, row, bench.buffer(dtype, N, w), n, m, types={"T": dtype})
    got, sums, left = y.read().reshape(m, N), s.read(), row.read().reshape(m, N)
    for k in range(m):
        t, r, after = want(np.where(V < n, x[k], 0.0), np.where(V < n, w, 1.0), n)
        close(got[k, :n], t[:n], 1e-6, 1e-6, f"row {k}")
        close(sums[k], r, 1e-6, 1e-5, f"the number of row {k}")
        close(left[k, :n], after[:n], 0, 0, f"what row {k} is then")

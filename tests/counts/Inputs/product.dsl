# r = a b, of which either may lie transposed in memory. Loads are 16 bytes wide along memory's rows.
@kernel(grid=(1,))
def product(r: *R, x: *const T, y: *const T, M: constexpr = 64, N: constexpr = 64, K: constexpr = 64,
            TURN_X: constexpr = 0, TURN_Y: constexpr = 0, T: dtype = fp16, R: dtype = fp32):
    i, j, k = arange(0, M), arange(0, N), arange(0, K)
    if TURN_X:
        a = load(x + k[:, None] * M + i[None, :]).T
    else:
        a = load(x + i[:, None] * K + k[None, :])
    if TURN_Y:
        b = load(y + j[:, None] * K + k[None, :]).T
    else:
        b = load(y + k[:, None] * N + j[None, :])
    store(r + i[:, None] * N + j[None, :], dot(a, b))

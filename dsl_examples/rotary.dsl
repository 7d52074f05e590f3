# Rotary embedding: the elements of a head are taken in pairs,
# and pair k is turned by the angle that belongs to its token's position and to k.
#
#   y[a] = x[a] * cos[p, k] - x[b] * sin[p, k]
#   y[b] = x[b] * cos[p, k] + x[a] * sin[p, k],   p = position[token]
#
# Two conventions say which elements are a pair: a = k, b = k + half (the default), or a = 2 k, b = 2 k + 1
# (INTERLEAVED). There the two lie side by side: the row is read whole, in its order, and `split` takes the neighbours
# apart; `interleave` lays them back. BACKWARD turns the other way, which is the gradient. y may be x.
#
#   fsc run rotary.dsl x=q.npy y=out.npy cos=cos.npy sin=sin.npy position=position.npy
#   fsc run rotary.dsl x=q.npy y=out.npy cos=cos.npy sin=sin.npy position=position.npy -D INTERLEAVED=True
@kernel(grid=(n_tokens, cdiv(n_heads, HEADS)), HALF=next_power_of_2(half),
        HEADS=max(1, min(next_power_of_2(n_heads), 1024 // HALF)), require=(HALF >= half,))
def rotary(y: *T[n_tokens, n_heads, 2 * half], x: *T[n_tokens, n_heads, 2 * half], cos: *const C[n_positions, half],
           sin: *const C[n_positions, half], position: *const i32[n_tokens], n_tokens: i32, n_heads: i32,
           n_positions: i32, half: i32, HEADS: constexpr = 16, HALF: constexpr = 64, INTERLEAVED: constexpr = False,
           BACKWARD: constexpr = False, T: dtype = fp32, C: dtype = fp32):
    token = program_id(0)
    heads = program_id(1) * HEADS + arange(0, HEADS)[:, None]
    k = arange(0, HALF)
    mask = (heads < n_heads) & (k < half)[None, :]
    p = load(position + token)
    c = load(cos + p * half + k, mask=k < half).to(fp32)[None, :]
    s = load(sin + p * half + k, mask=k < half).to(fp32)[None, :]
    if BACKWARD:
        s = -s

    at = (token * n_heads + heads) * (2 * half)
    if INTERLEAVED:
        cols = arange(0, 2 * HALF)[None, :]
        is_pair = (heads < n_heads) & (cols < 2 * half)
        a, b = split(load(x + at + cols, mask=is_pair).to(fp32).reshape(HEADS, HALF, 2))
        store(y + at + cols, interleave(a * c - b * s, b * c + a * s), mask=is_pair)
    else:
        first = at + k[None, :]
        a = load(x + first, mask=mask).to(fp32)
        b = load(x + first + half, mask=mask).to(fp32)
        store(y + first, a * c - b * s, mask=mask)
        store(y + first + half, b * c + a * s, mask=mask)

# test: x=random:0:fp32[9,4,16] cos=random:1:fp32[3,8] sin=random:2:fp32[3,8] position=zeros:i32[9]
# expect y: x * (take(cos, position) @ (arange(half)[:, None] == arange(16) % half))[:, None] \
#           + (x @ (arange(16)[:, None] == (arange(16) + half) % 16)) * where(arange(16) < half, -1, 1) \
#           * (take(sin, position) @ (arange(half)[:, None] == arange(16) % half))[:, None]

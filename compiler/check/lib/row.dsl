# row.dsl - functions over an axis of a tile.

# e^x over its sum along the axis, in fp32 or fp64, rounded once to the type of x.
@jit
def softmax(x, dim: constexpr = 0, keep_dims: constexpr = False, ieee_rounding: constexpr = False,
            axis: constexpr = None):
    along: constexpr = dim if axis is None else axis
    w = x if x.dtype == fp64 else x.to(fp32)
    e = exp(w - max(w, along, keep_dims=True))
    return (e / sum(e, along, keep_dims=True)).to(x.dtype)

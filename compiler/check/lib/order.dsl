# order.dsl - in which order programs take the parts of a result.

# Where program (i, j) of size_i x size_j goes when bands of size_g rows are walked one after another, each column by
# column: programs that run at the same time then share rows and columns. The last band may be lower.
@jit
def swizzle2d(i, j, size_i, size_j, size_g):
    at = i * size_j + j
    first = at // (size_g * size_j) * size_g
    height = maximum(minimum(size_i - first, size_g), 1)
    within = at % (size_g * size_j)
    return first + within % height, within // height

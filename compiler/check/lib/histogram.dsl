# histogram.dsl - how many elements of a tile have each value.

# counts[b] is the number of elements equal to b, for b from 0 to num_bins - 1, where the mask holds; others are not
# counted. One bin after another, so that any number of bins needs no more than the tile's registers.
@jit
def histogram(input, num_bins: constexpr, mask=None):
    bins = arange(0, num_bins)
    counts = zeros((num_bins,), i32)
    for b in range(num_bins):
        hit = input == b
        counted = hit if mask is None else hit & mask
        counts = where(bins == b, sum(counted.to(i32)), counts)
    return counts

# Writes far beyond its buffer: what gpu.sh runs to see that the sanitizer watches.
@kernel(grid=(1,))
def planted(x: *fp32, far: i64):
    store(x + far + arange(0, 32), 1.0)

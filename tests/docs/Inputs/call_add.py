# call_add.py - launches add.py as before, without the package triton.
import numpy as np
import fsc.triton
fsc.triton.install()
import triton
from add import add_kernel
x = np.arange(1000, dtype=np.float32)
out = np.empty_like(x)
add_kernel[(triton.cdiv(1000, 256),)](x, x, out, 1000, BLOCK=256)
print("worst", np.abs(out - 2 * x).max())

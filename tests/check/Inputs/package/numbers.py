import triton.language as tl

THREE = tl.constexpr(3.0)
HIDDEN = open("numbers.txt")
from .inner import *

import os

import triton
import triton.language as tl

if os.environ.get("FAST") == "1":
    @triton.jit
    def exp(x):
        return tl.exp2(x)
else:
    @triton.jit
    def exp(x):
        return tl.exp(x.to(tl.float32))


@triton.jit
def wrong(x):
    return tl.softmaxx(x)


@triton.jit
def unread(x):
    with tl.name("x"):
        return x


def host(x):
    yield x

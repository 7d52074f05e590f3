# RUN: not fsc %s -o - 2>&1 | FileCheck %s
# Several entry points: the message lists them. A name that is not there suggests one that is.
# RUN: not fsc --kernel secnd %s -o - 2>&1 | FileCheck %s --check-prefix=NAME
# CHECK: error: the file has 2 kernels; choose one with --kernel NAME [E0501]
# CHECK: --kernel first
# CHECK: note: --kernel second
# NAME: error: --kernel secnd: the file has no such function; did you mean 'second'? [E0501]
@kernel(grid=(1,))
def first(x: *fp32):
    store(x, 1.0)

@kernel(grid=(1,))
def second(x: *fp32):
    store(x, 2.0)

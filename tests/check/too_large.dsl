# RUN: bounded 2 512 not fsc %s --kernel=joined -o - 2>&1 | FileCheck %s --check-prefix=JOINED
# RUN: bounded 2 512 not fsc %s --kernel=nested -o - 2>&1 | FileCheck %s --check-prefix=NESTED
# RUN: bounded 2 512 not fsc %s --kernel=deep -o - 2>&1 | FileCheck %s --check-prefix=COMPARED
# RUN: bounded 2 512 not fsc %s --kernel=compared -o - 2>&1 | FileCheck %s --check-prefix=COMPARED
# RUN: bounded 2 512 not fsc %s --kernel=text -o - 2>&1 | FileCheck %s --check-prefix=TEXT
# RUN: bounded 2 512 not fsc %s --kernel=formatted -o - 2>&1 | FileCheck %s --check-prefix=TEXT
# RUN: bounded 2 512 not fsc %s --kernel=ranged -o - 2>&1 | FileCheck %s --check-prefix=RANGED
# RUN: bounded 2 512 fsc %s --kernel=ends -o -
# Values known at compile time that double with every step. All of them end, with an error at the step that is too much.
# JOINED: too_large.dsl:[[@LINE+15]]:13: error: a tuple of more than 65536 values
# JOINED-NOT: error:
# NESTED: error: a tuple of more than 65536 values
# NESTED-NOT: error:
# COMPARED: error: the kernel is too large
# COMPARED-NOT: error:
# TEXT: error: a string of more than
# TEXT-NOT: error:
# RANGED: too_large.dsl:[[@LINE+53]]:{{.*}} error: a tuple of more than 65536 values
# RANGED-NOT: error:

@kernel(grid=(1,))
def joined(x: *fp32):
    a = (1, 2)
    for i in static_range(60):
        a = a + a
    store(x, 1.0)

@kernel(grid=(1,))
def nested(x: *fp32):
    a = (1, 2)
    for i in static_range(60):
        a = (a, a)
    static_print(a)
    store(x, 1.0)

@kernel(grid=(1,))
def deep(x: *fp32):
    a = (1,)
    for i in static_range(100000):
        a = (a,)
    static_print(a)
    store(x, 1.0)

@kernel(grid=(1,))
def compared(x: *fp32):
    a = (1, 2)
    b = (1, 2)
    for i in static_range(9):
        a = (a, a)
        b = (b, b)
    for i in static_range(100000):
        static_assert(a == b)
    store(x, 1.0)

@kernel(grid=(1,))
def text(x: *fp32):
    a = "ab"
    for i in static_range(60):
        a = a + a
    store(x, 1.0)

@kernel(grid=(1,))
def formatted(x: *fp32):
    a = "ab"
    for i in static_range(60):
        a = f"{a} and {a}"
    store(x, 1.0)

@kernel(grid=(1,))
def ranged(x: *fp32):
    a = [i for i in range(70000)]
    store(x, a[69999])

@kernel(grid=(1,))
def ends(x: *fp32):
    a = [i for i in range(9223372036854775806, 9223372036854775807, 2)]
    b = [i for i in range(65536)]
    store(x, a[0] - a[0] + b[65535])

# RUN: not fsc %s --kernel=branch -o - 2>&1 | FileCheck %s --check-prefix=BRANCH
# RUN: not fsc %s --kernel=behind -o - 2>&1 | FileCheck %s --check-prefix=BEHIND
# RUN: not fsc %s --kernel=called -o - 2>&1 | FileCheck %s --check-prefix=CALLED
# RUN: not fsc %s --kernel=combined -o - 2>&1 | FileCheck %s --check-prefix=COMBINED
# RUN: fsc %s --kernel=right --emit=tile -o - | FileCheck %s --check-prefix=RIGHT
# A wait for the launches ahead stands where every program comes; leave for the launch behind may be given anywhere.
# The reader of IR asks for the same.
# RUN: fsc %s --kernel=right --emit=tile -o %t.ir && sed 's/^ *if .*{$/&\n    gdc_wait/' %t.ir > %t.1.ir
# RUN: not fsc %t.1.ir --passes= --emit=tile -o - 2>&1 | FileCheck %s --check-prefix=IR
# IR: error: in @right: not in the kernel's body: gdc_wait
@kernel(grid=(n,))
def branch(y: *fp32, n: i32):
    if n > 3:
        # BRANCH: gdc_place.dsl:[[@LINE+2]]:9: error: gdc_wait stands where not every program comes [E0813]
        # BRANCH: note: call it in the kernel's body: outside of 'if' and loops, ahead of any early 'return'
        gdc_wait()
    store(y, 1.0)


@kernel(grid=(n,))
def behind(y: *fp32, n: i32):
    if program_id(0) > 3:
        return
    # BEHIND: gdc_place.dsl:[[@LINE+1]]:5: error: gdc_wait stands where not every program comes [E0813]
    gdc_wait()
    store(y, 1.0)


@jit
def helper(x):
    # CALLED: gdc_place.dsl:[[@LINE+1]]:5: error: gdc_wait stands where not every program comes [E0813]
    gdc_wait()
    return x


@jit
def add(a, b):
    # COMBINED: gdc_place.dsl:[[@LINE+1]]:5: error:
    gdc_launch_dependents()
    return a + b


@kernel(grid=(n,))
def called(y: *fp32, n: i32):
    for i in range(n):
        store(y + i, helper(2.0))


@kernel(grid=(n,))
def combined(y: *fp32, n: i32):
    store(y, reduce(full((16,), 1.0, fp32), 0, add))


@kernel(grid=(n,))
def right(y: *fp32, n: i32, EARLY: constexpr = True):
    if EARLY:
        # RIGHT: gdc_wait
        gdc_wait()
    x = helper(2.0)
    # RIGHT: gdc_wait
    # RIGHT: if
    # RIGHT-NEXT: gdc_launch_dependents
    if n > 4:
        gdc_launch_dependents()
    store(y, x)

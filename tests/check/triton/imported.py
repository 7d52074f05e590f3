# RUN: fsc --emit=tile --passes= --kernel found --signature "*bf16" %S/../Inputs/package/entry.py -o - | FileCheck --check-prefix=FOUND %S/../Inputs/package/entry.py
# RUN: cd %S/../Inputs/package && fsc --emit=tile --passes= --kernel found --signature "*bf16" entry.py -o - | FileCheck --check-prefix=FOUND entry.py
# RUN: not fsc --kernel missing --signature "*fp32" %S/../Inputs/package/entry.py -o - 2>&1 | FileCheck --check-prefix=MISSING --implicit-check-not error: %S/../Inputs/package/entry.py
# RUN: not fsc --kernel mistaken --signature "*fp32" %S/../Inputs/package/entry.py -o - 2>&1 | FileCheck --check-prefix=MISTAKEN --implicit-check-not error: %S/../Inputs/package/entry.py
# RUN: not fsc --kernel builtin --signature "*fp32" %s -o - 2>&1 | FileCheck --check-prefix=BUILTIN --implicit-check-not error: %s
# RUN: fsc --emit=tile --passes= --kernel builtin --signature "*fp32" -I %S -I %S/../Inputs/more %s -o - | FileCheck --check-prefix=PATH %s
# RUN: fsc --emit=tile --passes= --kernel closure --signature "*fp32" -I %S/../Inputs/more %s -o - | FileCheck --check-prefix=PATH %s
# RUN: rm -rf %t.more && cp -r %S/../Inputs/more %t.more
# RUN: exits 2 fsc --kernel builtin --signature "*fp32" -I %t.more %s -o %t.more/helpers.py 2>&1 | FileCheck --check-prefix=OVER %s
# RUN: cmp %t.more/helpers.py %S/../Inputs/more/helpers.py
# RUN: not fsc --kernel starred --signature "*fp32" %s -o - 2>&1 | FileCheck --check-prefix=STARRED --implicit-check-not error: %s
# RUN: fsc --emit=tile --passes= -I %S/../Inputs/more %S/../imported.dsl -o - | FileCheck %S/../imported.dsl
# RUN: cd %S/../Inputs/package && fsc --kernel found --signature "*bf16" entry.py -MD -MF %t.d -o %t.ptx 2>&1 | FileCheck --check-prefix=WARNED %s && FileCheck --check-prefix=DEPEND %s <%t.d
# A name that is imported from another file is that file's, never the builtin that is called so. Modules are sought as Python does: beside the
# file or its package, then in the folders of -I.
import triton
import triton.language as tl
from helpers import exp
from nowhere import *

# WARNED: ops.py:12:9: warning: 'exp' is defined under several conditions: this one, the last, is taken [W0104]
# OVER: fsc: {{.*}}helpers.py
# DEPEND: : entry.py inner/__init__.py inner/ops.py __init__.py numbers.py


@triton.jit
def builtin(x):
    # BUILTIN: imported.py:[[#@LINE+2]]:17: error: 'exp' comes from helpers, which is not found [E0203]
    # PATH: const 7.0
    tl.store(x, exp(tl.load(x)))


@triton.jit
def starred(x):
    # STARRED: imported.py:[[#@LINE+2]]:17: error: 'log' comes from nowhere, which is not found [E0203]
    # STARRED: it is imported here
    tl.store(x, log(max(tl.load(x), 1.0)))


def make():
    from helpers import exp as sqrt

    @triton.jit
    def closure(x):
        tl.store(x, sqrt(tl.load(x)))

    return closure

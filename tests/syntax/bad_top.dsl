# RUN: not fsc %s -o - 2>&1 | FileCheck %s
# What does not belong at the top level of a .dsl file; each is reported once.
# CHECK: bad_top.dsl:[[#@LINE+11]]:1: error: an expression at the top level does nothing [E0114]
# CHECK: note: imports, constants (NAME = 1.5) and decorated functions stand there
# CHECK: bad_top.dsl:[[#@LINE+10]]:1: error: 'if' cannot stand here [E0119]
# CHECK: bad_top.dsl:[[#@LINE+11]]:1: error: 'for' cannot stand here [E0119]
# CHECK: bad_top.dsl:[[#@LINE+13]]:1: error: at the top level a constant is one name and its value: NAME = 1.5 [E0114]
# CHECK: bad_top.dsl:[[#@LINE+13]]:1: error: at the top level a constant is one name and its value: NAME = 1.5 [E0114]
# CHECK: bad_top.dsl:[[#@LINE+13]]:1: error: 'class' is not part of the kernel language [E0116]
# CHECK: note: a .py file may hold it outside of kernels; kernels and .dsl files may not
# CHECK: bad_top.dsl:[[#@LINE+13]]:3: error: '+=' cannot stand here [E0119]
# CHECK: bad_top.dsl:[[#@LINE+14]]:1: error: found 'x' where 'def' or '@' is expected [E0119]
# CHECK-NOT: {{error|warning}}:
print(1)
if a:
    b = 1
for i in a:
    for j in a:
        pass
a.b = 1
a, b = 1, 2
class C:
    x = 1
x += 1
@jit
x = 1
@jit
def f(): pass

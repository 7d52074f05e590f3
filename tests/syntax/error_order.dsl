# RUN: not fsc %s -o - 2>&1 | FileCheck %s
# Errors of the scanner, the filter and the grammar come in the order of the file, notes behind their error.
@jit
def f(n):
    # CHECK: [[#@LINE+1]]:15: error: an integer cannot stand here [E0119]
    x = 1 + 1 1
    # CHECK: [[#@LINE+2]]:9: error: the string that starts here is not closed [E0107]
    # CHECK: note: a string ends on its line
    y = 'abc
    # CHECK: [[#@LINE+1]]:10: error: ')' closes nothing [E0105]
    z = 2)
    # CHECK: [[#@LINE+2]]:5: error: this expression cannot be assigned to [E0112]
    # CHECK: note: a name
    1 = z
    # CHECK: [[#@LINE+1]]:9: error: the integer does not fit 64 bits [E0111]
    w = 99999999999999999999999
    # CHECK-NOT: error:

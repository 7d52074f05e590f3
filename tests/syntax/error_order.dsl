# RUN: not fsc %s -o - 2>&1 | FileCheck %s
# Errors of the scanner, the filter and the grammar come in the order of the file, notes behind their error.
@jit
def f(n):
    # CHECK: [[#@LINE+1]]:15: error: an integer cannot stand here
    x = 1 + 1 1
    # CHECK: [[#@LINE+2]]:9: error: the string that starts here is not closed
    # CHECK: note: a string ends on its line
    y = 'abc
    # CHECK: [[#@LINE+1]]:10: error: ')' closes nothing
    z = 2)
    # CHECK: [[#@LINE+2]]:5: error: this expression cannot be assigned to
    # CHECK: note: a name
    1 = z
    # CHECK: [[#@LINE+1]]:9: error: the integer does not fit 64 bits
    w = 99999999999999999999999
    # CHECK-NOT: error:

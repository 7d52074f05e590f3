# RUN: fsc --emit=ast %s -o - | FileCheck --strict-whitespace --match-full-lines %s
# Docstrings of the file and of functions are dropped, unless something is left of them.
"""About the file."""
@jit
def f():
    """About f."""
    x = 1


@jit
def g():
    "only this"


@jit
def h(): "short"
# CHECK:module
# CHECK-NEXT:  function f
# CHECK-NEXT:    decorator: name jit
# CHECK-NEXT:    assign
# CHECK-NEXT:      target: name x
# CHECK-NEXT:      value: int 1
# CHECK-NEXT:  function g
# CHECK-NEXT:    decorator: name jit
# CHECK-NEXT:    pass
# CHECK-NEXT:  function h
# CHECK-NEXT:    decorator: name jit
# CHECK-NEXT:    pass
# CHECK-NOT:{{.}}

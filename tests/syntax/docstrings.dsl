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
# CHECK:
# CHECK-NOT:{{.}}

# RUN: not fsc %s -o - 2>&1 | FileCheck %s
# A file without a kernel.
# CHECK: error: {{.*}}entry_none.dsl has no kernel [E0501]
# CHECK: note: an entry point is a function with @kernel(...) or @triton.jit before it
X = 3

# RUN: not fsc %s -o - 2>&1 | FileCheck %s
# Parameters that a kernel cannot have.
@kernel(grid=(1,))
# CHECK-DAG: bad_params.dsl:[[#@LINE+3]]:18: error: the parameter 'x' is there twice [E0210]
# CHECK-DAG: error: this is no type of a parameter [E0508]
# CHECK-DAG: error: a kernel takes no '*rest' [E0508]
def k(x: float3, x: *fp32, *rest):
    pass

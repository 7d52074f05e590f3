# RUN: not fsc %s -o - 2>&1 | FileCheck %s
# Parameters that a kernel cannot have.
@kernel(grid=(1,))
# CHECK-DAG: bad_params.dsl:[[#@LINE+3]]:18: error: the parameter 'x' is there twice
# CHECK-DAG: error: this is no type of a parameter
# CHECK-DAG: error: a kernel takes no '*rest'
def k(x: float3, x: *fp32, *rest):
    pass

# The functions of two kernels never have one name, nor that of another's table.
# RUN: fsc --emit=object --arch=cpu %s -o %t.o --header=%t.h
# RUN: FileCheck %s < %t.h
# RUN: %python %S/Inputs/symbols.py %t.o shows new__ new_ new_object_ new_object new__object new_object_object
# CHECK: fsc_status new__(fsc_stream stream, int32_t *x);
# CHECK-NEXT: extern fsc_object new_object;
# CHECK: fsc_status new_(fsc_stream stream, int32_t *y);
# CHECK-NEXT: extern fsc_object new__object;
# CHECK: fsc_status new_object_(fsc_stream stream, int32_t *z);
# CHECK-NEXT: extern fsc_object new_object_object;
@kernel(grid=(1,))
def new(x: *i32):
    store(x + arange(0, 32), 1)


@kernel(grid=(1,))
def new_(y: *i32):
    store(y + arange(0, 32), 2)


@kernel(grid=(1,))
def new_object(z: *i32):
    store(z + arange(0, 32), 3)

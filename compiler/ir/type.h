/* type.h - the part of ir.h that says what a value is: element types, and types of scalars and tiles. */
#ifndef FSC_IR_TYPE_H
#define FSC_IR_TYPE_H

#include "base/base.h"
#include "layout/layout.h"

typedef enum DType {
#define DTYPE(e, ...) DT_##e,
#define UTYPE(...)
#include "runtime/base/dtype.def"
#undef DTYPE
#undef UTYPE
    DT_PTR, /* Type.pointee says to what; printed *fp32 */
    DT_COUNT
} DType;

typedef enum DTypeKind { KIND_INT, KIND_FLOAT, KIND_POINTER } DTypeKind;

const char *dtype_name(DType d);
uint32_t dtype_bits(DType d);
static inline bool dtype_is_fp8(DType d) {
    return d == DT_FP8E4NV || d == DT_FP8E5;
}
DTypeKind dtype_kind(DType d);
bool dtype_find(const char *name, DType *out);

typedef struct Type {
    DType dtype;
    DType pointee;        /* only where dtype is DT_PTR */
    Shape shape;          /* rank 0: a scalar */
    const Layout *layout; /* NULL: none assigned, or a scalar */
} Type;

Type type_scalar(DType d);
Type type_pointer(DType pointee);
Type type_tile(DType d, Shape s);
Type type_with_dtype(Type t, DType d); /* same shape and layout; drops the pointee */
Type type_with_shape(Type t, Shape s); /* no layout */
bool type_equal(Type a, Type b);       /* with the layout */
bool type_same_shape(Type a, Type b);  /* shape and layout */
void type_print(Type t, Text *out);    /* i32, *fp32, tile<128x64xfp32>, tile<128xfp32, #layout<…>> */
uint32_t type_bytes(Type t);           /* of one element in memory */

/* The value of a float's bits (as Attr.bits holds them), exactly; and back, rounded once to nearest even, from any
 * double to any float type. What overflows becomes infinity (fp8e4nv has none: its largest), NaN the quiet one of its
 * sign. */
double float_from_bits(DType d, int64_t bits);
int64_t float_to_bits(DType d, double x);
/* x wrapped to the width of an integer type, sign extended (i1: 0 or 1); the same bits zero extended. */
int64_t int_wrap(DType d, int64_t x);
uint64_t int_unsign(DType d, int64_t bits);

/* How the memory of a pointer parameter lies, for who copies boxes of it (a tensor map): the launch tells the card, by
 * what its arguments are. Its name is #m and its index. */
enum { MAPS_MOST = 8 /* of a function */, MAP_DIMS = 5, MAP_BYTES = 128, MAP_ALIGN = 64 };
enum { MAP_UNIT = 16 }; /* bytes: what addresses, strides and places along a row are multiples of */
#define MAP_NO_PARAM  UINT32_MAX
#define MAP_UNBOUNDED INT64_C(0x7fffffff) /* the largest extent: with more an H100 faults */

typedef struct MapDim {
    uint32_t box;           /* elements of the box along it, a power of two */
    uint32_t extent;        /* the scalar parameter that says how many elements there are; MAP_NO_PARAM: `most` does */
    int64_t most;
    uint32_t stride[2];     /* elements from one to the next: these scalar parameters (MAP_NO_PARAM: 1) … */
    int64_t scale;          /* … times this. Of the first dimension 1 */
} MapDim;

typedef struct BoxMap {
    uint32_t param, rank;
    uint32_t span;          /* bytes within which units of 16 change places: 32, 64, 128, a box's row; 16: none do */
    MapDim dims[MAP_DIMS];  /* the fastest first */
} BoxMap;

#endif

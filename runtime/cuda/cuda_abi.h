/* cuda_abi.h - the small part of the CUDA driver's binary interface that the runtime calls: types, numbers, one struct.
 *
 * Facts of the driver API (CUDA 11.4 and later; unchanged since), declared here so that nothing of CUDA is needed to
 * build. Names are the driver's.
 */
#ifndef FSC_CUDA_ABI_H
#define FSC_CUDA_ABI_H

#include <stddef.h>
#include <stdint.h>

typedef int CUresult;
typedef int CUdevice;
typedef int CUdevice_attribute;
typedef int CUfunction_attribute;
typedef int CUpointer_attribute;
typedef int CUjit_option;
typedef int CUtensorMapDataType;
typedef int CUtensorMapSwizzle;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;

enum { /* CUresult */
       CUDA_SUCCESS = 0,
#define CUDA_ERROR(name, number, status, fate, advice) CUDA_ERROR_##name = (number),
#include "runtime/cuda/cuda_error.def"
#undef CUDA_ERROR
};

enum { /* CUdevice_attribute */
       CU_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1,
       CU_ATTRIBUTE_MAX_SHARED_PER_BLOCK = 8,
       CU_ATTRIBUTE_WARP_SIZE = 10,
       CU_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK = 12,
       CU_ATTRIBUTE_CLOCK_RATE = 13, /* kHz */
       CU_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
       CU_ATTRIBUTE_MEMORY_CLOCK_RATE = 36,       /* kHz */
       CU_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH = 37, /* bits */
       CU_ATTRIBUTE_L2_CACHE_SIZE = 38,
       CU_ATTRIBUTE_MAX_THREADS_PER_SM = 39,
       CU_ATTRIBUTE_COMPUTE_MAJOR = 75,
       CU_ATTRIBUTE_COMPUTE_MINOR = 76,
       CU_ATTRIBUTE_MAX_SHARED_PER_SM = 81,
       CU_ATTRIBUTE_MAX_REGISTERS_PER_SM = 82,
       CU_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS = 88,
       CU_ATTRIBUTE_MAX_SHARED_PER_BLOCK_OPTIN = 97,
       CU_ATTRIBUTE_MAX_BLOCKS_PER_SM = 106,
       CU_ATTRIBUTE_RESERVED_SHARED_PER_BLOCK = 111,
};

enum { /* CUfunction_attribute */
       CU_FUNC_MAX_THREADS_PER_BLOCK = 0,
       CU_FUNC_SHARED_BYTES = 1,
       CU_FUNC_LOCAL_BYTES = 3,
       CU_FUNC_REGISTERS = 4,
       CU_FUNC_PTX_VERSION = 5,
       CU_FUNC_BINARY_VERSION = 6,
       CU_FUNC_MAX_DYNAMIC_SHARED = 8,
       CU_FUNC_NON_PORTABLE_CLUSTER = 14,
};

enum { /* CUjit_option */
       CU_JIT_ERROR_LOG_BUFFER = 5,
       CU_JIT_ERROR_LOG_BUFFER_SIZE = 6,
};

enum { CU_POINTER_MEMORY_TYPE = 2, CU_POINTER_HOST_POINTER = 4 }; /* CUpointer_attribute */
enum { CU_MEMORY_DEVICE = 2 }; /* CUmemorytype */

enum { /* CUtensorMapDataType */
       CU_TENSOR_MAP_UINT8 = 0,
       CU_TENSOR_MAP_UINT16 = 1,
       CU_TENSOR_MAP_UINT32 = 2,
       CU_TENSOR_MAP_INT32 = 3,
       CU_TENSOR_MAP_UINT64 = 4,
       CU_TENSOR_MAP_INT64 = 5,
       CU_TENSOR_MAP_FLOAT16 = 6,
       CU_TENSOR_MAP_FLOAT32 = 7,
       CU_TENSOR_MAP_FLOAT64 = 8,
       CU_TENSOR_MAP_BFLOAT16 = 9,
};

enum {
    CU_TENSOR_MAP_SWIZZLE_NONE = 0,
    CU_TENSOR_MAP_SWIZZLE_32B = 1,
    CU_TENSOR_MAP_SWIZZLE_64B = 2,
    CU_TENSOR_MAP_SWIZZLE_128B = 3,
};
enum { CU_TENSOR_MAP_INTERLEAVE_NONE = 0 };
enum { CU_TENSOR_MAP_L2_PROMOTION_128B = 2 };
enum { CU_TENSOR_MAP_OOB_FILL_ZEROS = 0 };

enum {
    CU_LAUNCH_ATTRIBUTE_COOPERATIVE = 2,
    CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION = 4,
    CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION = 6,
};

typedef struct CUlaunchAttribute {
    int id;
    int pad;
    union {
        char bytes[64];
        uint64_t align;
        struct {
            unsigned int x, y, z;
        } cluster;
        int cooperative;
        int programmatic; /* the launch may begin before the kernel ahead in the stream has ended */
    } value;
} CUlaunchAttribute;

typedef struct CUlaunchConfig {
    unsigned int grid_x, grid_y, grid_z;
    unsigned int block_x, block_y, block_z;
    unsigned int shared_bytes;
    CUstream stream;
    CUlaunchAttribute *attrs;
    unsigned int num_attrs;
} CUlaunchConfig;

#endif

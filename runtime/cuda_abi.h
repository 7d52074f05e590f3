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
typedef int CUjit_option;
typedef int CUjit_input;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUlinkState_st *CUlinkState;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;

enum { /* CUresult; what each becomes is the table in driver.c */
       CUDA_SUCCESS = 0,
       CUDA_ERROR_INVALID_VALUE = 1,
       CUDA_ERROR_OUT_OF_MEMORY = 2,
       CUDA_ERROR_STUB_LIBRARY = 34,
       CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER = 36,
       CUDA_ERROR_NO_DEVICE = 100,
       CUDA_ERROR_INVALID_DEVICE = 101,
       CUDA_ERROR_INVALID_IMAGE = 200,
       CUDA_ERROR_NO_BINARY_FOR_GPU = 209,
       CUDA_ERROR_ECC_UNCORRECTABLE = 214,
       CUDA_ERROR_INVALID_PTX = 218,
       CUDA_ERROR_JIT_COMPILER_NOT_FOUND = 221,
       CUDA_ERROR_UNSUPPORTED_PTX_VERSION = 222,
       CUDA_ERROR_INVALID_SOURCE = 300,
       CUDA_ERROR_NOT_FOUND = 500,
       CUDA_ERROR_ILLEGAL_ADDRESS = 700,
       CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES = 701,
       CUDA_ERROR_LAUNCH_TIMEOUT = 702,
       CUDA_ERROR_CONTEXT_IS_DESTROYED = 709,
       CUDA_ERROR_ASSERT = 710,
       CUDA_ERROR_HARDWARE_STACK_ERROR = 714,
       CUDA_ERROR_ILLEGAL_INSTRUCTION = 715,
       CUDA_ERROR_MISALIGNED_ADDRESS = 716,
       CUDA_ERROR_INVALID_ADDRESS_SPACE = 717,
       CUDA_ERROR_INVALID_PC = 718,
       CUDA_ERROR_LAUNCH_FAILED = 719,
       CUDA_ERROR_SYSTEM_DRIVER_MISMATCH = 803,
       CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE = 804,
       CUDA_ERROR_INVALID_CLUSTER_SIZE = 912,
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

enum { CU_JIT_INPUT_PTX = 1 }; /* CUjitInputType */

enum { CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION = 4 };

typedef struct CUlaunchAttribute {
    int id;
    int pad;
    union {
        char bytes[64];
        uint64_t align;
        struct {
            unsigned int x, y, z;
        } cluster;
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

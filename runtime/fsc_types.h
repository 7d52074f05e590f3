/* fsc_types.h - types of elements that C has no type for; fsc_runtime.h includes it.
 *
 * What generated headers call the elements that C has no type for. In C++ pointers to them have types: CUDA's where its
 * header came first, else those of fsc.hpp; or define the name as a type of your own with the same bits. */
#ifndef FSC_TYPES_H
#define FSC_TYPES_H

#include <stdint.h>

#ifdef __cplusplus
namespace fsc {
struct fp16 { uint16_t bits; };
struct bf16 { uint16_t bits; };
struct fp8e4nv { uint8_t bits; };
struct fp8e5 { uint8_t bits; };
}
#endif
#if !defined FSC_TYPE_FP16
#if defined __cplusplus && defined __CUDA_FP16_H__
#define FSC_TYPE_FP16 __half
#elif defined __cplusplus
#define FSC_TYPE_FP16 fsc::fp16
#else
#define FSC_TYPE_FP16 void
#endif
#endif
#if !defined FSC_TYPE_BF16
#if defined __cplusplus && defined __CUDA_BF16_H__
#define FSC_TYPE_BF16 __nv_bfloat16
#elif defined __cplusplus
#define FSC_TYPE_BF16 fsc::bf16
#else
#define FSC_TYPE_BF16 void
#endif
#endif
#if !defined FSC_TYPE_FP8E4NV
#if defined __cplusplus && defined __CUDA_FP8_H__
#define FSC_TYPE_FP8E4NV __nv_fp8_e4m3
#define FSC_TYPE_FP8E5   __nv_fp8_e5m2
#elif defined __cplusplus
#define FSC_TYPE_FP8E4NV fsc::fp8e4nv
#define FSC_TYPE_FP8E5   fsc::fp8e5
#else
#define FSC_TYPE_FP8E4NV void
#define FSC_TYPE_FP8E5   void
#endif
#endif

#endif

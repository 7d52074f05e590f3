/* sample.h - the records that the runtime's tests work on: a softmax variant, built as the compiler builds it. */
#ifndef SAMPLE_H
#define SAMPLE_H

#include "runtime/record/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Parameter indices of the sample. */
enum { P_Y, P_X, P_YS, P_XS, P_ROWS, P_COLS, P_BLOCK, P_T };

/* softmax(y: *T[n_rows:y_stride, n_cols], x: …, y_stride, x_stride, n_rows, n_cols, BLOCK, T)
 * with BLOCK from `origin`. */
static inline Record *sample_record(const char *target, const char *block, RecordOrigin origin, uint32_t divisible) {
    Record *r = record_create("softmax");
    record_set_target(r, target, "0.1.0", "dir/soft max.dsl");
    record_add_param(r, RECORD_POINTER, "y", "fp32")->divisible = divisible;
    RecordParam *x = record_add_param(r, RECORD_POINTER, "x", "fp32");
    x->divisible = divisible;
    x->is_const = true;
    record_add_param(r, RECORD_SCALAR, "y_stride", "i32");
    record_add_param(r, RECORD_SCALAR, "x_stride", "i32");
    record_add_param(r, RECORD_SCALAR, "n_rows", "i32");
    record_add_param(r, RECORD_SCALAR, "n_cols", "i32");
    record_add_constexpr(r, "BLOCK", RECORD_INT, block, origin, "$5 npow2");
    record_add_constexpr(r, "T", RECORD_DTYPE, "fp32", RECORD_DEFAULT, NULL);
    record_add_dim(r, P_Y, "$4", "$2");
    record_add_dim(r, P_Y, "$5", "1");
    record_add_dim(r, P_X, "$4", "$3");
    record_add_dim(r, P_X, "$5", "1");
    record_add_grid(r, "$4");
    record_set_num_warps(r, "4");
    record_add_require(r, "$6 $5 >=", "BLOCK >= n_cols");
    RecordLaunch *l = record_add_launch(r, "softmax", 128, 1, 1, 0);
    l->shared_static = 16;
    l->threads_line = 7;
    l->tile_line = 9;
    l->shared_line = 10;
    record_add_access(r, false, 9, 9, 16, "fp32", 4)->param = P_X;
    record_add_access(r, true, 11, 5, 16, "fp32", 4)->param = P_Y;
    return r;
}

/* PTX text with the record as LLVM prints a byte array, and an entry for every launch. Caller frees. */
static inline char *sample_ptx(const Record *r, const char *version) {
    size_t n = 0, used = 0;
    char *text = record_write(r, &n), *ptx = malloc(n * 5 + 4096);
    used += (size_t)sprintf(ptx, "//\n// made by a test\n//\n.version %s\n.target %s\n.address_size 64\n\n", version,
                            r->target);
    for (uint32_t i = 0; i < r->num_launches; i++)
        used += (size_t)sprintf(ptx + used, ".visible .entry %s() { ret; }\n", r->launches[i].entry);
    used += (size_t)sprintf(ptx + used, ".visible .global .align 1 .b8 fsc_record_%s[%zu] = {", r->kernel, n);
    for (size_t i = 0; i < n; i++) used += (size_t)sprintf(ptx + used, i ? ", %d" : "%d", (unsigned char)text[i]);
    sprintf(ptx + used, "};\n");
    free(text);
    return ptx;
}

#endif

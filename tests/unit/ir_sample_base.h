/* ir_sample_base.h - what the samples of ir_sample.h are built in: a function with parameters of several types. */
#ifndef IR_SAMPLE_BASE_H
#define IR_SAMPLE_BASE_H

#include "random_layout.h"

#include "ir/ir.h"

#include <math.h>
typedef struct Sample {
    Func *f;
    Builder b;
    Value *p, *q, *n, *m, *x; /* parameters: *fp32, *const i32, i32, i64, fp32 */
    Shape row, square;
} Sample;

static inline Sample sample_create(Arena *a, Strings *names, Stage stage) {
    Sample s = {.f = func_create(a, names, "sample", (Span){3, 9})};
    Span at = {10, 20};
    s.f->stage = stage;
    s.p =
        func_add_param(s.f, type_pointer(DT_FP32), (Param){str_intern0(names, "p"), at, 16, false, false, false, 0, 0});
    s.q = func_add_param(s.f, type_pointer(DT_I32), (Param){str_intern0(names, "q"), at, 1, true, false, false, 0, 0});
    s.n = func_add_param(s.f, type_scalar(DT_I32), (Param){str_intern0(names, "n"), at, 8, false, true, true, 3, 4096});
    s.m = func_add_param(s.f, type_scalar(DT_I64), (Param){NULL, at, 0, false, false, false, 0, 0});
    s.x = func_add_param(s.f, type_scalar(DT_FP32), (Param){str_intern0(names, "n"), at, 1, false, false, false, 0, 0});
    s.row = shape_row(8);
    s.square = shape_make(2, (const uint8_t[]){3, 5});
    s.b = builder_at_end(s.f, s.f->body);
    s.b.span = (Span){30, 31};
    s.f->num_warps = 4;
    return s;
}

static inline const Layout *sample_layout(const Sample *s, Shape shape, uint32_t vec) {
    return layout_blocked(s->f->layouts, shape, NULL, vec, 5, 2, 0);
}

/* With a layout at stage SIMT. */
static inline Type sample_tile(const Sample *s, DType d, Shape shape) {
    Type t = type_tile(d, shape);
    if (s->f->stage == STAGE_SIMT && shape.rank) t.layout = sample_layout(s, shape, 2);
    return t;
}

static inline Value *sample_value(Sample *s, Type t) {
    if (dtype_kind(t.dtype) == KIND_FLOAT) return build_float(&s->b, t, -1.5);
    return build_int(&s->b, t, t.dtype == DT_I1 ? 1 : -5);
}

static inline MemAttr sample_memory(Sample *s) {
    MemAttr m = {CACHE_CG, EVICT_FIRST, true, true, 4, 2, MASK_PREFIX, true, false, false, false, 0, 0, 0, 0};
    vec_push(s->f->arena, &s->f->sites, s->b.span);
    m.site = s->f->sites.len - 1;
    if (s->f->stage == STAGE_TILE) m.vec_log2 = m.mask_kind = m.is_rotated = 0;
    return m;
}

static inline Value *sample_pointers(Sample *s) {
    Type t = sample_tile(s, DT_PTR, s->row);
    t.pointee = DT_FP32;
    Value *base = build1_to(&s->b, OP_SPLAT, s->p, t);
    return build2(&s->b, OP_ADDPTR, base, sample_value(s, sample_tile(s, DT_I64, s->row)));
}

#endif

/* ir_sample.h - functions to test the IR on: one for every op, and random ones with nested control flow.
 *
 * In: an op kind, or a seed. Out: a sound function that holds the op, with attributes that are not all default.
 * The switch over op kinds has no default, so an op without a sample does not compile.
 */
#ifndef IR_SAMPLE_H
#define IR_SAMPLE_H

#include "ir_sample_products.h"

/* The op on every element type it takes, as scalar and as tile. */
static inline void sample_elementwise(Sample *s, OpKind k, uint32_t nargs, DType first, DType last) {
    for (uint32_t d = first; d <= last; d++) {
        if (d == DT_FP8E4NV || d == DT_FP8E5) continue;
        for (uint32_t tile = 0; tile < 2; tile++) {
            Value *x = sample_value(s, sample_tile(s, (DType)d, tile ? s->square : shape_scalar()));
            Value *args[] = {x, x, x};
            op_build(&s->b, k, args, nargs, (Attr){0}, x->type);
        }
    }
}

static inline void sample_compare(Sample *s, OpKind k, Pred last, DType d) {
    for (Pred p = PRED_EQ; p <= last; p++) {
        Value *x = sample_value(s, sample_tile(s, d, s->row));
        build_compare(&s->b, k, p, x, x);
    }
}

/* The op from every element type to every other that it takes. */
static inline void sample_convert(Sample *s, OpKind k, DTypeKind from, DTypeKind to, int wider) {
    for (uint32_t i = 0; i < DT_COUNT; i++) {
        for (uint32_t j = 0; j < DT_COUNT; j++) {
            DType a = (DType)i, c = (DType)j;
            bool is_int = from != to && (dtype_bits(a) == 8 || dtype_bits(c) == 8 || c == DT_I1);
            if (dtype_kind(a) != from || dtype_kind(c) != to || is_int) continue;
            if (wider && (wider > 0) != (dtype_bits(c) > dtype_bits(a))) continue;
            if (wider < 0 && dtype_bits(c) == dtype_bits(a)) continue;
            Value *x = sample_value(s, sample_tile(s, a, s->row));
            Attr attr = {.round = k == OP_FPTRUNC ? (Round)(j & 1) : ROUND_NEAREST};
            op_build(&s->b, k, &x, 1, attr, sample_tile(s, c, s->row));
        }
    }
}

static inline void sample_reduce(Sample *s, OpKind k) {
    static const OpKind ints[] = {OP_ADD, OP_MUL, OP_AND, OP_OR, OP_XOR, OP_SMAX, OP_SMIN, OP_UMAX, OP_UMIN};
    static const OpKind floats[] = {OP_FADD, OP_FMUL, OP_FMAX, OP_FMIN, OP_FMAXNAN, OP_FMINNAN};
    for (uint32_t axis = 0; axis < 2; axis++) {
        Value *i = sample_value(s, sample_tile(s, DT_I32, s->square)),
              *x = sample_value(s, sample_tile(s, DT_FP32, s->square));
        for (uint32_t c = 0; c < COUNT(ints); c++)
            op_build(&s->b, k, &i, 1, (Attr){.axis = axis, .combine = ints[c]}, i->type);
        for (uint32_t c = 0; c < COUNT(floats); c++)
            op_build(&s->b, k, &x, 1, (Attr){.axis = axis, .combine = floats[c]}, x->type);
    }
    Value *r = sample_value(s, sample_tile(s, DT_I1, s->row));
    op_build(&s->b, k, &r, 1, (Attr){.combine = OP_OR}, r->type);
}

/* Two values at once, by a region with an `if`; and one value. */
static inline void sample_combine_of(Sample *s, OpKind k, uint32_t axis, uint32_t n, uint32_t flags) {
    Type runs = sample_tile(s, DT_FP32, s->square);
    Value *x = sample_value(s, runs), *i = sample_value(s, type_with_dtype(runs, DT_I32)), *args[4] = {x, i};
    if (k == OP_SCANAPPLY) {
        AxisPlan plan = layout_axis_plan(runs.layout, axis);
        runs.layout = layout_coarsen(s->f->layouts, runs.layout, axis, plan.within);
        runs.shape = runs.layout->shape;
        args[n] = sample_value(s, runs);
        if (n == 2) args[3] = sample_value(s, type_with_dtype(runs, DT_I32));
    }
    Op *op = build_combine(&s->b, k, args, k == OP_SCANAPPLY ? 2 * n : n, (Attr){.axis = axis, .flags = flags}, NULL);
    Value **in = op->regions[0]->args.at;
    Builder b = builder_at_end(s->f, op->regions[0]);
    b.span = s->b.span;
    in[0]->name = str_intern0(s->f->strings, "first");
    Value *less = build_compare(&b, OP_FCMP, PRED_SLT, in[0], in[n]);
    Op *choice = build_if(&b, less, &in[0]->type, 1);
    for (uint32_t arm = 0; arm < 2; arm++) {
        Builder inner = builder_at_end(s->f, choice->regions[arm]);
        inner.span = s->b.span;
        build_yield(&inner, &in[arm * n], 1);
    }
    Value *out[] = {choice->results[0], n == 2 ? build2(&b, OP_ADD, in[1], in[3]) : NULL};
    build_yield(&b, out, n);
}

/* Laid out as the sum asks. */
static inline void sample_combine(Sample *s, OpKind k) {
    bool has_runs = k != OP_REDUCEFN && k != OP_SCAN; /* along axis 0 of the square; axis 1 lies within a warp */
    for (uint32_t axis = 0; axis < (has_runs ? 1u : 2u); axis++) {
        sample_combine_of(s, k, axis, 2, 0);
        sample_combine_of(s, k, axis, 1, COMBINE_REVERSE);
        sample_combine_of(s, k, axis, 1, COMBINE_EXCLUSIVE | COMBINE_REVERSE);
    }
}

/* ---- Control flow ------------------------------------------------------------------------------------------------ */

static inline void sample_for(Sample *s) {
    Value *one = build_int(&s->b, type_scalar(DT_I32), 1), *tile = sample_value(s, sample_tile(s, DT_FP32, s->row));
    Op *op = build_for(&s->b, s->n, one, one, (Value *[]){s->x, tile}, 2, (LoopAttr){3, 4, true, true});
    Block *body = op->regions[0];
    Builder in = builder_at_end(s->f, body);
    in.span = s->b.span;
    body->args.at[0]->name = str_intern0(s->f->strings, "i");
    body->args.at[2]->name = op->results[1]->name = str_intern0(s->f->strings, "sum");
    Value *next = build2(&in, OP_FADD, body->args.at[1], s->x);
    build_yield(&in, (Value *[]){next, body->args.at[2]}, 2);
    op = build_for(&s->b, one, s->n, one, NULL, 0, (LoopAttr){0});
    in.block = op->regions[0];
    build_yield(&in, NULL, 0);
}

static inline void sample_while(Sample *s) {
    Op *op = build_while(&s->b, (Value *[]){s->n, s->x}, 2);
    Builder in = builder_at_end(s->f, op->regions[0]);
    in.span = s->b.span;
    Value *more =
        build_compare(&in, OP_ICMP, PRED_SGT, op->regions[0]->args.at[0], build_int(&in, type_scalar(DT_I32), 0));
    build_condition(&in, more, op->regions[0]->args.at, 2);
    in.block = op->regions[1];
    Value *less = build2(&in, OP_SUB, op->regions[1]->args.at[0], build_int(&in, type_scalar(DT_I32), 1));
    build_yield(&in, (Value *[]){less, op->regions[1]->args.at[1]}, 2);
    op = build_while(&s->b, NULL, 0);
    in.block = op->regions[0];
    build_condition(&in, build_int(&in, type_scalar(DT_I1), 0), NULL, 0);
    in.block = op->regions[1];
    build_yield(&in, NULL, 0);
}

static inline void sample_if(Sample *s, uint32_t n) {
    Type types[] = {s->x->type, s->n->type};
    Value *condition = build_compare(&s->b, OP_FCMP, PRED_SLT, s->x, s->x);
    Op *op = build_if(&s->b, condition, types, n);
    for (uint32_t i = 0; i < 2; i++) {
        Builder in = builder_at_end(s->f, op->regions[i]);
        in.span = s->b.span;
        Value *values[] = {i ? s->x : build1(&in, OP_FNEG, s->x), s->n};
        build_yield(&in, values, n);
    }
}

/* ---- One op ------------------------------------------------------------------------------------------------------ */

static inline void sample_constants(Sample *s) {
    static const double values[] = {0, -0.0, 1, 0.1, -2.5e-7, 65504, 3e38, 1e-45, HUGE_VAL, -HUGE_VAL};
    for (uint32_t d = 0; d < DT_COUNT; d++) {
        bool is_float = dtype_kind((DType)d) == KIND_FLOAT;
        for (uint32_t i = 0; i < COUNT(values) && is_float; i++)
            build_float(&s->b, sample_tile(s, (DType)d, i & 1 ? s->row : shape_scalar()), values[i]);
        for (int64_t i = -3; i < 4 && !is_float && d != DT_PTR; i++)
            build_int(&s->b, type_scalar((DType)d), i * INT64_C(123456789));
    }
    build0(&s->b, OP_CONST, (Attr){.bits = 0x7fc00000}, type_scalar(DT_FP32));
    build0(&s->b, OP_CONST, (Attr){.bits = 0xffc00001}, type_scalar(DT_FP32));
    build0(&s->b, OP_CONST, (Attr){.bits = 0xff}, type_scalar(DT_FP8E4NV));
    build0(&s->b, OP_CONST, (Attr){.bits = 0x1000}, type_pointer(DT_FP16));
}

static inline void sample_memory_ops(Sample *s) {
    Value *ptr = sample_pointers(s), *mask = sample_value(s, sample_tile(s, DT_I1, s->row));
    Value *other = sample_value(s, sample_tile(s, DT_FP32, s->row));
    Value *v = build_load(&s->b, ptr, NULL, NULL, (MemAttr){0});
    build_load(&s->b, ptr, mask, NULL, sample_memory(s));
    build_load(&s->b, ptr, mask, other, sample_memory(s));
    build_load(&s->b, s->q, NULL, NULL, sample_memory(s));
    build_store(&s->b, ptr, v, NULL, sample_memory(s));
    build_store(&s->b, ptr, v, mask, sample_memory(s));
}

static inline void sample_atomics(Sample *s, OpKind k) {
    Value *ptr = sample_pointers(s), *mask = sample_value(s, sample_tile(s, DT_I1, s->row));
    Value *v = sample_value(s, sample_tile(s, DT_FP32, s->row)),
          *words = build1_to(&s->b, OP_BITCAST, s->q, type_pointer(DT_I64));
    for (uint32_t i = 0; i < ATOMIC_COUNT; i++) {
        MemAttr m = {.align_log2 = 2, .atomic = (uint8_t)i, .order = i & 3, .reach = (uint8_t)(i % 3)};
        vec_push(s->f->arena, &s->f->sites, s->b.span);
        m.site = s->f->sites.len - 1;
        if (k == OP_ATOMICCAS) {
            build_atomic_cas(&s->b, ptr, v, v, i & 1 ? mask : NULL, m);
        } else if (i == ATOMIC_FADD || i == ATOMIC_XCHG) {
            build_atomic(&s->b, ptr, v, NULL, m);
            build_atomic(&s->b, ptr, v, mask, m);
        } else {
            build_atomic(&s->b, words, s->m, NULL, m);
        }
    }
}

/* A new one. Of what each thread has of a row, in vectors of 2^run elements; else of a square,
 * its columns side by side. */
static inline uint32_t sample_buffer(Sample *s, DType d, bool is_private, uint32_t run, uint32_t stages) {
    const Layout *row = sample_layout(s, s->row, 2), *square = layout_flat(s->f->layouts, s->square);
    Buffer b = {.dtype = d, .stages = stages, .is_private = is_private};
    b.places = is_private ? layout_private(s->f->layouts, 7, row->bits[IN_REGISTER], run)
                          : layout_transpose(s->f->layouts, square, (const uint8_t[]){1, 0});
    return buffer_add(s->f, b);
}

static inline void sample_copies(Sample *s) {
    Value *args[] = {sample_pointers(s), s->n, sample_value(s, type_scalar(DT_I1)),
                     sample_value(s, sample_tile(s, DT_I1, s->row))};
    for (uint32_t masked = 0; masked < 2; masked++) {
        MemAttr m = {.align_log2 = 4, .vec_log2 = 2, .mask_kind = masked ? MASK_PREFIX : MASK_NONE};
        vec_push(s->f->arena, &s->f->sites, s->b.span);
        m.site = s->f->sites.len - 1;
        op_build(
            &s->b, OP_COPYASYNC, args, 3 + masked,
            (Attr){
                .buffer = sample_buffer(s, DT_FP32, true, 2, 3), .is_begin = !masked, .is_prefetch = masked, .mem = m},
            s->n->type);
    }
}

/* A buffer of one box, and a map with a constant and parameters. */
static inline Attr sample_box(Sample *s, uint32_t stages) {
    DType d = s->p->type.pointee;
    uint32_t bytes = type_bytes(type_scalar(d)), columns = 128 / bytes;
    Shape shape = shape_make(2, (const uint8_t[]){3, (uint8_t)__builtin_ctz(columns)});
    BoxMap m = {.param = s->p->index, .rank = 3, .span = 128};
    m.dims[0] = (MapDim){.box = columns, .extent = s->n->index, .stride = {MAP_NO_PARAM, MAP_NO_PARAM}, .scale = 1};
    m.dims[1] = (MapDim){8, MAP_NO_PARAM, 100, {s->n->index, MAP_NO_PARAM}, 2};
    m.dims[2] = (MapDim){1, MAP_NO_PARAM, 7, {s->n->index, s->n->index}, 4096};
    vec_push(s->f->arena, &s->f->maps, m);
    const Layout *places = layout_swizzled(s->f->layouts, shape, 1, 8 * bytes, 128);
    Buffer b = {.dtype = d, .places = places, .stages = stages, .is_bulk = stages > 1};
    return (Attr){.map = s->f->maps.len - 1, .buffer = buffer_add(s->f, b)};
}

static inline void sample_bulk(Sample *s) {
    Attr a = sample_box(s, 3);
    a.is_begin = true;
    Value *args[] = {s->n, sample_value(s, type_scalar(DT_I1)), s->n, s->n, s->n};
    op_build(&s->b, OP_BULKLOAD, args, 5, a, s->n->type);
}

static inline void sample_bulk_store(Sample *s) {
    Attr a = sample_box(s, 1);
    Value *args[] = {s->n, s->n, s->n};
    op_build(&s->b, OP_PROXYFENCE, NULL, 0, (Attr){0}, s->n->type);
    op_build(&s->b, OP_BULKSTORE, args, 3, a, s->n->type);
    op_build(&s->b, OP_BULKWAIT, NULL, 0, (Attr){.buffer = a.buffer, .is_read = true}, s->n->type);
    op_build(&s->b, OP_BULKWAIT, NULL, 0, (Attr){.buffer = a.buffer}, s->n->type);
}

static inline void sample_copies_read(Sample *s) {
    Type t = sample_tile(s, DT_FP32, s->row);
    Value *args[] = {s->n, sample_value(s, type_with_dtype(t, DT_I1)), sample_value(s, t)};
    op_build(&s->b, OP_COPYREAD, args, 1,
             (Attr){.buffer = sample_buffer(s, DT_FP32, true, 2, 1), .mem = {.vec_log2 = 2}}, t);
    op_build(&s->b, OP_COPYREAD, args, 3,
             (Attr){.buffer = sample_buffer(s, DT_FP32, true, 1, 2), .mem = {.vec_log2 = 1}}, t);
}

/* Before there are layouts, of private buffers alone. */
static inline void sample_shared(Sample *s, OpKind k) {
    bool is_private = s->f->stage == STAGE_TILE, is_store = k == OP_SHSTORE;
    for (uint32_t stages = 1; stages < 4; stages += 2) {
        Value *x = sample_value(s, sample_tile(s, DT_I8, is_private ? s->row : s->square)), *args[] = {x, s->n};
        Attr a = {.buffer = sample_buffer(s, DT_I8, is_private, 2, stages),
                  .scope = is_store ? SCOPE_BLOCK : SCOPE_WARP};
        op_build(&s->b, k, is_store ? args : args + 1, (is_store ? 1u : 0u) + (stages > 1 ? 1u : 0u), a, x->type);
    }
}

/* From here on each program is of two blocks. */
static inline void sample_scope(const Sample *s, Scope scope) {
    s->f->blocks_per_program = 2;
    s->f->scope = scope;
}

/* Bytes that the blocks of a cluster count. */
static inline void sample_counted(Sample *s) {
    sample_scope(s, SCOPE_CLUSTER);
    op_build(&s->b, OP_BARRIER, NULL, 0, (Attr){.scope = SCOPE_CLUSTER, .is_begin = true}, s->n->type);
    for (uint32_t stages = 1; stages < 3; stages++) {
        Value *x = sample_value(s, sample_tile(s, DT_FP32, s->square)), *args[] = {x, s->n, s->n};
        Attr a = {.buffer = sample_buffer(s, DT_FP32, false, 2, stages)}, to = a;
        to.scope = SCOPE_CLUSTER;
        s->f->buffers.at[a.buffer].is_counted = true;
        op_build(&s->b, OP_SHSTORE, args, stages > 1 ? 3 : 1, to, x->type); /* of stage n, when n has come */
        op_build(&s->b, OP_SHWAIT, args + 1, stages > 1 ? 2 : 0, a, x->type);
        op_build(&s->b, OP_SHLOAD, args + 1, stages - 1, a, x->type);
        op_build(&s->b, OP_SHLOAD, args + 1, stages - 1, a, x->type);
    }
}

static inline void sample_op(Sample *s, OpKind k) {
    Value *x, *y;
    switch (k) {
    case OP_CONST: sample_constants(s); return;
    case OP_ARANGE: build0(&s->b, k, (Attr){.start = -256, .end = 0}, sample_tile(s, DT_I32, s->row)); return;
    case OP_ROTATED:
    case OP_MOVED:
        op_build(&s->b, k, &s->n, 1, (Attr){.start = -256, .end = 0}, sample_tile(s, DT_I32, s->row));
        return;
    case OP_SPLAT:
        build1_to(&s->b, k, s->p, type_with_shape(s->p->type, s->f->stage == STAGE_SIMT ? s->row : s->square));
        return;
    case OP_EXPAND: build_expand(&s->b, sample_value(s, sample_tile(s, DT_BF16, s->row)), 1); return;
    case OP_BROADCAST:
        build_broadcast(&s->b, build_expand(&s->b, sample_value(s, sample_tile(s, DT_BF16, s->row)), 0),
                        shape_make(2, (const uint8_t[]){4, 8}));
        return;
    case OP_RESHAPE:
        x = sample_value(s, sample_tile(s, DT_BF16, s->row));
        build_reshape(&s->b, build_reshape(&s->b, x, shape_make(3, (const uint8_t[]){2, 0, 6})), s->row);
        x = build_reshape(&s->b, sample_value(s, sample_tile(s, DT_I1, shape_row(0))), shape_scalar());
        return;
    case OP_TRANS:
        x = sample_value(s, sample_tile(s, DT_I64, s->square));
        x = build_reshape(&s->b, build_trans(&s->b, x, (const uint8_t[]){1, 0}),
                          shape_make(5, (const uint8_t[]){1, 3, 0, 2, 2}));
        build_trans(&s->b, x, (const uint8_t[]){4, 0, 2, 1, 3});
        return;
    case OP_FLIP: build_flip(&s->b, sample_value(s, sample_tile(s, DT_I64, s->square)), 21); return;
    case OP_JOIN:
    case OP_SPLIT:
        x = sample_value(s, sample_tile(s, DT_FP16, s->square));
        x = build_join(&s->b, x, sample_value(s, x->type));
        build_split(&s->b, x, 0);
        build_split(&s->b, x, 1);
        return;
    case OP_PID:
    case OP_NPROG: build0(&s->b, k, (Attr){.axis = 2}, s->n->type); return;
    case OP_ADD:
    case OP_SUB:
    case OP_MUL:
    case OP_SDIV:
    case OP_UDIV:
    case OP_SREM:
    case OP_UREM:
    case OP_UMULHI:
    case OP_SHL:
    case OP_ASHR:
    case OP_LSHR:
    case OP_SMAX:
    case OP_SMIN: sample_elementwise(s, k, 2, DT_I8, DT_I64); return;
    case OP_AND:
    case OP_OR:
    case OP_XOR:
    case OP_UMAX:
    case OP_UMIN: sample_elementwise(s, k, 2, DT_I1, DT_I64); return;
    case OP_ICMP: sample_compare(s, k, PRED_UGE, DT_I16); return;
    case OP_FCMP: sample_compare(s, k, PRED_SGE, DT_BF16); return;
    case OP_FADD:
    case OP_FSUB:
    case OP_FMUL:
    case OP_FDIV:
    case OP_FDIVRN:
    case OP_FREM:
    case OP_FMAX:
    case OP_FMIN:
    case OP_FMAXNAN:
    case OP_FMINNAN: sample_elementwise(s, k, 2, DT_FP16, DT_FP64); return;
    case OP_FNEG:
    case OP_FLOOR:
    case OP_CEIL:
    case OP_FTRUNC:
    case OP_RINT:
    case OP_FABS: sample_elementwise(s, k, 1, DT_FP16, DT_FP64); return;
    case OP_FMA: sample_elementwise(s, k, 3, DT_FP16, DT_FP64); return;
    case OP_EXP:
    case OP_EXP2:
        sample_elementwise(s, k, 1, DT_FP32, DT_FP64);
        op_build(&s->b, k, &s->x, 1, (Attr){.accuracy = ACCURACY_RELAXED}, s->x->type);
        op_build(&s->b, k, &s->x, 1, (Attr){.accuracy = ACCURACY_TERM}, s->x->type);
        return;
    case OP_LOG:
    case OP_LOG2:
    case OP_SQRT:
    case OP_SQRTRN:
    case OP_RSQRT: sample_elementwise(s, k, 1, DT_FP32, DT_FP64); return;
    case OP_SEXT:
    case OP_ZEXT: sample_convert(s, k, KIND_INT, KIND_INT, 1); return;
    case OP_TRUNC: sample_convert(s, k, KIND_INT, KIND_INT, -1); return;
    case OP_SITOFP:
    case OP_UITOFP: sample_convert(s, k, KIND_INT, KIND_FLOAT, 0); return;
    case OP_FPTOSI: case OP_FPTOSIRN:
    case OP_FPTOUI: sample_convert(s, k, KIND_FLOAT, KIND_INT, 0); return;
    case OP_FPEXT: sample_convert(s, k, KIND_FLOAT, KIND_FLOAT, 1); return;
    case OP_FPTRUNC: sample_convert(s, k, KIND_FLOAT, KIND_FLOAT, -1); return;
    case OP_BITCAST:
        build1_to(&s->b, k, s->x, s->n->type);
        build1_to(&s->b, k, s->m, s->p->type);
        return;
    case OP_SELECT:
        x = sample_value(s, sample_tile(s, DT_FP8E5, s->row));
        build3(&s->b, k, sample_value(s, sample_tile(s, DT_I1, s->row)), x, x);
        build3(&s->b, k, sample_value(s, type_scalar(DT_I1)), x, x);
        return;
    case OP_ADDPTR: build2(&s->b, k, build2(&s->b, k, s->p, s->n), s->m); return;
    case OP_LOAD:
    case OP_STORE: sample_memory_ops(s); return;
    case OP_ATOMICRMW:
    case OP_ATOMICCAS: sample_atomics(s, k); return;
    case OP_REDUCE:
    case OP_REDUCEWARP: sample_reduce(s, k); return;
    case OP_SPREADWARP:
        x = sample_value(s, sample_tile(s, DT_FP32, s->square));
        for (uint32_t axis = 0; axis < 2; axis++) {
            y = op_build(&s->b, OP_REDUCEWARP, &x, 1, (Attr){.axis = axis, .combine = OP_FMAX}, x->type)->results[0];
            op_build(&s->b, k, &y, 1, (Attr){.axis = axis}, x->type);
        }
        return;
    case OP_REDUCEFN:
    case OP_REDUCEFNWARP:
    case OP_SCAN:
    case OP_SCANWARP:
    case OP_SCANAPPLY: sample_combine(s, k); return;
    case OP_CONVERT:
        x = sample_value(s, sample_tile(s, DT_FP32, s->row));
        y = build1_to(&s->b, k, x, (Type){.dtype = DT_FP32, .shape = s->row, .layout = sample_layout(s, s->row, 0)});
        build1_to(&s->b, k, y, x->type);
        return;
    case OP_SPILL:
        x = sample_value(s, sample_tile(s, DT_FP32, s->row));
        op_build(&s->b, k, &x, 1, (Attr){.buffer = sample_buffer(s, DT_FP32, true, 1, 1)}, x->type);
        return;
    case OP_OPAQUE: build1(&s->b, k, sample_value(s, sample_tile(s, DT_FP16, s->row))); return;
    case OP_SHSTORE:
        sample_shared(s, k);
        if (s->f->stage == STAGE_TILE) return;
        sample_scope(s, SCOPE_CLUSTER);
        x = sample_value(s, sample_tile(s, DT_I8, s->square));
        op_build(&s->b, k, &x, 1, (Attr){.buffer = sample_buffer(s, DT_I8, false, 2, 1), .scope = SCOPE_CLUSTER},
                 x->type);
        return;
    case OP_SHLOAD: sample_shared(s, k); return;
    case OP_SHWAIT: sample_counted(s); return;
    case OP_GATHER:
        x = sample_value(s, sample_tile(s, DT_FP32, s->square));
        build_gather(&s->b, x, sample_value(s, sample_tile(s, DT_I32, shape_make(2, (const uint8_t[]){7, 5}))), 0);
        return;
    case OP_SLICE:
        x = sample_value(s, sample_tile(s, DT_FP32, s->square));
        op_build(&s->b, k, (Value *[]){x, s->n}, 2, (Attr){.axis = 1},
                 sample_tile(s, DT_FP32, shape_make(2, (const uint8_t[]){3, 2})));
        return;
    case OP_DOT: sample_dots(s); return;
    case OP_MMA: sample_mmas(s); return;
    case OP_SHMATRIX:
    case OP_PROXYFENCE:
    case OP_DOTASYNC:
    case OP_DOTWAIT: sample_products(s); return;
    case OP_PRINT:
        build_print(&s->b, NULL, "no value: \"\\\"\n", SHOWN_SIGNED);
        build_print(&s->b, sample_value(s, sample_tile(s, DT_FP32, s->square)), "", SHOWN_FP16);
        return;
    case OP_ASSERT: build_assert(&s->b, sample_value(s, sample_tile(s, DT_I1, s->row)), "\x01 100% \x7f", 0); return;
    case OP_SHGATHER:
    case OP_SHSLICE: {
        Shape whole = shape_make(2, (const uint8_t[]){s->square.log2[0], 12});
        Buffer b = {.dtype = DT_FP64, .places = layout_flat(s->f->layouts, whole)};
        x = k == OP_SHSLICE ? s->n : sample_value(s, sample_tile(s, DT_I32, s->square));
        y = sample_value(s, sample_tile(s, DT_FP64, s->square));
        op_build(&s->b, k, &x, 1, (Attr){.buffer = buffer_add(s->f, b), .axis = 1}, y->type);
        return;
    }
    case OP_COPYASYNC: sample_copies(s); return;
    case OP_BULKLOAD: sample_bulk(s); return;
    case OP_BULKSTORE:
    case OP_BULKWAIT: sample_bulk_store(s); return;
    case OP_COPYREAD: sample_copies_read(s); return;
    case OP_GDCWAIT:
    case OP_GDCLAUNCH:
    case OP_COPYCOMMIT: op_build(&s->b, k, NULL, 0, (Attr){0}, s->n->type); return;
    case OP_COPYWAIT: op_build(&s->b, k, NULL, 0, (Attr){.pending = 2}, s->n->type); return;
    case OP_BARRIER:
        sample_scope(s, SCOPE_GRID);
        for (Scope scope = SCOPE_WARP; scope <= SCOPE_GRID; scope++)
            if (scope != SCOPE_CLUSTER) op_build(&s->b, k, NULL, 0, (Attr){.scope = scope}, s->n->type);
        return;
    case OP_FOR:
    case OP_YIELD: sample_for(s); return;
    case OP_WHILE:
    case OP_CONDITION: sample_while(s); return;
    case OP_IF:
        sample_if(s, 2);
        sample_if(s, 0);
        return;
    case OP_RETURN: return;
    case OP_COUNT: break;
    }
    fail_msg("op kind %d", (int)k);
}

static inline bool sample_is_simt(OpKind k) {
    return op_info[k].stage == STAGE_SIMT || k == OP_SPREADWARP || k == OP_REDUCEWARP || k == OP_BARRIER;
}

static inline Func *sample_of(Arena *a, Strings *names, OpKind k, Stage stage) {
    Sample s = sample_create(a, names, stage);
    sample_op(&s, k);
    op_build(&s.b, OP_RETURN, NULL, 0, (Attr){0}, s.n->type);
    return s.f;
}

#endif

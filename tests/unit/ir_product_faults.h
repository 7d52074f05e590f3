/* ir_product_faults.h - faults to plant in products that go on meanwhile (ir_verify_test.c). */
#ifndef IR_PRODUCT_FAULTS_H
#define IR_PRODUCT_FAULTS_H

#include "ir_faults.h"

/* Of the first product that sample_products() makes, whose sum is waited for. */
static Op *product_op(Victim *v, OpKind k) {
    v->s.b = builder_before(v->s.f, v->s.f->body->last);
    Op *op = v->s.b.before->prev;
    sample_products(&v->s);
    for (op = op->next; op->kind != k;) op = op->next;
    return op;
}

static void product_sum_used(Victim *v) {
    build1(&v->s.b, OP_OPAQUE, product_op(v, OP_DOTASYNC)->results[0]);
}

static void product_left_by_wait(Victim *v) {
    Op *wait = product_op(v, OP_DOTWAIT);
    wait->attr.pending = 1;
    build1(&v->s.b, OP_OPAQUE, wait->results[0]);
}

static void product_unfenced(Victim *v) {
    op_erase(v->s.f, product_op(v, OP_PROXYFENCE));
}

static void product_of_number(Victim *v) {
    op_set_arg(v->s.f, product_op(v, OP_DOTASYNC), MMA_B, v->s.n);
}

static void product_place_taken(Victim *v) {
    build2(&v->s.b, OP_ADD, product_op(v, OP_SHMATRIX)->results[0], v->s.n);
}

static Buffer *product_buffer(Victim *v) {
    const Op *at = product_op(v, OP_SHMATRIX); /* adds buffers */
    return &v->s.f->buffers.at[at->attr.buffer];
}

static void product_of_flat(Victim *v) {
    Buffer *b = product_buffer(v);
    b->places = layout_flat(v->s.f->layouts, b->places->shape);
}

static void product_unaligned(Victim *v) {
    product_buffer(v)->align = 128;
}

static void product_of_other_type(Victim *v) {
    const Op *at = product_op(v, OP_DOTASYNC)->args[MMA_B]->def;
    Buffer *b = &v->s.f->buffers.at[at->attr.buffer];
    b->dtype = b->dtype == DT_I8 ? DT_FP8E5 : DT_I8;
}

#endif

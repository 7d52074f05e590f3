/* fma_dot.c - the pass fma_dot: a product that threads make on their own becomes a loop over k of products of a few k.
 *
 * In: stage TILE. Out: a dot over more than a step of k is a loop that carries its sum; each round takes its part of
 * both operands. So a thread holds a step of its rows and columns only, the whole waits in shared memory, and the code
 * does not grow with k. A step is 16 bytes of a row, one access of shared memory, but 8 elements at most.
 */
#include "passes/private.h"

static uint32_t step_log2(Type t) {
    return type_bytes(t) >= 4 ? 2 : 3;
}

static void visit(void *context, Op *op) {
    Func *f = context;
    if (op->kind != OP_DOT) return;
    Value *x = op->args[0], *y = op->args[1];
    uint32_t last = x->type.shape.rank - 1u, k = x->type.shape.log2[last], step = step_log2(x->type);
    if (k <= step) return;
    Builder b = builder_before(f, op);
    Type index = type_scalar(DT_I32);
    Value *lo = build_int(&b, index, 0), *hi = build_int(&b, index, INT64_C(1) << k),
          *by = build_int(&b, index, INT64_C(1) << step);
    Op *loop = build_for(&b, lo, hi, by, &op->args[2], 1, (LoopAttr){0});
    Block *body = loop->regions[0];
    Builder in = builder_at_end(f, body);
    in.span = op->span;
    Value *at = body->args.at[0], *rows = build_slice(&in, x, at, last, step),
          *columns = build_slice(&in, y, at, last - 1, step);
    Value *sum = build_dot(&in, rows, columns, body->args.at[1], op->attr);
    build_yield(&in, &sum, 1);
    op_replace(f, op, loop->results[0]);
}

void pass_fma_dot(Func *f, PassContext *c) {
    (void)c;
    func_walk(f, visit, f);
}

/* dot.c - the product of two matrices, and of batches of them.
 *
 * In: a dot. Out: loops at this program point; the result is in its buffer.
 * Method: both operands are packed once, in the accumulator's type and in the order in which they are read: a in panels
 * of a few rows, b in panels of a few vectors of columns. For each pair of panels the sums stay in registers while k
 * goes by. Sums go along k from the accumulator on, so the result does not depend on the sizes of panels. All sizes are
 * powers of two: there are no remainders.
 */
#include "codegen/host/host.h"

enum { MOST_ROWS = 8, MOST_VECTORS = 2 };

/* log2 of sizes. */
typedef struct Product {
    const Op *op;
    DType acc;
    uint32_t m, n, k;
    uint32_t rows, columns; /* of a panel */
    uint32_t width;         /* of a vector */
    int64_t a, b;           /* the packed operands' buffers */
} Product;

static uint32_t least(uint32_t x, uint32_t y) {
    return x < y ? x : y;
}

static Product product_of(Host *h, const Op *op) {
    Type a = op->args[0]->type, r = op->results[0]->type;
    uint32_t last = r.shape.rank - 1u, lanes = h->vector_bytes / type_bytes(r);
    Product p = {
        .op = op, .acc = r.dtype, .m = r.shape.log2[last - 1], .n = r.shape.log2[last], .k = a.shape.log2[last]};
    p.width = least((uint32_t)__builtin_ctz(least(lanes, HOST_WIDTH)), p.n);
    p.columns = least(p.width + 1, p.n); /* MOST_VECTORS vectors */
    p.rows = least(h->vector_bytes >= 64 ? 3 : 2, p.m); /* as many sums as half of the registers */
    p.a = host_allocate(h, type_tile(p.acc, shape_row(p.m + p.k)));
    p.b = host_allocate(h, type_tile(p.acc, shape_row(p.k + p.n)));
    return p;
}

/* ---- Packing ----------------------------------------------------------------------------------------------------- */

/* Bits of an index that change their places: those from `low` on, `count` of them, go to `to`. */
typedef struct Field {
    uint32_t low, count, to;
} Field;

static uint64_t move_constant(const Field *f, uint64_t index) {
    uint64_t r = 0;
    for (uint32_t i = 0; i < 3; i++) r |= (index >> f[i].low & ((UINT64_C(1) << f[i].count) - 1)) << f[i].to;
    return r;
}

static LLVMValueRef move_index(Host *h, const Field *f, LLVMValueRef index) {
    Llvm *m = h->m;
    LLVMValueRef r = llvm_int(m->i64, 0);
    for (uint32_t i = 0; i < 3; i++) {
        if (!f[i].count) continue;
        LLVMValueRef field = LLVMBuildLShr(m->at, index, llvm_int(m->i64, f[i].low), "");
        field = LLVMBuildAnd(m->at, field, llvm_int(m->i64, (INT64_C(1) << f[i].count) - 1), "");
        r = LLVMBuildOr(m->at, r, LLVMBuildShl(m->at, field, llvm_int(m->i64, f[i].to), ""), "");
    }
    return r;
}

/* The elements of operand i from `base` on, as many as one matrix has,
 * each to the place that the fields of its index say. */
static void pack(Host *h, const Product *p, uint32_t i, LLVMValueRef base, uint32_t elements_log2, const Field *f) {
    Llvm *m = h->m;
    const Value *v = p->op->args[i];
    uint32_t width = host_width(h, v->type.shape), in_order = 0;
    if (width > 1u << elements_log2) width = 1u << elements_log2;
    while (in_order < width && move_constant(f, in_order) == in_order) in_order++;
    Loop l = host_loop_begin(h, llvm_int(m->i64, INT64_C(1) << elements_log2), width, "pack");
    Chunk c = host_chunk(h, v->type.shape, LLVMBuildAdd(m->at, base, l.index, ""), width);
    LLVMValueRef x = math_factor(&h->math, v->type.dtype, p->acc, p->op->attr.is_unsigned[i], host_eval(h, &c, v));
    LLVMValueRef to = move_index(h, f, l.index);
    int64_t buffer = i ? p->b : p->a;
    for (uint32_t lane = 0; lane < width && in_order < width; lane++) {
        LLVMValueRef at = LLVMBuildAdd(m->at, to, llvm_int(m->i64, (int64_t)move_constant(f, lane)), "");
        host_put(h, buffer, p->acc, at, width > 1 ? LLVMBuildExtractElement(m->at, x, llvm_int(m->i32, lane), "") : x);
    }
    if (in_order == width) host_put(h, buffer, p->acc, to, x);
    host_loop_end(h, &l);
}

/* a[i][k] to panels of rows: [i high][k][i low]. */
static void pack_rows(Host *h, const Product *p, LLVMValueRef base) {
    Field f[] = {{0, p->k, p->rows}, {p->k, p->rows, 0}, {p->k + p->rows, p->m - p->rows, p->k + p->rows}};
    pack(h, p, 0, base, p->m + p->k, f);
}

/* b[k][j] to panels of columns: [j high][k][j low]. */
static void pack_columns(Host *h, const Product *p, LLVMValueRef base) {
    Field f[] = {{0, p->columns, 0}, {p->n, p->k, p->columns}, {p->columns, p->n - p->columns, p->columns + p->k}};
    pack(h, p, 1, base, p->k + p->n, f);
}

/* ---- Multiplying ------------------------------------------------------------------------------------------------- */

static LLVMValueRef plus(Host *h, LLVMValueRef x, int64_t y) {
    return y ? LLVMBuildAdd(h->m->at, x, llvm_int(h->m->i64, y), "") : x;
}

/* One step of k: every sum gets its product. */
static void multiply(Host *h, const Product *p, LLVMValueRef a, LLVMValueRef b, LLVMValueRef *sum) {
    uint32_t rows = 1u << p->rows, vectors = 1u << (p->columns - p->width), width = 1u << p->width;
    LLVMValueRef columns[MOST_VECTORS];
    for (uint32_t v = 0; v < vectors; v++) columns[v] = host_get(h, p->b, p->acc, plus(h, b, v * width), width);
    for (uint32_t i = 0; i < rows; i++) {
        LLVMValueRef x = host_splat(h, host_get(h, p->a, p->acc, plus(h, a, i), 1), width);
        for (uint32_t v = 0; v < vectors; v++) {
            LLVMValueRef *s = &sum[i * vectors + v];
            *s = math_multiply_add(&h->math, p->acc, x, columns[v], *s);
        }
    }
}

/* The sums of a panel of rows by a panel of columns, which begin in the result's buffer and end there. */
static void multiply_panels(Host *h, const Product *p, LLVMValueRef a, LLVMValueRef b, LLVMValueRef to) {
    Llvm *m = h->m;
    uint32_t vectors = 1u << (p->columns - p->width), width = 1u << p->width, n = vectors << p->rows;
    int64_t buffer = h->buffers[p->op->results[0]->id];
    LLVMValueRef at[MOST_ROWS * MOST_VECTORS], first[MOST_ROWS * MOST_VECTORS], sum[MOST_ROWS * MOST_VECTORS],
        next[MOST_ROWS * MOST_VECTORS];
    for (uint32_t i = 0; i < n; i++) {
        at[i] = plus(h, to, ((int64_t)(i / vectors) << p->n) + i % vectors * width);
        first[i] = host_get(h, buffer, p->acc, at[i], width);
    }
    LLVMBasicBlockRef before = LLVMGetInsertBlock(m->at);
    Loop k = host_loop_begin(h, llvm_int(m->i64, INT64_C(1) << p->k), 1, "dot");
    for (uint32_t i = 0; i < n; i++) next[i] = sum[i] = LLVMBuildPhi(m->at, LLVMTypeOf(first[i]), "");
    LLVMValueRef row = LLVMBuildShl(m->at, k.index, llvm_int(m->i64, p->rows), "");
    LLVMValueRef column = LLVMBuildShl(m->at, k.index, llvm_int(m->i64, p->columns), "");
    multiply(h, p, LLVMBuildAdd(m->at, a, row, ""), LLVMBuildAdd(m->at, b, column, ""), next);
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(m->at);
    host_loop_end(h, &k);
    for (uint32_t i = 0; i < n; i++) {
        LLVMAddIncoming(sum[i], (LLVMValueRef[]){first[i], next[i]}, (LLVMBasicBlockRef[]){before, latch}, 2);
        host_put(h, buffer, p->acc, at[i], next[i]);
    }
}

/* One matrix by one matrix; where they and the result begin. */
static void multiply_matrices(Host *h, const Product *p, LLVMValueRef a, LLVMValueRef b, LLVMValueRef to) {
    Llvm *m = h->m;
    pack_rows(h, p, a);
    pack_columns(h, p, b);
    Loop j = host_loop_begin(h, llvm_int(m->i64, INT64_C(1) << p->n), UINT64_C(1) << p->columns, "columns");
    Loop i = host_loop_begin(h, llvm_int(m->i64, INT64_C(1) << p->m), UINT64_C(1) << p->rows, "rows");
    LLVMValueRef rows = LLVMBuildShl(m->at, i.index, llvm_int(m->i64, p->k), "");
    LLVMValueRef columns = LLVMBuildShl(m->at, j.index, llvm_int(m->i64, p->k), "");
    LLVMValueRef row = LLVMBuildShl(m->at, i.index, llvm_int(m->i64, p->n), "");
    multiply_panels(h, p, rows, columns, LLVMBuildAdd(m->at, LLVMBuildAdd(m->at, to, row, ""), j.index, ""));
    host_loop_end(h, &i);
    host_loop_end(h, &j);
}

void host_dot(Host *h, const Op *op) {
    Llvm *m = h->m;
    const Value *r = op->results[0], *sum = op->args[2];
    int64_t buffer = h->buffers[r->id];
    Product p = product_of(h, op);
    if (h->buffers[sum->id] != buffer) host_store_tile(h, sum, buffer);
    if (r->type.shape.rank == 2) {
        LLVMValueRef zero = llvm_int(m->i64, 0);
        multiply_matrices(h, &p, zero, zero, zero);
        return;
    }
    Loop l = host_loop_begin(h, llvm_int(m->i64, (int64_t)shape_size(r->type.shape, 0)), 1, "batch");
    LLVMValueRef a = LLVMBuildShl(m->at, l.index, llvm_int(m->i64, p.m + p.k), "");
    LLVMValueRef b = LLVMBuildShl(m->at, l.index, llvm_int(m->i64, p.k + p.n), "");
    multiply_matrices(h, &p, a, b, LLVMBuildShl(m->at, l.index, llvm_int(m->i64, p.m + p.n), ""));
    host_loop_end(h, &l);
}

/* dot.c - the product of two matrices, and of batches of them.
 *
 * In: a dot. Out: loops at this program point; the result is in its buffer.
 * Method: both operands are packed once, as words: elements of the accumulator's type, or pairs of bf16 along k where
 * an instruction adds two products to a sum. Words of a stay in their order; those of b go to panels of a few vectors
 * of columns. For a few rows and a panel the sums stay in registers while k goes by. Sums go along k from the
 * accumulator on, so the result does not depend on the sizes of panels. All sizes are powers of two: there are no
 * remainders.
 */
#include "codegen/host/host.h"

enum { MOST_ROWS = 8, MOST_VECTORS = 2, LEAST_LANES = 2 /* log2, of the instruction for pairs */ };

/* log2 of sizes. */
typedef struct Product {
    const Op *op;
    DType acc, element, word;
    bool has_pairs;
    uint32_t m, n, k;
    uint32_t words;         /* along k */
    uint32_t rows, columns; /* of a panel */
    uint32_t width;         /* of a vector */
    int64_t a, b;           /* the packed operands' buffers */
} Product;

static uint32_t least(uint32_t x, uint32_t y) {
    return x < y ? x : y;
}

/* Every number of the type is one of bf16. */
static bool fits_bf16(DType d) {
    return d == DT_BF16 || d == DT_FP8E4NV || d == DT_FP8E5;
}

static Product product_of(Host *h, const Op *op) {
    Type a = op->args[0]->type, b = op->args[1]->type, r = op->results[0]->type;
    uint32_t last = r.shape.rank - 1u, lanes = h->vector_bytes / type_bytes(r);
    Product p = {.op = op,
                 .acc = r.dtype,
                 .element = r.dtype,
                 .word = r.dtype,
                 .m = r.shape.log2[last - 1],
                 .n = r.shape.log2[last],
                 .k = a.shape.log2[last]};
    p.width = least((uint32_t)__builtin_ctz(least(lanes, HOST_WIDTH)), p.n);
    p.columns = least(p.width + 1, p.n);                /* MOST_VECTORS vectors */
    p.rows = least(h->vector_bytes >= 64 ? 3 : 2, p.m); /* as many sums as half of the registers */
    p.words = p.k;
    p.has_pairs = math_has(&h->math, FEATURE_DOT_BF16) && p.acc == DT_FP32 && fits_bf16(a.dtype) &&
                  fits_bf16(b.dtype) && p.k > 0 && p.width >= LEAST_LANES;
    if (p.has_pairs) {
        p.element = DT_BF16;
        p.word = DT_I32;
        p.words--;
    }
    p.a = host_allocate(h, type_tile(p.word, shape_row(p.m + p.words)));
    p.b = host_allocate(h, type_tile(p.word, shape_row(p.words + p.n)));
    return p;
}

static LLVMValueRef plus(Host *h, LLVMValueRef x, int64_t y) {
    return y ? LLVMBuildAdd(h->m->at, x, llvm_int(h->m->i64, y), "") : x;
}

/* ---- Packing ----------------------------------------------------------------------------------------------------- */

/* Lanes of two vectors side by side. */
static LLVMValueRef shuffle(Host *h, LLVMValueRef x, LLVMValueRef y, const uint32_t *from, uint32_t n) {
    LLVMValueRef lanes[2 * HOST_WIDTH];
    for (uint32_t i = 0; i < n; i++) lanes[i] = llvm_int(h->m->i32, from[i]);
    return LLVMBuildShuffleVector(h->m->at, x, y, LLVMConstVector(lanes, n), "");
}

/* `width` neighbours of operand i, as elements of words. */
static LLVMValueRef elements(Host *h, const Product *p, uint32_t i, LLVMValueRef at, uint32_t width) {
    const Value *v = p->op->args[i];
    Chunk c = host_chunk(h, v->type.shape, at, width);
    LLVMValueRef x = host_eval(h, &c, v);
    return math_factor(&h->math, v->type.dtype, p->element, p->op->attr.is_unsigned[i], x);
}

/* Lanes of a chunk of operand i, of which one matrix has that many elements. */
static uint32_t chunk_width(const Host *h, const Product *p, uint32_t i, uint32_t elements_log2) {
    return least(host_width(h, p->op->args[i]->type.shape), 1u << elements_log2);
}

/* a[i][k] from `base` on to words [i][k]. The instruction adds the upper half's product first: that is the lower k. */
static void pack_rows(Host *h, const Product *p, LLVMValueRef base) {
    Llvm *m = h->m;
    uint32_t width = chunk_width(h, p, 0, p->m + p->k), swapped[HOST_WIDTH];
    Loop l = host_loop_begin(h, llvm_int(m->i64, INT64_C(1) << (p->m + p->k)), width, "pack");
    LLVMValueRef x = elements(h, p, 0, LLVMBuildAdd(m->at, base, l.index, ""), width);
    for (uint32_t i = 0; i < width; i++) swapped[i] = i ^ 1;
    if (p->has_pairs) x = shuffle(h, x, x, swapped, width);
    host_put(h, p->a, p->element, l.index, x);
    host_loop_end(h, &l);
}

/* Words of b from the one on that is [k][j] of `index`, `width` neighbours along j; `base`: where the matrix begins. */
static LLVMValueRef words(Host *h, const Product *p, LLVMValueRef base, LLVMValueRef index, uint32_t width) {
    Llvm *m = h->m;
    LLVMValueRef at = LLVMBuildAdd(m->at, base, index, "");
    if (!p->has_pairs) return elements(h, p, 1, at, width);
    LLVMValueRef rows = LLVMBuildAnd(m->at, index, llvm_int(m->i64, -(INT64_C(1) << p->n)), "");
    at = LLVMBuildAdd(m->at, at, rows, "");
    LLVMValueRef upper = elements(h, p, 1, at, width);
    LLVMValueRef lower = elements(h, p, 1, plus(h, at, INT64_C(1) << p->n), width);
    uint32_t from[2 * HOST_WIDTH];
    for (uint32_t i = 0; i < 2 * width; i++) from[i] = i / 2 + (i & 1) * width;
    return host_as(h, shuffle(h, lower, upper, from, 2 * width), host_type(h, p->word, width));
}

/* The place of word [k][j] in panels: [j high][k][j low]. */
static LLVMValueRef panel_place(Host *h, const Product *p, LLVMValueRef index) {
    Llvm *m = h->m;
    int64_t panels = (INT64_C(1) << p->n) - (INT64_C(1) << p->columns);
    LLVMValueRef low = LLVMBuildAnd(m->at, index, llvm_int(m->i64, (INT64_C(1) << p->columns) - 1), "");
    LLVMValueRef high = LLVMBuildAnd(m->at, index, llvm_int(m->i64, panels), "");
    LLVMValueRef row = LLVMBuildLShr(m->at, index, llvm_int(m->i64, p->n), "");
    row = LLVMBuildOr(m->at, LLVMBuildShl(m->at, row, llvm_int(m->i64, p->columns), ""), low, "");
    return LLVMBuildOr(m->at, LLVMBuildShl(m->at, high, llvm_int(m->i64, p->words), ""), row, "");
}

/* b[k][j] from `base` on to panels of words. */
static void pack_columns(Host *h, const Product *p, LLVMValueRef base) {
    Llvm *m = h->m;
    uint32_t width = chunk_width(h, p, 1, p->words + p->n), run = least(width, 1u << p->columns);
    if (p->columns == p->n) run = width; /* one panel: all words stay in their order */
    Loop l = host_loop_begin(h, llvm_int(m->i64, INT64_C(1) << (p->words + p->n)), width, "pack");
    LLVMValueRef x = words(h, p, base, l.index, width), to = panel_place(h, p, l.index);
    for (uint32_t i = 0; i < width; i += run) {
        uint32_t from[HOST_WIDTH];
        for (uint32_t lane = 0; lane < run; lane++) from[lane] = i + lane;
        LLVMValueRef part = run == width ? x : shuffle(h, x, x, from, run);
        host_put(h, p->b, p->word, plus(h, to, (int64_t)i << p->words), part);
    }
    host_loop_end(h, &l);
}

/* ---- Multiplying ------------------------------------------------------------------------------------------------- */

/* sum + x y, of words. */
static LLVMValueRef add_product(Host *h, const Product *p, LLVMValueRef x, LLVMValueRef y, LLVMValueRef sum) {
    static const char *const names[] = {"llvm.x86.avx512bf16.dpbf16ps.128", "llvm.x86.avx512bf16.dpbf16ps.256",
                                        "llvm.x86.avx512bf16.dpbf16ps.512"};
    if (!p->has_pairs) return math_multiply_add(&h->math, p->acc, x, y, sum);
    LLVMTypeRef t = LLVMVectorType(LLVMBFloatTypeInContext(h->m->context), 2u << p->width);
    LLVMValueRef args[] = {sum, host_as(h, x, t), host_as(h, y, t)};
    return llvm_intrinsic(h->m, names[p->width - LEAST_LANES], NULL, 0, args, 3);
}

/* One step of k: every sum gets its product. a, b: the words of the first row and of the first column. */
static void multiply(Host *h, const Product *p, LLVMValueRef a, LLVMValueRef b, LLVMValueRef *sum) {
    uint32_t rows = 1u << p->rows, vectors = 1u << (p->columns - p->width), width = 1u << p->width;
    LLVMValueRef columns[MOST_VECTORS];
    for (uint32_t v = 0; v < vectors; v++) columns[v] = host_get(h, p->b, p->word, plus(h, b, v * width), width);
    for (uint32_t i = 0; i < rows; i++) {
        LLVMValueRef x = host_get(h, p->a, p->word, plus(h, a, (int64_t)i << p->words), 1);
        x = llvm_splat(h->m, x, width);
        for (uint32_t v = 0; v < vectors; v++) {
            LLVMValueRef *s = &sum[i * vectors + v];
            *s = add_product(h, p, x, columns[v], *s);
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
    Loop k = host_loop_begin(h, llvm_int(m->i64, INT64_C(1) << p->words), 1, "dot");
    for (uint32_t i = 0; i < n; i++) next[i] = sum[i] = LLVMBuildPhi(m->at, LLVMTypeOf(first[i]), "");
    LLVMValueRef column = LLVMBuildShl(m->at, k.index, llvm_int(m->i64, p->columns), "");
    multiply(h, p, LLVMBuildAdd(m->at, a, k.index, ""), LLVMBuildAdd(m->at, b, column, ""), next);
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
    LLVMValueRef rows = LLVMBuildShl(m->at, i.index, llvm_int(m->i64, p->words), "");
    LLVMValueRef columns = LLVMBuildShl(m->at, j.index, llvm_int(m->i64, p->words), "");
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

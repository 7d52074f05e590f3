/* copy.c - asynchronous copies of global memory into shared memory, and what they brought;
 * tiles that threads keep there.
 *
 * In: copy_async, copy_read with the byte where a stage begins; staged_store, staged_load. Out: primitives of 4, 8 or
 * 16 bytes; of what is kept of any size.
 * Method: each thread has places of its own, vector by vector, those of a warp's threads side by side: no bank
 * conflict, and no barrier, since a thread sees what it copied itself behind its own wait. Where a mask cuts a vector,
 * fewer bytes are copied and the rest becomes zero.
 */
#include "codegen/simt/simt.h"

typedef struct Copies {
    DType d;
    uint32_t n, vectors; /* elements of a vector; vectors that move */
    Access access;
    V base; /* of the thread's first vector: a byte offset */
    uint32_t stride;     /* bytes from one of its vectors to the next */
} Copies;

static Copies copies_of(Simt *s, const Op *op, DType d, const Value *at) {
    uint32_t n = UINT32_C(1) << op->attr.mem.vec_log2, bytes = type_bytes(type_scalar(d));
    Copies c = {.d = d,
                .n = n,
                .vectors = op->attr.vectors,
                .access = access_of(bytes, n),
                .stride = bytes * n * s->f->threads_per_program};
    V own = LLVMBuildMul(s->m->at, simt_tid(s), simt_i32(s, bytes * n), "");
    c.base = LLVMBuildAdd(s->m->at, own, tile_slot(s, tile_of(s, at), 0), "");
    return c;
}

static V vector_place(Simt *s, const Copies *c, uint32_t v) {
    return v ? LLVMBuildAdd(s->m->at, c->base, simt_i32(s, (int64_t)v * c->stride), "") : c->base;
}

/* Of the vector that begins at register `reg`, how many bytes its mask lets through: the first ones. */
static V bytes_within(Simt *s, const Op *op, const Copies *c, uint32_t reg) {
    const Tile *mask = op->nargs > 3 ? tile_of(s, op->args[3]) : NULL;
    uint32_t bytes = type_bytes(type_scalar(c->d)), tested = mask && op->attr.mem.mask_kind == MASK_PREFIX ? c->n : 1;
    bool truth;
    if (!mask || (known_truth(tile_slot(s, mask, reg + tested - 1), &truth) && truth))
        return simt_i32(s, (int64_t)bytes * c->n);
    V sum = simt_i32(s, 0), part = simt_i32(s, (int64_t)bytes * c->n / tested);
    for (uint32_t i = 0; i < tested; i++)
        sum = LLVMBuildAdd(s->m->at, sum,
                           LLVMBuildSelect(s->m->at, tile_slot(s, mask, reg + i), part, simt_i32(s, 0), ""), "");
    return sum;
}

void simt_copy_async(Simt *s, const Op *op) {
    const Tile *ptr = tile_of(s, op->args[0]);
    Copies c = copies_of(s, op, op->args[0]->type.pointee, op->args[1]);
    V issue = tile_slot(s, tile_of(s, op->args[2]), 0), site = simt_site(s);
    for (uint32_t v = 0; v < c.vectors; v++) {
        V bytes = bytes_within(s, op, &c, v * c.n), all = simt_i32(s, (int64_t)c.access.words * c.access.bits / 8);
        V args[] = {vector_place(s, &c, v), tile_slot(s, ptr, v * c.n), issue, bytes, all, site};
        prim_call(s, PRIM_COPY_ASYNC, args, COUNT(args));
    }
}

/* x where the mask of register `reg` is on, else y. */
static V kept(Simt *s, const Op *op, uint32_t reg, V x, V y) {
    V mask = tile_slot(s, tile_of(s, op->args[1]), reg);
    bool truth;
    if (known_truth(mask, &truth)) return truth ? x : y;
    return LLVMBuildSelect(s->m->at, mask, x, y, "");
}

/* What vector v holds where its mask is off. */
static void others_of(Simt *s, const Op *op, const Copies *c, uint32_t v, V *elements) {
    const Tile *other = op->nargs > 1 ? tile_of(s, op->args[2]) : NULL;
    for (uint32_t i = 0; i < c->n; i++)
        elements[i] = other ? tile_slot(s, other, v * c->n + i) : LLVMConstNull(slot_type(s, c->d));
}

/* The words of vector v. Where one truth value is that of a whole vector they are chosen as words,
 * else element by element. */
static void read_vector(Simt *s, const Op *op, const Copies *c, uint32_t v, V *words, V *elements) {
    V args[] = {vector_place(s, c, v), simt_site(s)}, others[16], packed[4];
    V result = prim_access(s, PRIM_LOAD_SHARED, c->access, args, COUNT(args));
    bool is_uniform = op->attr.mem.mask_kind == MASK_UNIFORM;
    for (uint32_t i = 0; i < c->access.words; i++) words[i] = access_result(s, c->access, result, i);
    others_of(s, op, c, v, others);
    if (op->nargs > 1 && is_uniform) {
        elements_pack(s, c->d, others, c->n, c->access, packed);
        for (uint32_t i = 0; i < c->access.words; i++) words[i] = kept(s, op, v * c->n, words[i], packed[i]);
    }
    elements_unpack(s, c->d, words, c->access, elements, c->n);
    if (op->nargs == 1 || is_uniform) return;
    for (uint32_t i = 0; i < c->n; i++) elements[i] = kept(s, op, v * c->n + i, elements[i], others[i]);
    elements_pack(s, c->d, elements, c->n, c->access, words);
}

void simt_copy_read(Simt *s, const Op *op) {
    Value *x = op->results[0];
    Tile r = tile_create(s, tile_registers(x));
    Copies c = copies_of(s, op, x->type.dtype, op->args[0]);
    uint32_t w = c.access.words;
    V *words = NEW_ARRAY(s->m->o->arena, V, r.n / c.n * w);
    for (uint32_t v = 0; v < r.n / c.n; v++) {
        V elements[16];
        if (v < c.vectors) {
            read_vector(s, op, &c, v, words + v * w, elements);
        } else {
            others_of(s, op, &c, v, elements);
            elements_pack(s, c.d, elements, c.n, c.access, words + v * w);
        }
        for (uint32_t i = 0; i < c.n; i++) r.at[v * c.n + i].base = elements[i];
    }
    r.words = c.access.bits == 32 ? words : NULL;
    s->values[x->id] = r;
}

void simt_copy_order(Simt *s, const Op *op) {
    if (op->kind == OP_COPYCOMMIT) {
        prim_call(s, PRIM_COPY_COMMIT, NULL, 0);
        return;
    }
    V pending = simt_i32(s, op->attr.pending);
    prim_call(s, PRIM_COPY_WAIT, &pending, 1);
}

/* ---- What a thread keeps ----------------------------------------------------------------------------------------- */

/* Registers side by side are a vector, whatever elements they hold. */
static Copies staged_of(Simt *s, const Op *op, const Value *v) {
    uint32_t bytes = type_bytes(type_scalar(v->type.dtype)), all = tile_registers(v),
             n = 16 / bytes < all ? 16 / bytes : all;
    Copies c = {.d = v->type.dtype,
                .n = n,
                .vectors = all / n,
                .access = access_of(bytes, n),
                .stride = bytes * n * s->f->threads_per_program};
    V thread = plant(PLANT_SHARED_PLACE) ? LLVMBuildLShr(s->m->at, simt_tid(s), simt_i32(s, 1), "") : simt_tid(s);
    V own = LLVMBuildMul(s->m->at, thread, simt_i32(s, bytes * n), "");
    c.base = LLVMBuildAdd(
        s->m->at, own,
        LLVMBuildAdd(s->m->at, tile_slot(s, tile_of(s, op->args[0]), 0), simt_i32(s, op->attr.start), ""), "");
    return c;
}

void simt_staged_store(Simt *s, const Op *op) {
    const Tile *x = tile_of(s, op->args[1]);
    Copies c = staged_of(s, op, op->args[1]);
    uint32_t w = c.access.words;
    for (uint32_t v = 0; v < c.vectors; v++) {
        V args[8] = {vector_place(s, &c, v), llvm_int(s->m->i1, 1)}, elements[16];
        for (uint32_t i = 0; i < c.n; i++) elements[i] = tile_slot(s, x, v * c.n + i);
        elements_pack(s, c.d, elements, c.n, c.access, args + 2);
        bool has_words = x->words && c.access.bits == 32;
        for (uint32_t i = 0; i < w && has_words; i++)
            if (x->words[v * w + i]) args[2 + i] = x->words[v * w + i];
        args[2 + w] = simt_site(s);
        prim_access(s, PRIM_STORE_SHARED, c.access, args, 3 + w);
    }
}

void simt_staged_load(Simt *s, const Op *op) {
    Value *x = op->results[0];
    Tile r = tile_create(s, tile_registers(x));
    Copies c = staged_of(s, op, x);
    uint32_t w = c.access.words;
    V *words = NEW_ARRAY(s->m->o->arena, V, c.vectors * w);
    for (uint32_t v = 0; v < c.vectors; v++) {
        V args[] = {vector_place(s, &c, v), simt_site(s)}, elements[16];
        V result = prim_access(s, PRIM_LOAD_SHARED, c.access, args, COUNT(args));
        for (uint32_t i = 0; i < w; i++) words[v * w + i] = access_result(s, c.access, result, i);
        elements_unpack(s, c.d, words + v * w, c.access, elements, c.n);
        for (uint32_t i = 0; i < c.n; i++) r.at[v * c.n + i].base = elements[i];
    }
    r.words = c.access.bits == 32 ? words : NULL;
    s->values[x->id] = r;
}

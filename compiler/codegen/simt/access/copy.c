/* copy.c - asynchronous copies of global memory into a buffer, and what they brought to a private one.
 *
 * In: copy_async, copy_read with a stage. Out: primitives of 4, 8 or 16 bytes.
 * Method: a thread sees what it copied itself behind its own wait: no barrier. Into a buffer that all threads see only
 * an element's owner copies. Where a mask cuts a vector, fewer bytes are copied and the rest becomes zero.
 */
#include "codegen/simt/simt.h"

typedef struct Copies {
    DType d;
    uint32_t n, vectors; /* elements of a vector; vectors that move */
    Access access;
    BufferView view;
} Copies;

static Copies copies_of(Simt *s, const Op *op, Type t, const Value *stage) {
    BufferView p = buffer_view(s, op, t, stage);
    uint32_t n = UINT32_C(1) << op->attr.mem.vec_log2, threads = s->f->threads_per_program;
    uint32_t own = p.buffer->bytes / (p.bytes * n * threads), all = layout_registers(t.layout) / n;
    return (Copies){p.buffer->dtype, n, p.buffer->is_private ? own : all, access_of(p.bytes, n), p};
}

/* Of the vector that begins at register `reg`: does its mask let anything through, as far as one truth value says so,
 * and how many bytes: the first ones. */
static V bytes_within(Simt *s, const Op *op, const Copies *c, uint32_t reg, V *any) {
    const Tile *mask = op->nargs > 3 ? tile_of(s, op->args[3]) : NULL;
    uint32_t bytes = type_bytes(type_scalar(c->d));
    V sum = simt_i32(s, 0), all = simt_i32(s, (int64_t)bytes * c->n);
    *any = LLVMConstInt(s->m->i1, 1, false);
    if (!mask) return all;
    if (op->attr.mem.mask_kind != MASK_PREFIX || known_same(mask, reg, c->n)) {
        *any = tile_slot(s, mask, reg);
        return all;
    }
    V first = known_first(s, op->args[3], reg, c->n);
    if (first) return LLVMBuildMul(s->m->at, first, simt_i32(s, bytes), "");
    for (uint32_t i = 0; i < c->n; i++) {
        V part = LLVMBuildSelect(s->m->at, tile_slot(s, mask, reg + i), simt_i32(s, bytes), simt_i32(s, 0), "");
        sum = LLVMBuildAdd(s->m->at, sum, part, "");
    }
    return sum;
}

void simt_copy_async(Simt *s, const Op *op) {
    const Tile *ptr = tile_of(s, op->args[0]);
    Copies c = copies_of(s, op, op->args[0]->type, op->args[1]);
    const Layout *l = c.view.buffer->is_private ? NULL : op->args[0]->type.layout;
    V issue = tile_slot(s, tile_of(s, op->args[2]), 0), site = simt_site(s);
    if (l) issue = LLVMBuildAnd(s->m->at, issue, simt_owner_in_block(s, l), "");
    for (uint32_t v = 0; v < c.vectors; v++) {
        if (l && v * c.n & layout_free(l, IN_REGISTER)) continue;
        simt_at(s, v * c.n, c.n);
        V any, bytes = bytes_within(s, op, &c, v * c.n, &any);
        V all = simt_i32(s, (int64_t)c.access.words * c.access.bits / 8);
        V args[] = {view_offset(s, &c.view, v * c.n), tile_slot(s, ptr, v * c.n), issue, any, bytes, all, site};
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
    V args[] = {view_offset(s, &c->view, v * c->n), simt_site(s)}, others[16], packed[4];
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
    Copies c = copies_of(s, op, x->type, op->args[0]);
    uint32_t w = c.access.words;
    V *words = NEW_ARRAY(s->m->o->arena, V, r.n / c.n * w);
    for (uint32_t v = 0; v < r.n / c.n; v++) {
        V elements[16];
        simt_at(s, v * c.n, c.n);
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
    V pending = simt_i32(s, op->attr.pending + plant(PLANT_EARLY_READ));
    if (plant(PLANT_NO_WAIT)) return;
    prim_call(s, PRIM_COPY_WAIT, &pending, 1);
}

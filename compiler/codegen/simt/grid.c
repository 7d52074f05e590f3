/* grid.c - what crosses the blocks of a program that reach over the grid: words in global memory, each with its round.
 *
 * In: shared_store and barrier of scope grid. Out: the grid.* primitives.
 * Method: stores up to a barrier are a round, numbered from 1 in each launch. The owner of an element writes it to the
 * element's word, with the round's number; before the barrier the threads of each block wait for all words of the
 * round, and store them to their own shared memory. Rounds take the two halves of the words in turn: who writes round n
 * + 2 has seen all blocks in round n + 1, and they had read round n before. So every block has a word in every round:
 * one that says no more than that where the elements are not everybody's.
 */
#include "codegen/simt/simt.h"

static uint32_t words_of(DType d) {
    return dtype_bits(d) > 32 ? 2 : 1;
}

static uint32_t tile_words(const Value *v) {
    return words_of(v->type.dtype) * (value_is_tile(v) ? (uint32_t)shape_elements(v->type.shape) : 1);
}

/* Does each block own an element? */
static bool is_of_all(const Value *v) {
    return value_is_tile(v) && !layout_free(v->type.layout, IN_CTA);
}

/* The most that a round of the block's, or of its regions', takes. */
static uint32_t block_words(const Block *b, uint32_t blocks) {
    uint32_t most = 0, round = 0, signs = 0;
    for (const Op *op = b->first; op; op = op->next) {
        bool is_store = op->kind == OP_SHSTORE && op->attr.scope == SCOPE_GRID;
        if (op->kind == OP_BARRIER || (op->nregions && !op_is_combine(op->kind))) round = signs = 0;
        if (is_store) round += tile_words(op->args[0]);
        if (is_store && !is_of_all(op->args[0])) signs = blocks;
        uint32_t n = op->kind == OP_BARRIER && op->attr.scope == SCOPE_GRID ? blocks : round + signs;
        for (uint32_t r = 0; r < op->nregions; r++) {
            uint32_t inside = block_words(op->regions[r], blocks);
            if (inside > n) n = inside;
        }
        if (n > most) most = n;
    }
    return most;
}

uint32_t simt_grid_words(const Func *f) {
    return block_words(f->body, f->blocks_per_program);
}

/* ---- The launch's beginning and end ------------------------------------------------------------------------------ */

static bool region_meets(const Op *op) {
    for (uint32_t r = 0; r < op->nregions; r++)
        for (const Op *o = op->regions[r]->first; o; o = o->next)
            if (o->attr.scope == SCOPE_GRID || region_meets(o)) return true;
    return false;
}

/* The last exchange, if it happens once, whatever the arguments are. */
static const Op *last_meeting(const Func *f) {
    const Op *last = NULL;
    for (const Op *op = f->body->first; op; op = op->next) {
        if (op->attr.scope == SCOPE_GRID) last = op;
        else if (region_meets(op)) last = NULL;
    }
    return last;
}

void simt_grid_begin(Simt *s) {
    uint32_t words = simt_grid_words(s->f);
    if (!words) return;
    LLVMBasicBlockRef here = LLVMGetInsertBlock(s->m->at);
    V tid = simt_tid(s);
    LLVMPositionBuilderAtEnd(s->m->at, s->entry);
    s->rounds = arena_alloc(s->m->o->arena, sizeof *s->rounds);
    *s->rounds =
        (Rounds){.words = words, .last = last_meeting(s->f), .round = LLVMBuildAlloca(s->m->at, s->m->i32, "round")};
    LLVMBuildStore(s->m->at, simt_i32(s, 0), s->rounds->round);
    s->rounds->owner = prim_call(s, PRIM_GRID_BEGIN, &tid, 1);
    LLVMPositionBuilderAtEnd(s->m->at, here);
}

static void leave(Simt *s) {
    V args[] = {simt_tid(s), simt_i32(s, -1)};
    if (s->rounds->has_left) return;
    s->rounds->has_left = true;
    prim_call(s, PRIM_GRID_LEAVE, args, COUNT(args));
}

void simt_grid_end(Simt *s) {
    V site = simt_i32(s, -1);
    simt_grid_wait(s);
    if (!s->rounds || s->rounds->has_left) return;
    prim_call(s, PRIM_BAR_BLOCK, &site, 1);
    leave(s);
}

/* ---- A round ----------------------------------------------------------------------------------------------------- */

/* The round that op is of, or a new one; of its words the first `words` are taken. */
static Meeting begin_round(Simt *s, const Op *op) {
    s->rounds->is_last = op == s->rounds->last;
    if (s->rounds->num_open) return s->rounds->next;
    LLVMBuilderRef at = s->m->at;
    V before = LLVMBuildLoad2(at, s->m->i32, s->rounds->round, ""), site = simt_site(s);
    /* nobody looked at what the last round brought */
    if (s->rounds->is_reading) prim_call(s, PRIM_BAR_BLOCK, &site, 1);
    s->rounds->is_reading = false;
    Meeting r = {.number = LLVMBuildAdd(at, before, simt_i32(s, 1), ""), .site = site};
    V half = LLVMBuildAnd(at, before, simt_i32(s, plant(PLANT_ONE_HALF) ? 0 : 1), "");
    r.base = LLVMBuildMul(at, half, simt_i32(s, s->rounds->words), "");
    LLVMBuildStore(at, r.number, s->rounds->round);
    if (!s->rounds->has_begun) { /* until here no word may be touched: another launch may have them */
        V args[] = {simt_tid(s), s->rounds->owner, before};
        prim_call(s, PRIM_GRID_BEGUN, args, COUNT(args));
        prim_call(s, PRIM_BAR_BLOCK, &site, 1);
    }
    if (op->parent == s->f->body) s->rounds->has_begun = true;
    return r;
}

static void write_word(Simt *s, const Meeting *r, V index, V predicate, V word) {
    V args[] = {LLVMBuildAdd(s->m->at, r->base, index, ""), predicate, word, r->number, r->site};
    prim_call(s, PRIM_GRID_STORE, args, COUNT(args));
}

static V wait_word(Simt *s, const Meeting *r, V index, V predicate) {
    V args[] = {LLVMBuildAdd(s->m->at, r->base, index, ""), predicate, r->number, r->site};
    return prim_call(s, PRIM_GRID_WAIT, args, COUNT(args));
}

/* An element's bits, of which word `part` goes. */
static V part_of(Simt *s, V bits, uint32_t part) {
    LLVMBuilderRef at = s->m->at;
    uint32_t width = LLVMGetIntTypeWidth(LLVMTypeOf(bits));
    if (width < 32) return LLVMBuildZExt(at, bits, s->m->i32, "");
    if (part) bits = LLVMBuildLShr(at, bits, llvm_int(s->m->i64, 32), "");
    return width > 32 ? LLVMBuildTrunc(at, bits, s->m->i32, "") : bits;
}

static void write_tile(Simt *s, const Meeting *r, const Value *v) {
    const Layout *l = value_is_tile(v) ? v->type.layout : NULL;
    const Tile *x = tile_of(s, v);
    uint32_t words = words_of(v->type.dtype), free_registers = l ? layout_free(l, IN_REGISTER) : 0;
    V owner = simt_owner(s, l), thread = l ? simt_thread_index(s, l) : simt_i32(s, 0);
    for (uint32_t reg = 0; reg < x->n; reg++) {
        if (reg & free_registers) continue;
        V index = l ? LLVMBuildXor(s->m->at, thread, simt_i32(s, layout_register_index(l, reg)), "") : thread;
        V bits = element_bits(s, v->type.dtype, tile_slot(s, x, reg));
        index = LLVMBuildMul(s->m->at, index, simt_i32(s, words), "");
        for (uint32_t part = 0; part < words; part++)
            write_word(s, r, LLVMBuildAdd(s->m->at, index, simt_i32(s, part), ""), owner, part_of(s, bits, part));
    }
}

/* Word i, i + threads, …, up to `n`, by thread i. `offset`: where the tile lies in shared memory; negative: nowhere. */
static void read_words(Simt *s, const Meeting *r, uint32_t n, uint32_t bytes, int64_t offset) {
    uint32_t threads = s->f->threads_per_program;
    Access a = {1, bytes < 4 ? bytes * 8 : 32};
    for (uint32_t first = 0; first < n; first += threads) {
        V index = LLVMBuildAdd(s->m->at, simt_tid(s), simt_i32(s, first), "");
        V is_word = first + threads <= n ? llvm_int(s->m->i1, 1)
                                         : LLVMBuildICmp(s->m->at, LLVMIntULT, index, simt_i32(s, n), "");
        V word = wait_word(s, r, index, is_word);
        if (offset < 0) continue;
        if (a.bits < 32) word = LLVMBuildTrunc(s->m->at, word, access_word(s, a), "");
        V scaled = LLVMBuildMul(s->m->at, index, simt_i32(s, a.bits / 8), "");
        V args[] = {LLVMBuildAdd(s->m->at, scaled, simt_i32(s, offset), ""), is_word, word, r->site};
        prim_access(s, PRIM_STORE_SHARED, a, args, COUNT(args));
    }
}

void simt_grid_wait(Simt *s) {
    Rounds *p = s->rounds;
    bool is_everybodys = false;
    if (!p || !p->num_open) return;
    for (uint32_t i = 0; i < p->num_open; i++) is_everybodys |= is_of_all(p->open[i].op->args[0]);
    if (!is_everybodys) write_word(s, &p->next, simt_cta_rank(s), simt_owner_in_block(s, NULL), simt_i32(s, 0));
    for (uint32_t i = 0; i < p->num_open; i++) {
        const Value *v = p->open[i].op->args[0];
        uint32_t bits = dtype_bits(v->type.dtype);
        read_words(s, &p->open[i].round, tile_words(v), bits < 8 ? 1 : bits / 8,
                   s->f->buffers.at[p->open[i].op->attr.buffer].offset);
    }
    if (!is_everybodys) read_words(s, &p->next, s->f->blocks_per_program, 4, -1);
    p->num_open = 0;
    p->is_reading = true;
}

void simt_grid_end_region(Simt *s) {
    V site = simt_i32(s, -1);
    simt_grid_wait(s);
    if (s->rounds && s->rounds->is_reading) prim_call(s, PRIM_BAR_BLOCK, &site, 1);
    if (s->rounds) s->rounds->is_reading = false;
}

void simt_grid_store(Simt *s, const Op *op) {
    const Value *v = op->args[0];
    if (s->f->buffers.at[op->attr.buffer].offset < 0) bug("shared memory was not allocated");
    if (s->rounds->num_open == COUNT(s->rounds->open)) simt_grid_wait(s);
    Meeting r = begin_round(s, op), next = r;
    write_tile(s, &r, v);
    s->rounds->open[s->rounds->num_open++] = (OpenStore){r, op};
    next.base = LLVMBuildAdd(s->m->at, r.base, simt_i32(s, tile_words(v)), "");
    s->rounds->next = next;
}

/* A round whose words say no more than that a block has come;
 * what its threads stored before is seen behind the barrier. */
void simt_grid_meet(Simt *s, const Op *op) {
    V site = simt_site(s), order = simt_i32(s, 0);
    prim_call(s, PRIM_BAR_BLOCK, &site, 1);
    s->rounds->is_reading = false;
    Meeting r = begin_round(s, op);
    prim_call(s, PRIM_GRID_FENCE, NULL, 0);
    write_word(s, &r, simt_cta_rank(s), simt_owner_in_block(s, NULL), order);
    read_words(s, &r, s->f->blocks_per_program, 4, -1);
    prim_call(s, PRIM_GRID_FENCE, NULL, 0);
}

void simt_grid_passed(Simt *s, const Op *op) {
    if (!s->rounds) return;
    if (op->attr.scope != SCOPE_WARP || s->f->num_warps <= 1) s->rounds->is_reading = false;
    if (op->attr.scope != SCOPE_WARP && op->parent == s->f->body && s->rounds->is_last) leave(s);
}

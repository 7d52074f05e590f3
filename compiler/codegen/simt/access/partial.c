/* partial.c - partial vectors of rotated rows: those that a row's end or beginning cuts.
 *
 * In: a Move whose mask is `place < end`, and for each vector whether it is partial. Out: accesses of its parts, in a
 * block that is entered only if there are some.
 * Method: the places of a row follow each other, so its end cuts one vector of all. The vectors of a thread that may be
 * this one are an `Edge`; which of them it is shows at run time. The row's beginning is another edge. An aligned edge
 * moves in words and, in 16 bits, the one element that is left over. A misaligned one moves element by element. A
 * vector that wraps is two edges: its elements at the beginning of the tile's part of the row, and those at its end.
 */
#include "codegen/simt/access/move.h"

typedef struct Edge {
    uint32_t *v, n; /* the vectors that it may be, one of them at a time */
    V is;           /* is it one of them? */
    V place, address;
    V before, below; /* elements from `before` on and below `below` move, none where it is no edge; NULL:
                      * no such bound */
    bool is_exact;   /* a partial vector: not all elements move */
    bool is_many;    /* one of many: it is by itself */
    bool folds;      /* it may wrap: what is beyond the end of the tile's part is an edge of its own */
    bool by_slots;   /* its addresses or its places are no run */
} Edge;

enum { NOWHERE = 64 }; /* an even number beyond each vector */

/* Elements of 16 bits and more by words. */
static bool has_words(const Move *mv) {
    return mv->n / mv->whole.words <= 2 && mv->whole.bits >= 32;
}

bool move_has_edges(const Move *mv) {
    return mv->place && mv->n > 1 && (!mv->value || has_words(mv));
}

/* ---- Which vectors are one edge ---------------------------------------------------------------------------------- */

/* At the same distance in places and in bytes, and with the same elements outside the mask. */
static bool may_join(Simt *s, const Move *mv, uint32_t v, uint32_t u, bool is_exact) {
    Slot p = mv->place->at[v * mv->n], q = mv->place->at[u * mv->n], a = mv->ptr->at[v * mv->n],
         b = mv->ptr->at[u * mv->n];
    int64_t apart = q.offset - p.offset, bytes = type_bytes(type_scalar(mv->d));
    if (p.base != q.base || a.base != b.base || b.offset - a.offset != apart * bytes) return false;
    /* what is not aligned may end in two neighbours */
    bool is_far = apart >= 2 * (int64_t)mv->n || -apart >= 2 * (int64_t)mv->n;
    for (uint32_t e = 0; e < mv->n && !mv->value; e++)
        if (other_slot(s, mv, v * mv->n + e) != other_slot(s, mv, u * mv->n + e)) return false;
    return is_exact || is_far;
}

static bool joins(Simt *s, const Move *mv, const Edge *e, uint32_t v) {
    if (e->is_many || e->by_slots || e->folds || move_begins(mv, e->v[0]) || move_begins(mv, v)) return false;
    for (uint32_t i = 0; i < e->n; i++)
        if (!may_join(s, mv, e->v[i], v, e->is_exact)) return false;
    return true;
}

typedef VEC(Edge) Edges;

static Edges edges_find(Simt *s, const Move *mv, const V *which) {
    Arena *a = s->m->o->arena;
    Edges made = {0};
    for (uint32_t v = 0; v < mv->vectors; v++) {
        if (!move_single(mv, which, v)) continue;
        uint32_t k = 0;
        while (k < made.len && !joins(s, mv, &made.at[k], v)) k++;
        if (k == made.len) {
            Edge e = {.v = NEW_ARRAY(a, uint32_t, mv->vectors),
                      .is_exact = which == mv->partial,
                      .is_many = which == mv->misaligned};
            e.folds = e.is_exact && move_folds(mv, v);
            e.by_slots = !e.folds && (move_wraps(mv, v) || mv->place->at[v * mv->n].is_apart);
            vec_push(a, &made, e);
        }
        made.at[k].v[made.at[k].n++] = v;
    }
    return made;
}

/* ---- What of it moves -------------------------------------------------------------------------------------------- */

static V plus(Simt *s, V x, V y) {
    return LLVMBuildAdd(s->m->at, x, y, "");
}

static V choose(Simt *s, V when, V x, V y) {
    bool truth;
    if (x == y || known_truth(when, &truth)) return x == y || truth ? x : y;
    return LLVMBuildSelect(s->m->at, when, x, y, "");
}

/* A vector that may wrap, as far as it does not; *rest: the part that does,
 * which goes on as many places further as the tile has. */
static void edge_fold(Simt *s, const Move *mv, const V *which, Edge *e, Edge *rest) {
    LLVMBuilderRef at = s->m->at;
    Fold f = move_fold(s, mv, e->v[0]);
    int64_t size = (int64_t)shape_elements(mv->layout->shape), bytes = size * type_bytes(type_scalar(mv->d));
    V end = tile_slot(s, mv->end, e->v[0] * mv->n), wrapped = LLVMBuildNeg(at, f.beyond, ""),
      below = LLVMBuildSub(at, end, f.place, "");
    V beyond = LLVMBuildSub(at, below, simt_i32(s, size), "");
    e->is = which[e->v[0]];
    e->place = f.place;
    e->address = f.address;
    e->before = choose(s, e->is, wrapped, simt_i32(s, NOWHERE));
    e->below = choose(s, e->is, below, simt_i32(s, 0));
    *rest = *e;
    rest->address = plus(s, f.address, llvm_int(s->m->i64, bytes));
    rest->before = NULL;
    rest->below = choose(s, e->is, llvm_binary(s->m, "llvm.smin", wrapped, beyond), simt_i32(s, 0));
}

/* Where it is, in the block of the parts: one number of places, so that nothing else is kept until there. */
static void edge_open(Simt *s, const Move *mv, const V *which, Edge *e) {
    uint32_t first = e->v[0] * mv->n;
    V apart = simt_i32(s, 0);
    e->is = which[e->v[0]];
    for (uint32_t i = 1; i < e->n; i++) {
        e->is = known_or(s, e->is, which[e->v[i]]);
        apart = choose(s, which[e->v[i]],
                       simt_i32(s, mv->place->at[e->v[i] * mv->n].offset - mv->place->at[first].offset), apart);
    }
    V bytes = LLVMBuildMul(s->m->at, apart, simt_i32(s, type_bytes(type_scalar(mv->d))), "");
    e->address = plus(s, tile_slot(s, mv->ptr, first), LLVMBuildZExt(s->m->at, bytes, s->m->i64, ""));
    e->place = plus(s, tile_slot(s, mv->place, first), apart);
    bool truth, begins = move_begins(mv, e->v[0]), ends = e->is_exact && !begins;
    for (uint32_t i = 0; i < e->n && !ends; i++)
        ends =
            !known_truth(known_within(s, INT32_MIN, mv->place, e->v[i] * mv->n, mv->n, INT32_MAX, mv->end), &truth) ||
            !truth;
    if (begins) e->before = choose(s, e->is, LLVMBuildNeg(s->m->at, e->place, ""), simt_i32(s, NOWHERE));
    if (ends)
        e->below = choose(s, e->is, LLVMBuildSub(s->m->at, tile_slot(s, mv->end, first), e->place, ""), simt_i32(s, 0));
}

/* The runs of elements that it is. */
static uint32_t edge_parts(Simt *s, const Move *mv, const V *which, const Edge *e, Edge parts[2]) {
    parts[0] = *e;
    if (e->folds) edge_fold(s, mv, which, &parts[0], &parts[1]);
    else edge_open(s, mv, which, &parts[0]);
    return e->folds ? 2 : 1;
}

/* Do elements from `from` to below `to` move? NULL: never. */
static V edge_mask(Simt *s, const Edge *e, uint32_t n, uint32_t from, uint32_t to) {
    if (e->is_exact && !e->folds && ((!e->before && to == n) || (!e->below && from == 0))) return NULL;
    if (plant(PLANT_PARTIAL_WORD)) to = from + 1;
    V begun = e->before  ? LLVMBuildICmp(s->m->at, LLVMIntSLE, e->before, simt_i32(s, from), "")
              : e->below ? llvm_int(s->m->i1, 1)
                         : e->is;
    return e->below ? known_and(s, begun, LLVMBuildICmp(s->m->at, LLVMIntSGE, e->below, simt_i32(s, to), "")) : begun;
}

static bool edge_has_words(const Move *mv, const Edge *e) {
    return e->is_exact && !e->by_slots && has_words(mv);
}

/* An element of 16 bits that is left over beside the words, where the edge begins or where it ends. */
typedef struct Odd {
    V at;       /* odd if there is one; then 1 + twice its word */
    V is_there;
    V address;
    bool is_high; /* in its word */
} Odd;

/* Gives how many there may be. */
static uint32_t odd_elements(Simt *s, const Move *mv, const Edge *e, Odd odd[2]) {
    LLVMBuilderRef at = s->m->at;
    uint32_t n = 0;
    if (mv->n == mv->whole.words) return 0;
    if (e->before) odd[n++] = (Odd){.at = e->before, .is_high = true};
    if (e->below) odd[n++] = (Odd){.at = e->below};
    for (uint32_t i = 0; i < n; i++) {
        V is_inside = LLVMBuildICmp(at, LLVMIntULT, odd[i].at, simt_i32(s, mv->n), ""),
          bit = LLVMBuildTrunc(at, odd[i].at, s->m->i1, "");
        odd[i].is_there = known_and(s, bit, is_inside);
        if (n > 1)
            odd[i].is_there = known_and(s, odd[i].is_there, LLVMBuildICmp(at, LLVMIntSLT, e->before, e->below, ""));
        V index = odd[i].is_high ? odd[i].at : LLVMBuildSub(at, odd[i].at, simt_i32(s, 1), "");
        odd[i].address =
            plus(s, e->address, LLVMBuildSExt(at, LLVMBuildShl(at, index, simt_i32(s, 1), ""), s->m->i64, ""));
    }
    return n;
}

static V odd_is_in(Simt *s, const Odd *odd, uint32_t w) {
    return known_and(s, odd->is_there, LLVMBuildICmp(s->m->at, LLVMIntEQ, odd->at, simt_i32(s, 2 * w + 1), ""));
}

static Access word_access(const Move *mv) {
    return (Access){1, mv->whole.bits};
}

static V word_address(Simt *s, const Move *mv, const Edge *e, uint32_t w) {
    return w ? plus(s, e->address, llvm_int(s->m->i64, (int64_t)w * mv->whole.bits / 8)) : e->address;
}

/* ---- Loads ------------------------------------------------------------------------------------------------------- */

/* Over `words`, as are elements. */
static void load_words(Simt *s, const Move *mv, const Edge *e, V *words) {
    uint32_t per_word = mv->n / mv->whole.words;
    Odd odd[2];
    V half[2], both[2];
    uint32_t n = odd_elements(s, mv, e, odd);
    for (uint32_t i = 0; i < n; i++)
        half[i] = load_element(s, mv, odd[i].address, odd[i].is_there, LLVMConstNull(slot_type(s, mv->d)));
    for (uint32_t w = 0; w < mv->whole.words; w++) {
        V mask = edge_mask(s, e, mv->n, w * per_word, (w + 1) * per_word), old = words[w];
        V args[] = {word_address(s, mv, e, w), mask, old, mv->policy, mv->site};
        if (mask) words[w] = prim_access(s, PRIM_LOAD_GLOBAL, word_access(mv), args, 5);
        for (uint32_t i = 0; i < n; i++) {
            V one;
            elements_unpack(s, mv->d, &old, (Access){1, 32}, both, 2);
            both[odd[i].is_high] = half[i];
            elements_pack(s, mv->d, both, 2, (Access){1, 32}, &one);
            words[w] = choose(s, odd_is_in(s, &odd[i], w), one, words[w]);
        }
    }
}

/* Of element i of the edge's vector: its mask (NULL: it is not there at all), and its address. */
static V element_place(Simt *s, const Move *mv, const V *which, const Edge *e, uint32_t i, V *address) {
    int64_t offset = (int64_t)type_bytes(type_scalar(mv->d)) * i;
    V mask = e->by_slots ? single_mask(s, mv, which, e->v[0], i) : edge_mask(s, e, mv->n, i, i + 1);
    *address = e->by_slots ? element_address(s, mv, e->v[0], i) : plus(s, e->address, llvm_int(s->m->i64, offset));
    return mask;
}

static void load_elements(Simt *s, const Move *mv, const V *which, const Edge *e, V *words) {
    V elements[16], address;
    elements_unpack(s, mv->d, words, mv->whole, elements, mv->n);
    for (uint32_t i = 0; i < mv->n; i++) {
        V mask = element_place(s, mv, which, e, i, &address);
        if (mask) elements[i] = load_element(s, mv, address, mask, elements[i]);
    }
    elements_pack(s, mv->d, elements, mv->n, mv->whole, words);
}

static void load_edge(Simt *s, const Move *mv, const V *which, Edge *e, V *words) {
    Edge parts[2];
    V old[16];
    for (uint32_t i = 0; i < mv->n; i++) old[i] = other_slot(s, mv, e->v[0] * mv->n + i);
    elements_pack(s, mv->d, old, mv->n, mv->whole, words);
    uint32_t n = edge_parts(s, mv, which, e, parts);
    for (uint32_t i = 0; i < n; i++) {
        if (edge_has_words(mv, &parts[i])) load_words(s, mv, &parts[i], words);
        else load_elements(s, mv, which, &parts[i], words);
    }
}

void load_edges(Simt *s, const Move *mv, const V *which, V *words) {
    uint32_t w = mv->whole.words;
    Edges edges = edges_find(s, mv, which);
    Aside aside = aside_open(s, mv, which);
    V *parts = NEW_ARRAY(s->m->o->arena, V, mv->vectors * w), *own = NEW_ARRAY(s->m->o->arena, V, edges.len * w);
    for (uint32_t k = 0; k < edges.len; k++) load_edge(s, mv, which, &edges.at[k], own + k * w);
    for (uint32_t k = 0; k < edges.len; k++)
        for (uint32_t i = 0; i < edges.at[k].n * w; i++) {
            uint32_t v = edges.at[k].v[i / w], at = v * w + i % w;
            parts[at] = choose(s, which[v], own[k * w + i % w], words[at]);
        }
    aside_close(s, aside, words, parts, mv->vectors * w);
}

/* ---- Stores ------------------------------------------------------------------------------------------------------ */

/* What the edge stores, whichever vector it is. */
static void edge_words(Simt *s, const Move *mv, const V *which, const Edge *e, V *words) {
    for (uint32_t i = 0; i < e->n; i++) {
        const V *own = store_words(s, mv, e->v[i]);
        for (uint32_t w = 0; w < mv->whole.words; w++)
            words[w] = i ? choose(s, which[e->v[i]], own[w], words[w]) : own[w];
    }
}

static void store_part(Simt *s, const Move *mv, Access a, V address, V mask, V bits) {
    V args[] = {address, mask, bits, mv->policy, mv->site};
    prim_access(s, PRIM_STORE_GLOBAL, a, args, 5);
}

static void store_by_words(Simt *s, const Move *mv, const Edge *e, const V *words) {
    uint32_t per_word = mv->n / mv->whole.words;
    Odd odd[2];
    uint32_t n = odd_elements(s, mv, e, odd);
    for (uint32_t w = 0; w < mv->whole.words; w++) {
        V mask = edge_mask(s, e, mv->n, w * per_word, (w + 1) * per_word);
        if (mask) store_part(s, mv, word_access(mv), word_address(s, mv, e, w), mask, words[w]);
    }
    for (uint32_t i = 0; i < n; i++) {
        V word = words[0];
        for (uint32_t w = 1; w < mv->whole.words; w++) word = choose(s, odd_is_in(s, &odd[i], w), words[w], word);
        store_part(s, mv, mv->single, odd[i].address, odd[i].is_there,
                   element_bits(s, mv->d, element_of_word(s, mv->d, word, odd[i].is_high)));
    }
}

static void store_by_elements(Simt *s, const Move *mv, const V *which, const Edge *e, const V *words) {
    V elements[16], address;
    elements_unpack(s, mv->d, words, mv->whole, elements, mv->n);
    for (uint32_t i = 0; i < mv->n; i++) {
        V mask = element_place(s, mv, which, e, i, &address);
        if (mask) store_part(s, mv, mv->single, address, mask, element_bits(s, mv->d, elements[i]));
    }
}

void store_edges(Simt *s, const Move *mv, const V *which) {
    Edges edges = edges_find(s, mv, which);
    Aside aside = aside_open(s, mv, which);
    s->is_aside = true;
    for (uint32_t k = 0; k < edges.len; k++) {
        V words[16];
        Edge parts[2];
        uint32_t n = edge_parts(s, mv, which, &edges.at[k], parts);
        edge_words(s, mv, which, &edges.at[k], words);
        for (uint32_t i = 0; i < n; i++) {
            if (edge_has_words(mv, &parts[i])) store_by_words(s, mv, &parts[i], words);
            else store_by_elements(s, mv, which, &parts[i], words);
        }
    }
    s->is_aside = false;
    aside_close(s, aside, NULL, NULL, 0);
}

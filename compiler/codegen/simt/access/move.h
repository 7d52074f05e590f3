/* move.h - a Move: one load or store of global memory, with its vectors, masks and predicates. move.c makes it;
 * partial.c moves partial vectors, load.c, store.c and deferred_loads.c the others. */
#ifndef FSC_CODEGEN_SIMT_MOVE_H
#define FSC_CODEGEN_SIMT_MOVE_H

#include "codegen/simt/simt.h"

/* A vector under way; a misaligned one: the aligned words that it lies across, not put together yet. */
typedef struct Begun {
    V words[5], inside; /* inside: they are the row's */
    bool is_begun;
} Begun;

struct Move {
    const Op *op;
    DType d;    /* of the elements */
    uint32_t n; /* elements per vector */
    uint32_t vectors;
    uint32_t free_registers;                /* of a store: registers that replicate others */
    Access whole, single;                   /* of a vector, of one element */
    const Tile *ptr, *mask, *other, *value; /* NULL where there is none */
    const Value *mask_value;                /* what `mask` is the tile of */
    V owner;                                /* of a store */
    /* Predicates, by vector: it moves whole; it is partial; it is misaligned and moves element by element. */
    V *all, *partial, *misaligned;
    bool may_be_partial, may_be_misaligned, is_rotated;
    const Layout *layout; /* NULL: of a scalar */
    V aligned;            /* of rotated rows: have they the rotation's misalignment? */
    bool has_arms;        /* a load branches on `aligned` first: `all` and `partial` take it as true, `misaligned` as
                           * false */
    const Tile *place, *end; /* of rotated rows: the index of each element, and its bound. NULL: not known */
    bool is_row;             /* places begin at 0 */
    const Tile *rotated;     /* `place` without what is added to it */
    uint32_t home;           /* a vector that never wraps; `vectors`: there is none */
    V *words;                /* of a store, by vector: its packed words; NULL at a vector's first: not packed yet */
    V beyond;                /* of deferred loads: bytes from each vector back to a multiple of 16; NULL: aligned */
    Begun *begun;            /* of deferred loads, by vector */
    V policy, site;
};

bool move_begins(const Move *mv, uint32_t v); /* may vector v hold what lies before the row? */
bool move_wraps(const Move *mv, uint32_t v);  /* may vector v wrap? Then its addresses are no run */
/* A vector that may wrap, as if it did not: how far beyond the row's beginning its first element is, its place, its
 * address. */
typedef struct Fold {
    V beyond, place, address;
} Fold;
bool move_folds(const Move *mv, uint32_t v);
Fold move_fold(Simt *s, const Move *mv, uint32_t v);
/* May vector v move by parts under the predicates `which`, such as mv's partial or misaligned? */
bool move_single(const Move *mv, const V *which, uint32_t v);
uint32_t count_single(const Move *mv, const V *which);
/* Does element e of such a vector move? NULL: never. */
V single_mask(Simt *s, const Move *mv, const V *which, uint32_t v, uint32_t e);
V element_address(Simt *s, const Move *mv, uint32_t v, uint32_t e);
V other_slot(Simt *s, const Move *mv, uint32_t reg);
V load_element(Simt *s, const Move *mv, V address, V mask, V old); /* under the mask, else old */
V *store_words(Simt *s, const Move *mv, uint32_t v);            /* what vector v stores */

/* The block in which vectors move by parts, entered only if any does; in a load with arms the arm itself. The builder
 * stands in it. */
typedef struct Aside {
    LLVMBasicBlockRef from, done; /* done NULL: there is no other way */
} Aside;
Aside aside_open(Simt *s, const Move *mv, const V *which);
/* Words become parts where the block was entered; NULL: no part. */
void aside_close(Simt *s, Aside a, V *words, const V *parts, uint32_t n);
/* Words of two ways into the block where the builder stands. */
void join_words(Simt *s, V *words, LLVMBasicBlockRef from, const V *parts, LLVMBasicBlockRef slow, uint32_t n);

void move_masks(Simt *s, Move *mv, uint32_t v);  /* predicates of vector v, from its mask, `aligned`
                                                  * and has_arms */
bool move_skips(const Move *mv, uint32_t v);     /* of a store: another register has these elements */
bool move_crosses(const Move *mv);               /* vectors of four words; the place says which are the row's */
void others_pack(Simt *s, const Move *mv, uint32_t v, V *words);
void load_whole(Simt *s, const Move *mv, uint32_t v, V *words);
void load_slow(Simt *s, const Move *mv, const V *which, V *words); /* what moves under `which`, over words */
static inline bool is_false(V x) {
    bool truth;
    return known_truth(x, &truth) && !truth;
}
Move move_open(Simt *s, const Op *op, const Value *element, bool is_store);
V whole_address(Simt *s, const Move *mv, uint32_t v);
void store_whole(Simt *s, const Move *mv, uint32_t v);
void store_slow(Simt *s, const Move *mv, const V *which);
/* Is vector v misaligned, and are all words that it lies across the row's? */
V across_inside(Simt *s, const Move *mv, uint32_t v);
/* Those words, under `mask`; the fifth where the vector begins within a word. */
void begin_across(Simt *s, const Move *mv, uint32_t v, V beyond, V mask, V w[5]);
/* Vector v of them, where `mask` let them be loaded; else `words` stay. */
void end_across(Simt *s, const Move *mv, V beyond, V mask, V w[5], V *words);

/* partial.c - rotated rows whose mask is `place < end` */
bool move_has_edges(const Move *mv);
void load_edges(Simt *s, const Move *mv, const V *which, V *words);
void store_edges(Simt *s, const Move *mv, const V *which);

#endif

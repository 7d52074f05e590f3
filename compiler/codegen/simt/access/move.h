/* move.h - a Move: one load or store of global memory, with its vectors, masks and predicates. Shared by memory.c
 * (whole vectors), partial.c (partial ones) and putoff.c (deferred loads). */
#ifndef FSC_CODEGEN_SIMT_MOVE_H
#define FSC_CODEGEN_SIMT_MOVE_H

#include "codegen/simt/simt.h"

/* A vector that is being loaded: as it comes, not shifted yet. */
typedef struct Begun {
    V words[8], inside; /* inside: of two aligned vectors, whether they are the row's */
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
    V owner;                                /* of a store */
    /* per vector: move it whole; it is partial; its row is aligned otherwise: move it element by element */
    V *all, *partial, *loose;
    bool may_be_partial, may_be_loose, is_rotated;
    const Layout *layout; /* NULL: of a scalar */
    V aligned;            /* of rotated rows: do they begin as the rotation has it? */
    bool has_arms;        /* of a load: that is branched on first, so that `all` and `partial` take it as true,
                           * `loose` as false */
    const Tile *place, *end; /* of rotated rows: the index of each element, and what it stays below. NULL: not known */
    bool is_row;             /* places begin at 0 */
    const Tile *rotated;     /* of `place`: without what is added to it */
    uint32_t home;           /* a vector that no rotation brings over the beginning; `vectors`: there is none */
    V *words;                /* of a store: those of vectors that were packed; NULL at a vector's first: not yet */
    V beyond; /* of loads that are put off: how far behind a multiple of 16 bytes each vector begins; NULL:
               * all are aligned */
    Begun *begun; /* of such loads, by vector */
    V policy, site;
};

enum { MOST_ROTATION = 15 };

bool move_begins(const Move *mv, uint32_t v); /* may vector v hold what lies before the row? */
bool move_wraps(const Move *mv, uint32_t v);  /* may a rotation have brought the row's end there? Then its addresses are
                                               * no run */
/* A vector that a rotation may wrap, by what its first element would be without: how far beyond the beginning,
 * its place, its address. */
typedef struct Fold {
    V beyond, place, address;
} Fold;
bool move_folds(const Move *mv, uint32_t v);
Fold move_fold(Simt *s, const Move *mv, uint32_t v);
/* may vector v move by parts under `which` (mv's partial, loose or of that kind)? */
bool move_single(const Move *mv, const V *which, uint32_t v);
uint32_t count_single(const Move *mv, const V *which);
/* does element e of such a vector move? NULL: never */
V single_mask(Simt *s, const Move *mv, const V *which, uint32_t v, uint32_t e);
V element_address(Simt *s, const Move *mv, uint32_t v, uint32_t e);
V other_slot(Simt *s, const Move *mv, uint32_t reg);
V load_element(Simt *s, const Move *mv, V address, V mask, V old); /* under the mask, else old */
V *store_words(Simt *s, const Move *mv, uint32_t v);            /* what vector v stores */

/* Where vectors move by parts: a block entered only if any does, in which the builder then stands;
 * the arm itself where the load has arms. */
typedef struct Aside {
    LLVMBasicBlockRef from, done; /* done NULL: there is no other way */
} Aside;
Aside aside_open(Simt *s, const Move *mv, const V *which);
/* words become parts where the block was entered; NULL: no part */
void aside_close(Simt *s, Aside a, V *words, const V *parts, uint32_t n);

void move_masks(Simt *s, Move *mv, uint32_t v);  /* predicates of vector v from its mask's slots,
                                                  * as `aligned` and has_arms are */
bool move_skips(const Move *mv, uint32_t v);     /* of a store: another register has these elements */
bool move_crosses(const Move *mv);               /* aligned vectors of four words; the place says which are the row's */
void others_pack(Simt *s, const Move *mv, uint32_t v, V *words);
void load_whole(Simt *s, const Move *mv, uint32_t v, V *words);
void load_slow(Simt *s, const Move *mv, const V *which, V *words); /* what moves under `which`, over words */
void store_whole(Simt *s, const Move *mv, uint32_t v);
void store_slow(Simt *s, const Move *mv, const V *which);
/* The two aligned vectors that vector v lies across, under `mask`, the second under `both`. */
void begin_across(Simt *s, const Move *mv, uint32_t v, V beyond, V mask, V both, V w[8]);
/* Vector v of them, where `mask` let them be loaded; else `words` stay. */
void end_across(Simt *s, const Move *mv, V beyond, V mask, V w[8], V *words);

/* putoff.c - loads that are put off (late.c), and the stores that they are for */
Tile load_later(Simt *s, const Move *mv);
void store_late(Simt *s, const Move *mv);

/* partial.c - of rotated rows whose mask is known as a place below an end */
bool move_has_edges(const Move *mv);
void load_edges(Simt *s, const Move *mv, const V *which, V *words);
void store_edges(Simt *s, const Move *mv, const V *which);

#endif

/* tiles.h - how a kernel's tiles lie on the threads of a program. */
#ifndef FSC_TILES_H
#define FSC_TILES_H

#include "driver.h"

typedef struct Tile {
    Shape shape;
    uint64_t elements;
    uint32_t threads, per_thread; /* of a program; elements that each holds */
    uint32_t copies;              /* threads that hold one and the same element: threads × per_thread / elements */
    uint32_t live;                /* of per_thread, what loads and stores can touch; 0: none lies so */
} Tile;

typedef VEC(Tile) Tiles;

/* In the order of the program; none where the compilation has no layouts. */
Tiles tiles_of(const fsc_compilation *c, Arena *arena);

#endif

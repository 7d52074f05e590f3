/* distribute.c - how many warps and blocks a program gets: the one table, and how it is read.
 *
 * In: a function; its largest tile counts, as far as masks let its elements through. Out: num_warps,
 * blocks_per_program, resident. A block holds one program (or four of one warp: pack.c). More warps mean more loads
 * in flight on a multiprocessor, fewer warps more registers for a thread. The rows of the table are the best of 1 …
 * 32 warps for row kernels on an H200 (docs/lab/warps.md). A block of 16 warps is full with 64 elements a thread. A
 * larger program gets a cluster of blocks, if nothing but reductions crosses them (docs/lab/clusters.md). Types under
 * 32 bits are computed in 32 and count as 4 bytes.
 */
#include "passes/private.h"

/* What a program does with its rows. */
typedef enum Rows {
    ROWS_ANY,    /* its accesses are no vectors, its tiles no rows, or it loads several,
                  * which fill registers by themselves */
    ROWS_WIDE,   /* vectors of 32 bits and more; up to three, a weight at most among them */
    ROWS_NARROW, /* of less, and one row: it stays packed, so a thread holds more of it */
    ROWS_FULL,   /* so, and each block of a cluster holds more than FULL_BYTES */
    ROWS_READ,   /* narrow, and no tile is stored: as many elements an instruction as can be */
    ROWS_SUMMED, /* of ROWS_WIDE, and no tile is stored: of a short row one warp has all loads under way */
    ROWS_SUMMED_ANY, /* so, of rows that begin anywhere */
    ROWS_SHARED, /* of 32 bits and more, over the blocks of a cluster */
    ROWS_WEIGHED, /* so, with a weight */
    NUM_ROWS,
} Rows;

static const struct {
    uint64_t bytes; /* of the tile in registers, at most */
    uint32_t warps;
} table[NUM_ROWS][5] = {
    [ROWS_ANY] = {{2 << 10, 1}, {8 << 10, 2}, {32 << 10, 4}, {64 << 10, 8}, {128 << 10, 16}},
    [ROWS_WIDE] = {{1 << 10, 1}, {8 << 10, 2}, {20 << 10, 4}, {128 << 10, 16}},
    [ROWS_NARROW] = {{2 << 10, 1}, {8 << 10, 2}, {32 << 10, 4}, {112 << 10, 8}, {128 << 10, 16}},
    [ROWS_FULL] = {{128 << 10, 8}},
    [ROWS_READ] = {{4 << 10, 1}, {8 << 10, 2}, {20 << 10, 4}, {112 << 10, 8}, {128 << 10, 16}},
    [ROWS_SUMMED] = {{2560, 1}, {8 << 10, 2}, {20 << 10, 4}, {128 << 10, 16}},
    [ROWS_SUMMED_ANY] = {{2560, 1}, {8 << 10, 2}, {32 << 10, 4}, {64 << 10, 8}, {128 << 10, 16}},
    [ROWS_SHARED] = {{64 << 10, 8}, {128 << 10, 16}},
    [ROWS_WEIGHED] = {{40 << 10, 8}, {128 << 10, 16}},
};

/* What a block holds of a tile in registers, beyond which a cluster shares it: BLOCK_BYTES. Of narrow ROWS_ANY it is
 * NARROW_BYTES, or SEVERAL_BYTES where several rows are loaded, as more blocks have more in flight. A block of a
 * cluster holds FULL_BYTES of ROWS_NARROW, 112 elements in each thread of 8 warps, and SHARED_BYTES of a row that is
 * only read, FULL_BYTES if it is narrow and begins anywhere. More blocks share a multiprocessor, and some load while
 * others wait. So a stored row of 32 bits is shared beyond ALONE_BYTES already, with half of SHARED_BYTES in a block.
 * If it begins anywhere and wants more than SHARED_BLOCKS, it has SHARED_BYTES in a block. ROWS_NARROW without weights:
 * one block moves MOVED_ALONE, one of SHARED_BLOCKS or less MOVED_BYTES, or MOVED_ANY of a row that begins anywhere.
 * One row of 32 bits that is only read is shared beyond SUMMED_ALONE, with SUMMED_BYTES in a block while SHARED_BLOCKS
 * hold it; if it begins anywhere, beyond FULL_BYTES (docs/lab/long-rows.md). SPREAD_BYTES: where there are no more
 * programs than multiprocessors. MOST_EACH: elements of 4 bytes in one thread, where the source says how many warps
 * there are; of more than 512 threads in a block half as many. CHUNK_EACH, CHUNK_WARPS: of what is strip-mined, since a
 * loop needs registers itself; half as many elements where less than ROOMY_BYTES of shared memory are to be filled with
 * whole chunks, and half as many where more than one row is loaded, a quarter if any of them is narrow and copies do
 * not bring them: elements one by one take most registers. CHUNK_NARROW: of narrow rows that copies bring, so that two
 * blocks have registers. READ_WARPS: of two rows that are only read, or of one that is too long for a cluster: one
 * block goes through them, as nothing is kept; READ_BLOCKS do where one has more than READ_BYTES, since few long rows
 * make an uneven last round of blocks, then SHARED_BLOCKS, and from FAR_BYTES a whole cluster (docs/lab/few-bits.md).
 * Few programs whose blocks are all on the device at once (grid.c) have CHUNK_WARPS. LANE_BYTES, LANE_MOST: what a lane
 * of less than a warp holds, two vectors of the row or so many elements; SECTOR: bytes of a row that its lanes take at
 * once, at least: short pieces of many rows keep the first cache busy. */
enum {
    BLOCK_BYTES = 1 << 17,
    NARROW_BYTES = 84 << 10,
    SEVERAL_BYTES = 1 << 16,
    FULL_BYTES = 112 << 10,
    ALONE_BYTES = 40 << 10,
    MOVED_ALONE = 64 << 10,
    MOVED_BYTES = 56 << 10,
    MOVED_ANY = 80 << 10,
    SUMMED_ALONE = 88 << 10,
    SUMMED_BYTES = 48 << 10,
    SHARED_BLOCKS = 8,
    SHARED_BYTES = 1 << 16,
    SPREAD_BYTES = 1 << 15,
    MOST_EACH = 128,
    CHUNK_EACH = 32,
    CHUNK_NARROW = 16,
    CHUNK_WARPS = 16,
    READ_WARPS = 8,
    READ_BLOCKS = 4,
    READ_BYTES = 384 << 10,
    FAR_BYTES = 1 << 21,
    ROOMY_BYTES = 200 << 10,
    LANE_BYTES = 32,
    LANE_MOST = 16,
    SECTOR = 32,
};

/* What masks leave of the tiles of one shape. */
typedef struct Live {
    Shape shape;
    uint64_t elements; /* the most that an access of it may move */
} Live;

/* Of what a sorting network moves: its time and its code grow with the elements a thread has. */
enum { FLIPS = 8, SORTED = 8 };

typedef struct Largest {
    const Facts *facts;
    Arena *scratch;
    VEC(Live) live;
    uint64_t elements, flipped;
    uint32_t bytes, flips;
} Largest;

static Live *live_of(Largest *l, Shape shape) {
    for (uint32_t i = 0; i < l->live.len; i++)
        if (shape_equal(l->live.at[i].shape, shape)) return &l->live.at[i];
    return NULL;
}

static void note_live(void *context, Op *op) {
    Largest *l = context;
    if ((op->kind != OP_LOAD && op->kind != OP_STORE) || !value_is_tile(op->args[0])) return;
    Shape shape = op->args[0]->type.shape;
    uint32_t at = op->kind == OP_LOAD ? 1 : 2;
    Live found = {shape, 1};
    for (uint32_t d = 0; d < shape.rank; d++)
        found.elements *= op->nargs > at ? facts_live(l->facts, op->args[at], d) : shape_size(shape, d);
    Live *known = live_of(l, shape);
    if (!known) vec_push(l->scratch, &l->live, found);
    else if (found.elements > known->elements) known->elements = found.elements;
}

uint64_t live_elements(Func *f, const Facts *facts, Shape shape) {
    Largest l = {.facts = facts, .scratch = arena_create()};
    func_walk(f, note_live, &l);
    const Live *live = live_of(&l, shape);
    uint64_t n = live ? live->elements : shape_elements(shape);
    arena_destroy(l.scratch);
    return n;
}

static void note_size(void *context, Op *op) {
    Largest *l = context;
    for (uint32_t i = 0; i < op->nresults; i++) {
        Type t = op->results[i]->type;
        if (op->kind != OP_LOAD && op->kind != OP_REDUCE && t.dtype == DT_PTR) continue;
        const Live *live = t.shape.rank ? live_of(l, t.shape) : NULL;
        uint64_t n = live ? live->elements : t.shape.rank ? shape_elements(t.shape) : 1;
        uint32_t bytes = op->kind == OP_LOAD ? type_bytes(t) : 4;
        if (op->kind == OP_FLIP && ++l->flips >= FLIPS && n > l->flipped) l->flipped = n;
        if (n > l->elements) {
            l->elements = n;
            l->bytes = bytes;
        } else if (n == l->elements && op->kind == OP_LOAD && bytes < l->bytes) {
            l->bytes = bytes;
        }
    }
}

/* ---- What it does with its rows ---------------------------------------------------------------------------------- */

typedef struct Access {
    const Facts *facts;
    const Func *f;
    const Votes *votes;
    uint32_t most, bytes; /* of one access: that the target has; the shortest of the function's */
    uint32_t loads, weights; /* of tiles; what only a const pointer names comes late, vector by vector (defer.c) */
    uint32_t moved;          /* bytes of an element of the rows, over all loads and stores */
    bool is_row, is_rotated, is_stored;
} Access;

static void note_access(void *context, Op *op) {
    Access *a = context;
    bool is_store = op->kind == OP_STORE || op->kind == OP_ATOMICRMW || op->kind == OP_ATOMICCAS;
    if ((!is_store && op->kind != OP_LOAD) || !value_is_tile(op->args[0])) return;
    a->is_stored |= is_store;
    if (op->kind == OP_LOAD) *(op_loads_constant(a->f, op) ? &a->weights : &a->loads) += 1;
    a->is_row &= op->args[0]->type.shape.rank == 1;
    if (!a->is_row) return;
    Vote vote = vote_of(a->votes, op);
    uint32_t unit = type_bytes(type_scalar(op->args[0]->type.pointee)),
             run = facts_vector(a->facts, op->args[0], 0, a->most);
    bool is_rotated = run < vote.vec_log2 && run < vote.run_log2,
         is_whole = run >= vote.vec_log2 && vote.widest << vote.vec_log2 >= a->most;
    a->is_rotated |= is_rotated;
    a->moved += unit;
    if (!is_whole && !is_rotated && unit << run < a->bytes) a->bytes = unit << run;
}

static Access find_access(Func *f, const Facts *facts, const PassContext *c) {
    Access a = {.facts = facts,
                .f = f,
                .votes = votes_take(f, facts, c->target, true, c->scratch),
                .most = c->target->max_vector_bytes,
                .bytes = c->target->max_vector_bytes,
                .is_row = true};
    func_walk(f, note_access, &a);
    return a;
}

static Rows rows_of(const Access *a, const PassContext *c, uint32_t bytes) {
    bool is_wide = bytes >= 4,
         is_light = is_wide ? a->loads + a->weights <= 3 && a->weights <= 1 : a->loads + a->weights == 1;
    if (!a->is_row || a->bytes < c->target->max_vector_bytes || !is_light || c->few_programs) return ROWS_ANY;
    if (is_wide && !a->is_stored) return a->is_rotated ? ROWS_SUMMED_ANY : ROWS_SUMMED;
    return is_wide ? ROWS_WIDE : a->is_stored ? ROWS_NARROW : ROWS_READ;
}

static uint32_t choose_warps(Rows rows, uint64_t size, uint64_t sorting) {
    for (size_t i = 0; i < COUNT(table[rows]); i++) {
        if (size <= table[rows][i].bytes && sorting <= table[rows][i].warps) return table[rows][i].warps;
    }
    return sorting <= 16 && size <= 1 << 16 ? 16 : 32;
}

/* Does it move elements between the blocks of a cluster no more than a reduction does, and wait for nobody? */
static void check_apart(void *context, Op *op) {
    bool *is_apart = context;
    switch (op->kind) {
    case OP_LOAD: *is_apart &= !op->attr.mem.is_volatile; return;
    case OP_ATOMICRMW: *is_apart &= !value_used(op->results[0]) && !order_acquires(op->attr.mem.order); return;
    case OP_STORE: case OP_SHSTORE: case OP_SHLOAD: case OP_SPREADWARP: return;
    default: break;
    }
    OpClass class = op_class(op->kind);
    *is_apart &= op_is_local(op->kind) || class == CLASS_REPEAT || class == CLASS_REDUCE || class == CLASS_ORDER ||
                 op_is_control(op->kind);
}

static uint32_t most_blocks(Func *f, const PassContext *c) {
    uint32_t most = f->grid_blocks > c->target->max_cluster ? f->grid_blocks : c->target->max_cluster;
    bool is_apart = true;
    if (f->num_ctas) return f->num_ctas;
    if (most > 1) func_walk(f, check_apart, &is_apart);
    return is_apart ? most : 1;
}

/* Of the largest tile, what a block holds. */
static uint64_t block_bytes(const Func *f, const PassContext *c, uint32_t most) {
    uint64_t held =
        (uint64_t)f->num_warps * c->target->warp_threads * 4 * (f->num_warps > 16 ? MOST_EACH / 2 : MOST_EACH);
    return held && held < most ? held : most;
}

/* Weights come late and take few registers; of more than two nobody has measured it. */
static bool is_shared_row(const Access *a) {
    return a->is_row && a->weights <= 2;
}

static uint32_t share_blocks(Func *f, uint64_t size, uint64_t held, const PassContext *c) {
    uint32_t most = most_blocks(f, c), blocks = 1;
    while (blocks < most && size / blocks > held) blocks *= 2;
    return blocks;
}

/* Bytes of the largest tile in registers: of a program that is one block, at most; of a block, where SHARED_BLOCKS or
 * less hold the tile; of a block, where more do. */
typedef struct Share {
    uint64_t alone, few, many;
} Share;

/* Of elements that take 4 bytes of registers each: what a block holds that moves so many bytes. */
static uint64_t held_of_moved(const Access *a, uint32_t bytes) {
    return bytes / a->moved * 4;
}

static Share share_of(Func *f, const Access *a, Rows rows, bool is_narrow, const PassContext *c) {
    bool is_any = is_narrow && rows == ROWS_ANY, is_free = !f->num_warps && !c->few_programs, is_single = a->loads == 1;
    uint64_t held = block_bytes(f, c, !is_any ? BLOCK_BYTES : a->loads > 1 ? SEVERAL_BYTES : NARROW_BYTES);
    uint64_t half = SHARED_BYTES / 2, each = is_narrow && a->is_rotated ? FULL_BYTES : SHARED_BYTES;
    if (c->few_programs && held > SPREAD_BYTES) held = SPREAD_BYTES;
    if (!is_free) return (Share){held, held, held};
    if (!is_narrow && a->is_stored && is_shared_row(a))
        return (Share){ALONE_BYTES, half, a->is_rotated ? SHARED_BYTES : half};
    if (rows == ROWS_SUMMED && is_single) return (Share){SUMMED_ALONE, SUMMED_BYTES, SHARED_BYTES};
    if (rows == ROWS_SUMMED_ANY && is_single) return (Share){FULL_BYTES, each, each};
    if (a->is_row && !a->is_stored) return (Share){held, each, each};
    if (rows == ROWS_ANY) return (Share){held, held, held};
    if (rows != ROWS_NARROW || a->weights) return (Share){held, FULL_BYTES, FULL_BYTES};
    uint64_t few = held_of_moved(a, a->is_rotated ? MOVED_ANY : MOVED_BYTES);
    return (Share){held_of_moved(a, MOVED_ALONE), few, FULL_BYTES};
}

static uint32_t choose_blocks(Func *f, const Access *a, Rows rows, uint64_t size, bool is_narrow,
                              const PassContext *c) {
    Share share = share_of(f, a, rows, is_narrow, c);
    if (size <= share.alone) return 1;
    return share_blocks(f, size, size > SHARED_BLOCKS * share.few ? share.many : share.few, c);
}

static Largest find_largest(Func *f, const Facts *facts) {
    Largest l = {.facts = facts, .scratch = arena_create(), .elements = 1, .bytes = 4};
    func_walk(f, note_live, &l);
    func_walk(f, note_size, &l);
    arena_destroy(l.scratch);
    return l;
}

/* Of a row that is only read, what all blocks hold: one block or a cluster that leaves registers. */
static uint64_t held_of_read(const Func *f, const PassContext *c, const Access *a, uint32_t most, uint32_t narrow,
                             uint32_t loads) {
    uint32_t each = narrow >= 4 ? SHARED_BYTES : a->is_rotated ? FULL_BYTES : BLOCK_BYTES;
    if (narrow >= 4 && most > SHARED_BLOCKS) most = SHARED_BLOCKS;
    uint64_t one = block_bytes(f, c, BLOCK_BYTES), all = block_bytes(f, c, each) * most;
    return loads == 1 && all > one ? all : one;
}

/* A row that is only read, strip-mined: who goes through it. */
static void share_read(Func *f, const PassContext *c, uint64_t bytes, uint32_t most) {
    uint32_t blocks = 1;
    if (bytes > READ_BYTES) blocks = READ_BLOCKS;
    if (bytes > SHARED_BLOCKS * SHARED_BYTES) blocks = SHARED_BLOCKS;
    if (bytes >= FAR_BYTES || blocks > most) blocks = most;
    bool is_at_once = c->few_programs && f->grid_blocks >= blocks;
    f->num_ctas = blocks;
    if (!f->num_warps) f->num_warps = is_at_once ? CHUNK_WARPS : READ_WARPS;
}

RowChunk distribute_chunk(Func *f, const Facts *facts, const PassContext *c, uint32_t wide, uint32_t narrow,
                          uint32_t loads) {
    Access a = find_access(f, facts, c);
    uint32_t most = most_blocks(f, c), each = CHUNK_EACH;
    /* few programs do as others, unless they have blocks for more */
    bool is_few = c->few_programs && (loads > 1 || most > c->target->max_cluster),
         is_read = !f->num_ctas && a.is_row && !a.is_stored && !is_few;
    uint64_t bytes = find_largest(f, facts).elements * wide;
    if (bytes <= (is_read ? held_of_read(f, c, &a, most, narrow, loads) : block_bytes(f, c, BLOCK_BYTES) * most))
        return (RowChunk){0};
    if (is_read) share_read(f, c, bytes, most);
    else f->num_ctas = most;
    if (!f->num_warps) f->num_warps = CHUNK_WARPS;
    if (c->target->max_shared < ROOMY_BYTES) each /= 2;
    bool is_copied = a.is_stored && !a.is_rotated && a.bytes >= 4;
    if (loads > 1) each /= narrow < 4 && !is_copied ? 4 : 2;
    if (narrow < 4 && is_copied && each > CHUNK_NARROW) each = CHUNK_NARROW;
    each =
        each * 4 / wide > c->target->max_vector_bytes / narrow ? each * 4 / wide : c->target->max_vector_bytes / narrow;
    return (RowChunk){(uint64_t)f->num_ctas * f->num_warps * c->target->warp_threads * each, is_copied};
}

static uint64_t register_bytes(const Largest *l) {
    return l->elements * (l->bytes < 4 ? 4 : l->bytes);
}

uint32_t distribute_lanes(Func *f, const Facts *facts, const PassContext *c) {
    Largest l = find_largest(f, facts);
    Access a = find_access(f, facts, c);
    Rows rows = rows_of(&a, c, l.bytes);
    uint64_t size = register_bytes(&l), each = LANE_BYTES / l.bytes < LANE_MOST ? LANE_BYTES / l.bytes : LANE_MOST;
    uint32_t lanes = 2, warp = c->target->warp_threads;
    bool is_one = l.elements > 1 && choose_blocks(f, &a, rows, size, l.bytes < 4, c) == 1;
    if (!is_one || choose_warps(rows, size, l.flipped / (warp * SORTED)) != 1) return warp;
    while (lanes < warp && (lanes * each < l.elements || lanes * a.bytes < SECTOR)) lanes *= 2;
    return lanes;
}

static void note_reduction(void *context, Op *op) {
    *(bool *)context |= op_class(op->kind) == CLASS_REDUCE;
}

static void note_product(void *context, Op *op) {
    if (op_class(op->kind) == CLASS_MATRIX) *(bool *)context = true;
}

/* Rows that are reduced: while a block waits, others load. Of smaller blocks there are many anyway. Down the columns
 * more blocks are slower (docs/lab/columns.md). Products that are reduced, as in attention: one block's run beside
 * another's exponentials. */
static uint32_t wanted_threads(Func *f, const Access *a, const PassContext *c) {
    enum { BLOCKS_OF_PRODUCTS = 2 };
    bool reduces = false, multiplies = false;
    func_walk(f, note_reduction, &reduces);
    func_walk(f, note_product, &multiplies);
    if (!reduces || f->num_warps < RESIDENT_WARPS || c->few_programs) return 0;
    if (a->is_row) return RESIDENT_THREADS;
    return multiplies ? BLOCKS_OF_PRODUCTS * f->num_warps * c->target->warp_threads : 0;
}

void distribute_program(Func *f, const Facts *facts, const PassContext *c) {
    Largest l = find_largest(f, facts);
    Access a = find_access(f, facts, c);
    Rows rows = rows_of(&a, c, l.bytes);
    uint64_t size = register_bytes(&l);
    f->blocks_per_program = f->num_ctas ? f->num_ctas : choose_blocks(f, &a, rows, size, l.bytes < 4, c);
    /* blocks of so much have a multiprocessor each; of less, several clusters fit beside each other */
    bool is_crowded = f->grid_blocks == c->target->max_cluster && size / f->blocks_per_program > SHARED_BYTES,
         is_beyond = is_crowded || f->blocks_per_program > c->target->max_cluster,
         is_grid = f->blocks_per_program <= f->grid_blocks && (f->num_ctas || is_beyond);
    f->scope = f->blocks_per_program == 1 ? SCOPE_BLOCK : is_grid ? SCOPE_GRID : SCOPE_CLUSTER;
    uint64_t share = size / f->blocks_per_program * (c->few_programs ? 2 : 1); /* few programs: shorter threads */
    /* more than 16 warps would have too few registers */
    if (c->few_programs && share > BLOCK_BYTES && size / f->blocks_per_program <= BLOCK_BYTES) share = BLOCK_BYTES;
    if (f->scope == SCOPE_CLUSTER && is_shared_row(&a) && !c->few_programs) {
        if (l.bytes >= 4) rows = a.weights == 1 && !a.is_rotated ? ROWS_WEIGHED : ROWS_SHARED;
        else if (rows == ROWS_ANY && a.loads == 1) rows = ROWS_NARROW;
    }
    bool is_full = l.bytes < 4 && f->scope == SCOPE_CLUSTER && size / f->blocks_per_program > FULL_BYTES,
         is_one = a.is_row && !a.is_rotated && a.loads == 1 && !a.weights;
    if (is_full && is_one) rows = ROWS_FULL;
    if (f->num_warps == 0) f->num_warps = choose_warps(rows, share, l.flipped / (c->target->warp_threads * SORTED));
    /* Of 128 packed elements a thread two blocks share a multiprocessor, rows or columns, few programs or many. */
    bool is_packed = is_full && f->num_warps == RESIDENT_WARPS;
    f->resident = is_packed ? 2 * RESIDENT_WARPS * c->target->warp_threads : wanted_threads(f, &a, c);
}

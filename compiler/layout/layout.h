/* layout.h - tile shapes, and which thread holds which element of a tile.
 *
 * A tile has power-of-two dimensions, so an element's *flat index* (row-major, last dimension fastest) is a number of
 * shape_log2() bits in which each dimension is a contiguous field. A dimension of size 1 more or less changes no index.
 *
 * A layout is a linear map over F2: the flat index of the element that an owner (register, lane, warp, cta) holds is
 * the XOR of one basis per set bit of the owner. Blocked, sliced, transposed layouts are constructors of this
 * one type. A zero basis, or one that is a XOR of others, is replication: several owners hold the same element.
 *
 * Layouts are immutable and interned: two equal layouts of one `Layouts` are one pointer. All memory is its arena's.
 * Layouts that meet in one function have the same number of lane, warp and cta bits. Misuse is bug().
 */
#ifndef FSC_LAYOUT_H
#define FSC_LAYOUT_H

#include "base/base.h"

/* ---- Shapes ------------------------------------------------------------------------------------------------------ */

enum {
    SHAPE_RANK = 7,  /* dimensions at most */
    SHAPE_BITS = 31, /* log2 of the elements at most: a flat index fits uint32_t */
};
#define SHAPE_RULE "at most 7 dimensions, powers of two, 2^31 elements together"
_Static_assert(SHAPE_RANK == 7 && SHAPE_BITS == 31, "SHAPE_RULE says so");

typedef struct Shape {
    uint8_t rank;             /* 0: one element */
    uint8_t log2[SHAPE_RANK]; /* of each dimension's size; zero beyond the rank */
} Shape;

Shape shape_scalar(void);
Shape shape_row(uint32_t log2); /* rank 1 */
Shape shape_make(uint32_t rank, const uint8_t *log2);
bool shape_equal(Shape a, Shape b);
uint32_t shape_log2(Shape s); /* of the number of elements */
uint64_t shape_elements(Shape s);
uint64_t shape_size(Shape s, uint32_t dim);   /* of one dimension */
uint32_t shape_offset(Shape s, uint32_t dim); /* the lowest bit of the dimension's field in the flat index */
uint32_t shape_field(Shape s, uint32_t dim);  /* the field as a mask */
uint32_t shape_coord(Shape s, uint32_t flat, uint32_t dim);
uint32_t shape_flat(Shape s, const uint32_t *coords);
Shape shape_insert(Shape s, uint32_t axis); /* a dimension of size 1 before `axis`; axis ≤ rank */
Shape shape_remove(Shape s, uint32_t axis);
Shape shape_collapse(Shape s, uint32_t axis);      /* the dimension becomes size 1 */
Shape shape_permute(Shape s, const uint8_t *perm); /* new dimension i is old dimension perm[i] */
Shape shape_join_halves(Shape s);                  /* a new last dimension of size 2 */
bool shape_broadcasts(Shape from, Shape to);       /* same rank, each dimension of `from` is `to`'s or 1 */
/* The flat index in `from` of the element that broadcasting puts at `flat` in `to`. Linear in `flat`. */
uint32_t shape_project(Shape to, Shape from, uint32_t flat);
void shape_print(Shape s, Text *out); /* 64x128; nothing for rank 0 */

/* ---- Linear maps over F2 ----------------------------------------------------------------------------------------- */

/* x ↦ XOR of column[i] over the set bits i of x. */
typedef struct Linear {
    uint8_t in, out;     /* bits of the argument and of the result, ≤ 64 */
    uint64_t column[64]; /* column[i] for i < in */
} Linear;

uint64_t linear_apply(const Linear *m, uint64_t x);
Linear linear_identity(uint32_t bits);
Linear linear_compose(const Linear *outer, const Linear *inner); /* x ↦ outer(inner(x)) */
uint32_t linear_rank(const Linear *m);
/* Argument bits whose column is a XOR of lower columns (zero columns among them). The other columns are independent. */
uint64_t linear_free(const Linear *m);
/* An x with m(x) = y that uses none of linear_free's bits, so it is unique; false where y is not in the image. */
bool linear_solve(const Linear *m, uint64_t y, uint64_t *x);
/* The same for each of `bits` alone, 0 for the others; solutions of several bits are sums of these. */
bool linear_solve_bits(const Linear *m, uint64_t bits, uint64_t x[64]);
/* The least of y ^ m(x) over all x. */
uint64_t linear_least(const Linear *m, uint64_t y);
/* The map y ↦ linear_solve(m, y): m(right(y)) = y. False if m is not surjective. */
bool linear_invert(const Linear *m, Linear *right);

/* ---- Layouts ----------------------------------------------------------------------------------------------------- */

typedef enum InDim {
    IN_REGISTER, /* index among the values of this tile in one thread */
    IN_LANE,     /* thread within its warp; 5 bits, fewer where a program has fewer than 32 threads */
    IN_WARP,     /* warp within its block's program */
    IN_CTA,      /* block within its cluster */
    IN_COUNT
} InDim;

enum { LAYOUT_BITS = 32 }; /* bits per input dimension at most; all together 64 */

typedef struct Owner {
    uint32_t at[IN_COUNT];
} Owner;

typedef struct Layout {
    Shape shape;
    uint8_t bits[IN_COUNT];                /* input bits per dimension */
    uint32_t basis[IN_COUNT][LAYOUT_BITS]; /* flat-index bits that an input bit flips; zero beyond `bits` */
} Layout;

typedef struct Layouts Layouts;

Layouts *layouts_create(Arena *a);
/* The one layout equal to `value`; checks that every basis lies within the shape. */
const Layout *layout_intern(Layouts *ls, const Layout *value);

uint32_t layout_apply(const Layout *l, Owner o);            /* the element's flat index */
uint32_t layout_registers(const Layout *l);                 /* per thread: a power of two */
bool layout_same_threads(const Layout *a, const Layout *b); /* as many lane, warp and cta bits */

/* Owners as one number: register bits lowest, then lane, warp, cta. */
uint64_t layout_pack(const Layout *l, Owner o);
Owner layout_unpack(const Layout *l, uint64_t packed);
Linear layout_linear(const Layout *l); /* packed owner -> flat index */

/* Every element has an owner. True of every layout that the constructors make. */
bool layout_is_surjective(const Layout *l);
/* Input bits of `d` that are replication: their basis is zero or a XOR of bases before it (in the order registers,
 * lanes, warps, ctas). The owners with all these bits zero hold each element exactly once: the canonical owners. A
 * store tests them for the lane, warp and cta bits, and skips such registers. */
uint32_t layout_free(const Layout *l, InDim d);
Owner layout_owner(const Layout *l, uint32_t flat); /* the canonical one */
bool layout_invert(const Layout *l, Linear *right); /* flat index -> packed canonical owner; false: not surjective */

/* log2 of the widest access along `dim`: registers k·2^v … k·2^v + 2^v-1 of every thread hold 2^v elements that follow
 * each other along `dim`, in order, the first at a multiple of 2^v. */
uint32_t layout_vector(const Layout *l, uint32_t dim);
/* log2 of the aligned run along `dim` that one thread holds, in whatever registers. */
uint32_t layout_contiguous(const Layout *l, uint32_t dim);

/* The least n such that no thread's register n or above holds an element below `bound`: any number from 0 to
 * layout_registers(). layout_live bounds the flat index, layout_live_along the coordinate along one dimension. */
uint32_t layout_live(const Layout *l, uint64_t bound);
uint32_t layout_live_along(const Layout *l, uint32_t dim, uint64_t bound);
/* Can this register of some thread hold an element whose coordinate along `dim` is below `bound`? */
bool layout_register_live(const Layout *l, uint32_t reg, uint32_t dim, uint64_t bound);

/* ---- Constructors (shapes.c) ------------------------------------------------------------------------------------- */

/* Threads along order[0] (the fastest dimension in memory), then on to order[1], …; order NULL is last dimension first.
 * The lowest bits along order[0] are the vector of 2^vec_log2 registers, then lanes, warps, ctas; what remains of the
 * tile becomes the upper register bits, so these are the highest element bits. The vector is at most the dimension, and
 * shrinks only where the tile has fewer elements than vector × lanes. Lane, warp and cta bits left over replicate. */
const Layout *layout_blocked(Layouts *ls, Shape s, const uint8_t *order, uint32_t vec_log2, uint32_t lanes_log2,
                             uint32_t warps_log2, uint32_t ctas_log2);
/* What broadcasting to `l` needs: the layout of a tile of shape `from` (shape_broadcasts(from, l->shape)) in which each
 * thread holds what it needs for its own elements of `l`, each once. */
const Layout *layout_project(Layouts *ls, const Layout *l, Shape from);
/* The result of reducing along `axis`: layout_project to size 1, and the dimension dropped unless keep_dim. */
const Layout *layout_slice(Layouts *ls, const Layout *l, uint32_t axis, bool keep_dim);
const Layout *layout_expand(Layouts *ls, const Layout *l, uint32_t axis);          /* shape_insert; moves nothing */
const Layout *layout_reshape(Layouts *ls, const Layout *l, Shape s);               /* as many elements; moves nothing */
const Layout *layout_transpose(Layouts *ls, const Layout *l, const uint8_t *perm); /* shape_permute; moves nothing */

/* A new last dimension of size 2, along a new lowest register bit; moves nothing. */
const Layout *layout_join(Layouts *ls, const Layout *l);
/* The reverse, of either half: the last dimension, of size 2, vanishes with the register bit that it lies along. NULL
 * where it does not lie along one register bit and no other. *bit (may be NULL): which it was. */
const Layout *layout_split(Layouts *ls, const Layout *l, uint32_t *bit);
/* The same with the bits of a dimension's coordinate from `low` on rotated up by so many. */
const Layout *layout_rotate(Layouts *ls, const Layout *l, uint32_t dim, uint32_t low, uint32_t by);
/* The same with its register bits in order: those along `axis` first, each group by rising element bits. */
const Layout *layout_sort(Layouts *ls, const Layout *l, uint32_t axis);

/* ---- Products of matrices (dot.c) -------------------------------------------------------------------------------- */

/* Of a product whose elements the threads share out in blocks of 4 x 4: the last two dimensions,
 * one before them is the batch. */
const Layout *layout_dot(Layouts *ls, Shape s, uint32_t lanes_log2, uint32_t warps_log2, uint32_t ctas_log2);
/* The owners of a part of a larger tile, 2^size_log2 along the axis, by their elements' places in that:
 * the part that begins at 0. */
const Layout *layout_within(Layouts *ls, const Layout *l, uint32_t axis, uint32_t size_log2);
/* log2 of how many parts along the axis each thread has its own registers for, in whichever it has elements. */
uint32_t layout_parts_log2(const Layout *l, uint32_t axis);
/* One of 2^parts_log2 such parts: a tile of its own, whose elements the same threads hold. */
const Layout *layout_part(Layouts *ls, const Layout *l, uint32_t axis, uint32_t parts_log2);
/* Of an operand of such a product, whatever its layout `l`: `axis` is replaced by the one that is summed over, of
 * 2^k_log2, which lies along registers; each thread holds what its own elements need. */
const Layout *layout_operand(Layouts *ls, const Layout *l, uint32_t axis, uint32_t k_log2);

/* ---- Conversions (convert.c) ------------------------------------------------------------------------------------- */

typedef enum ConvertKind {
    CONVERT_NONE,      /* the same layout */
    CONVERT_REGISTERS, /* every thread has all it needs */
    CONVERT_SHUFFLE,   /* every warp has all it needs */
    CONVERT_SHARED,    /* every block has all it needs */
    CONVERT_CLUSTER,   /* blocks of a cluster exchange */
} ConvertKind;

/* The owner in `from` of what the owner o in `to` needs is the XOR of source[d][i] over the set bits i of o.at[d]. A
 * source is as near as the bases allow: source[IN_LANE][i].at[IN_LANE] is 1 << i where no lane has to change.
 * For a code generator, with s = source and thread bits t of dimension d:
 *   source lane      = XOR over register bits i of s[IN_REGISTER][i].at[IN_LANE]     a constant per register
 *                    ^ XOR over thread bits of s[d][i].at[IN_LANE]                   a function of lane, warp and cta
 *   source register  = XOR over register bits of s[IN_REGISTER][i].at[IN_REGISTER]   a constant per register
 *                    ^ XOR over thread bits of s[d][i].at[IN_REGISTER]               selects a candidate
 * The candidates for one destination register are its constant ^ each of the span of `select`. Up to CONVERT_SHUFFLE:
 * for each candidate shuffle that register from the source lane, then select by the destination's own thread bits. */
typedef struct ConvertPlan {
    ConvertKind kind;
    const Layout *from, *to;
    Owner source[IN_COUNT][LAYOUT_BITS];
    uint32_t nselect;             /* candidates per destination register: 2^nselect */
    uint32_t select[LAYOUT_BITS]; /* independent register masks that thread bits may flip */
} ConvertPlan;

/* Same number of elements, same threads; `from` surjective. */
void convert_plan(const Layout *from, const Layout *to, ConvertPlan *plan);
/* The same for broadcasting `from` to the larger tile `to`: kind is at most CONVERT_REGISTERS exactly where each thread
 * holds what it needs, as it does where from == layout_project(to, from->shape). */
void convert_broadcast(const Layout *from, const Layout *to, ConvertPlan *plan);
ConvertKind convert_kind(const Layout *from, const Layout *to);
Owner convert_source(const ConvertPlan *plan, Owner destination);
const char *convert_name(ConvertKind k);

/* ---- Reductions (reduce.c) --------------------------------------------------------------------------------------- */

/* How to reduce a tile along an axis so that the result has layout_slice(l, axis, …):
 *   registers  result register k is the combination of the source registers deposit(k, keep) ^ m, m over all subsets of
 *              combine[IN_REGISTER]
 *   lanes      then a butterfly: for each bit of combine[IN_LANE], combine with the lane that differs in this bit
 *   warps      then the same over combine[IN_WARP] through shared memory, combine[IN_CTA] through the cluster
 * after which every owner holds its result. Bits that only replicate along the axis are in no mask.
 * Stopping after the lanes, with keep_partial for keep, leaves one partial result per warp and cta: layout_partial.
 * Stopping after the registers, with keep_threads, leaves one per thread: layout_partial_threads. */
typedef struct ReducePlan {
    uint32_t axis;
    bool mixed; /* bases mix the axis with others: there are no such masks; convert to a blocked layout first */
    uint32_t combine[IN_COUNT];
    uint32_t keep; /* source register bits that are the result's register bits, in this order */
    uint32_t keep_partial, keep_threads;
} ReducePlan;

ReducePlan layout_reduce_plan(const Layout *l, uint32_t axis);
bool layout_is_mixed(const Layout *l, uint32_t axis); /* the plan's `mixed` */
/* The result of reducing within each warp only: the axis has one coordinate per combination of the warp and cta bits in
 * `combine`; where there are none, this is layout_slice(l, axis, false). Must not be mixed. */
const Layout *layout_partial(Layouts *ls, const Layout *l, uint32_t axis);
/* The same of each thread's registers alone: the axis has one coordinate per combination of the lane, warp and cta bits
 * in `combine`. */
const Layout *layout_partial_threads(Layouts *ls, const Layout *l, uint32_t axis);
/* For the second round: the layout of a tile with a dimension of 2^log2 inserted before `axis` whose reduction needs no
 * other warp and gives `result`. The dimension lies over lanes that replicate in `result`, then over registers. */
const Layout *layout_spread(Layouts *ls, const Layout *result, uint32_t axis, uint32_t log2);
/* The same tile with its register bits, the highest first, on the lanes that replicate (whose basis is zero),
 * the highest first. */
const Layout *layout_scatter(Layouts *ls, const Layout *l);
/* For a round in between, over the warps of each block: the tile of layout_partial (`partial`) with the axis along
 * lanes, the rest along the other lanes and the warps, what remains along registers; ctas hold what they held. A
 * reduction of it needs no other warp. NULL where warps and ctas share bits of the axis. */
const Layout *layout_meet(Layouts *ls, const Layout *partial, uint32_t axis);
/* What one block holds, as a tile of its own: no cta bits,
 * and without the highest bits of the first dimension that only those reached. */
const Layout *layout_own(Layouts *ls, const Layout *l);

/* ---- Shared memory (shared.c) ------------------------------------------------------------------------------------ */

/* Places say where a tile's elements lie: a layout whose register bits are the bits of an element's offset,
 * and that has no other owners. */
const Layout *layout_flat(Layouts *ls, Shape s); /* row-major */
/* Of a tile [threads x registers]: 2^run_log2 registers of a thread lie side by side,
 * then come the other threads', then further registers. */
const Layout *layout_private(Layouts *ls, uint32_t threads_log2, uint32_t registers_log2, uint32_t run_log2);
/* Whose element (t, r) the thread t holds in register r. */
const Layout *layout_threads(Layouts *ls, Shape threads_by_registers, uint32_t lanes_log2);
/* The owners of `registers` over offsets instead of elements: a row, whose flat index is the offset.
 * As many elements. */
const Layout *layout_in(Layouts *ls, const Layout *places, const Layout *registers);
enum { VECTOR_BITS = 4 };
/* log2 of the elements of so many bytes that lie side by side in such a row and in one thread, 16 bytes at most;
 * `bits`: the register bits that tell them apart, the lowest first. */
uint32_t layout_in_vector(const Layout *in, uint32_t bytes, uint8_t bits[VECTOR_BITS]);
/* How often shared memory is asked when all threads of a block access what they hold in such a row: each time at most a
 * word of each of 32 banks (docs/how-to/profiling.md). */
uint32_t layout_wavefronts(const Layout *in, uint32_t bytes, bool is_load);
/* To compare such rows by: wavefronts, and where they are equal how many accesses a thread makes. Costs add up. */
uint64_t layout_cost(const Layout *in, uint32_t bytes, bool is_load);
/* Rank 2, dimension `major` inside, elements of so many bits: rows of `span` bytes (128, 64, 32), whose units of 16
 * bytes change places by the number of the row, as TMA and matrix instructions have them; 0: row-major. */
const Layout *layout_swizzled(Layouts *ls, Shape s, uint32_t major, uint32_t bits, uint32_t span);
/* Places for a tile that is stored in one register layout and loaded in another: in vectors, and without conflicts of
 * banks as far as can be; flat where nothing is better. */
const Layout *layout_between(Layouts *ls, const Layout *from, const Layout *to, uint32_t bytes);

/* How ldmatrix or stmatrix move what registers hold (matrices.c): 2^count_log2 matrices at once, of 8 rows of 16 bytes.
 * The registers of a word are the lowest ones, then come those that tell the matrices of one instruction apart. */
typedef struct MatrixRows {
    const Layout *rows; /* over offsets: the lanes lie over rows whose elements are the lowest 2^row_log2 registers;
                         * the registers above them tell instructions apart */
    uint32_t row_log2, word_log2, count_log2;
    bool is_transposed;
} MatrixRows;

/* Of a layout over offsets, of elements of so many bytes; false: an instruction that moves matrices does not fit. The
 * wavefronts of `rows` are those of the instructions. */
bool layout_matrices(Layouts *ls, const Layout *in, uint32_t bytes, MatrixRows *m);

/* Places as a descriptor of instructions of four warps says them (spans.c). */
typedef struct MatrixSpans {
    uint32_t span;   /* bytes of a row's part that lies together: 128, 64, 32 */
    bool is_across;  /* rows lie across k */
    uint32_t stride, leading; /* bytes from 8 rows to the next ones, and across k from a span of the rows to the next */
} MatrixSpans;

/* Of an operand with elements of so many bits; false: an instruction does not find it there. */
bool layout_spans(Layouts *ls, const Layout *places, uint32_t bits, uint32_t axis_of_k, MatrixSpans *s);
uint64_t spans_descriptor(const MatrixSpans *s); /* all but where it begins */
uint32_t layout_offset(const Layout *places, uint32_t flat); /* of the element of that row-major index */

/* ---- Scans (scan.c) ---------------------------------------------------------------------------------------------- */

/* Which owner bit each bit of an axis is. Not `ordered`: some basis mixes bits, or repeats one; convert to a blocked
 * layout first. The bits below `within` lie in one thread or warp: an aligned run of the axis. */
typedef struct AxisPlan {
    bool ordered;
    uint32_t bits, within;
    uint8_t dim[SHAPE_BITS], bit[SHAPE_BITS]; /* by axis bit from the lowest: an InDim, and which of its bits */
} AxisPlan;

AxisPlan layout_axis_plan(const Layout *l, uint32_t axis);
/* One element for each run of 2^low along an axis in order; registers within the runs are gone, lanes replicate. */
const Layout *layout_coarsen(Layouts *ls, const Layout *l, uint32_t axis, uint32_t low);

/* ---- Text (text.c) ----------------------------------------------------------------------------------------------- */

extern const char *const in_name[IN_COUNT]; /* reg lane warp cta */

/* One line: #layout<[256] reg=[1,2] lane=[4,8,16,32,64] warp=[128] cta=[]>, bases as flat indexes; the shape as in
 * shape_print. */
void layout_write(const Layout *l, Text *out);
/* Reads layout_write's form at *text (spaces and tabs between tokens are free) and moves *text behind it. NULL if it is
 * no layout: then *text is where, and *why (may be NULL) a constant sentence. */
const Layout *layout_read(Layouts *ls, const char **text, const char **why);
/* For people (--layout): each basis as coordinates, replication marked, and the owners of a small tile. */
void layout_print(const Layout *l, Text *out);

#endif

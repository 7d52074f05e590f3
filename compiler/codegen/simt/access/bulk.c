/* bulk.c - bulk copies of boxes: one thread begins them, into a ring's stage, whose count it tells how many bytes come,
 * or from a buffer to memory.
 *
 * In: bulk_load, bulk_store, bulk_wait. Out: primitives, one for each box that the buffer has, behind a branch: all
 * other threads pass by.
 * Method: boxes are spans of the buffer's places, so each lies in one piece; where it begins there, and in the tile,
 * are constants beside the stage and the places. Copies side by side into one stage are begun together.
 */
#include "base/plant.h"
#include "codegen/simt/simt.h"

/* One box: where it lies in the buffer, and its places in memory, from the operand `first` on. */
typedef struct BoxAt {
    uint32_t offset;
    V places;
} BoxAt;

static BoxAt box_at(Simt *s, const Op *op, uint32_t first, const Boxes *boxes, uint32_t i, uint32_t j) {
    const Buffer *b = &s->f->buffers.at[op->attr.buffer];
    const BoxMap *m = &s->f->maps.at[op->attr.map];
    uint32_t column = i * boxes->columns, row = j * boxes->rows, low = boxes->major;
    uint32_t flat = column << shape_offset(b->places->shape, low);
    if (row) flat |= row << shape_offset(b->places->shape, 1 - low);
    V places[MAP_DIMS];
    for (uint32_t d = 0; d < m->rank; d++) {
        V more = simt_i32(s, d == 0 ? column : d == 1 ? row : 0);
        places[d] = LLVMBuildAdd(s->m->at, tile_slot(s, tile_of(s, op->args[first + d]), 0), more, "");
    }
    if (plant(PLANT_BULK_PLACES)) places[0] = places[1];
    return (BoxAt){(uint32_t)b->offset + layout_offset(b->places, flat) * type_bytes(type_scalar(b->dtype)),
                   tuple_make(s->m, places, m->rank)};
}

static void load_box(Simt *s, const Op *op, V stage, V count, const Boxes *boxes, uint32_t i, uint32_t j) {
    BoxAt box = box_at(s, op, 2, boxes, i, j);
    V offset = LLVMBuildAdd(s->m->at, stage, simt_i32(s, box.offset), "");
    V args[] = {offset, count, llvm_int(s->m->i1, 1), s->maps_at[op->attr.map], box.places, simt_site(s)};
    prim_tuple(s, PRIM_BULK_LOAD, NULL, args, COUNT(args));
}

static Boxes boxes_of(const Simt *s, const Op *op) {
    Boxes boxes;
    if (!buffer_boxes(s->f, &s->f->buffers.at[op->attr.buffer], &s->f->maps.at[op->attr.map], &boxes))
        bug("%s: not the buffer's boxes", op_info[op->kind].name);
    return boxes;
}

/* Warps say that they have read a stage. Is this thread the one that fills it, in the last warp to say so? */
static V fills(Simt *s, const Op *op, V stage) {
    const Buffer *b = &s->f->buffers.at[op->attr.buffer];
    uint32_t lanes = s->f->threads_per_program / s->f->num_warps;
    V lane = LLVMBuildAnd(s->m->at, simt_tid(s), simt_i32(s, lanes - 1), ""), site = simt_site(s);
    V is_first = LLVMBuildICmp(s->m->at, LLVMIntEQ, lane, simt_i32(s, 0), "");
    prim_call(s, PRIM_BAR_WARP, &site, 1);
    V args[] = {simt_readers_of(s, b, stage), is_first, simt_i32(s, s->f->num_warps), site};
    V missing = prim_call(s, PRIM_TURN, args, COUNT(args));
    V last = simt_i32(s, plant(PLANT_BULK_TURN) ? s->f->num_warps : 1);
    return LLVMBuildICmp(s->m->at, LLVMIntEQ, missing, last, "");
}

static V stage_of(Simt *s, const Op *op) {
    bool is_wrong = plant(PLANT_BULK_STAGE) && op->attr.is_prefetch;
    return is_wrong ? simt_i32(s, 0) : tile_slot(s, tile_of(s, op->args[0]), 0);
}

static void begin_copy(Simt *s, const Op *op) {
    const Buffer *b = &s->f->buffers.at[op->attr.buffer];
    Boxes boxes = boxes_of(s, op);
    V number = stage_of(s, op), stage = LLVMBuildMul(s->m->at, number, simt_i32(s, b->bytes), "");
    V count = simt_count_of(s, b, number);
    simt_expect(s, b, count, llvm_int(s->m->i1, 1));
    for (uint32_t i = 0; i < boxes.across; i++)
        for (uint32_t j = 0; j < boxes.down; j++) load_box(s, op, stage, count, &boxes, i, j);
}

/* Does op stand behind another copy that one turn begins with it? */
static bool is_same_turn(const Op *op) {
    const Op *other = op ? op->prev : NULL;
    return other && op->kind == OP_BULKLOAD && other->kind == OP_BULKLOAD && other->args[0] == op->args[0] &&
           other->args[1] == op->args[1] && other->attr.is_begin == op->attr.is_begin;
}

void simt_bulk_load(Simt *s, const Op *op) {
    if (is_same_turn(op)) return;
    V issue = tile_slot(s, tile_of(s, op->args[1]), 0);
    V who = op->attr.is_begin ? simt_owner_in_block(s, NULL) : fills(s, op, stage_of(s, op));
    if (op->attr.is_begin) prim_call(s, PRIM_PROXY_FENCE, NULL, 0); /* what stores left there is before */
    LLVMBasicBlockRef begin = simt_new_block(s, "begin"), begun = simt_new_block(s, "begun");
    LLVMBuildCondBr(s->m->at, LLVMBuildAnd(s->m->at, issue, who, ""), begin, begun);
    LLVMPositionBuilderAtEnd(s->m->at, begin);
    s->is_aside = true;
    for (const Op *o = op; o == op || is_same_turn(o); o = o->next) {
        simt_at_op(s, o);
        s->op_site = UINT32_MAX;
        begin_copy(s, o);
    }
    s->is_aside = false;
    LLVMBuildBr(s->m->at, begun);
    LLVMPositionBuilderAtEnd(s->m->at, begun);
}

/* ---- To memory --------------------------------------------------------------------------------------------------- */

void simt_bulk_store(Simt *s, const Op *op) {
    Boxes boxes = boxes_of(s, op);
    LLVMBasicBlockRef begin = simt_new_block(s, "begin"), begun = simt_new_block(s, "begun");
    LLVMBuildCondBr(s->m->at, simt_owner_in_block(s, NULL), begin, begun);
    LLVMPositionBuilderAtEnd(s->m->at, begin);
    s->is_aside = true;
    for (uint32_t i = 0; i < boxes.across; i++)
        for (uint32_t j = 0; j < boxes.down; j++) {
            BoxAt box = box_at(s, op, 0, &boxes, i, j);
            V args[] = {simt_i32(s, box.offset), llvm_int(s->m->i1, 1), s->maps_at[op->attr.map], box.places,
                        simt_site(s)};
            prim_tuple(s, PRIM_BULK_STORE, NULL, args, COUNT(args));
        }
    prim_call(s, PRIM_BULK_COMMIT, NULL, 0);
    s->is_aside = false;
    LLVMBuildBr(s->m->at, begun);
    LLVMPositionBuilderAtEnd(s->m->at, begun);
}

/* Who has begun none waits for nothing. */
void simt_bulk_wait(Simt *s, const Op *op) {
    V is_read = simt_i32(s, op->attr.is_read);
    if (!plant(PLANT_STORE_WAIT)) prim_call(s, PRIM_BULK_WAIT, &is_read, 1);
}

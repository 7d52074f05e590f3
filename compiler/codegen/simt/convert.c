/* convert.c - the same elements in other threads or registers: convert_layout, broadcast, and reshape and its kin.
 *
 * In: a tile and the layout wanted. Out: its slots there; what crosses warps was made explicit by an earlier pass.
 * Method: the plan says where each destination register's element lies. Where the source register depends on the
 * thread, every candidate is fetched (by shuffle, if the lane differs) and the thread's own bits select.
 */
#include "codegen/simt/simt.h"

/* One field of the plan's source as a function of the thread. */
static V source_map(Simt *s, const ConvertPlan *p, InDim field, bool *is_own) {
    ThreadMap map = {0};
    uint32_t lanes = p->to->bits[IN_LANE];
    *is_own = true;
    for (uint32_t i = 0; i < lanes; i++) {
        map.thread[i] = p->source[IN_LANE][i].at[field];
        *is_own &= map.thread[i] == UINT32_C(1) << i;
    }
    for (uint32_t i = 0; i < p->to->bits[IN_WARP]; i++) {
        map.thread[lanes + i] = p->source[IN_WARP][i].at[field];
        *is_own &= map.thread[lanes + i] == 0;
    }
    for (uint32_t i = 0; i < p->to->bits[IN_CTA]; i++) {
        map.cta[i] = p->source[IN_CTA][i].at[field];
        *is_own &= map.cta[i] == 0;
    }
    return simt_map(s, &map);
}

/* The value of x in the lane: `constant` ^ own, or ^ a function of the thread. */
static V fetch(Simt *s, DType d, V x, uint32_t constant, V lane, bool is_own) {
    if (is_own && !constant) return x;
    if (is_own) return simt_shuffle(s, PRIM_SHFL_BFLY, d, x, simt_i32(s, constant ^ plant(PLANT_SHUFFLE_LANE)));
    if (plant(PLANT_SHUFFLE_LANE)) constant ^= 1;
    V from = constant ? LLVMBuildXor(s->m->at, lane, simt_i32(s, constant), "") : lane;
    return simt_shuffle(s, PRIM_SHFL_IDX, d, x, from);
}

static void convert_by_plan(Simt *s, const ConvertPlan *p, DType d, const Tile *x, Tile *r) {
    bool own_lane = true, no_select = true;
    V lane = source_map(s, p, IN_LANE, &own_lane);
    V flips = p->nselect ? source_map(s, p, IN_REGISTER, &no_select) : NULL;
    uint32_t zero_lane = 1;
    for (uint32_t i = 0; i < p->to->bits[IN_REGISTER]; i++) zero_lane &= !p->source[IN_REGISTER][i].at[IN_LANE];
    for (uint32_t reg = 0; reg < r->n; reg++) {
        Owner from = {{0}};
        simt_at(s, reg, 1);
        for (uint32_t i = 0; i < p->to->bits[IN_REGISTER]; i++)
            for (uint32_t k = 0; k < IN_COUNT; k++)
                if (reg >> i & 1) from.at[k] ^= p->source[IN_REGISTER][i].at[k];
        if (p->nselect == 0 && own_lane && !from.at[IN_LANE]) {
            r->at[reg] = x->at[from.at[IN_REGISTER]];
            continue;
        }
        V chosen = NULL;
        for (uint32_t c = 0; c < UINT32_C(1) << p->nselect; c++) {
            uint32_t flip = 0;
            for (uint32_t i = 0; i < p->nselect; i++) flip ^= c >> i & 1 ? p->select[i] : 0;
            V y = fetch(s, d, tile_slot(s, x, from.at[IN_REGISTER] ^ flip), from.at[IN_LANE], lane, own_lane);
            V is_it = c ? LLVMBuildICmp(s->m->at, LLVMIntEQ, flips, simt_i32(s, flip), "") : NULL;
            chosen = c ? LLVMBuildSelect(s->m->at, is_it, y, chosen, "") : y;
        }
        r->at[reg].base = chosen;
    }
    if (zero_lane && own_lane && !p->nselect) {
        r->lo = x->lo;
        r->hi = x->hi;
    }
}

void simt_convert(Simt *s, const Op *op, bool broadcast) {
    const Value *from = op->args[0];
    Value *v = op->results[0];
    Tile r = tile_create(s, tile_registers(v));
    ConvertPlan plan;
    if (broadcast)
        convert_broadcast(from->type.layout, v->type.layout, &plan);
    else
        convert_plan(from->type.layout, v->type.layout, &plan);
    if (plan.kind > CONVERT_SHUFFLE)
        bug("%s: a %s exchange was left implicit", op_info[op->kind].name, convert_name(plan.kind));
    convert_by_plan(s, &plan, v->type.dtype, tile_of(s, from), &r);
    s->values[v->id] = r;
}

/* Registers as the operands have them, in the order of op_moved_layout. */
static Tile moved_registers(Simt *s, const Op *op) {
    const Tile *x = tile_of(s, op->args[0]);
    uint32_t bit = 0;
    if (op->kind == OP_JOIN) {
        const Tile *y = tile_of(s, op->args[1]);
        Tile r = tile_create(s, 2 * x->n);
        for (uint32_t i = 0; i < r.n; i++) r.at[i] = (i & 1 ? y : x)->at[i >> 1];
        return r;
    }
    if (op->kind != OP_SPLIT) return *x;
    if (!layout_split(s->f->layouts, op->args[0]->type.layout, &bit)) bug("split: not along a register");
    Tile r = tile_create(s, x->n / 2);
    uint32_t low = (1u << bit) - 1;
    for (uint32_t i = 0; i < r.n; i++)
        r.at[i] = x->at[(i & low) | ((i & ~low) << 1) | op->attr.half << bit];
    r.lo = x->lo;
    r.hi = x->hi;
    return r;
}

void simt_move(Simt *s, const Op *op) {
    const Layout *from = op->args[0]->type.layout;
    Value *v = op->results[0];
    Tile x = moved_registers(s, op);
    if (!value_is_tile(v)) x.n = 1; /* of one element, all registers are the same */
    const Layout *own =
        value_is_tile(v) ? op_moved_layout(s->f->layouts, op->kind, op->attr, from, v->type.shape) : NULL;
    if (own == v->type.layout) {
        s->values[v->id] = x;
        return;
    }
    Tile r = tile_create(s, tile_registers(v));
    ConvertPlan plan;
    convert_plan(own, v->type.layout, &plan);
    if (plan.kind > CONVERT_REGISTERS) bug("%s: elements would leave their threads", op_info[op->kind].name);
    convert_by_plan(s, &plan, v->type.dtype, &x, &r);
    s->values[v->id] = r;
}

/* A part that each thread holds: its registers. */
void simt_slice(Simt *s, const Op *op) {
    const Tile *x = tile_of(s, op->args[0]);
    Value *v = op->results[0];
    ConvertPlan plan;
    uint32_t begin;
    if (!slice_in_registers(s->f->layouts, op, &plan, &begin)) bug("extract_slice was left as one op");
    Tile r = tile_create(s, tile_registers(v)), from = tile_create(s, x->n);
    for (uint32_t i = 0; i < x->n; i++) from.at[i] = x->at[i ^ begin];
    convert_by_plan(s, &plan, v->type.dtype, &from, &r);
    s->values[v->id] = r;
}

/* Each element from the owner that lies as far from its own as the mask says: another register, another lane. */
void simt_flip(Simt *s, const Op *op) {
    const Tile *x = tile_of(s, op->args[0]);
    Value *v = op->results[0];
    Tile r = tile_create(s, x->n);
    Owner from = layout_owner(v->type.layout, op->attr.flip);
    if (from.at[IN_WARP] || from.at[IN_CTA]) bug("flip: an exchange across warps was left implicit");
    for (uint32_t reg = 0; reg < r.n; reg++) {
        r.at[reg] = x->at[reg ^ from.at[IN_REGISTER]];
        if (!from.at[IN_LANE]) continue;
        V own = tile_slot(s, x, reg ^ from.at[IN_REGISTER]);
        r.at[reg] = (Slot){.base = fetch(s, v->type.dtype, own, from.at[IN_LANE], NULL, true)};
    }
    s->values[v->id] = r;
}

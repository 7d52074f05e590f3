/* remark.c - remarks of performance (-Rperf): what costs time here, and because of what.
 *
 * In: a function behind the whole pipeline for GPUs. Out: remarks: accesses of one element at a time, or of fewer than
 * are aligned; threads without work; programs of one warp that cannot share a block. The reason is read off what proved
 * too little: the facts about the address, then the parts of it.
 */
#include "passes/private.h"

typedef struct Remarks {
    const Func *f;
    const Facts *facts;
    Diag *d;
    uint32_t most;    /* bytes of an access */
    const Op *widest; /* the access of the most elements */
} Remarks;

static const char *param_name(const Remarks *r, const Value *v) {
    return r->f->params.at[v->index].name;
}

static bool is_index(OpKind k) {
    return k == OP_ARANGE || k == OP_ROTATED || k == OP_MOVED;
}

/* The addresses are no neighbours along any axis: what lies between them. */
static const char *distance(const Remarks *r, const Parts *p) {
    for (uint32_t i = 0; i < p->len; i++) {
        const Part *part = &p->at[i];
        if (!part->v->def || !is_index(part->v->def->kind)) continue;
        if (part->by[0])
            return arena_printf(r->f->arena, "neighbours are '%s' elements apart", param_name(r, part->by[0]));
        if (part->scale != 1)
            return arena_printf(r->f->arena, "neighbours are %" PRId64 " elements apart", part->scale);
    }
    return "its addresses are not known to be neighbours along any axis";
}

/* They are neighbours, and begin anywhere: the part of the address that is not known to be a multiple of `want`
 * elements. */
static const char *misaligned(const Remarks *r, const Value *param, const Parts *p, uint32_t want, uint32_t bytes) {
    uint32_t aligned = r->f->params.at[param->index].divisible;
    if (aligned < want * bytes)
        return arena_printf(r->f->arena, "'%s' is only known to be aligned to %u bytes", param_name(r, param),
                            aligned ? aligned : 1);
    for (uint32_t i = 0; i < p->len; i++) {
        const Part *part = &p->at[i];
        const Value *v = part->by[0] ? part->by[0] : part->v;
        uint64_t divisible = fact_of(r->facts, v)->divisible[0];
        if (part->by[0]) divisible *= fact_of(r->facts, part->v)->divisible[0];
        if ((divisible * (uint64_t)part->scale) % want == 0) continue;
        if (value_is_param(v))
            return arena_printf(r->f->arena, "'%s' is not known to be a multiple of %u", param_name(r, v), want);
    }
    return p->constant % want
               ? arena_printf(r->f->arena, "it begins at element %" PRId64 " of a vector", p->constant & (want - 1))
               : "its first element is not known to be aligned";
}

static const char *reason(const Remarks *r, const Op *op) {
    const Value *ptr = op->args[0];
    const Fact *fact = fact_of(r->facts, ptr);
    uint32_t best = 0, bytes = type_bytes(type_scalar(ptr->type.pointee));
    for (uint32_t d = 1; d < ptr->type.shape.rank; d++) {
        if (fact->contiguous[d] >= fact->contiguous[best]) best = d;
    }
    Parts p;
    const Value *param = address_parts(ptr, 1, &p);
    if (fact->contiguous[best] < 2) return param ? distance(r, &p) : "its pointer comes out of a loop or branch";
    uint32_t want = 16 / bytes < fact->contiguous[best] ? 16 / bytes : fact->contiguous[best];
    if (fact->divisible[best] >= 2 * bytes)
        return "its layout, which other accesses of this shape chose, goes along another axis";
    return param ? misaligned(r, param, &p, want, bytes) : "its pointer comes out of a loop or branch";
}

static void visit(void *context, Op *op) {
    Remarks *r = context;
    if (!op_is_access(op->kind) || op_is_atomic(op->kind) || !value_is_tile(op->args[0])) return;
    const Layout *l = op->args[0]->type.layout;
    uint32_t bytes = type_bytes(type_scalar(op->args[0]->type.pointee));
    if (!r->widest || shape_log2(l->shape) > shape_log2(r->widest->args[0]->type.shape)) r->widest = op;
    uint32_t vec = op->attr.mem.vec_log2, axis = access_axis(r->facts, op->args[0]),
             run = facts_vector(r->facts, op->args[0], axis, r->most);
    bool is_along = l->bits[IN_LANE] && l->basis[IN_LANE][0] == 1u << (shape_offset(l->shape, axis) + vec);
    if (layout_registers(l) == 1) return;
    if (run > vec && is_along && !op->attr.mem.is_rotated) diag(r->d, op->span, R_OUTVOTED, 1u << vec, 1u << run);
    else if (vec == 0 && bytes < r->most) diag(r->d, op->span, R_SCALAR, reason(r, op));
}

void remark_function(const Func *f, const Target *t, Diag *d) {
    Arena *scratch = arena_create();
    Remarks r = {f, facts_compute(f, scratch), d, t->max_vector_bytes, NULL};
    func_walk((Func *)(uintptr_t)f, visit, &r);
    arena_destroy(scratch);
    uint64_t elements = r.widest ? 1ull << shape_log2(r.widest->args[0]->type.shape) : 0;
    if (elements && elements < f->threads_per_program) {
        diag(d, r.widest->span, R_LANES, elements, f->threads_per_program);
        diag_note(d, r.widest->span, "a tile of several rows, or fewer warps, would use them");
    }
    if (f->threads_per_program == t->warp_threads && f->programs_per_block <= 1 && f->blocks_per_program <= 1)
        diag(d, f->span, R_UNPACKED,
             f->shared_bytes ? "they use shared memory" : "they wait at a barrier of the block");
}

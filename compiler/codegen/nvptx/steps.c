/* steps.c - integers that differ by a multiple of a stride are made by a step from one to the next.
 *
 * In: the kernel behind our run of LLVM's passes. Out: the same values. Where a thread's registers have the addresses
 * p + (row + c) * stride, the first takes a multiplication and each further one a sum.
 * Method: each integer is a form, base + times * stride. Bases are numbered, so that equal ones have one number. What
 * has the base of an earlier value of the block becomes that value and the difference. Where addresses stand in
 * another order than their accesses, integers first go to their use: a step leads to the next access. All is looked up
 * in a hash table, so time grows with the kernel's length; LLVM's own pass for it compares pairs, and llvm.c turns it
 * off. What changes with a loop's rounds stays as it is: LLVM's loop strength reduction carries such addresses.
 */
#include <string.h>

#include "codegen/nvptx/nvptx.h"

/* base + times * stride, in the value's own width; `stride` NULL: 1. */
typedef struct Form {
    uint32_t base;
    int64_t times;
    V stride;
    bool changes; /* with the rounds of a loop, or it may */
} Form;

/* What a key of the table means; behind the arrow what it holds. */
typedef enum Kind {
    OF_OP = 1, /* operation, base, base or number → a base */
    OF_VALUE,  /* value → the base that is just this value */
    FORM,      /* value → its place in `values` */
    LAST,      /* block, base, type → the place in `values` of the last value there */
    PRODUCT,   /* block, stride, times → the place in `products` */
    PLACE,     /* address → the how many-th of its block it is */
} Kind;

typedef struct Entry {
    uint64_t key[4]; /* the kind first; 0: the entry is free */
    uint32_t held;
} Entry;

typedef struct Known {
    V value;
    Form form;
} Known;

typedef struct Steps {
    Llvm *m;
    Arena *arena;
    Entry *at;
    uint32_t used, mask; /* of entries: a power of two, less one */
    uint32_t bases;
    VEC(Known) values;
    VEC(V) products;
    LLVMBasicBlockRef block;
} Steps;

/* ---- The table --------------------------------------------------------------------------------------------------- */

static uint32_t hash_of(const uint64_t *key) {
    uint64_t h = 0;
    for (int i = 0; i < 4; i++) {
        h = (h ^ key[i]) * UINT64_C(0x9e3779b97f4a7c15);
        h ^= h >> 29;
    }
    return (uint32_t)h;
}

static Entry *entry_of(const Steps *s, const uint64_t *key) {
    uint32_t i = hash_of(key) & s->mask;
    while (s->at[i].key[0] && memcmp(s->at[i].key, key, sizeof s->at[i].key)) i = (i + 1) & s->mask;
    return &s->at[i];
}

static void grow(Steps *s) {
    Entry *old = s->at;
    uint32_t places = old ? s->mask + 1 : 0;
    s->mask = places ? 2 * places - 1 : 1023;
    s->at = NEW_ARRAY(s->arena, Entry, s->mask + 1);
    for (uint32_t i = 0; i < places; i++)
        if (old[i].key[0]) *entry_of(s, old[i].key) = old[i];
}

/* What the table holds under a key; where it has none, `fresh` from here on, and *is_new. Until the next call. */
static uint32_t *held(Steps *s, Kind kind, uint64_t a, uint64_t b, uint64_t c, uint32_t fresh, bool *is_new) {
    if (!s->at || s->used * 2 > s->mask) grow(s);
    uint64_t key[] = {kind, a, b, c};
    Entry *e = entry_of(s, key);
    *is_new = !e->key[0];
    if (*is_new) {
        memcpy(e->key, key, sizeof key);
        e->held = fresh;
        s->used++;
    }
    return &e->held;
}

static uint32_t base_of(Steps *s, Kind kind, uint64_t a, uint64_t b, uint64_t c) {
    bool is_new;
    uint32_t base = *held(s, kind, a, b, c, s->bases, &is_new);
    s->bases += is_new;
    return base;
}

/* ---- Forms ------------------------------------------------------------------------------------------------------- */

static void know(Steps *s, V x, Form f) {
    bool is_new;
    *held(s, FORM, (uintptr_t)x, 0, 0, 0, &is_new) = s->values.len;
    vec_push(s->arena, &s->values, ((Known){x, f}));
}

static uint32_t number_base(Steps *s) {
    return base_of(s, OF_VALUE, 0, 0, 0);
}

/* Of an operand. An instruction that was not met yet stands in a block that is listed later. */
static Form form_of(Steps *s, V x) {
    if (LLVMIsAConstantInt(x)) return (Form){.base = number_base(s), .times = LLVMConstIntGetSExtValue(x)};
    bool is_new;
    uint32_t place = *held(s, FORM, (uintptr_t)x, 0, 0, s->values.len, &is_new);
    if (!is_new) return s->values.at[place].form;
    Form f = {.base = base_of(s, OF_VALUE, (uintptr_t)x, 0, 0), .changes = LLVMIsAInstruction(x)};
    vec_push(s->arena, &s->values, ((Known){x, f}));
    return f;
}

static Form just(Steps *s, V x) {
    Form f = {.base = base_of(s, OF_VALUE, (uintptr_t)x, 0, 0), .changes = LLVMIsAPHINode(x)};
    int operands = LLVMIsAInstruction(x) && !f.changes ? LLVMGetNumOperands(x) : 0;
    for (int i = 0; i < operands && !f.changes; i++) {
        V operand = LLVMGetOperand(x, (unsigned)i);
        f.changes = LLVMIsAInstruction(operand) && form_of(s, operand).changes;
    }
    return f;
}

static uint32_t base_of_two(Steps *s, LLVMOpcode op, uint32_t x, uint32_t y) {
    return base_of(s, OF_OP, op, x < y ? x : y, x < y ? y : x);
}

static Form sum_of(Steps *s, V at) {
    V a = LLVMGetOperand(at, 0), b = LLVMGetOperand(at, 1);
    Form x = form_of(s, a), y = form_of(s, b);
    bool changes = x.changes || y.changes;
    if (y.base == number_base(s)) return x.stride ? just(s, at) : (Form){x.base, x.times + y.times, NULL, changes};
    if (x.times && y.times && x.stride != y.stride) {
        if (x.stride) y = just(s, b);
        else x = just(s, a);
    }
    uint32_t base = base_of_two(s, LLVMAdd, x.base, y.base);
    return (Form){base, x.times + y.times, x.times ? x.stride : y.stride, changes};
}

static Form times_number(Steps *s, Form x, int64_t number) {
    int64_t times = (int64_t)((uint64_t)x.times * (uint64_t)number);
    return (Form){base_of(s, OF_OP, LLVMShl, x.base, (uint64_t)number), times, x.stride, x.changes};
}

/* (base + times) * y: base * y + times * y. */
static Form product_of(Steps *s, V at) {
    V a = LLVMGetOperand(at, 0), b = LLVMGetOperand(at, 1);
    Form x = form_of(s, a), y = form_of(s, b);
    if (y.base == number_base(s)) return times_number(s, x, y.times);
    if (!x.times || x.stride) {
        V other = a;
        Form form = x;
        a = b, x = y;
        b = other, y = form;
    }
    if (x.stride) return just(s, at);
    if (y.times) y = just(s, b);
    uint32_t base = base_of_two(s, LLVMMul, x.base, y.base);
    return (Form){base, x.times, x.times ? b : NULL, x.changes || y.changes};
}

/* Of x + number, which does not wrap: the extended x, and the number. */
static Form extended(Steps *s, V at, bool is_signed) {
    V x = LLVMGetOperand(at, 0);
    LLVMOpcode op = LLVMIsAInstruction(x) ? LLVMGetInstructionOpcode(x) : LLVMRet;
    bool is_sum = op == LLVMAdd && (is_signed ? LLVMGetNSW(x) : LLVMGetNUW(x));
    bool keeps = is_sum || (op == LLVMOr && LLVMGetIsDisjoint(x));
    V number = keeps && LLVMIsAConstantInt(LLVMGetOperand(x, 1)) ? LLVMGetOperand(x, 1) : NULL;
    if (number) x = LLVMGetOperand(x, 0);
    Form f = just(s, x);
    LLVMOpcode extend = is_signed ? LLVMSExt : LLVMZExt;
    f.base = base_of(s, OF_OP, extend, f.base, LLVMGetIntTypeWidth(LLVMTypeOf(at)));
    if (number && is_signed) f.times = LLVMConstIntGetSExtValue(number);
    else if (number) f.times = (int64_t)LLVMConstIntGetZExtValue(number);
    return f;
}

static Form shifted(Steps *s, V at) {
    V distance = LLVMGetOperand(at, 1);
    if (!LLVMIsAConstantInt(distance) || LLVMConstIntGetZExtValue(distance) > 62) return just(s, at);
    return times_number(s, form_of(s, LLVMGetOperand(at, 0)), INT64_C(1) << LLVMConstIntGetZExtValue(distance));
}

static Form make_form(Steps *s, V at) {
    switch (LLVMGetInstructionOpcode(at)) {
    case LLVMAdd: return sum_of(s, at);
    case LLVMOr: return LLVMGetIsDisjoint(at) ? sum_of(s, at) : just(s, at);
    case LLVMMul: return product_of(s, at);
    case LLVMShl: return shifted(s, at);
    case LLVMSExt: return extended(s, at, true);
    case LLVMZExt: return extended(s, at, LLVMGetNNeg(at));
    default: return just(s, at);
    }
}

/* ---- Steps ------------------------------------------------------------------------------------------------------- */

static V product(Steps *s, V stride, int64_t times) {
    if (times == 1) return stride;
    bool is_new;
    uint32_t place =
        *held(s, PRODUCT, (uintptr_t)s->block, (uintptr_t)stride, (uint64_t)times, s->products.len, &is_new);
    if (is_new)
        vec_push(s->arena, &s->products,
                 LLVMBuildMul(s->m->at, stride, llvm_int(LLVMTypeOf(stride), times), ""));
    return s->products.at[place];
}

/* `at`, of form f, from the last value of the block with its base; NULL where there is none, or nothing to step over.
 * `at` is about to be known, and the last one from here on. */
static V step_to(Steps *s, V at, Form f) {
    bool is_new;
    uint32_t *place =
        held(s, LAST, (uintptr_t)s->block, f.base, (uintptr_t)LLVMTypeOf(at), s->values.len, &is_new);
    Known last = is_new ? (Known){at, f} : s->values.at[*place];
    *place = s->values.len;
    V stride = f.stride ? f.stride : last.form.stride;
    bool agree = !f.times || !last.form.times || f.stride == last.form.stride;
    if (!agree || !stride || f.times == last.form.times) return NULL;
    LLVMPositionBuilderBefore(s->m->at, at);
    return LLVMBuildAdd(s->m->at, last.value, product(s, stride, f.times - last.form.times), "");
}

static void visit(Steps *s, V at) {
    if (LLVMTypeOf(at) == s->m->none) return;
    bool is_integer = LLVMTypeOf(at) == s->m->i32 || LLVMTypeOf(at) == s->m->i64;
    Form f = is_integer ? make_form(s, at) : just(s, at);
    if (LLVMTypeOf(at) == s->m->i32) f.times = (int32_t)f.times;
    V made = !is_integer || f.changes ? NULL : step_to(s, at, f);
    if (made) LLVMReplaceAllUsesWith(at, made);
    know(s, made ? made : at, f);
}

/* ---- Where they stand -------------------------------------------------------------------------------------------- */

/* What one instruction of the same block takes, and nobody else. */
static V only_user(V at) {
    LLVMUseRef use = LLVMGetFirstUse(at);
    if (!use || LLVMGetNextUse(use)) return NULL;
    V user = LLVMGetUser(use);
    bool is_near = LLVMGetInstructionParent(user) == LLVMGetInstructionParent(at) && !LLVMIsAPHINode(user);
    return is_near ? user : NULL;
}

static bool is_address(const Steps *s, V x) {
    return LLVMTypeOf(x) == s->m->i64 && LLVMIsABinaryOperator(x) && only_user(x);
}

/* Do addresses of the block stand in another order than the accesses that take them? */
static bool is_backwards(Steps *s, LLVMBasicBlockRef block) {
    uint32_t places = 0, last = 0;
    for (V at = LLVMGetFirstInstruction(block); at; at = LLVMGetNextInstruction(at)) {
        bool is_new;
        if (is_address(s, at)) *held(s, PLACE, (uintptr_t)at, 0, 0, 0, &is_new) = ++places;
        int operands = LLVMIsACallInst(at) ? LLVMGetNumOperands(at) : 0;
        for (int i = 0; i < operands; i++) {
            V x = LLVMGetOperand(at, (unsigned)i);
            if (!is_address(s, x)) continue;
            uint32_t place = *held(s, PLACE, (uintptr_t)x, 0, 0, 0, &is_new);
            if (place < last) return true;
            last = place;
        }
    }
    return false;
}

/* Integers go to where they are used. LLVM's instcombine moves what another block made to the head of the block that
 * uses it, the last one first: there steps would go backwards, and all addresses would be alive at once. */
static void stand_at_use(const Steps *s, LLVMBasicBlockRef block) {
    for (V at = LLVMGetLastInstruction(block), before = NULL; at; at = before) {
        before = LLVMGetPreviousInstruction(at);
        bool is_integer = LLVMTypeOf(at) == s->m->i32 || LLVMTypeOf(at) == s->m->i64;
        V user = is_integer && LLVMIsABinaryOperator(at) ? only_user(at) : NULL;
        if (!user) continue;
        LLVMMetadataRef where = LLVMInstructionGetDebugLoc(at);
        LLVMPositionBuilderBefore(s->m->at, user);
        LLVMInstructionRemoveFromParent(at);
        LLVMInsertIntoBuilder(s->m->at, at);
        LLVMInstructionSetDebugLoc(at, where); /* the builder gave it the user's */
    }
}

void nvptx_take_steps(Llvm *m, LLVMValueRef kernel) {
    Steps s = {.m = m, .arena = m->o->arena};
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(kernel); b; b = LLVMGetNextBasicBlock(b)) {
        s.block = b;
        if (is_backwards(&s, b)) stand_at_use(&s, b);
        for (V at = LLVMGetFirstInstruction(b), next = NULL; at; at = next) {
            next = LLVMGetNextInstruction(at);
            visit(&s, at);
        }
    }
}

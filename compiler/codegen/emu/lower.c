/* lower.c - every primitive to a field of the thread or a call of the emulator;
 * the entry with one signature for all kernels.
 *
 * In: a per-thread module. Out: the same module without fsc.* functions.
 * Method: each call of a primitive is replaced at its place by its row of lower.def. The words of an access and
 * the values of tuples travel through one array in the frame; what is called lies in the thread's table
 * (runtime/base/hooks.h).
 */
#include <stddef.h>
#include <string.h>

#include "codegen/emu/emu.h"
#include "layout/mma.h"
#include "runtime/base/hooks.h"

typedef enum RowKind {
    ROW_FIELD,
    ROW_NUMBER,
    ROW_PLAIN,
    ROW_MEET,
    ROW_MEMORY,
    ROW_REMOTE,
    ROW_ATOMIC,
    ROW_SHOW,
    ROW_MATH
} RowKind;

typedef struct Row {
    RowKind kind;
    size_t offset; /* in EmuThread or EmuCalls; or the number */
} Row;

static const Row rows[] = {
#define FIELD(e, field)    [PRIM_##e] = {ROW_FIELD, offsetof(EmuThread, field)},
#define NUMBER(e, x)       [PRIM_##e] = {ROW_NUMBER, x},
#define CALL(e, how, call) [PRIM_##e] = {ROW_##how, offsetof(EmuCalls, call)},
#include "codegen/emu/lower.def"
#undef FIELD
#undef NUMBER
#undef CALL
};

/* A primitive without a row does not compile. */
enum {
#define FIELD(e, ...)  HAS_##e,
#define NUMBER(e, ...) HAS_##e,
#define CALL(e, ...)   HAS_##e,
#include "codegen/emu/lower.def"
#undef FIELD
#undef NUMBER
#undef CALL
    ROW_COUNT
};
#define PRIM(e, ...) _Static_assert((int)HAS_##e == (int)PRIM_##e, "lower.def: the rows follow prims.def");
#include "codegen/prims.def"
#undef PRIM
_Static_assert((int)ROW_COUNT == (int)PRIM_COUNT, "lower.def: one row per primitive");

typedef struct Emu {
    Llvm *m;
    V thread, words; /* the kernel's thread; room for the words of any one call */
    uint32_t calls, accesses; /* numbered so far */
} Emu;

static V at_offset(Emu *e, V base, size_t offset) {
    V index = llvm_int(e->m->i64, (int64_t)offset);
    return LLVMBuildInBoundsGEP2(e->m->at, e->m->i8, base, &index, 1, "");
}

static V call(Emu *e, const Row *row, LLVMTypeRef result, V *args, uint32_t n) {
    LLVMTypeRef *types = NEW_ARRAY(e->m->o->arena, LLVMTypeRef, n + 1);
    for (uint32_t i = 0; i < n; i++) types[i] = LLVMTypeOf(args[i]);
    V table = LLVMBuildLoad2(e->m->at, e->m->ptr, at_offset(e, e->thread, offsetof(EmuThread, calls)), "");
    V function = LLVMBuildLoad2(e->m->at, e->m->ptr, at_offset(e, table, row->offset), "");
    return LLVMBuildCall2(e->m->at, LLVMFunctionType(result, types, n, 0), function, args, n, "");
}

static void set_field(Emu *e, size_t offset, V value) {
    LLVMBuildStore(e->m->at, value, at_offset(e, e->thread, offset));
}

/* Code that counts says which access instruction comes. */
static void number_access(Emu *e) {
    if (e->m->o->count) set_field(e, offsetof(EmuThread, access), llvm_int(e->m->i32, e->accesses++));
}

static V word_slot(Emu *e, uint32_t i) {
    return at_offset(e, e->words, i * sizeof(uint64_t));
}

/* The results as the primitive gives them: a word, or a struct of words. */
static V read_words(Emu *e, Access a, LLVMTypeRef result) {
    LLVMTypeRef word = LLVMIntTypeInContext(e->m->context, a.bits);
    V all = a.words > 1 ? LLVMGetPoison(result) : NULL;
    for (uint32_t i = 0; i < a.words; i++) {
        V x = LLVMBuildLoad2(e->m->at, e->m->i64, word_slot(e, i), "");
        x = a.bits < 64 ? LLVMBuildTrunc(e->m->at, x, word, "") : x;
        all = all ? LLVMBuildInsertValue(e->m->at, all, x, i, "") : x;
    }
    return all;
}

static void write_word(Emu *e, uint32_t i, V x) {
    LLVMTypeRef word = e->m->i64;
    LLVMBuildStore(e->m->at, LLVMTypeOf(x) == word ? x : LLVMBuildZExt(e->m->at, x, word, ""), word_slot(e, i));
}

static void write_words(Emu *e, Access a, const V *in) {
    for (uint32_t i = 0; i < a.words; i++) write_word(e, i, in[i]);
}

/* Operands: address, predicate and words unless it is a load of shared memory, policy if it is global, site. */
static V lower_memory(Emu *e, Prim p, Access a, const V *in, LLVMTypeRef result) {
    Llvm *m = e->m;
    bool is_global = p == PRIM_LOAD_GLOBAL || p == PRIM_STORE_GLOBAL, is_plain = p == PRIM_LOAD_SHARED;
    const V none[] = {llvm_int(m->i64, 0), llvm_int(m->i64, 0), llvm_int(m->i64, 0), llvm_int(m->i64, 0)};
    uint32_t next = 1;
    V address = is_global ? in[0] : LLVMBuildZExt(m->at, in[0], m->i64, "");
    V predicate = is_plain ? llvm_int(m->i32, 1) : LLVMBuildZExt(m->at, in[next++], m->i32, "");
    write_words(e, a, is_plain ? none : in + next);
    if (!is_plain) next += a.words;
    EmuAccess access = {(uint8_t)a.words, (uint8_t)(a.bits / 8), false};
    if (is_global) access.is_volatile = policy_unpack(LLVMConstIntGetZExtValue(in[next++])).is_volatile;
    V args[] = {e->thread, address, predicate, e->words, llvm_int(m->i32, emu_access_pack(access)), in[next]};
    number_access(e);
    call(e, &rows[p], m->none, args, COUNT(args));
    return p == PRIM_LOAD_GLOBAL || p == PRIM_LOAD_SHARED ? read_words(e, a, result) : NULL;
}

/* Operands: offset, perhaps that of the mbarrier, block, predicate, words, site. */
static V lower_remote(Emu *e, Prim p, Access a, const V *in) {
    Llvm *m = e->m;
    EmuAccess access = {(uint8_t)a.words, (uint8_t)(a.bits / 8), false};
    V args[8] = {e->thread, LLVMBuildZExt(m->at, in[0], m->i64, "")};
    uint32_t n = 2, next = 1;
    if (p == PRIM_STORE_ASYNC) args[n++] = in[next++];
    args[n++] = in[next++];
    args[n++] = LLVMBuildZExt(m->at, in[next++], m->i32, "");
    write_words(e, a, in + next);
    args[n++] = e->words;
    args[n++] = llvm_int(m->i32, emu_access_pack(access));
    args[n++] = in[next + a.words];
    number_access(e);
    return call(e, &rows[p], m->none, args, n);
}

static const uint8_t emu_op[] = {
#define ATOMIC(e, ...) [ATOMIC_##e] = EMU_##e,
#include "ir/atomic.def"
#undef ATOMIC
};

/* Operands: address, predicate, values, code, site. The word before comes back in the first place. */
static V lower_atomic(Emu *e, Prim p, Access a, const V *in, LLVMTypeRef result) {
    Llvm *m = e->m;
    uint32_t values = p == PRIM_ATOMIC_CAS ? 2 : 1;
    for (uint32_t i = 0; i < values; i++) write_word(e, i, in[2 + i]);
    AtomicCode c = atomic_unpack(LLVMConstIntGetZExtValue(in[2 + values]));
    EmuAtomic what = {.op = p == PRIM_ATOMIC_CAS ? EMU_CAS : emu_op[c.op],
                      .bytes = (uint8_t)(a.bits / 8),
                      .acquires = order_acquires(c.order),
                      .releases = order_releases(c.order),
                      .is_block = c.reach == REACH_CTA};
    V predicate = LLVMBuildZExt(m->at, in[1], m->i32, ""), packed = llvm_int(m->i32, emu_atomic_pack(what));
    V args[] = {e->thread, in[0], predicate, e->words, packed, in[3 + values]};
    number_access(e);
    call(e, &rows[p], m->none, args, COUNT(args));
    return read_words(e, a, result);
}

/* The program is the thread's own; begin has no operands. */
static V lower_show(Emu *e, Prim p, const V *in) {
    Llvm *m = e->m;
    const DebugNote *n =
        p == PRIM_PRINT_BEGIN ? NULL : &m->notes.at[LLVMConstIntGetZExtValue(in[p == PRIM_PRINT ? 5 : 4])];
    V args[6] = {e->thread};
    uint32_t count = 1;
    if (n) args[count++] = LLVMBuildGlobalStringPtr(m->at, n->text, "");
    if (p == PRIM_PRINT)
        args[count++] = n->format ? LLVMBuildGlobalStringPtr(m->at, n->format, "") : LLVMConstNull(m->ptr);
    if (n) args[count++] = llvm_int(m->i64, (int64_t)debug_shape_pack(n->shape.rank, n->shape.log2));
    if (n) args[count++] = in[3];
    if (n) args[count++] = p == PRIM_PRINT ? in[4] : in[5];
    return call(e, &rows[p], m->none, args, count);
}

/* ---- Tuples: one value a word, those of all operands one behind the other ---------------------------------------- */

static void write_value(Emu *e, uint32_t i, V x) {
    LLVMTypeRef t = LLVMTypeOf(x);
    if (t == e->m->f32) x = LLVMBuildBitCast(e->m->at, x, e->m->i32, "");
    if (t == e->m->f64) x = LLVMBuildBitCast(e->m->at, x, e->m->i64, "");
    write_word(e, i, x);
}

static uint32_t write_tuple(Emu *e, uint32_t first, V tuple) {
    const V *values = tuple_values(e->m, tuple);
    uint32_t n = tuple_length(LLVMTypeOf(tuple));
    for (uint32_t i = 0; i < n; i++) write_value(e, first + i, values[i]);
    return first + n;
}

static V read_tuple(Emu *e, LLVMTypeRef t) {
    uint32_t n = tuple_length(t);
    V *values = NEW_ARRAY(e->m->o->arena, V, n);
    for (uint32_t i = 0; i < n; i++)
        values[i] = LLVMBuildLoad2(e->m->at, LLVMStructGetTypeAtIndex(t, i), word_slot(e, i), "");
    return tuple_make(e->m, values, n);
}

/* Operands of `call`: the thread; the words, if the primitive has tuples; its other operands, truth values as 32 bits;
 * room for one more. The result's tuple comes back from the words' beginning. */
static V *plain_operands(Emu *e, const V *in, uint32_t n, LLVMTypeRef result, uint32_t *count) {
    V *args = NEW_ARRAY(e->m->o->arena, V, n + 3);
    bool has_tuple = tuple_is(result);
    uint32_t words = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (!tuple_is(LLVMTypeOf(in[i]))) continue;
        words = write_tuple(e, words, in[i]);
        has_tuple = true;
    }
    *count = 0;
    args[(*count)++] = e->thread;
    if (has_tuple) args[(*count)++] = e->words;
    for (uint32_t i = 0; i < n; i++) {
        LLVMTypeRef t = LLVMTypeOf(in[i]);
        if (!tuple_is(t)) args[(*count)++] = t == e->m->i1 ? LLVMBuildZExt(e->m->at, in[i], e->m->i32, "") : in[i];
    }
    return args;
}

/* Matrix instructions, for those who do not know the compiler's table. */
static const uint8_t elements[] = {
    [MMA_F16] = EMU_F16, [MMA_BF16] = EMU_BF16, [MMA_TF32] = EMU_TF32, [MMA_E4M3] = EMU_E4M3, [MMA_E5M2] = EMU_E5M2,
    [MMA_S8] = EMU_S8,   [MMA_U8] = EMU_U8,     [MMA_F64] = EMU_F64,   [MMA_F32] = EMU_F32,   [MMA_S32] = EMU_S32};

static V spelled(const Emu *e, V instruction) {
    const MmaInfo *i = &mma_info[LLVMConstIntGetZExtValue(instruction)];
    return llvm_int(e->m->i32, emu_mma_pack((EmuMma){elements[i->types[MMA_A]], elements[i->types[MMA_B]],
                                                     elements[i->types[MMA_C]], i->m, i->n, i->k}));
}

static V spelled_group(const Emu *e, V sums, V instruction) {
    GroupCode c = group_unpack(LLVMConstIntGetZExtValue(instruction));
    const MmaInfo *i = &mma_info[c.instr];
    uint32_t n = 2 * tuple_length(LLVMTypeOf(sums));
    return llvm_int(e->m->i32, emu_group_pack((EmuGroup){elements[i->types[MMA_A]], elements[i->types[MMA_B]],
                                                         (uint16_t)n, c.is_across_a, c.is_across_b, c.is_first}));
}

static V lower_plain(Emu *e, Prim p, V *in, uint32_t n, LLVMTypeRef result) {
    uint32_t count;
    if (p == PRIM_MMA) in[3] = spelled(e, in[3]);
    if (p == PRIM_WGMMA || p == PRIM_WGMMA_HELD) in[3] = spelled_group(e, in[0], in[3]);
    if (p == PRIM_COPY_ASYNC) {
        in[3] = LLVMBuildSelect(e->m->at, in[3], in[4], LLVMConstNull(e->m->i32), "");
        memmove(in + 4, in + 5, (--n - 4) * sizeof *in);
    }
    V *args = plain_operands(e, in, n, result, &count);
    if (p == PRIM_COPY_ASYNC || p == PRIM_LDMATRIX || p == PRIM_STMATRIX) number_access(e);
    if (rows[p].kind == ROW_MEET) args[count++] = llvm_int(e->m->i32, e->calls++);
    if (!tuple_is(result)) return call(e, &rows[p], result, args, count);
    call(e, &rows[p], e->m->none, args, count);
    return read_tuple(e, result);
}

static V lower_call(void *context, Prim p, Access a, V old, V *in, uint32_t n) {
    Emu *e = context;
    LLVMTypeRef result = LLVMTypeOf(old);
    const Row *row = &rows[p];
    switch (row->kind) {
    case ROW_FIELD: return LLVMBuildLoad2(e->m->at, result, at_offset(e, e->thread, row->offset), "");
    case ROW_MEMORY: return lower_memory(e, p, a, in, result);
    case ROW_REMOTE: return lower_remote(e, p, a, in);
    case ROW_ATOMIC: return lower_atomic(e, p, a, in, result);
    case ROW_SHOW: return lower_show(e, p, in);
    case ROW_MATH: return call(e, row, result, in, n);
    case ROW_PLAIN:
    case ROW_MEET: return lower_plain(e, p, in, n, result);
    case ROW_NUMBER: return result == e->m->none ? NULL : llvm_int(result, (int64_t)row->offset);
    }
    bug("emu: primitive %s", prim_info[p].name);
}

/* Words that one call of the primitive takes or gives: those of an access, or one for each value of its tuples. */
static uint32_t words_of(LLVMValueRef function) {
    LLVMTypeRef t = LLVMGlobalGetValueType(function), result = LLVMGetReturnType(t);
    uint32_t n = LLVMCountParams(function), words = 0, given = tuple_is(result) ? tuple_length(result) : 0;
    for (uint32_t i = 0; i < n; i++) {
        LLVMTypeRef p = LLVMTypeOf(LLVMGetParam(function, i));
        words += tuple_is(p) ? tuple_length(p) : 0;
    }
    return words > given ? words : given;
}

/* What no call needs more of; an access has four at most. */
static uint32_t most_words(const Llvm *m) {
    uint32_t most = 4;
    for (LLVMValueRef f = LLVMGetFirstFunction(m->module); f; f = LLVMGetNextFunction(f)) {
        uint32_t words = words_of(f);
        if (LLVMIsDeclaration(f) && words > most) most = words;
    }
    return most;
}

/* fsc_thread(thread, args): each argument is read through its pointer. */
static void make_entry(Llvm *m, LLVMValueRef kernel) {
    LLVMTypeRef params[] = {m->ptr, m->ptr};
    LLVMValueRef entry = LLVMAddFunction(m->module, EMU_ENTRY, LLVMFunctionType(m->none, params, 2, 0));
    LLVMPositionBuilderAtEnd(m->at, LLVMAppendBasicBlockInContext(m->context, entry, ""));
    LLVMSetCurrentDebugLocation2(m->at, NULL);
    uint32_t n = LLVMCountParams(kernel);
    V *args = NEW_ARRAY(m->o->arena, V, n);
    args[0] = LLVMGetParam(entry, 0);
    for (uint32_t i = 1; i < n; i++) {
        LLVMTypeRef t = LLVMTypeOf(LLVMGetParam(kernel, i));
        V index = llvm_int(m->i64, i - 1);
        V slot = LLVMBuildInBoundsGEP2(m->at, m->ptr, LLVMGetParam(entry, 1), &index, 1, "");
        V at = LLVMBuildLoad2(m->at, m->ptr, slot, "");
        args[i] = t == m->ptr ? at : LLVMBuildLoad2(m->at, t == m->i1 ? m->i8 : t, at, ""); /* of a map its address */
        if (t == m->i1) args[i] = LLVMBuildTrunc(m->at, args[i], t, "");
    }
    LLVMBuildCall2(m->at, LLVMGlobalGetValueType(kernel), kernel, args, n, "");
    LLVMBuildRetVoid(m->at);
    LLVMSetLinkage(kernel, LLVMInternalLinkage);
}

/* Does an edge from this block or a later one lead to it? Blocks are in the order of the source. */
static bool is_loop_head(LLVMBasicBlockRef b) {
    for (LLVMBasicBlockRef from = b; from; from = LLVMGetNextBasicBlock(from)) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(from);
        for (unsigned i = 0; i < LLVMGetNumSuccessors(end); i++)
            if (LLVMGetSuccessor(end, i) == b) return true;
    }
    return false;
}

/* One more turn of the thread's at the head of each loop. */
static void count_turns(Emu *e, LLVMValueRef kernel) {
    Llvm *m = e->m;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(kernel); b; b = LLVMGetNextBasicBlock(b)) {
        if (!is_loop_head(b)) continue;
        LLVMValueRef head = LLVMGetFirstInstruction(b);
        while (LLVMIsAPHINode(head)) head = LLVMGetNextInstruction(head);
        LLVMPositionBuilderBefore(m->at, head);
        V turns = LLVMBuildLoad2(m->at, m->i32, at_offset(e, e->thread, offsetof(EmuThread, turns)), "");
        set_field(e, offsetof(EmuThread, turns), LLVMBuildAdd(m->at, turns, llvm_int(m->i32, 1), ""));
    }
}

void emu_lower(Llvm *m, LLVMValueRef kernel) {
    LLVMPositionBuilderBefore(m->at, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(kernel)));
    LLVMSetCurrentDebugLocation2(m->at, NULL);
    Emu e = {.m = m, .thread = LLVMGetParam(kernel, 0)};
    e.words = LLVMBuildAlloca(m->at, LLVMArrayType2(m->i64, most_words(m)), "words");
    count_turns(&e, kernel);
    prim_lower_all(m, lower_call, &e);
    make_entry(m, kernel);
}

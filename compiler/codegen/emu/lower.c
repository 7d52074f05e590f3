/* lower.c - every primitive to a field of the thread or a call of the emulator;
 * the entry with one signature for all kernels.
 *
 * In: a per-thread module. Out: the same module without fsc.* functions.
 * Method: for each declared fsc.* function, each call is replaced at its place by its row of lower.def. The words of an
 * access travel through one small array in the frame; what is called lies in the thread's table (runtime/base/hooks.h).
 */
#include <stddef.h>

#include "codegen/emu/emu.h"
#include "runtime/base/hooks.h"

typedef enum RowKind {
    ROW_FIELD,
    ROW_MEMORY,
    ROW_REMOTE,
    ROW_ATOMIC,
    ROW_MEET,
    ROW_CALL,
    ROW_NUMBER,
    ROW_NOTHING,
    ROW_SHOW,
    ROW_TELL,
    ROW_MATH
} RowKind;

typedef struct Row {
    RowKind kind;
    size_t offset; /* in EmuThread or EmuCalls; or the number */
} Row;

static const Row rows[] = {
#define FIELD(e, field) [PRIM_##e] = {ROW_FIELD, offsetof(EmuThread, field)},
#define MEMORY(e, call) [PRIM_##e] = {ROW_MEMORY, offsetof(EmuCalls, call)},
#define REMOTE(e, call) [PRIM_##e] = {ROW_REMOTE, offsetof(EmuCalls, call)},
#define ATOMIC(e, call) [PRIM_##e] = {ROW_ATOMIC, offsetof(EmuCalls, call)},
#define MEET(e, call)   [PRIM_##e] = {ROW_MEET, offsetof(EmuCalls, call)},
#define CALL(e, call)   [PRIM_##e] = {ROW_CALL, offsetof(EmuCalls, call)},
#define NUMBER(e, x)    [PRIM_##e] = {ROW_NUMBER, x},
#define NOTHING(e)      [PRIM_##e] = {ROW_NOTHING, 0},
#define SHOW(e, call)   [PRIM_##e] = {ROW_SHOW, offsetof(EmuCalls, call)},
#define TELL(e, call)   [PRIM_##e] = {ROW_TELL, offsetof(EmuCalls, call)},
#define MATH(e, call)   [PRIM_##e] = {ROW_MATH, offsetof(EmuCalls, call)},
#include "codegen/emu/lower.def"
#undef FIELD
#undef MEMORY
#undef REMOTE
#undef ATOMIC
#undef MEET
#undef CALL
#undef NUMBER
#undef NOTHING
#undef SHOW
#undef TELL
#undef MATH
};

/* A primitive without a row does not compile. */
enum {
#define FIELD(e, field) HAS_##e,
#define MEMORY(e, call) HAS_##e,
#define REMOTE(e, call) HAS_##e,
#define ATOMIC(e, call) HAS_##e,
#define MEET(e, call)   HAS_##e,
#define CALL(e, call)   HAS_##e,
#define NUMBER(e, x)    HAS_##e,
#define NOTHING(e)      HAS_##e,
#define SHOW(e, call)   HAS_##e,
#define TELL(e, call)   HAS_##e,
#define MATH(e, call)   HAS_##e,
#include "codegen/emu/lower.def"
#undef FIELD
#undef MEMORY
#undef REMOTE
#undef ATOMIC
#undef MEET
#undef CALL
#undef NUMBER
#undef NOTHING
#undef SHOW
#undef TELL
#undef MATH
    ROW_COUNT
};
#define PRIM(e, ...) _Static_assert((int)HAS_##e == (int)PRIM_##e, "lower.def: the rows follow prims.def");
#include "codegen/prims.def"
#undef PRIM
_Static_assert((int)ROW_COUNT == (int)PRIM_COUNT, "lower.def: one row per primitive");

typedef struct Emu {
    Llvm *m;
    V thread, words; /* the kernel's thread; room for the words of one access */
    uint32_t calls, accesses; /* numbered so far */
} Emu;

static V at_offset(Emu *e, V base, size_t offset) {
    V index = llvm_int(e->m->i64, (int64_t)offset);
    return LLVMBuildInBoundsGEP2(e->m->at, e->m->i8, base, &index, 1, "");
}

static V call(Emu *e, const Row *row, LLVMTypeRef result, V *args, uint32_t n) {
    LLVMTypeRef types[8];
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

/* Operands: offset, block, predicate, words, site. */
static V lower_remote(Emu *e, Prim p, Access a, const V *in) {
    Llvm *m = e->m;
    EmuAccess access = {(uint8_t)a.words, (uint8_t)(a.bits / 8), false};
    write_words(e, a, in + 3);
    V offset = LLVMBuildZExt(m->at, in[0], m->i64, ""), predicate = LLVMBuildZExt(m->at, in[2], m->i32, "");
    V args[] = {e->thread,      offset, in[1], predicate, e->words, llvm_int(m->i32, emu_access_pack(access)),
                in[3 + a.words]};
    number_access(e);
    return call(e, &rows[p], m->none, args, COUNT(args));
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
    if (n) args[count++] = llvm_int(m->i32, debug_shape_pack(n->shape.rank, n->shape.log2));
    if (n) args[count++] = in[3];
    if (n) args[count++] = p == PRIM_PRINT ? in[4] : in[5];
    return call(e, &rows[p], m->none, args, count);
}

/* The thread and the operands, truth values as 32 bits. */
static V lower_plain(Emu *e, Prim p, const V *in, uint32_t n, LLVMTypeRef result) {
    V args[8] = {e->thread};
    for (uint32_t i = 0; i < n; i++)
        args[1 + i] = LLVMTypeOf(in[i]) == e->m->i1 ? LLVMBuildZExt(e->m->at, in[i], e->m->i32, "") : in[i];
    if (p == PRIM_COPY_ASYNC) number_access(e);
    return call(e, &rows[p], result, args, n + 1);
}

static V lower_row(Emu *e, Prim p, Access a, V *in, uint32_t n, LLVMTypeRef result) {
    const Row *row = &rows[p];
    V args[8] = {e->thread};
    switch (row->kind) {
    case ROW_FIELD: return LLVMBuildLoad2(e->m->at, result, at_offset(e, e->thread, row->offset), "");
    case ROW_MEMORY: return lower_memory(e, p, a, in, result);
    case ROW_REMOTE: return lower_remote(e, p, a, in);
    case ROW_ATOMIC: return lower_atomic(e, p, a, in, result);
    case ROW_SHOW: return lower_show(e, p, in);
    case ROW_TELL:
        for (uint32_t i = 0; i < n; i++) args[1 + i] = in[i];
        return call(e, row, result, args, n + 1);
    case ROW_MATH: return call(e, row, result, in, n);
    case ROW_CALL: return lower_plain(e, p, in, n, result);
    case ROW_NUMBER: return llvm_int(result, (int64_t)row->offset);
    case ROW_NOTHING: return NULL;
    case ROW_MEET:
        for (uint32_t i = 0; i < n; i++) args[1 + i] = in[i];
        args[1 + n] = llvm_int(e->m->i32, e->calls++);
        return call(e, row, result, args, n + 2);
    }
    bug("emu: primitive %s", prim_info[p].name);
}

static void lower_call(Emu *e, Prim p, Access a, V old) {
    V in[16];
    uint32_t n = (uint32_t)LLVMGetNumArgOperands(old);
    for (uint32_t i = 0; i < n; i++) in[i] = LLVMGetOperand(old, i);
    LLVMPositionBuilderBefore(e->m->at, old);
    V made = lower_row(e, p, a, in, n, LLVMTypeOf(old));
    if (made && prim_info[p].result[0] != 'v') LLVMReplaceAllUsesWith(old, made);
    LLVMInstructionEraseFromParent(old);
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
        args[i] = LLVMBuildLoad2(m->at, t == m->i1 ? m->i8 : t, at, "");
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
    e.words = LLVMBuildAlloca(m->at, LLVMArrayType2(m->i64, 4), "words");
    count_turns(&e, kernel);
    for (LLVMValueRef f = LLVMGetFirstFunction(m->module), next = NULL; f; f = next) {
        next = LLVMGetNextFunction(f);
        size_t len = 0;
        Prim p;
        Access a;
        if (!prim_find(LLVMGetValueName2(f, &len), &p, &a)) continue;
        for (LLVMUseRef use = LLVMGetFirstUse(f); use; use = LLVMGetFirstUse(f)) lower_call(&e, p, a, LLVMGetUser(use));
        LLVMDeleteFunction(f);
    }
    make_entry(m, kernel);
}

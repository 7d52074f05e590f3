/* prim.c - the table of device primitives, and calls of them as declared functions.
 *
 * In: a primitive and its operands. Out: a call of fsc.NAME, declared on first use with the row's types.
 */
#include <string.h>

#include "codegen/simt/simt.h"

const PrimInfo prim_info[PRIM_COUNT] = {
#define PRIM(e, name, result, operands, meaning) [PRIM_##e] = {name, result, operands},
#include "codegen/prims.def"
#undef PRIM
};

bool prim_find(const char *function_name, Prim *p, Access *a) {
    if (strncmp(function_name, "fsc.", 4)) return false;
    const char *name = function_name + 4;
    for (uint32_t i = 0; i < PRIM_COUNT; i++) {
        const PrimInfo *info = &prim_info[i];
        size_t n = strlen(info->name);
        if (strncmp(name, info->name, n)) continue;
        bool has_access = strchr(info->result, 'A') || strchr(info->operands, 'A');
        bool has_tuple = strchr(info->result, 'T') || strchr(info->operands, 'T');
        *p = (Prim)i;
        *a = (Access){0, 0};
        if (has_tuple && name[n] == '.') return true;
        if (!has_access && !has_tuple && !name[n]) return true;
        if (has_access && sscanf(name + n, ".v%u.b%u", &a->words, &a->bits) == 2) return true;
    }
    bug("%s is no primitive", function_name);
}

static void lower_call(Llvm *m, Prim p, Access a, LLVMValueRef call, PrimLowering *lower, void *context) {
    uint32_t n = (uint32_t)LLVMGetNumArgOperands(call);
    LLVMValueRef *in = NEW_ARRAY(m->o->arena, LLVMValueRef, n + 1);
    for (uint32_t i = 0; i < n; i++) in[i] = LLVMGetOperand(call, i);
    LLVMPositionBuilderBefore(m->at, call); /* takes the call's line, too */
    LLVMValueRef made = lower(context, p, a, call, in, n);
    if (made && prim_info[p].result[0] != 'v') LLVMReplaceAllUsesWith(call, made);
    LLVMInstructionEraseFromParent(call);
    for (uint32_t i = 0; i < n; i++) tuple_drop(in[i]);
}

void prim_lower_all(Llvm *m, PrimLowering *lower, void *context) {
    for (LLVMValueRef f = LLVMGetFirstFunction(m->module), next = NULL; f; f = next) {
        next = LLVMGetNextFunction(f);
        size_t len = 0;
        Prim p;
        Access a;
        if (!prim_find(LLVMGetValueName2(f, &len), &p, &a)) continue;
        for (LLVMUseRef use = LLVMGetFirstUse(f); use; use = LLVMGetFirstUse(f))
            lower_call(m, p, a, LLVMGetUser(use), lower, context);
        LLVMDeleteFunction(f);
    }
}

uint32_t policy_pack(const MemAttr *m) {
    return m->cache | (uint32_t)m->evict << 4 | (uint32_t)m->is_volatile << 8 | (uint32_t)m->wants_line << 9;
}

MemAttr policy_unpack(uint64_t policy) {
    MemAttr m = {0};
    m.cache = policy & 15;
    m.evict = policy >> 4 & 15;
    m.is_volatile = policy >> 8 & 1;
    m.wants_line = policy >> 9 & 1;
    return m;
}

uint32_t matrix_pack(MatrixCode c) {
    return c.matrices | (uint32_t)c.is_transposed << 8;
}

MatrixCode matrix_unpack(uint64_t x) {
    return (MatrixCode){x & 255, x >> 8 & 1};
}

uint32_t group_pack(GroupCode c) {
    return (uint32_t)c.instr | (uint32_t)c.is_across_a << 8 | (uint32_t)c.is_across_b << 9 | (uint32_t)c.is_first << 10;
}

GroupCode group_unpack(uint64_t x) {
    return (GroupCode){(Mma)(x & 255), x >> 8 & 1, x >> 9 & 1, x >> 10 & 1};
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

static LLVMTypeRef access_type(const Simt *s, Access a) {
    LLVMTypeRef word = access_word(s, a), words[] = {word, word, word, word};
    return a.words == 1 ? word : LLVMStructTypeInContext(s->m->context, words, a.words, 0);
}

/* `tuple`: of a T. */
static LLVMTypeRef letter_type(const Simt *s, char c, Access a, LLVMTypeRef tuple) {
    switch (c) {
    case 'v': return s->m->none;
    case 'p': return s->m->i1;
    case 'w': return s->m->i32;
    case 'l': return s->m->i64;
    case 'f': return s->m->f32;
    case 'd': return s->m->f64;
    case 'A': return access_type(s, a);
    case 'T': return tuple;
    default: bug("prims.def: type letter %c", c);
    }
}

static char kind_letter(const Simt *s, LLVMTypeRef t) {
    const char letters[] = "wlfd";
    for (const char *c = letters; *c; c++)
        if (letter_type(s, *c, (Access){0, 0}, NULL) == t) return *c;
    bug("a tuple of no kind that prims.def has");
}

enum { LONGEST_NAME = 96 };

static void name_tuple(const Simt *s, char *name, LLVMTypeRef tuple) {
    size_t n = strlen(name);
    char kind = kind_letter(s, LLVMStructGetTypeAtIndex(tuple, 0));
    snprintf(name + n, LONGEST_NAME - n, ".%c%u", kind, LLVMCountStructElementTypes(tuple));
}

/* The function, declared with the row's types; `result` is that of a T. */
static LLVMValueRef declare(Simt *s, Prim p, Access a, LLVMTypeRef result, const char *name, const V *args,
                            uint32_t n) {
    const PrimInfo *info = &prim_info[p];
    LLVMTypeRef *types = NEW_ARRAY(s->m->o->arena, LLVMTypeRef, n + 1);
    uint32_t count = 0;
    for (const char *c = info->operands; *c; c++) {
        uint32_t repeat = *c == 'A' ? a.words : 1;
        for (uint32_t i = 0; i < repeat; i++, count++) {
            if (count == n) bug("primitive %s: no more than %u operands", name, n);
            types[count] =
                *c == 'A' ? access_word(s, a) : letter_type(s, *c, a, *c == 'T' ? LLVMTypeOf(args[count]) : NULL);
        }
    }
    if (count != n) bug("primitive %s: %u operands, not %u", name, n, count);
    return llvm_declare(s->m, name, LLVMFunctionType(letter_type(s, info->result[0], a, result), types, n, 0));
}

static V build(Simt *s, Prim p, Access a, LLVMTypeRef result, const V *args, uint32_t n) {
    const PrimInfo *info = &prim_info[p];
    char name[LONGEST_NAME];
    snprintf(name, sizeof name, a.words ? "fsc.%s.v%u.b%u" : "fsc.%s", info->name, a.words, a.bits);
    if (result) name_tuple(s, name, result);
    const char *c = strchr(info->operands, 'T');
    for (; c; c = strchr(c + 1, 'T')) name_tuple(s, name, LLVMTypeOf(args[c - info->operands]));
    LLVMValueRef function = LLVMGetNamedFunction(s->m->module, name);
    if (!function) function = declare(s, p, a, result, name, args, n);
    if (LLVMCountParams(function) != n) bug("primitive %s: %u operands, not %u", name, n, LLVMCountParams(function));
    return llvm_call(s->m, function, args, n);
}

V prim_access(Simt *s, Prim p, Access a, const V *args, uint32_t n) {
    return build(s, p, a, NULL, args, n);
}

V prim_call(Simt *s, Prim p, const V *args, uint32_t n) {
    return build(s, p, (Access){0, 0}, NULL, args, n);
}

V prim_tuple(Simt *s, Prim p, LLVMTypeRef result, const V *args, uint32_t n) {
    return build(s, p, (Access){0, 0}, result, args, n);
}

V access_result(Simt *s, Access a, V result, uint32_t i) {
    return a.words == 1 ? result : LLVMBuildExtractValue(s->m->at, result, i, "");
}

V simt_site(Simt *s) {
    const Op *op = s->op;
    if (op_has_memory(op->kind)) return simt_i32(s, op->attr.mem.site);
    if (s->op_site == UINT32_MAX) {
        s->op_site = s->m->sites.len;
        vec_push(s->m->o->arena, &s->m->sites, op->span);
    }
    return simt_i32(s, s->op_site);
}

V simt_shuffle(Simt *s, Prim how, DType d, V x, V operand) {
    LLVMBuilderRef at = s->m->at;
    V bits = element_bits(s, d, x), site = simt_site(s);
    unsigned width = LLVMGetIntTypeWidth(LLVMTypeOf(bits));
    if (width < 64) {
        if (width < 32) bits = LLVMBuildZExt(at, bits, s->m->i32, "");
        V r = prim_call(s, how, (V[]){bits, operand, site}, 3);
        if (width < 32) r = LLVMBuildTrunc(at, r, LLVMIntTypeInContext(s->m->context, width), "");
        return element_from_bits(s, d, r);
    }
    V low = LLVMBuildTrunc(at, bits, s->m->i32, "");
    V high = LLVMBuildTrunc(at, LLVMBuildLShr(at, bits, llvm_int(s->m->i64, 32), ""), s->m->i32, "");
    low = LLVMBuildZExt(at, prim_call(s, how, (V[]){low, operand, site}, 3), s->m->i64, "");
    high = LLVMBuildZExt(at, prim_call(s, how, (V[]){high, operand, site}, 3), s->m->i64, "");
    return element_from_bits(s, d, LLVMBuildOr(at, low, LLVMBuildShl(at, high, llvm_int(s->m->i64, 32), ""), ""));
}

/* prim.c - the table of device primitives, and calls of them as declared functions.
 *
 * In: a primitive and its operands. Out: a call of fsc.NAME, declared on first use with the row's types.
 */
#include <string.h>

#include "codegen/simt/simt.h"

const PrimInfo prim_info[PRIM_COUNT] = {
#define PRIM(e, name, result, operands, sm, ptx, meaning) [PRIM_##e] = {name, result, operands, sm, ptx},
#include "codegen/prims.def"
#undef PRIM
};

bool prim_find(const char *function_name, Prim *p, Access *a) {
    if (strncmp(function_name, "fsc.", 4)) return false;
    const char *name = function_name + 4;
    for (uint32_t i = 0; i < PRIM_COUNT; i++) {
        size_t n = strlen(prim_info[i].name);
        if (strncmp(name, prim_info[i].name, n)) continue;
        bool has_access = strchr(prim_info[i].result, 'A') || strchr(prim_info[i].operands, 'A');
        *p = (Prim)i;
        *a = (Access){0, 0};
        if (!has_access && !name[n]) return true;
        if (has_access && sscanf(name + n, ".v%u.b%u", &a->words, &a->bits) == 2) return true;
    }
    bug("%s is no primitive", function_name);
}

uint32_t policy_pack(const MemAttr *m) {
    return m->cache | (uint32_t)m->evict << 4 | (uint32_t)m->is_volatile << 8;
}

MemAttr policy_unpack(uint64_t policy) {
    MemAttr m = {0};
    m.cache = policy & 15;
    m.evict = policy >> 4 & 15;
    m.is_volatile = policy >> 8 & 1;
    return m;
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

static LLVMTypeRef access_type(const Simt *s, Access a) {
    LLVMTypeRef word = access_word(s, a), words[] = {word, word, word, word};
    return a.words == 1 ? word : LLVMStructTypeInContext(s->m->context, words, a.words, 0);
}

static LLVMTypeRef letter_type(const Simt *s, char c, Access a) {
    switch (c) {
    case 'v': return s->m->none;
    case 'p': return s->m->i1;
    case 'w': return s->m->i32;
    case 'l': return s->m->i64;
    case 'f': return s->m->f32;
    case 'A': return access_type(s, a);
    default: bug("prims.def: type letter %c", c);
    }
}

V prim_access(Simt *s, Prim p, Access a, const V *args, uint32_t n) {
    const PrimInfo *info = &prim_info[p];
    char name[64];
    snprintf(name, sizeof name, a.words ? "fsc.%s.v%u.b%u" : "fsc.%s", info->name, a.words, a.bits);
    LLVMTypeRef types[16];
    uint32_t count = 0;
    for (const char *c = info->operands; *c; c++) {
        uint32_t repeat = *c == 'A' ? a.words : 1;
        for (uint32_t i = 0; i < repeat; i++) types[count++] = *c == 'A' ? access_word(s, a) : letter_type(s, *c, a);
    }
    if (count != n) bug("primitive %s: %u operands, not %u", name, n, count);
    LLVMTypeRef type = LLVMFunctionType(letter_type(s, info->result[0], a), types, count, 0);
    V copy[16];
    for (uint32_t i = 0; i < n; i++) copy[i] = args[i];
    return llvm_call(s->m, llvm_declare(s->m, name, type), copy, n);
}

V prim_call(Simt *s, Prim p, const V *args, uint32_t n) {
    return prim_access(s, p, (Access){0, 0}, args, n);
}

V access_result(Simt *s, Access a, V result, uint32_t i) {
    return a.words == 1 ? result : LLVMBuildExtractValue(s->m->at, result, i, "");
}

V simt_i32(Simt *s, int64_t value) {
    return llvm_int(s->m->i32, value);
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

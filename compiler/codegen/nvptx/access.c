/* access.c - loads and stores of global and shared memory as inline PTX.
 *
 * In: the operands of the memory primitives. Out: one asm statement each: predicate, cache policy, vector, address.
 * Method: intrinsics cannot carry predicates or cache policies. A predicated load's results are tied to operands that
 * hold what the lanes keep where the predicate is false; a predicate known true falls away, with its operand. Constants
 * added to an address become the access's offset where n->takes_offsets:
 * what LLVM never sees costs none of its passes anything.
 */
#include <string.h>

#include "codegen/nvptx/asm.h"

const char *asm_constraint(Access a) {
    return a.bits == 64 ? "l" : a.bits == 32 ? "r" : "h";
}

/* PTX has no 8-bit registers: bytes travel in 16-bit ones. */
static LLVMTypeRef register_type(const Nvptx *n, Access a) {
    return LLVMIntTypeInContext(n->m->context, a.bits == 8 ? 16 : a.bits);
}

Asm asm_begin(Nvptx *n) {
    return (Asm){.arena = n->m->o->arena, .result = n->m->none};
}

void asm_text(Asm *s, const char *more) {
    for (; *more; more++) vec_push(s->arena, &s->text, *more);
}

/* One more in the list. */
static void asm_constrain(Asm *s, const char *before, const char *constraint) {
    if (s->constraints.len) vec_push(s->arena, &s->constraints, ',');
    for (; *before; before++) vec_push(s->arena, &s->constraints, *before);
    for (; *constraint; constraint++) vec_push(s->arena, &s->constraints, *constraint);
}

uint32_t asm_operand(Asm *s, V value, const char *constraint) {
    asm_constrain(s, "", constraint);
    vec_push(s->arena, &s->operands, value);
    return s->outputs + s->operands.len - 1;
}

void asm_number(Asm *s, const char *before, uint32_t number, const char *after) {
    char text[16];
    snprintf(text, sizeof text, "$%u", number);
    asm_text(s, before);
    asm_text(s, text);
    asm_text(s, after);
}

void asm_braces(Asm *s, uint32_t first, uint32_t words) {
    for (uint32_t i = 0; i < words; i++) asm_number(s, i ? ", " : "{", first + i, i + 1 < words ? "" : "}");
}

void asm_vector(Asm *s, uint32_t first, uint32_t words) {
    if (words == 1) asm_number(s, "", first, "");
    else asm_braces(s, first, words);
}

static V build(Nvptx *n, Asm *s, bool has_effects) {
    uint32_t count = s->operands.len;
    LLVMTypeRef *types = NEW_ARRAY(s->arena, LLVMTypeRef, count + 1);
    for (uint32_t i = 0; i < count; i++) types[i] = LLVMTypeOf(s->operands.at[i]);
    LLVMTypeRef type = LLVMFunctionType(s->result, types, count, 0);
    V code = LLVMGetInlineAsm(type, s->text.at, s->text.len, s->constraints.at, s->constraints.len, has_effects,
                              0, LLVMInlineAsmDialectATT, 0);
    return LLVMBuildCall2(n->m->at, type, code, s->operands.at, count, "");
}

/* Its side effects order it among all others; a clobber of memory besides would say nothing more, and LLVM reads each
 * constraint of each statement several times. */
V asm_build(Nvptx *n, Asm *s) {
    return build(n, s, true);
}

V asm_value(Nvptx *n, Asm *s) {
    return build(n, s, false);
}

V asm_statement(Nvptx *n, const char *text) {
    Asm s = asm_begin(n);
    asm_text(&s, text);
    return asm_build(n, &s);
}

V asm_together(Nvptx *n, Asm *s) {
    V made = asm_build(n, s);
    unsigned kind = LLVMGetEnumAttributeKindForName("convergent", strlen("convergent"));
    LLVMAddCallSiteAttribute(made, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                             LLVMCreateEnumAttribute(n->m->context, kind, 0));
    return made;
}

bool asm_is_true(V predicate) {
    return LLVMIsAConstantInt(predicate) && LLVMConstIntGetZExtValue(predicate);
}

void asm_need_ptx(Nvptx *n, uint32_t version) {
    if (n->ptx < version) n->ptx = version;
}

/* The suffixes of cache, eviction and what the second cache fetches; ".volatile" excludes them. */
static const char *policy_text(Nvptx *n, V policy, bool is_load) {
    static const char *const load_cache[] = {"", ".ca", ".cg", ".cs", "", "", ".cv"};
    static const char *const store_cache[] = {"", "", ".cg", ".cs", ".wb", ".wt", ""};
    static const char *const evict[] = {"", ".L1::evict_first", ".L1::evict_last"};
    MemAttr m = policy_unpack(LLVMConstIntGetZExtValue(policy));
    if (m.is_volatile) return "";
    const char *cache = m.cache != CACHE_DEFAULT ? (is_load ? load_cache : store_cache)[m.cache] : evict[m.evict];
    bool fetches = is_load && m.wants_line;
    if ((m.cache == CACHE_DEFAULT && m.evict != EVICT_DEFAULT) || fetches) asm_need_ptx(n, 74);
    return fetches ? arena_printf(n->m->o->arena, "%s.L2::128B", cache) : cache;
}

static void access_text(Asm *s, const char *what, bool is_volatile, const char *space, const char *policy, Access a) {
    char text[96], vector[16] = "";
    if (a.words > 1) snprintf(vector, sizeof vector, ".v%u", a.words);
    snprintf(text, sizeof text, "%s%s%s%s%s.b%u ", what, is_volatile ? ".volatile" : "", space, policy, vector, a.bits);
    asm_text(s, text);
}

Address address_split(const Nvptx *n, V address) {
    Address a = {.base = address};
    while (n->takes_offsets && LLVMIsABinaryOperator(a.base) && LLVMGetInstructionOpcode(a.base) == LLVMAdd) {
        V term = LLVMGetOperand(a.base, 1);
        if (!LLVMIsAConstantInt(term)) break;
        int64_t offset = a.offset + LLVMConstIntGetSExtValue(term), limit = 1 << 22;
        if (offset < -limit || offset > limit) break;
        a = (Address){LLVMGetOperand(a.base, 0), offset};
    }
    return a;
}

void asm_address(Asm *s, const char *before, uint32_t number, int64_t offset, const char *after) {
    char text[48];
    if (offset) snprintf(text, sizeof text, "%s[$%u+%lld]%s", before, number, (long long)offset, after);
    else snprintf(text, sizeof text, "%s[$%u]%s", before, number, after);
    asm_text(s, text);
}

/* ---- Loads ------------------------------------------------------------------------------------------------------- */

/* The result words: declared, and tied to `others` unless that is NULL. */
void asm_outputs(Nvptx *n, Asm *s, Access a) {
    LLVMTypeRef word = register_type(n, a), words[] = {word, word, word, word};
    s->result = a.words == 1 ? word : LLVMStructTypeInContext(n->m->context, words, a.words, 0);
    s->outputs = a.words;
    for (uint32_t i = 0; i < a.words; i++) asm_constrain(s, "=", asm_constraint(a));
}

void asm_results(Asm *s, LLVMTypeRef tuple, const char *constraint) {
    s->result = tuple;
    s->outputs = tuple_length(tuple);
    for (uint32_t i = 0; i < s->outputs; i++) asm_constrain(s, "=", constraint);
}

static V narrow_byte(Nvptx *n, Access a, V x) {
    return a.bits == 8 ? LLVMBuildTrunc(n->m->at, x, n->m->i8, "") : x;
}

static V widen_byte(Nvptx *n, Access a, V x) {
    return a.bits == 8 ? LLVMBuildZExt(n->m->at, x, n->m->i16, "") : x;
}

V lower_load_global(Nvptx *n, Access a, const V *in) {
    Asm s = asm_begin(n);
    V predicate = in[1], policy = in[2 + a.words];
    asm_outputs(n, &s, a);
    Address at = address_split(n, in[0]);
    uint32_t address = asm_operand(&s, at.base, "l");
    bool always = asm_is_true(predicate);
    if (!always) asm_number(&s, "@", asm_operand(&s, predicate, "b"), " ");
    for (uint32_t i = 0; i < a.words && !always; i++) {
        char tie[2] = {(char)('0' + i), 0};
        asm_operand(&s, widen_byte(n, a, in[2 + i]), tie);
    }
    bool is_volatile = policy_unpack(LLVMConstIntGetZExtValue(policy)).is_volatile;
    access_text(&s, "ld", is_volatile, ".global", policy_text(n, policy, true), a);
    asm_vector(&s, 0, a.words);
    asm_address(&s, ", ", address, at.offset, ";");
    return narrow_byte(n, a, asm_build(n, &s));
}

V asm_shared_address(Nvptx *n, V offset) {
    return LLVMBuildAdd(n->m->at, n->shared_base, offset, "");
}

V lower_load_shared(Nvptx *n, Access a, const V *in) {
    Asm s = asm_begin(n);
    asm_outputs(n, &s, a);
    Address at = address_split(n, in[0]);
    uint32_t address = asm_operand(&s, asm_shared_address(n, at.base), "r");
    access_text(&s, "ld", false, ".shared", "", a);
    asm_vector(&s, 0, a.words);
    asm_address(&s, ", ", address, at.offset, ";");
    return narrow_byte(n, a, asm_build(n, &s));
}

/* ---- Stores ------------------------------------------------------------------------------------------------------ */

static V emit_store(Nvptx *n, Access a, Address address, const char *kind, V predicate, const V *words,
                    bool is_volatile, const char *space, const char *policy) {
    Asm s = asm_begin(n);
    uint32_t at = asm_operand(&s, address.base, kind), first = 0;
    for (uint32_t i = 0; i < a.words; i++) {
        uint32_t number = asm_operand(&s, widen_byte(n, a, words[i]), asm_constraint(a));
        if (i == 0) first = number;
    }
    if (!asm_is_true(predicate)) asm_number(&s, "@", asm_operand(&s, predicate, "b"), " ");
    access_text(&s, "st", is_volatile, space, policy, a);
    asm_address(&s, "", at, address.offset, ", ");
    asm_vector(&s, first, a.words);
    asm_text(&s, ";");
    return asm_build(n, &s);
}

V lower_store_global(Nvptx *n, Access a, const V *in) {
    V policy = in[2 + a.words];
    bool is_volatile = policy_unpack(LLVMConstIntGetZExtValue(policy)).is_volatile;
    return emit_store(n, a, address_split(n, in[0]), "l", in[1], in + 2, is_volatile, ".global",
                      policy_text(n, policy, false));
}

/* mapa: where the same byte lies in another block's shared memory, within the window of the cluster. */
V lower_store_cluster(Nvptx *n, Access a, const V *in) {
    Asm s = asm_begin(n);
    asm_outputs(n, &s, (Access){1, 32});
    uint32_t own = asm_operand(&s, asm_shared_address(n, in[0]), "r"), block = asm_operand(&s, in[1], "r");
    asm_text(&s, "mapa.shared::cluster.u32 $0");
    asm_number(&s, ", ", own, "");
    asm_number(&s, ", ", block, ";");
    return emit_store(n, a, (Address){.base = asm_build(n, &s)}, "r", in[2], in + 3, false, ".shared::cluster", "");
}

V lower_store_shared(Nvptx *n, Access a, const V *in) {
    Address at = address_split(n, in[0]);
    at.base = asm_shared_address(n, at.base);
    return emit_store(n, a, at, "r", in[1], in + 2, false, ".shared", "");
}

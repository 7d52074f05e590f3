/* mbarrier.c - stores to the blocks of a cluster that count their bytes where they arrive, as inline PTX (sm_90 on).
 *
 * In: the operands of the count primitives. Out: one asm statement each.
 * Method: an mbarrier expects one arrival a phase: the own block's first thread, which says how many bytes there are. A
 * counted store takes what it brought off them. So a phase ends when all has come, in whatever order, and who waits for
 * it reads the own shared memory alone: nobody waits for what it has under way elsewhere, as at a barrier that
 * publishes.
 */
#include "codegen/nvptx/asm.h"

static void begin_if(Asm *s, V predicate) {
    if (!asm_is_true(predicate)) asm_number(s, "@", asm_operand(s, predicate, "b"), " ");
}

/* What writes each of so many words, under the predicate; then `last`, under it, too. */
static V write_words(Nvptx *n, const V *in, const char *write, const char *value, const char *last) {
    Asm s = asm_begin(n);
    char text[32];
    uint32_t at = asm_operand(&s, asm_shared_address(n, in[0]), "r");
    bool always = asm_is_true(in[1]);
    uint32_t predicate = always ? 0 : asm_operand(&s, in[1], "b");
    uint64_t count = LLVMConstIntGetZExtValue(in[2]);
    for (uint64_t i = 0; i < count + (last != NULL); i++) {
        if (!always) asm_number(&s, "@", predicate, " ");
        if (i == count) break;
        asm_number(&s, write, at, "");
        snprintf(text, sizeof text, "+%u], %s; ", (unsigned)i * COUNT_BYTES, value);
        asm_text(&s, text);
    }
    if (last) asm_text(&s, last);
    return asm_build(n, &s);
}

/* The blocks meet behind it; the fence is what lets their barrier order nothing else. */
V lower_mbarrier_init(Nvptx *n, Access a, const V *in) {
    (void)a;
    return write_words(n, in, "mbarrier.init.shared::cta.b64 [", "1", "fence.mbarrier_init.release.cluster;");
}

V lower_mbarrier_expect(Nvptx *n, Access a, const V *in) {
    (void)a;
    Asm s = asm_begin(n);
    uint32_t at = asm_operand(&s, asm_shared_address(n, in[0]), "r"), bytes = asm_operand(&s, in[2], "r");
    begin_if(&s, in[1]);
    asm_number(&s, "mbarrier.arrive.expect_tx.shared::cta.b64 _, [", at, "], ");
    asm_number(&s, "", bytes, ";");
    return asm_build(n, &s);
}

V lower_mbarrier_wait(Nvptx *n, Access a, const V *in) {
    (void)a;
    Asm s = asm_begin(n);
    uint32_t at = asm_operand(&s, asm_shared_address(n, in[0]), "r"), phase = asm_operand(&s, in[1], "r");
    asm_number(&s, "{ .reg .pred p; again: mbarrier.try_wait.parity.shared::cta.b64 p, [", at, "], ");
    asm_number(&s, "", phase, "; @!p bra again; }");
    return asm_build(n, &s);
}

V lower_turn_init(Nvptx *n, Access a, const V *in) {
    (void)a;
    return write_words(n, in, "st.shared::cta.u32 [", "0", NULL);
}

/* An mbarrier counts, too; but a phase that nobody waits for is an error to compute-sanitizer. */
V lower_turn(Nvptx *n, Access a, const V *in) {
    (void)a;
    Asm s = asm_begin(n);
    char text[64];
    asm_outputs(n, &s, (Access){.bits = 32, .words = 1});
    uint32_t at = asm_operand(&s, asm_shared_address(n, in[0]), "r"), all = (uint32_t)LLVMConstIntGetZExtValue(in[2]);
    snprintf(text, sizeof text, "{ .reg .b32 came; mov.b32 came, %u; ", all);
    asm_text(&s, text);
    begin_if(&s, in[1]);
    asm_number(&s, "atom.acq_rel.cta.shared::cta.inc.u32 came, [", at, "], ");
    snprintf(text, sizeof text, "%u; sub.u32 $0, %u, came; }", all - 1, all);
    asm_text(&s, text);
    return asm_build(n, &s);
}

/* The places of a box; the first one's number. */
static uint32_t asm_places(Asm *s, V tuple, const V *places) {
    uint32_t first = 0;
    for (uint32_t i = 0; i < tuple_length(LLVMTypeOf(tuple)); i++) {
        uint32_t number = asm_operand(s, places[i], "r");
        if (i == 0) first = number;
    }
    return first;
}

/* The map is the kernel's parameter, of which the card wants the address. */
V lower_bulk_load(Nvptx *n, Access a, const V *in) {
    (void)a;
    Asm s = asm_begin(n);
    char text[160];
    uint32_t rank = tuple_length(LLVMTypeOf(in[4]));
    uint32_t to = asm_operand(&s, asm_shared_address(n, in[0]), "r"),
             count = asm_operand(&s, asm_shared_address(n, in[1]), "r"), map = asm_operand(&s, in[3], "l"),
             first = asm_places(&s, in[4], tuple_values(n->m, in[4]));
    begin_if(&s, in[2]);
    snprintf(text, sizeof text, "cp.async.bulk.tensor.%ud.shared::cluster.global.tile.mbarrier::complete_tx::bytes [",
             rank);
    asm_number(&s, text, to, "], [");
    asm_number(&s, "", map, ", ");
    asm_braces(&s, first, rank);
    asm_number(&s, "], [", count, "];");
    return asm_build(n, &s);
}

V lower_bulk_store(Nvptx *n, Access a, const V *in) {
    (void)a;
    Asm s = asm_begin(n);
    char text[96];
    uint32_t rank = tuple_length(LLVMTypeOf(in[3]));
    uint32_t from = asm_operand(&s, asm_shared_address(n, in[0]), "r"), map = asm_operand(&s, in[2], "l"),
             first = asm_places(&s, in[3], tuple_values(n->m, in[3]));
    begin_if(&s, in[1]);
    snprintf(text, sizeof text, "cp.async.bulk.tensor.%ud.global.shared::cta.tile.bulk_group [", rank);
    asm_number(&s, text, map, ", ");
    asm_braces(&s, first, rank);
    asm_number(&s, "], [", from, "];");
    return asm_build(n, &s);
}

V lower_bulk_commit(Nvptx *n, Access a, const V *in) {
    (void)a, (void)in;
    return asm_statement(n, "cp.async.bulk.commit_group;");
}

V lower_bulk_wait(Nvptx *n, Access a, const V *in) {
    (void)a;
    return asm_statement(n, LLVMConstIntGetZExtValue(in[0]) ? "cp.async.bulk.wait_group.read 0;"
                                                            : "cp.async.bulk.wait_group 0;");
}

V lower_store_async(Nvptx *n, Access a, const V *in) {
    Asm s = asm_begin(n);
    char text[96], vector[16] = "";
    uint32_t to = asm_operand(&s, asm_shared_address(n, in[0]), "r"),
             count = asm_operand(&s, asm_shared_address(n, in[1]), "r"), block = asm_operand(&s, in[2], "r"), first = 0;
    for (uint32_t i = 0; i < a.words; i++) {
        uint32_t number = asm_operand(&s, in[4 + i], asm_constraint(a));
        if (i == 0) first = number;
    }
    asm_number(&s, "{ .reg .b32 to, count; mapa.shared::cluster.u32 to, ", to, ", ");
    asm_number(&s, "", block, "; ");
    asm_number(&s, "mapa.shared::cluster.u32 count, ", count, ", ");
    asm_number(&s, "", block, "; ");
    begin_if(&s, in[3]);
    if (a.words > 1) snprintf(vector, sizeof vector, ".v%u", a.words);
    snprintf(text, sizeof text, "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes%s.b%u [to], ", vector,
             a.bits);
    asm_text(&s, text);
    asm_vector(&s, first, a.words);
    asm_text(&s, ", [count]; }");
    return asm_build(n, &s);
}

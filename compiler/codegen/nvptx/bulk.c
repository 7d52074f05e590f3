/* bulk.c - bulk copies into shared memory and barriers there as inline PTX (cp.async.bulk, mbarrier; sm_90 on).
 *
 * In: the operands of the primitives. Out: one asm statement each.
 * Method: bulk copies go through the asynchronous proxy, so a fence stands between them and what threads did to the barrier and the place before;
 * the wait of the barrier needs none. It is a loop of try_wait, which suspends the thread for a while each time.
 */
#include "codegen/nvptx/asm.h"

static Asm begin(const Nvptx *n) {
    return (Asm){.result = n->m->none};
}

/* "@p " where the predicate is not known to be true. */
static int32_t asm_predicate(Asm *s, V predicate) {
    return asm_is_true(predicate) ? -1 : (int32_t)asm_operand(s, predicate, "b");
}

static void asm_if(Asm *s, int32_t predicate) {
    if (predicate >= 0) asm_number(s, "@", (uint32_t)predicate, " ");
}

V lower_mbarrier_init(Nvptx *n, Access a, const V *in) {
    (void)a;
    Asm s = begin(n);
    uint32_t at = asm_operand(&s, asm_shared_address(n, in[0]), "r"), arrivals = asm_operand(&s, in[2], "r");
    asm_if(&s, asm_predicate(&s, in[1]));
    asm_text(&s, "mbarrier.init.shared::cta.b64 ");
    asm_number(&s, "[", at, "], ");
    asm_number(&s, "", arrivals, ";");
    return asm_build(n, &s);
}

V lower_mbarrier_inval(Nvptx *n, Access a, const V *in) {
    (void)a;
    Asm s = begin(n);
    uint32_t at = asm_operand(&s, asm_shared_address(n, in[0]), "r");
    asm_if(&s, asm_predicate(&s, in[1]));
    asm_text(&s, "mbarrier.inval.shared::cta.b64 ");
    asm_number(&s, "[", at, "];");
    return asm_build(n, &s);
}

V lower_mbarrier_expect(Nvptx *n, Access a, const V *in) {
    (void)a;
    Asm s = begin(n);
    uint32_t at = asm_operand(&s, asm_shared_address(n, in[0]), "r"), bytes = asm_operand(&s, in[2], "r");
    asm_if(&s, asm_predicate(&s, in[1]));
    asm_text(&s, "mbarrier.arrive.expect_tx.shared::cta.b64 _, ");
    asm_number(&s, "[", at, "], ");
    asm_number(&s, "", bytes, ";");
    return asm_build(n, &s);
}

V lower_mbarrier_wait(Nvptx *n, Access a, const V *in) {
    (void)a;
    Asm s = begin(n);
    uint32_t at = asm_operand(&s, asm_shared_address(n, in[0]), "r"), parity = asm_operand(&s, in[1], "r");
    asm_text(&s, "{.reg .pred done; WAIT: mbarrier.try_wait.parity.shared::cta.b64 done, ");
    asm_number(&s, "[", at, "], ");
    asm_number(&s, "", parity, "; ");
    asm_text(&s, "@!done bra WAIT;}");
    return asm_build(n, &s);
}

V lower_copy_bulk(Nvptx *n, Access a, const V *in) {
    (void)a;
    Asm s = begin(n);
    uint32_t to = asm_operand(&s, asm_shared_address(n, in[0]), "r"), from = asm_operand(&s, in[1], "l"), bytes = asm_operand(&s, in[3], "r");
    uint32_t barrier = asm_operand(&s, asm_shared_address(n, in[4]), "r");
    int32_t predicate = asm_predicate(&s, in[2]);
    asm_if(&s, predicate);
    asm_text(&s, "fence.proxy.async.shared::cta; ");
    asm_if(&s, predicate);
    asm_text(&s, "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes ");
    asm_number(&s, "[", to, "], ");
    asm_number(&s, "[", from, "], ");
    asm_number(&s, "", bytes, ", ");
    asm_number(&s, "[", barrier, "];");
    return asm_build(n, &s);
}

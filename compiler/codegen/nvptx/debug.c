/* debug.c - print and assert on a GPU: the driver's own vprintf and __assertfail.
 *
 * In: the primitives' operands and the module's notes. Out: calls of the two functions, which every driver links.
 * Method: the format is a constant made here; what it shows lies in one struct in the frame, as vprintf wants it. An
 * assertion prints which element fails, then ends the launch.
 */
#include "codegen/nvptx/nvptx.h"

#include <string.h>

enum { SPACE_GLOBAL = 1 };

/* A constant text as a generic address. */
static V constant_text(Nvptx *n, const char *text) {
    Llvm *m = n->m;
    V bytes = LLVMConstStringInContext2(m->context, text, strlen(text), 0);
    V g = LLVMAddGlobalInAddressSpace(m->module, LLVMTypeOf(bytes), "fsc_text", SPACE_GLOBAL);
    LLVMSetInitializer(g, bytes);
    LLVMSetGlobalConstant(g, 1);
    LLVMSetLinkage(g, LLVMInternalLinkage);
    return LLVMConstAddrSpaceCast(g, m->ptr);
}

/* The text in a format: each % twice. */
static void append_text(Text *out, const char *text) {
    for (; *text; text++) text_printf(out, *text == '%' ? "%%%%" : "%c", *text);
}

/* "(%2u, %u)": as wide as the largest index. */
static void append_index(Text *out, Shape s) {
    text_printf(out, "(");
    for (uint32_t d = 0; d < s.rank; d++) {
        uint32_t width = 1;
        for (uint64_t most = shape_size(s, d) - 1; most >= 10; most /= 10) width++;
        text_printf(out, "%s%%%uu", d ? ", " : "", width);
    }
    text_printf(out, ")");
}

/* The program, the element's index and the value: what follows the format. */
static V pack_values(Nvptx *n, const V *program, V element, Shape s, V value) {
    Llvm *m = n->m;
    LLVMTypeRef types[3 + SHAPE_RANK + 1];
    V values[3 + SHAPE_RANK + 1];
    uint32_t count = 0;
    for (; count < 3; count++) values[count] = program[count];
    for (uint32_t d = 0; d < s.rank; d++) {
        V at = LLVMBuildLShr(m->at, element, llvm_int(m->i32, shape_offset(s, d)), "");
        values[count++] = LLVMBuildAnd(m->at, at, llvm_int(m->i32, (int64_t)shape_size(s, d) - 1), "");
    }
    if (value) values[count++] = value;
    for (uint32_t i = 0; i < count; i++) types[i] = LLVMTypeOf(values[i]);
    LLVMTypeRef all = LLVMStructTypeInContext(m->context, types, count, 0);
    V frame = llvm_frame(m, all);
    for (uint32_t i = 0; i < count; i++)
        LLVMBuildStore(m->at, values[i], LLVMBuildStructGEP2(m->at, all, frame, i, ""));
    return frame;
}

static void print_line(Nvptx *n, const Text *format, V frame) {
    Llvm *m = n->m;
    V args[] = {constant_text(n, format->at), frame};
    LLVMTypeRef types[] = {m->ptr, m->ptr};
    llvm_call(m, llvm_declare(m, "vprintf", LLVMFunctionType(m->i32, types, 2, 0)), args, 2);
}

V lower_print_begin(Nvptx *n, Access a, const V *in) {
    (void)n, (void)a, (void)in;
    return NULL;
}

V lower_print(Nvptx *n, Access a, const V *in) {
    const DebugNote *note = &n->m->notes.at[LLVMConstIntGetZExtValue(in[5])];
    Text format = {0};
    (void)a;
    text_printf(&format, "pid (%%u, %%u, %%u) idx ");
    append_index(&format, note->shape);
    text_printf(&format, " ");
    append_text(&format, note->text);
    if (note->format) text_printf(&format, "%s", note->format);
    text_printf(&format, "\n");
    V value = !note->format ? NULL : note->is_float ? LLVMBuildBitCast(n->m->at, in[4], n->m->f64, "") : in[4];
    print_line(n, &format, pack_values(n, in, in[3], note->shape, value));
    text_free(&format);
    return NULL;
}

V lower_assert(Nvptx *n, Access a, const V *in) {
    Llvm *m = n->m;
    const DebugNote *note = &m->notes.at[LLVMConstIntGetZExtValue(in[4])];
    Place p = diag_place(m->o->diag, note->span);
    const char *file = p.source ? p.source->name : "";
    Text format = {0};
    (void)a;
    append_text(&format, file);
    text_printf(&format, ":%u:%u: assertion: program (%%u, %%u, %%u): ", p.line, p.col);
    if (note->shape.rank) {
        text_printf(&format, "element ");
        append_index(&format, note->shape);
        text_printf(&format, ": ");
    }
    append_text(&format, note->text);
    text_printf(&format, "\n");
    print_line(n, &format, pack_values(n, in, in[3], note->shape, NULL));
    text_free(&format);
    V args[] = {constant_text(n, note->text), constant_text(n, file), llvm_int(m->i32, p.line),
                constant_text(n, n->f->name), llvm_int(m->i64, 1)};
    LLVMTypeRef types[] = {m->ptr, m->ptr, m->i32, m->ptr, m->i64};
    llvm_call(m, llvm_declare(m, "__assertfail", LLVMFunctionType(m->none, types, 5, 0)), args, 5);
    return NULL;
}

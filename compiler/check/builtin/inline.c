/* inline.c - inline_asm_elementwise: PTX in the source, as code for every target.
 *
 * In: a bound Call. Out: a tile of the asked type, or a tuple of them.
 * Method: the text is read, an instruction at a time; each is a function of lib/asm.dsl over whole tiles, where a
 * register of the text is a value. Each type of an instruction stands at its end; modifiers that only allow less
 * accuracy are passed over. What is no plain arithmetic on registers, such as memory, labels and threads, is refused.
 */
#include "check/builtin/builtin.h"

#include "runtime/base/ascii.h"
#include "runtime/base/number.h"

#include <stdlib.h>
#include <string.h>

enum { ARG_TEXT, ARG_CONSTRAINTS, ARG_ARGS, ARG_DTYPE, ARG_PURE, ARG_PACK, MOST_PACK = 32, MOST_OPERANDS = 16 };

typedef struct Register {
    const char *name; /* or NULL: the number `$i` */
    uint32_t number;
    const Sem *value; /* NULL: nothing yet */
} Register;

typedef struct Reader {
    Checker *c;
    Span at;
    const char *p;
    VEC(Register) registers;
    bool failed;
} Reader;

typedef struct Operand {
    const char *text;
    bool is_vector; /* {a, b}: `parts` of them */
    const char *part[MOST_OPERANDS];
    uint32_t parts;
} Operand;

typedef struct Instruction {
    const char *guard; /* the predicate, or NULL */
    bool is_inverted;
    const char *op;
    Operand operand[MOST_OPERANDS];
    uint32_t count;
} Instruction;

static const Sem *call_asm(Checker *c, const char *name, const Sem *const *values, uint32_t count, Span at) {
    return call_function(c, library_function(c, "asm", name), values, count, at);
}

static const Sem *fail(Reader *r, const char *what) {
    if (!r->failed) {
        diag(r->c->d, r->at, E_ASM, what);
        diag_note(r->c->d, r->at, "plain arithmetic of PTX on registers is compiled, for every target");
    }
    r->failed = true;
    return &sem_error;
}

/* ---- The text ---------------------------------------------------------------------------------------------------- */

static bool is_name(char ch) {
    return is_word(ch) || ch == '.' || ch == '$' || ch == '%' || ch == '-' || ch == '+';
}

static void skip_space(Reader *r) {
    for (;;) {
        while (is_space(*r->p)) r->p++;
        if (r->p[0] == '/' && r->p[1] == '/') {
            r->p += strcspn(r->p, "\n");
        } else if (r->p[0] == '/' && r->p[1] == '*') {
            const char *end = strstr(r->p, "*/");
            r->p = end ? end + 2 : r->p + strlen(r->p);
        } else {
            return;
        }
    }
}

static const char *read_word(Reader *r) {
    skip_space(r);
    const char *from = r->p;
    while (is_name(*r->p)) r->p++;
    return arena_strndup(r->c->a, from, (size_t)(r->p - from));
}

static bool take(Reader *r, char ch) {
    skip_space(r);
    if (*r->p != ch) return false;
    r->p++;
    return true;
}

static bool read_operand(Reader *r, Operand *o) {
    *o = (Operand){.is_vector = take(r, '{')};
    do {
        if (o->parts == MOST_OPERANDS) return false;
        o->part[o->parts] = read_word(r);
        if (!*o->part[o->parts++]) return false;
    } while (o->is_vector && take(r, ','));
    o->text = o->part[0];
    return !o->is_vector || take(r, '}');
}

/* One instruction behind declarations and brackets of scopes; false: the end, or what is none. */
static bool read_instruction(Reader *r, Instruction *in) {
    for (;;) {
        *in = (Instruction){0};
        while (take(r, '{') || take(r, '}') || take(r, ';')) continue;
        skip_space(r);
        if (!*r->p) return false;
        if (strncmp(r->p, ".reg", 4) != 0) break;
        r->p += strcspn(r->p, ";");
    }
    if (take(r, '@')) {
        in->is_inverted = take(r, '!');
        in->guard = read_word(r);
    }
    in->op = read_word(r);
    bool ok = *in->op != '\0';
    do {
        ok = ok && in->count < MOST_OPERANDS && read_operand(r, &in->operand[in->count++]);
    } while (ok && take(r, ','));
    skip_space(r);
    if (ok && (take(r, ';') || *r->p == '\0' || *r->p == '}')) return true;
    size_t length = strcspn(r->p, "\n;");
    fail(r, arena_printf(r->c->a, "'%s', before '%.*s'", in->op, (int)(length < 20 ? length : 20), r->p));
    return false;
}

/* ---- Registers --------------------------------------------------------------------------------------------------- */

static Register *find_register(Reader *r, const char *name) {
    bool is_numbered = name[0] == '$' && is_digit(name[1]);
    uint32_t number = is_numbered ? (uint32_t)strtoul(name + 1, NULL, 10) : 0;
    for (uint32_t i = 0; i < r->registers.len; i++) {
        Register *x = &r->registers.at[i];
        if (is_numbered ? !x->name && x->number == number : x->name && strcmp(x->name, name) == 0) return x;
    }
    Register fresh = {is_numbered ? NULL : name, number, NULL};
    vec_push(r->c->a, &r->registers, fresh);
    return &r->registers.at[r->registers.len - 1];
}

/* 12, -1, 0x1F, 0.5, 0f3F800000. NULL: it is no number. */
static const Sem *literal(Reader *r, const char *text) {
    char *end = NULL;
    double x = 0;
    const char *digits = text + (*text == '-');
    if (!is_digit(*digits) && *digits != '.') return NULL;
    if (digits[0] == '0' && (digits[1] == 'f' || digits[1] == 'F')) {
        union {
            uint32_t bits;
            float f;
        } value = {(uint32_t)strtoul(digits + 2, &end, 16)};
        return *end ? NULL : sem_float(r->c, (double)value.f);
    }
    unsigned long long n = strtoull(digits, &end, 0);
    if (*end == '\0' || (*end == 'U' && end[1] == '\0')) return sem_int(r->c, (Int){n, *text == '-' && n});
    size_t length = strlen(text);
    if (text[length - 1] == '.') text = arena_printf(r->c->a, "%s0", text);
    return number_read(text, strlen(text), &x) ? sem_float(r->c, x) : NULL;
}

static const Sem *value_of(Reader *r, const char *text) {
    const Sem *number = literal(r, text);
    if (number) return number;
    const Sem *value = find_register(r, text)->value;
    return value ? value : fail(r, arena_printf(r->c->a, "'%s', which has no value there", text));
}

/* ---- Instructions ------------------------------------------------------------------------------------------------ */

typedef struct Form {
    const char *name; /* of the function */
    SType to, type;   /* type: of the operands; `to`: of what cvt makes */
    bool is_typed, is_pair, converts;
} Form;

static bool type_of(const char *word, SType *t, bool *is_pair) {
    static const struct {
        const char *word;
        SType type;
        bool is_pair;
    } types[] = {
        {"f32", ST_FP32, false}, {"f64", ST_FP64, false}, {"f16", ST_FP16, false},   {"bf16", ST_BF16, false},
        {"s8", ST_I8, false},    {"s16", ST_I16, false},  {"s32", ST_I32, false},    {"s64", ST_I64, false},
        {"u8", ST_U8, false},    {"u16", ST_U16, false},  {"u32", ST_U32, false},    {"u64", ST_U64, false},
        {"b8", ST_U8, false},    {"b16", ST_U16, false},  {"b32", ST_U32, false},    {"b64", ST_U64, false},
        {"f16x2", ST_FP16, true}, {"bf16x2", ST_BF16, true}, {"f32x2", ST_FP32, true},
    };
    for (size_t i = 0; i < COUNT(types); i++) {
        if (strcmp(types[i].word, word) != 0) continue;
        *t = types[i].type;
        *is_pair = types[i].is_pair;
        return true;
    }
    return false;
}

static bool is_passed_over(const char *word) {
    static const char *const words[] = {"ftz", "approx", "full", "rn", "lo"};
    for (size_t i = 0; i < COUNT(words); i++) {
        if (strcmp(words[i], word) == 0) return true;
    }
    return false;
}

/* add.rn.ftz.f32: ptx_add of fp32. cvt.rzi.s32.f32: ptx_cvt_rzi of fp32 to i32. */
static Form form_of(Checker *c, const char *op) {
    Form f = {0};
    Text name = {0};
    const char *words[8];
    uint32_t n = 0;
    for (const char *p = op; *p && n < COUNT(words);) {
        size_t length = strcspn(p, ".");
        words[n++] = arena_strndup(c->a, p, length);
        p += length + (p[length] == '.');
    }
    bool is_cvt = n && strcmp(words[0], "cvt") == 0, ignored = false;
    if (n) f.is_typed = type_of(words[n - 1], &f.type, &f.is_pair);
    f.converts = is_cvt && n > 2 && type_of(words[n - 2], &f.to, &ignored) && !ignored;
    uint32_t last = n - f.is_typed - f.converts;
    text_printf(&name, "ptx");
    for (uint32_t i = 0; i < last; i++) {
        if (!is_passed_over(words[i])) text_printf(&name, "_%s", words[i]);
    }
    f.name = arena_strndup(c->a, name.at, name.len);
    text_free(&name);
    return f;
}

static const Sem *typed(Checker *c, const Sem *v, SType t, Span at) {
    if (sem_is_number(v)) return sem_run(c, t, const_value(c, v, t, shape_scalar()), NULL);
    const Sem *in[] = {v, sem_type(c, t, false)};
    return call_asm(c, "as_type", in, 2, at);
}

static const Sem *one(Reader *r, const Form *f, const Sem *const *in, uint32_t count) {
    const Sem *values[MOST_OPERANDS + 1];
    const Sem *function = library_find(r->c, "asm", f->name);
    if (!function || function->fn->list.len != count + f->converts) return NULL;
    for (uint32_t i = 0; i < count; i++) {
        bool stays = !f->is_typed || (function->fn->list.at[i]->a && sem_is_number(in[i])); /* a: constexpr */
        values[i] = stays ? in[i] : typed(r->c, in[i], f->type, r->at);
    }
    if (f->converts) values[count] = sem_type(r->c, f->to, false);
    return call_function(r->c, function, values, count + f->converts, r->at);
}

static const Sem *packed(Reader *r, const Sem *const *parts, uint32_t count, uint32_t bits) {
    const Sem **items = NEW_ARRAY(r->c->a, const Sem *, count);
    for (uint32_t i = 0; i < count; i++) items[i] = to_run(r->c, parts[i], r->at);
    const Sem *in[] = {sem_tuple(r->c, items, count), sem_i64(r->c, bits)};
    return call_asm(r->c, "pack", in, 2, r->at);
}

static const Sem *unpacked(Reader *r, const Sem *v, uint32_t count, uint32_t bits) {
    const Sem *in[] = {to_run(r->c, v, r->at), sem_i64(r->c, count), sem_i64(r->c, bits)};
    return call_asm(r->c, "unpack", in, 3, r->at);
}

/* Both halves of a pair by themselves. */
static const Sem *of_pairs(Reader *r, const Form *f, const Sem *const *in, uint32_t count) {
    const Sem *half[2][MOST_OPERANDS], *result[2];
    uint32_t bits = stype_bits(f->type);
    for (uint32_t i = 0; i < count; i++) {
        const Sem *both = unpacked(r, in[i], 2, bits);
        if (sem_is_error(both)) return both;
        for (uint32_t k = 0; k < 2; k++) half[k][i] = both->items[k];
    }
    for (uint32_t k = 0; k < 2; k++) {
        result[k] = one(r, f, half[k], count);
        if (!result[k] || sem_is_error(result[k])) return result[k];
    }
    return packed(r, result, 2, bits);
}

static void assign(Reader *r, const Instruction *in, const char *name, const Sem *value) {
    Register *to = find_register(r, name);
    const Sem *guard = in->guard && to->value ? value_of(r, in->guard) : NULL;
    if (guard && !r->failed) {
        const Sem *now = value;
        if (sem_is_number(now)) now = to_run(r->c, now, r->at);
        const Sem *before = typed(r->c, to_run(r->c, to->value, r->at), now->type, r->at);
        value = arith_select(r->c, guard, in->is_inverted ? before : now, in->is_inverted ? now : before, r->at);
        to = find_register(r, name); /* the list may have moved */
    }
    to->value = value;
    r->failed |= sem_is_error(value);
}

static void run_instruction(Reader *r, const Instruction *in) {
    const Sem *values[MOST_OPERANDS];
    uint32_t count = 0;
    Form f = form_of(r->c, in->op);
    const Operand *to = &in->operand[0], *from = &in->operand[1];
    bool is_mov = strcmp(f.name, "ptx_mov") == 0 && f.is_typed && in->count == 2;
    for (uint32_t i = 1; i < in->count; i++) {
        for (uint32_t k = 0; k < in->operand[i].parts && count < MOST_OPERANDS; k++)
            values[count++] = value_of(r, in->operand[i].part[k]);
    }
    if (r->failed) return;
    uint32_t bits = stype_bits(f.type);
    const Sem *result = NULL;
    if (is_mov && to->is_vector && !from->is_vector) {
        result = unpacked(r, values[0], to->parts, bits / to->parts);
        for (uint32_t i = 0; i < to->parts && !sem_is_error(result); i++) assign(r, in, to->part[i], result->items[i]);
        return;
    }
    if (is_mov && from->is_vector && !to->is_vector) result = packed(r, values, count, bits / count);
    else if (!to->is_vector) result = f.is_pair && !is_mov ? of_pairs(r, &f, values, count) : one(r, &f, values, count);
    if (!result) fail(r, arena_printf(r->c->a, "'%s' of %u operands", in->op, in->count));
    else assign(r, in, to->text, result);
}

/* ---- The call ---------------------------------------------------------------------------------------------------- */

static uint32_t registers_for(SType t, uint32_t pack) {
    uint32_t bits = stype_bits(t) < 8 ? 8 : stype_bits(t);
    return bits >= 32 ? pack : bits * pack <= 32 ? 1 : bits * pack / 32;
}

/* The arguments in their common shape, as registers behind those of the results. */
static bool enter_arguments(Reader *r, const Sem *args, uint32_t pack, uint32_t number, Shape *shape) {
    Checker *c = r->c;
    *shape = shape_scalar();
    for (uint32_t i = 0; i < args->count; i++) {
        const Sem *x = args->items[i];
        Shape now = *shape;
        if (!sem_is_value(x)) return fail(r, arena_printf(c->a, "%s as an argument", sem_type_text(c, x))), false;
        if (!shape_join(now, sem_shape(x), shape)) return fail(r, "arguments whose shapes do not broadcast"), false;
    }
    if (shape_elements(*shape) < pack) return fail(r, "more packed elements than there are"), false;
    for (uint32_t i = 0; i < args->count; i++) {
        const Sem *x = broadcast_to(c, to_run(c, args->items[i], r->at), *shape);
        const Sem *in[] = {x, sem_i64(c, pack)};
        const Sem *regs = call_asm(c, "registers", in, 2, r->at);
        if (sem_is_error(regs)) return false;
        for (uint32_t k = 0; k < regs->count; k++, number++) {
            Register *to = find_register(r, arena_printf(c->a, "$%u", number));
            to->value = regs->items[k];
        }
    }
    return true;
}

static const Sem *result_of(Reader *r, SType t, uint32_t pack, Shape shape, uint32_t *number) {
    Checker *c = r->c;
    uint32_t count = registers_for(t, pack);
    const Sem **regs = NEW_ARRAY(c->a, const Sem *, count);
    for (uint32_t i = 0; i < count; i++) {
        regs[i] = value_of(r, arena_printf(c->a, "$%u", (*number)++));
        if (sem_is_error(regs[i])) return regs[i];
        Shape each = pack == 1 ? shape : shape_row(shape_log2(shape) - (uint32_t)__builtin_ctz(pack));
        regs[i] = broadcast_to(c, to_run(c, regs[i], r->at), each);
    }
    const Sem *in[] = {sem_tuple(c, regs, count), sem_type(c, t, false), sem_i64(c, pack), shape_tuple(c, shape)};
    return call_asm(c, "elements", in, 4, r->at);
}

const Sem *builtin_inline_asm(Checker *c, Call *call) {
    const Sem *types = call->arg[ARG_DTYPE], *args = call->arg[ARG_ARGS], *text = call->arg[ARG_TEXT];
    Reader r = {.c = c, .at = call->span, .p = text->s};
    int64_t pack = 1;
    Shape shape;
    if (args->kind != SEM_TUPLE) return fail(&r, "arguments that are no list");
    if (call->arg[ARG_PACK] && !sem_want_int(c, call->arg[ARG_PACK], call->at[ARG_PACK], "pack", &pack))
        return &sem_error;
    if (pack < 1 || pack > MOST_PACK || (pack & (pack - 1))) return fail(&r, "that many packed elements");
    bool is_one = types->kind == SEM_TYPE;
    if (is_one) types = sem_tuple(c, &call->arg[ARG_DTYPE], 1);
    uint32_t results = 0;
    for (uint32_t i = 0; i < types->count; i++) {
        if (types->items[i]->kind != SEM_TYPE || types->items[i]->is_pointer) return fail(&r, "a result of no number");
        results += registers_for(types->items[i]->type, (uint32_t)pack);
    }
    if (!enter_arguments(&r, args, (uint32_t)pack, results, &shape)) return &sem_error;
    for (Instruction in; !r.failed && read_instruction(&r, &in);) run_instruction(&r, &in);
    const Sem **items = NEW_ARRAY(c->a, const Sem *, types->count);
    uint32_t number = 0;
    for (uint32_t i = 0; i < types->count; i++) {
        items[i] = r.failed ? &sem_error : result_of(&r, types->items[i]->type, (uint32_t)pack, shape, &number);
        if (sem_is_error(items[i])) return &sem_error;
    }
    return is_one ? items[0] : sem_tuple(c, items, types->count);
}

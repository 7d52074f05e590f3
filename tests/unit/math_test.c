/* math_test.c - the elementwise expansions of codegen/math.h, compiled for this machine and run.
 *
 * In: every op and conversion as a small host function (portable forms: no native 16-bit floats; with and without fma).
 * Expected values come from long double and float64 arithmetic written here, never from LLVM.
 */
#include <llvm-c/LLJIT.h>
#include <llvm-c/Orc.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "codegen/math.h"
#include "ir/private.h"

/* ---- A module of one function per op ----------------------------------------------------------------------------- */

typedef void Kernel(const void *a, const void *b, const void *c, void *r);

typedef struct Built {
    Arena *arena;
    LLVMOrcLLJITRef jit;
} Built;

static Built with_fma, without_fma;
static const DType floats[] = {DT_FP8E4NV, DT_FP8E5, DT_FP16, DT_BF16, DT_FP32, DT_FP64};
static const DType ints[] = {DT_I8, DT_I16, DT_I32, DT_I64};

static void add_function(const Math *k, const char *name, const Op *op, bool shared_divisor) {
    Llvm *m = k->m;
    LLVMTypeRef params[] = {m->ptr, m->ptr, m->ptr, m->ptr};
    LLVMValueRef f = LLVMAddFunction(m->module, name, LLVMFunctionType(m->none, params, 4, 0)),
                 x[3] = {NULL, NULL, NULL};
    LLVMPositionBuilderAtEnd(m->at, LLVMAppendBasicBlockInContext(m->context, f, ""));
    for (uint32_t i = 0; i < op->nargs; i++)
        x[i] = LLVMBuildLoad2(m->at, llvm_type(m, op->args[i]->type.dtype), LLVMGetParam(f, i), "");
    LLVMValueRef v = shared_divisor ? math_divide(k, x[0], math_divisor(k, x[1])) : math_op(k, op, x);
    LLVMBuildStore(m->at, v, LLVMGetParam(f, 3));
    LLVMBuildRetVoid(m->at);
}

static void add_op(const Math *k, OpKind kind, DType from, DType to, uint32_t nargs, Round round, const char *name) {
    Value a = {.type = {.dtype = from}}, r = {.type = {.dtype = to}};
    Value *args[] = {&a, &a, &a}, *results[] = {&r};
    Op op = {.kind = kind, .args = args, .results = results, .nargs = nargs, .nresults = 1, .attr = {.round = round}};
    add_function(k, name, &op, false);
}

/* How many it takes of this type, to give one; 0: it does not. */
static uint32_t operands_of(OpKind kind, DType d) {
    if (op_class(kind) != CLASS_ELEMENT || (op_info[kind].attr != ATTR_NONE && op_info[kind].attr != ATTR_ACCURACY))
        return 0;
    Value x = {.type = {.dtype = d}};
    Infer in = {.kind = kind, .args = (Value *[]){&x, &x, &x}, .nargs = (uint32_t)op_info[kind].nargs};
    return op_infer(&in) && in.result.dtype == d ? in.nargs : 0;
}

static void add_arithmetic(const Math *k) {
    char name[64];
    for (OpKind kind = 0; kind < OP_COUNT; kind++) {
        for (size_t i = 0; operands_of(kind, DT_FP32) && i < COUNT(floats); i++) {
            snprintf(name, sizeof name, "%s_%s", op_info[kind].name, dtype_name(floats[i]));
            add_op(k, kind, floats[i], floats[i], operands_of(kind, DT_FP32), 0, name);
        }
        for (size_t i = 0; operands_of(kind, DT_I32) && i < COUNT(ints); i++) {
            snprintf(name, sizeof name, "%s_%s", op_info[kind].name, dtype_name(ints[i]));
            add_op(k, kind, ints[i], ints[i], 2, 0, name);
        }
    }
}

static void add_conversions(const Math *k) {
    static const OpKind from_int[] = {OP_SITOFP, OP_UITOFP}, to_int[] = {OP_FPTOSI, OP_FPTOUI, OP_FPTOSIRN};
    char name[64];
    for (size_t i = 0; i < COUNT(floats); i++) {
        const char *fi = dtype_name(floats[i]);
        for (size_t j = 0; j < COUNT(floats); j++)
            for (int zero = 0; zero < 2 && i != j; zero++) {
                snprintf(name, sizeof name, "%s_%s_%s", zero ? "cut" : "cvt", fi, dtype_name(floats[j]));
                add_op(k, OP_FPTRUNC, floats[i], floats[j], 1, zero ? ROUND_ZERO : ROUND_NEAREST, name);
            }
        for (size_t j = 0; j < 3 * COUNT(ints); j++) {
            DType t = ints[j / 3];
            snprintf(name, sizeof name, "%s_%s_%s", op_info[to_int[j % 3]].name, fi, dtype_name(t));
            add_op(k, to_int[j % 3], floats[i], t, 1, 0, name);
            if (j % 3 == 2) continue;
            snprintf(name, sizeof name, "%s_%s_%s", op_info[from_int[j % 3]].name, dtype_name(t), fi);
            add_op(k, from_int[j % 3], t, floats[i], 1, 0, name);
        }
    }
}

/* A reciprocal as bad as the hardware's may be: one ulp too large. */
static LLVMValueRef bad_reciprocal(const Math *k, Approx which, LLVMValueRef x, LLVMValueRef y) {
    (void)y;
    if (which != APPROX_RCP) return NULL;
    LLVMValueRef r = LLVMBuildFDiv(k->m->at, llvm_real(k->m->f32, 1), x, "");
    return LLVMBuildFMul(k->m->at, r, llvm_real(k->m->f32, 1 + 0x1p-23), "");
}

static Built build(bool fma_is_native) {
    Built b = {.arena = arena_create()};
    CodegenOptions o = {.diag = diag_create(b.arena, 10), .arena = b.arena};
    Llvm *m = llvm_create(&o, "math", (Span){0, 0});
    Math k = {.m = m, .features = fma_is_native ? FEATURES(FMA) : 0};
    add_arithmetic(&k);
    add_conversions(&k);
    k.approx = bad_reciprocal;
    Value f = {.type = {.dtype = DT_FP32}};
    Value *args[] = {&f, &f}, *results[] = {&f};
    Op op = {.kind = OP_FDIV, .args = args, .results = results, .nargs = 2, .nresults = 1};
    add_function(&k, "divide_shared", &op, true);
    llvm_verify(m, "in math_test");
    Processor here;
    LLVMTargetMachineRef machine = processor_find(NULL, &here) ? llvm_machine_of(&here, 1) : NULL;
    Bytes object = {0};
    assert_true(llvm_emit(m, machine, LLVMObjectFile, &object));
    llvm_machine_give(machine, 1);
    llvm_destroy(m);
    LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(object.at, object.len, "math");
    assert_null(LLVMOrcCreateLLJIT(&b.jit, NULL));
    LLVMOrcJITDylibRef library = LLVMOrcLLJITGetMainJITDylib(b.jit);
    LLVMOrcDefinitionGeneratorRef process = NULL;
    assert_null(
        LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess(&process, LLVMOrcLLJITGetGlobalPrefix(b.jit), NULL, NULL));
    LLVMOrcJITDylibAddGenerator(library, process);
    assert_null(LLVMOrcLLJITAddObjectFile(b.jit, library, buffer));
    return b;
}

static Kernel *find(const Built *b, const char *name) {
    LLVMOrcExecutorAddress address = 0;
    assert_null(LLVMOrcLLJITLookup(b->jit, &address, name));
    return (Kernel *)(uintptr_t)address;
}

static int set_up(void **state) {
    (void)state;
    with_fma = build(true);
    without_fma = build(false);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    LLVMOrcDisposeLLJIT(with_fma.jit);
    LLVMOrcDisposeLLJIT(without_fma.jit);
    arena_destroy(with_fma.arena);
    arena_destroy(without_fma.arena);
    return 0;
}

/* ---- Inputs and distances ---------------------------------------------------------------------------------------- */

static uint64_t random_state = 88172645463325252U;

static uint64_t random_bits(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static float float_of(uint32_t bits) {
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static double double_of(uint64_t bits) {
    double d;
    memcpy(&d, &bits, sizeof d);
    return d;
}

/* Distance in units in the last place of a format with `digits` bits and least exponent `least`; huge where NaN or
 * infinity is in the wrong place. */
static long double ulps(long double got, long double want, long double rounded, int digits, int least) {
    if (isnan(want)) return isnan(got) ? 0 : 1e9L;
    if (isnan(got) || isinf(got) || isinf(rounded)) return got == rounded ? 0 : 1e9L;
    int e = 0;
    frexpl(want, &e);
    return fabsl(got - want) / ldexpl(1, (e < least ? least : e) - digits);
}

static long double ulps32(float got, long double want) {
    return ulps(got, want, (float)want, 24, -125);
}
static long double ulps64(double got, long double want) {
    return ulps(got, want, (double)want, 53, -1021);
}

static long double rsqrt_l(long double x) {
    return 1 / sqrtl(x);
}

typedef struct Unary {
    const char *name;
    long double (*want)(long double);
} Unary;

static const Unary unaries[] = {{"exp", expl}, {"exp2", exp2l}, {"log", logl}, {"log2", log2l}, {"rsqrt", rsqrt_l}};

static float sample32(uint32_t i) {
    static const uint32_t special[] = {0,          0x80000000, 0x7f800000, 0xff800000, 0x7fc00000,
                                       1,          0x80000001, 0x007fffff, 0x00800000, 0x7f7fffff,
                                       0x3f800000, 0x3f7fffff, 0x3f800001, 0x42b17218, 0xc2cff1b5};
    if (i < COUNT(special)) return float_of(special[i]);
    if (i % 3 == 0) return (float)((double)(int64_t)random_bits() * 0x1p-56);
    return float_of((uint32_t)random_bits());
}

static double sample64(uint32_t i) {
    static const uint64_t special[] = {0,
                                       UINT64_C(1) << 63,
                                       UINT64_C(0x7ff0000000000000),
                                       UINT64_C(0xfff0000000000000),
                                       1,
                                       UINT64_C(0x7ff8000000000000),
                                       UINT64_C(0x0010000000000000),
                                       UINT64_C(0x3ff0000000000000)};
    if (i < COUNT(special)) return double_of(special[i]);
    switch (i % 4) {
    case 0: return double_of(random_bits());
    case 1: return (double)(int64_t)random_bits() * 0x1p-53;
    case 2: return 1 + (double)(int64_t)random_bits() * 0x1p-64;
    default: return -745 + fabs((double)(int64_t)random_bits()) * 0x1p-63 * 50;
    }
}

/* ---- exp, log and roots ------------------------------------------------------------------------------------------ */

static void check_unaries(const Built *b) {
    char name[32];
    for (size_t u = 0; u < COUNT(unaries); u++) {
        snprintf(name, sizeof name, "%s_fp32", unaries[u].name);
        Kernel *k32 = find(b, name);
        snprintf(name, sizeof name, "%s_fp64", unaries[u].name);
        Kernel *k64 = find(b, name);
        for (uint32_t i = 0; i < 200000; i++) {
            float x = sample32(i), y = 0;
            k32(&x, NULL, NULL, &y);
            if (ulps32(y, unaries[u].want(x)) > 2) fail_msg("%s_fp32(%a) = %a", unaries[u].name, x, y);
            double xd = sample64(i), yd = 0;
            k64(&xd, NULL, NULL, &yd);
            if (ulps64(yd, unaries[u].want(xd)) > 2) fail_msg("%s_fp64(%a) = %a", unaries[u].name, xd, yd);
        }
    }
}

static void test_unary(void **state) {
    (void)state;
    check_unaries(&with_fma);
    check_unaries(&without_fma);
}

/* The distance itself must see a naive exp: x * log2(e) rounded, without the correction. */
static void test_ulps_sees_naive_exp(void **state) {
    (void)state;
    float x = 88.5F, naive = exp2f(x * 1.44269502F);
    assert_true(ulps32(naive, expl(x)) > 8);
    assert_true(ulps32(0, expl(-100)) > 2);
    assert_true(ulps32(1, NAN) > 2);
}

static void test_divide_shared(void **state) {
    (void)state;
    Kernel *k = find(&with_fma, "divide_shared");
    for (uint32_t i = 0; i < 500000; i++) {
        float x = sample32(i * 7 % 500001), y = sample32(i), q = 0;
        if (i % 4 == 0) y = float_of((uint32_t)random_bits() & 0x807fffff); /* subnormal divisors */
        k(&x, &y, NULL, &q);
        if (ulps32(q, (long double)x / (long double)y) > 2) fail_msg("%a / %a = %a", x, y, q);
    }
}

static void test_remainder(void **state) {
    (void)state;
    Kernel *k32 = find(&with_fma, "frem_fp32"), *k64 = find(&with_fma, "frem_fp64");
    for (uint32_t i = 0; i < 200000; i++) {
        float x = sample32(i), y = sample32(i % 31), z = 0, w;
        if (i % 2) y = float_of((uint32_t)random_bits());
        k32(&x, &y, NULL, &z);
        w = fmodf(x, y);
        if (!(isnan(z) && isnan(w)) && memcmp(&z, &w, sizeof z)) fail_msg("fmod(%a, %a) = %a", x, y, z);
        double xd = sample64(i), yd = i % 2 ? double_of(random_bits()) : sample64(i / 2), zd = 0, wd;
        k64(&xd, &yd, NULL, &zd);
        wd = fmod(xd, yd);
        if (!(isnan(zd) && isnan(wd)) && memcmp(&zd, &wd, sizeof zd)) fail_msg("fmod(%a, %a) = %a", xd, yd, zd);
    }
}

/* ---- Conversions ------------------------------------------------------------------------------------------------- */

typedef struct Format {
    DType d;
    int bits, mantissa, bias;
    uint32_t largest; /* code of the largest finite number */
    bool has_infinity;
} Format;

static const Format formats[] = {
    {DT_FP16, 16, 10, 15, 0x7bff, true},
    {DT_BF16, 16, 7, 127, 0x7f7f, true},
    {DT_FP8E5, 8, 2, 15, 0x7b, true},
    {DT_FP8E4NV, 8, 3, 7, 0x7e, false},
};

static long double decode(const Format *f, uint32_t code) {
    uint32_t exponent = code >> f->mantissa, fraction = code & ((1U << f->mantissa) - 1);
    long double m = (long double)fraction / (1U << f->mantissa);
    return exponent ? ldexpl(1 + m, (int)exponent - f->bias) : ldexpl(m, 1 - f->bias);
}

/* The code of a >= 0 rounded to nearest even (or down), by bisection over the codes. */
static uint32_t encode(const Format *f, long double a, bool down) {
    uint32_t lo = 0, hi = f->largest + 1;
    long double past = decode(f, f->largest) + (decode(f, f->largest) - decode(f, f->largest - 1));
    if (isinf(a) || (a >= past && !down)) return f->has_infinity ? f->largest + 1 : f->largest;
    while (hi - lo > 1) {
        uint32_t middle = (lo + hi) / 2;
        if (decode(f, middle) <= a)
            lo = middle;
        else
            hi = middle;
    }
    if (down) return lo;
    long double above = hi > f->largest ? past : decode(f, hi), below = a - decode(f, lo);
    bool up = above - a < below || (above - a == below && (hi & 1) == 0);
    return !up ? lo : hi > f->largest && !f->has_infinity ? f->largest : hi;
}

static void check_narrow(const Format *f, const char *kind, DType from, long double x, const void *bits) {
    char name[32];
    uint32_t got = 0;
    snprintf(name, sizeof name, "%s_%s_%s", kind, dtype_name(from), dtype_name(f->d));
    find(&without_fma, name)(bits, NULL, NULL, &got);
    uint32_t want = encode(f, fabsl(x), !strcmp(kind, "cut")) | (uint32_t)(x < 0 || (x == 0 && signbit(x)))
                                                                    << (f->bits - 1);
    if (got != want) fail_msg("%s(%La) = %x, not %x", name, x, got, want);
}

static void test_narrow(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(formats); i++) {
        const Format *f = &formats[i];
        for (uint32_t n = 0; n < 6000; n++) {
            uint32_t code = (uint32_t)random_bits() % f->largest;
            long double exact = decode(f, code), gap = decode(f, code + 1) - exact;
            /* On a number, halfway to the next, or a hair to either side of halfway. */
            double x = (double)(exact + gap * (long double)(n % 3) / 2);
            if (n % 5 == 4) x = nextafter(x, n % 2 ? 1e30 : 0);
            if (n % 7 == 6) x = double_of(random_bits());
            if (n % 2) x = -x;
            if (isnan(x)) continue;
            float y = (float)x;
            check_narrow(f, "cvt", DT_FP64, x, &x);
            check_narrow(f, "cvt", DT_FP32, y, &y);
            if (!isinf(y)) check_narrow(f, "cut", DT_FP32, y, &y);
        }
    }
}

static void test_widen(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(formats); i++) {
        const Format *f = &formats[i];
        char name[32];
        snprintf(name, sizeof name, "cvt_%s_fp32", dtype_name(f->d));
        Kernel *k = find(&without_fma, name);
        for (uint32_t code = 0; code < 1U << f->bits; code++) {
            uint32_t magnitude = code & ((1U << (f->bits - 1)) - 1);
            float got = 0;
            k(&code, NULL, NULL, &got);
            bool infinite = f->has_infinity && magnitude == f->largest + 1, nan = magnitude > f->largest + infinite;
            float want = nan ? NAN : infinite ? INFINITY : (float)decode(f, magnitude);
            if (magnitude != code) want = -want;
            if (nan ? !isnan(got) : memcmp(&got, &want, sizeof got)) fail_msg("%s(%x) = %a", name, code, got);
        }
    }
}

static void test_integers_to_bf16(void **state) {
    (void)state;
    Kernel *s64 = find(&without_fma, "sitofp_i64_bf16"), *u64 = find(&without_fma, "uitofp_i64_bf16");
    Kernel *s32 = find(&without_fma, "sitofp_i32_bf16");
    for (uint32_t n = 0; n < 200000; n++) {
        int64_t x = (int64_t)random_bits() >> random_bits() % 64;
        uint64_t u = random_bits() >> random_bits() % 64;
        int32_t w = (int32_t)x;
        uint16_t got = 0;
        s64(&x, NULL, NULL, &got);
        assert_int_equal(got, encode(&formats[1], fabsl((long double)x), false) | (x < 0 ? 0x8000U : 0));
        u64(&u, NULL, NULL, &got);
        assert_int_equal(got, encode(&formats[1], (long double)u, false));
        s32(&w, NULL, NULL, &got);
        assert_int_equal(got, encode(&formats[1], fabsl((long double)w), false) | (w < 0 ? 0x8000U : 0));
    }
}

static void test_floats_to_integers(void **state) {
    (void)state;
    static const char *const names[] = {"fptosi_fp32_i32", "fptosi_rn_fp32_i32", "fptoui_fp32_i8"};
    static const struct {
        float x;
        int32_t want[3];
    } cases[] = {{NAN, {0, 0, 0}}, {INFINITY, {INT32_MAX, INT32_MAX, 255}}, {-INFINITY, {INT32_MIN, INT32_MIN, 0}},
                 {2.5F, {2, 2, 2}}, {3e9F, {INT32_MAX, INT32_MAX, 255}}, {254.99F, {254, 255, 254}},
                 {256, {256, 256, 255}}, {-0.0F, {0, 0, 0}}, {-1.9F, {-1, -2, 0}}, {-3.5F, {-3, -4, 0}}};
    for (size_t n = 0; n < COUNT(cases) * COUNT(names); n++) {
        int32_t got = 0; /* of one byte: the lowest */
        find(&with_fma, names[n % 3])(&cases[n / 3].x, NULL, NULL, &got);
        assert_int_equal(got, cases[n / 3].want[n % 3]);
    }
}

/* ---- Arithmetic -------------------------------------------------------------------------------------------------- */

static void test_fma16(void **state) {
    (void)state;
    Kernel *k = find(&without_fma, "fma_fp16");
    const Format *f = &formats[0];
    for (uint32_t n = 0; n < 300000; n++) {
        uint64_t r = random_bits();
        uint16_t v[3] = {(uint16_t)r, (uint16_t)(r >> 16), (uint16_t)(r >> 32)}, got = 0;
        long double x[3];
        bool finite = true;
        for (int i = 0; i < 3; i++) {
            finite &= (v[i] & 0x7c00) != 0x7c00;
            x[i] = decode(f, v[i] & 0x7fff) * (v[i] & 0x8000 ? -1 : 1);
        }
        long double sum = x[0] * x[1] + x[2]; /* 22 bits by 11, at most 2^31 apart: exact in 64 bits */
        if (!finite || sum == 0) continue;
        k(&v[0], &v[1], &v[2], &got);
        if (got != (encode(f, fabsl(sum), false) | (sum < 0 ? 0x8000U : 0)))
            fail_msg("fma_fp16(%x, %x, %x) = %x", v[0], v[1], v[2], got);
    }
}

static float call_f(const char *name, float x, float y) {
    float r = 0;
    find(&with_fma, name)(&x, &y, NULL, &r);
    return r;
}

static void test_minmax(void **state) {
    (void)state;
    assert_false(signbit(call_f("fmax_fp32", -0.0F, 0.0F)));
    assert_false(signbit(call_f("fmax_fp32", 0.0F, -0.0F)));
    assert_true(signbit(call_f("fmin_fp32", 0.0F, -0.0F)));
    assert_true(signbit(call_f("fmin_fp32", -0.0F, 0.0F)));
    assert_true(call_f("fmax_fp32", NAN, 1) == 1 && call_f("fmax_fp32", 1, NAN) == 1);
    assert_true(isnan(call_f("fmax_fp32", NAN, NAN)));
    assert_true(isnan(call_f("fmax_nan_fp32", NAN, 1)) && isnan(call_f("fmax_nan_fp32", 1, NAN)));
    assert_true(isnan(call_f("fmin_nan_fp32", NAN, 1)) && isnan(call_f("fmin_nan_fp32", 1, NAN)));
    assert_true(call_f("fmax_fp32", -INFINITY, -3e38F) == -3e38F);
}

static int32_t call_i(const char *name, int32_t x, int32_t y) {
    int32_t r = 77;
    find(&with_fma, name)(&x, &y, NULL, &r);
    return r;
}

static void test_integers(void **state) {
    (void)state;
    assert_int_equal(call_i("sdiv_i32", -7, 2), -3);
    assert_int_equal(call_i("srem_i32", -7, 2), -1);
    assert_int_equal(call_i("sdiv_i32", 5, 0), 0);
    assert_int_equal(call_i("srem_i32", 5, 0), 5);
    assert_int_equal(call_i("udiv_i32", 5, 0), 0);
    assert_int_equal(call_i("urem_i32", 5, 0), 5);
    assert_int_equal(call_i("sdiv_i32", INT32_MIN, -1), INT32_MIN);
    assert_int_equal(call_i("srem_i32", INT32_MIN, -1), 0);
    assert_int_equal(call_i("shl_i32", 3, 32), 0);
    assert_int_equal(call_i("shl_i32", 3, -1), 0);
    assert_int_equal(call_i("shl_i32", 1, 31), INT32_MIN);
    assert_int_equal(call_i("lshr_i32", -1, 32), 0);
    assert_int_equal(call_i("ashr_i32", -5, 32), -1);
    assert_int_equal(call_i("ashr_i32", 5, 99), 0);
    assert_int_equal(call_i("umax_i32", -1, 5), -1);
    assert_int_equal(call_i("smin_i32", -1, 5), -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unary),    cmocka_unit_test(test_ulps_sees_naive_exp),
        cmocka_unit_test(test_narrow),   cmocka_unit_test(test_divide_shared),
        cmocka_unit_test(test_widen),    cmocka_unit_test(test_integers_to_bf16),
        cmocka_unit_test(test_fma16),    cmocka_unit_test(test_floats_to_integers),
        cmocka_unit_test(test_minmax),   cmocka_unit_test(test_remainder),
        cmocka_unit_test(test_integers),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

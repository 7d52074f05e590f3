// hpp.cpp - fsc.hpp, every class of it: on the CPU, where results are compared, and on the fake driver's GPU, where
// launches are queued; what is moved, what is refused, and that nothing leaks (under the leak checker).
#include "fsc.hpp"

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#define EXPECT(x)                                                                                                      \
    do {                                                                                                               \
        if (!(x)) std::printf("%s:%d: %s\n", __FILE__, __LINE__, #x), std::exit(1);                                    \
    } while (0)

static_assert(fsc::dtype_of<float>::value == FSC_FP32 && fsc::dtype_of<fsc::bf16>::value == FSC_BF16);
static_assert(fsc::dtype_of<long long>::value == FSC_I64 && fsc::dtype_of<unsigned char>::value == FSC_U8);
static_assert(fsc::dtype_of<bool>::value == FSC_I1 && fsc::dtype_of<short>::value == FSC_I16);
static_assert(sizeof(fsc::fp16) == 2 && sizeof(fsc::fp8e5) == 1);
static_assert(!std::is_copy_constructible_v<fsc::buffer<float>> && !std::is_copy_constructible_v<fsc::device>);
static_assert(std::is_nothrow_move_constructible_v<fsc::buffer<float>> && std::is_nothrow_move_assignable_v<fsc::stream>);
static_assert(!std::is_convertible_v<fsc::fp16 *, fsc::bf16 *>);

// The status of the error that it throws; FSC_OK: none.
template <class F> static fsc_status thrown(F &&f, const char *words) {
    try {
        f();
    } catch (const fsc::error &e) {
        if (!std::strstr(e.what(), words)) std::printf("'%s' lacks '%s'\n", e.what(), words), std::exit(1);
        return e.status();
    }
    return FSC_OK;
}

static void on_cpu(const fsc::source &source) {
    fsc::device d("cpu");
    EXPECT(d.props().kind == FSC_CPU);
    const std::vector<float> host{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    fsc::buffer<float> x(d, host), y(d, 12);
    fsc::jit softmax(d, source);
    EXPECT(softmax.num_args() == 6);
    softmax(fsc::array(y, {3, 4}), fsc::array(x, {3, 4}));
    for (float v : {y.read()[0], y.read()[4], y.read()[8]}) EXPECT(std::fabs(v - 0.0320586f) < 1e-6f);
    // Every second row of six, by strides; and all arguments, by the C function's rules.
    y.fill(0);
    softmax(fsc::array(y, {2, 2}, {8, 1}), fsc::array(x, {2, 2}, {8, 1}));
    const std::vector<float> rows = y.read();
    EXPECT(std::fabs(rows[0] + rows[1] - 1) < 1e-6f && std::fabs(rows[8] + rows[9] - 1) < 1e-6f && rows[4] == 0);
    softmax(y, x, 4, 4, 3, 4);
    EXPECT(std::fabs(y.read()[3] - 0.6439143f) < 1e-6f);
    softmax(fsc::array(y, {3, 4}), fsc::array(x, {3, 4}), fsc::missing(), fsc::missing(), 3u);

    // Spans of vectors, arrays and parts; buffers that were moved.
    std::array<float, 4> part{};
    y.read(part);
    EXPECT(part[3] == y.read()[3]);
    x.write(fsc::span<const float>(host.data() + 1, 2));
    EXPECT(x.read()[0] == 1 && x.read()[1] == 2 && x.read()[2] == 2);
    fsc::buffer<float> moved(std::move(x)), other(d, 1);
    other = std::move(moved);
    EXPECT(other.size() == 12 && other.size_bytes() == 48 && other.read()[11] == 11);
    fsc::buffer<double> none(d, 0);
    EXPECT(none.read().empty());
    none.fill(1);

    // Settings, kinds of arguments, halves.
    fsc::jit halves(d, source, {{"T", "fp16"}, {"BLOCK", "16"}});
    fsc::buffer<fsc::fp16> a(d, std::vector<fsc::fp16>(10)), b(d, 10);
    halves(fsc::array(b, {1, 10}), fsc::array(a, {1, 10}));
    EXPECT(b.read()[9].bits == 0x2e66); // 0.1
    EXPECT(thrown([&] { halves(fsc::array(y, {1, 10}), fsc::array(a, {1, 10})); }, "y") == FSC_NO_VARIANT);
    EXPECT(fsc::arg(-1).u.integer == -1 && fsc::arg(~std::uint64_t{0}).kind == FSC_ARG_UNSIGNED);
    EXPECT(fsc::arg(0.5f).u.real == 0.5 && fsc::arg(nullptr).bytes == 0 && fsc::arg(true).u.integer == 1);
    EXPECT(fsc::arg(other.data()).bytes == 0 && fsc::arg(other).bytes == 48);

    // What is refused.
    EXPECT(thrown([&] { y.write(std::vector<float>(13)); }, "12 elements has no 13") == FSC_ERROR_USAGE);
    EXPECT(thrown([&] { softmax(fsc::array(y, {3, 4}), fsc::array(other, {3, 3})); }, "n_cols") == FSC_ERROR_ARGUMENT);
    EXPECT(thrown([&] { softmax(fsc::array(y, {4, 4}), fsc::array(other, {4, 4})); }, "") == FSC_ERROR_CONTRACT);
    EXPECT(thrown([&] { fsc::array(y, {3, 4}, {1}); }, "a stride for each") == FSC_ERROR_USAGE);
    EXPECT(thrown([&] { fsc::jit(d, fsc::source("a.dsl", "@kernel\ndef f(:\n")); }, "a.dsl:2:") == FSC_ERROR_SOURCE);
    EXPECT(thrown([&] { fsc::jit(d, source, {{"BLOK", "1"}}); }, "BLOK") == FSC_ERROR_USAGE);
    EXPECT(thrown([] { fsc::device("tpu"); }, "'tpu' is no device") == FSC_ERROR_USAGE);
    EXPECT(thrown([] { fsc::source("none.dsl"); }, "cannot read 'none.dsl'") == FSC_ERROR_USAGE);
}

static void on_gpu(const fsc::source &source) {
    fsc::device d("cuda");
    EXPECT(d.props().kind == FSC_CUDA);
    fsc::stream s(d), t(d);
    EXPECT(s.get() && s.get() != t.get());
    fsc::stream u(std::move(s));
    t = std::move(u);
    t.wait();
    fsc::buffer<float> x(d, std::vector<float>(4096)), y(d, 4096);
    EXPECT(x.read() == std::vector<float>(4096));
    fsc::jit softmax(d, source);
    softmax(t, fsc::array(y, {4, 1024}), fsc::array(x, {4, 1024}));
    t.wait();
    d.wait();

    // A kernel out of PTX.
    fsc_compile_options o;
    fsc_compile_options_init(&o);
    o.file = source.file.c_str();
    o.arch = "sm_90";
    fsc_compilation *c = nullptr;
    fsc::check(fsc_compile(&o, source.text.data(), source.text.size(), &c));
    std::size_t n = 0;
    const char *ptx = fsc_compilation_output(c, &n);
    {
        fsc::module m(d, std::string(ptx, n));
        fsc::kernel k(m, "softmax");
        k.add_variant(m);
        k(y, x, 1024, 1024, 4, 1024);
        k(t, y, fsc::span<const float>(x.data(), 4096), 1024, 1024, 4, 1024);
        const std::int64_t grid[] = {4, 1, 1};
        EXPECT(thrown([&] { k.launch(nullptr, grid, y, x); }, "softmax") == FSC_ERROR_ARGUMENT);
        EXPECT(thrown([&] { k(y, x, 1024, 1024, 5, 1024); }, "y") == FSC_ERROR_CONTRACT);
        EXPECT(thrown([&] { fsc::kernel(m, "none"); }, "none") == FSC_ERROR_USAGE);
        EXPECT(thrown([&] { fsc::module(d, "no image"); }, "") != FSC_OK);
    }
    fsc_compilation_destroy(c);
}

int main(int argc, char **argv) {
    const fsc::source source(argc > 1 ? argv[1] : "softmax.dsl");
    on_cpu(source);
    on_gpu(source);
}

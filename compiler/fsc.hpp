// fsc.hpp - fsc.h for C++17: what is made is destroyed, what fails throws, and pointers have element types.
//
//     fsc::device d("cuda");
//     fsc::jit softmax(d, fsc::source("softmax.dsl"));
//     fsc::buffer<float> x(d, host), y(d, host.size());
//     softmax(fsc::array(y, {rows, cols}), fsc::array(x, {rows, cols}));
//
// Everything here is inline and over the C functions: handles are got by get(), and nothing else is kept. What a handle
// is made on must outlive it. Not in here: what a program asks once, such as occupancy; the C functions are as good.
#ifndef FSC_HPP
#define FSC_HPP

#include "fsc.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace fsc {

class error : public std::runtime_error {
public:
    error(fsc_status status, const std::string &message)
        : std::runtime_error(std::string(fsc_status_name(status)) + ": " + message), status_(status) {}
    fsc_status status() const noexcept { return status_; }

private:
    fsc_status status_;
};

inline void check(fsc_status s) {
    if (s != FSC_OK) throw error(s, fsc_last_message());
}

// ---- Element types: those of C++, the four of fsc_runtime.h, and yours, by a specialisation of dtype_of

template <class T, class = void> struct dtype_of;
template <> struct dtype_of<bool> { static constexpr fsc_dtype value = FSC_I1; };
template <> struct dtype_of<float> { static constexpr fsc_dtype value = FSC_FP32; };
template <> struct dtype_of<double> { static constexpr fsc_dtype value = FSC_FP64; };
template <> struct dtype_of<fp16> { static constexpr fsc_dtype value = FSC_FP16; };
template <> struct dtype_of<bf16> { static constexpr fsc_dtype value = FSC_BF16; };
template <> struct dtype_of<fp8e4nv> { static constexpr fsc_dtype value = FSC_FP8E4NV; };
template <> struct dtype_of<fp8e5> { static constexpr fsc_dtype value = FSC_FP8E5; };
template <class T> struct dtype_of<T, std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>>> {
    static constexpr fsc_dtype value = std::is_signed_v<T> ? (sizeof(T) == 1   ? FSC_I8
                                                             : sizeof(T) == 2 ? FSC_I16
                                                             : sizeof(T) == 4 ? FSC_I32
                                                                              : FSC_I64)
                                                          : (sizeof(T) == 1   ? FSC_U8
                                                             : sizeof(T) == 2 ? FSC_U16
                                                             : sizeof(T) == 4 ? FSC_U32
                                                                              : FSC_U64);
};

// ---- Spans: elements of somebody else's; std::span and std::vector become one

template <class T> class span {
public:
    span() = default;
    span(T *data, std::size_t size) : data_(data), size_(size) {}
    template <class C, class = std::enable_if_t<
                           std::is_convertible_v<decltype(std::declval<C &>().data()), T *> &&
                           std::is_convertible_v<decltype(std::declval<C &>().size()), std::size_t>>>
    span(C &&c) : data_(c.data()), size_(c.size()) {}
    T *data() const noexcept { return data_; }
    std::size_t size() const noexcept { return size_; }
    std::size_t size_bytes() const noexcept { return size_ * sizeof(T); }

private:
    T *data_ = nullptr;
    std::size_t size_ = 0;
};

// ---- Devices, streams, buffers

class device {
public:
    explicit device(const char *name = "auto") {
        fsc_device *d = nullptr;
        check(fsc_device_open(name, &d));
        handle_.reset(d);
    }
    fsc_device *get() const noexcept { return handle_.get(); }
    fsc_props props() const {
        fsc_props p;
        check(fsc_device_props(get(), &p));
        return p;
    }
    void wait() const { check(fsc_device_wait(get())); }

private:
    struct close {
        void operator()(fsc_device *d) const { fsc_device_close(d); }
    };
    std::unique_ptr<fsc_device, close> handle_;
};

class stream {
public:
    explicit stream(const device &d) : device_(d.get()) { check(fsc_stream_create(device_, &handle_)); }
    stream(stream &&other) noexcept { swap(other); }
    stream &operator=(stream &&other) noexcept {
        stream taken(std::move(other));
        swap(taken);
        return *this;
    }
    ~stream() {
        if (device_) (void)fsc_stream_destroy(device_, handle_);
    }
    void *get() const noexcept { return handle_; } // a CUstream; of the CPU NULL
    void wait() const { check(fsc_stream_wait(device_, handle_)); }

private:
    void swap(stream &other) noexcept {
        std::swap(device_, other.device_);
        std::swap(handle_, other.handle_);
    }
    fsc_device *device_ = nullptr;
    void *handle_ = nullptr;
};

// Memory of a device. Copies have ended when they return.
template <class T> class buffer {
    static_assert(std::is_trivially_copyable_v<T>, "elements are copied as bytes");

public:
    buffer(const device &d, std::size_t size) : device_(d.get()), size_(size) {
        void *p = nullptr;
        check(fsc_memory_alloc(device_, size_bytes(), &p));
        data_ = static_cast<T *>(p);
    }
    buffer(const device &d, span<const T> host) : buffer(d, host.size()) { write(host); }
    buffer(buffer &&other) noexcept { swap(other); }
    buffer &operator=(buffer &&other) noexcept {
        buffer taken(std::move(other));
        swap(taken);
        return *this;
    }
    ~buffer() {
        if (data_) (void)fsc_memory_free(device_, data_);
    }
    T *data() const noexcept { return data_; } // of the device: not to be read here
    std::size_t size() const noexcept { return size_; }
    std::size_t size_bytes() const noexcept { return size_ * sizeof(T); }
    void write(span<const T> host) {
        room(host.size());
        if (host.size()) check(fsc_memory_write(device_, data_, host.data(), host.size_bytes()));
    }
    void read(span<T> host) const {
        room(host.size());
        if (host.size()) check(fsc_memory_read(device_, host.data(), data_, host.size_bytes()));
    }
    std::vector<T> read() const {
        std::vector<T> host(size_);
        read(span<T>(host));
        return host;
    }
    void fill(std::uint8_t byte) {
        if (size_) check(fsc_memory_fill(device_, data_, byte, size_bytes()));
    }

private:
    buffer() = default;
    void swap(buffer &other) noexcept {
        std::swap(device_, other.device_);
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
    }
    void room(std::size_t n) const {
        if (n > size_)
            throw error(FSC_ERROR_USAGE, "a buffer of " + std::to_string(size_) + " elements has no " +
                                             std::to_string(n));
    }
    fsc_device *device_ = nullptr;
    T *data_ = nullptr;
    std::size_t size_ = 0;
};

// ---- Arguments

template <class T> fsc_arg arg(const buffer<T> &b) {
    return fsc_pointer(b.data(), b.size_bytes(), dtype_of<std::remove_cv_t<T>>::value);
}
template <class T> fsc_arg arg(span<T> s) { // of the device's memory
    return fsc_pointer(s.data(), s.size_bytes(), dtype_of<std::remove_cv_t<T>>::value);
}
template <class T> fsc_arg arg(T *p) { return fsc_pointer(p, 0, dtype_of<std::remove_cv_t<T>>::value); }
inline fsc_arg arg(std::nullptr_t) { return fsc_pointer(nullptr, 0, FSC_DTYPE_NONE); }
inline fsc_arg arg(const fsc_arg &a) { return a; }
template <class T> std::enable_if_t<std::is_arithmetic_v<T>, fsc_arg> arg(T x) {
    if constexpr (std::is_floating_point_v<T>) return fsc_float(static_cast<double>(x));
    else if constexpr (std::is_signed_v<T>) return fsc_int(x);
    else return fsc_uint(x);
}

// A buffer and its shape, whose last axis is contiguous; strides in elements where rows have gaps.
template <class B>
fsc_value array(const B &b, std::initializer_list<std::int64_t> shape,
               std::initializer_list<std::int64_t> strides = {}) {
    fsc_value v{};
    v.arg = arg(b);
    if (shape.size() > FSC_RANK_MAX || (strides.size() && strides.size() != shape.size()))
        throw error(FSC_ERROR_USAGE, "an array has at most 8 axes, and a stride for each or none");
    v.array.rank = static_cast<std::uint32_t>(shape.size());
    std::copy(shape.begin(), shape.end(), v.array.shape);
    std::copy(strides.begin(), strides.end(), v.array.strides);
    std::int64_t step = 1;
    for (std::size_t i = shape.size(); i-- > 0 && !strides.size(); step *= v.array.shape[i]) v.array.strides[i] = step;
    return v;
}
// What a shape contract or a default says.
inline fsc_value missing() {
    fsc_value v{};
    v.arg.kind = FSC_ARG_MISSING;
    v.array.rank = FSC_RANK_MAX + 1;
    return v;
}
inline fsc_value value(const fsc_value &v) { return v; }
template <class T> fsc_value value(const T &x) {
    fsc_value v = missing();
    v.arg = arg(x);
    return v;
}

// ---- Kernels compiled ahead of time

class kernel;

// PTX, a cubin or a fatbin, for a GPU.
class module {
public:
    module(const device &d, const void *image, std::size_t size) {
        fsc_module *m = nullptr;
        check(fsc_module_load(d.get(), image, size, &m));
        handle_.reset(m);
    }
    module(const device &d, const std::string &image) : module(d, image.data(), image.size()) {}
    fsc_module *get() const noexcept { return handle_.get(); }

private:
    struct unload {
        void operator()(fsc_module *m) const { fsc_module_unload(m); }
    };
    std::unique_ptr<fsc_module, unload> handle_;
};

class kernel {
public:
    explicit kernel(const module &m, const char *name = nullptr) {
        fsc_kernel *k = nullptr;
        check(fsc_kernel_create(m.get(), name, &k));
        handle_.reset(k);
    }
    fsc_kernel *get() const noexcept { return handle_.get(); }
    void add_variant(const module &m, const char *name = nullptr) {
        check(fsc_kernel_add_variant(get(), m.get(), name));
    }
    // The run-time parameters in the kernel's order; the grid is the launch rule's.
    template <class... A> void operator()(const A &...args) const { launch(nullptr, nullptr, args...); }
    template <class... A> void operator()(const stream &s, const A &...args) const {
        launch(s.get(), nullptr, args...);
    }
    // grid: programs along x, y, z; NULL: the launch rule's.
    template <class... A> void launch(void *stream, const std::int64_t *grid, const A &...args) const {
        const fsc_arg list[] = {arg(args)..., fsc_arg{}};
        check(fsc_launch(get(), grid, list, sizeof...(A), stream));
    }

private:
    struct destroy {
        void operator()(fsc_kernel *k) const { fsc_kernel_destroy(k); }
    };
    std::unique_ptr<fsc_kernel, destroy> handle_;
};

// ---- Kernels compiled as they are launched

// A source with its name, which messages and relative imports are by.
struct source {
    explicit source(std::string path) : file(std::move(path)) {
        std::ifstream in(file, std::ios::binary);
        text.assign(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
        if (!in) throw error(FSC_ERROR_USAGE, "cannot read '" + file + "'");
    }
    source(std::string name, std::string code) : file(std::move(name)), text(std::move(code)) {}
    std::string file, text;
};

// {"BLOCK", "512"}, {"T", "fp16"}, {"num_warps", "4"}
using settings = std::vector<std::pair<std::string, std::string>>;

class jit {
public:
    jit(const device &d, const source &s, const settings &pairs = {}, const char *kernel = nullptr) {
        std::vector<fsc_name_value> list;
        for (const auto &pair : pairs) list.push_back({pair.first.c_str(), pair.second.c_str()});
        fsc_jit *j = nullptr;
        fsc_status status = fsc_jit_open(d.get(), s.file.c_str(), s.text.data(), s.text.size(), kernel, list.data(),
                                         list.size(), &j);
        handle_.reset(j);
        require(status);
        fsc_param p;
        for (std::size_t i = 0; fsc_jit_param(j, i, &p) == FSC_OK; i++)
            num_args_ += p.kind != FSC_PARAM_CONSTEXPR && p.kind != FSC_PARAM_DTYPE;
    }
    fsc_jit *get() const noexcept { return handle_.get(); }
    std::size_t num_args() const noexcept { return num_args_; }

    // Arrays and numbers in the kernel's order. Those at the end may be left out, and in between be fsc::missing():
    // what a shape contract or a default says.
    template <class... V> void operator()(const V &...values) const { call(nullptr, nullptr, values...); }
    template <class... V> void operator()(const stream &s, const V &...values) const {
        call(s.get(), nullptr, values...);
    }
    template <class... V> void call(void *stream, const std::int64_t *grid, const V &...values) const {
        std::vector<fsc_value> list{value(values)...};
        if (list.size() < num_args_) list.resize(num_args_, missing());
        require(fsc_jit_call(get(), grid, list.data(), list.size(), stream));
    }

private:
    void require(fsc_status s) const {
        if (s == FSC_OK) return;
        const char *own = get() ? fsc_jit_message(get()) : "";
        throw error(s, *own ? own : fsc_last_message());
    }
    struct destroy {
        void operator()(fsc_jit *j) const { fsc_jit_destroy(j); }
    };
    std::unique_ptr<fsc_jit, destroy> handle_;
    std::size_t num_args_ = 0;
};

} // namespace fsc

#endif

// softmax.cpp - softmax.dsl from C++17, through fsc.hpp: compiled as it is launched, on arrays that say their shape.
//
// In:  the path of softmax.dsl, and a device ("auto" if left out).
// Out: a line for each type, with the largest distance of a row's sum from 1; exit status 0, or a message.
#include "fsc.hpp"

#include <cmath>
#include <cstdio>

static double worst_sum(const std::vector<float> &y, int cols) {
    double worst = 0;
    for (std::size_t at = 0; at < y.size(); at += static_cast<std::size_t>(cols)) {
        double sum = 0;
        for (int c = 0; c < cols; c++) sum += static_cast<double>(y[at + static_cast<std::size_t>(c)]);
        worst = std::fmax(worst, std::fabs(sum - 1));
    }
    return worst;
}

int main(int argc, char **argv) {
    const int rows = 1823, cols = 781;
    try {
        fsc::device device(argc > 2 ? argv[2] : "auto");
        fsc::jit softmax(device, fsc::source(argc > 1 ? argv[1] : "softmax.dsl"));

        std::vector<float> host(static_cast<std::size_t>(rows) * cols);
        for (std::size_t i = 0; i < host.size(); i++) host[i] = static_cast<float>(i * 37 % 1009) / 50;
        fsc::buffer<float> x(device, host), y(device, host.size());

        // Strides and sizes follow from the arrays; BLOCK and the grid from the launch rule.
        fsc::stream stream(device);
        softmax(stream, fsc::array(y, {rows, cols}), fsc::array(x, {rows, cols}));
        stream.wait();
        std::printf("fp32: |sum of a row - 1| <= %.0e\n", std::ceil(worst_sum(y.read(), cols) * 1e6) / 1e6);

        // The same source, in halves: another variant. Zeros have the same bits in every type.
        std::vector<fsc::fp16> zeros(host.size());
        fsc::buffer<fsc::fp16> a(device, zeros), b(device, zeros.size());
        softmax(fsc::array(b, {rows, cols}), fsc::array(a, {rows, cols}));
        device.wait();
        std::printf("fp16: 1 / %d is 0x%04x\n", cols, b.read().front().bits);

        softmax(fsc::array(y, {rows, cols}), fsc::array(x, {rows, cols - 1}, {cols, 1}));
    } catch (const fsc::error &e) {
        std::printf("%s\n", e.what());
        return fsc_status_exit_code(e.status());
    }
}

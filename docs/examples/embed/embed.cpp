// embed.cpp - softmax from an object, always on the CPU, from several threads; and a launch that is refused.
#include "softmax.h"

#include <cmath>
#include <iostream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

static void check(fsc_status s) {
    if (s != FSC_OK) throw std::runtime_error(std::string(fsc_status_name(s)) + ": " + fsc_last_message());
}

static void rows_of_one(int cols) {
    std::vector<float> x(4 * cols, 0.0f), y(x.size());
    check(softmax(FSC_STREAM_CPU, y.data(), x.data(), cols, cols, 4, cols));
    for (float v : y)
        if (std::fabs(v * float(cols) - 1) > 1e-5f) throw std::runtime_error("wrong: " + std::to_string(v));
}

int main() {
    std::vector<std::thread> threads;
    for (int cols : {300, 700, 1000, 1024}) threads.emplace_back(rows_of_one, cols);
    for (auto &t : threads) t.join();
    try {
        rows_of_one(5000);
    } catch (const std::exception &e) {
        std::cout << e.what() << "\n";
    }
}

#!/usr/bin/env bash
# pack.sh - the built tree as one archive that runs on a machine with a GPU and without LLVM: build/gpu/fsc.tar.xz.
# What it holds: package.tar, which is cpack's archive without its gzip (gpu.sh unpacks it), a second libfsc.so with the
# planted faults, tests/run, tests/random, tests/python, what builds programs against the package, bench, dsl_examples;
# where there is an nvcc, the CUDA peers of the benchmark compiled for an H100 or H200, which spares that machine's
# time.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

stage=build/gpu/stage
rm -rf build/gpu
mkdir -p "$stage"
cmake --preset release >/dev/null
cmake --build build/release -j "$(nproc)" >build/gpu/release.log
(cd build/release && cpack -G TGZ -B ../gpu/made --config CPackConfig.cmake) >build/gpu/cpack.log
gunzip -c build/gpu/made/*.tar.gz >"$stage/package.tar"
rm -rf build/gpu/made
mkdir -p "$stage/tests"
cmake -S . -B build/plants -DCMAKE_BUILD_TYPE=Release -DFSC_PLANTS=ON -DFSC_TESTS=OFF >/dev/null
cmake --build build/plants -j "$(nproc)" >build/gpu/plants.log
mkdir -p "$stage/plants"
strip -o "$stage/plants/libfsc.so" build/plants/libfsc.so
cp -r dsl_examples bench "$stage/"
strip -o "$stage/bench/launch" build/release/bench/launch
cp -r tests/run tests/random tests/python tests/Inputs tests/plants.py tests/install.py tests/objects.py "$stage/tests/"
strip -o "$stage/tests/libfakecuda.so" build/release/tests/unit/libfakecuda.so
# listings that are run there
mkdir -p "$stage/docs/examples" "$stage/docs/how-to" && cp docs/how-to/{python,embedding}.md "$stage/docs/how-to/" \
    && cp -r docs/examples/embed "$stage/docs/examples/"
# the suite asks them what there is to test
for table in check/builtin/builtin codegen/prims layout/mma base/plant; do
    mkdir -p "$stage/compiler/${table%/*}" && cp "compiler/$table.def" "$stage/compiler/$table.def"
done
if [[ -d ../shared/seeds ]]; then cp -r ../shared/seeds "$stage/seeds"; fi
if command -v nvcc >/dev/null || [[ -x /usr/local/cuda/bin/nvcc ]]; then
    python3 "$stage/bench/peers/cuda_rows.py" "$stage/bench/peers/built"
fi
find "$stage" -name __pycache__ -prune -exec rm -rf {} +
# A dictionary that spans both libfsc.so and the tool: each beyond the first then takes 1 MB.
XZ_OPT='--lzma2=preset=3,dict=160MiB' tar -C build/gpu -cJf build/gpu/fsc.tar.xz stage
rm -rf "$stage"
ls -l build/gpu/fsc.tar.xz

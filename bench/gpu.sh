#!/usr/bin/env bash
# gpu.sh - everything that wants a GPU, in one call, from the archive that pack.sh made: gpu.sh [WHAT …]
#   WHAT, tests: info tests ways random sanitizer sanitizer-clusters plants numerics launch python objects; speed (sets
#   of bench/points.py): bench half cliffs few kernels scaling cache, all of them in 8 minutes: ratios; for one question
#   each: beside products quick tune clusters online pipeline edges long small subwarp points claims; with ncu: counters
#   lines binds. Default: info tests random sanitizer plants bench cliffs few. Logs, raw samples, CSV, JSON, Markdown,
#   SVG go to $OUT/results.tar.gz (default build/gpu).
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

results=${OUT:-$PWD/build/gpu}
out=${TMPDIR:-/tmp}/fsc-out
home=${TMPDIR:-/tmp}/fsc-gpu
what=${*:-info tests random sanitizer plants bench cliffs few}
rm -rf "$out" && mkdir -p "$out" "$home" "$results"
[[ -d $home/stage/bin ]] || {
    tar -C "$home" -xJf build/gpu/fsc.tar.xz &&
    tar -C "$home/stage" --strip-components=1 -xf "$home/stage/package.tar"
} || exit 1
beside=$PWD/build/gpu/beside
cd "$home/stage" || exit 1
lib=$(for f in "$PWD"/lib/libfsc.so "$PWD"/lib/*/libfsc.so; do [[ -e $f ]] && echo "$f"; done | head -n1)
driver_path=${LD_LIBRARY_PATH:-}
export FSC_LIBRARY=$lib FSC_SEEDS=$PWD/seeds PYTHONUNBUFFERED=1 \
    LD_LIBRARY_PATH=${lib%/*}${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export jobs=$(nproc)
failed=0

step() { # NAME SECONDS COMMAND …: into $out/NAME.log, its end on the screen, and what failed
    local name=$1 limit=$2
    shift 2
    echo "== $name"
    timeout "$limit" "$@" >"$out/$name.log" 2>&1
    local code=$?
    tail -n "${TAIL:-12}" "$out/$name.log"
    if ((code)); then
        grep -m 20 '^FAILED' "$out/$name.log"
        echo "== $name: exit $code"
        failed=1
    fi
}

# NAME SECONDS OPTION …: bench.py into $out/NAME.*; out of time (BENCH_SECONDS instead), it writes what it has
measure() {
    local name=$1 seconds=${BENCH_SECONDS:-$2}
    shift 2
    TAIL=${TAIL:-40} step "$name" $((seconds + 90)) python3 bench/bench.py --seconds "$seconds" --out "$out" \
        --name "$name" "$@"
}

sanitize() { # TOOL [OPTION …]: every case that is not slow, in as many processes as there are cores
    local tool=$1
    shift
    seq 0 $((jobs - 1)) | xargs -P "$jobs" -I{} compute-sanitizer --tool "$tool" --target-processes application-only \
        --error-exitcode 9 \
        python3 tests/run/run.py --device cuda --part "{}/$jobs" --seconds 100 "$@"
}
export -f sanitize

sanitize_all() { # "TOOL [OPTION …]" …: what each found, in a line or two
    local run name
    for run in "$@"; do
        name=sanitizer-${run// /}
        TAIL=0 step "$name" 150 bash -c "sanitize $run"
        sort "$out/$name.log" | grep -E 'SUMMARY|^FAILED|out of time' | uniq -c
        awk '/ passed, / { p += $1; f += $3 } END { print p + 0 " passed, " f + 0 " failed" }' "$out/$name.log"
    done
}

for w in $what; do
    case $w in
    info)
        TAIL=40 step devices 60 bin/fsc devices
        TAIL=40 step info 60 bin/fsc info dsl_examples/softmax.dsl n_rows=4096 n_cols=1024
        TAIL=10 step run 60 bin/fsc run dsl_examples/softmax.dsl x=random:0:fp32[1823,781] y="$home/y.npy"
        ;;
    random) TAIL=20 step random 240 python3 tests/random/random_kernels.py --device cuda --count 20000 --seconds 150 \
        --out "$out/random" ;;
    tests) TAIL=40 step tests 420 python3 tests/run/run.py --device cuda --all --jobs "$jobs"
        # products by the portable instructions where the card has others of its own
        TAIL=10 step tests-portable 200 python3 tests/run/run.py --device cuda --all --arch sm_90 --jobs "$jobs" \
            product matmul matrix block_ ring_ attention split_k
        TAIL=10 step tests-clusters 420 python3 tests/run/run.py --device cuda --num-ctas 4 --jobs "$jobs" ;;
    sanitizer)
        if compute-sanitizer --tool memcheck --error-exitcode 9 bin/fsc run bench/planted.dsl --repeat 0 --warmup 1 \
            x=zeros:fp32[16] far=1000000000 >"$out/planted.log" 2>&1; then
            echo "== the planted write out of bounds was not found"
            failed=1
        fi
        sanitize_all memcheck racecheck synccheck initcheck
        ;;
    sanitizer-clusters) sanitize_all "memcheck --num-ctas 4" "racecheck --num-ctas 4" "synccheck --num-ctas 4" ;;
    plants) FSC_LIBRARY=$PWD/plants/libfsc.so TAIL=20 step plants 400 python3 tests/plants.py \
        --racecheck tests/run/run.py compiler/base/plant.def ;;
    ratios) TAIL=90 measure ratios 440 ;;
    bench) measure softmax 170 --sets tutorial ;;
    half) measure half 240 --sets half ;;
    cliffs) measure cliffs 280 --sets cliffs ;;
    # one machine code with the cache off, on, from disk, by ptxas
    ways) TAIL=30 step ways 300 python3 bench/ways.py --fsc bin/fsc --jobs "$jobs" ;;
    # speed with the cache off, and by chance alone, beside the default, whose code the first run leaves on disk: nine
    # processes, as where a process lays code and memory tells more than the samples of one
    cache)
        TAIL=1 measure cache-fill 60 --sets cliffs --peers fsc --modes flush --repeat 1
        for i in 0 1 2 3 4 5 6 7 8; do
            TAIL=1 measure "cache-$i" 60 --sets cliffs --peers fsc --modes flush --uncached --turn "$i" --repeat 100
        done
        TAIL=60 step cache 60 python3 bench/pool.py "$out"/cache-[0-8].jsonl
        ;;
    # beside another build, in build/gpu/beside (lib/libfsc.so, dsl_examples), point by point
    beside)
        for i in 0 1 2 3 4; do
            TAIL=1 measure "beside-$i" 100 --sets tutorial cliffs kernels --peers fsc --modes flush --repeat 40 \
                --beside "$beside" --turn "$i"
        done
        TAIL=220 step beside 60 python3 bench/pool.py "$out"/beside-[0-4].jsonl
        ;;
    few) measure few 100 --sets few ;;
    # matrix tiles beside cuBLAS, Triton for sm_80, FA2 and cuDNN
    # PRODUCTS="--what square --passes=-bulk …": products.py's options
    products) TAIL=200 step products 240 python3 bench/products.py --out "$out/products.jsonl" ${PRODUCTS:-} ;;
    kernels) TAIL=60 measure kernels 300 --sets kernels ;;
    scaling) measure scaling 100 --sets small-batch batch vocabulary ;;
    quick) measure quick 120 --sets quick ;;
    tune) measure tune 200 --sets tune --num-warps 1 2 4 8 16 32 --peers fsc --repeat 20 --modes flush ;;
    clusters) measure clusters 200 --sets clusters --dtype fp32 fp16 --num-ctas 1 2 4 8 16 --num-warps 8 16 32 \
        --peers fsc --repeat 15 --modes flush ;;
    long) measure long 120 --sets long --dtype fp32 fp16 bf16 ;;
    # POINTS="--points softmax:4096x8193:fp16 … --num-warps 4 8": bench.py's options
    points) TAIL=80 measure "${NAME:-points}" 200 ${POINTS:-} ;;
    edges) measure edges 120 --sets edges --dtype fp32 fp16 bf16 ;;
    claims) # what docs/explanation/claims.md says is not measured
        measure claims 120 --sets claims
        for kernel in softmax softmax_persistent softmax_tiled; do
            TAIL=20 step "claims-$kernel" 60 bin/fsc bench "dsl_examples/$kernel.dsl" \
                --axis n_cols=256,1024,4096,8192,12672,32768 n_rows=4096 --dtype=fp32,fp16
        done
        ;;
    small) measure small 120 --sets small ;;
    subwarp) measure subwarp 100 --sets subwarp --dtype fp32 fp16 --without subwarp --peers fsc cuda --modes flush ;;
    online) measure online 200 --sets online --dtype fp32 fp16 --without online remat --peers fsc --modes flush ;;
    pipeline) measure pipeline 85 --sets pipeline --dtype fp32 fp16 --num-stages 1 2 3 4 --without pipeline \
        --peers fsc --modes flush ;;
    launch) # a first call from source and from disk, and each further one beside cuLaunchKernel
        TAIL=10 step launch-start 200 env LD_LIBRARY_PATH="${lib%/*}" bench/launch start \
            dsl_examples/softmax.dsl cuda 21
        TAIL=20 step launch-calls 60 env LD_LIBRARY_PATH="${lib%/*}" bench/launch calls cuda 20000
        TAIL=30 step launch-python 120 python3 bench/launch_python.py --calls 20000
        TAIL=10 step door 300 python3 bench/door.py --runs 3
        ;;
    # the package with torch, the listings of docs/how-to/python.md, what a call costs beside Triton's and torch's;
    # without torch what there is
    python)
        export PYTHONPATH=$PWD/share/fsc/python${PYTHONPATH:+:$PYTHONPATH}
        TAIL=40 step python-torch 400 bash -c "cd tests/python && python3 -m unittest -q test_numpy test_torchop &&
            { python3 test_torch.py || [[ \$? == 3 ]]; }"
        TAIL=20 step python-docs 300 python3 tests/python/listings.py
        TAIL=20 step python-overhead 200 python3 bench/python_overhead.py
        ;;
    # cpack's archive as users have it: unpacked anew, programs with kernels in them built against it, run on the GPU
    # and as without a driver
    objects)
        TAIL=30 step objects-package 120 env -u FSC_LIBRARY LD_LIBRARY_PATH="$driver_path" python3 tests/install.py \
            package.tar tests/libfakecuda.so
        TAIL=60 step objects 120 env -u FSC_LIBRARY LD_LIBRARY_PATH="$driver_path" python3 tests/objects.py \
            package.tar cuda
        ;;
    numerics) # all 2^32 patterns of each function of fp32, on both devices
        TAIL=60 step numerics 585 python3 tests/run/numerics.py --device cpu,cuda --every 1 --seconds 570 \
            --out "$out/numerics.md"
        ;;
    lines) # a softmax of 8192 x 32000 in fp16 under ncu, in all and by line of the source, and torch's
        TAIL=2 step ncu-fsc 120 ncu -f -o "$home/fsc" --set full --import-source on -k regex:softmax -c 1 \
            bin/fsc run dsl_examples/softmax.dsl 'x=random:0:fp16[8192,32000]' "y=$home/y.npy" --warmup 0 --repeat 1
        TAIL=2 step ncu-torch 120 ncu -f -o "$home/torch" --set full -k 'regex:(?i)softmax' -c 1 \
            python3 -c "import torch
x = torch.randn(8192, 32000, device='cuda', dtype=torch.float16)
torch.softmax(x, 1)
torch.cuda.synchronize()"
        for peer in fsc torch; do TAIL=3 step "ncu-$peer-details" 60 ncu --import "$home/$peer.ncu-rep" \
            --page details; done
        TAIL=3 step ncu-lines 60 ncu --import "$home/fsc.ncu-rep" --page source --print-source cuda,sass --csv
        ;;
    binds) # what fell short of its aim: which resource was busy (POINTS: others)
        TAIL=60 step binds 400 python3 bench/binds.py --out "$out/binds.csv" ${POINTS:-softmax:1056x50257:fp16 \
            softmax:528x128257:bf16 softmax:264x262145:fp32 softmax:528x131073:fp32 \
            softmax:64x1048576:fp32 softmax:65536x127:fp16 layernorm:2112x8193:fp32 layernorm:2112x8193:bf16 \
            layernorm:2112x12288:bf16 rmsnorm:2112x8193:bf16 add_rmsnorm:2112x8193:bf16 \
            cross_entropy:2112x8193:bf16 cross_entropy:1056x50257:bf16 softmax_columns:4096x8192:fp32 \
            softmax_columns:4096x8192:bf16 softmax_columns:16384x2048:bf16 softmax_columns:4096x8193:fp32}
        ;;
    counters) TAIL=400 step counters 560 python3 bench/counters.py --fsc bin/fsc --out "$out/counters.csv" ;;
    esac
done
tar -C "$out" -czf "$results/results.tar.gz" .
exit $failed

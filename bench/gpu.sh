#!/usr/bin/env bash
# gpu.sh - everything that wants a GPU, in one call, from the archive that pack.sh made: gpu.sh [WHAT …]
#   WHAT: info tests random sanitizer plants bench launch quick tune clusters online edges long few numerics (default: all but quick, tune, clusters, online, numerics). Logs, CSV, JSON and SVG go to $OUT/results.tar.gz (default build/gpu).
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

results=${OUT:-$PWD/build/gpu}
out=${TMPDIR:-/tmp}/fsc-out
home=${TMPDIR:-/tmp}/fsc-gpu
what=${*:-info tests random sanitizer plants bench launch edges long few}
rm -rf "$out" && mkdir -p "$out" "$home" "$results"
[[ -d $home/stage ]] || tar -C "$home" -xJf build/gpu/fsc.tar.xz || exit 1
cd "$home/stage" || exit 1
lib=$(echo "$PWD"/lib/libfsc.so "$PWD"/lib/*/libfsc.so | tr ' ' '\n' | while read -r f; do [[ -e $f ]] && echo "$f"; done | head -n1)
export FSC_LIBRARY=$lib FSC_SEEDS=$PWD/seeds PYTHONUNBUFFERED=1 FSC_CACHE_DIR=off LD_LIBRARY_PATH=${lib%/*}${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export jobs=$(nproc)
failed=0

step() { # NAME SECONDS COMMAND …: into $out/NAME.log, its end on the screen
    local name=$1 limit=$2
    shift 2
    echo "== $name"
    timeout "$limit" "$@" >"$out/$name.log" 2>&1
    local code=$?
    tail -n "${TAIL:-12}" "$out/$name.log"
    if ((code)); then
        echo "== $name: exit $code"
        failed=1
    fi
}

sanitize() { # TOOL [OPTION …]: every case that is not slow, in as many processes as there are cores
    local tool=$1
    shift
    seq 0 $((jobs - 1)) | xargs -P "$jobs" -I{} compute-sanitizer --tool "$tool" --target-processes application-only --error-exitcode 9 \
        python3 tests/run/run.py --device cuda --part "{}/$jobs" --seconds 100 "$@"
}
export -f sanitize

for w in $what; do
    case $w in
    info)
        TAIL=40 step devices 60 bin/fsc devices
        TAIL=40 step info 60 bin/fsc info dsl_examples/softmax.dsl n_rows=4096 n_cols=1024
        TAIL=10 step run 60 bin/fsc run dsl_examples/softmax.dsl x=random:0:fp32[1823,781] y="$home/y.npy"
        ;;
    random) TAIL=20 step random 240 python3 tests/random/random_kernels.py --device cuda --count 20000 --seconds 150 --out "$out/random" ;;
    tests) TAIL=40 step tests 420 python3 tests/run/run.py --device cuda --all --jobs "$jobs"
        TAIL=10 step tests-clusters 420 python3 tests/run/run.py --device cuda --num-ctas 4 --jobs "$jobs" ;;
    sanitizer)
        if compute-sanitizer --tool memcheck --error-exitcode 9 bin/fsc run bench/planted.dsl --repeat 0 --warmup 1 x=zeros:fp32[16] far=1000000000 >"$out/planted.log" 2>&1; then
            echo "== the planted write out of bounds was not found"
            failed=1
        fi
        for run in memcheck racecheck synccheck initcheck "memcheck --num-ctas 4" "racecheck --num-ctas 4" "synccheck --num-ctas 4"; do
            name=sanitizer-${run// /}
            TAIL=0 step "$name" 150 bash -c "sanitize $run"
            sort "$out/$name.log" | grep -E 'SUMMARY|^FAILED|out of time' | uniq -c
            awk '/ passed, / { p += $1; f += $3 } END { print p + 0 " passed, " f + 0 " failed" }' "$out/$name.log"
        done
        ;;
    plants) FSC_LIBRARY=$PWD/plants/libfsc.so TAIL=20 step plants 400 python3 tests/plants.py --racecheck tests/run/run.py compiler/base/plant.def ;;
    bench) TAIL=16 step bench 420 python3 bench/bench.py --sweep tutorial --out "$out" ;;
    launch) # a first call from source and from disk, and each further one beside cuLaunchKernel
        TAIL=10 step launch-start 200 bench/launch start dsl_examples/softmax.dsl cuda 21
        TAIL=20 step launch-calls 60 bench/launch calls cuda 20000
        ;;
    quick) TAIL=30 step quick 200 python3 bench/bench.py --sweep quick --out "$out" --name quick ;;
    tune) TAIL=60 step tune 300 python3 bench/bench.py --sweep tune --num-warps 1 2 4 8 16 32 --peers fsc --repeat 20 --out "$out" --name tune ;;
    clusters) TAIL=60 step clusters 300 python3 bench/bench.py --sweep clusters --dtype fp32 fp16 --num-ctas 1 2 4 8 16 --num-warps 8 16 32 --peers fsc --repeat 15 --out "$out" --name clusters ;;
    online) TAIL=30 step online 200 python3 bench/bench.py --sweep online --dtype fp32 fp16 --without online --peers fsc --out "$out" --name online ;;
    long) TAIL=30 step long 150 python3 bench/bench.py --sweep long --dtype fp32 fp16 bf16 --out "$out" --name long ;;
    few) TAIL=30 step few 150 python3 bench/bench.py --sweep few --out "$out" --name few ;;
    numerics) # all 2^32 patterns of each function of fp32, on both devices
        TAIL=60 step numerics 585 python3 tests/run/numerics.py --device cpu,cuda --every 1 --seconds 570 --out "$out/numerics.md"
        ;;
    edges) TAIL=30 step edges 200 python3 bench/bench.py --sweep edges --dtype fp32 fp16 bf16 --out "$out" --name edges ;;
    esac
done
tar -C "$out" -czf "$results/results.tar.gz" .
exit $failed

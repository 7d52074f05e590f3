#!/usr/bin/env bash
# long.sh [-s SECONDS] [-o OUT] [-n SEED] NAME:WORKERS...: a long run of fuzzers, from a folder that `fuzz-pack` made.
#
#   ./long.sh -s 460 -o out check:16         ./long.sh -s 460 -o out ir:4 ptx:12
#
# In: this script's folder: fuzz_NAME, *.dict, corpus/, lib/. Needs bash and coreutils, no compiler and no source tree.
# Out: OUT/summary.txt and summary.json (executions, seconds x workers, coverage, findings), OUT/found/NAME-*, the
# inputs that ended a worker, OUT/NAME/, the inputs that covered something new, OUT/log/. Exit code 1: something was
# found. A worker that a finding has ended starts again with another seed, until the time is over.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
seconds=60 out=out seed=1
while getopts s:o:n: flag; do
    case $flag in
    s) seconds=$OPTARG ;;
    o) out=$OPTARG ;;
    n) seed=$OPTARG ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
if (($# == 0)); then
    sed -n '2,5s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
    exit 2
fi
mkdir -p "$out/found" "$out/log"
out=$(cd "$out" && pwd)
# LLVM's libz and libzstd, where they are missing
export LD_LIBRARY_PATH="$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export LSAN_OPTIONS="suppressions=$here/lsan.supp:print_suppressions=0"
start=$(date +%s) end=$(($(date +%s) + seconds))
# A compile runs in a child of fuzz_ptx: no thread may stand beside a fork, and the watcher of the memory is one.
limits() { [[ $1 == ptx ]] && echo 0 || echo 1500; }
# Of fuzz_ptx the child's processor time counts.
patience() { [[ $1 == ptx ]] && echo 120 || echo 10; }
words() { [[ $1 == ir ]] && echo ir || echo dsl; }

work() {
    local name=$1 worker=$2 round=0 left log
    while left=$((end - $(date +%s))) && ((left > 1 && round < 200)); do
        log=$out/log/$name-$worker-$((round++)).log
        "$here/fuzz_$name" -seed=$((seed * 100000 + worker * 200 + round)) -max_total_time="$left" \
            -timeout="$(patience "$name")" -malloc_limit_mb=512 -rss_limit_mb="$(limits "$name")" -max_len=8192 \
            -entropic_scale_per_exec_time=1 -reload=1 -print_final_stats=1 -verbosity=1 \
            -dict="$here/$(words "$name").dict" -artifact_prefix="$out/found/$name-" \
            "$out/$name" "$here/corpus/$(words "$name")" >"$log" 2>&1 || true
    done
}

for item in "$@"; do
    name=${item%%:*} workers=${item##*:}
    [[ -x $here/fuzz_$name ]] || { echo "long.sh: no fuzz_$name in $here" >&2; exit 2; }
    mkdir -p "$out/$name"
    for ((i = 0; i < workers; i++)); do work "$name" "$i" & done
done
wait
elapsed=$(($(date +%s) - start))

sum() { cat "$out/log/$1"-*.log | awk -v key="stat::$2:" '$1 == key { n += $2 } END { printf "%.0f", n }'; }
most() {
    cat "$out/log/$1"-*.log | awk -v word="$2" '
        /^#[0-9]/ { for (i = 1; i < NF; i++) if ($i == word && $(i + 1) + 0 > n) n = $(i + 1) + 0 }
        END { printf "%d", n }'
}
edges() { cat "$out/log/$1"-*.log | sed -n 's/.*Loaded 1 PC tables (\([0-9]*\) PCs).*/\1/p' | head -n 1; }
found=$(find "$out/found" -type f | wc -l)
{
    printf 'fuzzing, %s, %s seconds on %s cores (%s)\n' "$(date -u +%Y-%m-%d)" "$elapsed" "$(nproc)" "$(uname -m)"
    printf '%-7s %8s %12s %13s %9s %8s %8s %10s\n' target workers core-seconds executions coverage of features findings
} >"$out/summary.txt"
json=''
for item in "$@"; do
    name=${item%%:*} workers=${item##*:}
    mine=$(find "$out/found" -type f -name "$name-*" | wc -l)
    row=("$name" "$workers" $((workers * elapsed)) "$(sum "$name" number_of_executed_units)" "$(most "$name" cov:)"
        "$(edges "$name")" "$(most "$name" ft:)" "$mine")
    printf '%-7s %8s %12s %13s %9s %8s %8s %10s\n' "${row[@]}" >>"$out/summary.txt"
    json+=$(printf '%s{"target": "%s", "workers": %s, "core_seconds": %s, "executions": %s, '\
'"coverage": %s, "edges": %s, "features": %s, "findings": %s}' \
        "${json:+, }" "${row[@]}")
done
for file in "$out"/found/*; do
    [[ -f $file ]] || continue
    printf '%s (%s bytes)\n' "$(basename "$file")" "$(stat -c %s "$file")"
    grep -ahE 'runtime error|internal error|ERROR: ' $(grep -alF "$(basename "$file")" "$out"/log/*.log) \
        | cut -c1-300 | head -n 3 || true
done >>"$out/summary.txt"
printf '{"seconds": %s, "cores": %s, "findings": %s, "targets": [%s]}\n' "$elapsed" "$(nproc)" "$found" "$json" \
    >"$out/summary.json"
cat "$out/summary.txt"
((found == 0))

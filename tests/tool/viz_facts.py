# What a page of `fsc viz` holds is what the kernel does: tiles, reductions, loops, masks and exchanges against NumPy.
# RUN: rm -rf %t && mkdir %t
# RUN: fsc viz %examples/softmax.dsl 'x=random:S:fp32[R,N]' y=out.npy --num-warps=2 --run 'R=3 N=200 S=0' \
# RUN:   --run 'R=5 N=37 S=4' -o %t/softmax.html
# RUN: fsc viz %examples/softmax_tiled.dsl 'x=random:3:fp16[2,150]' y=out.npy -D BLOCK=64 --num-warps=1 --program=1 \
# RUN:   -o %t/tiled.html
# RUN: fsc viz %examples/softmax_columns.dsl 'x=random:1:fp32[20,21]' y=out.npy -o %t/columns.html
# RUN: fsc viz %examples/layernorm.dsl 'x=random:0:bf16[2,600]' weight=random:1:bf16[600] bias=random:2:bf16[600] \
# RUN:   y=y.npy mean=m.npy rstd=r.npy eps=1e-5 --num-ctas=2 -o %t/norm.html
# RUN: fsc viz %examples/prefix_sum.dsl 'x=random:0:i64[2,50]' y=out.npy -o %t/scan.html
# RUN: fsc viz %examples/argmax.dsl 'x=random:0:fp32[3,300]' y=out.npy --num-warps=2 -o %t/argmax.html
# RUN: fsc viz %examples/softmax_tiled.dsl 'x=random:0:fp32[2,1001]' y=out.npy -D STAGES=3 -D BLOCK=256 --num-warps=2 \
# RUN:   -o %t/ahead.html
# RUN: printf '@kernel(grid=(1,))\ndef f(y: *u8[n], x: *u8[n], n: i32):\n    i = arange(0, 8)\n    store(y + i, 255 - load(x + i, mask=i < n), mask=i < n)\n' > %t/unsigned.dsl
# RUN: fsc viz %t/unsigned.dsl x=random:0:u8[5] y=out.npy -o %t/unsigned.html
# RUN: printf '@kernel(grid=(1,))\ndef f(y: *fp32[n], x: *fp32[n], n: i32):\n    i = arange(0, 4)\n    store(y + i, load(x + i + where(i == 2, 1 << 34, 0)))\n' > '%t/far away.dsl'
# RUN: fsc viz '%t/far away.dsl' x=random:0:fp32[4] y=out.npy -o %t/far.html 2>/dev/null
# RUN: fsc viz %examples/softmax.dsl 'x=random:5:fp32[1,600]' y=out.npy --num-ctas=grid:4 -o %t/split.html
# RUN: %python %s %t
import base64
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs"))
from vizfacts import Page, offsets  # noqa: E402


def softmax(x):
    e = np.exp(x.astype(np.float64) - x.max())
    return e / e.sum()


def close(got, want, bound=2e-6):
    np.testing.assert_allclose(np.asarray(got, np.float64), np.asarray(want, np.float64), rtol=bound, atol=bound)


def check_softmax(page):
    assert len(page.runs) == 2 and [page.scalar(r, "n_cols") for r in page.runs] == ["200", "37"]
    for run, seed_rows in zip(page.runs, (3, 5)):
        x, y = page.array(run, "x"), page.array(run, "y")
        assert run["grid"] == [seed_rows, 1, 1] and not run["faults"]
        assert [p["at"][0] for p in run["programs"]] == [0, seed_rows - 1]
        for program in run["programs"]:
            row, n = program["at"][0], x.shape[1]
            load = page.results(run, program, "load")[0]
            np.testing.assert_array_equal(load[:n], x[row])
            assert (load[n:] == -np.inf).all() and len(load) > n
            mask = page.results(run, program, "icmp")[0]
            assert mask.sum() == n and mask[:n].all()
            exp = page.results(run, program, "exp")[0]
            close(exp[:n], np.exp(x[row].astype(np.float64) - x[row].max()))
            assert (exp[n:] == 0).all()
            scalars = [v for v in page.results(run, program, "reduce_warp") + page.results(run, program, "reduce")
                       if v.ndim == 0]
            assert scalars[0] == x[row].max()
            close(scalars[1], np.exp(x[row].astype(np.float64) - x[row].max()).sum())
            close(page.results(run, program, "fdiv")[-1][:n], softmax(x[row]))
            close(y[row], softmax(x[row]))
    run = page.runs[0]
    exchanges = [e for _, _, es in page.steps(run, run["programs"][0]) for e in es]
    assert sum(e["k"] == "barrier" for e in exchanges) == 2
    assert [e["w"] for e in exchanges if e["k"] == "shuffle xor"][:5] == [16, 8, 4, 2, 1]
    assert sum(e["k"] == "shared store" for e in exchanges) == 2
    lines = page.facts["source"].split("\n")
    for op in page.code(run)["ir"]:
        if op["kind"] in ("exp", "load", "store"):
            assert op["kind"] + "(" in lines[op["line"] - 1], op
    assert ".loc" not in page.code(run)["ptx"] and "fsc_record" not in page.code(run)["ptx"]


def check_tiled(page):
    """The maximum and the sum so far, which the loop carries."""
    run = page.runs[0]
    assert [p["at"] for p in run["programs"]] == [[1, 0, 0]]
    program, x = run["programs"][0], page.array(run, "x")[1].astype(np.float64)
    loop = next(op for op in page.code(run)["ir"] if op["kind"] == "for" and len(op["enters"]) == 3)
    turns = [values for op, values, _ in page.steps(run, program) if op is loop and loop["enters"][0] in values]
    assert [int(v[loop["enters"][0]]) for v in turns] == [0, 64, 128]
    carried = [v for op, values, _ in page.steps(run, program) if op is loop and loop["results"][0] in values
               for v in [values]]
    final = sorted(float(v) for v in carried[-1].values())
    close(final, sorted([x.max(), np.exp(x - x.max()).sum()]), 1e-5)
    close(page.array(run, "y")[1], softmax(x), 1e-3)


def check_columns(page):
    run = page.runs[0]
    x, program = page.array(run, "x"), run["programs"][0]
    load = page.results(run, program, "load")[0]
    columns = min(load.shape[1], x.shape[1])
    np.testing.assert_array_equal(load[:20, :columns], x[:, :columns])
    sums = page.results(run, program, "fdiv")[-1][:20, :columns].sum(axis=0)
    close(sums, np.ones(columns), 1e-5)


def check_norm(page):
    """A cluster of two blocks, bf16."""
    run = page.runs[0]
    assert run["blocks"] == 2
    x, program = page.array(run, "x"), run["programs"][0]
    np.testing.assert_array_equal(page.results(run, program, "load")[0][:600], x[0])
    close(page.array(run, "mean")[0], x[0].astype(np.float64).mean(), 1e-5)
    kinds = {e["k"] for _, _, es in page.steps(run, program) for e in es}
    assert {"cluster store", "barrier", "load", "store"} <= kinds, kinds


def check_scan(page):
    run = page.runs[0]
    x = page.array(run, "x").astype(np.int64)
    scans = [v for kind in ("scan", "scan_warp", "scan_apply") for v in page.results(run, run["programs"][0], kind)]
    assert any((v[:50] == np.cumsum(x[0])).all() for v in scans)


def check_argmax(page):
    """A reduction of two values by a function, across warps."""
    run = page.runs[0]
    x, program = page.array(run, "x"), run["programs"][1]
    ends = [(float(v[op["results"][0]]), int(v[op["results"][1]])) for op, v, _ in page.steps(run, program)
            if op["kind"] == "reduce_fn" and op["results"][0] in v and v[op["results"][0]].ndim == 0]
    assert ends == [(x[2].max(), x[2].argmax())] and page.array(run, "y")[2] == x[2].argmax()


def check_ahead(page):
    """Copies that go on while the program computes: loads where they begin, words of shared memory at the wait."""
    run = page.runs[0]
    x, program = page.array(run, "x"), run["programs"][1]
    assert program["at"] == [1, 0, 0] and page.outline(run, 1, "x") == [4004, 8008, 8008, 0, 0, 0]
    steps = list(page.steps(run, program))
    begun = [a for op, _, es in steps if op["kind"] == "copy_async" for e in es
             for a in offsets(e["a"], program["threads"]) if a >= 0]
    assert sorted(begun) == sorted(2 * list(range(4004, 8008, 4)))  # two loops over the row
    brought = [e for op, _, es in steps if op["kind"] == "copy_wait" for e in es]
    assert {e["k"] for e in brought} == {"shared copy"} and all(run["params"][e["w"]]["name"] == "x" for e in brought
                                                                if e["w"] >= 0)
    words = (np.concatenate([np.frombuffer(base64.b64decode(e["d"]),
                                           np.float32).reshape(-1, e["b"] // 4)[offsets(e["a"], program["threads"]) >=
                                                                                0].ravel() for e in brought
                             if e["w"] >= 0]))
    np.testing.assert_array_equal(words, np.tile(x[1], 2))


def check_unsigned(page):
    run = page.runs[0]
    np.testing.assert_array_equal(page.array(run, "y"), 255 - page.array(run, "x"))


def check_far(page):
    """An address that lies in no buffer keeps its 64 bits."""
    run = page.runs[0]
    threads = run["programs"][0]["threads"]
    loads = [offsets(e["a"], threads) for op, _, es in page.steps(run, run["programs"][0]) if op["kind"] == "load"
             for e in es]
    assert max(a.max() for a in loads) > 2**34 and run["faults"]


def check_split(page):
    """Blocks that meet through global memory: each writes its maximum and its sum to a word, and reads those of all."""
    run = page.runs[0]
    assert run["together"] and run["blocks"] == 4
    x, program = page.array(run, "x")[0].astype(np.float64), run["programs"][0]
    rounds = {}
    for _, _, exchanges in page.steps(run, program):
        for e in exchanges:
            if not e["k"].startswith("word"):
                continue
            where = offsets(e["a"], program["threads"])
            words = np.frombuffer(base64.b64decode(e["d"]), np.uint32).reshape(-1, 2)[where >= 0]
            for (bits, number), at in zip(words, where[where >= 0]):
                rounds.setdefault((int(number), e["k"]), []).append((int(at) // 8, bits.view(np.float32)))
    assert sorted(rounds) == [(n, k) for n in (1, 2) for k in ("word load", "word store")], sorted(rounds)
    for number in (1, 2):
        stored, loaded = rounds[number, "word store"], rounds[number, "word load"]
        assert len(stored) == 4 and len(loaded) == 16 and sorted(loaded) == sorted(stored * 4)
    assert max(v for _, v in rounds[1, "word store"]) == page.array(run, "x").max()
    close(sum(float(v) for _, v in rounds[2, "word store"]), np.exp(x - x.max()).sum(), 1e-5)


def main(folder):
    for name, check in {"softmax": check_softmax, "tiled": check_tiled, "columns": check_columns, "norm": check_norm,
                        "scan": check_scan, "argmax": check_argmax, "ahead": check_ahead, "unsigned": check_unsigned,
                        "far": check_far, "split": check_split}.items():
        page = Page(os.path.join(folder, name + ".html"))
        assert "http://" not in page.text.replace("http://www.w3.org/2000/svg",
                                                  "") and "https://" not in page.text, "a page stands alone"
        check(page)


main(sys.argv[1])

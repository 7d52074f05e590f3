# Ctrl-C in long work shows what there is until then, and the process ends as by the signal: a profile counts the programs
# that began, a bench has the points that it measured, a checked run its findings, a test the cases that ended, a tuning
# file its points. On a terminal they say how far they are, and wipe it away.
# RUN: %python %s fsc
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

LONG = """# test: y=zeros:fp32[2,256]
# test long: y=zeros:fp32[4000,256]
# test: y=zeros:fp32[3,256]
@kernel(grid=(n,))
def long(y: *fp32[n, 256], n: i32):
    i = program_id(0) * 256 + arange(0, 256)
    v = i.to(fp32)
    for k in range(20000):
        v = v * 0.5 + 1
    store(y + i, v)
"""
BESIDE = LONG.replace("y + i, v", "y + i - 256, v")
SOFTMAX = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "dsl_examples", "softmax.dsl")
Y = "y=zeros:fp32[4000,256]"


def start(tool, folder, *words, **more):
    """As a shell starts it: whoever runs the tests may ignore SIGINT, and what is ignored stays so."""
    return subprocess.Popen([tool, *words], cwd=folder, text=True, stdout=subprocess.PIPE,
                            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
                            **{"stderr": subprocess.PIPE, **more})


def interrupted(tool, folder, ready, *words):
    """What it says once `ready` holds and it has had SIGINT."""
    p = start(tool, folder, *words)
    ready(p)
    p.send_signal(signal.SIGINT)
    out, err = p.communicate(timeout=120)
    assert p.returncode == -signal.SIGINT, (p.returncode, err)
    return out, err


def counts_until_then(tool, folder):
    file = os.path.join(folder, "long.dsl")
    out, err = interrupted(tool, folder, lambda p: time.sleep(3), "profile", "--json", file, Y, "--device=emu:1")
    found = json.loads(out)
    assert 0 < found["programs"] < found["all_programs"] == 4000, found["programs"]
    assert "fsc profile: stopped; %d programs began, of 4000" % found["programs"] in err, err
    # all that ended stored their row, and no program stored more than one
    assert found["programs"] - 64 <= found["all"]["store"]["bytes"] / 1024 <= found["programs"], found["all"]
    assert found["advice"]["findings"], "advice is of what was counted"
    assert found["faults"] == [], "what no program wrote yet is no fault"


def measures_until_then(tool, folder):
    file, svg = os.path.join(folder, "long.dsl"), os.path.join(folder, "plot.svg")

    def second_point(p):
        for _ in range(2):
            p.stdout.readline()  # the head, the first point

    out, err = interrupted(tool, folder, second_point, "bench", file, "--axis", "N=1,4000,8000", "y=zeros:fp32[N,256]",
                           "--device=emu:1", "--svg", svg)
    stopped = re.search(r"fsc bench: stopped after ([12]) points", err)  # it may reach the second point meanwhile
    assert stopped and len(out.splitlines()) == int(stopped[1]) - 1, (out, err)
    assert os.path.exists(svg)


def checks_until_then(tool, folder):
    file, out = os.path.join(folder, "beside.dsl"), os.path.join(folder, "out.npy")
    said, err = interrupted(tool, folder, lambda p: time.sleep(3), "run", file, f"y={out}:fp32[4000,256]", "--check",
                            "--device=emu:1")
    assert re.search(r"fsc run: stopped; [1-9]\d* of 4000 programs ended", err), err
    assert "the checks found" in err and "before the beginning of y" in err and not said, (said, err)
    assert not os.path.exists(out), "what is not whole is not written"


def runs_lines_until_then(tool, folder):
    file = os.path.join(folder, "long.dsl")
    out, err = interrupted(tool, folder, lambda p: time.sleep(3), "run", file, Y, "--coverage", "--json",
                           "--device=emu:1")
    ended = int(re.search(r"stopped; (\d+) of 4000", err)[1])
    runs = {line["line"]: line["runs"] for line in json.loads(out)["coverage"]}
    assert 0 < ended <= runs[10] < 4000, (ended, runs)


def tests_until_then(tool, folder):
    file = os.path.join(folder, "long.dsl")

    def second_case(p):
        assert p.stdout.readline().startswith("ok   "), "the first case"
        time.sleep(2)

    out, _ = interrupted(tool, folder, second_case, "test", file, "--device=emu:1")
    assert re.fullmatch(r"stop .*long.dsl:2 on emu:1: long\n1 passed, 0 failed\n", out), out


def tunes_until_then(tool, folder):
    shutil.copy(SOFTMAX, folder)
    file, tuned = os.path.join(folder, "softmax.dsl"), os.path.join(folder, "softmax.tune")
    _, err = interrupted(tool, folder, lambda p: p.stdout.readline(), "tune", file, "--axis", "n_cols=64,128,4000",
                         "n_rows=4000", "--variants", "BLOCK=4096..8192", "--device=cpu:1", "--repeat=40")
    stopped = re.search(r"fsc tune: stopped after ([12]) points, which are in .*softmax.tune; the same call goes on", err)
    with open(tuned, encoding="utf-8") as rows:
        assert stopped and len(re.findall(r"^n_cols=", rows.read(), re.M)) == int(stopped[1]), err


def tells_how_far(tool, folder):
    main, side = pty.openpty()
    file = os.path.join(folder, "long.dsl")
    p = start(tool, folder, "profile", file, Y, "--device=emu:1", stderr=side)
    os.close(side)
    said = b""
    while not re.search(rb"[1-9]\d* of 4000 programs \(\d+ %\)", said):
        said += os.read(main, 1000)
    p.send_signal(signal.SIGINT)
    out, _ = p.communicate(timeout=120)
    said += os.read(main, 10000)
    assert p.returncode == -signal.SIGINT and "kernel long, counted" in out, (p.returncode, out)
    assert b"stopped; " in said and said.rindex(b"\r\033[K") > said.rindex(b"programs ("), said
    os.close(main)


tool = os.path.abspath(shutil.which(sys.argv[1]) or sys.argv[1])
with tempfile.TemporaryDirectory() as folder:
    with open(os.path.join(folder, "long.dsl"), "w", encoding="utf-8") as file:
        file.write(LONG)
    with open(os.path.join(folder, "beside.dsl"), "w", encoding="utf-8") as file:
        file.write(BESIDE)
    counts_until_then(tool, folder)
    measures_until_then(tool, folder)
    checks_until_then(tool, folder)
    runs_lines_until_then(tool, folder)
    tests_until_then(tool, folder)
    tunes_until_then(tool, folder)
    tells_how_far(tool, folder)
print("interrupted")

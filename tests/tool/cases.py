# fsc test: the cases in the examples' comments hold on every device that is here; a wrong one fails with what is wrong,
# and each mistake in a case is told with its line.
# RUN: rm -rf %t && mkdir %t && %python %s fsc %t %examples
import glob
import os
import re
import subprocess
import sys

import numpy as np

TOOL, FOLDER, EXAMPLES = os.path.abspath(sys.argv[1]), sys.argv[2], os.path.abspath(sys.argv[3])
os.chdir(FOLDER)
KERNEL = """@kernel(grid=(1,))
def twice(y: *fp32[n], x: *fp32[n], n: i32, SIZE: constexpr = 16):
    i = arange(0, SIZE)
    store(y + i, 2 * load(x + i, mask=i < n), mask=i < n)
"""


def test(*words):
    return subprocess.run([TOOL, "test", *words], capture_output=True, text=True, timeout=300)


def write(name, text):
    os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
    with open(name, "w", encoding="utf-8") as file:
        file.write(text)


def case(status, lines, *words, says=(), kernel=KERNEL):
    write("case.dsl", kernel + lines)
    done = test("case.dsl", *words)
    assert done.returncode == status, (lines, done)
    for line in says:
        assert line in done.stdout + done.stderr, (line, done)
    return done


# ---- the examples: all but those whose arguments no word makes, or whose results no formula
without = {"attention_backward", "attention_backward_varlen", "attention_decode", "attention_varlen",
           "layernorm_backward"}
files = sorted(glob.glob(os.path.join(EXAMPLES, "*.dsl")) + glob.glob(os.path.join(EXAMPLES, "naive", "*.dsl")))
files = [file for file in files if os.path.basename(file)[:-4] not in without]
done = test(*files)
assert done.returncode == 0 and not done.stderr, (done.stdout, done.stderr)
lines = done.stdout.splitlines()
assert re.fullmatch(r"\d+ passed, 0 failed", lines[-1]) and all(line.startswith("ok   ") for line in lines[:-1])
for file in files:
    for device in ("cpu", "emu"):
        assert any(line.startswith("ok   %s:" % file) and " on %s" % device in line for line in lines), (file, device)

# ---- what is printed; the device of a case and of the call; blanks, quotes, lines that go on; CRLF
good = "# test: x=random:0:fp32[9]\n# expect y: 2 * x\n"
done = case(0, good)
assert done.stdout.startswith("ok   case.dsl:5 on cpu\nok   case.dsl:5 on emu\n"), done
done = case(0, good, "--device=emu")
assert done.stdout == "ok   case.dsl:5 on emu\n1 passed, 0 failed\n", done
done = case(0, "   #   test nine of 'them' :  'x=random:0:fp32[9]' \\\n   #   --device=cpu\n#expect y: x \\\n#   + x\n")
assert done.stdout == "ok   case.dsl:5 on cpu: nine of 'them' \n1 passed, 0 failed\n", done
case(0, good.replace("\n", "\r\n"))
case(0, "# test: n=9\n# expect y: 2 * x\n")  # x comes from its contract
case(0, "# test: x=random:0:fp32[9] -D SIZE=32 --num-warps=2\n# expect y: 2 * x\n")
case(0, "# test: x=random:0:fp32[9] -D SIZE=32\n# testing is no case: nor is this\n# tests: neither\n")
assert case(0, good, "--check").stdout == "ok   case.dsl:5 on emu\n1 passed, 0 failed\n"
assert case(0, "# test: x=random:0:fp32[9] --check\n").stdout.count("ok") == 2

# ---- what fails
bad = good.replace("2 * x", "2 * x + (arange(9) == 4)")
done = case(1, bad + good, "--device=cpu")
assert done.stdout.startswith("FAIL case.dsl:5 on cpu\n     y is not as expected by 2 * x + (arange(9) == 4)\n"
                              "       1 of 9 elements are too far off, the worst at [4]: got "), done
assert done.stdout.endswith("ok   case.dsl:7 on cpu\n1 passed, 1 failed\n"), done
case(1, good.replace("fp32[9]", "fp32[20]"), "--device=cpu", says=["too far off", "FAIL case.dsl:5"])  # SIZE is 16
case(1, good.replace("x=", "--num-warps=3 x="), says=["--num-warps takes 1, 2, 4", "0 passed, 2 failed"])
case(1, good.replace("2 * x", "2 * z"), says=["fsc test: --expect y: 'z' is no parameter"])
case(1, good.replace("x=", "w="), says=["kernel twice has no parameter 'w'"])
case(1, good.replace("x=", "y=out.npy x="), says=["a case writes no files; leave y out, or give y=zeros:fp32[…]"])
case(1, good.replace("x=", "--print=y x="), says=["--print is for fsc run"])
case(1, good, kernel=KERNEL.replace("load(x", "laod(x"), says=["did you mean 'load'"])
far = case(1, good, "--check", kernel=KERNEL.replace(", mask=i < n)\n", ")\n"), says=["FAIL", "beyond"])
assert not os.path.exists("out.npy")
case(1, "# expect y: x\n", says=["case.dsl:5: '# expect' belongs below a '# test NAME: WORDS'"])
case(1, "# test\n# test twice\n", says=["case.dsl:6: a case is '# test NAME: WORDS'; the ':' is missing"])
case(1, good + "# expect y x\n", says=["case.dsl:7: an expectation is '# expect BUFFER: WHAT'"])
case(1, "# test: 'x=1\n", says=["case.dsl:5: a quote has no end"])
case(1, "", says=["case.dsl has no cases; one is a comment: # test: x=random:0:fp32[4,8]"])
assert test().returncode == 2 and test("none.dsl").returncode == 1
case(2, good, "--device=tpu", says=["'tpu' is no device"])

# ---- paths begin at the file
np.save("x.npy", np.arange(9, dtype=np.float32))
write("deep/x.npy.txt", "")
np.save("deep/x.npy", np.arange(5, dtype=np.float32))
np.save("deep/ref.npy", np.arange(5, dtype=np.float32) * 2)
write("deep/a.dsl", KERNEL + "# test: x=x.npy\n# expect y: ref.npy\n# expect y: b.dsl\n")
write("deep/b.dsl", KERNEL.replace("2 * load", "load").replace("store(y + i, ", "store(y + i, 2.0 * ") + good)
done = test("deep/a.dsl", "deep/b.dsl", "--device=cpu")
assert done.returncode == 0 and done.stdout.endswith("2 passed, 0 failed\n"), done
done = test("none.dsl", "deep/a.dsl", "--device=cpu")  # the others are run all the same
assert done.returncode == 1 and "1 passed" in done.stdout, done

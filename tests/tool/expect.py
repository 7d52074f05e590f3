# fsc run --print, NAME=-, --expect: what is printed, streamed and compared, with the worst element and exit codes; and
# every word of a formula against NumPy.
# RUN: rm -rf %t && mkdir %t && %python %s fsc %t %examples
import io
import os
import re
import subprocess
import sys

import numpy as np

TOOL, FOLDER, EXAMPLES = os.path.abspath(sys.argv[1]), sys.argv[2], os.path.abspath(sys.argv[3])
os.chdir(FOLDER)


def run(*words, data=None, text=True):
    return subprocess.run([TOOL, "run", *words], input=data, capture_output=True, text=text, timeout=60)


def expect(status, *words, says=()):
    done = run(*words, "--device=cpu", "--repeat=1", "--warmup=0")
    assert done.returncode == status, (words, done)
    for line in says:
        assert line in done.stdout + done.stderr, (line, done)
    return done


softmax, add = os.path.join(EXAMPLES, "softmax.dsl"), os.path.join(EXAMPLES, "add.dsl")

# ---- values
np.save("x.npy", np.arange(12, dtype=np.float32).reshape(3, 4) / 8)
done = expect(0, add, "x=x.npy", "y=zeros:fp32[12]", "--print=x,z", "-Dn=12")
assert done.stdout.startswith("""x = fp32[3,4]
[[    0 0.125  0.25 0.375]
 [  0.5 0.625  0.75 0.875]
 [    1 1.125  1.25 1.375]]
z = fp32[12]
[    0 0.125  0.25 0.375   0.5 0.625  0.75 0.875     1 1.125  1.25 1.375]
add on cpu: """), done.stdout
np.save("long.npy", np.arange(40 * 20, dtype=np.int32).reshape(40, 20))
done = expect(0, add, "x=long.npy", "y=zeros:i32[800]", "z=z.npy", "-Dn=800", "-TT=i32", "--print=x")
assert done.stdout.startswith("""x = i32[40,20]
[[  0   1   2   3 …  16  17  18  19]
 [ 20  21  22  23 …  36  37  38  39]
 [ 40  41  42  43 …  56  57  58  59]
 [ 60  61  62  63 …  76  77  78  79]
 …
 [720 721 722 723 … 736 737 738 739]
"""), done.stdout
expect(2, add, "x=x.npy", "y=zeros:fp32[12]", "z=z.npy", "--print=w", says=["has no parameter 'w'", "are z x y n"])
expect(2, add, "x=x.npy", "y=zeros:fp32[12]", "z=z.npy", "--print=n", says=["--print n: it is no buffer"])
expect(2, add, "x=x.npy", "y=zeros:fp32[12]", "--print=z", "--json", says=["write a file instead: z=z.npy"])

# ---- streams: standard output has the array and nothing else; it is read from standard input
first = run(softmax, "x=random:3:fp32[5,30]", "y=-", "--device=cpu", text=False)
assert first.returncode == 0 and b"softmax on cpu" in first.stderr, first
y = np.load(io.BytesIO(first.stdout))
assert y.shape == (5, 30) and abs(y.sum() - 5) < 1e-5
second = run(add, "x=-", "y=zeros:fp32[150]", "z=-", "--device=cpu", data=first.stdout, text=False)
assert second.returncode == 0 and (np.load(io.BytesIO(second.stdout)) == y.reshape(-1)).all(), second
expect(2, softmax, "x=random:0:fp32[2,8]", "y=-", "--json", says=["standard output takes --json or y, not both"])
twice = run(add, "x=-", "y=-", "z=z.npy", "--device=cpu", data=first.stdout, text=False)
assert twice.returncode == 2 and b"standard input is read for x; y needs a file of its own" in twice.stderr, twice
broken = run(add, "x=-", "y=zeros:fp32[150]", "--print=z", "--device=cpu", data=b"junk", text=False)
assert broken.returncode == 2 and b"cannot read 'standard input': it is not a .npy file" in broken.stderr, broken

# ---- a file: NaN and infinity first, then the tolerance; several outputs
x = np.arange(12, dtype=np.float32)
np.save("x.npy", x)
np.save("same.npy", x + x)
words = (add, "x=x.npy", "y=x.npy")
expect(0, *words, "--expect=z:same.npy", says=["z is as expected, to the last bit"])
far = (x + x).astype(np.float64)
far[7] += 0.5
far[3] += 0.01
np.save("far.npy", far)
expect(1, *words, "--expect=z:far.npy", says=["z is not as expected by far.npy\n  2 of 12 elements are too far off, the "
       "worst at [7]: got 14, expected 14.5\n  the error there is 0.5; rtol 1.3e-06, atol 1e-05 allow 2.89e-05\n"])
expect(0, *words, "--expect=z:far.npy", "--atol=0.5", says=["the largest error is 0.5, at [7], 1 of what"])
expect(0, *words, "--expect=z:far.npy", "--rtol=0.04", "--atol=0")
expect(1, *words, "--expect=z:far.npy", "--rtol=0.03", "--atol=0")
for odd in (np.nan, np.inf, -np.inf):
    wild = far.copy()
    wild[5] = odd
    np.save("wild.npy", wild)
    expect(1, *words, "--expect=z:wild.npy", "--atol=1e30",
           says=["NaN or infinity is not where it should be in 1 of 12 elements, first at [5]: got 10, expected %s" % odd])
    np.save("odd.npy", wild.astype(np.float32))
    expect(0, add, "x=odd.npy", "y=zeros:fp32[12]", "--expect=z:wild.npy")
np.save("wild.npy", np.where(np.arange(12) == 5, -np.inf, np.nan))
np.save("odd.npy", np.where(np.arange(12) == 5, np.inf, np.nan).astype(np.float32))
expect(1, add, "x=odd.npy", "y=zeros:fp32[12]", "--expect=z:wild.npy", says=["in 1 of 12", "got inf, expected -inf"])
np.save("short.npy", far[:11])
expect(1, *words, "--expect=z:short.npy", says=["it has 12 elements, and short.npy gives 11 elements"])
expect(2, *words, "--expect=z:none.npy", says=["cannot read 'none.npy': No such file"])
expect(2, *words, "--expect=x:same.npy", "--print=z", says=["--expect x: the kernel does not write it"])
expect(2, *words, "--expect=z", says=["--expect takes NAME:WHAT, such as y:ref.npy"])
expect(2, *words, "--expect=z:x", "--rtol=-1", says=["--rtol takes a number such as 1e-5, not '-1'"])
done = expect(1, *words, "--expect=z:far.npy", "--json")
assert done.stdout.startswith('{"schema_version"') or not done.stdout, done

norm = os.path.join(EXAMPLES, "l2_normalize.dsl")
both = ("--expect=norm:sqrt(sum(x * x, axis=1))", "--expect=y:x / sqrt(sum(x * x, axis=1))")
expect(0, norm, "x=random:0:fp32[7,33]", *both, says=["norm is as expected: ", "y is as expected: "])
expect(1, norm, "x=random:0:fp32[7,33]", both[0], "--expect=y:x", says=["norm is as expected: ", "y is not as expected"])

# ---- 16 bits, integers beyond 2^53, and a buffer that is read and written: formulas see what was given
expect(0, add, "x=random:0:bf16[64]", "y=random:1:bf16[64]", "-TT=bf16", "z=z.npy")
expect(0, add, "x=random:0:bf16[64]", "y=random:1:bf16[64]", "-TT=bf16", "--expect=z:z.npy", "--rtol=0", "--atol=0",
       says=["to the last bit"])
np.save("big.npy", np.full(4, 2**62 + 1))
expect(0, add, "x=big.npy", "y=zeros:i64[4]", "-TT=i64", "--expect=z:x", says=["to the last bit"])
expect(1, add, "x=big.npy", "y=zeros:i64[4]", "-TT=i64", "--expect=z:x + 1", says=["rtol 0, atol 0 allow 0"])
with open("twice.dsl", "w", encoding="utf-8") as file:
    file.write("@kernel(grid=(1,))\ndef twice(x: *fp32[n], n: i32):\n    i = arange(0, 16)\n"
               "    store(x + i, 2 * load(x + i, mask=i < n), mask=i < n)\n")
expect(0, "twice.dsl", "x=random:0:fp32[9]", "--expect=x:2 * x", says=["to the last bit"])
expect(1, "twice.dsl", "x=random:0:fp32[9]", "--expect=x:x")

# ---- another kernel
tiled = os.path.join(EXAMPLES, "softmax_tiled.dsl")
expect(0, softmax, "x=random:0:fp32[5,300]", "--expect=y:" + tiled, says=["y is as expected"])
expect(0, softmax, "x=random:0:fp32[5,300]", "--expect=y:%s:softmax_tiled" % tiled)
expect(1, softmax, "x=random:0:fp32[5,300]", "--expect=y:" + os.path.join(EXAMPLES, "log_softmax.dsl"))
expect(2, softmax, "x=random:0:fp32[5,300]", "--expect=y:%s:none" % tiled, says=["none"])
expect(2, softmax, "x=random:0:fp32[5,300]", "--expect=y:" + add, says=["kernel add does not write y"])
expect(2, softmax, "x=random:0:fp32[5,300]", "--expect=y:" + os.path.join(EXAMPLES, "gather_rows.dsl"), says=["index"])

# ---- formulas: mistakes
for formula, says in (("exo(x)", "there is no function 'exo'; did you mean 'exp'?"), ("q + 1", "'q' is no parameter"),
                      ("x + ", "is expected, at 'the end'"), ("exp(x, 2)", "exp takes 1 argument"), ("(x", "')' is expected"),
                      ("x + arange(5)", "12 elements and 5 elements do not broadcast"), ("sum(x, axis=3)", "has no axis 3"),
                      ("x[20]", "there is no index 20 of 12"), ("x @ x", "are no matrices"), ("x x", "nothing more"),
                      ("T", "'T' is no parameter"), ("take(x, 12)", "there is no row 12 of 12"), ("1e", "no number"),
                      ("(" * 300, "nested too deeply"), ("x[0:2, 0]", "has not so many axes"), ("arange(2)[:, None, None].T", ".mT")):
    expect(2, *words, "--expect=z:" + formula, says=["fsc run: --expect z: ", says])

# ---- formulas: what they give is what NumPy gives
np.random.seed(0)
a, b, m, i = np.random.randn(4, 5), np.random.randn(4, 1), np.random.randn(5, 3), np.array([3, 0, -1])
t = np.random.randn(2, 4, 5)
for name in "abmit":
    np.save(name + ".npy", locals()[name])
with open("copy.dsl", "w", encoding="utf-8") as file:
    file.write("@kernel(grid=(1,))\ndef copy(y: *fp64[N], r: *fp64[N], a: *fp64[4, 5], b: *fp64[4, 1], m: *fp64[5, 3],\n"
               "         i: *i64[3], t: *fp64[2, 4, 5], N: i32, c: fp64):\n    at = arange(0, 64)\n"
               "    zero = (load(a) + load(b) + load(m) + load(t) + load(i)) * 0\n"
               "    store(y + at, load(r + at, mask=at < N) + zero, mask=at < N)\n")


def keep(fn):
    return lambda x, axis=None: fn(x, axis=axis, keepdims=axis is not None)


NAMES = dict({name: getattr(np, name) for name in "exp exp2 expm1 log log2 log1p sqrt sin cos tanh abs floor ceil rint "
              "isnan where clip maximum minimum arange inf nan pi cumsum take".split()},
             **{name: keep(getattr(np, name)) for name in "sum mean prod max min argmax argmin".split()},
             swap=lambda x: np.swapaxes(x, -1, -2), rsqrt=lambda x: 1 / np.sqrt(x), sigmoid=lambda x: 1 / (1 + np.exp(-x)),
             fp16=lambda x: np.float16(x).astype(float), fp32=lambda x: np.float32(x).astype(float),
             i32=np.int32, a=a, b=b, m=m, i=i, t=t, c=2.5, take=lambda x, rows: np.take(x, rows, axis=0))
for formula in ("a + b * 2 - 1 / 3", "-a ** 2", "2 ** -a ** 2", "a // 0.3 + a % 0.3", "7 // -2 + 7 % -2", "a @ m", "t @ m",
                "(a.T @ a)[1:, :-1]", "t.mT", "a.T.mT", "a < b", "(a >= 0) & (a <= 1) | (a == b)", "a != a", "5 ^ 3 << 1", "~6 & 255 >> 1",
                "exp(a) + exp2(a) + expm1(a)", "log(abs(a)) + log2(abs(a)) + log1p(abs(a))", "sqrt(abs(a)) * rsqrt(abs(a))",
                "sin(a) + cos(a) + tanh(a) + sigmoid(a)", "floor(a) + ceil(a) * 10 + rint(a) * 100",
                "where(a > 0, a, b)", "clip(a, -0.5, 0.5)", "maximum(a, b) * minimum(a, 0)", "isnan(a / a - inf * (a > 1e9))",
                "sum(a, axis=1) + max(a, axis=1)", "mean(t, axis=1)", "prod(a, axis=0)", "min(t, axis=-1)", "sum(t)",
                "argmax(a, axis=1) + argmin(a, axis=0)", "cumsum(t, axis=1)", "cumsum(a)", "take(a, i)", "take(m, i)[:, 1]",
                "a[-1]", "t[1, 2:, None]", "a[:, 3]", "arange(5) * c + pi",
                "fp16(a) + fp32(b)", "i32(a * 10)", "a - max(a)", "1.5e-1 * a + .5", "a [1 : 3 ,]"):
    want = np.asarray(eval(re.sub(r"(t|a\.T)\.mT", r"swap(\1)", formula), NAMES), np.float64)
    np.save("r.npy", want.reshape(-1))
    call = ("copy.dsl", "r=r.npy", *("%s=%s.npy" % (name, name) for name in "abmit"), "c=2.5", "y=y.npy:fp64" +
            str(list(want.shape)).replace(" ", ""), "N=%d" % want.size, "--rtol=1e-14", "--atol=1e-15")
    expect(0, *call, "--expect=y:" + formula, says=["y is as expected"])
    np.save("r.npy", want.reshape(-1) + (np.arange(want.size) == want.size // 2) * 1e-6)
    expect(1, *call, "--expect=y:" + formula, says=["1 of %d elements" % want.size])

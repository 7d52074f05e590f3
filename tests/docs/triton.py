# The tables of docs/reference/triton.md are true: the lines of "works" and "differs" compile to PTX, each line of
# "refused" has an error that names its row, and no name of triton.language is left out.
# RUN: %python %s fsc
import os
import re
import subprocess
import sys
import tempfile

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "reference", "triton.md")
SIGNATURE = "*fp32, *i32, *fp64, i32, *fp32, fp32, 32"

# The public names of triton.language 3.7, and constexpr_function of 3.6.
NAMES = """
PropagateNan TRITON_MAX_TENSOR_NUMEL abs add advance arange argmax argmin associative_scan assume atomic_add
atomic_and atomic_cas atomic_max atomic_min atomic_or atomic_xchg atomic_xor bfloat16 bitonic_merge block_type
broadcast broadcast_to cast cat cdiv ceil clamp condition const constexpr constexpr_function constexpr_type cos
cumprod cumsum debug_barrier device_assert device_print div_rn dot dot_scaled dtype erf exp exp2 expand_dims
expect_zero extra fdiv flip float16 float32 float64 float8e4b15 float8e4b8 float8e4nv float8e5 float8e5b16 floor fma
full gather histogram inline_asm_elementwise int1 int16 int32 int64 int8 interleave join load load_tensor_descriptor
log log2 make_block_ptr make_tensor_descriptor map_elementwise math max max_constancy max_contiguous maximum min
minimum mul multiple_of num_programs pair_uniform_to_normal permute philox philox_impl pi32_t pointer_type program_id
rand rand4x randint randint4x randn randn4x range ravel reduce reduce_or reshape rsqrt sigmoid sin slice softmax sort
split sqrt sqrt_rn squeeze static_assert static_print static_range store store_tensor_descriptor sub sum swizzle2d
target_info tensor to_tensor tensor_descriptor topk trans tuple uint16 uint32 uint64 uint8 uint_to_uniform_float
umulhi unsqueeze view void where xor_sum zeros zeros_like
""".split()

HEAD = """
import triton
import triton.language as tl
from triton.language.extra import libdevice

@triton.jit
def plus(a, b):
    return a + b

@triton.jit
def first(a, b):
    return a

@triton.jit
def first2(a, b, c, e):
    return a, b

@triton.jit
def kernel(p, q, d, n, z: tl.const, T: tl.dtype, B: tl.constexpr):
    i = tl.arange(0, B)
    x = tl.load(p + i) + tl.load(z + i).to(T)
    k = tl.load(q + i)
    t = x.reshape(4, 8)
    h = t.to(tl.bfloat16)
    u = k.to(tl.uint32)
    v = tl.make_block_ptr(p, (n,), (1,), (0,), (B,), (0,))
    w = tl.make_tensor_descriptor(p, [n], [1], [B])
"""
ROW = re.compile(r"^\| (`.+?`) \| (\w+) \| (?:`(.*)`)? ?\| (.*)\|$")


def rows():
    """(names, state, line with one name in it or "", the line of the page)"""
    with open(PAGE, encoding="utf-8") as f:
        for number, text in enumerate(f, 1):
            row = ROW.match(text.rstrip("\n"))
            if row:
                names = re.findall(r"`([^`]+)`", row.group(1))
                for name in names:
                    yield name, row.group(2), (row.group(3) or "").replace("NAME", name).replace("\\|", "|"), number
            elif text.startswith("| `"):
                raise SystemExit(f"triton.md:{number}: not a row of the form | `name` | state | `line` | text |")


def compile_lines(tool, lines, folder):
    """The lines in one kernel: (exit code, output, line of the kernel: line of `lines`)"""
    path = os.path.join(folder, "kernel.py")
    text, places = HEAD, {}
    for k, line in enumerate(lines):
        places[text.count("\n") + 1] = k
        text += f"    {line}\n"
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    command = [tool, path, "--kernel", "kernel", "--signature", SIGNATURE, "--error-limit=0", "-o",
               os.path.join(folder, "k.ptx")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout + done.stderr, places


def errors(output, places):
    """{index of a line: what its errors say}"""
    found = {}
    for line, message in re.findall(r"kernel\.py:(\d+):\d+: error: (.*)", output):
        k = places.get(int(line), -1)
        found[k] = found.get(k, "") + message + "\n"
    return found


def judge(tool, table, folder):
    """What is wrong with the table's rows."""
    wrong = []
    good = [r for r in table if r[1] in ("works", "differs") and r[2]]
    bad = [r for r in table if r[1] == "refused"]
    wrong += [f"triton.md:{r[3]}: '{r[1]}' is none of works, differs, refused" for r in table
              if r[1] not in ("works", "differs", "refused")]
    code, output, places = compile_lines(tool, [r[2] for r in good], folder)
    for k, message in errors(output, places).items():
        wrong.append(f"triton.md:{good[k][3]}: {good[k][0]} is said to work: {message.strip()}" if k >= 0 else message)
    if code and not wrong:
        wrong.append(f"the lines that work: exit code {code}\n{output}")
    code, output, places = compile_lines(tool, [r[2] for r in bad], folder)
    found = errors(output, places)
    for k, (name, _, line, number) in enumerate(bad):
        word = {"[i]": "indexed", "lambda": "lambda", "dict": "dict"}.get(name, f"'{name}'")
        if word not in found.get(k, ""):
            wrong.append(f"triton.md:{number}: {name} is said to be refused; of `{line}` the compiler says: "
                         f"{found.get(k, 'nothing')}")
    return wrong


def main():
    tool, table = os.path.abspath(sys.argv[1]), list(rows())
    listed = {r[0] for r in table}
    wrong = [f"triton.md: no row for {n}" for n in NAMES if n not in listed]
    with tempfile.TemporaryDirectory() as folder:
        wrong += judge(tool, table, folder)
        # Rows with the wrong word must be seen.
        planted = [("exp", "refused", "a = tl.exp(x)", 1), ("bitonic_merge", "works", "a = tl.bitonic_merge(x)", 2),
                   ("sin", "works?", "a = tl.sin(x)", 3)]
        assert len(judge(tool, planted, folder)) == 3, judge(tool, planted, folder)
    print("\n".join(wrong))
    count = {s: sum(r[1] == s for r in table) for s in ("works", "differs", "refused")}
    print(f"{len(table)} rows: {count}, {len(wrong)} wrong")
    assert len(table) > len(NAMES)
    return 1 if wrong else 0


sys.exit(main())

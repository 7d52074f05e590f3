# RUN: rm -rf %t && mkdir %t && %python %s %t fsc
"""npy_headers.py FOLDER FSC: .npy files with every kind of header that there is, and some that there should not be.
What fsc reads of them is what NumPy reads; what it does not read it refuses, with a sentence and exit code 2.
"""
import os
import struct
import subprocess
import sys

import numpy as np

folder, fsc = sys.argv[1:]
KERNEL = """@kernel(grid=(1,))
def copy(y: *T[n], x: *T[n], n: i32, T: dtype = fp32):
    i = arange(0, 16)
    store(y + i, load(x + i, mask=i < n), mask=i < n)
"""
kernel, path, out = (os.path.join(folder, name) for name in ("copy.dsl", "x.npy", "y.npy"))
with open(kernel, "w", encoding="ascii") as f:
    f.write(KERNEL)
BYTES = np.arange(6, dtype=np.float32).tobytes()


def header(text, version=1, data=BYTES, length=None):
    text = text if isinstance(text, bytes) else text.encode()
    size = struct.pack("<H" if version == 1 else "<I", len(text) if length is None else length)
    return b"\x93NUMPY" + bytes([version, 0]) + size + text + data


def plain(descr="'<f4'", order="False", shape="(6,)"):
    return f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}\n"


def run(data, *options):
    with open(path, "wb") as file:
        file.write(data)
    words = [fsc, "run", "--device=cpu", "--warmup=0", "--repeat=1", *options, kernel, f"x={path}", f"y={out}"]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60, check=False)
    return done.returncode, done.stdout.decode(errors="replace")


DAMAGED, SHAPE = "its header is damaged", "its shape is no tuple of whole numbers"
SHORT = "it is shorter than its header says"
HUGE, FIELDS, BIG = "has more elements than any memory", "its elements have fields", "its elements are big-endian"
NONE = "it is not a .npy file"
NO_TUPLES = ["(-6,)", "(+6,)", "(6)", "(6 1)", "(6,,)", "(,6)", "6", "(6.0,)", "(6,", "('6',)", "(None,)", "(0x6,)",
             "[6]", "", "(6", "(1e2,)", "(18446744073709551616,)", "(9223372036854775808,)"]
NO_TYPES = ["<f16", "<f45", "<f", "f4", "=f4", "|f4", "<c8", "<U3", "|S4", "|O", "<M8[s]", "|V20", "", "<f4 ",
            "\x1b[31m", "a" * 100, "\u00e9"]
REFUSED = [
    (b"", NONE), (b"\x93NUMPY", NONE), (header(plain(), 4), NONE), (b"\x93NUMPX" + header(plain())[6:], NONE),
    (header(plain())[:60], "it ends in the header"), (header(plain(), 1, b"", 65535), "it ends in the header"),
    (header(plain(), 2, b"", 2**32 - 1), "it ends in the header"), (header(plain(), 2)[:11], "it ends in the header"),
    (header(""), DAMAGED), (header("\0" * 60), DAMAGED), (header("{}"), DAMAGED),
    (header("{'descr': '<f4', 'shape': (6,)}"), DAMAGED), (header("{'fortran_order': False, 'shape': (6,)}"), DAMAGED),
    (header("{'xdescr': '<f4', 'fortran_order': False, 'shape': (6,)}"), DAMAGED), (header(plain(order="0")), DAMAGED),
    (header(plain(order="None")), DAMAGED), (header(plain(descr="5")), DAMAGED),
    (header(plain(descr="'<f4")), "is none that fsc knows"),
    *[(header(plain(shape=shape)), SHAPE) for shape in NO_TUPLES],
    *[(header(plain(descr=f"'{name}'")), "is none that fsc knows") for name in NO_TYPES],
    (header(plain(shape="(" + "1, " * 9 + ")")), "it has more than 8 dimensions"),
    (header(plain(shape="(9223372036854775807,)")), HUGE), (header(plain(shape="(4294967296, 4294967296)")), HUGE),
    (header(plain(shape="(2147483648, 2147483648, 4)")), HUGE), (header(plain(shape="(1099511627776,)")), SHORT),
    (header(plain(shape="(7,)")), SHORT), (header(plain(), 1, b""), SHORT),
    (header(plain(shape="(2, 3)", order="True")), "it is in Fortran order"),
    (header(plain(descr="[('a', '<f4')]")), FIELDS),
    (header(plain(descr="[('descr', '<f4'), ('shape', '<i4', (2,))]")), FIELDS),
    (header(plain(descr="'>f4'")), BIG), (header(plain(descr="'>i8'")), BIG),
]
for given, why in REFUSED:
    code, said = run(given)
    fine = code == 2 and "cannot read" in said and why in said and not any(ord(c) < 32 for c in said.rstrip("\n"))
    assert fine, f"{given!r}: {code}, not 2 with '{why}': {said!r}"

FINE = [plain(), plain(order="True"), plain(shape="(6, )"), plain(shape="( 6 ,)"),
        '{"descr": "<f4", "fortran_order": False, "shape": (6,)}',
        "{'shape': (6,), 'fortran_order': False, 'descr': '<f4'}", plain()[:-1] + " " * 3000 + "\n"]
for text in FINE:
    for version in (1, 2, 3):
        data = header(text, version, BYTES + b"what follows")
        code, said = run(data)
        assert code == 0, f"{data!r}: {code}: {said}"
        assert (np.load(out) == np.load(path)).all(), data
TYPES = [("fp32", "f4"), ("fp16", "f2"), ("fp64", "f8"), ("i8", "i1"), ("i64", "i8"), ("u16", "u2"), ("i1", "?"),
         ("u8", "u1"), ("bf16", "V2")]
for name, dtype in TYPES:
    np.save(path, np.frombuffer(bytes(range(48)), dtype)[:6] if dtype != "?" else np.array([True, False] * 3))
    with open(path, "rb") as file:
        code, said = run(file.read(), f"-TT={name}")
    assert code == 0, f"{name}: {said}"
    assert np.load(out).tobytes() == np.load(path).tobytes(), name

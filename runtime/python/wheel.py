"""wheel.py - the Python package and libfsc as one wheel: fsc-VERSION-py3-none-PLATFORM.whl.

In: the version, libfsc.so, strip, the folder to write to. Out: the wheel's path on standard output. A wheel is a zip
with a RECORD of its files (packaging.python.org, "Binary distribution format"); times are fixed, so that the same tree
makes the same bytes.
"""
import argparse
import base64
import hashlib
import os
import platform
import re
import shutil
import subprocess
import tempfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
LONG_AGO = (1980, 1, 1, 0, 0, 0)

# What every Linux that pip knows has, as PyPI's rules for manylinux list it.
EVERYWHERE = re.compile(r"lib(c|m|z|dl|rt|pthread|gcc_s|stdc\+\+)\.so\.\d+|ld-linux[\w-]*\.so\.\d+")

METADATA = """Metadata-Version: 2.1
Name: fsc
Version: {version}
Summary: Kernels in Triton's language, compiled by fsc, for torch, CuPy, JAX, NumPy
Requires-Python: >=3.8
License-File: LICENSE
Description-Content-Type: text/markdown

"""
WHEEL = """Wheel-Version: 1.0
Generator: fsc
Root-Is-Purelib: false
Tag: py3-none-{tag}
"""


def read(path):
    with open(path, "rb") as file:
        return file.read()


def platform_tag(library):
    """manylinux of the newest glibc whose symbols it asks for; where it needs other libraries, or there is no readelf
    to tell, this machine's alone."""
    tool = shutil.which("readelf")
    said = tool and subprocess.run([tool, "-dVW", library], check=True, stdout=subprocess.PIPE, text=True).stdout or ""
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", said)
    glibc = [int(minor) for minor in re.findall(r"Name: GLIBC_2\.(\d+)", said)]
    is_common = glibc and all(EVERYWHERE.fullmatch(name) for name in needed)
    return f"{f'manylinux_2_{max(glibc)}' if is_common else 'linux'}_{platform.machine()}"


def stripped(library, strip):
    if not strip:
        return read(library)
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, "libfsc.so")
        subprocess.run([strip, "-o", copy, library], check=True)
        return read(copy)


def contents(version, tag, library, strip):
    """(path in the wheel, bytes) of all but the RECORD."""
    package = os.path.join(HERE, "fsc")
    for folder, _, names in sorted(os.walk(package)):
        for name in sorted(n for n in names if n.endswith(".py") or n == "py.typed"):
            path = os.path.join(folder, name)
            yield os.path.relpath(path, HERE), read(path)
    yield "fsc/libfsc.so", stripped(library, strip)
    info = f"fsc-{version}.dist-info/"
    page = os.path.join(HERE, "..", "..", "docs", "how-to", "python.md")
    yield info + "METADATA", METADATA.format(version=version).encode() + read(page)
    yield info + "WHEEL", WHEEL.format(tag=tag).encode()
    yield info + "LICENSE", read(os.path.join(HERE, "..", "..", "LICENSE"))


def record_line(path, data):
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{path},sha256={digest},{len(data)}\n"


def build(version, library, strip, out):
    tag = platform_tag(library)
    path = os.path.join(out, f"fsc-{version}-py3-none-{tag}.whl")
    record = f"fsc-{version}.dist-info/RECORD"
    lines = ""
    with zipfile.ZipFile(path + ".part", "w", zipfile.ZIP_DEFLATED) as wheel:

        def add(name, data):
            entry = zipfile.ZipInfo(name, LONG_AGO)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if name.endswith(".so") else 0o100644) << 16
            wheel.writestr(entry, data)

        for name, data in contents(version, tag, library, strip):
            add(name, data)
            lines += record_line(name, data)
        add(record, (lines + record + ",,\n").encode())
    os.replace(path + ".part", path)
    return path


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    words.add_argument("--version", required=True)
    words.add_argument("--library", required=True)
    words.add_argument("--strip", default="")
    words.add_argument("--out", default=".")
    o = words.parse_args()
    print(build(o.version, o.library, o.strip, o.out))


if __name__ == "__main__":
    main()

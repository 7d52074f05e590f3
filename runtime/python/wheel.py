"""wheel.py - the Python package as a wheel with libfsc and the command inside, and as source: pip's backend.

In: the version, libfsc.so, the command, strip, the folder to write to; or, as pyproject.toml's backend, pip's calls.
Out: fsc_kernels-VERSION-py3-none-PLATFORM.whl, fsc_kernels-VERSION.tar.gz; the path on standard output. The
distribution is fsc-kernels, as PyPI has another fsc; the import is fsc. A wheel is a zip with a RECORD of its files
(packaging.python.org, "Binary distribution format"); times are fixed, so that the same tree makes the same bytes.
"""
import argparse
import base64
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import stubs  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
NAME = "fsc_kernels"
LONG_AGO = (1980, 1, 1, 0, 0, 0)

# What every Linux that pip knows has, as PyPI's rules for manylinux list it.
EVERYWHERE = re.compile(r"lib(c|m|z|dl|rt|pthread|gcc_s|stdc\+\+)\.so\.\d+|ld-linux[\w-]*\.so\.\d+")

METADATA = """Metadata-Version: 2.1
Name: fsc-kernels
Version: {version}
Summary: Kernels in Triton's language, compiled by fsc, for torch, CuPy, JAX, NumPy
Requires-Python: >=3.8
Keywords: GPU,compiler,Triton,CUDA,kernel
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: Python :: 3
Classifier: Topic :: Software Development :: Compilers
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


def stripped(program, strip):
    if not strip:
        return read(program)
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, "copy")
        subprocess.run([strip, "-o", copy, program], check=True)
        return read(copy)


def metadata(version):
    return METADATA.format(version=version).encode() + read(os.path.join(ROOT, "docs", "how-to", "python.md"))


def contents(version, tag, library, tool, strip):
    """(path in the wheel, bytes) of all but the RECORD."""
    package = os.path.join(HERE, "fsc")
    for folder, _, names in sorted(os.walk(package)):
        for name in sorted(n for n in names if n.endswith((".py", ".pyi")) or n == "py.typed"):
            path = os.path.join(folder, name)
            yield os.path.relpath(path, HERE), read(path)
    yield "fsc/triton/language.pyi", stubs.text().encode()
    yield "fsc/libfsc.so", stripped(library, strip)
    if tool:
        yield f"{NAME}-{version}.data/scripts/fsc", stripped(tool, strip)
    info = f"{NAME}-{version}.dist-info/"
    yield info + "METADATA", metadata(version)
    yield info + "WHEEL", WHEEL.format(tag=tag).encode()
    yield info + "LICENSE", read(os.path.join(ROOT, "LICENSE"))


def record_line(path, data):
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{path},sha256={digest},{len(data)}\n"


def build(version, library, tool, strip, out):
    tag = platform_tag(library)
    path = os.path.join(out, f"{NAME}-{version}-py3-none-{tag}.whl")
    record = f"{NAME}-{version}.dist-info/RECORD"
    lines = ""
    with zipfile.ZipFile(path + ".part", "w", zipfile.ZIP_DEFLATED) as wheel:

        def add(name, data):
            entry = zipfile.ZipInfo(name, LONG_AGO)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if name.endswith((".so", "/scripts/fsc")) else 0o100644) << 16
            wheel.writestr(entry, data)

        for name, data in contents(version, tag, library, tool, strip):
            add(name, data)
            lines += record_line(name, data)
        add(record, (lines + record + ",,\n").encode())
    os.replace(path + ".part", path)
    return path


# ---- pip's backend: pyproject.toml names this module ----------------------------------------------------------------

SOURCES = ["CMakeLists.txt", "CMakePresets.json", "LICENSE", "README.md", "bootstrap", "pyproject.toml", "compiler",
           "docs", "dsl_examples", "runtime"]


def version_of_tree():
    text = read(os.path.join(ROOT, "runtime", "fsc_runtime.h")).decode()
    return ".".join(re.search(rf"#define FSC_VERSION_{part} +(\d+)", text).group(1)
                    for part in ("MAJOR", "MINOR", "PATCH"))


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Compiles library and command with CMake, without the tests; FSC_CMAKE_ARGS has further arguments, -DLLVM_DIR."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["cmake", "-S", ROOT, "-B", folder, "-DFSC_TESTS=OFF", "-DCMAKE_BUILD_TYPE=Release",
                        *os.environ.get("FSC_CMAKE_ARGS", "").split()], check=True, stdout=sys.stderr)
        subprocess.run(["cmake", "--build", folder, "--parallel", "--target", "fsc", "fsc-tool"], check=True,
                       stdout=sys.stderr)
        made = build(version_of_tree(), os.path.join(folder, "libfsc.so"), os.path.join(folder, "fsc"),
                     shutil.which("strip") or "", wheel_directory)
    return os.path.basename(made)


def build_sdist(sdist_directory, config_settings=None):
    """The files of SOURCES that are no outputs, and PKG-INFO."""
    version = version_of_tree()
    stem = f"{NAME}-{version}"
    path = os.path.join(sdist_directory, stem + ".tar.gz")
    with tempfile.TemporaryDirectory() as folder, tarfile.open(path, "w:gz", format=tarfile.PAX_FORMAT) as archive:
        information = os.path.join(folder, "PKG-INFO")
        with open(information, "wb") as file:
            file.write(metadata(version))
        archive.add(information, stem + "/PKG-INFO")
        for name in SOURCES:
            archive.add(os.path.join(ROOT, name), f"{stem}/{name}", filter=lambda entry: None if entry.name.endswith(
                ("__pycache__", ".pyc")) else entry)
    return os.path.basename(path)


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    words.add_argument("--version", required=True)
    words.add_argument("--library", required=True)
    words.add_argument("--tool", default="", help="the command, to be inside")
    words.add_argument("--strip", default="")
    words.add_argument("--out", default=".")
    o = words.parse_args()
    print(build(o.version, o.library, o.tool, o.strip, o.out))


if __name__ == "__main__":
    main()

"""wheel.py BUILDER VERSION LIBRARY TOOL STRIP - the wheel is made, pip installs it into a venv without a network, the
command and softmax run from there without any variable that names the library, and pip takes it away again; the source
distribution has what the build needs. No venv or pip on this machine: exit code 3, a skip.
"""
import base64
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile

from kernels import SOFTMAX

PROGRAM = """
import os, sys
import numpy as np
import fsc
x = np.random.default_rng(0).normal(size=(5, 781)).astype(np.float32)
y = np.zeros_like(x)
fsc.load(sys.argv[1]).softmax(y, x)
e = np.exp(x.astype(float))
assert np.allclose(y, e / e.sum(1, keepdims=True), rtol=1e-5)
assert os.path.dirname(fsc.library_path) == os.path.dirname(fsc.__file__), fsc.library_path
assert fsc.__file__.startswith(sys.prefix), fsc.__file__
print("ran", fsc.version)
"""


def run(*command, **more):
    env = {name: value for name, value in os.environ.items() if name not in ("FSC_LIBRARY", "PYTHONPATH")}
    done = subprocess.run(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: exit {done.returncode}\n{done.stdout}")
    return done.stdout


def check_record(path):
    """Every file is in the RECORD, once, with its size and digest."""
    with zipfile.ZipFile(path) as wheel:
        names = wheel.namelist()
        record = next(name for name in names if name.endswith("/RECORD"))
        rows = dict((line.split(",")[0], line.split(",")[1:]) for line in wheel.read(record).decode().splitlines())
        assert sorted(rows) == sorted(names), "the RECORD has other files than the wheel"
        for name in names:
            data = wheel.read(name)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            assert name == record or rows[name] == [f"sha256={digest}", str(len(data))], name
    assert {"fsc/__init__.py", "fsc/libfsc.so", "fsc/py.typed", "fsc/triton/__init__.py", "fsc/__init__.pyi",
            "fsc/triton/language.pyi"} <= set(names), names


def check_source(backend, folder, version):
    """The source distribution: every file of the tree's folders that the build reads, no output of Python's."""
    sys.path.insert(0, backend)
    import wheel
    path = os.path.join(folder, wheel.build_sdist(folder))
    with tarfile.open(path) as archive:
        names = archive.getnames()
    stem = f"fsc_kernels-{version}/"
    assert {stem + name for name in ("PKG-INFO", "pyproject.toml", "CMakeLists.txt", "compiler/syntax/parse.y",
                                     "runtime/python/wheel.py", "runtime/fsc_runtime.h")} <= set(names), names
    assert not [name for name in names if "__pycache__" in name], names


def main():
    builder, version, library, tool, strip = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        path = run(sys.executable, builder, "--version", version, "--library", library, "--tool", tool,
                   "--strip", strip, "--out", folder).strip()
        name = rf"fsc_kernels-{re.escape(version)}-py3-none-(manylinux_2_\d+|linux)_\w+\.whl"
        assert re.fullmatch(name, os.path.basename(path)), path
        needed = run("readelf", "-d", library) if shutil.which("readelf") else "zstd"
        assert "zstd" in needed or "-manylinux_2_" in path, f"{path} is for this machine alone"
        check_record(path)
        check_source(os.path.dirname(builder), folder, version)
        try:
            import ensurepip  # noqa: F401 - what venv needs for its pip
            import venv  # noqa: F401
        except ImportError as error:
            print(f"skipped: no venv with pip on this machine ({error})")
            return 3
        home = os.path.join(folder, "venv")
        run(sys.executable, "-m", "venv", "--system-site-packages", home)
        python = os.path.join(home, "bin", "python")
        run(python, "-m", "pip", "install", "--no-index", "--no-deps", "--disable-pip-version-check", path)
        said = run(python, "-c", PROGRAM, os.path.abspath(SOFTMAX), cwd=folder)
        assert f"ran fsc {version}" in said, said
        assert run(os.path.join(home, "bin", "fsc"), "--version").startswith(f"fsc {version} ")
        run(python, "-m", "pip", "uninstall", "-y", "fsc-kernels")
        left = [found for found, _, _ in os.walk(home) if os.path.basename(found).startswith("fsc")]
        assert not left, left
        print(f"wheel: {os.path.getsize(path) / 1e6:.1f} MB, installed, run, uninstalled")
    return 0


sys.exit(main())

"""foreign.py - launches of the CPU's code for processors of another kind than this machine's, by an emulator of those.

A ForeignJit stands in for fsc.Jit. This machine's own JIT says which variant a launch takes and its grid, and raises
what is wrong with the arguments. fsc_jit_inspect gives that variant's assembly for the processor; the cross compiler
links it with tests/Inputs/foreign.c, which gets the arguments and all of the buffers' memory as its input, calls the
kernel once for each program, and gives the memory back.
"""
import ctypes as c
import os
import struct
import subprocess
import tempfile

import numpy as np

import fsc
from case import Skip

MAIN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Inputs", "foreign.c")
ASM, UNKNOWN_RANK = 7, 99
COMPILER = "aarch64-linux-gnu-gcc"


class Value(c.Structure):
    """fsc_value."""
    _fields_ = [("arg", fsc.Arg), ("rank", c.c_uint32), ("shape", c.c_int64 * 8), ("strides", c.c_int64 * 8)]


class Param(c.Structure):
    """fsc_param."""
    _fields_ = [("kind", c.c_int), ("name", c.c_char_p), ("dtype", c.c_char_p), ("text", c.c_char_p),
                ("is_optional", c.c_bool)]


lib = fsc.lib
lib.fsc_jit_inspect.argtypes = [c.c_void_p, c.c_char_p, c.c_int, c.POINTER(Value), c.c_size_t, c.POINTER(c.c_void_p)]
lib.fsc_compilation_output.restype = c.c_void_p
lib.fsc_compilation_output.argtypes = [c.c_void_p, c.POINTER(c.c_size_t)]
lib.fsc_compilation_destroy.argtypes = [c.c_void_p]
lib.fsc_jit_kernel.restype = c.c_char_p
lib.fsc_jit_kernel.argtypes = [c.c_void_p]
lib.fsc_jit_param.argtypes = [c.c_void_p, c.c_size_t, c.POINTER(Param)]


class Emulator:
    """Programs of kernels, made once for each assembly text, and run by `command`."""

    def __init__(self, command):
        self.command, self.programs, self.mains = command.split(), {}, {}
        self.folder = tempfile.TemporaryDirectory()

    def _compile(self, name, *options):
        path = os.path.join(self.folder.name, name)
        subprocess.run([COMPILER, *options, "-o", path], check=True)
        return path

    def main(self, kernel):
        if kernel not in self.mains:
            self.mains[kernel] = self._compile(f"main{len(self.mains)}.o", "-c", "-O1", "-Wall", "-Wextra", "-Werror",
                                               f"-Dkernel={kernel}", MAIN)
        return self.mains[kernel]

    def program(self, text, kernel):
        if text not in self.programs:
            source = os.path.join(self.folder.name, "kernel.s")
            with open(source, "wb") as f:
                f.write(text)
            name = f"program{len(self.programs)}"
            self.programs[text] = self._compile(name, "-static", "-Wa,-gdwarf-5,-march=armv8.6-a+sve2+sha3",
                                                self.main(kernel), source, "-lm")
        return self.programs[text]

    def run(self, program, request):
        done = subprocess.run([*self.command, program], input=request, capture_output=True)
        assert done.returncode == 0, f"{program} ends with {done.returncode}: {done.stderr.decode()[:200]}"
        return done.stdout


NativeJit = fsc.Jit


def image_of(value, dtype):
    """A scalar argument in 8 bytes, of which the kernel reads as many as its type has."""
    if isinstance(value, (int, np.integer)) and not (dtype or "").startswith(("fp", "bf")):
        return struct.pack("<Q", int(value) % 2**64)
    return fsc.encode(np.array([value]), dtype or "fp32").tobytes().ljust(8, b"\0")


class ForeignJit(NativeJit):
    """fsc.Jit whose launches go through `emulator`, compiled for `cpu`."""

    emulator = cpu = None

    def __init__(self, device, source, **options):
        if set(options) & {"check", "count", "device_debug"}:
            raise Skip("the emulator has no hooks of the runtime")
        super().__init__(device, source, **options)
        self.foreign = None
        if device.name != "cpu":
            return
        try:
            self.foreign = NativeJit(device, source, **{**options, "cpu": self.cpu})
        except fsc.Error:
            super().close()
            raise

    def close(self):
        if self.foreign:
            self.foreign.close()
        super().close()

    def assembly(self, values):
        array = (Value * max(1, len(values)))(*[Value(fsc.make_arg(v), UNKNOWN_RANK) for v in values])
        out, length = c.c_void_p(), c.c_size_t()
        status = lib.fsc_jit_inspect(self.foreign.handle, b"cpu", ASM, array, len(values), c.byref(out))
        fsc.check(status, lib.fsc_jit_message(self.foreign.handle) if status else None)
        text = c.string_at(lib.fsc_compilation_output(out, c.byref(length)), length.value)
        lib.fsc_compilation_destroy(out)
        return text

    def grid(self, values, grid):
        kernel, out, variant = self.prepare(values), (c.c_int64 * 3)(1, 1, 1), c.c_size_t()
        if grid is not None:
            return (list(grid) + [1, 1, 1])[:3]
        array, n = self.args(values)
        fsc.check(lib.fsc_launch_grid(kernel, array, n, out, c.byref(variant)))
        return list(out)

    def dtypes(self):
        """Of the arguments, in order: names, of what has none None."""
        found, at, p = [], 0, Param()
        while lib.fsc_jit_param(self.handle, at, c.byref(p)) == 0:
            at += 1
            name = p.dtype.decode()
            if p.kind <= 2:
                found.append(name if name in fsc.DTYPES else self.types.get(name))
        return found

    def launch(self, *values, grid=None, stream=None, wait=True):
        if not self.foreign:
            return super().launch(*values, grid=grid, stream=stream, wait=wait)
        if any(isinstance(v, tuple) for v in values):
            raise Skip("memory of somebody else")
        where = self.grid(values, grid)
        program = self.emulator.program(self.assembly(values), lib.fsc_jit_kernel(self.handle).decode())
        buffers, parts = {}, []
        for v, dtype in zip(values, self.dtypes()):
            if isinstance(v, fsc.Buffer):
                buffers[id(v)] = v
                parts.append(struct.pack("<qq", list(buffers).index(id(v)), v.before))
            else:
                parts.append(struct.pack("<q", -1) + image_of(v, dtype))
        request = struct.pack("<5q", *where, len(values), len(buffers)) + b"".join(parts)
        for b in buffers.values():
            request += struct.pack("<q", b.total) + c.string_at(b.base, b.total)
        answer = self.emulator.run(program, request)
        assert len(answer) == sum(b.total for b in buffers.values()), len(answer)
        for b in buffers.values():
            c.memmove(b.base, answer[:b.total], b.total)
            answer = answer[b.total:]


def install(cpu, command):
    """Every Jit of the cases launches this way from now on."""
    ForeignJit.cpu, ForeignJit.emulator = cpu, Emulator(command)
    fsc.Jit = ForeignJit

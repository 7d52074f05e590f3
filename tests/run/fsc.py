"""fsc.py - libfsc from Python, for the run tests and the benchmark: ctypes over the public C API, nothing more.

A Buffer is device memory between two guard bands of 4096 bytes, poisoned before use; check_guards() says whether a
kernel wrote beside it. Numbers travel as NumPy arrays; bf16 as uint16 bit patterns (to_bf16, from_bf16).
"""
import ctypes as c
import os

import numpy as np

GUARD = 4096
POISON = 0xA5

DTYPES = {  # name: (value of fsc_dtype, NumPy type in memory)
    "i1": (1, np.uint8), "i8": (2, np.int8), "i16": (3, np.int16), "i32": (4, np.int32), "i64": (5, np.int64),
    "u8": (6, np.uint8), "u16": (7, np.uint16), "u32": (8, np.uint32), "u64": (9, np.uint64),
    "fp8e4nv": (10, np.uint8), "fp8e5": (11, np.uint8),
    "fp16": (12, np.float16), "bf16": (13, np.uint16), "fp32": (14, np.float32), "fp64": (15, np.float64),
}


class Error(Exception):
    """A status that is not FSC_OK: .status is its name."""

    def __init__(self, status, message):
        super().__init__(f"{status}: {message}")
        self.status = status


class NameValue(c.Structure):
    _fields_ = [("name", c.c_char_p), ("value", c.c_char_p)]


class CompileOptions(c.Structure):
    _fields_ = [("file", c.c_char_p), ("emit", c.c_int), ("arch", c.c_char_p), ("cpu", c.c_char_p),
                ("kernel", c.c_char_p), ("signature", c.c_char_p), ("defines", c.POINTER(NameValue)),
                ("num_defines", c.c_size_t),
                ("types", c.POINTER(NameValue)), ("num_types", c.c_size_t), ("divisible", c.POINTER(NameValue)),
                ("num_divisible", c.c_size_t), ("known", c.POINTER(NameValue)), ("num_known", c.c_size_t),
                ("device", c.c_void_p), ("config", c.c_uint32), ("num_warps", c.c_uint32), ("num_stages", c.c_uint32),
                ("num_ctas", c.c_uint32),
                ("opt_level", c.c_int), ("debug", c.c_bool), ("fast_math", c.c_bool), ("few_programs", c.c_bool),
                ("color", c.c_bool),
                ("diagnostics", c.c_int), ("remarks", c.c_bool),
                ("verify_each", c.c_bool), ("op_lines", c.c_bool), ("no_maps", c.c_bool), ("error_limit", c.c_uint32),
                ("overlap", c.c_bool),
                ("print_after", c.c_char_p), ("passes", c.c_char_p), ("print_layouts", c.c_bool),
                ("device_debug", c.c_bool), ("check", c.c_bool), ("no_cache", c.c_bool), ("count", c.c_bool),
                ("record", c.c_bool), ("split", c.c_bool),
                ("most_programs", c.c_uint8), ("include", c.c_char_p),
                ("tuned", c.c_char_p),
                ("tuned_text", c.c_char_p)]


assert CompileOptions.tuned_text.offset == 200, "fsc_compile_options has changed"


class DeviceProps(c.Structure):
    _fields_ = [("kind", c.c_int), ("ordinal", c.c_int), ("name", c.c_char * 80), ("arch", c.c_char * 16)] + [
        (name, c.c_uint32) for name in ("sms", "registers_per_sm", "registers_per_block", "shared_per_sm",
                                        "shared_per_block", "shared_per_block_optin", "shared_reserved_per_block",
                                        "max_threads_per_sm", "max_threads_per_block", "max_blocks_per_sm",
                                        "warp_size")] + [
        ("l2_bytes", c.c_uint64), ("memory_bytes", c.c_uint64), ("bandwidth", c.c_uint64), ("clock_khz", c.c_uint32),
        ("driver_version", c.c_uint32)]


class Value(c.Union):
    _fields_ = [("pointer", c.c_void_p), ("integer", c.c_int64), ("real", c.c_double)]


class Arg(c.Structure):
    _fields_ = [("kind", c.c_int), ("dtype", c.c_int), ("bytes", c.c_uint64), ("u", Value)]


class KernelReport(c.Structure):
    _fields_ = [("threads_per_block", c.c_uint32), ("registers", c.c_uint32), ("spill_bytes", c.c_uint32),
                ("shared_static", c.c_uint32), ("shared_dynamic", c.c_uint32), ("max_threads_per_block", c.c_uint32),
                ("blocks_per_sm", c.c_uint32), ("limit", c.c_int), ("resident_blocks", c.c_uint64),
                ("resident_programs", c.c_uint64), ("ptx_version", c.c_uint32), ("binary_version", c.c_uint32)]


def _load():
    here = os.path.dirname(os.path.abspath(__file__))
    path = os.environ.get("FSC_LIBRARY") or os.path.join(here, "..", "..", "build", "release", "libfsc.so")
    lib = c.CDLL(path)
    for name in ("fsc_status_name", "fsc_last_message", "fsc_jit_message", "fsc_device_message", "fsc_version"):
        getattr(lib, name).restype = c.c_char_p
    lib.fsc_memory_alloc.argtypes = [c.c_void_p, c.c_uint64, c.POINTER(c.c_void_p)]
    lib.fsc_memory_free.argtypes = [c.c_void_p, c.c_void_p]
    lib.fsc_memory_write.argtypes = [c.c_void_p, c.c_void_p, c.c_void_p, c.c_uint64]
    lib.fsc_memory_read.argtypes = [c.c_void_p, c.c_void_p, c.c_void_p, c.c_uint64]
    lib.fsc_memory_fill.argtypes = [c.c_void_p, c.c_void_p, c.c_uint8, c.c_uint64]
    lib.fsc_device_close.argtypes = [c.c_void_p]
    lib.fsc_device_wait.argtypes = [c.c_void_p]
    lib.fsc_device_check.argtypes = [c.c_void_p, c.c_bool]
    lib.fsc_jit_create.argtypes = [c.c_void_p, c.c_char_p, c.c_size_t, c.POINTER(CompileOptions), c.POINTER(c.c_void_p)]
    lib.fsc_jit_destroy.argtypes = [c.c_void_p]
    lib.fsc_jit_message.argtypes = [c.c_void_p]
    lib.fsc_jit_launch.argtypes = [c.c_void_p, c.c_void_p, c.POINTER(Arg), c.c_size_t, c.c_void_p]
    lib.fsc_jit_prepare.argtypes = [c.c_void_p, c.POINTER(Arg), c.c_size_t, c.POINTER(c.c_void_p)]
    lib.fsc_kernel_warmup.argtypes = [c.c_void_p, c.c_size_t, c.POINTER(KernelReport)]
    lib.fsc_event_create.argtypes = [c.c_void_p, c.POINTER(c.c_void_p)]
    lib.fsc_event_destroy.argtypes = [c.c_void_p]
    lib.fsc_event_record.argtypes = [c.c_void_p, c.c_void_p]
    lib.fsc_event_elapsed.argtypes = [c.c_void_p, c.c_void_p, c.POINTER(c.c_double)]
    lib.fsc_launch_grid.argtypes = [c.c_void_p, c.POINTER(Arg), c.c_size_t, c.POINTER(c.c_int64), c.POINTER(c.c_size_t)]
    lib.fsc_limit_name.restype = c.c_char_p
    lib.fsc_launch.argtypes = [c.c_void_p, c.c_void_p, c.POINTER(Arg), c.c_size_t, c.c_void_p]
    return lib


lib = _load()


def check(status, message=None):
    if status != 0:
        raise Error(lib.fsc_status_name(status).decode(), (message or lib.fsc_last_message()).decode(errors="replace"))


def to_bf16(x):
    """float → bf16 bits, to nearest even; NaN stays NaN."""
    f = np.ascontiguousarray(x, np.float32)
    bits = f.view(np.uint32)
    rounded = ((bits.astype(np.uint64) + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    return np.where(np.isnan(f), ((bits >> 16) | 0x40).astype(np.uint16), rounded)


def from_bf16(bits):
    return (np.ascontiguousarray(bits, np.uint16).astype(np.uint32) << 16).view(np.float32)


def fp8_values(dtype):
    """What the 256 patterns of an 8-bit float mean, from its definition."""
    mantissa, bias = (3, 7) if dtype == "fp8e4nv" else (2, 15)
    bits = np.arange(256)
    exponent, fraction = bits >> mantissa & (127 >> mantissa), (bits & ((1 << mantissa) - 1)) / 2.0**mantissa
    size = np.where(exponent == 0, fraction * 2.0 ** (1 - bias), (1 + fraction) * 2.0 ** (exponent - bias))
    if dtype == "fp8e4nv":
        size[bits & 0x7F == 0x7F] = np.nan
    else:
        size[exponent == 31] = np.where(fraction[exponent == 31] == 0, np.inf, np.nan)
    return np.where(bits & 0x80, -size, size)


def to_fp8(x, dtype):
    """float → bits, to nearest even; what overflows is infinity, or the largest number where there is none."""
    x = np.asarray(x, np.float64)
    table = fp8_values(dtype)[:128]
    count = int(np.isfinite(table).sum())
    last = table[count - 1] + (table[count - 1] - table[count - 2])
    ladder = np.append(table[:count], last)
    low = np.clip(np.searchsorted(ladder, np.abs(x), "right") - 1, 0, count - 1)
    middle = (ladder[low] + ladder[low + 1]) / 2
    up = (np.abs(x) > middle) | ((np.abs(x) == middle) & (low % 2 == 1))
    bits = np.minimum(low + up, count if dtype == "fp8e5" else count - 1)
    bits = np.where(np.isnan(x), 0x7F if dtype == "fp8e4nv" else 0x7E, bits)
    return (bits | np.where(np.signbit(x), 0x80, 0)).astype(np.uint8)


def encode(x, dtype):
    """A float or integer array as the memory image of `dtype`."""
    if dtype.startswith("fp8"):
        return to_fp8(x, dtype)
    return to_bf16(x) if dtype == "bf16" else np.ascontiguousarray(np.asarray(x).astype(DTYPES[dtype][1]))


def decode(bits, dtype):
    """The memory image as numbers: floats as float64."""
    if dtype == "bf16":
        return from_bf16(bits).astype(np.float64)
    if dtype.startswith("fp8"):
        return fp8_values(dtype)[bits]
    with np.errstate(invalid="ignore"):
        return bits.astype(np.float64) if dtype.startswith("fp") else bits


class Device:
    """A device by name; with `checks` its launches are checked, and what they find is an Error FSC_ERROR_CHECK."""

    def __init__(self, name, checks=False):
        self.handle = c.c_void_p()
        self.name = name
        check(lib.fsc_device_open(name.encode(), c.byref(self.handle)))
        if checks:
            check(lib.fsc_device_check(self.handle, True))

    def close(self):
        lib.fsc_device_close(self.handle)

    def props(self):
        props = DeviceProps()
        check(lib.fsc_device_props(self.handle, c.byref(props)))
        return props

    def sms(self):
        """Multiprocessors; of emu its host threads."""
        return self.props().sms

    def max_ctas(self):
        """Blocks of a cluster: a card from before sm_90 has none."""
        arch = self.props().arch.decode()
        sm = int(arch[3:]) if arch.startswith("sm_") else 90
        return 1 if sm < 90 else 16 if sm < 120 else 8

    def wait(self):
        check(lib.fsc_device_wait(self.handle))


class Event:
    """A point in a stream, with its time."""

    def __init__(self, device):
        self.handle = c.c_void_p()
        check(lib.fsc_event_create(device.handle, c.byref(self.handle)))

    def __del__(self):
        lib.fsc_event_destroy(self.handle)

    def record(self, stream=None):
        check(lib.fsc_event_record(self.handle, stream))

    def elapsed(self, end):
        """Milliseconds from here to `end`, once that was reached."""
        ms = c.c_double()
        check(lib.fsc_event_elapsed(self.handle, end.handle, c.byref(ms)))
        return ms.value


class Buffer:
    """`count` elements of `dtype`, `offset` elements into an allocation, guard bands on both sides, poisoned."""

    def __init__(self, device, dtype, count, data=None, offset=0):
        self.device, self.dtype, self.count = device, dtype, int(count)
        self.np_type = np.dtype(DTYPES[dtype][1])
        self.bytes = self.count * self.np_type.itemsize
        self.before = GUARD + offset * self.np_type.itemsize
        self.total = self.before + self.bytes + GUARD
        self.base = c.c_void_p()
        check(lib.fsc_memory_alloc(device.handle, self.total, c.byref(self.base)))
        check(lib.fsc_memory_fill(device.handle, self.base, POISON, self.total))
        self.address = self.base.value + self.before
        if data is not None:
            self.write(encode(data, dtype))

    def write(self, image):
        image = np.ascontiguousarray(image)
        assert image.nbytes == self.bytes, (image.nbytes, self.bytes)
        if self.bytes:
            check(lib.fsc_memory_write(self.device.handle, self.address, image.ctypes.data, self.bytes))

    def raw(self):
        image = np.empty(self.count, self.np_type)
        if self.bytes:
            check(lib.fsc_memory_read(self.device.handle, image.ctypes.data, self.address, self.bytes))
        return image

    def read(self):
        return decode(self.raw(), self.dtype)

    def guards_intact(self):
        for at, size in ((self.base.value, self.before), (self.address + self.bytes, GUARD)):
            band = np.empty(size, np.uint8)
            check(lib.fsc_memory_read(self.device.handle, band.ctypes.data, at, size))
            if not (band == POISON).all():
                return False
        return True

    def free(self):
        lib.fsc_memory_free(self.device.handle, self.base)


def make_arg(x):
    a = Arg()
    if isinstance(x, Buffer):
        a.kind, a.dtype, a.bytes = 0, DTYPES[x.dtype][0], x.bytes
        a.u.pointer = x.address
    elif isinstance(x, tuple):  # (address, dtype, bytes): memory of somebody else
        a.kind, a.dtype, a.bytes = 0, DTYPES[x[1]][0], x[2]
        a.u.pointer = x[0]
    elif isinstance(x, (float, np.floating)):
        a.kind = 2
        a.u.real = float(x)
    else:
        a.kind = 1 if int(x) < 2**63 else 4  # FSC_ARG_INT, FSC_ARG_UNSIGNED
        a.u.integer = int(x)  # its bits
    return a


def _pairs(d):
    items = [NameValue(k.encode(), str(v).encode()) for k, v in d.items()]
    return (NameValue * max(1, len(items)))(*items), len(items)


class Jit:
    """A source on a device; options are fields of fsc_compile_options, defines and types are dicts."""

    defaults = {}  # options of every Jit that does not say otherwise

    def __init__(self, device, source, file="test.dsl", defines=None, types=None, **options):
        self.device = device
        o = CompileOptions()
        lib.fsc_compile_options_init(c.byref(o))
        o.file = file.encode()
        self.types = types or {}
        self._keep = [_pairs(defines or {}), _pairs(types or {})]
        o.defines, o.num_defines = self._keep[0]
        o.types, o.num_types = self._keep[1]
        options = {**self.defaults, **options}
        if options.get("num_ctas") and not options.get("split"):
            options["num_ctas"] = min(options["num_ctas"], device.max_ctas())
        for k, v in options.items():
            setattr(o, k, v.encode() if isinstance(v, str) else v)
        self.handle = c.c_void_p()
        text = source.encode() if isinstance(source, str) else source
        status = lib.fsc_jit_create(device.handle, text, len(text), c.byref(o), c.byref(self.handle))
        if status:
            message = lib.fsc_jit_message(self.handle)
            lib.fsc_jit_destroy(self.handle)
            check(status, message)

    def args(self, values):
        return (Arg * max(1, len(values)))(*[make_arg(v) for v in values]), len(values)

    def prepare(self, values):
        kernel = c.c_void_p()
        array, n = self.args(values)
        check(lib.fsc_jit_prepare(self.handle, array, n, c.byref(kernel)), lib.fsc_jit_message(self.handle))
        return kernel

    def launch(self, *values, grid=None, stream=None, wait=True):
        array, n = self.args(values)
        where = (c.c_int64 * 3)(*(list(grid) + [1, 1, 1])[:3]) if grid is not None else None
        status = lib.fsc_jit_launch(self.handle, where, array, n, stream)
        check(status, lib.fsc_jit_message(self.handle) if status else None)
        if wait:
            self.device.wait()

    def report(self, values):
        r = KernelReport()
        check(lib.fsc_kernel_warmup(self.prepare(values), 0, c.byref(r)))
        return r

    def close(self):
        lib.fsc_jit_destroy(self.handle)

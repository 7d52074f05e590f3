"""_arrays.py - what a launch's arguments are: arrays of anybody's, numbers; each into its fsc_value.

In: Python values. Out: bytes of a struct fsc_value for each, and where its memory is: None for a number, HOST, the
ordinal of a GPU for a torch tensor, FOREIGN + ordinal for other arrays on a GPU (FOREIGN + UNKNOWN: nobody says which).
A reader is read(value, call, offset); which one a type has is found once and kept in READERS.
"""
import ctypes as c
import numbers
import operator
import struct
import sys

from ._library import ArgumentError, lib

HOST, FOREIGN, UNKNOWN = -1, 1 << 20, 4095
VALUE = 160  # bytes of struct fsc_value: kind, dtype, bytes, the union, rank, eight sizes, eight strides
RANK_MAX = 8
POINTER_ARG, INT_ARG, FLOAT_ARG, MISSING_ARG, UNSIGNED_ARG = range(5)  # fsc_arg_kind

_integer = struct.Struct("<iiQq").pack_into
_unsigned = struct.Struct("<iiQQ").pack_into
_float = struct.Struct("<iiQd").pack_into
_array = [struct.Struct(f"<iiQQI4x{n}q{8 * (RANK_MAX - n)}x{n}q").pack_into for n in range(RANK_MAX + 1)]
MISSING_VALUE = struct.pack("<i", MISSING_ARG).ljust(VALUE, b"\0")

_NAMES = {  # as NumPy, torch, JAX and ml_dtypes call them: as fsc does
    "bool": "i1", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "uint8": "u8", "uint16": "u16",
    "uint32": "u32", "uint64": "u64", "float8_e4m3fn": "fp8e4nv", "float8_e5m2": "fp8e5", "float16": "fp16",
    "bfloat16": "bf16", "float32": "fp32", "float64": "fp64",
}
_TYPESTR = {"b1": "bool", "i1": "int8", "i2": "int16", "i4": "int32", "i8": "int64", "u1": "uint8", "u2": "uint16",
            "u4": "uint32", "u8": "uint64", "f2": "float16", "f4": "float32", "f8": "float64"}
_DLPACK = {(0, 8): "int8", (0, 16): "int16", (0, 32): "int32", (0, 64): "int64", (1, 8): "uint8", (1, 16): "uint16",
           (1, 32): "uint32", (1, 64): "uint64", (2, 16): "float16", (2, 32): "float32", (2, 64): "float64",
           (4, 16): "bfloat16", (6, 8): "bool", (10, 8): "float8_e4m3fn", (12, 8): "float8_e5m2"}


def dtype_name(dtype):
    """"fp16" for "fp16", "float16", numpy.float16, torch.float16, …; None for what is no element type."""
    name = dtype if isinstance(dtype, str) else getattr(dtype, "name", None) or getattr(dtype, "__name__", None)
    name = (name if isinstance(name, str) else str(dtype)).rsplit(".", 1)[-1]
    name = _NAMES.get(name, name)
    return name if name and lib.fsc_dtype_find(name.encode(errors="replace")) else None


class _Codes(dict):
    """dtype object: fsc_dtype, found when it is first seen."""

    def __missing__(self, dtype):
        name = dtype_name(str(dtype))
        if not name:
            raise Unreadable(f"has elements of type {dtype}, which kernels do not have")
        self[dtype] = code = lib.fsc_dtype_find(name.encode())
        return code


_codes = _Codes()


class Unreadable(ArgumentError):
    """Why an argument cannot be read, from behind its name on."""


def unreadable(error):
    """What an object raised while it was asked for its memory, or for its value, as a reason."""
    try:
        said = str(error)
    except Exception:  # pylint: disable=broad-except
        said = ""
    return f"cannot be read: {type(error).__name__}{': ' if said else ''}{said}"


def _too_many(rank):
    return Unreadable(f"has {rank} dimensions, and {RANK_MAX} is the most")


def put_array(call, offset, address, code, shape, strides):
    """An array by its parts, strides in elements or None for a contiguous one."""
    rank = len(shape)
    if rank > RANK_MAX:
        raise _too_many(rank)
    if strides is None:
        strides, step = [0] * rank, 1
        for i in range(rank - 1, -1, -1):
            strides[i] = step
            step *= shape[i]
    if len(strides) != rank:
        raise Unreadable(f"has {rank} sizes and {len(strides)} strides")
    _array[rank](call.buffer, offset, POINTER_ARG, code, 0, address, rank, *shape, *strides)


def _gpu(index):
    """The place of an array that says which GPU it is on."""
    if not 0 <= index < UNKNOWN:
        raise Unreadable(f"says that it is on GPU {index}, and there is no such number")
    return FOREIGN + index


def add_stream(call, stream):
    if not isinstance(stream, int) or not 0 <= stream < 1 << 64:
        raise Unreadable(f"says that it was made on stream {stream!r}, which is no address")
    call.streams.add(stream)


def _elements(strides, size):
    """Strides from bytes to elements."""
    if strides is None:
        return None
    if any(s % size for s in strides):
        raise Unreadable(f"has strides {tuple(strides)}, which are no multiples of an element's {size} bytes")
    return [s // size for s in strides]


# ---- Numbers ---------------------------------------------------------------------------------------------------------


def _read_int(value, call, offset):
    try:
        _integer(call.buffer, offset, INT_ARG, 0, 0, value)
    except struct.error:
        value = int(value)  # beyond an i64
        if not 0 <= value < 1 << 64:
            raise Unreadable(f"is {value}, which does not fit 64 bits") from None
        _unsigned(call.buffer, offset, UNSIGNED_ARG, 0, 0, value)


def _read_bool(value, call, offset):
    _integer(call.buffer, offset, INT_ARG, 0, 0, int(value))


def _read_float(value, call, offset):
    _float(call.buffer, offset, FLOAT_ARG, 0, 0, float(value))


class Missing:
    """In the place of an argument that was not given."""


MISSING = Missing()


def _read_missing(value, call, offset):
    call.buffer[offset:offset + VALUE] = MISSING_VALUE


# ---- NumPy -----------------------------------------------------------------------------------------------------------


def _read_interface(value, call, offset, interface, kind):
    """An array interface, NumPy's or CUDA's, as its specification has it."""
    typestr, shape = interface["typestr"], interface["shape"]
    if interface.get("mask") is not None:
        raise Unreadable("has a mask, which kernels do not see")
    name = _TYPESTR.get(typestr[1:])
    if name is None or (typestr[0] == ">" and typestr[-1] != "1"):
        name = dtype_name(str(getattr(value, "dtype", "")))  # bfloat16 and the like have no typestr of their own
        if name is None or typestr[0] == ">":
            raise Unreadable(f"has elements of type {typestr}, which kernels do not have")
    code = _codes[name]
    size = int(typestr[2:])
    if lib.fsc_dtype_size(code) != size:
        raise Unreadable(f"has elements of type {typestr}, and says that they are {name}")
    address, is_read_only = interface["data"]
    if is_read_only:
        call.read_only.append(offset // VALUE)
    put_array(call, offset, address or 0, code, shape, _elements(interface.get("strides"), size))
    return kind


class _Strides(dict):
    """(strides in bytes, size of an element): strides in elements. NumPy's arrays come with few of them."""

    def __missing__(self, key):
        if len(self) > 4096:
            self.clear()
        self[key] = found = _elements(*key)
        return found


_strides = _Strides()


def _read_numpy(value, call, offset):
    shape, size = value.shape, value.itemsize
    rank = len(shape)
    if rank > RANK_MAX:
        raise _too_many(rank)
    address, is_read_only = value.__array_interface__["data"]
    if is_read_only:
        call.read_only.append(offset // VALUE)
    _array[rank](call.buffer, offset, POINTER_ARG, _codes[value.dtype], 0, address, rank, *shape,
                 *_strides[value.strides, size])
    return HOST


# ---- torch -----------------------------------------------------------------------------------------------------------


def _read_torch(value, call, offset):
    """A torch.Tensor: what costs least to ask for."""
    shape = value.shape
    rank = len(shape)
    if rank > RANK_MAX:
        raise _too_many(rank)
    if not value.is_cuda and value.device.type != "cpu":
        raise Unreadable(f"is on device {value.device}, where kernels do not run")
    _array[rank](call.buffer, offset, POINTER_ARG, _codes[value.dtype], 0, value.data_ptr(), rank, *shape,
                 *value.stride())
    return value.get_device() if value.is_cuda else HOST


def _read_tensor(value, call, offset):
    """What has torch's methods and is no torch.Tensor."""
    device = value.device
    kind = getattr(device, "type", str(device).split(":")[0])
    if kind not in ("cpu", "cuda"):
        raise Unreadable(f"is on device {device}, where kernels do not run")
    put_array(call, offset, value.data_ptr(), _codes[value.dtype], tuple(value.shape), tuple(value.stride()))
    index = getattr(device, "index", None)
    return HOST if kind == "cpu" else FOREIGN + UNKNOWN if index is None else _gpu(index)


_raw_stream = None


def raw_stream():
    """The function from a GPU's number to torch's current stream on it, as a number."""
    global _raw_stream
    if _raw_stream is None:
        torch = sys.modules["torch"]
        raw = getattr(getattr(torch, "_C", None), "_cuda_getCurrentRawStream", None)
        _raw_stream = raw or (lambda i: torch.cuda.current_stream(i).cuda_stream)
    return _raw_stream


def torch_stream(index):
    """torch's current stream on that GPU, as a number."""
    return raw_stream()(index)


def _torch_uses_cuda():
    torch = sys.modules.get("torch")
    cuda = getattr(torch, "cuda", None)
    return cuda is not None and cuda.is_initialized()


def _read_pointer(value, call, offset):
    """An address with a type, as Triton takes it; the other arguments say where it is."""
    put_array(call, offset, value.data_ptr(), _codes[value.dtype], (), ())


# ---- CUDA's array interface, DLPack ----------------------------------------------------------------------------------


def _place(value):
    """Where the array says it is, CuPy's way, JAX's, or torch's."""
    device = getattr(value, "device", None)
    if callable(device):
        device = device()
    for name in ("id", "index"):
        index = getattr(device, name, None)
        if isinstance(index, int):
            return _gpu(index)
    return FOREIGN + UNKNOWN


class _DLTensor(c.Structure):
    _fields_ = [("data", c.c_void_p), ("device_type", c.c_int32), ("device_id", c.c_int32), ("ndim", c.c_int32),
                ("code", c.c_uint8), ("bits", c.c_uint8), ("lanes", c.c_uint16), ("shape", c.POINTER(c.c_int64)),
                ("strides", c.POINTER(c.c_int64)), ("byte_offset", c.c_uint64)]


_capsule_pointer = c.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype, _capsule_pointer.argtypes = c.c_void_p, [c.py_object, c.c_char_p]
_DL_CPU, _DL_CUDA, _DL_CUDA_HOST, _DL_CUDA_MANAGED = 1, 2, 3, 13


def _read_dlpack(value, call, offset):
    device, index = value.__dlpack_device__()
    is_cuda = int(device) in (_DL_CUDA, _DL_CUDA_MANAGED)
    if not is_cuda and int(device) not in (_DL_CPU, _DL_CUDA_HOST):
        raise Unreadable(f"is on a device of DLPack's kind {int(device)}, where kernels do not run")
    stream = call.stream
    if is_cuda and stream is None and _torch_uses_cuda():
        stream = torch_stream(index)
    try:  # the producer makes that stream wait for what it has queued; 1 is the default stream's number there
        capsule = value.__dlpack__(stream=stream or 1) if is_cuda else value.__dlpack__()
    except BufferError as error:
        raise Unreadable(f"gives no DLPack capsule: {error}") from error
    call.keep.append(capsule)
    if is_cuda:
        add_stream(call, stream or 0)
    t = _DLTensor.from_address(_capsule_pointer(capsule, b"dltensor"))
    name = _DLPACK.get((t.code, t.bits)) if t.lanes == 1 else None
    if name is None:
        raise Unreadable(f"has elements of DLPack's type ({t.code}, {t.bits} bits, {t.lanes} lanes), which kernels do "
                         "not have")
    if not 0 <= t.ndim <= RANK_MAX:  # of a larger one nothing is read
        raise _too_many(t.ndim)
    if t.ndim and not t.shape:
        raise Unreadable(f"has {t.ndim} dimensions and no sizes")
    strides = t.strides[:t.ndim] if t.strides else None
    put_array(call, offset, (t.data or 0) + t.byte_offset, _codes[name], t.shape[:t.ndim], strides)
    return _gpu(index) if is_cuda else HOST


def _read_foreign(value, call, offset):
    """Whichever protocol the value speaks; the same type may speak another elsewhere (JAX on the CPU and on a GPU)."""
    interface = getattr(value, "__cuda_array_interface__", None)
    if interface is not None and (interface["typestr"][1] != "V" or not hasattr(value, "__dlpack__")):
        stream = interface.get("stream")
        if stream is not None:
            add_stream(call, stream)
        return _read_interface(value, call, offset, interface, _place(value))
    if hasattr(value, "__dlpack__"):
        return _read_dlpack(value, call, offset)
    return _read_interface(value, call, offset, value.__array_interface__, HOST)


# ---- Arrays of our own -----------------------------------------------------------------------------------------------


class Array:
    """Memory by its address: dtype is fsc's name of it, strides are elements (None: contiguous), device "cpu" or
    "cuda:0". `owner` is kept as long as this is."""

    def __init__(self, address, dtype, shape, strides=None, device="cpu", owner=None):
        self.dtype = dtype_name(dtype)
        if self.dtype is None:
            raise ArgumentError(f"there is no element type {dtype}; fp32, bf16, i8 are some")
        try:
            self.address, self.shape, self.owner = operator.index(address), tuple(map(operator.index, shape)), owner
            self.strides = None if strides is None else tuple(map(operator.index, strides))
        except TypeError as error:
            raise ArgumentError(f"an array's address, sizes and strides are whole numbers: {error}") from error
        kind, colon, index = str(device).partition(":")
        if kind not in ("cpu", "cuda") or (colon and
                                           not (index.isascii() and index.isdecimal() and int(index) < UNKNOWN)):
            raise ArgumentError(f"'{device}' is no device of memory; it is cpu, cuda or cuda:N")
        self._where = HOST if kind == "cpu" else FOREIGN + (int(index) if colon else UNKNOWN)

    def __repr__(self):
        return f"<fsc array {self.dtype}{list(self.shape)} at {self.address:#x}>"


class _View:
    def __init__(self, array, dtype):
        self.array, self.dtype = array, dtype


def view(array, dtype):
    """The same memory with elements of another type of that size: bf16 and fp8, which NumPy lacks,
    from uint16 and uint8."""
    name = dtype_name(dtype)
    if name is None:
        raise ArgumentError(f"there is no element type {dtype}; fp32, bf16, i8 are some")
    return _View(array, name)


def _read_array(value, call, offset):
    put_array(call, offset, value.address, _codes[value.dtype], value.shape, value.strides)
    return value._where


def _read_view(value, call, offset):
    where = reader(value.array)(value.array, call, offset)
    kind, was = struct.unpack_from("<ii", call.buffer, offset)
    now = _codes[value.dtype]
    if kind != POINTER_ARG or lib.fsc_dtype_size(was) != lib.fsc_dtype_size(now):
        raise Unreadable(f"is seen as {value.dtype}, and its elements are not of that size")
    struct.pack_into("<i", call.buffer, offset + 4, now)
    return where


# ---- Which reader ----------------------------------------------------------------------------------------------------

READERS = {int: _read_int, bool: _read_int, float: _read_float, Missing: _read_missing, Array: _read_array,
           _View: _read_view}


def _find(value, kind):
    numpy, torch, masked = sys.modules.get("numpy"), sys.modules.get("torch"), sys.modules.get("numpy.ma")
    if masked and isinstance(value, masked.MaskedArray):
        raise Unreadable("is a masked array, and kernels do not see its mask: pass its .data, or what .filled() makes")
    if numpy and isinstance(value, numpy.ndarray):
        return _read_numpy
    if torch and isinstance(value, getattr(torch, "Tensor", ())):
        return _read_torch
    if numpy and isinstance(value, numpy.bool_):
        return _read_bool
    if isinstance(value, numbers.Integral):
        return _read_int
    if isinstance(value, numbers.Real):
        return _read_float
    if all(hasattr(value, name) for name in ("data_ptr", "dtype", "shape", "stride", "device")):
        return _read_tensor
    if any(hasattr(value, name) for name in ("__cuda_array_interface__", "__dlpack__", "__array_interface__")):
        return _read_foreign
    if hasattr(value, "data_ptr") and hasattr(value, "dtype"):
        return _read_pointer
    raise Unreadable(f"is {'None' if value is None else 'of type ' + kind.__name__}: pass an array (torch, CuPy, JAX, "
                     "NumPy, DLPack) or a number")


def reader(value):
    kind = type(value)
    found = READERS.get(kind)
    if found is None:
        found = READERS[kind] = _find(value, kind)
    return found

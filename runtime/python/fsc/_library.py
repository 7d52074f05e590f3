"""_library.py - libfsc: where it is, its functions, its errors as exceptions.

In: $FSC_LIBRARY, the folder of this package. Out: `lib`, ctypes prototypes of the functions that the package calls,
and check().
"""
import ctypes as c
import glob
import os


class Error(RuntimeError):
    """What fsc has to say; .status is the name of the status, "FSC_ERROR_CONTRACT"."""

    def __init__(self, message, status=""):
        super().__init__(message)
        self.status = status


class LibraryError(Error, ImportError):
    """There is no libfsc, or it is another one's."""


class SourceError(Error):
    """The kernel's source has errors: the message has each with its place."""


class ArgumentError(Error, ValueError, TypeError):
    """An argument, an option or the grid does not fit the kernel."""


class DeviceError(Error):
    """There is no such device, or its driver reports an error."""


class CheckError(Error):
    """A checked launch found something, or an assertion of the kernel does not hold."""


class OutOfMemory(Error, MemoryError):
    """Of the host or of the device."""


_KINDS = {
    "FSC_ERROR_SOURCE": SourceError,
    "FSC_NO_DRIVER": DeviceError, "FSC_NO_DEVICE": DeviceError, "FSC_ERROR_FAULT": DeviceError,
    "FSC_ERROR_DRIVER": DeviceError, "FSC_ERROR_DRIVER_OLD": DeviceError, "FSC_ERROR_ENVIRONMENT": DeviceError,
    "FSC_ERROR_CHECK": CheckError, "FSC_ERROR_ASSERT": CheckError,
    "FSC_ERROR_MEMORY": OutOfMemory, "FSC_ERROR_DEVICE_MEMORY": OutOfMemory,
    "FSC_ERROR_USAGE": ArgumentError, "FSC_ERROR_ARGUMENT": ArgumentError, "FSC_ERROR_CONTRACT": ArgumentError,
    "FSC_ERROR_REQUIRE": ArgumentError, "FSC_ERROR_RULE": ArgumentError, "FSC_ERROR_GRID": ArgumentError,
    "FSC_ERROR_RESOURCE": ArgumentError, "FSC_NO_VARIANT": ArgumentError,
}


class NameValue(c.Structure):
    _fields_ = [("name", c.c_char_p), ("value", c.c_char_p)]


class Param(c.Structure):
    """fsc_param."""
    _fields_ = [("kind", c.c_int), ("name", c.c_char_p), ("dtype", c.c_char_p), ("text", c.c_char_p),
                ("is_optional", c.c_bool)]


class Report(c.Structure):
    """fsc_kernel_report."""
    _fields_ = [(name, c.c_uint32) for name in
                "threads_per_block registers spill_bytes shared_static shared_dynamic max_threads_per_block "
                "blocks_per_sm limit".split()]
    _fields_ += [("resident_blocks", c.c_uint64), ("resident_programs", c.c_uint64), ("ptx_version", c.c_uint32),
                 ("binary_version", c.c_uint32)]


EMIT = ("ast", "tile", "simt", "threads", "llvm", "ptx", "cubin", "asm", "report")  # fsc_emit
POINTER, SCALAR, OPEN, CONSTEXPR, DTYPE = range(5)  # fsc_param_kind
VERSION_NUMBER = 100  # FSC_VERSION_NUMBER of the headers that the structs here are written after

_PROTOTYPES = {  # name: (result, arguments)
    "fsc_version": (c.c_char_p, []),
    "fsc_version_number": (c.c_int, []),
    "fsc_status_name": (c.c_char_p, [c.c_int]),
    "fsc_last_message": (c.c_char_p, []),
    "fsc_dtype_find": (c.c_int, [c.c_char_p]),
    "fsc_dtype_name": (c.c_char_p, [c.c_int]),
    "fsc_dtype_size": (c.c_uint32, [c.c_int]),
    "fsc_device_open": (c.c_int, [c.c_char_p, c.POINTER(c.c_void_p)]),
    "fsc_device_current": (c.c_int, [c.POINTER(c.c_int)]),
    "fsc_device_check": (c.c_int, [c.c_void_p, c.c_bool]),
    "fsc_stream_wait": (c.c_int, [c.c_void_p, c.c_void_p]),
    "fsc_source_kernels": (c.c_int, [c.c_char_p, c.c_char_p, c.c_size_t, c.POINTER(c.c_void_p)]),
    "fsc_source_functions": (c.c_int, [c.c_char_p, c.c_char_p, c.c_size_t, c.POINTER(c.c_void_p)]),
    "fsc_compilation_output": (c.c_void_p, [c.c_void_p, c.POINTER(c.c_size_t)]),
    "fsc_compilation_diagnostics": (c.c_char_p, [c.c_void_p]),
    "fsc_compilation_destroy": (None, [c.c_void_p]),
    "fsc_jit_open": (c.c_int,
                     [c.c_void_p, c.c_char_p, c.c_char_p, c.c_size_t, c.c_char_p, c.POINTER(NameValue), c.c_size_t,
                               c.POINTER(c.c_void_p)]),
    "fsc_jit_destroy": (None, [c.c_void_p]),
    "fsc_jit_message": (c.c_char_p, [c.c_void_p]),
    "fsc_jit_kernel": (c.c_char_p, [c.c_void_p]),
    "fsc_jit_param": (c.c_int, [c.c_void_p, c.c_size_t, c.POINTER(Param)]),
    "fsc_jit_access": (c.c_int, [c.c_void_p, c.c_size_t, c.POINTER(c.c_bool), c.POINTER(c.c_bool)]),
    "fsc_jit_inspect": (c.c_int, [c.c_void_p, c.c_char_p, c.c_int, c.c_void_p, c.c_size_t, c.POINTER(c.c_void_p)]),
    "fsc_jit_report": (c.c_int, [c.c_void_p, c.c_void_p, c.c_size_t, c.POINTER(Report)]),
    "fsc_jit_call": (c.c_int, [c.c_void_p, c.c_void_p, c.c_void_p, c.c_size_t, c.c_void_p]),
}


def _candidates():
    """Where the library may be: in the wheel, in an installed tree, in the source's build folder,
    where the system looks."""
    here = os.path.dirname(os.path.abspath(__file__))
    yield os.path.join(here, "libfsc.so")
    for pattern in ("../../../../lib/libfsc.so", "../../../../lib/*/libfsc.so", "../../../build/release/libfsc.so"):
        yield from sorted(glob.glob(os.path.join(here, pattern)))
    yield "libfsc.so.0"


def _open():
    wanted = os.environ.get("FSC_LIBRARY")
    why = []
    for path in [wanted] if wanted else _candidates():
        if os.sep in path and not wanted and not os.path.exists(path):
            continue
        try:
            return c.CDLL(path), path
        except OSError as error:
            why.append(str(error))
    if wanted:
        raise LibraryError(f"FSC_LIBRARY names no library that can be loaded: {why[0]}")
    raise LibraryError("libfsc.so is not there: install fsc, or say in FSC_LIBRARY where it is (" + "; ".join(why) +
                       ")")


def _load():
    library, path = _open()
    for name, (result, arguments) in _PROTOTYPES.items():
        try:
            function = getattr(library, name)
        except AttributeError:
            raise LibraryError(f"{path} is another version than this package: it has no {name}") from None
        function.restype, function.argtypes = result, arguments
    check_version(library, path)
    return library, path


def check_version(library, path):
    found = library.fsc_version_number()
    if found != VERSION_NUMBER:
        raise LibraryError(f"{path} is another version than this package: number {found}, not {VERSION_NUMBER}")


lib, library_path = _load()
version, version_number = lib.fsc_version().decode(), lib.fsc_version_number()


def failure(status, message=None):
    """The exception for a status, with fsc's own message."""
    name = lib.fsc_status_name(status).decode()
    text = (lib.fsc_last_message() if message is None else message).decode(errors="replace").rstrip("\n")
    return _KINDS.get(name, Error)(text or name, name)


def output(compilation):
    """What a compile made, as bytes."""
    length = c.c_size_t()
    at = lib.fsc_compilation_output(compilation, c.byref(length))
    return c.string_at(at, length.value)


def check(status, message=None):
    if status:
        raise failure(status, message)

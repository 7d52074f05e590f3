"""machine.py - where kernels run: memory, random numbers, events, graphs. TorchMachine on torch's memory,
LibMachine without torch.

In: the name of a device, as libfsc takes it. Out: arrays (.address .bytes .dtype .shape; .tensor where torch is), times
in milliseconds. Method: before each timed launch memory of three times the L2's size is written, and queued work keeps
the GPU busy until the launch is queued too, so that the host's own time is not measured. On cpu and emu an event is the
host's clock.
"""
import ctypes as c
import gc
import math
import time

import numpy as np

import driver
import fsc

FLUSH_TIMES = 3
CHECKED = 1 << 22  # numbers of a matrix that are compared where NumPy does it
AHEAD_US = 100  # what a launch from Python takes of the host, and more
CYCLES_PER_US = 1500
REST_S = 0.02  # before a launch on the CPU: by then no peer's threads spin on
NAN8 = 0x7F  # of 8-bit floats
KEPT_BYTES = 40 << 30  # of memory that torch may keep between points


class Skip(Exception):
    """A peer that cannot be had on this machine or at this size; the text says why."""


class NotFor(Skip):
    """A peer that is about another kernel or type: nothing is missing."""


class Namespace:
    """NumPy with what the formulas need beside it."""
    erf = staticmethod(np.vectorize(math.erf, otypes=[np.float64]))

    def __getattr__(self, name):
        return getattr(np, name)


class LibArray:
    tensor = None

    def __init__(self, device, shape, dtype):
        self.buffer = fsc.Buffer(device, dtype, math.prod(shape))
        self.shape, self.dtype, self.address, self.bytes = shape, dtype, self.buffer.address, self.buffer.bytes

    def __del__(self):
        self.buffer.free()


class LibRow:
    """A row of a LibArray of two dimensions, in its memory."""
    tensor = None

    def __init__(self, whole, i):
        self.whole, self.i, self.buffer = whole, i, self
        self.shape, self.dtype, self.bytes = whole.shape[1:], whole.dtype, whole.bytes // whole.shape[0]
        self.address = whole.address + i * self.bytes

    def read(self):
        return self.whole.buffer.read().reshape(self.whole.shape)[self.i]


class LibRows:
    """The first rows of a LibArray, in its memory."""
    tensor = None

    def __init__(self, whole, rows):
        self.whole, self.shape, self.dtype, self.address = whole, (rows, *whole.shape[1:]), whole.dtype, whole.address
        self.bytes = whole.bytes // whole.shape[0] * rows


class TorchArray:
    def __init__(self, tensor, dtype):
        self.tensor, self.dtype = tensor, dtype
        self.shape, self.address = tuple(tensor.shape), tensor.data_ptr()
        self.bytes = tensor.numel() * tensor.element_size()


class LibMachine:
    """Memory of libfsc, numbers of NumPy; on a GPU what libfsc has no call for comes from the driver."""

    xp = Namespace()
    torch = None

    def __init__(self, name):
        self.is_gpu = name.startswith("cuda")
        # its context is the one that libfsc takes
        self.driver = driver.Driver(int(name[5:] or 0)) if self.is_gpu else None
        self.open_device(name)
        self.random = np.random.default_rng(0)
        self.current = None
        if self.is_gpu:
            self.flush = self.array((FLUSH_TIMES * self.l2 // 4,), "i32")

    def open_device(self, name):
        self.device = fsc.Device(name)
        props = self.device.props()
        self.name, self.arch, self.l2 = props.name.decode(), props.arch.decode(), props.l2_bytes
        self.driver_version = props.driver_version

    def array(self, shape, dtype):
        return LibArray(self.device, shape, dtype)

    def row(self, array, i):
        return LibRow(array, i)

    def first_rows(self, array, rows):
        return LibRows(array, rows)

    def randomize(self, array, kind, n):
        count = math.prod(array.shape)
        if kind == "classes":
            numbers = self.random.integers(0, n, count)
        else:
            numbers = np.resize(self.random.standard_normal(min(count, CHECKED)), count)
        if kind == "shares":
            numbers = np.exp(numbers) / (n * math.exp(0.5))
        if kind == "logs":
            numbers = numbers - math.log(n) - 0.5
        self.write(array, numbers)

    def write(self, array, numbers):
        array.buffer.write(fsc.encode(numbers, array.dtype))

    def poison(self, array):
        fsc.check(fsc.lib.fsc_memory_fill(self.device.handle, array.address, 0xFF, array.bytes))

    def check_step(self, rows, n):
        return max(1, min(rows // 2, rows * n // CHECKED))

    def numbers(self, array, step):
        return array.buffer.read().reshape(array.shape)[::step]

    def stream(self):
        return self.current

    def wait(self):
        self.device.wait()

    def copy(self, y, x):
        """A launch that copies x's bytes to y."""
        if self.is_gpu:
            return lambda: self.driver.copy(y.address, x.address, x.bytes, self.current)
        return lambda: c.memmove(y.address, x.address, x.bytes)

    def begin(self, launch):
        """Queues a launch between two events."""
        start, end = fsc.Event(self.device), fsc.Event(self.device)
        if self.is_gpu:
            self.driver.fill(self.flush.address, self.flush.bytes)
        else:
            time.sleep(REST_S)
        start.record(self.current)
        launch()
        end.record(self.current)
        return start, end

    def elapsed(self, pair):
        return pair[0].elapsed(pair[1])

    def capture(self, launches):
        """What the launches queue, as one graph: a call that starts it."""
        if not self.is_gpu:
            raise Skip("graphs are a GPU's")
        self.current = self.driver.begin_capture()
        try:
            for launch in launches:
                launch()
        finally:
            stream, self.current = self.current, None
            graph = self.driver.end_capture(stream)
        return graph.launch

    def release(self):
        """Between points."""


class TorchMachine(LibMachine):
    """Memory, events and graphs of torch, which its own peers need."""

    DTYPES = {"fp32": "float32", "fp16": "float16", "bf16": "bfloat16", "i32": "int32", "i8": "int8",
              "fp8e4nv": "float8_e4m3fn"}

    def __init__(self, name):
        import torch
        self.torch = self.xp = torch
        self.is_gpu = name.startswith("cuda")
        self.where = name if self.is_gpu else "cpu"
        if self.is_gpu:
            if not torch.cuda.is_available():
                raise ImportError("torch sees no GPU")
            if ":" in name:
                torch.cuda.set_device(name)
            torch.zeros(1, device=self.where)  # its context is the one that libfsc takes
        torch.manual_seed(0)
        self.open_device(name)
        if self.is_gpu:
            self.flush = torch.empty(FLUSH_TIMES * self.l2, dtype=torch.int8, device=self.where)

    def array(self, shape, dtype):
        return TorchArray(self.torch.empty(shape, dtype=getattr(self.torch, self.DTYPES[dtype]), device=self.where),
                          dtype)

    def row(self, array, i):
        return TorchArray(array.tensor[i], array.dtype)

    def first_rows(self, array, rows):
        return TorchArray(array.tensor[:rows], array.dtype)

    def randomize(self, array, kind, n):
        if kind == "classes":
            array.tensor.random_(0, n)
            return
        array.tensor.normal_()
        if kind in ("shares", "logs"):
            make = self.torch.softmax if kind == "shares" else self.torch.log_softmax
            self.write(array, make(array.tensor.float(), dim=1))

    def write(self, array, numbers):
        array.tensor.copy_(numbers)

    def poison(self, array):
        if array.tensor.element_size() == 1:
            array.tensor.view(self.torch.uint8).fill_(NAN8)
        else:
            array.tensor.fill_(float("nan"))

    def check_step(self, rows, n):
        return 1

    def numbers(self, array, step):
        tensor = getattr(array, "tensor", array)
        return tensor.long() if tensor.dtype == self.torch.int32 else tensor.to(self.torch.float32).double() \
            if tensor.element_size() == 1 else tensor.double()

    def stream(self):
        return self.torch.cuda.current_stream().cuda_stream if self.is_gpu else None

    def wait(self):
        if self.is_gpu:
            self.torch.cuda.synchronize()

    def copy(self, y, x):
        if not self.is_gpu:
            return super().copy(y, x)
        to, source = y.tensor, x.tensor
        return lambda: to.copy_(source)

    def begin(self, launch):
        if not self.is_gpu:
            return self.host_time(launch)
        start, end = (self.torch.cuda.Event(enable_timing=True) for _ in range(2))
        self.flush.zero_()
        if hasattr(self.torch.cuda, "_sleep"):
            self.torch.cuda._sleep(AHEAD_US * CYCLES_PER_US)
        start.record()
        launch()
        end.record()
        return start, end

    def host_time(self, launch):
        time.sleep(REST_S)
        start = time.perf_counter()
        launch()
        return start, time.perf_counter()

    def elapsed(self, pair):
        return pair[0].elapsed_time(pair[1]) if self.is_gpu else (pair[1] - pair[0]) * 1e3

    def capture(self, launches):
        if not self.is_gpu:
            raise Skip("graphs are a GPU's")
        graph, stream = self.torch.cuda.CUDAGraph(), self.torch.cuda.Stream()
        kept = []  # outputs live until the end, so that each launch writes memory of its own
        self.wait()
        with self.torch.cuda.stream(stream):
            graph.capture_begin(capture_error_mode="relaxed")
            try:
                for launch in launches:
                    kept.append(launch())
            finally:
                graph.capture_end()
        self.wait()
        return graph.replay

    def release(self):
        if self.is_gpu and self.torch.cuda.memory_reserved() > KEPT_BYTES:
            gc.collect()
            self.torch.cuda.empty_cache()


def open_machine(name, with_torch=True):
    """The machine, and why it has no torch ('' where it has)."""
    if with_torch:
        try:
            return TorchMachine(name), ""
        except ImportError as why:
            return LibMachine(name), str(why)
    return LibMachine(name), "not asked for"

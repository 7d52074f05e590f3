"""driver.py - the few calls of the CUDA driver that libfsc has no need of: copies and fills that do not wait, graphs.

For a benchmark without torch. In: addresses, bytes, streams as integers (None: the default stream). Failures are
RuntimeErrors that name the call.
"""
import ctypes as c

RELAXED = 2  # capture: other calls of the thread stay allowed
NON_BLOCKING = 1


class Driver:
    """The driver, with the primary context of a card current in this thread."""

    def __init__(self, ordinal):
        self.lib = c.CDLL("libcuda.so.1")
        device, context = c.c_int(), c.c_void_p()
        self.call("cuInit", 0)
        self.call("cuDeviceGet", c.byref(device), ordinal)
        self.call("cuDevicePrimaryCtxRetain", c.byref(context), device)
        self.call("cuCtxSetCurrent", context)

    def call(self, name, *args):
        status = getattr(self.lib, name)(*args)
        if status:
            raise RuntimeError(f"{name} gives error {status}")

    def copy(self, to, source, count, stream):
        self.call("cuMemcpyDtoDAsync_v2", c.c_uint64(to), c.c_uint64(source), c.c_size_t(count), c.c_void_p(stream))

    def fill(self, address, count):
        self.call("cuMemsetD32Async", c.c_uint64(address), c.c_uint(0), c.c_size_t(count // 4), c.c_void_p(None))

    def begin_capture(self):
        """A stream whose work is recorded, not done."""
        stream = c.c_void_p()
        self.call("cuStreamCreate", c.byref(stream), NON_BLOCKING)
        self.call("cuStreamBeginCapture_v2", stream, RELAXED)
        return stream.value

    def end_capture(self, stream):
        """What was recorded, as a Graph."""
        graph, ready = c.c_void_p(), c.c_void_p()
        try:
            self.call("cuStreamEndCapture", c.c_void_p(stream), c.byref(graph))
        finally:
            self.call("cuStreamDestroy_v2", c.c_void_p(stream))
        self.call("cuGraphInstantiateWithFlags", c.byref(ready), graph, c.c_uint64(0))
        self.call("cuGraphDestroy", graph)
        return Graph(self, ready)


class Graph:
    def __init__(self, driver, handle):
        self.driver, self.handle = driver, handle

    def launch(self):
        self.driver.call("cuGraphLaunch", self.handle, c.c_void_p(None))

    def __del__(self):
        self.driver.lib.cuGraphExecDestroy(self.handle)

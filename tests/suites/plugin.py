"""plugin.py - for pytest: the tests of other packages run on fsc.triton, one line of JSON for each of their cases.

In: the environment: FSC_SUITE_DEVICE (cpu, emu, cuda, or triton: the real package), FSC_SUITE_LOG (the file of lines),
FSC_SUITE_MOST (cases of each test function, 0: all), FSC_SUITE_BARE (packages whose __init__ is left out, as
NAME=FOLDER), FSC_SUITE_BORROW (modules of the real triton that only tests want, as NAME=FILE). On cpu and emu tests
that write "cuda" get the CPU. Cases that the file has already are left out, so a run that died goes on behind the case
that killed it. suites.py calls it.
"""
import functools
import hashlib
import importlib.util
import json
import os
import sys
import time
import types

import pytest
import torch

DEVICE = os.environ["FSC_SUITE_DEVICE"]
LOG = os.environ["FSC_SUITE_LOG"]
MOST = int(os.environ.get("FSC_SUITE_MOST", "0"))

if DEVICE != "triton":
    import fsc.triton
    fsc.triton.install(None if DEVICE == "cuda" else DEVICE, check=DEVICE == "emu")


# ---- Packages whose __init__ wants what is not there -----------------------------------------------------------------

for entry in filter(None, os.environ.get("FSC_SUITE_BARE", "").split(",")):
    name, folder = entry.split("=")
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = [folder]


def borrow(name, file):
    """A module of tests, from the tests' own sources."""
    spec = importlib.util.spec_from_file_location(name, file)
    sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules[name])


# ---- "cuda" in tests, without a GPU ----------------------------------------------------------------------------------


def _on_host(value):
    """The same argument, a GPU replaced by the CPU."""
    is_gpu = isinstance(value, (str, torch.device)) and str(value).split(":")[0] == "cuda"
    return "cpu" if is_gpu else value


GPU = torch.device("cuda", 0)


class CudaIsHost(torch.overrides.TorchFunctionMode):
    """torch as tests see it that write device="cuda": their arrays lie on the CPU and say that they are on a GPU."""

    def __torch_function__(self, function, types_, args=(), kwargs=None):
        name = getattr(function, "__name__", "")
        if function is torch.Tensor.backward:  # what it calls is the tests' code again
            return self.backward(*args, **(kwargs or {}))
        if name == "cuda":
            return args[0]
        if name == "__get__" and function.__self__ is torch.Tensor.is_cuda:
            return True
        if name == "__get__" and function.__self__ is torch.Tensor.device:
            return GPU
        kwargs = {key: "cpu" if key == "device" and isinstance(value, int) else _on_host(value)
                  for key, value in (kwargs or {}).items()}
        return function(*(_on_host(value) for value in args), **kwargs)

    @staticmethod
    def backward(tensor, gradient=None, retain_graph=None, create_graph=False, inputs=None):
        with CudaIsHost():
            torch.autograd.backward(tensor, gradient, retain_graph, create_graph, inputs=inputs)


class Generator:
    """The GPU's random numbers as wrappers ask for them: a seed and an offset of Philox."""

    state = torch.zeros(2, dtype=torch.int64)

    def get_state(self):
        return self.state.clone().view(torch.uint8)

    def set_state(self, state):
        self.state = state.clone().view(torch.int64)

    def initial_seed(self):
        return int(self.state[0])


class Nothing:
    """A stream, an event, a device as a context: all do nothing, at once."""

    cuda_stream, device = 0, "cpu"

    def __init__(self, *_, **__):
        self.start = time.perf_counter()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def __getattr__(self, name):
        return lambda *_, **__: None

    def elapsed_time(self, end):
        return max(1e-3, 1e3 * (end.start - self.start))

    def record(self, *_):
        self.start = time.perf_counter()


def stand_in():
    """torch.cuda answers as for one GPU of sm_80, and does nothing; fsc sees arrays as they are, on the CPU."""
    properties = types.SimpleNamespace(
        name="NVIDIA A100", major=8, minor=0, multi_processor_count=os.cpu_count(), total_memory=1 << 34, warp_size=32,
        shared_memory_per_block_optin=166912, regs_per_multiprocessor=65536, clock_rate=1, memory_clock_rate=1,
        memory_bus_width=1)
    answers = dict(is_available=True, is_initialized=False, get_device_capability=(8, 0), device_count=1,
                   current_device=0, get_device_name="NVIDIA A100", get_device_properties=properties,
                   is_bf16_supported=True, max_memory_allocated=0, memory_allocated=0, memory_reserved=0,
                   mem_get_info=(1 << 34, 1 << 34), synchronize=None, empty_cache=None, reset_peak_memory_stats=None,
                   manual_seed=None, manual_seed_all=None, set_device=None, get_rng_state_all=[],
                   current_stream=Nothing(), default_stream=Nothing())
    for name, answer in answers.items():
        setattr(torch.cuda, name, lambda *_, _answer=answer, **__: _answer)
    torch.cuda.default_generators = (Generator(),)
    for name in ("Stream", "Event", "device", "stream", "device_of"):
        setattr(torch.cuda, name, Nothing)

    implement = torch.library.Library.impl

    def impl(self, name, fn, dispatch_key="", **named):
        @functools.wraps(fn)
        def operator(*args, **words):
            with CudaIsHost():
                return fn(*args, **words)

        return implement(self, name, operator, dispatch_key.replace("CUDA", "CPU"), **named)

    torch.library.Library.impl = impl
    begin = torch.autocast.__init__
    torch.autocast.__init__ = lambda self, device_type, *args, **named: begin(self, _on_host(device_type), *args,
                                                                              **named)
    from fsc import _arrays
    read = _arrays._read_torch

    def read_as_it_is(value, call, offset):
        with torch._C.DisableTorchFunction():
            return read(value, call, offset)

    def read_wrapper(value, call, offset):  # of a tensor, by its methods
        _arrays.put_array(call, offset, value.data_ptr(), _arrays._codes[value.dtype], tuple(value.shape),
                          tuple(value.stride()))
        return _arrays.HOST

    _arrays._read_torch, _arrays._read_tensor = read_as_it_is, read_wrapper
    CudaIsHost().__enter__()


if DEVICE in ("cpu", "emu"):
    stand_in()
if DEVICE != "triton":
    for entry in filter(None, os.environ.get("FSC_SUITE_BORROW", "").split(",")):
        borrow(*entry.split("="))


# ---- What ran --------------------------------------------------------------------------------------------------------


def note(**line):
    with open(LOG, "a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def noted():
    try:
        with open(LOG, encoding="utf-8") as file:
            return {json.loads(line)["id"] for line in file}
    except OSError:
        return set()


def pytest_collection_modifyitems(config, items):
    """Of each test function the first MOST cases in the order of a hash of their names."""
    total, groups = len(items), {}
    for item in items:
        groups.setdefault(item.nodeid.split("[")[0], []).append(item)
    if MOST:
        for group in groups.values():
            group.sort(key=lambda item: hashlib.sha256(item.nodeid.encode()).digest())
            del group[MOST:]
    done = noted()
    items[:] = [item for group in groups.values() for item in group if item.nodeid not in done]
    if not done:
        note(id="", what="collected", count=total)


def _why(report):
    """The last lines of what was raised, and where."""
    text = str(report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr or "")
    crash = getattr(getattr(report.longrepr, "reprcrash", None), "message", "")
    return {"crash": str(crash)[:2000], "text": text[-6000:]}


def pytest_runtest_logstart(nodeid, location):
    note(id=nodeid, what="start", time=time.time())


def pytest_runtest_logreport(report):
    if report.when == "call" or report.outcome != "passed":
        outcome = "xfailed" if hasattr(report, "wasxfail") and report.outcome == "skipped" else report.outcome
        note(id=report.nodeid, what=outcome, when=report.when, seconds=round(report.duration, 3),
             **(_why(report) if outcome in ("failed", "skipped") else {}))


def pytest_collectreport(report):
    if report.failed:
        note(id=report.nodeid, what="failed", when="collect", seconds=0, **_why(report))
    elif report.skipped:
        note(id=report.nodeid, what="skipped", when="collect", seconds=0, **_why(report))


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session, exitstatus):
    note(id="", what="end", status=int(exitstatus))

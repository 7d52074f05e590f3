"""knobs.py - triton.knobs: settings that host code reads and sets; most have nothing to change here.

In: the environment, once. Out: groups of settings, each an attribute; a group's scope() gives them back afterwards.
autotuning.print is read by _tune.py; debug says whether kernels check as `debug=True` of a launch does.
"""
import contextlib
import os


class base_knobs:
    """A group; a setting that nobody named is None."""

    knob_descriptors = {}

    def __init__(self, **values):
        self.__dict__.update(values)

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return None

    def copy(self):
        return base_knobs(**self.__dict__)

    def reset(self):
        return self

    @contextlib.contextmanager
    def scope(self):
        before = dict(self.__dict__)
        try:
            yield
        finally:
            self.__dict__.clear()
            self.__dict__.update(before)


def _is_set(name):
    return os.environ.get(name, "").lower() in ("1", "true", "yes", "on")


propagate_env = True
runtime = base_knobs(interpret=False, debug=_is_set("TRITON_DEBUG"))
autotuning = base_knobs(print=_is_set("TRITON_PRINT_AUTOTUNING"), cache=True)
compilation = base_knobs(always_compile=False)
cache = base_knobs(dir=os.environ.get("FSC_CACHE_DIR"))
language = base_knobs(default_fp_fusion=True)
build, redis, proton, amd = base_knobs(), base_knobs(), base_knobs(), base_knobs()
nvidia = base_knobs(ptxas=base_knobs(version="12.8"), nvdisasm=base_knobs(), cuobjdump=base_knobs())

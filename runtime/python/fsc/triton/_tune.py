"""_tune.py - @triton.autotune and @triton.heuristics: which constants a kernel is launched with.

In: configurations, the arguments that they depend on. Out: launches with the fastest one. Method: at the first launch
with new values of `key` every configuration that is left by pruning runs and is timed; what is found is kept in a file
of fsc's cache, named after all that decides it.
"""
import functools
import hashlib
import json
import os
import time

from .. import version
from .._library import Error
from . import testing
from ._jit import KernelInterface, settings


class Config:
    """Constants and options of a launch, to be tried."""

    def __init__(self, kwargs, num_warps=4, num_stages=3, num_ctas=1, maxnreg=None, pre_hook=None, ir_override=None,
                 **others):
        self.kwargs, self.num_warps, self.num_stages, self.num_ctas = dict(kwargs), num_warps, num_stages, num_ctas
        self.maxnreg, self.pre_hook, self.ir_override, self.others = maxnreg, pre_hook, ir_override, others

    def all_kwargs(self):
        options = {"num_warps": self.num_warps, "num_ctas": self.num_ctas, "num_stages": self.num_stages,
                   "maxnreg": self.maxnreg, **self.others}
        return {**self.kwargs, **{name: value for name, value in options.items() if value is not None}}

    def __str__(self):
        return ", ".join(f"{name}: {value}" for name, value in self.all_kwargs().items())

    __repr__ = __str__

    def __eq__(self, other):
        return isinstance(other, Config) and self.all_kwargs() == other.all_kwargs() and (
            self.pre_hook is other.pre_hook)

    def __hash__(self):
        return hash((str(self), self.pre_hook))


class _Wrapper(KernelInterface):
    """A kernel around a kernel; to other kernels it is the innermost one."""

    def __init__(self, fn, arg_names):
        functools.update_wrapper(self, fn)
        self.__dict__.pop("__wrapped__", None)
        self.fn, self.arg_names = fn, arg_names
        self.__fsc_function__ = fn.__fsc_function__

    base_fn = property(lambda self: getattr(self.fn, "base_fn", self.fn.fn))
    cache_key = property(lambda self: self.fn.cache_key)
    params = property(lambda self: self.fn.params)


class Heuristics(_Wrapper):
    """Constants that are functions of the other arguments."""

    def __init__(self, fn, arg_names, values):
        super().__init__(fn, arg_names)
        self.values = values

    def run(self, *args, **named):
        for name, rule in self.values.items():
            named[name] = rule({**dict(zip(self.arg_names, args)), **named})
        return self.fn.run(*args, **named)


def heuristics(values):
    return lambda fn: Heuristics(fn, fn.arg_names, values)


# ---- Autotuning ------------------------------------------------------------------------------------------------------


def _copy(array):
    return array.clone() if hasattr(array, "clone") else array.copy()


def _write(array, value):
    """The array's elements become those of value, or 0."""
    if hasattr(array, "copy_"):
        array.zero_() if value is None else array.copy_(value)
    else:
        array[...] = 0 if value is None else value


class Autotuner(_Wrapper):
    """A kernel with configurations."""

    def __init__(self, fn, arg_names, configs, key, reset_to_zero=None, restore_value=None, pre_hook=None,
                 post_hook=None, prune_configs_by=None, warmup=None, rep=None, use_cuda_graph=False, do_bench=None,
                 cache_results=True):
        super().__init__(fn, arg_names)
        self.configs, self.keys = list(configs) or [Config({})], list(key)
        self.reset_to_zero, self.restore_value = list(reset_to_zero or []), list(restore_value or [])
        self.user_defined_pre_hook, self.user_defined_post_hook = pre_hook is not None, post_hook is not None
        self.pre_hook, self.post_hook = pre_hook or self._keep, post_hook or self._bring_back
        prune = prune_configs_by or {}
        self.perf_model, self.configs_top_k = prune.get("perf_model"), prune.get("top_k", 1.0)
        self.early_config_prune = prune.get("early_config_prune")
        self.do_bench = do_bench or functools.partial(testing.do_bench, warmup=warmup or 25, rep=rep or 100)
        self.cache_results = cache_results
        self.cache, self.best_config, self.configs_timings, self.bench_time, self.nargs = {}, None, None, 0.0, {}
        self.restore_copies = {}

    # ---- What a trial must not leave behind --------------------------------------------------------------------------

    def _keep(self, nargs, reset_only=False):
        for name in self.reset_to_zero:
            if nargs[name] is not None:
                _write(nargs[name], None)
        if not reset_only:
            self.restore_copies = {n: _copy(nargs[n]) for n in self.restore_value if nargs[n] is not None}

    def _bring_back(self, nargs, exception):
        for name, value in self.restore_copies.items():
            _write(nargs[name], value)
        self.restore_copies = {}

    # ---- Trials ------------------------------------------------------------------------------------------------------

    def _bench(self, *args, config, **named):
        """Milliseconds of the configuration, as (median, 20 %, 80 %); inf: it does not fit the device or compile."""
        given = {**named, **config.all_kwargs()}
        nargs = {**self.nargs, **given}

        def launch():
            if config.pre_hook:
                config.pre_hook(nargs)
            self.pre_hook(nargs)
            try:
                self.fn.run(*args, **given)
            except Exception as error:
                self.post_hook(nargs, exception=error)
                raise
            self.post_hook(nargs, exception=None)

        try:
            return self.do_bench(launch, quantiles=(0.5, 0.2, 0.8))
        except Error as error:
            if testing.is_verbose():
                print(f"autotuning {self.__name__}: {config} is left out: {str(error).splitlines()[0]}")
            return [float("inf")] * 3

    def prune_configs(self, named):
        configs = self.configs
        if self.early_config_prune:
            configs = self.early_config_prune(configs, self.nargs, **named)
            if not configs:
                raise RuntimeError(f"autotuning {self.__name__}: early_config_prune leaves no configuration")
        top = self.configs_top_k
        most = int(len(self.configs) * top) if isinstance(top, float) else top
        if self.perf_model and len(configs) > most:
            costs = [self.perf_model(**self.nargs, **named, **c.all_kwargs()) for c in configs]
            configs = [configs[i] for i in sorted(range(len(configs)), key=costs.__getitem__)[:most]]
        return configs

    def _tune(self, args, named, key):
        configs = self.prune_configs(named)
        file = self._file(configs, key) if self.cache_results else None
        found = _read(file)
        if isinstance(found, int) and 0 <= found < len(configs):
            return configs[found]
        start = time.perf_counter()
        values = [*self.nargs.values(), *named.values()]
        trials = _distinct(configs) if settings["device"] in (None, "cpu") and _are_on_host(values) else configs
        if len(trials) == 1:
            return trials[0]
        self.configs_timings = {c: self._bench(*args, config=c, **named) for c in trials}
        self.bench_time = time.perf_counter() - start
        best = min(trials, key=lambda c: _median(self.configs_timings[c]))
        if _median(self.configs_timings[best]) == float("inf"):
            self.fn.run(*args, **{**named, **best.all_kwargs()})  # says why
        self.pre_hook({**self.nargs, **named, **best.all_kwargs()}, reset_only=True)
        _keep_in(file, configs.index(best))
        return best

    def _file(self, configs, key):
        """Where the choice is kept: named after the kernel's text, the configurations, the device, the key's values.
        None: nowhere."""
        folder = cache_folder()
        if folder is None or any(c.pre_hook for c in configs):
            return None
        what = repr((version, self.fn.cache_key, [str(c) for c in configs], key, testing.device_name(), settings))
        return os.path.join(folder, "tune", hashlib.sha256(what.encode()).hexdigest() + ".json")

    def run(self, *args, **named):
        self.nargs = dict(zip(self.arg_names, args))
        config = self.configs[0]
        if len(self.configs) > 1:
            known = {**self.nargs, **named}
            key = (*(known[name] for name in self.keys if name in known),
                   *(str(v.dtype) for v in known.values() if hasattr(v, "dtype")))
            config = self.cache.get(key)
            if config is None:
                config = self.cache[key] = self._tune(args, named, key)
                if testing.is_verbose():
                    print(f"autotuning {self.__name__}: {config} for {key}, after {self.bench_time:.2f} s")
        self.best_config = config
        given = {**named, **config.all_kwargs()}
        if config.pre_hook:
            config.pre_hook({**self.nargs, **given})
        result = self.fn.run(*args, **given)
        self.nargs = {}
        return result

    def warmup(self, *args, **named):
        return [self.fn.warmup(*args, **{**named, **c.all_kwargs()}) for c in self.configs]


def _are_on_host(values):
    return not any(getattr(v, "is_cuda", False) or hasattr(v, "__cuda_array_interface__") for v in values)


def _distinct(configs):
    """The first of each that differ in more than options, which the CPU's code does not have."""
    found = {}
    for c in configs:
        found.setdefault((repr(c.kwargs), c.pre_hook), c)
    return list(found.values())


def _median(times):
    return times[0] if isinstance(times, (list, tuple)) else times


def autotune(configs, key, prune_configs_by=None, reset_to_zero=None, restore_value=None, pre_hook=None,
             post_hook=None, warmup=None, rep=None, use_cuda_graph=False, do_bench=None, cache_results=True):
    return lambda fn: Autotuner(fn, fn.arg_names, configs, key, reset_to_zero, restore_value, pre_hook, post_hook,
                                prune_configs_by, warmup, rep, use_cuda_graph, do_bench, cache_results)


# ---- The cache -------------------------------------------------------------------------------------------------------


def cache_folder():
    """fsc's cache of variants; None: it is off."""
    named = os.environ.get("FSC_CACHE_DIR")
    if named is not None:
        return None if named in ("", "off") else named
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(home, "fsc")


def _read(file):
    try:
        with open(file, encoding="utf-8") as f:
            return json.load(f)["config"]
    except (OSError, TypeError, ValueError, KeyError):
        return None


def _keep_in(file, index):
    if file is None:
        return
    try:
        os.makedirs(os.path.dirname(file), exist_ok=True)
        part = f"{file}.{os.getpid()}"
        with open(part, "w", encoding="utf-8") as f:
            json.dump({"config": index}, f)
        os.replace(part, file)
    except OSError:
        pass  # a cache that cannot be written is none

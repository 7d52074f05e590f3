"""_tune.py - @triton.autotune and @triton.heuristics: which constants a kernel is launched with.

In: configurations, the arguments that they depend on. Out: launches with the fastest one. Method: at the first launch
with new values of `key` the tuning file beside the source is asked (_rows.py). If it has no row for the kernel here,
every configuration that is left by pruning runs and is timed, shortly; those near the fastest once more, as long as
Triton takes. All are compiled before, side by side. What is found is kept as a row of such a file: in fsc's
cache, in one that is named after all that decides it; with FSC_TUNE_WRITE=1 in the one beside the source.
"""
import concurrent.futures
import functools
import hashlib
import os
import time

from .. import version
from .._arrays import dtype_name
from .._library import Error
from . import _rows, testing
from ._jit import KernelInterface, settings, torch_cuda

SURE, NEAR = 4, 1.25  # configurations at most that are timed twice, and how near to the fastest they are


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
        self._is_asked = bool(do_bench or warmup or rep)  # how to time
        self.cache_results = cache_results
        self.cache, self.best_config, self.configs_timings, self.bench_time, self.nargs = {}, None, None, 0.0, {}
        self.restore_copies, self.chosen_by = {}, ""

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

    def _bench(self, *args, config, do_bench=None, **named):
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
            return (do_bench or self.do_bench)(launch, quantiles=(0.5, 0.2, 0.8))
        except Error as error:
            if testing.is_verbose():
                print(f"autotuning {self.__name__}: {config} is left out: {str(error).splitlines()[0]}")
            return [float("inf")] * 3

    def _compile(self, args, trials, named):
        """All of them, side by side. What does not compile is said where it is timed."""
        def compile_one(config):
            try:
                self.fn.warmup(*args, **{**named, **config.all_kwargs()})._init_handles()
            except Exception:  # pylint: disable=broad-except
                pass

        with concurrent.futures.ThreadPoolExecutor(min(len(trials), os.cpu_count() or 1)) as pool:
            list(pool.map(compile_one, trials))

    def _timings(self, args, trials, named):
        """{configuration: milliseconds}"""
        self._compile(args, trials, named)
        if self._is_asked or len(trials) <= SURE:
            return {c: self._bench(*args, config=c, **named) for c in trials}
        short = functools.partial(testing.do_bench, warmup=2, rep=10)
        found = {c: self._bench(*args, config=c, do_bench=short, **named) for c in trials}
        order = sorted(trials, key=lambda c: _median(found[c]))
        near = [c for c in order[:SURE] if _median(found[c]) < NEAR * _median(found[order[0]])]
        found.update((c, self._bench(*args, config=c, **named)) for c in near)
        return found

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
        values = [*self.nargs.values(), *named.values()]
        where = _where(values)
        sizes, types = self._keys({**self.nargs, **named})
        kernel, beside = self.base_fn.__name__, _beside(self.base_fn)
        row = _rows.nearest(_rows.rows_of(beside, kernel, where), {**types, **sizes})
        found = self._of_row(row, beside)
        if found is None and self.cache_results:
            kept = self._file(configs, key, sizes)
            row = _rows.exact(_rows.rows_of(kept, kernel, where), sizes) if kept else None
            found = self._of_row(row, kept)
        if found is not None:
            return found
        start = time.perf_counter()
        trials = _distinct(configs) if settings["device"] in (None, "cpu") and _are_on_host(values) else configs
        self.chosen_by = "the only one"
        if len(trials) == 1:
            return trials[0]
        self.configs_timings = self._timings(args, trials, named)
        self.bench_time = time.perf_counter() - start
        best = min(trials, key=lambda c: _median(self.configs_timings[c]))
        if _median(self.configs_timings[best]) == float("inf"):
            self.fn.run(*args, **{**named, **best.all_kwargs()})  # says why
        self.pre_hook({**self.nargs, **named, **best.all_kwargs()}, reset_only=True)
        self.chosen_by = f"the fastest of {len(trials)}"
        line = _rows.line_of(sizes, _choice(best), f"{_median(self.configs_timings[best]):.4f} ms, {self.chosen_by}")
        if os.environ.get("FSC_TUNE_WRITE") == "1":
            self._write(beside, kernel, where, line)
        elif self.cache_results and kept:
            self._write(kept, kernel, where, line)
        return best

    @staticmethod
    def _write(path, kernel, where, line):
        try:
            _rows.add(path, kernel, where, line)
        except OSError:
            pass  # a cache that cannot be written is none

    def _keys(self, known):
        """({name: number} of the key, {name: type} of the arrays)"""
        sizes = {name: known[name] for name in self.keys if isinstance(known.get(name), int)}
        types = {name: dtype_name(getattr(v.dtype, "code", v.dtype)) for name, v in known.items()
                 if hasattr(v, "dtype")}
        return sizes, types

    def _of_row(self, row, path):
        """The configuration that a row of a file names; None: there is no row, or no such configuration."""
        for config in self.configs if row else ():
            words = {name: str(value) for name, value in _choice(config).items()}
            if all(words.get(name) == value for name, value in row.choice.items()):
                self.chosen_by = f"{path}:{row.line}"
                return config
        return None

    def _file(self, configs, key, sizes):
        """The file of the cache: named after the kernel, what it reaches, the configurations, the device, what of the
        key is no number. None: nowhere."""
        folder = cache_folder()
        if folder is None or any(c.pre_hook for c in configs):
            return None
        others = [value for value in key if not isinstance(value, int)]
        what = repr((version, self.fn.cache_key, [str(c) for c in configs], others, testing.device_name(), settings))
        name = f"{self.base_fn.__name__}-{hashlib.sha256(what.encode()).hexdigest()[:24]}.tune"
        return os.path.join(folder, "tune", name)

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
                    print(f"autotuning {self.__name__}: {config} for {key}, {self.chosen_by}, "
                          f"after {self.bench_time:.2f} s")
        self.best_config = config
        given = {**named, **config.all_kwargs()}
        if config.pre_hook:
            config.pre_hook({**self.nargs, **given})
        result = self.fn.run(*args, **given)
        self.nargs = {}
        return result

    def warmup(self, *args, **named):
        return [self.fn.warmup(*args, **{**named, **c.all_kwargs()}) for c in self.configs]


def _choice(config):
    """A configuration as words of a row."""
    return {**config.kwargs, "num_warps": config.num_warps, "num_stages": config.num_stages,
            **({"num_ctas": config.num_ctas} if config.num_ctas != 1 else {})}


def _beside(fn):
    """The tuning file of a function's source."""
    return os.path.splitext(fn.__code__.co_filename)[0] + ".tune"


def _where(values):
    """(arch, units) of the device that launches of these go to, as tuning files name it."""
    device = settings["device"] or ("cpu" if _are_on_host(values) else "cuda")
    cuda = torch_cuda() if device.startswith("cuda") else None
    if not cuda:
        return device.partition(":")[0], os.cpu_count()
    major, minor = cuda.get_device_capability()
    return f"sm_{major}{minor}", cuda.get_device_properties(cuda.current_device()).multi_processor_count


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

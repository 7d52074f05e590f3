"""testing.py - triton.testing: times of functions, tables and plots of them.

In: functions. Out: milliseconds; tables on standard output, CSV files, plots where matplotlib is there. On a GPU that
torch uses, times are those of events on its stream; elsewhere those of the clock, as launches on the CPU are done when
they return.
"""
import os
import platform
import sys
import time


def is_verbose():
    return os.environ.get("TRITON_PRINT_AUTOTUNING") == "1"


def _cuda():
    """torch.cuda, where torch uses a GPU."""
    torch = sys.modules.get("torch")
    return torch.cuda if torch is not None and torch.cuda.is_initialized() else None


def device_name():
    cuda = _cuda()
    return cuda.get_device_name() if cuda else f"{platform.machine()} {platform.processor()} {os.cpu_count()}"


def _summary(times, quantiles, return_mode):
    times = sorted(times)
    if quantiles is not None:
        found = []
        for q in quantiles:
            at = q * (len(times) - 1)
            low = int(at)
            high = min(low + 1, len(times) - 1)
            found.append(times[low] + (times[high] - times[low]) * (at - low))
        return found[0] if len(found) == 1 else found
    modes = {"min": lambda: times[0], "max": lambda: times[-1], "mean": lambda: sum(times) / len(times),
             "median": lambda: times[len(times) // 2], "all": lambda: times}
    return modes[return_mode]()


def _times(fn, count, before):
    """Milliseconds of each of so many calls."""
    cuda, found = _cuda(), []
    if cuda:
        pairs = [(cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)) for _ in range(count)]
        for start, end in pairs:
            before()
            start.record()
            fn()
            end.record()
        cuda.synchronize()
        return [start.elapsed_time(end) for start, end in pairs]
    for _ in range(count):
        before()
        start = time.perf_counter()
        fn()
        found.append((time.perf_counter() - start) * 1e3)
    return found


def _round(fn, before):
    """Milliseconds of a call with all that is around it, the least of 3."""
    def all_of_it():
        start = time.perf_counter()
        _times(fn, 1, before)
        return (time.perf_counter() - start) * 1e3

    return max(1e-3, min(all_of_it() for _ in range(3)))


def do_bench(fn, warmup=25, rep=100, grad_to_none=None, quantiles=None, return_mode="mean"):
    """Milliseconds of fn(): about `warmup` ms of calls that do not count, then about `rep` ms that do, with what
    empties the L2 before each."""
    if return_mode not in ("min", "max", "mean", "median", "all"):
        raise ValueError(f"return_mode is min, max, mean, median or all, not {return_mode!r}")
    cuda = _cuda()
    flush = sys.modules["torch"].empty(64 << 20, dtype=sys.modules["torch"].int32, device="cuda") if cuda else None

    def before():
        for x in grad_to_none or ():
            x.grad = None
        if flush is not None:
            flush.zero_()

    fn()  # compiles
    once = _round(fn, before)
    _times(fn, max(1, int(warmup / once)), before)
    return _summary(_times(fn, max(1, int(rep / once)), before), quantiles, return_mode)


def do_bench_cudagraph(fn, rep=20, grad_to_none=None, quantiles=None, return_mode="mean"):
    return do_bench(fn, rep, rep, grad_to_none, quantiles, return_mode)


def assert_close(x, y, atol=None, rtol=None, err_msg=""):
    import numpy as np
    x, y = (np.asarray(v.float().cpu() if hasattr(v, "cpu") else v) for v in (x, y))
    np.testing.assert_allclose(x, y, atol=1e-2 if atol is None else atol, rtol=0 if rtol is None else rtol,
                               err_msg=err_msg)


class Benchmark:
    """What perf_report varies, and how its plot looks."""

    def __init__(self, x_names, x_vals, line_arg, line_vals, line_names, plot_name, args, xlabel="", ylabel="",
                 x_log=False, y_log=False, styles=None):
        self.x_names, self.x_vals, self.line_arg, self.line_vals = x_names, x_vals, line_arg, line_vals
        self.line_names, self.plot_name, self.args, self.styles = line_names, plot_name, args, styles
        self.xlabel, self.ylabel, self.x_log, self.y_log = xlabel, ylabel, x_log, y_log


class Mark:
    """A function that is measured for each x and each line."""

    def __init__(self, fn, benchmarks):
        self.fn, self.benchmarks = fn, benchmarks

    def _rows(self, bench, named):
        for x in bench.x_vals:
            values = x if isinstance(x, (list, tuple)) else [x] * len(bench.x_names)
            xs, row = dict(zip(bench.x_names, values)), []
            for line in bench.line_vals:
                found = self.fn(**xs, **{bench.line_arg: line}, **bench.args, **named)
                row.append(found[0] if isinstance(found, (list, tuple)) else found)
            yield list(values) + row

    def run(self, show_plots=False, print_data=False, save_path="", return_df=False, **named):
        many = isinstance(self.benchmarks, (list, tuple))
        tables = []
        for bench in self.benchmarks if many else [self.benchmarks]:
            table = list(self._rows(bench, named))
            head = list(bench.x_names) + list(bench.line_names)
            tables.append(_frame(head, table) if return_df else None)
            if print_data:
                print(f"{bench.plot_name}:\n{_text(head, table)}")
            if save_path:
                os.makedirs(save_path, exist_ok=True)
                with open(os.path.join(save_path, f"{bench.plot_name}.csv"), "w", encoding="utf-8") as file:
                    file.writelines(",".join(map(str, row)) + "\n" for row in [head] + table)
            if show_plots or save_path:
                _plot(bench, table, show_plots, save_path)
        return (tables if many else tables[0]) if return_df else None


def perf_report(benchmarks):
    return lambda fn: Mark(fn, benchmarks)


def _text(head, table):
    rows = [head] + [[f"{v:.6f}" if isinstance(v, float) else str(v) for v in row] for row in table]
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    return "\n".join("  ".join(v.rjust(w) for v, w in zip(row, widths)) for row in rows)


def _frame(head, table):
    import pandas
    return pandas.DataFrame(table, columns=head)


def _plot(bench, table, shows, folder):
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        return
    plt.figure()
    for i, name in enumerate(bench.line_names):
        plt.plot([row[0] for row in table], [row[len(bench.x_names) + i] for row in table], label=name)
    plt.legend()
    plt.xlabel(bench.xlabel or bench.x_names[0])
    plt.ylabel(bench.ylabel)
    plt.xscale("log" if bench.x_log else "linear")
    plt.yscale("log" if bench.y_log else "linear")
    if folder:
        plt.savefig(os.path.join(folder, f"{bench.plot_name}.png"))
    if shows:
        plt.show()

"""work.py - child processes that run random kernels, so that a crash or a hang costs one kernel and not the run.

In: tasks: ("seed", seed, mode) or ("program", program, device). Out: per task a result, or what became of the child.
Method: a forked child loads libfsc itself and answers over a pipe; one that dies or is late is replaced.
"""
import collections
import multiprocessing
import os
import signal
import time
import traceback

from evaluate import Undefined
from nodes import walk_program

LATE = 30.0  # seconds for one task


class Missing(Exception):
    """A device that does not exist."""


def features(program):
    """How often each construct of the language occurs in a kernel."""
    count = collections.Counter()
    for n in walk_program(program):
        detail = n.a.get("op") or n.a.get("form") or ""
        if isinstance(detail, bool):
            detail = ""
        count[f"{n.kind} {detail}".strip()] += 1
        if n.dtype and n.kind != "ptr" and not n.dtype.startswith("ptr"):
            count["type " + n.dtype] += 1
    count[f"warps {program.num_warps}"] += 1
    count[f"blocks {program.num_ctas}"] += 1
    count["functions"] += len(program.functions)
    return count


def run_seed(seed, mode, devices, opened):
    from execute import Outcome, execute
    from generate import made
    try:
        program, expected = made(seed, mode)
    except Exception:
        return "generator", Outcome("generator", "", traceback.format_exc()), None
    count = features(program)
    for name in devices:
        outcome = execute(program, opened[name], expected)
        if "[E0902]" in outcome.text:  # a limit of the compiler's: more instructions than one thread's code may have
            count["too long for a thread"] += 1
        elif outcome.kind != "ok":
            return name, outcome, count
    return None, None, count


def answer(task, devices, opened):
    from execute import Outcome, execute
    if task[0] == "seed":
        return run_seed(task[1], task[2], devices, opened)
    try:
        return execute(task[1], opened[task[2]])
    except Undefined:
        return Outcome("undefined")
    except Exception:
        return Outcome("undefined", "", traceback.format_exc())


def opening(fsc, name):
    plain = name.removesuffix(":check").removesuffix(":plain")
    return fsc.Device(plain,
                      checks=name.endswith(":check") or (plain.startswith("emu") and not name.endswith(":plain")))


def child(pipe, devices, quiet, opt):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if quiet:  # a child that dies says so on its own stderr; the parent reports it
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    from execute import fsc
    if opt is not None:
        fsc.Jit.defaults["opt_level"] = opt
    try:
        opened = {name: opening(fsc, name) for name in devices}
    except fsc.Error as e:
        pipe.send(str(e))
        return
    pipe.send(None)
    while True:
        try:
            task = pipe.recv()
        except EOFError:
            return
        pipe.send(answer(task, devices, opened))


class Worker:
    def __init__(self, devices, quiet=False, opt=None):
        self.devices, self.quiet, self.opt, self.task = devices, quiet, opt, None
        self.start()

    def start(self):
        context = multiprocessing.get_context("fork")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=child, args=(theirs, self.devices, self.quiet, self.opt), daemon=True)
        self.process.start()
        theirs.close()
        error = self.pipe.recv()
        if error is not None:
            raise Missing(error)

    def submit(self, task):
        self.task, self.since = task, time.monotonic()
        self.pipe.send(task)

    def late(self):
        return self.task is not None and time.monotonic() - self.since > LATE

    def result(self):
        """The answer; an Outcome "crash" or "hang" if there is none."""
        from execute import Outcome
        hang = self.late() and not self.pipe.poll()  # who was busy elsewhere asks late for what came in time
        try:
            if not hang:
                got, self.task = self.pipe.recv(), None
                return got
        except (EOFError, ConnectionError):
            pass
        self.process.kill()
        self.process.join()
        code = self.process.exitcode
        outcome = Outcome("hang", "", f"no answer in {LATE:g} s") if hang else Outcome("crash", f"{code}",
                                                                                       f"the process ended with {code}")
        task, self.task = self.task, None
        self.start()
        return (self.devices[-1], outcome, None) if task[0] == "seed" else outcome

    def ask(self, task):
        self.submit(task)
        self.pipe.poll(LATE + 0.1)
        return self.result()

    def close(self):
        """The end of the child, which waits for a task: it would never see the pipe's end, as each child has inherited
        the ends of those before it."""
        self.process.kill()
        self.process.join()
        self.pipe.close()

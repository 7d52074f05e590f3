"""objects.py - shared objects of the peers that are sources: made once, named by what they were made of.

In: a source of this folder, the compiler and its flags. Out: the object's path. pack.sh makes some ahead, for a machine
whose time is dear; others lie in the temporary folder.
"""
import hashlib
import os
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
READY = os.path.join(HERE, "built")  # what pack.sh brings
MOST_SECONDS = 300


class NoCompiler(Exception):
    pass


def temporary():
    return os.path.join(tempfile.gettempdir(), f"fsc-bench-{os.getuid()}")


def build(source, find_compiler, flags, tag, folder):
    """The shared object of a source, from READY or the folder, or made there. tag: what else it depends on, a word.
    find_compiler: its path, or NoCompiler."""
    with open(os.path.join(HERE, source), "rb") as f:
        key = hashlib.sha256(f.read() + repr((flags, tag)).encode()).hexdigest()[:16]
    name = f"{os.path.splitext(source)[0]}-{tag}-{key}.so"
    for place in (READY, folder):
        if os.path.exists(os.path.join(place, name)):
            return os.path.join(place, name)
    os.makedirs(folder, exist_ok=True)
    compiler, part = find_compiler(), os.path.join(folder, f"{os.getpid()}-{name}")
    done = subprocess.run([compiler, *flags, "-o", part, os.path.join(HERE, source)], capture_output=True, text=True,
                          timeout=MOST_SECONDS)
    if done.returncode:
        said = (done.stderr or done.stdout).strip()[:300]
        raise NoCompiler(f"{os.path.basename(compiler)} does not compile {source}: {said}")
    os.replace(part, os.path.join(folder, name))
    return os.path.join(folder, name)


def move(case, lib, *more):
    """A launch that moves what the kernel must move: as many matrices in and out, nothing else. more: what else
    move_READS_WRITES takes, asked for at each launch."""
    k = case.kernel
    start, (outs, ins) = getattr(lib, f"move_{k.reads}_{k.writes}"), case.moved()
    never = case.machine.array((4,), "i32")

    def launch(i):
        b = case.sets[i]
        to, source = [b[name].address for name in outs], [b[name].address for name in ins]
        error = start(*(to + [None, None])[:2], *(source + [None])[:2], b[ins[0]].bytes, never.address,
                      *(ask() for ask in more))
        if error:
            raise RuntimeError(f"{start.__name__} failed: error {error}")

    return launch

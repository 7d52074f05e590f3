#!/usr/bin/env python3
"""census.py - how many kernels of others compile: census.py FSC NAME=FOLDER … [--arch sm_80] [--list]

In: the tool; folders of Python files with functions under `@triton.jit`. Out: a table (project, kernels, how many
compile, those with `dot`, the slowest, internal errors) and the reasons of the refusals, the commonest first; with
--list each kernel that was refused, and how it was called. Exit status 1 where a compile ended other than with code
or errors.
Method: a kernel is a function under `triton.jit`, gives no value, and is called by no other such function of its
folder. What its arguments are is read from launches in the same files, else guessed (guess.py); where the compiler
refuses a guess, it is mended by what the message says, some times, then by trying what else each parameter of the
refused statement may be: what goes further is kept. The files are read where they lie; nothing of them is kept.
"""
import argparse
import ast
import collections
import concurrent.futures
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from guess import Kernel, Launches, is_jit, name_of, own_nodes  # noqa: E402

LIMIT = 60
ROUNDS = 16
TRIES = 200


def errors_of(text):
    return re.findall(r"^(.*?):(\d+):(\d+): error: (.*)$", text, re.M) or [("", 0, 0, t) for t in
                                                                        re.findall(r"error: (.*)$", text, re.M)]


def compile_one(o, kernel):
    """(exit status, what was said, seconds of the processor)"""
    folder = o.folders[kernel.project]
    command = ["timeout", str(LIMIT), o.fsc, kernel.path, "--kernel", kernel.node.name, "--arch=" + o.arch,
               "-I", folder, *kernel.words(), "-o", os.devnull]
    p = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                         env={**os.environ, "FSC_CACHE_DIR": "off"})
    said = p.stdout.read()
    _, status, used = os.wait4(p.pid, 0)
    p.returncode = os.waitstatus_to_exitcode(status)
    return p.returncode, said, used.ru_utime + used.ru_stime


def judge(o, kernel):
    """The kernel with the guess that went furthest: {status, message, seconds, words}"""
    kernel.first_guess()
    best, tries = None, 0
    for _ in range(ROUNDS):
        status, said, seconds = compile_one(o, kernel)
        best = outcome(kernel, status, said, seconds)
        while status == 1 and not kernel.mend(said) and tries < TRIES:
            further, tries = step(o, kernel, said, tries)
            if not further:
                return best
            best, said = further
            status = best["status"]
        if status != 1:
            break
    return best


def outcome(kernel, status, said, seconds):
    found = errors_of(said)
    return dict(project=kernel.project, file=kernel.path, kernel=kernel.node.name, dot=kernel.has_dot, status=status,
                seconds=seconds, words=kernel.words(), message=found[0][3] if found else said[-300:],
                line=int(found[0][1]) if found else 0, said=said[:3000])


def step(o, kernel, said, tries):
    """(the first change of one parameter that goes further: what came out, what was said; or None, tries so far)"""
    here = (kernel.place(said), -len(errors_of(said)))
    for name in kernel.reasons(said):
        before = kernel.given[name]
        for value in kernel.others(name, said):
            kernel.given[name] = value
            status, now, seconds = compile_one(o, kernel)
            tries += 1
            if status != 1 or (kernel.place(now), -len(errors_of(now))) > here:
                return (outcome(kernel, status, now, seconds), now), tries
            if tries >= TRIES:
                break
        kernel.given[name] = before
        if tries >= TRIES:
            break
    return None, tries


def kernels_of(project, folder):
    files, called, functions, trees, launches = {}, set(), {}, [], Launches()
    for path, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            if not name.endswith(".py"):
                continue
            path_of = os.path.join(path, name)
            with open(path_of, encoding="utf-8", errors="replace") as f:
                text = f.read()
            if "jit" not in text:
                continue
            try:
                tree = ast.parse(text)
            except SyntaxError:
                continue
            trees.append(tree)
            found = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and any(map(is_jit, n.decorator_list))]
            if found and "triton" in text:
                files[path_of] = found
                functions.update({f.name: f for f in found})
    for found in files.values():
        for f in found:
            called |= {name_of(n) for n in own_nodes(f) if isinstance(n, ast.Call)}
            for n in own_nodes(f):  # combine functions of reduce and scans
                if isinstance(n, ast.Call) and name_of(n) in ("reduce", "associative_scan", "map_elementwise"):
                    called |= {x.id for x in n.args if isinstance(x, ast.Name)}
    for tree in trees:
        launches.read(tree, functions)
    for path, found in files.items():
        own = {f.name: f for f in found}
        for f in {f.name: f for f in found}.values():  # of several definitions the last one counts
            gives = any(isinstance(n, ast.Return) and n.value is not None for n in own_nodes(f))
            touches = any(isinstance(n, ast.Call) for n in own_nodes(f))
            if not gives and touches and f.name not in called:
                yield Kernel(project, path, f, {**functions, **own}, launches.values[f.name])


def shape_of(message):
    """A message without the names and numbers of one kernel."""
    code = re.search(r"\[([EW]\d{4})\]", message)
    text = re.sub(r"'[^']*'", "'…'", message)
    text = re.sub(r"\d+", "N", re.sub(r"\[[EW]\d+\]", "", text)).strip()
    return (code.group(1) + " " if code else "") + text


def is_internal(result):
    """It ended other than with code, errors of the source (1), or of the guess's options (2)."""
    return result["status"] not in (0, 1, 2)


def table(results):
    head = ["project", "kernels", "compile", "with dot", "compile", "slowest, s", "internal errors"]
    rows = []
    for project in [*dict.fromkeys(r["project"] for r in results), "all"]:
        own = [r for r in results if project in (r["project"], "all")]
        dots = [r for r in own if r["dot"]]
        share = lambda rs: "%d %%" % (100 * sum(r["status"] == 0 for r in rs) // len(rs)) if rs else ""
        rows.append([project, str(len(own)), share(own), str(len(dots)), share(dots),
                     "%.1f" % max(r["seconds"] for r in own), str(sum(is_internal(r) for r in own))])
    return ["| " + " | ".join(r) + " |" for r in [head, ["---"] * len(head), *rows]]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("fsc")
    p.add_argument("folders", nargs="+", metavar="NAME=FOLDER")
    p.add_argument("--arch", default="sm_80")
    p.add_argument("--jobs", type=int, default=2)
    p.add_argument("--json")
    p.add_argument("--only", default="", help="kernels whose file or name has this word")
    p.add_argument("--skip", default="^$", help="a regular expression of paths that are left out")
    p.add_argument("--list", action="store_true")
    o = p.parse_args()
    o.folders = dict(w.split("=", 1) for w in o.folders)
    kernels = [k for name, folder in o.folders.items() for k in kernels_of(name, folder)
               if not re.search(o.skip, k.path) and o.only in k.path + ":" + k.node.name]
    with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
        results = list(pool.map(lambda k: judge(o, k), kernels))
    print("\n".join(table(results)))
    for dot in (True, False):
        reasons = collections.defaultdict(list)
        for r in results:
            if r["status"] and r["dot"] == dot:
                reasons["INTERNAL " + r["message"][-200:] if is_internal(r) else shape_of(r["message"])].append(r)
        print("\n%s `dot`: %d refused" % ("with" if dot else "without", sum(map(len, reasons.values()))))
        for reason, own in sorted(reasons.items(), key=lambda x: -len(x[1])):
            print("%5d  %s   (%s)" % (len(own), reason, own[0]["kernel"]))
    if o.list:
        for r in results:
            if r["status"]:
                print("%s:%d: %s: %s\n    %s" % (r["file"], r["line"], r["kernel"], r["message"], " ".join(r["words"])))
    if o.json:
        with open(o.json, "w", encoding="utf-8") as f:
            json.dump(results, f, indent=1)
    return 1 if any(map(is_internal, results)) else 0


if __name__ == "__main__":
    sys.exit(main())

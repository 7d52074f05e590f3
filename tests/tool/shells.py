# What zsh and fish offer, asked as somebody who types: commands, options, values, kernels of the file, words of commands.
# A shell that is not here is left out; bash is asked by completion.test.
# RUN: %python %s fsc %examples %t
import os
import pty
import re
import select
import shutil
import subprocess
import sys

WANTED = [  # what is typed; words that are offered, words that are not
    ("be", ["bench"], ["run"]),
    ("hel", ["help"], []),
    ("help pro", ["profile"], []),
    ("cache st", ["stat"], []),
    ("--emit=t", ["tile", "threads"], ["ptx"]),
    ("info --gpu=h", ["h100", "h200"], ["a100"]),
    ("--explain=E031", ["E0310", "E0319"], ["E0320"]),
    ("--print-after=li", ["licm"], ["fold"]),
    ("run gelu.dsl --kernel=g", ["gelu"], []),
    ("run ge", ["gelu.dsl"], []),
    ("devices --j", ["--json"], []),
]


def fish(tool, folder, line):
    script = f"fsc --completion=fish | source; complete -C'fsc {line}'"
    done = subprocess.run(["fish", "--no-config", "-c", script], cwd=folder, text=True, capture_output=True, timeout=60,
                          env={**os.environ, "PATH": os.path.dirname(tool) + ":" + os.environ["PATH"]})
    assert done.returncode == 0, (line, done.stderr)
    return [row.split("\t")[0] for row in done.stdout.splitlines()]


class Zsh:
    """A shell at a terminal: it lists or completes when it is sent a tab."""
    def __init__(self, tool, folder):
        with open(os.path.join(folder, "_fsc"), "w", encoding="utf-8") as out:
            subprocess.run([tool, "--completion=zsh"], stdout=out, check=True)
        pid, self.screen = pty.fork()
        if pid == 0:
            os.chdir(folder)
            os.environ.update(TERM="dumb", COLUMNS="200", PATH=os.path.dirname(tool) + ":" + os.environ["PATH"])
            os.execvp("zsh", ["zsh", "-f", "-i"])
        self.send("fpath=($PWD $fpath); autoload -U compinit; compinit -u -D; LISTMAX=0; PS1=TOL''D:\n", "TOLD:")

    def read(self, until):
        said = ""
        while until not in said and select.select([self.screen], [], [], 30)[0]:
            said += os.read(self.screen, 65536).decode(errors="replace")
        assert until in said, (until, said)
        return said

    def send(self, text, until):
        os.write(self.screen, text.encode())
        return self.read(until)

    def offers(self, line):
        os.write(self.screen, f"fsc {line}\t\t".encode())
        said = self.send("\x05 # e\x01", "# e")  # at the end of the line, so that its end is known
        self.send("\x15\n", "TOLD:")  # the line is cut: ^C means nothing to whose parent ignores it
        return re.split(r"[\s=]+", said)

    def close(self):
        os.write(self.screen, b"exit\n")
        os.close(self.screen)


def judge(shell, line, offered):
    _, there, absent = next(row for row in WANTED if row[0] == line)
    words = [re.split("=", word)[-1] for word in offered]
    assert all(w in words for w in there) and not any(w in words for w in absent), (shell, line, offered)


tool, examples, folder = (os.path.abspath(shutil.which(word) or word) for word in sys.argv[1:])
shutil.rmtree(folder, ignore_errors=True)
os.makedirs(folder)
shutil.copy(os.path.join(examples, "gelu.dsl"), folder)
shells = [name for name in ("fish", "zsh") if shutil.which(name)]
z = Zsh(tool, folder) if "zsh" in shells else None
for line, _, _ in WANTED:
    if "fish" in shells:
        judge("fish", line, fish(tool, folder, line))
    if z:
        judge("zsh", line, z.offers(line))
if z:
    z.close()
print("played: " + (", ".join(shells) or "none is here"))

"""`fsc explore` as a process: its address, requests by a raw socket, its events."""

import os
import re
import signal
import socket
import subprocess
import time

HELPER = """@jit
def twice(a):
    return a * 2
"""
KERNEL = """from helper import twice


@kernel(grid=(n,))
def k(y: *fp32[n, 64], x: *fp32[n, 64], n: i32):
    at = program_id(0) * 64 + arange(0, 64)
    store(y + at, twice(load(x + at)))

# test: x=random:0:fp32[2,64] --num-warps=2
"""
WAIT = 60


def write(folder, name, text):
    """As an editor that puts a new file in the place of the old one."""
    with open(os.path.join(folder, name + ".new"), "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(os.path.join(folder, name + ".new"), os.path.join(folder, name))


class Explored:
    def __init__(self, tool, folder, *words):
        # as a shell starts it: whoever runs the tests may ignore SIGINT, and what is ignored stays so
        self.process = subprocess.Popen([tool, "explore", *words], cwd=folder, text=True, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE,
                                        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        self.url = self.process.stdout.readline().strip()
        found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)(/[0-9a-f]{32}/)", self.url)
        assert found, (self.url, self.process.stderr.read() if self.process.poll() is not None else "")
        self.port, self.path = int(found.group(1)), found.group(2)

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=WAIT)

    def raw(self, request):
        """The status, headers and body that come back."""
        with self.connect() as s:
            s.sendall(request)
            answer = b""
            while part := s.recv(65536):
                answer += part
        head, _, body = answer.partition(b"\r\n\r\n")
        return int(head.split()[1]), head.decode(), body.decode()

    def get(self, path=None, host=None, method="GET", more=""):
        name = f"127.0.0.1:{self.port}" if host is None else host
        return self.raw(f"{method} {path or self.path} HTTP/1.1\r\nHost: {name}\r\n{more}\r\n".encode())

    def page(self):
        status, _, body = self.get()
        assert status == 200, status
        return body

    def listen(self):
        """The lines of its events."""
        s = self.connect()
        s.sendall(f"GET {self.path}events HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        return s.makefile("r", encoding="utf-8")

    def until(self, number, events):
        """Page `number` is there."""
        end = time.time() + WAIT
        for line in events:
            assert time.time() < end, "no event"
            if line.startswith("data: ") and int(line[6:]) >= number:
                if not self.named:
                    return
            self.named = line.startswith("event: ")
        raise AssertionError("the events ended")

    named = False

    def end(self, number=signal.SIGINT):
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=WAIT)
        return self.process.returncode, out, err

# `fsc explore`: a page of this machine alone, made anew when a file or what it imports changes; errors are pages; signals
# end it. By a raw socket, as a browser would and as one that means ill.
# RUN: %python %s fsc
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs"))
from explored import HELPER, KERNEL, WAIT, Explored, write  # noqa: E402

TOOL = os.path.abspath(sys.argv[1]) if os.sep in sys.argv[1] else sys.argv[1]


def serves(e):
    events = e.listen()
    e.until(1, events)
    status, head, body = e.get()
    assert status == 200 and '"live": 1' in body and '"version": 2' in body and "twice(load" in body
    assert "Content-Security-Policy: default-src 'none'" in head and "Cache-Control: no-store" in head, head
    assert e.get(method="HEAD")[2] == "" and f"Content-Length: {len(body.encode())}" in e.get(method="HEAD")[1]
    assert e.get("/favicon.ico")[0] == 204  # or a browser would complain
    assert e.get(host="localhost:1")[0] == 200 and e.get(host="LOCALHOST")[0] == 200  # behind a tunnel
    assert e.get(e.path + "?x=1")[0] == 200
    return events


def refuses(e):
    for host in ("evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80", "127.0.0.1:", "127.0.0.1:8x", "",
                 "evil.example:127", f"[::1]:{e.port}"):
        assert e.get(host=host)[0] == 403, host
    assert e.raw(f"GET {e.path} HTTP/1.1\r\n\r\n".encode())[0] == 403
    assert e.get(more="Host: evil.example\r\n")[0] == 403  # two of them
    for path in ("/", "/events", "//", e.path[:-1], e.path + "x", e.path + "../", "/" + "0" * 32 + "/",
                 e.path.upper() if e.path.upper() != e.path else "/x", e.path + "events/", "http://127.0.0.1" + e.path):
        assert e.get(path)[0] == 404, path
    assert e.get(method="POST")[0] == 405 and e.get(method="OPTIONS")[0] == 405
    assert e.raw(b"\r\n\r\n")[0] == 403 and e.raw(b"GET\r\nHost: localhost\r\n\r\n")[0] == 405
    assert e.raw(b"GET / HTTP/1.1\r\nX: \0\r\n\r\n")[0] == 400
    assert e.raw(b"GET / HTTP/1.1\r\nX: " + b"x" * 9000)[0] == 431
    with socket.socket() as s:
        assert s.connect_ex(("127.0.0.2", e.port)) != 0, "it listens on more than 127.0.0.1"


def holds_many(e):
    """Half of a request and more connections than it has room for keep nobody else away for long."""
    idle = [e.connect() for _ in range(20)]
    for s in idle:
        s.sendall(b"GET / HT")
    assert e.get()[0] == 200
    for s in idle:
        s.close()


def follows(e, folder, events):
    """Each change is a page; what does not compile is one that says why."""
    write(folder, "k.dsl", KERNEL.replace("twice(load", "twise(load"))
    e.until(2, events)
    body = e.page()
    assert "unknown name &#39;twise&#39;" in body or "unknown name 'twise'" in body, body[-1500:]
    assert "listenToServer(2" in body and "k.dsl:7:" in body and "^~~~" in body and "<script>alert" not in body
    write(folder, "k.dsl", KERNEL.replace("twice(load", "<script>alert(1)</script>(load"))
    e.until(3, events)
    assert "<script>alert" not in e.page() and "&#60;script&#62;alert" in e.page()
    write(folder, "k.dsl", KERNEL)
    e.until(4, events)
    assert '"live": 4' in e.page()
    write(folder, "helper.dsl", HELPER.replace("* 2", "* 3"))  # what it imports
    e.until(5, events)
    assert '"live": 5' in e.page()
    os.remove(os.path.join(folder, "k.dsl"))
    e.until(6, events)
    assert "k.dsl" in e.page() and '"live": ' not in e.page()
    with open(os.path.join(folder, "k.dsl"), "w", encoding="utf-8") as file:
        file.write(KERNEL)
    e.until(7, events)
    assert '"live": 7' in e.page() and "--num-warps" in e.page()


def main():
    with tempfile.TemporaryDirectory() as folder:
        write(folder, "k.dsl", KERNEL)
        write(folder, "helper.dsl", HELPER)
        e = Explored(TOOL, folder, "k.dsl")
        events = serves(e)
        refuses(e)
        holds_many(e)
        follows(e, folder, events)
        taken = subprocess.run([TOOL, "explore", "k.dsl", f"--port={e.port}"], cwd=folder, text=True, timeout=WAIT,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        assert taken.returncode == 3 and f"port {e.port} is taken" in taken.stderr, taken
        code, out, err = e.end()
        assert (code, out) == (0, "") and "twise" in err, (code, out, err)
        assert "event: end" in events.read()
        again = Explored(TOOL, folder, "k.dsl", f"--port={e.port}", "--num-warps=1")  # while it compiles
        assert again.port == e.port and again.path != e.path
        assert re.search(r"k\.dsl <small>is compiled</small>|\"live\": 1", again.page())
        start = time.time()
        assert again.end(signal.SIGTERM)[0] == 0 and time.time() - start < 20
        for words, status in ((["none.dsl"], 1), ([], 2), (["-"], 2), (["k.dsl", "--port=70000"], 2)):
            done = subprocess.run([TOOL, "explore", *words], cwd=folder, timeout=WAIT, stderr=subprocess.PIPE,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=False)
            assert done.returncode == status and not done.stdout and done.stderr, (words, done)


main()

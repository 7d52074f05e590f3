"""A child of fork() calls kernels, whatever other threads of its parent were doing."""
import os
import signal
import threading
import time
import unittest
import warnings

import fsc
import numpy as np
from fsc import _kernel

SOURCE = ("@kernel(grid=(1,))\ndef scale(y: *fp32[8], x: *fp32[8], by: fp32):\n    i = arange(0, 8)\n    store(y + i, "
          "load(x + i) * by)\n")


def child_status(work):
    """Of a child that does the work; one that hangs ends by a signal."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # newer Pythons warn of threads
        child = os.fork()
    if child == 0:
        signal.alarm(30)
        os._exit(0 if work() else 1)
    return os.waitpid(child, 0)[1]


def scales(by):
    x, y = np.arange(8, dtype=np.float32), np.zeros(8, np.float32)
    fsc.loads(SOURCE, device="cpu").scale(y, x, by)
    return np.array_equal(y, x * by)


class Fork(unittest.TestCase):
    def test_while_another_thread_makes_a_kernel(self):
        begun = threading.Event()

        def make():
            with _kernel._lock:  # as it is held while kernels are made
                begun.set()
                time.sleep(0.2)

        maker = threading.Thread(target=make)
        maker.start()
        begun.wait()
        status = child_status(lambda: scales(3))
        maker.join()
        self.assertEqual(status, 0)
        self.assertTrue(scales(4))


if __name__ == "__main__":
    unittest.main()

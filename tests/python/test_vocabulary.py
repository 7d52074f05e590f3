"""test_vocabulary.py - docs/examples/vocabulary/vocabulary.py in two processes, which meet through torch.distributed,
on the CPU. Without torch: one line, and exit code 3, which ctest takes as a skip.
"""
import importlib.util
import os
import subprocess
import sys

EXAMPLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "examples", "vocabulary",
                       "vocabulary.py")

if importlib.util.find_spec("torch") is None:
    print("skipped: torch is not there")
    sys.exit(3)
for sizes in (["61", "1003"], ["3", "2"], ["70", "50257", "2"]):
    done = subprocess.run([sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", EXAMPLE,
                           *sizes], env={**os.environ, "CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1"},
                          capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stdout + done.stderr
    assert all(f"process {rank} of 2 on cpu" in done.stdout for rank in range(2)), done.stdout

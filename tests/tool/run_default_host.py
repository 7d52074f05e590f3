# RUN: fsc run --device=cpu --kernel fill %s x=%t.npy:fp32[16] n=3 -D B=16 --grid=1
# RUN: %python -c "import numpy as np; y = np.load('%t.npy'); assert np.all(y == 6), y"
# RUN: not fsc run --device=cpu --kernel fill %s x=%t.npy:fp32[16] n=3 --grid=1 2>&1 \
# RUN:   | FileCheck --check-prefix=NEEDED %s
# RUN: exits 2 fsc run --device=cpu --kernel fill %s x=%t.npy:fp32[16] -D B=16 --grid=1 2>&1 \
# RUN:   | FileCheck --check-prefix=SCALAR %s
# RUN: fsc --kernel fill --signature "*fp32, fp32, 16" --emit=report %s -o - \
# RUN:   | FileCheck --check-prefix=REPORT --implicit-check-not "default=" %s
# A default that only the host knows is looked at where nothing replaces it.
import triton
import triton.language as tl


class Settings:
    BLOCK = 128


@triton.jit
# NEEDED: run_default_host.py:[[#@LINE+1]]:59: error: unknown name 'Settings' [E0201]
def fill(x, n: tl.float32 = Settings.N, B: tl.constexpr = Settings.BLOCK):
    # SCALAR: fsc run: scalar 'n' is missing; give n=NUMBER
    # REPORT: param scalar n fp32
    tl.store(x + tl.arange(0, B), n * 2)

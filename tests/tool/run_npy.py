# RUN: rm -rf %t && mkdir %t && %python %s %t
# RUN: exits 2 fsc run --device=cpu %examples/softmax.dsl x=%t/none.npy y=%t/y.npy 2>&1 \
# RUN:   | FileCheck --check-prefix=NONE %s
# RUN: exits 2 fsc run --device=cpu %examples/softmax.dsl x=%t/junk.npy y=%t/y.npy 2>&1 \
# RUN:   | FileCheck --check-prefix=JUNK %s
# RUN: exits 2 fsc run --device=cpu %examples/softmax.dsl x=%t/fortran.npy y=%t/y.npy 2>&1 \
# RUN:   | FileCheck --check-prefix=FORTRAN %s
# RUN: exits 2 fsc run --device=cpu %examples/softmax.dsl x=%t/complex.npy y=%t/y.npy 2>&1 \
# RUN:   | FileCheck --check-prefix=COMPLEX %s
# RUN: exits 2 fsc run --device=cpu %examples/softmax.dsl x=%t/short.npy y=%t/y.npy 2>&1 \
# RUN:   | FileCheck --check-prefix=SHORT %s
# RUN: fsc run --device=cpu --warmup 0 --repeat 1 -T T=fp16 %examples/softmax.dsl x=%t/half.npy y=%t/y.npy
# RUN: %python -c "import numpy, sys; y = numpy.load(sys.argv[1]); assert y.dtype == 'f2' and y.shape == (3, 5) and (abs(y - 0.2) < 2e-4).all()" %t/y.npy
# NONE: fsc run: cannot read '{{.*}}none.npy': No such file or directory; random:SEED:TYPE[SIZES] needs none
# JUNK: fsc run: cannot read '{{.*}}junk.npy': it is not a .npy file
# FORTRAN: it is in Fortran order; save numpy.ascontiguousarray(x)
# COMPLEX: its element type '<c8' is none that fsc knows
# SHORT: it is shorter than its header says
"""run_npy.py FOLDER: writes .npy files, most of them of a kind that fsc does not take."""

import os
import sys

import numpy as np

folder = sys.argv[1]
ones = np.ones((3, 5), np.float32)
np.save(os.path.join(folder, "fortran.npy"), np.asfortranarray(ones))
np.save(os.path.join(folder, "complex.npy"), ones.astype(np.complex64))
np.save(os.path.join(folder, "half.npy"), ones.astype(np.float16))
np.save(os.path.join(folder, "short.npy"), ones)
os.truncate(os.path.join(folder, "short.npy"), 150)
with open(os.path.join(folder, "junk.npy"), "w") as f:
    f.write("junk")

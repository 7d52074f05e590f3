# The case that reads it: ../../triton/imported.py
import triton
import triton.language as tl
import package.inner.ops
from package.inner import THREE, again, widened
from other.package import tl as language, gone

from . import inner
from .inner.ops import exp, host, unread, wrong

try:
    from package.fast import rsqrt
except ImportError:
    rsqrt = tl.sqrt

try:
    from .numbers import THREE as number
except ImportError:
    number = 5.0


@triton.jit
def found(x):
    v = tl.load(x)
    # FOUND: func @found
    # FOUND: [[V:%.*]] = load %x : bf16
    # FOUND: [[W:%.*]] = fpext [[V]] : fp32
    # FOUND: exp [[W]] : fp32
    language.store(x, exp(v))
    # FOUND: fpext
    # FOUND-NEXT: exp {{.*}} : fp32
    # FOUND-NEXT: const 3.0
    language.store(x, inner.widened(v) * THREE)
    # FOUND: fpext
    # FOUND-NEXT: exp {{.*}} : fp32
    # FOUND: sqrt
    # FOUND: const 3.0
    language.store(x, package.inner.ops.exp(v) + rsqrt(v.to(tl.float32)) + number)
    # FOUND: exp {{.*}} : fp32
    tl.store(x, widened(v))


@triton.jit
def missing(x):
    # MISSING: entry.py:[[#@LINE+2]]:17: error: 'gone' comes from other.package, which is not found [E0203]
    # MISSING: it is imported here; -I FOLDER says where that is, or copy its definition into this file
    tl.store(x, gone(tl.load(x)))
    # MISSING: entry.py:[[#@LINE+2]]:17: error: 'host' comes from .inner.ops, where no kernel code defines it [E0203]
    # MISSING: it is imported here; write its definition into this file, in kernel language
    tl.store(x, host(tl.load(x)))
    tl.store(x, inner.HIDDEN)
    # MISSING: entry.py:[[#@LINE+1]]:17: error: 'NOTHING' comes from {{.*}}package/inner/__init__.py, where no kernel code defines it [E0203]
    tl.store(x, inner.NOTHING)
    # MISSING: entry.py:[[#@LINE+1]]:17: error: 'circle' comes from .again, where no kernel code defines it [E0203]
    tl.store(x, again.circle(x))
    # MISSING: numbers.py:4:10: error: unknown name 'open'


@triton.jit
def mistaken(x):
    # MISTAKEN: ops.py:18:12: error: the module language has no 'softmaxx'; did you mean 'softmax'? [E0209]
    # MISTAKEN: in the call of 'wrong' from here
    tl.store(x, wrong(tl.load(x)))
    # MISTAKEN: ops.py:23:5: error: 'with' is not part of the kernel language [E0116]
    tl.store(x, unread(tl.load(x)))

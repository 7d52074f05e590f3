# RUN: fsc --emit=report --signature "*fp32, *fp32, i32, i32, 64" -D n=50 %s -o - 2>&1 \
# RUN:   | FileCheck --check-prefixes=WARN,ODD %s
# RUN: fsc --emit=report --signature "*fp32, None, i32, i32, 64" -D n=128 %s -o - 2>&1 \
# RUN:   | FileCheck --check-prefix=NONE %s
# RUN: fsc --emit=report --signature "*fp32, None, i32, i32, 64" -D n=128 -D ROWS=4 %s -o - 2>&1 \
# RUN:   | FileCheck --check-prefix=GIVEN %s
# The lambdas of @triton.heuristics become launch rules; an argument that is None is known when the kernel is compiled.
import triton
import triton.language as tl


def many(args):
    count = 3
    return count


def wide(args):
    """More than a page."""
    return args["BLOCK"] > 32


@triton.heuristics({
    'EVEN': lambda args: args['n'] % args['BLOCK'] == 0,
    'HAS_BIAS': lambda args: args['bias'] is not None,
    'ROWS': lambda nargs: max(1, triton.cdiv(2 * nargs['BLOCK'], 32)) if nargs['n'] > 64 else 1,
    'num_warps': lambda args: 4 if args['BLOCK'] >= 1024 else 1,
})
# WARN: warning: this heuristic is left out: it is no expression over the arguments [W0102]
# WARN: note: bind its value with -D LATER=VALUE
@triton.heuristics(values={'LATER': many, 'WIDE': wide})
@triton.jit
def k(x, bias, n, step, BLOCK: tl.constexpr, EVEN: tl.constexpr, HAS_BIAS: tl.constexpr, ROWS: tl.constexpr,
      WIDE: tl.constexpr, LATER: tl.constexpr = 3):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i) if EVEN else tl.load(x + i, mask=i < n)
    if HAS_BIAS:
        v += tl.load(bias)
    tl.store(x + i, v * ROWS)


# ODD: param pointer bias
# ODD: param constexpr EVEN int 0 rule "$2 $4 % 0 =="
# ODD: param constexpr HAS_BIAS int 1 rule "1"
# ODD: param constexpr ROWS int 1 rule
# ODD: param constexpr WIDE int 1 rule "$4 32 >"
# ODD: num_warps "$4 1024 >= 4 1 sel"
# NONE: param constexpr bias
# NONE: param constexpr EVEN int 1 rule
# NONE: param constexpr HAS_BIAS int 0 rule "0"
# NONE: param constexpr ROWS int 4 rule
# GIVEN: param constexpr ROWS int 4 option

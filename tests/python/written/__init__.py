"""written - a package as users of Triton write them: names in several files, under several names. test_triton.py runs
it with fsc.triton installed as triton."""
from .limits import SIZE as ROW_SIZE  # noqa: F401 - handed on
from .parts import scaled_add as handed_on  # noqa: F401

"""bounded.py SLACK SECONDS MEGABYTES CMD...: runs CMD; fails if it takes longer or its resident memory grows larger.

Otherwise ends with CMD's own exit code. Seconds are of the processor, so that a busy machine is no fault of CMD's; one
that waits for ever ends after twenty times as many by the clock. Memory is what the kernel reports as the peak of the
finished child.
SLACK multiplies both bounds: lit.cfg.py gives 1, and more where sanitizers slow the tool down.
"""

import resource
import subprocess
import sys

slack = float(sys.argv[1])
seconds, megabytes, command = slack * float(sys.argv[2]), slack * float(sys.argv[3]), sys.argv[4:]
try:
    code = subprocess.run(command, check=False, timeout=20 * seconds).returncode
except subprocess.TimeoutExpired:
    sys.exit("bounded: still running after %g s: %s" % (20 * seconds, " ".join(command)))
used = resource.getrusage(resource.RUSAGE_CHILDREN)
took, peak = used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
if took > seconds:
    sys.exit("bounded: %.1f s, more than %g s: %s" % (took, seconds, " ".join(command)))
if peak > megabytes:
    sys.exit("bounded: %.0f MB, more than %g MB: %s" % (peak, megabytes, " ".join(command)))
if code < 0:
    sys.exit("bounded: ended by signal %d: %s" % (-code, " ".join(command)))
sys.exit(code)

"""exits N CMD...: runs CMD; succeeds if its exit code is exactly N. A signal is never what was wanted."""

import subprocess
import sys

wanted, command = int(sys.argv[1]), sys.argv[2:]
got = subprocess.run(command, check=False).returncode
if got != wanted:
    sys.exit("exits: wanted exit code %d, got %d from: %s" % (wanted, got, " ".join(command)))

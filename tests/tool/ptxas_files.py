# What goes to ptxas and comes back leaves no file, also where a signal ends fsc meanwhile;
# it needs no folder for temporary files.
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s fsc %t %examples
import os
import signal
import subprocess
import sys

TOOL, FOLDER, EXAMPLES = sys.argv[1:4]
TEMPORARY, STAND_IN, STARTED = (os.path.join(FOLDER, name) for name in ("tmp", "ptxas", "started"))
CALL = [TOOL, os.path.join(EXAMPLES, "softmax.dsl"), "--emit=cubin", "-o", os.path.join(FOLDER, "out.cubin")]
os.mkdir(TEMPORARY)
with open(STAND_IN, "w", encoding="utf-8") as file:  # it says that it has read the PTX, and waits for its end
    file.write('#!/bin/sh\nwhile [ "$2" != -o ]; do shift; done\ngrep -c entry "$1" > %s.part\nmv %s.part %s\nexec '
               'sleep 60\n' % ((STARTED,) * 3))
os.chmod(STAND_IN, 0o755)
environment = dict(os.environ, FSC_PTXAS=STAND_IN, TMPDIR=TEMPORARY)
run = subprocess.Popen(CALL, env=environment, start_new_session=True)
while run.poll() is None and not os.path.exists(STARTED):
    pass
assert run.poll() is None
os.killpg(run.pid, signal.SIGTERM)
assert run.wait(60) == -signal.SIGTERM and os.listdir(TEMPORARY) == [], os.listdir(TEMPORARY)
with open(STARTED, encoding="utf-8") as file:
    assert int(file.read()) > 0

with open(STAND_IN, "w", encoding="utf-8") as file:  # it gives its PTX back
    file.write('#!/bin/sh\nwhile [ "$2" != -o ]; do shift; done\ncat "$1" > "$3"\n')
done = subprocess.run(CALL, env=dict(environment, TMPDIR="/nowhere"), capture_output=True, text=True, timeout=60)
assert done.returncode == 0, done
with open(os.path.join(FOLDER, "out.cubin"), encoding="utf-8") as file:
    assert ".visible .entry softmax" in file.read()

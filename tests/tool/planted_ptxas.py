# A ptxas that lies beside an unpacked archive is nobody's that fsc knows: it does not run. A toolkit of this machine,
# which comes first, is hidden from fsc where there is one.
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s fsc %t %examples
import os
import shutil
import subprocess
import sys

TOOL, FOLDER, EXAMPLES = sys.argv[1:4]
TOOLKIT = "/usr/local/cuda"
HIDE = ["unshare", "-rm", "sh", "-c", "mount -t tmpfs none " + TOOLKIT + ' && exec "$@"', "sh"]


def call(*words, env):
    hide = HIDE if os.path.exists(TOOLKIT) else []
    return subprocess.run([*hide, "/usr/bin/env", "PATH=/nowhere", *words], capture_output=True, text=True, timeout=120,
                          env=env)


base = {"PATH": "/usr/bin:/bin", "FSC_CACHE_DIR": "off"}
if os.path.exists(TOOLKIT) and call("/bin/true", env=base).returncode != 0:
    print("no namespaces here to hide the toolkit in")
    sys.exit(0)
os.makedirs(os.path.join(FOLDER, "unpacked", "bin"))
tool = shutil.copy(TOOL, os.path.join(FOLDER, "unpacked", "bin", "fsc"))
for place in ("unpacked/bin", "unpacked", "."):
    planted = os.path.join(FOLDER, place, "ptxas", "bin", "ptxas")
    os.makedirs(os.path.dirname(planted))
    with open(planted, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\n: > %s/it_ran\nexit 1\n" % FOLDER)
    os.chmod(planted, 0o755)
done = call(tool, os.path.join(EXAMPLES, "softmax.dsl"), "--emit=cubin", "-o", os.path.join(FOLDER, "out"), env=base)
assert done.returncode == 3 and "no ptxas found" in done.stderr, done
assert not os.path.exists(os.path.join(FOLDER, "it_ran"))
done = call(tool, os.path.join(EXAMPLES, "softmax.dsl"), "--emit=cubin", env=dict(base, FSC_PTXAS=planted))
# the plant works where it is asked for
assert done.returncode == 3 and os.path.exists(os.path.join(FOLDER, "it_ran")), done

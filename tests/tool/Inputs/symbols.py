# symbols.py OBJECT shows NAME...: the object defines these names for others, and no other one.
import subprocess
import sys

listed = subprocess.run(["nm", "--defined-only", "--extern-only", sys.argv[1]], check=True, text=True, stdout=subprocess.PIPE).stdout
shown = sorted(line.split()[-1] for line in listed.splitlines())
wanted = sorted(sys.argv[3:])
sys.exit(0 if shown == wanted else "shown %s, wanted %s" % (shown, wanted))

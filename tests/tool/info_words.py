# A constexpr that is a text, None or a function is shown as what it is, in the table, in JSON and in a page.
# RUN: rm -rf %t.d && mkdir %t.d && cp %S/Inputs/words.dsl %t.d
# RUN: cd %t.d && fsc info words.dsl -D F=thrice | FileCheck --check-prefix=TEXT %s
# TEXT: MODE 'tf32' (default)
# TEXT: BIAS None (default)
# TEXT: F thrice (-D)
# RUN: cd %t.d && fsc info words.dsl -D MODE=ieee --json | FileCheck --check-prefix=JSON %s
# JSON: "constexpr": {"MODE": "'ieee'", "BIAS": "None", "F": "twice"}
# A word that names a constexpr is -D, and a launch is assumed all the same.
# RUN: fsc info %examples/softmax.dsl n_rows=4 n_cols=100 BLOCK=256 | FileCheck --check-prefix=WORD %s
# WORD: BLOCK {{ *}}256 (-D)
# WORD: load {{.*}} 16 bytes of fp32, x
# RUN: cd %t.d && fsc run words.dsl 'x=random:0:fp32[64]' y=y.npy --device=cpu --repeat=1
# RUN: cd %t.d && fsc viz words.dsl 'x=random:0:fp32[64]' y=y.npy -D MODE=ieee -o page.html && %python %s page.html
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs"))
from vizfacts import Page  # noqa: E402

(run,) = Page(sys.argv[1]).runs
shown = {p["name"]: p["value"] for p in run["params"] if p["kind"] == "constexpr"}
assert shown == {"MODE": "'ieee'", "BIAS": "None", "F": "twice"}, shown

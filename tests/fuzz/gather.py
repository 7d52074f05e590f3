#!/usr/bin/env python3
"""gather.py OUT FOLDER...: copies every text file under the folders into OUT, named by its contents, each content once."""

import hashlib
import os
import sys

LARGEST = 8192  # what the fuzzers read at most; a longer file is cut by them anyway

out = sys.argv[1]
os.makedirs(out, exist_ok=True)
for folder in sys.argv[2:]:
    for here, _, names in os.walk(folder):
        for name in sorted(names):
            with open(os.path.join(here, name), "rb") as file:
                data = file.read()
            if 0 < len(data) <= LARGEST:
                with open(os.path.join(out, hashlib.sha1(data).hexdigest()), "wb") as file:
                    file.write(data)
print("%s: %d files" % (out, len(os.listdir(out))))

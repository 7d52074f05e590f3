#!/usr/bin/env python3
"""gather.py OUT PLACE...: every file under the places as a file of OUT, named by its contents, each content once.

A file NAME.seeds holds many small ones, with lines of dashes between them.
`gather.py --join NAME.seeds FILE...` adds to it.
"""

import hashlib
import os
import shutil
import sys

LARGEST = 8192  # what the fuzzers read of a file at most
BETWEEN = b"-" * 60 + b"\n"


def contents(path):
    with open(path, "rb") as file:
        data = file.read()
    return data.split(BETWEEN) if path.endswith(".seeds") else [data]


def files(place):
    if os.path.isfile(place):
        return [place]
    return sorted(os.path.join(here, name) for here, _, names in os.walk(place) for name in names)


def join(target, paths):
    all_of_them = contents(target) if os.path.exists(target) else []
    for path in paths:
        data = contents(path)[0]
        all_of_them.append(data if data.endswith(b"\n") else data + b"\n")
    with open(target, "wb") as file:
        file.write(BETWEEN.join(sorted(set(all_of_them), key=lambda data: (len(data), data))))
    return len(set(all_of_them))


def gather(out, places):
    shutil.rmtree(out, ignore_errors=True)
    os.makedirs(out)
    for place in places:
        for path in files(place):
            for data in contents(path):
                if 0 < len(data) <= LARGEST:
                    with open(os.path.join(out, hashlib.sha1(data).hexdigest()), "wb") as file:
                        file.write(data)
    return len(os.listdir(out))


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    count = join(sys.argv[2], sys.argv[3:]) if sys.argv[1] == "--join" else gather(sys.argv[1], sys.argv[2:])
    print("%s: %d" % (sys.argv[2] if sys.argv[1] == "--join" else sys.argv[1], count))

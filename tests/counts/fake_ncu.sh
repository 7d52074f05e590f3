#!/bin/sh
# In ncu's place: notes its words in $FAKE_NCU and prints the page there.
printf '%s\n' "$@" >"$FAKE_NCU/words"
cat "$FAKE_NCU/page.csv"

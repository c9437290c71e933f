#!/bin/sh
# patch.sh TABLE ROWS VECTORS OUTPUT: OUTPUT is TABLE with ROWS replaced by VECTORS, verified.
set -eu
table=$1 rows=$2 vectors=$3 output=$4

gscli scatter-update "$table" "$rows" "$vectors" 0 -q -o "$output"

# The new rows are the vectors.
wanted=$(gscli show "$vectors" --json)
found=$(gscli gather "$output" "$rows" -f npy | gscli show - --json)
test "$found" = "$wanted"

# Scattering the old rows back gives the old table: nothing else was changed.
gscli gather "$table" "$rows" -f npy |
  gscli scatter-update "$output" "$rows" - 0 -f npy |
  cmp - "$table"
echo "$output: rows verified"

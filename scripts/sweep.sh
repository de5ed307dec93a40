#!/usr/bin/env bash
# Compiles and assembles the families of kernels, dense and sparse, over kinds,
# type mixes, chips, tile widths and epilogues, and writes the table
# docs/sweep.md. Takes the options of scripts/sweep.py. Fails if a kernel does
# not compile, does not assemble or spills.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
table=$(mktemp)
trap 'rm -f "$table"' EXIT
status=0
python3 "$root/scripts/sweep.py" "$@" > "$table" || status=$?
# The last table stays where nothing came of the sweep.
[ -s "$table" ] || exit "$status"
{
  cat <<TEXT
# Sweep of the families of kernels

Made by \`scripts/sweep.sh${*:+ $*}\`: every kind, type mix, scale type and block
on every chip, dense and with a sparse A, K = 96 on sm_103a and sm_107a, K with
and without a tail, the epilogues in turn. With \`--reduced\` N is taken at its ends
and at odd steps, and the kernels of a type mix are shared out among the chips that
have it; without it at every step, on each chip. \`ptxas\` of CUDA assembles each
kernel; registers and spills are what it says.

TEXT
  cat "$table"
} > "$root/docs/sweep.md"
exit "$status"

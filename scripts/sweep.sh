#!/usr/bin/env bash
# Compiles the dense cta_group-1 family over kinds, type mixes, chips and tile
# widths, assembles every kernel, and prints a Markdown table of the results.
#
#   scripts/sweep.sh [--reduced] [PATH_OF_BLOCKSCALE] > docs/sweep.md
#
# --reduced takes N at its ends and one odd step only. Exits with 1 if a kernel
# does not compile.
set -euo pipefail

steps="8 16 24 32 40 64 96 104 128 160 192 200 224 248 256"
if [ "${1:-}" = "--reduced" ]; then
  steps="8 104 256"
  shift
fi
root=$(cd "$(dirname "$0")/.." && pwd)
blockscale=${1:-$root/build/bin/blockscale}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# write NAME TYPE_A SPEC_A TYPE_B SPEC_B CHIP TILE_N
write() {
  cat > "$work/in/$1.mlir" <<MLIR
!a = !blockscale.tensor<?x1024x$2, "$3", layout = tiled_128x4>
!b = !blockscale.tensor<$7x1024x$4, "$5", layout = tiled_128x4>
func.func @k(%a: !a, %b: !b) -> tensor<?x$7xbf16> {
  %d = blockscale.matmul %a, %b schedule(#blockscale.schedule<target = "$6", tile_n = $7, swap_operands = false>) : !a, !b -> tensor<?x$7xbf16>
  return %d : tensor<?x$7xbf16>
}
MLIR
}

echo "# Sweep of the dense cta_group-1 family"
echo
echo "Made by \`scripts/sweep.sh\`. N in $(echo $steps | tr ' ' ',')."
echo
echo "| chip | A | B | scales | compiled and assembled | failed |"
echo "|---|---|---|---|---|---|"
narrow="f8E4M3FN f8E5M2 f6E3M2FN f6E2M3FN f4E2M1FN"
failures=0

# sweep CHIP TYPE_A TYPE_B SPEC
sweep() {
  rm -rf "$work/in" "$work/out"
  mkdir -p "$work/in" "$work/out"
  for n in $steps; do
    write "n$n" "$2" "$4" "$3" "$4" "$1" "$n"
  done
  "$blockscale" compile --target="$1" -o "$work/out" "$work"/in/*.mlir \
    2>> "$work/errors" || true
  local done_ok all
  done_ok=$(find "$work/out" -name '*.cubin' | wc -l)
  all=$(echo "$steps" | wc -w)
  failures=$((failures + all - done_ok))
  echo "| $1 | $2 | $3 | \`$4\` | $done_ok | $((all - done_ok)) |"
}

for chip in sm_100a sm_103a sm_110a; do
  for a in $narrow; do
    for b in $narrow; do
      sweep "$chip" "$a" "$b" e8m0_t32
    done
  done
  sweep "$chip" f4E2M1FN f4E2M1FN e8m0_t16
  sweep "$chip" f4E2M1FN f4E2M1FN e4m3fn_t16
  sweep "$chip" f4E2M1FN f4E2M1FN multi_float32_e4m3fn_t16
done
if [ "$failures" -gt 0 ]; then
  cat "$work/errors" >&2
  exit 1
fi

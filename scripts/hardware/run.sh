#!/bin/bash
# Everything that is checked on a card: run.sh BUNDLE OUT [SECONDS OF TIMES]
#
# BUNDLE is the folder of that name in what make.sh packs.
#
# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
bundle=$1 out=$2 seconds=${3:-35}
here=$(dirname "$bundle")
export PYTHONPATH=/tmp/blockscale-site PYTHONUNBUFFERED=1 CUDA_MODULE_LOADING=LAZY
mkdir -p "$out" "$PYTHONPATH"
exec > >(tee "$out/log.txt") 2>&1
python3 -m zipfile -e "$here"/*.whl "$PYTHONPATH"
nvidia-smi --query-gpu=name,driver_version,clocks.max.sm,clocks.sm,power.limit --format=csv
python3 -c 'import blockscale as bs; print(bs.devices())'
date +%T
timeout -k 5 $((seconds + 20)) python3 "$bundle/hardware_times.py" "$bundle" \
  --seconds="$seconds" --out="$out/times.jsonl"
date +%T

sanitize() {  # tool, folder, names...
  local tool=$1 folder=$2; shift 2
  { echo "== $tool $*"
    timeout -k 5 60 compute-sanitizer --tool "$tool" --print-limit 3 \
      python3 "$bundle/check.py" "$folder" --worker "$@" 2>&1 |
      grep -v '^========= *Host Frame\|^========= *in .*\.py' | cut -c1-400 | tail -n 200
  } > "/tmp/sanitizer-$tool-$(basename "$folder")-$1.txt"
}
timeout -k 5 60 python3 "$bundle/check.py" "$bundle" --jobs=8 --out="$out/results.jsonl"
date +%T
waited=()
read -ra selection < "$bundle/sanitized.txt"
for tool in memcheck racecheck synccheck initcheck; do
  for ((at = 0; at < ${#selection[@]}; at += 6)); do
    sanitize $tool "$bundle" "${selection[@]:at:6}" &
    waited+=($!)
  done
done
for mutant in "$bundle"/mutants/*.zip; do
  name=$(basename "$mutant" .zip)
  case $name in all_rows*|odd*) tool=memcheck ;; *) tool=racecheck ;; esac
  sanitize $tool "$bundle/mutants" "$name" &
  waited+=($!)
done
timeout -k 5 40 python3 "$bundle/check_runtime.py" "$bundle" "$here/libblockscale-runtime.so" \
  --only='^(product|prune|quantize(_both_ways)?_f8E4M3FN_(float|bfloat|e8m0_t32_bf16)|quantize_i8|dequantize.*(t32|t0|plain|t128_plain)_bf16)' \
  > "$out/runtime.jsonl" 2>&1
tail -1 "$out/runtime.jsonl"
date +%T
timeout -k 5 45 python3 "$bundle/check_order.py" "$bundle" > "$out/order.txt" 2>&1
cat "$out/order.txt"
for program in basics graphs links words green_contexts mapped; do
  argument=; [ $program = green_contexts ] && argument=$here/programs/sms.ptx
  echo "== $program"
  timeout -k 5 10 "$here/programs/$program" $argument 2>&1 | head -40
done > "$out/programs.txt"
grep -c ^line "$out/programs.txt"
timeout -k 5 60 "$here/programs/on_chip" > "$out/on_chip.txt" 2>&1
grep ^registers "$out/on_chip.txt"
"$here/launcher/launcher" "$here/launcher" && cmp "$here/launcher/d.bin" "$here/launcher/wanted.bin" &&
  echo "the launcher's result is that of the emulator"
date +%T
wait "${waited[@]}"
cat /tmp/sanitizer-*.txt > "$out/sanitizer.txt"
grep -h '^==\|ERROR SUMMARY\|RACECHECK SUMMARY' "$out/sanitizer.txt"
date +%T

#!/usr/bin/env bash
# Builds all fuzzers with AddressSanitizer and UBSan into build/sanitize and runs
# each for some seconds, as many at a time as there are cores.
# usage: scripts/fuzz.sh [--quick] SECONDS [FUZZER...]
#   --quick   the same inputs each time, so that nobody is stopped by luck; those
#             that need MLIR over the libraries of the ordinary build, which
#             exist: they then see crashes only, and do not learn which inputs
#             reach new code
#
#   ptx-fuzzer      the PTX parser
#   machine-fuzzer  kernels on the emulator
#   npy-fuzzer      array files
#   safetensors-fuzzer  checkpoints
#   plan-fuzzer     launch plans
#   pass-fuzzer     the MLIR parser, then each pass
#   capi-fuzzer     sequences of calls of the C interface
#   image-fuzzer    fat binaries and cubins
#   cuda-driver-fuzzer  sequences of calls of the CUDA driver
#
# What a run has learned stays in build/sanitize/corpus and is where the next one
# starts; an input that makes a program fail is left in build/sanitize/findings,
# and `build/sanitize/bin/FUZZER FILE` runs it again. Prints a line for each
# fuzzer and fails if one found something.
# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
enter_environment

all=(ptx-fuzzer machine-fuzzer npy-fuzzer safetensors-fuzzer plan-fuzzer
  pass-fuzzer capi-fuzzer image-fuzzer cuda-driver-fuzzer)
over_mlir= seed=0
if [ "${1:-}" = --quick ]; then
  over_mlir=" pass-fuzzer capi-fuzzer " seed=1
  shift
fi
seconds=${1:-}
[[ $seconds =~ ^[1-9][0-9]*$ ]] ||
  die "usage: scripts/fuzz.sh [--quick] SECONDS [FUZZER...]," \
      "one or more of: ${all[*]}"
shift
fuzzers=("$@")
[ $# -gt 0 ] || fuzzers=("${all[@]}")
for fuzzer in "${fuzzers[@]}"; do
  [[ " ${all[*]} " == *" $fuzzer "* ]] ||
    die "there is no fuzzer '$fuzzer'; one of: ${all[*]}"
done

# It writes the plans to start from.
[ -x "$build/bin/blockscale" ] ||
  "$root/scripts/build.sh" --without-tests blockscale
configure_sanitized address,undefined
instrumented=() ordinary=()
for fuzzer in "${fuzzers[@]}"; do
  if [[ $over_mlir == *" $fuzzer "* ]]; then
    ordinary+=("$fuzzer")
  else
    instrumented+=("$fuzzer")
  fi
done
[ ${#instrumented[@]} -eq 0 ] ||
  "$ninja" -C "$sanitized" "${instrumented[@]}" >&2
[ ${#ordinary[@]} -eq 0 ] || "$root/scripts/build.sh" "${ordinary[@]}"

# Each text between two lines of dashes is a module of its own.
seed_modules() {
  local file
  find "$root/test" "$root/examples" -name '*.mlir' | sort |
  while read -r file; do
    csplit -s -z -n 3 -f "$1/$(basename "$file" .mlir)." "$file" \
      '/^\/\/ -----/' '{*}'
  done
}

# first_inputs FUZZER FOLDER: inputs of the repository, to start from.
first_inputs() {
  case $1 in
    ptx-fuzzer | machine-fuzzer)
      find "$root/test" "$root/examples" -name '*.ptx' -exec cp -t "$2" {} + ;;
    safetensors-fuzzer)
      find "$root/test" -name '*.safetensors' -size -17k -exec cp -t "$2" {} + ;;
    plan-fuzzer)
      "$build/bin/blockscale" compile --no-cubin -o "$2" "$root"/examples/*.mlir
      find "$2" -type f ! -name '*.plan.json' -delete ;;
    pass-fuzzer) seed_modules "$2" ;;
  esac
}

# fuzz FUZZER: one line of the outcome.
fuzz() {
  local name=$1 corpus=$sanitized/corpus/$1 findings=$sanitized/findings/$1
  local seeds=$sanitized/seeds/$1 log=$sanitized/$1.log status=0 runs
  local program=$sanitized/bin/$name scratch=$sanitized/scratch/$1
  [[ $over_mlir != *" $name "* ]] || program=$build/bin/$name
  # A corpus that is new each time, too.
  [ "$seed" -eq 0 ] || corpus=$sanitized/quick-corpus/$1
  rm -rf "$seeds" "$scratch" "$sanitized/quick-corpus/$1"
  mkdir -p "$corpus" "$seeds" "$findings" "$scratch"
  first_inputs "$name" "$seeds"
  TMPDIR=$scratch "$program" -seed="$seed" -max_total_time="$seconds" \
    -timeout=60 -max_len=16384 -rss_limit_mb=4096 -print_final_stats=1 \
    -artifact_prefix="$findings/" "$corpus" "$seeds" > "$log" 2>&1 || status=$?
  rm -rf "$scratch"
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  if [ "$status" -eq 0 ] && [ "${runs:-0}" -gt 0 ]; then
    echo "$name: $runs inputs, nothing found"
  else
    echo "$name: failed, see $log"
    return 1
  fi
}

export -f fuzz first_inputs seed_modules
export root build sanitized over_mlir seed seconds ASAN_OPTIONS UBSAN_OPTIONS
status=0
printf '%s\n' "${fuzzers[@]}" |
  xargs -P "$(nproc)" -I{} bash -c 'set -euo pipefail; fuzz {}' || status=1
exit "$status"

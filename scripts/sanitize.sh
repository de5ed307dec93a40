#!/usr/bin/env bash
# Builds unit tests with sanitizers and runs them: with AddressSanitizer and UBSan
# (build/sanitize) those of everything, with ThreadSanitizer (build/sanitize-thread)
# those of libraries without MLIR that have threads of their own or that threads
# share: the emulator with its CUDA driver and runtime, checkpoints, the reference,
# the runtime of compiled functions; tests of the emulator's units start no thread and
# are left out there.
# usage: scripts/sanitize.sh [--quick] [address] [thread]     (default: both)
#   --quick   with both only those libraries, and not the tests that break thousands
#             of programs on purpose; with ThreadSanitizer not the long ones that
#             multiply in one CTA, which one thread runs
# libMLIR is not instrumented: a mistake inside of it is found only if our code
# meets its result. Prints a line for each sanitizer; fails if one reports.
# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
enter_environment

quick=
which=()
for argument in "$@"; do
  case $argument in
    --quick) quick=1 ;;
    address | thread) which+=("$argument") ;;
    *) die "unknown argument '$argument';" \
           "usage: scripts/sanitize.sh [--quick] [address] [thread]" ;;
  esac
done
[ ${#which[@]} -gt 0 ] || which=(address thread)
if [ -n "$quick" ]; then
  export GTEST_FILTER='-*Mutation*:*Mutant*'
  one_thread='*Wmma*:*Multiply*:Machine*Mma.*:MachineVideo.*'
fi

# run NAME SANITIZERS TARGET LABELS: builds the target, runs tests with labels.
run() {
  local name=$1 status=0
  configure_sanitized "$2"
  "$ninja" -C "$sanitized" "$3" >&2
  ctest --test-dir "$sanitized" -L "$4" -j "$(nproc)" --output-on-failure \
        --no-tests=error >&2 || status=1
  [ "$status" -eq 0 ] && echo "$name: nothing found" || echo "$name: failed"
  return "$status"
}

status=0
for sanitizer in "${which[@]}"; do
  case $sanitizer in
    address)
      target=unittests-all labels=all
      [ -z "$quick" ] || target=unittests-addresses labels=addresses
      run address address,undefined "$target" "$labels" || status=1 ;;
    thread)
      [ -z "$quick" ] || GTEST_FILTER+=:$one_thread
      run thread thread unittests-threads threads || status=1 ;;
  esac
done
exit "$status"

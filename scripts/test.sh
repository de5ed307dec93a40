#!/usr/bin/env bash
# Installs what is missing, builds everything and runs the whole test suite.
# usage: scripts/test.sh [--with-checks[=NAME,...]]
#   --with-checks   after it the checks of format and style, brief forms of the
#                   unit tests with sanitizers and each fuzzer for some seconds,
#                   each sanitizer and each fuzzer a test: format, tidy, sanitize,
#                   fuzz; all or those named
# CXX=g++ BLOCKSCALE_BUILD_DIR=build/gcc scripts/test.sh does it with GCC.
# What was left out because this machine lacks something is said by name; the last
# line is "N passed, N failed", counted in test cases of lit and
# GoogleTest. Fails if any test failed or if none ran.
# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

case "$*" in
  '') checks= ;;
  --with-checks) checks=format,tidy,sanitize,fuzz ;;
  --with-checks=*) checks=${1#--with-checks=} ;;
  *) die "unknown arguments '$*'; usage: scripts/test.sh" \
         "[--with-checks[=NAME,...]]" ;;
esac
for name in ${checks//,/ }; do
  case $name in
    format | tidy | sanitize | fuzz) ;;
    *) die "unknown check '$name'; there are format, tidy, sanitize, fuzz" ;;
  esac
done

"$root/scripts/install-dependencies.sh" --without-peers
# Most of their time is the network's, so that the build need not wait for them.
"$root/scripts/install-dependencies.sh" --peers >&2 &
peers=$!
enter_environment
find_ptxas >/dev/null ||
  die "the tests need ptxas of CUDA $ptxas_major or newer on PATH"
find_ptxas "$newest_ptxas" >/dev/null ||
  die "the tests need ptxas of CUDA $newest_ptxas or newer, too"
[ -n "${BLOCKSCALE_NO_NVCC:-}" ] || command -v nvcc >/dev/null ||
  die "the tests compile kernels with nvcc of CUDA $ptxas_major; put it on" \
      "PATH or set BLOCKSCALE_NO_NVCC=1 to leave those out"
for tool in FileCheck lit not; do
  command -v "$tool" >/dev/null ||
    die "the tests need '$tool' (package llvm-$llvm-tools)"
done

"$root/scripts/build.sh"
wait "$peers"

results=$build/test-results
rm -rf "$results"
mkdir -p "$results/gtest"
jobs=$(nproc)

# The counts below decide, so a failing runner must not end the script here.
GTEST_OUTPUT="json:$results/gtest/" \
  ctest --test-dir "$build" -j "$jobs" --output-on-failure \
        --output-junit "$results/ctest.xml" >&2 || true
if [ -f "$build/test/lit.site.cfg.py" ]; then
  # lit by name would run under the system's Python, which lacks numpy. What a
  # failed test has printed is shown, so that a log of CI says what is wrong.
  python3 "$(command -v lit)" -v -j "$jobs" -o "$results/lit.json" \
    "$build/test" >&2 || true
else
  say "error: $build/test has no lit configuration"
fi

# check NAME COMMAND...: one more test, for count_tests.py.
check() {
  local name=$1 result=failed
  shift
  say "check: $name"
  if "$@" >&2; then result=passed; fi
  echo "$name $result" >> "$results/checks.txt"
}
# check_each NAME COMMAND...: one for each line "PART: RESULT" that it prints.
check_each() {
  local name=$1 status=0 result line lines
  shift
  say "check: $name"
  lines=$("$@") || status=1
  while IFS= read -r line; do
    say "$line"
    result=failed
    [[ $line != *': '*'nothing found' ]] || result=passed
    [ $result = passed ] || status=0
    echo "${line%%:*} $result" >> "$results/checks.txt"
  done <<< "${lines:-$name: did not run}"
  # What failed without a line that says so.
  [ "$status" -eq 0 ] || echo "$name failed" >> "$results/checks.txt"
}
for name in ${checks//,/ }; do
  case $name in
    format) check format "$root/scripts/check-format.sh" ;;
    tidy) check tidy "$root/scripts/check-tidy.sh" ;;
    sanitize) check_each sanitize "$root/scripts/sanitize.sh" --quick ;;
    fuzz) check_each fuzz "$root/scripts/fuzz.sh" --quick 5 ;;
  esac
done

python3 "$root/scripts/count_tests.py" "$results"

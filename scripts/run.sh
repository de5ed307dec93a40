#!/usr/bin/env bash
# The main job: installs what is missing, builds the compiler (and no test),
# compiles every example and prints one table of the reports, runs a model of JAX
# on the emulator, telling how far it is and what each step took. Outputs go to
# build/examples/<name>.
# usage: scripts/run.sh [--target=CHIP]     (default sm_100a)
# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

target=sm_100a
for argument in "$@"; do
  case $argument in
    --target=*) target=${argument#--target=} ;;
    *) die "unknown argument '$argument'; usage: scripts/run.sh [--target=CHIP]" ;;
  esac
done

steps=4
step=0
# begin WHAT: the next of the steps.
begin() {
  step=$((step + 1))
  say "== step $step of $steps: $* (${SECONDS} s so far)"
}

begin "installing what is missing"
"$root/scripts/install-dependencies.sh" --without-tests
begin "building the compiler; ninja counts its files"
"$root/scripts/build.sh" --without-tests blockscale
enter_environment

driver=$build/bin/blockscale
[ -x "$driver" ] || die "the build made no $driver"
shopt -s nullglob
examples=("$root"/examples/*.mlir)
[ ${#examples[@]} -gt 0 ] || die "no examples in $root/examples"

begin "compiling ${#examples[@]} examples"
failed=0
outputs=()
for example in "${examples[@]}"; do
  name=$(basename "$example" .mlir)
  output=$build/examples/$name
  rm -rf "$output"
  mkdir -p "$output"
  if "$driver" compile "$example" --target="$target" -o "$output"; then
    outputs+=("$output")
  else
    say "failed: examples/$name.mlir"
    failed=$((failed + 1))
  fi
done

python3 "$root/scripts/report_table.py" "${outputs[@]}"

begin "a transformer block of JAX on the emulator, against the same without kernels"
model=$root/examples/model/fixtures/jax_block.mlir
"$driver" verify --import "$model" --target="$target" --data=exact ||
  die "the model's results are wrong"
say "== done in ${SECONDS} s; outputs are in $build/examples"
[ "$failed" -eq 0 ] || die "$failed of ${#examples[@]} examples did not compile"

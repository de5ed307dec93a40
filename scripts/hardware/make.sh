#!/bin/bash
# One file with everything that is checked on a Hopper card: make.sh FOLDER PYTHON WHEEL
#
# PYTHON has the package with its compiler; WHEEL is blockscale-emulator for the Python of
# the machine with the card (pip wheel ./python/emulator). Makes FOLDER/all.tar.xz.
#
# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
set -e
folder=$1 python=$2 wheel=$3
here=$(dirname "$0") build=${BLOCKSCALE_BUILD_DIR:-$(dirname "$0")/../../build}
program=$build/bin/blockscale driver=$build/lib/blockscale/libcuda.so.1
"$python" "$here/bundle.py" "$folder/bundle" --blockscale="$program"
"$python" "$here/mutants.py" "$folder/bundle"
"$python" "$here/timed.py" "$folder/bundle" --blockscale="$program" \
  --only='^(quantize_((turned|both)_)?(MXFP8|e4m3|int8)|dequantize_(MXFP8|e4m3|int8|ui)|sparsity|relayout|product)'
"$python" "$here/launcher.py" "$folder/launcher" "$driver" --blockscale="$program"
bash "$here/driver_programs.sh" "$folder/programs" "$driver"
nvcc -O2 -std=c++17 -gencode=arch=compute_90a,code=sm_90a -cudart static "$here/on_chip.cu" \
  -o "$folder/programs/on_chip"
cp "$wheel" "$here/run.sh" "$folder"
strip -o "$folder/libblockscale-runtime.so" "$build/lib/libblockscale-runtime.so"
cd "$folder"
tar -c --exclude=__pycache__ --exclude=source ./*.whl libblockscale-runtime.so run.sh bundle \
  programs launcher | xz -T0 > all.tar.xz

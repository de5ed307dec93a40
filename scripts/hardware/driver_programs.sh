#!/bin/bash
# Builds the programs that test the emulated driver for a card of another chip:
# driver_programs.sh FOLDER LIBCUDA [CHIP] [SMS]
#
# They ask the driver for modules, memory, graphs, streams and contexts, with the error
# codes of wrong uses. On NVIDIA's driver they say where the emulated one, which they all
# pass on, answers otherwise; they go on behind each such place.
#
# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
set -e
folder=$1 library=$2 chip=${3:-sm_90a} sms=${4:-132}
inputs=$(dirname "$0")/../../test/CudaDriver/Inputs
mkdir -p "$folder/source"
change="s/\"sm_100a\"), 7,/\"$chip\"), ${#chip},/; s/sm_100a/$chip/g; s/sm_103a/sm_100a/g; s/\b148\b/$sms/g"
for name in Check.h sms.ptx basics.cpp graphs.cpp mapped.cpp links.cpp words.cpp green_contexts.cpp; do
  sed "$change; s/std::exit(1)/std::fflush(stdout)/" "$inputs/$name" > "$folder/source/$name"
done
cp "$folder/source/sms.ptx" "$folder"
for name in basics graphs mapped links words green_contexts; do
  g++ -std=c++17 -O1 -s -isystem "${CUDA_HOME:-/usr/local/cuda}/include" \
    "$folder/source/$name.cpp" "$library" -o "$folder/$name"
done

#!/usr/bin/env bash
# Configures and builds into build/ (programs in build/bin).
# usage: scripts/build.sh [--without-tests] [ninja targets...]
#   --without-tests   leave them out, unless the folder has them already
# CXX=g++ builds with GCC 12; any other value is the path of a compiler.
# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
enter_environment

without_tests=
if [ "${1:-}" = --without-tests ]; then
  shift
  without_tests=1
fi
is_first=1
[ ! -f "$build/CMakeCache.txt" ] || is_first=

options=(-DPython3_EXECUTABLE="$build/venv/bin/python3")
# By their paths: another spelling of the same compiler would make CMake start
# again, with the compiler that it finds by itself.
if [ -n "${CXX:-}" ]; then
  options+=("-DCMAKE_CXX_COMPILER=$(command -v "$CXX")")
elif command -v "clang++-$llvm" >/dev/null; then
  options+=("-DCMAKE_C_COMPILER=$(command -v "clang-$llvm")"
            "-DCMAKE_CXX_COMPILER=$(command -v "clang++-$llvm")")
  mapfile -t -O "${#options[@]}" options < <(linker_options)
fi
if command -v ccache >/dev/null; then
  options+=(-DCMAKE_C_COMPILER_LAUNCHER=ccache
            -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
fi
# Configuring the tests needs ptxas; the compiler builds without it.
if [ -n "$without_tests" ]; then
  [ -z "$is_first" ] || options+=(-DBLOCKSCALE_ENABLE_TESTS=OFF)
elif ptxas=$(find_ptxas); then
  options+=(-DBLOCKSCALE_ENABLE_TESTS=ON "-DBLOCKSCALE_PTXAS=$ptxas")
  if newest=$(find_ptxas "$newest_ptxas"); then
    options+=("-DBLOCKSCALE_NEWEST_PTXAS=$newest")
  fi
else
  say "no usable ptxas: building without the tests"
  options+=(-DBLOCKSCALE_ENABLE_TESTS=OFF)
fi

# A first build, which compiles everything, reads the headers of others once.
if [ -n "$is_first" ] && [ -z "${CXX:-}" ]; then
  options+=(-DBLOCKSCALE_PRECOMPILED_HEADERS=ON)
fi

cmake -G Ninja -S "$root" -B "$build" -DCMAKE_MAKE_PROGRAM="$ninja" \
  "${options[@]}" >&2
"$ninja" -C "$build" "$@" >&2

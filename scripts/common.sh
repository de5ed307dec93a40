# Shared by the scripts in this folder; sourced, never run.
# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$(realpath -m "${BLOCKSCALE_BUILD_DIR:-$root/build}")
# Of the packages, and of the programs that carry it in their names.
llvm=22
llvm_bin=/usr/lib/llvm-$llvm/bin
# The first release that knows every chip we emit for, and the wheels with it:
# ptxas, and what nvcc and cuda.h need besides.
ptxas_major=13
ptxas_wheels=('nvidia-cuda-nvcc==13.0.88' 'nvidia-nvvm==13.0.*'
              'nvidia-cuda-crt==13.0.*' 'nvidia-cuda-runtime==13.0.*')
ptxas_wheel_dir=$build/tools/cuda
# The release that knows sm_107 and PTX 9.5, which stands beside an older one.
# Its wheel lies with the Python environment, which working trees share.
newest_ptxas=13.5
newest_ptxas_wheel="nvidia-cuda-nvcc==$newest_ptxas.*"
newest_ptxas_dir=$build/venv/share/ptxas-$newest_ptxas

say() { printf '%s\n' "$*" >&2; }
die() { say "error: $*"; exit 1; }

# ptxas_is_usable FILE RELEASE: it runs, and is of that release or a newer one.
ptxas_is_usable() {
  local release
  [ -x "$1" ] || return 1
  release=$("$1" --version 2>/dev/null |
    sed -n 's/.*release \([0-9]*\.[0-9]*\).*/\1/p')
  [ -n "$release" ] &&
    printf '%s\n' "$2" "$release" | sort -V -C
}

# find_ptxas [RELEASE]: prints the path of the first usable ptxas of RELEASE or
# newer; fails when there is none.
find_ptxas() {
  local candidate
  for candidate in "$(command -v ptxas || true)" \
                   "${CUDA_HOME:+$CUDA_HOME/bin/ptxas}" \
                   /usr/local/cuda/bin/ptxas \
                   "$ptxas_wheel_dir/nvidia/cu13/bin/ptxas" \
                   "$newest_ptxas_dir/nvidia/cu13/bin/ptxas"; do
    if [ -n "$candidate" ] &&
      ptxas_is_usable "$candidate" "${1:-$ptxas_major.0}"
    then
      printf '%s\n' "$candidate"
      return 0
    fi
  done
  return 1
}

# Puts LLVM's test tools, ptxas and the Python environment on PATH, says what ccache
# keeps, and sets `ninja`: the system's. pip may have put another version of it into the
# environment, and each of the two starts over what the other has built.
enter_environment() {
  local ptxas
  ninja=$(PATH=/usr/local/bin:/usr/bin:$PATH command -v ninja || true)
  [ -d "$llvm_bin" ] && PATH=$llvm_bin:$PATH
  [ -d "$build/venv/bin" ] && PATH=$build/venv/bin:$PATH
  if ptxas=$(find_ptxas); then
    PATH=$(dirname "$ptxas"):$PATH
  fi
  export PATH
  # ccache keeps precompiled headers, and what reads them, only if it may take them
  # by their text and not by their times.
  export CCACHE_SLOPPINESS=${CCACHE_SLOPPINESS:-pch_defines,time_macros}
}

# Options for cmake, a line each: lld where it is installed. With clang only.
linker_options() {
  local kind
  command -v "ld.lld-$llvm" >/dev/null || return 0
  for kind in EXE SHARED MODULE; do
    printf '%s\n' "-DCMAKE_${kind}_LINKER_FLAGS=-fuse-ld=lld"
  done
}

# configure_sanitized LIST: sets `sanitized` to the build folder of everything
# with these sanitizers and configures it; exports what they are to know.
configure_sanitized() {
  local ptxas newest options=()
  command -v "clang++-$llvm" >/dev/null ||
    die "the sanitizers are clang's: run scripts/install-dependencies.sh"
  sanitized=$build/sanitize
  [ "$1" = address,undefined ] || sanitized=$build/sanitize-${1//,/-}
  if command -v ccache >/dev/null; then
    options+=(-DCMAKE_C_COMPILER_LAUNCHER=ccache
              -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  fi
  if [ ! -f "$sanitized/CMakeCache.txt" ]; then
    options+=(-DBLOCKSCALE_PRECOMPILED_HEADERS=ON)
  fi
  ptxas=$(find_ptxas) || die "the tests need ptxas on PATH"
  newest=$(find_ptxas "$newest_ptxas") ||
    die "the tests need ptxas of CUDA $newest_ptxas:" \
        "run scripts/install-dependencies.sh"
  if [ "$1" = address,undefined ]; then
    options+=(-DBLOCKSCALE_ENABLE_FUZZERS=ON)
  fi
  mapfile -t -O "${#options[@]}" options < <(linker_options)
  cmake -G Ninja -S "$root" -B "$sanitized" "${options[@]}" \
    -DCMAKE_MAKE_PROGRAM="$ninja" \
    -DCMAKE_C_COMPILER="clang-$llvm" -DCMAKE_CXX_COMPILER="clang++-$llvm" \
    -DBLOCKSCALE_SANITIZERS="$1" -DBLOCKSCALE_PTXAS="$ptxas" \
    -DBLOCKSCALE_NEWEST_PTXAS="$newest" \
    -DPython3_EXECUTABLE="$build/venv/bin/python3" >&2
  # libMLIR is not instrumented: what its allocators take from pools that our
  # code made must not count as poisoned.
  export ASAN_OPTIONS=allow_user_poisoning=0:detect_leaks=1:strict_string_checks=1
  export UBSAN_OPTIONS=print_stacktrace=1
}

# Shared by the scripts in this folder; sourced, never run.
# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=${BLOCKSCALE_BUILD_DIR:-$root/build}
llvm_bin=/usr/lib/llvm-22/bin
# The first release that knows every chip we emit for, and the wheels with it:
# ptxas, and what nvcc and cuda.h need besides.
ptxas_major=13
ptxas_wheels=('nvidia-cuda-nvcc==13.0.88' 'nvidia-nvvm==13.0.*'
              'nvidia-cuda-crt==13.0.*' 'nvidia-cuda-runtime==13.0.*')
ptxas_wheel_dir=$build/tools/cuda

say() { printf '%s\n' "$*" >&2; }
die() { say "error: $*"; exit 1; }

# ptxas_is_usable FILE: it runs, and is new enough.
ptxas_is_usable() {
  local release
  [ -x "$1" ] || return 1
  release=$("$1" --version 2>/dev/null | sed -n 's/.*release \([0-9]*\)\..*/\1/p')
  [ -n "$release" ] && [ "$release" -ge "$ptxas_major" ]
}

# Prints the path of the first usable ptxas; fails when there is none.
find_ptxas() {
  local candidate
  for candidate in "$(command -v ptxas || true)" \
                   "${CUDA_HOME:+$CUDA_HOME/bin/ptxas}" \
                   /usr/local/cuda/bin/ptxas \
                   "$ptxas_wheel_dir/nvidia/cu13/bin/ptxas"; do
    if [ -n "$candidate" ] && ptxas_is_usable "$candidate"; then
      printf '%s\n' "$candidate"
      return 0
    fi
  done
  return 1
}

# Puts LLVM's test tools, ptxas and the Python environment on PATH.
enter_environment() {
  local ptxas
  [ -d "$llvm_bin" ] && PATH=$llvm_bin:$PATH
  [ -d "$build/venv/bin" ] && PATH=$build/venv/bin:$PATH
  if ptxas=$(find_ptxas); then
    PATH=$(dirname "$ptxas"):$PATH
  fi
  export PATH
}

#!/usr/bin/env bash
# Installs what building and testing need and this machine lacks. Safe to run
# again: what is there is left alone, and nothing is asked.
# usage: scripts/install-dependencies.sh [--without-tests | --without-peers | --peers]
#   --without-tests   only what the compiler itself needs
#   --without-peers   not the packages of others that tests of their own compare with
#   --peers           only these, where the rest is: while something else is built
# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

packages=(
  "llvm-$llvm-dev" "libmlir-$llvm-dev" "mlir-$llvm-tools"
  "clang-$llvm" "lld-$llvm" ccache ninja-build cmake
  zlib1g-dev libzstd-dev liblz4-dev nlohmann-json3-dev libcli11-dev
  python3 python3-venv libpython3-dev ca-certificates
)
# lit and FileCheck, GoogleTest, the sanitizers and libFuzzer, the format check;
# what renders pictures, opens pages, reads manuals, and the shells that we
# complete for.
test_packages=(
  "llvm-$llvm-tools" libgtest-dev libbenchmark-dev
  "libclang-rt-$llvm-dev" "clang-format-$llvm" "clang-tidy-$llvm"
  librsvg2-bin fonts-dejavu-core chromium-headless-shell mandoc zsh fish
)
with_tests=1 with_peers=1 only_peers=
case "$*" in
  '') ;;
  --without-tests) with_tests= with_peers= ;;
  --without-peers) with_peers= ;;
  --peers) only_peers=1 ;;
  *) die "unknown arguments '$*'; usage: scripts/install-dependencies.sh" \
         "[--without-tests | --without-peers | --peers]" ;;
esac
[ -z "$with_tests" ] || packages+=("${test_packages[@]}")

is_installed() {
  [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

install_packages() {
  local package missing=() as_root=()
  command -v dpkg-query >/dev/null ||
    die "this script knows Debian 12 only; install by hand: ${packages[*]}"
  for package in "${packages[@]}"; do
    is_installed "$package" || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null ||
      die "not root and no sudo; as root: apt-get install ${missing[*]}"
    as_root=(sudo)
  fi
  say "installing: ${missing[*]}"
  # Another source's outage must not stop us: what counts is the install.
  "${as_root[@]}" apt-get update -q || say "apt-get update failed; going on"
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get -o DPkg::Lock::Timeout=300 install -y -q \
      --no-install-recommends "${missing[@]}" ||
    die "apt could not install: ${missing[*]}" \
        "(LLVM $llvm is in Debian's bookworm-security and on apt.llvm.org)"
}

install_python() {
  if "$build/venv/bin/python3" -m pip --version >/dev/null 2>&1; then return; fi
  mkdir -p "$build"
  # Debian's own interpreter: its venv module is among the packages above.
  /usr/bin/python3 -m venv --clear "$build/venv" ||
    die "could not create a Python environment in $build/venv"
}

# numpy and ml_dtypes: the references of the tests are written with them; PyYAML
# reads the workflows of our pages. The others build our Python package and run
# its tests.
install_python_packages() {
  local python=$build/venv/bin/python3
  local packages=(numpy ml_dtypes pyyaml nanobind scikit-build-core pytest
    hypothesis mypy)
  if "$python" -c 'import numpy, ml_dtypes, yaml, nanobind, scikit_build_core
import pytest, hypothesis, mypy' 2>/dev/null; then
    return
  fi
  "$python" -m pip install -q --disable-pip-version-check "${packages[@]}" ||
    die "pip could not install ${packages[*]}"
}

# A peer whose kernels the tests run on the emulator. The tests say so when it
# is missing, and the rest of them does not need it.
install_triton() {
  local python=$build/venv/bin/python3
  if "$python" -c 'import triton' 2>/dev/null; then return; fi
  "$python" -m pip install -q --disable-pip-version-check triton ||
    say "warning: pip could not install triton: its kernels are not checked"
}

# Clients of the driver API, some 15 MB, with the same rule.
install_cuda_core() {
  local python=$build/venv/bin/python3
  if "$python" -c 'import cuda.pathfinder' 2>/dev/null; then return; fi
  "$python" -m pip install -q --disable-pip-version-check cuda-core \
    'cuda-bindings==13.*' ||
    say "warning: pip could not install cuda-core: its programs are not checked"
}

# Runs parts of a model on several processes, with the same rule.
install_dask() {
  local python=$build/venv/bin/python3
  if "$python" -c 'import dask.array, distributed' 2>/dev/null; then return; fi
  "$python" -m pip install -q --disable-pip-version-check 'dask[array]' \
    distributed ||
    say "warning: pip could not install dask: packing over it is not checked"
}

# A producer of tensors that the Python package reads, some 90 MB.
install_jax() {
  local python=$build/venv/bin/python3
  if "$python" -c 'import importlib.util as u; exit(not u.find_spec("jax"))'; then
    return
  fi
  "$python" -m pip install -q --disable-pip-version-check jax ||
    say "warning: pip could not install jax: its arrays are not tried"
}

# A producer of models with a reference evaluator, some 20 MB.
install_onnx() {
  local python=$build/venv/bin/python3
  if "$python" -c 'import importlib.util as u; exit(not u.find_spec("onnx"))'; then
    return
  fi
  "$python" -m pip install -q --disable-pip-version-check onnx ||
    say "warning: pip could not install onnx: its models are not imported"
}

# A CUDA toolkit's ptxas if there is one, the one of NVIDIA's wheel otherwise.
install_ptxas() {
  if find_ptxas >/dev/null; then return; fi
  say "no ptxas of CUDA $ptxas_major or newer here; fetching ${ptxas_wheels[*]}"
  if "$build/venv/bin/python3" -m pip install -q --disable-pip-version-check \
       --no-deps --upgrade --target "$ptxas_wheel_dir" "${ptxas_wheels[@]}" &&
     find_ptxas >/dev/null; then
    return
  fi
  say "warning: ptxas not installed: PTX will be written but not assembled." \
      "Install the CUDA toolkit $ptxas_major.0 or newer (package" \
      "cuda-nvcc-13-0 of NVIDIA's Debian repository) and put ptxas on PATH"
}

# What assembles for sm_107 and PTX above 9.0, some 30 MB, for the tests and for
# `compile`, which looks for it on PATH.
install_newest_ptxas() {
  if find_ptxas "$newest_ptxas" >/dev/null; then return; fi
  say "no ptxas of CUDA $newest_ptxas or newer here; fetching" \
      "$newest_ptxas_wheel"
  if "$build/venv/bin/python3" -m pip install -q --disable-pip-version-check \
       --no-deps --upgrade --target "$newest_ptxas_dir" \
       "$newest_ptxas_wheel" &&
     find_ptxas "$newest_ptxas" >/dev/null; then
    return
  fi
  say "warning: ptxas of CUDA $newest_ptxas not installed: PTX above 9.0 will" \
      "be written but not assembled, and the tests cannot be configured"
}

install_peers() {
  [ -n "${BLOCKSCALE_NO_TRITON:-}" ] || install_triton
  install_cuda_core
  install_dask
  install_jax
  install_onnx
}

if [ -n "$only_peers" ]; then
  install_peers
  exit
fi
install_packages
install_python
[ -z "$with_tests" ] || install_python_packages
install_ptxas
[ -z "$with_tests" ] || install_newest_ptxas
[ -z "$with_peers" ] || install_peers

# Settings of the lit tests. Part of the blockscale project, under the Apache
# License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import os
import platform
import subprocess

import lit.formats
import lit.util

config.name = "blockscale"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test", ".ptx"]
# Emulator holds kernels that the unit tests run.
config.excludes = ["Emulator", "Inputs", "oracle", "CMakeLists.txt"]
config.test_source_root = os.path.dirname(__file__)
# The longest tests come first, by the seconds of .lit_test_times.txt beside this
# file until a run in the build folder has left its own: so no core waits for a test
# that was begun last.
config.test_exec_root = os.path.join(config.blockscale_build_dir, "test")

# The programs that tests call by their bare names: ours, then LLVM's.
config.environment["PATH"] = os.pathsep.join(
    [
        config.blockscale_tools_dir,
        config.llvm_tools_dir,
        os.path.dirname(config.ptxas),
        config.environment.get("PATH", ""),
        # Last: only what the others cannot assemble finds it.
        os.path.dirname(config.newest_ptxas),
    ]
)

config.available_features.add("ptxas")
config.available_features.add("newest-ptxas")
config.substitutions.append(("%newest_ptxas", config.newest_ptxas))
if config.blockscale_has_mlir:
    config.available_features.add("mlir")
else:
    # Every test in MLIR is the compiler's.
    config.suffixes.remove(".mlir")

# The headers that belong to ptxas, for what we emit as C++.
cuda_include = os.path.join(
    os.path.dirname(os.path.dirname(os.path.realpath(config.ptxas))), "include")
if os.path.exists(os.path.join(cuda_include, "cuda.h")):
    config.available_features.add("cuda-headers")
config.substitutions.append(("%cuda_include", cuda_include))

# Programs that nvcc builds, and the runtime that they meet on the emulator.
nvcc = os.path.join(os.path.dirname(config.ptxas), "nvcc")
cuda_runtime = os.path.join(
    config.blockscale_build_dir, "lib", "blockscale", "libcudart.so.13")
if (os.path.exists(nvcc) and os.path.exists(cuda_runtime)
        and config.blockscale_has_mlir
        and not os.environ.get("BLOCKSCALE_NO_NVCC")):
    config.available_features.add("cuda-programs")
cuda_root = os.path.dirname(os.path.dirname(os.path.realpath(nvcc)))
config.substitutions.append(("%cuda_root", cuda_root))
if any(os.path.exists(os.path.join(cuda_root, lib, "libcudart.so"))
       for lib in ("lib64", "lib")):
    cudart_flags = "-cudart shared"
    config.available_features.add("cudart-shared")
else:
    # NVIDIA's wheels lack the file that the linker looks for.
    cudart_flags = f"-cudart none -Xlinker {cuda_runtime}"
    lit_config.note("there is no libcudart.so to link with: the commands for "
                    "CUDA programs in docs/emulator.md are not checked")
# Programs that use the driver API are linked with ours.
cuda_driver = os.path.join(os.path.dirname(cuda_runtime), "libcuda.so.1")
config.substitutions.append(("%cuda_driver_dir", os.path.dirname(cuda_driver)))
config.substitutions.append(("%cuda_driver", cuda_driver))
if os.path.exists(cuda_driver) and config.blockscale_has_mlir:
    config.available_features.add("emulated-driver")
# What compiled functions call to launch kernels.
config.substitutions.append(
    ("%blockscale_runtime",
     os.path.join(config.blockscale_build_dir, "lib", "libblockscale-runtime.so")))
config.substitutions.append(
    ("%gpu_runtime",
     os.path.join(config.blockscale_build_dir, "lib", "libblockscale-gpu-runtime.so")))
config.substitutions.append(
    ("%cuda_stand_ins", os.path.join(os.path.dirname(cuda_runtime), "bin")))
config.substitutions.append(
    ("%cxx_cuda", f"g++ -std=c++17 -Wall -Wextra -isystem {cuda_include}"))
config.substitutions.append(("%nvcc_plain", nvcc))
config.substitutions.append(("%nvcc", f"{nvcc} -std=c++17 {cudart_flags}"))

# Runs what was lowered to LLVM. An x86 processor that converts f32 to bf16 in one
# instruction takes subnormal numbers for 0 there (VCVTNEPS2BF16).
no_short_cuts = " -mattr=-avx512bf16" if platform.machine() == "x86_64" else ""
config.substitutions.append(("%mlir-runner", f"mlir-runner{no_short_cuts}"))
# The libraries that programs run so call.
llvm_libs_dir = os.path.join(os.path.dirname(config.llvm_tools_dir), "lib")
config.substitutions.append(
    (
        "%mlir_runner_libs",
        ",".join(
            os.path.join(llvm_libs_dir, f"lib{name}.so")
            for name in (
                "mlir_runner_utils", "mlir_c_runner_utils", "mlir_apfloat_wrappers")
        ),
    )
)
config.substitutions.append(("%oracle", os.path.join(config.test_source_root, "oracle")))
config.substitutions.append(("%source_root", config.blockscale_source_dir))
config.substitutions.append(("%build_root", config.blockscale_build_dir))
config.substitutions.append(("%python", config.python))

# A peer whose kernels the emulator runs; its absence is said, not hidden.
if subprocess.run([config.python, "-c", "import triton"],
                  capture_output=True).returncode == 0:
    config.available_features.add("triton")
else:
    lit_config.note("triton is not installed: its kernels are not checked")

# PyTorch's wheel is half a gigabyte, three with what it needs for CUDA, and no
# script of ours installs it.
if subprocess.run([config.python, "-c", "import torch"],
                  capture_output=True).returncode == 0:
    config.available_features.add("torch")
else:
    lit_config.note("torch is not installed: its tensors and operators are not "
                    "checked, beside Triton neither")

if subprocess.run([config.python, "-c", "import importlib.util as u;"
                   "exit(not u.find_spec('torchao'))"],
                  capture_output=True).returncode == 0:
    config.available_features.add("torchao")
else:
    lit_config.note("torchao is not installed: layers that it quantises are not "
                    "imported, only those that it quantised before")

# A producer whose programs are imported; what it wrote before is tried in any case.
if subprocess.run([config.python, "-c", "import importlib.util as u;"
                   "exit(not u.find_spec('jax'))"],
                  capture_output=True).returncode == 0:
    config.available_features.add("jax")
else:
    lit_config.note("jax is not installed: programs that it lowers are not "
                    "imported, only those that it lowered before")

if subprocess.run([config.python, "-c", "import importlib.util as u;"
                   "exit(not u.find_spec('onnx'))"],
                  capture_output=True).returncode != 0:
    lit_config.note("onnx is not installed: models that it makes are not imported "
                    "and compared with its reference evaluator, only those of before")

for package, what in (("tosa_tools_cli", "TOSA's reference model"),
                      ("iree", "IREE's compiler"), ("torch_mlir", "torch-mlir")):
    if subprocess.run([config.python, "-c", "import importlib.util as u;"
                       f"exit(not u.find_spec('{package}'))"],
                      capture_output=True).returncode != 0:
        lit_config.note(f"{package} is not installed: {what} is not asked, only "
                        "what it wrote before")

# Clients of the driver; cuda.core needs it to be imported, so only its presence
# is asked.
if subprocess.run([config.python, "-c", "import importlib.util as u;"
                   "exit(not (u.find_spec('cuda') and u.find_spec('cuda.core')))"],
                  capture_output=True).returncode == 0:
    config.available_features.add("cuda-core")
else:
    lit_config.note("cuda-core is not installed: its programs are not checked")
if all(any(os.path.exists(os.path.join(cuda_root, lib, f"{name}.so.13"))
           for lib in ("lib64", "lib")) for name in ("libnvrtc", "libnvJitLink")):
    config.available_features.add("nvrtc")
else:
    lit_config.note("NVRTC or nvJitLink is not installed: what they compile at "
                    "run time is not checked")

# What renders pictures, opens pages and reads manuals; shells that we complete for.
for feature, program in (("rsvg", "rsvg-convert"),
                         ("browser", "chromium-headless-shell"),
                         ("mandoc", "mandoc"), ("zsh", "zsh"), ("fish", "fish")):
    if lit.util.which(program, config.environment["PATH"]):
        config.available_features.add(feature)
    else:
        lit_config.note(f"{program} is not installed: what needs it is not "
                        "checked")

# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""From sources, and from saved files, to kernels."""

import io
import zipfile
import zlib
from pathlib import Path

from . import _core
from ._checks import text
from ._compiler_calls import bytes_of, compile_options, compiler
from ._errors import Refused, diagnostic
from ._imported import Imported
from ._kernel import Kernel
from ._nki_kernels import NkiKernels
from ._spec import Spec, parse
from ._targets import KernelChoice


def text_or_bytes(mlir):
    """Text where it is such; bytecode is not."""
    try:
        return mlir.decode()
    except UnicodeDecodeError:
        return mlir


def spec_of(source, target):
    """The spec of whatever names a module, for a chip if it is a name."""
    if isinstance(source, Imported):
        return Spec(source.mlir_for(target), source.name)
    if isinstance(source, (str, bytes)):
        return parse(source)
    if not isinstance(source, Spec):
        raise Refused("expected an Imported, a Spec or MLIR text, found a "
                      f"{type(source).__name__}")
    return source


def compile(spec, target="", **options):
    """Compiles a `Spec`, MLIR text or an `Imported`: a Kernel, or a list of them
    where the module names several chips; a KernelChoice for several targets,
    NkiKernels for "trn3".

    target: the chip of what names none, "sm_100a" if it is empty; or several, in
        a list or as "sm_100a,sm_107a", of which each device takes its own. "trn3"
        is AWS's chip, whose kernels take scales in layout "plain".
    options: expected_rows (of a dynamic M or N, for the cost model), dispatch_rows
        (numbers of rows up to which there are kernels of their own, where A's rows
        are not known; "auto" for what the model of time finds),
        dense_fallback, host_duties, cubin (assemble with ptxas), ptxas (path).

    Raises CompileError, whose diagnostics say what is not legal and what is.
    """
    if isinstance(target, (list, tuple)):
        target = ",".join(text("target", one) for one in target)
    spec = spec_of(spec, text("target", target or ""))
    chips, warnings, plan, launcher = compiler().compile(
        bytes_of(spec.mlir), spec.name, compile_options(target, **options))
    warnings = [diagnostic(one) for one in warnings]
    kernels = [_made_of(*chip, spec.mlir, warnings) for chip in chips]
    if plan:
        return KernelChoice(kernels, plan, launcher)
    if not kernels:
        raise Refused("there is no product to compile")
    return kernels[0] if len(kernels) == 1 else kernels


def _made_of(target, ptx, cubin, plan, report, report_text, launcher, nki,
             source, warnings):
    if nki:
        return NkiKernels(target, nki, plan, source, warnings)
    return Kernel(target, ptx, cubin, plan, report, report_text, launcher,
                  source, warnings)


def _kernel_of(files, folder=""):
    """A kernel of the files of an archive."""
    texts = [files[folder + name].decode() for name in
             ("target", "kernel.ptx", "plan.json", "report.json", "report.txt",
              "launcher.h")]
    target, ptx, plan, report, report_text, launcher = texts
    kernel = Kernel(target, ptx, files[folder + "kernel.cubin"], plan, report,
                    report_text, launcher,
                    text_or_bytes(files[folder + "source.mlir"]))
    # Whether the plan is one, and of kernels of this PTX.
    for name in kernel.names:
        _core.Launch(ptx, plan, name)
    return kernel


def load_kernel(path):
    """What `Kernel.save` or `KernelChoice.save` wrote."""
    try:
        with zipfile.ZipFile(io.BytesIO(Path(path).read_bytes())) as archive:
            files = {name: archive.read(name) for name in archive.namelist()}
        if "targets" not in files:
            return _kernel_of(files)
        kernels = [_kernel_of(files, one + "/")
                   for one in files["targets"].decode().split("\n")]
        plan = files["plan.json"].decode()
        for kernel in kernels:
            for name in kernel.names:
                _core.Launch(kernel.ptx, plan, name)
        return KernelChoice(kernels, plan, files["launcher.h"].decode())
    except (zipfile.BadZipFile, LookupError, TypeError, ValueError,
            RecursionError, NotImplementedError, zlib.error) as error:
        raise Refused(f"'{path}' is no saved kernel: {error}") from error

# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Kernels for several targets, of which each device takes its own."""

import json
import zipfile

from ._errors import DeviceError, Refused


class KernelChoice:
    """The kernels of one module for several targets.

    targets: their names, in the order in which a device is offered their code.
    plan: a dictionary of docs/launch-plan.md, with alternatives.
    launcher: C++ that chooses by device and launches with cuda.h alone.

    `choice["sm_107a"]` is a Kernel, `choice.on(device)` the one for a device.
    """

    def __init__(self, kernels, plan, launcher):
        self._kernels = {kernel.target: kernel for kernel in kernels}
        self.plan_text, self.plan = plan, json.loads(plan)
        self.launcher = launcher

    @property
    def targets(self):
        return list(self._kernels)

    def __getitem__(self, target):
        if target not in self._kernels:
            raise Refused(f"no kernels for '{target}'; there are "
                          f"{', '.join(self.targets)}")
        return self._kernels[target]

    def __iter__(self):
        return iter(self._kernels.values())

    def __len__(self):
        return len(self._kernels)

    def on(self, device=0):
        """The Kernel whose code a CUDA device runs. Operands are quantised like
        its arguments: two targets need not read them alike.

        Raises DeviceError without a driver, and where none fits.
        """
        from . import _driver as cuda
        from ._launch import capability
        found = cuda.device(device)
        have = capability(found)
        for one in [self.plan, *self.plan["alternatives"]]:
            if have in one["devices"]:
                return self[one["target"]]
        there = ", ".join(
            f"{one['target']} (compute capability {', '.join(one['devices'])})"
            for one in [self.plan, *self.plan["alternatives"]])
        raise DeviceError(f"device {found.ordinal}, '{found.name}', has compute "
                          f"capability {have}; there are kernels for {there}")

    def launch(self, a, b, *, device=0, **options):
        """As `Kernel.launch`, with the kernel of the device."""
        return self.on(device).launch(a, b, device=device, **options)

    __call__ = launch

    def quantize(self, x, *, device=0, **options):
        """As `Kernel.quantize`, with the kernel of the device."""
        return self.on(device).quantize(x, device=device, **options)

    def dequantize(self, a, *, device=0, **options):
        """As `Kernel.dequantize`, with the kernel of the device."""
        return self.on(device).dequantize(a, device=device, **options)

    def tile_sums(self, a, *, device=0, **options):
        """As `Kernel.tile_sums`, with the kernel of the device."""
        return self.on(device).tile_sums(a, device=device, **options)

    def convert(self, a, *, device=0, **options):
        """As `Kernel.convert`, with the kernel of the device."""
        return self.on(device).convert(a, device=device, **options)

    def prepare(self, *, device=0, **options):
        """As `Kernel.prepare`, with the kernel of the device."""
        return self.on(device).prepare(device=device, **options)

    def save(self, path):
        """Writes everything into one zip file, which `load_kernel` reads."""
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("targets", "\n".join(self.targets))
            archive.writestr("plan.json", self.plan_text)
            archive.writestr("launcher.h", self.launcher)
            for kernel in self:
                for name, content in kernel._files().items():
                    archive.writestr(f"{kernel.target}/{name}", content)

    def __repr__(self):
        return f"KernelChoice({', '.join(self.targets)})"

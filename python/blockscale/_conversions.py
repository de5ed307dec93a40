# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What compiled kernels do that dequantise, add up tiles, prune, compress, densify or
change layouts and orders."""


class Conversions:
    """Methods of `Kernel`."""

    def dequantize(self, a, *, out=None, kernel=None, device=0, stream=None):
        """Runs a kernel that dequantises on a CUDA device.

        a: a `Scaled`, which is copied to the device for this launch, or a
            `DeviceScaled`, which lies there.
        out: a numpy array for the numbers, or memory of the device, rows x K or
            batch x rows x K; by default what is returned is new: a numpy array if
            `a` is a `Scaled`, else a DeviceArray.
        stream: as torch, cuda.core or the driver have it; None for the default.
            The call waits for it only if something was copied.

        The result is what `Scaled.dequantize` says, rounded to the kernel's type; a
        NaN may have other bits. Raises DeviceError and Refused as `launch` does.
        """
        from ._launch_dequantize import dequantize
        return dequantize(self, a, out, kernel, device, stream)

    def emulate_dequantize(self, a, *, kernel=None, num_sms=None, progress=None,
                           **options):
        """Runs a kernel that dequantises on the emulator: an array of its type.

        a: a `Scaled`. num_sms, progress, options: as in `emulate`.
        """
        from ._dequantize_kernel import emulate
        return emulate(self, a, kernel, num_sms, progress, options)

    def prepare_dequantize(self, *, M=None, K=None, batch=None, device=0,
                           kernel=None):
        """Loads a kernel that dequantises on a CUDA device and computes grid and
        parameters for these sizes once: a `PreparedDequantization`, to be called.

        M, K, batch: the dynamic ones have to be given.
        """
        from ._launch_dequantize import PreparedDequantization
        return PreparedDequantization(self, kernel,
                                      {"M": M, "K": K, "batch": batch}, device)

    def tile_sums(self, a, *, kernel=None, device=0, stream=None):
        """Runs a kernel that adds up tiles along K on a CUDA device.

        a: a `Scaled`, which is copied to the device for this launch, or a
            `DeviceScaled`, which lies there.
        stream: as torch, cuda.core or the driver have it; None for the default.
            The call waits for it only if something was copied.

        The result is an array of f32 with a row for each tile if `a` is on the host, else
        `a` with these sums as its `terms`, for a product whose other operand has zero
        points in real units. Raises DeviceError and Refused as `launch` does.
        """
        from ._launch_dequantize import tile_sums
        return tile_sums(self, a, kernel, device, stream)

    def emulate_tile_sums(self, a, *, kernel=None, num_sms=None, progress=None,
                          **options):
        """Runs a kernel that adds up tiles on the emulator: an array of f32.

        a: a `Scaled`. num_sms, progress, options: as in `emulate`.
        """
        from ._dequantize_kernel import emulate
        return emulate(self, a, kernel, num_sms, progress, options, "adds up tiles")

    def prepare_tile_sums(self, *, M=None, K=None, batch=None, device=0, kernel=None):
        """Loads a kernel that adds up tiles on a CUDA device and computes grid and
        parameters for these sizes once: a `PreparedDequantization`, to be called.

        M, K, batch: the dynamic ones have to be given.
        """
        from ._launch_dequantize import PreparedDequantization
        return PreparedDequantization(self, kernel,
                                      {"M": M, "K": K, "batch": batch}, device,
                                      "adds up tiles")

    def convert(self, a, *, out=None, kernel=None, device=0, stream=None):
        """Runs a kernel that prunes, compresses, densifies or changes layouts and
        orders on a CUDA device.

        a: a `Scaled`, which is copied to the device for this launch, or a
            `DeviceScaled`, which lies there; of a kernel that prunes an array of the
            host or of the device.
        out: for what lies on the device what `prepare_convert(...).empty_out(a)` makes;
            None for new memory.
        stream: as torch, cuda.core or the driver have it; None for the default.
            The call waits for it only if something was copied.

        The result is a `Scaled` or an array if `a` is on the host, else a
        `DeviceScaled`, which has the parts of `a` that the kernel does not write, or a
        DeviceArray. Raises DeviceError and Refused as `launch` does.
        """
        from ._launch_convert import convert
        return convert(self, a, out, kernel, device, stream)

    def emulate_convert(self, a, *, kernel=None, num_sms=None, progress=None,
                        **options):
        """Runs a kernel that prunes, compresses, densifies or changes layouts and
        orders on the emulator: a `Scaled`, or an array.

        a: a `Scaled`, or an array. num_sms, progress, options: as in `emulate`.
        """
        from ._convert_kernel import emulate
        return emulate(self, a, kernel, num_sms, progress, options)

    def prepare_convert(self, *, M=None, K=None, batch=None, device=0, kernel=None):
        """Loads a kernel that prunes, compresses, densifies or changes layouts and
        orders on a CUDA device and computes grid and parameters for these sizes once: a
        `PreparedConversion`, to be called.

        M, K, batch: the dynamic ones have to be given.
        """
        from ._launch_convert import PreparedConversion
        return PreparedConversion(self, kernel, {"M": M, "K": K, "batch": batch},
                                  device)

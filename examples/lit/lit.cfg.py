"""A folder of lit tests for kernels: `lit examples/lit`. blockscale, blockscale-opt
and FileCheck are found on PATH.

Part of the blockscale project, under the Apache License v2.0 with LLVM Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import os
import tempfile

import lit.formats

config.name = "products"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(tempfile.gettempdir(), "products")
config.environment["PATH"] = os.environ["PATH"]

# Runs a command and fails unless it ends with the given status: `not` takes any
# other than 0. Part of the blockscale project, under the Apache License v2.0
# with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import subprocess
import sys

expected, command = int(sys.argv[1]), sys.argv[2:]
status = subprocess.run(command, check=False).returncode
if status != expected:
    sys.exit(f"{command[0]} ended with {status}, expected {expected}")

# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""A fresh environment with one wheel.

usage: environment.py FOLDER WHEELS COMMAND...

Makes a virtual environment in FOLDER, installs the only wheel of the folder
WHEELS without its dependencies, which are borrowed from the environment that
runs this, and runs COMMAND with the new environment's Python.
"""

import subprocess
import sys
import sysconfig
import venv
from pathlib import Path


def main():
    folder, (wheel,) = Path(sys.argv[1]), Path(sys.argv[2]).glob("*.whl")
    venv.create(folder, clear=True, with_pip=False)
    python = folder / "bin" / "python"
    subprocess.run([sys.executable, "-m", "pip", "-q", "--python", str(python),
                    "--disable-pip-version-check", "install", "--no-deps",
                    str(wheel)], check=True)
    packages = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        check=True, capture_output=True, text=True).stdout.strip()
    Path(packages, "borrowed.pth").write_text(
        sysconfig.get_path("purelib") + "\n")
    return subprocess.run([python, *sys.argv[3:]], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())

"""Makes the epilogue of a PTX file read tensor memory as if tcgen05.alloc had
given column 0: takes what alloc gave off the address of the first tcgen05.ld."""

import re
import sys

lines = open(sys.argv[1]).read().splitlines()
alloc = next(i for i, line in enumerate(lines) if "tcgen05.alloc" in line)
base = next(re.search(r"ld\.shared\.b32\s+(%r\d+)", line).group(1)
            for line in lines[alloc:] if "ld.shared.b32" in line)
load = next(i for i, line in enumerate(lines) if "tcgen05.ld." in line)
address = re.search(r"\[(%r\d+)\]", lines[load]).group(1)
lines[load] = ("{ .reg .b32 %without; "
               f"sub.s32 %without, {address}, {base}; "
               + lines[load].strip().replace(f"[{address}]", "[%without]")
               + " }")
print("\n".join(lines))

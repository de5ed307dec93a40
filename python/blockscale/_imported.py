# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Programs of other compilers."""

import re
from dataclasses import dataclass, field

from ._checks import text
from ._compiler_calls import bytes_of, compile_options, compiler


@dataclass(frozen=True)
class Imported:
    """A function of another producer.

    mlir: the module as text; its function is called `name`.
    inputs: names of its arguments, in order.
    parameters: values of those that the program brings itself, by name: weights,
        buffers and constants, as the producer has them.
    sizes: the shapes of its arguments, numbers and expressions of sizes with names;
        empty where the producer does not say them.
    limits: the least and the largest number of each such name, None for no end.
    written: what the producer wrote, as MLIR, if no chip was named. `mlir` is for
        sm_100a then, and what compiles for another chip reads this anew.
    """

    name: str
    mlir: str
    inputs: tuple
    parameters: dict = field(repr=False, default_factory=dict)
    sizes: tuple = field(repr=False, default=())
    limits: dict = field(repr=False, default_factory=dict)
    written: str | bytes = field(repr=False, default="")

    def mlir_for(self, target):
        """The module for this chip, as a name; "" where it is not known."""
        if not self.written or not target.startswith("sm_") or "," in target:
            return self.mlir
        return import_products(self.written, self.name, target)


def import_products(mlir, name, target):
    """Text of another compiler with its block-scaled products as ours."""
    return compiler().import_products(bytes_of(mlir), name,
                                      compile_options(target))


# A public function as MLIR prints it, and its arguments.
FUNCTION = re.compile(r'^  func\.func (?:public )?@([\w$.-]+|"[^"\n]*")\((.*)', re.M)
ARGUMENT = re.compile(r"%(\w+): ")


def from_mlir(mlir, name="<mlir>", target=""):
    """MLIR of another compiler, with block-scaled products of TOSA, linalg or
    StableHLO (docs/import.md).

    mlir: text in the generic form, where it has ops of dialects that are not
        upstream's, or bytecode. name: what diagnostics call it.
    target: the chip of what names none, whose kernels say how operands lie and which
        products there are. If it is empty, "sm_100a", and the result is read anew for
        the chip that it is compiled for.

    Returns an `Imported` of the first public function, without parameters. Raises
    CompileError for a product that contradicts itself and for ops that are part of
    none and that nothing lowers, each by its name and place.
    """
    if not isinstance(mlir, bytes):
        text("mlir", mlir)
    ours = import_products(mlir, text("name", name), target)
    written = "" if target else mlir
    found = FUNCTION.search(ours)
    if found is None:
        return Imported("", ours, (), written=written)
    arguments = found[2].split(") -> ")[0]
    return Imported(found[1].strip('"'), ours,
                    tuple(ARGUMENT.findall(arguments)), written=written)

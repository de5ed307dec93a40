//===- BlockscaleKernelEffects.td - effects of kernel ops -*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_IR_BLOCKSCALEKERNELEFFECTS_TD
#define BLOCKSCALE_DIALECT_BLOCKSCALE_IR_BLOCKSCALEKERNELEFFECTS_TD

include "blockscale/Dialect/Blockscale/IR/BlockscaleKernelTypes.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Blockscale_Global : Resource<"::blockscale::GlobalMemoryResource">;
def Blockscale_Shared : Resource<"::blockscale::SharedMemoryResource">;
def Blockscale_Tensor : Resource<"::blockscale::TensorMemoryResource">;
def Blockscale_Barriers : Resource<"::blockscale::BarrierResource">;
def Blockscale_Convergence : Resource<"::blockscale::ConvergenceResource">;
def Blockscale_Grid : Resource<"::blockscale::GridResource">;

/// Executed by a whole warp: may be deleted, or done once for two equal ones,
/// but not moved to where only some lanes come.
def Blockscale_WholeWarp : MemoryEffects<[MemRead<Blockscale_Convergence>]>;

/// Orders all accesses of the thread before against all those after: no access
/// moves across, and what was read before is not known any more.
def Blockscale_Synchronizes : MemoryEffects<[
  MemRead<Blockscale_Global>, MemWrite<Blockscale_Global>,
  MemRead<Blockscale_Shared>, MemWrite<Blockscale_Shared>,
  MemRead<Blockscale_Tensor>, MemWrite<Blockscale_Tensor>,
  MemRead<Blockscale_Barriers>, MemWrite<Blockscale_Barriers>,
  MemRead<Blockscale_Convergence>]>;

/// Operands by what the op does with the memory that they stand for.
class Blockscale_Reads<TypeConstraint type, Resource resource>
    : Arg<type, "", [MemRead<resource>]>;
class Blockscale_Writes<TypeConstraint type, Resource resource>
    : Arg<type, "", [MemWrite<resource>]>;
class Blockscale_Updates<TypeConstraint type, Resource resource>
    : Arg<type, "", [MemRead<resource>, MemWrite<resource>]>;

def Blockscale_MappedSource
    : Blockscale_Reads<Blockscale_TensorMapType, Blockscale_Global>;
def Blockscale_GlobalSource
    : Blockscale_Reads<Blockscale_GlobalType, Blockscale_Global>;
def Blockscale_GlobalTarget
    : Blockscale_Writes<Blockscale_GlobalType, Blockscale_Global>;
def Blockscale_GlobalUpdated
    : Blockscale_Updates<Blockscale_GlobalType, Blockscale_Global>;
def Blockscale_MappedTarget
    : Blockscale_Writes<Blockscale_TensorMapType, Blockscale_Global>;
/// D, which is stored by threads or through a map.
def Blockscale_ResultTarget
    : Blockscale_Writes<AnyTypeOf<[Blockscale_GlobalType,
                                   Blockscale_TensorMapType]>,
                        Blockscale_Global>;
def Blockscale_SharedSource
    : Blockscale_Reads<Blockscale_SharedType, Blockscale_Shared>;
def Blockscale_SharedTarget
    : Blockscale_Writes<Blockscale_SharedType, Blockscale_Shared>;
def Blockscale_TensorSource
    : Blockscale_Reads<Blockscale_TensorMemoryType, Blockscale_Tensor>;
def Blockscale_TensorTarget
    : Blockscale_Writes<Blockscale_TensorMemoryType, Blockscale_Tensor>;
def Blockscale_TensorAccumulator
    : Blockscale_Updates<Blockscale_TensorMemoryType, Blockscale_Tensor>;
/// Barriers that an asynchronous op counts on.
def Blockscale_SignalledBarrier
    : Blockscale_Updates<Blockscale_BarrierType, Blockscale_Barriers>;
def Blockscale_OptionalMappedSource
    : Blockscale_Reads<Optional<Blockscale_TensorMapType>, Blockscale_Global>;
def Blockscale_OptionalGlobalSource
    : Blockscale_Reads<Optional<Blockscale_GlobalType>, Blockscale_Global>;
/// C, which threads load, or TMA through a map.
def Blockscale_OptionalAddendSource
    : Blockscale_Reads<Optional<AnyTypeOf<[Blockscale_GlobalType,
                                           Blockscale_TensorMapType]>>,
                       Blockscale_Global>;
def Blockscale_OptionalGlobalTarget
    : Blockscale_Writes<Optional<Blockscale_GlobalType>, Blockscale_Global>;
def Blockscale_OptionalGlobalUpdated
    : Blockscale_Updates<Optional<Blockscale_GlobalType>, Blockscale_Global>;
def Blockscale_OptionalTensorSource
    : Blockscale_Reads<Optional<Blockscale_TensorMemoryType>,
                       Blockscale_Tensor>;

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_IR_BLOCKSCALEKERNELEFFECTS_TD

//===- DeviceMemory.cpp - what launches need not copy ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceMemory.h"
#include "blockscale/Dialect/Blockscale/IR/BlockscaleHost.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace blockscale;

static Value behindCasts(Value memory) {
  while (auto cast = memory.getDefiningOp<memref::CastOp>())
    memory = cast.getSource();
  return memory;
}

bool blockscale::isConstantMemory(Value memory) {
  auto get = behindCasts(memory).getDefiningOp<memref::GetGlobalOp>();
  if (!get)
    return false;
  auto global = SymbolTable::lookupNearestSymbolFrom<memref::GlobalOp>(
      get, get.getNameAttr());
  return global && global.getConstant();
}

//===----------------------------------------------------------------------===//
// Which memory
//===----------------------------------------------------------------------===//

namespace {
/// Who uses some memory.
struct Users {
  bool onlyKernels = true, isWritten = false, isRead = false;
  SmallVector<memref::DeallocOp> frees;
};
} // namespace

static void noteLaunch(LaunchIntoOp launch, OpOperand &use, Users &users) {
  if (use.getOperandNumber() == launch.getInputs().size()) {
    users.isWritten = true;
    return;
  }
  auto role = cast<StringAttr>(launch.getRoles()[use.getOperandNumber()]);
  users.isRead = true;
  users.onlyKernels &= role.getValue() == "c";
}

static void noteUses(Value memory, Users &users) {
  for (OpOperand &use : memory.getUses()) {
    if (auto launch = dyn_cast<LaunchIntoOp>(use.getOwner()))
      noteLaunch(launch, use, users);
    else if (auto free = dyn_cast<memref::DeallocOp>(use.getOwner()))
      users.frees.push_back(free);
    else if (auto cast = dyn_cast<memref::CastOp>(use.getOwner()))
      noteUses(cast.getResult(), users);
    else
      users.onlyKernels = false;
  }
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

static LLVM::LLVMFuncOp functionOf(ModuleOp module, StringRef name, Type result,
                                   Type argument) {
  if (auto known = module.lookupSymbol<LLVM::LLVMFuncOp>(name))
    return known;
  OpBuilder b = OpBuilder::atBlockBegin(module.getBody());
  return LLVM::LLVMFuncOp::create(
      b, module.getLoc(), name,
      LLVM::LLVMFunctionType::get(result, {argument}));
}

namespace {
/// Calls in the place of allocations.
class Placer {
public:
  explicit Placer(ModuleOp module)
      : module(module), converter(module.getContext()),
        pointer(LLVM::LLVMPointerType::get(module.getContext())),
        i64(IntegerType::get(module.getContext(), 64)) {}

  void place(memref::AllocOp alloc, const Users &users);

private:
  void free(memref::DeallocOp op);

  ModuleOp module;
  LLVMTypeConverter converter;
  Type pointer, i64;
};
} // namespace

void Placer::free(memref::DeallocOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  Type type = converter.convertType(op.getMemref().getType());
  Value descriptor =
      UnrealizedConversionCastOp::create(b, type, op.getMemref()).getResult(0);
  Value address = MemRefDescriptor(descriptor).allocatedPtr(b, op.getLoc());
  Type none = LLVM::LLVMVoidType::get(b.getContext());
  LLVM::CallOp::create(
      b, functionOf(module, "blockscaleRuntimeFree", none, pointer), address);
  op.erase();
}

void Placer::place(memref::AllocOp alloc, const Users &users) {
  for (memref::DeallocOp op : users.frees)
    free(op);
  ImplicitLocOpBuilder b(alloc.getLoc(), alloc);
  MemRefType type = alloc.getType();
  auto constant = [&](int64_t value) -> Value {
    return LLVM::ConstantOp::create(b, b.getI64IntegerAttr(value));
  };
  SmallVector<Value> sizes, strides(type.getRank());
  ValueRange dynamic = alloc.getDynamicSizes();
  for (int64_t size : type.getShape()) {
    if (!ShapedType::isDynamic(size)) {
      sizes.push_back(constant(size));
      continue;
    }
    sizes.push_back(arith::IndexCastOp::create(b, i64, dynamic.front()));
    dynamic = dynamic.drop_front();
  }
  Value count = constant(1);
  for (size_t i = sizes.size(); i-- > 0;) {
    strides[i] = count;
    count = LLVM::MulOp::create(b, count, sizes[i]);
  }
  constexpr int64_t kByte = 8;
  Value bytes = LLVM::MulOp::create(
      b, count, constant(type.getElementTypeBitWidth() / kByte));
  Value address =
      LLVM::CallOp::create(
          b, functionOf(module, "blockscaleRuntimeAllocate", pointer, i64),
          bytes)
          .getResult();
  auto descriptor =
      MemRefDescriptor::poison(b, b.getLoc(), converter.convertType(type));
  descriptor.setAllocatedPtr(b, b.getLoc(), address);
  descriptor.setAlignedPtr(b, b.getLoc(), address);
  descriptor.setConstantOffset(b, b.getLoc(), 0);
  for (unsigned i = 0; i < sizes.size(); ++i) {
    descriptor.setSize(b, b.getLoc(), i, sizes[i]);
    descriptor.setStride(b, b.getLoc(), i, strides[i]);
  }
  Value memory = UnrealizedConversionCastOp::create(b, type, Value(descriptor))
                     .getResult(0);
  alloc.replaceAllUsesWith(memory);
  alloc.erase();
}

void blockscale::placeOnDevice(ModuleOp module) {
  SmallVector<memref::AllocOp> allocs;
  module.walk([&](memref::AllocOp alloc) {
    if (alloc.getType().getLayout().isIdentity())
      allocs.push_back(alloc);
  });
  Placer placer(module);
  for (memref::AllocOp alloc : allocs) {
    Users users;
    noteUses(alloc.getMemref(), users);
    if (users.onlyKernels && users.isWritten && users.isRead)
      placer.place(alloc, users);
  }
}

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
#include "llvm/Support/MathExtras.h"

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
  /// Uses by launches.
  SmallVector<OpOperand *> uses;
};
} // namespace

/// The parameter of the kernel that an operand of a launch becomes.
static StringRef roleOf(OpOperand &use) {
  auto launch = cast<LaunchIntoOp>(use.getOwner());
  unsigned number = use.getOperandNumber(), inputs = launch.getInputs().size();
  if (number >= inputs)
    return launch.getRolesOfInits()[number - inputs];
  return cast<StringAttr>(launch.getRoles()[number]).getValue();
}

static bool hasRole(LaunchIntoOp launch, StringRef role) {
  return llvm::is_contained(launch.getRoles().getAsValueRange<StringAttr>(),
                            role);
}

/// The order of numbers that follow each other without gaps.
static constexpr StringRef kWholeRows = "rows";

/// The order of the elements that a launch reads or writes and the bytes
/// between their lines, if the plan knows them and a line has no more than its
/// array on the host, whose elements take a byte each or more.
static std::optional<std::string> linesOf(const plan::Kernel &kernel,
                                          StringRef operand) {
  for (const plan::DataPacking &data : kernel.data) {
    int64_t pitch = 0, elements = 0, bytes = std::max(1u, data.bits / 8);
    // Elements that are stored for others are packed by the host.
    if (data.operand != operand || data.source ||
        StringRef(data.elements).getAsInteger(10, elements) ||
        StringRef(data.linePitch).getAsInteger(10, pitch) ||
        pitch > elements * bytes)
      continue;
    bool isWhole = data.bits >= 8 && pitch == elements * bytes;
    std::string lines = isWhole ? kWholeRows.str() : data.linePitch;
    return data.order == "k_major" ? lines : data.order + " " + lines;
  }
  return std::nullopt;
}

/// The part of an operand that sums of its elements over tiles are.
static constexpr StringRef kTerms = "terms";

/// Whether the kernel writes such sums.
static bool isOfTileSums(const plan::Kernel &kernel) {
  return kernel.conversion && kernel.conversion->op == "tile_sums";
}

/// How a kernel has a part of an operand in memory, as text that is the same
/// for kernels that have it alike; nothing if it may take more than the host's.
static std::optional<std::string>
arrangementOf(const plan::Kernel &kernel, StringRef operand, StringRef part) {
  auto isOfOperand = [&](const auto &packing) {
    return packing.operand == operand;
  };
  if (part == kTerms)
    return kWholeRows.str();
  if (part.empty() && (operand == "d" || operand == "c" || operand == "x"))
    return kWholeRows.str();
  if (part == "scales")
    if (auto scales = llvm::find_if(kernel.scales, isOfOperand);
        scales != kernel.scales.end())
      return scales->layout + " " + std::to_string(scales->block);
  if (part == "scales")
    if (auto scales = llvm::find_if(kernel.vectorScales, isOfOperand);
        scales != kernel.vectorScales.end())
      return scales->format + " " + std::to_string(scales->rows) + " " +
             std::to_string(scales->block);
  if (part == "metadata")
    if (auto metadata = llvm::find_if(kernel.metadata, isOfOperand);
        metadata != kernel.metadata.end())
      return metadata->layout + " " + metadata->pattern;
  if (part == "tensor_scale")
    return "one of each matrix";
  return part == "data" ? linesOf(kernel, operand) : std::nullopt;
}

/// Whether all of them are the same part of an operand in the same order: a
/// kernel quantises or converts, others read what it wrote.
static bool agree(ArrayRef<OpOperand *> uses, PlanOfLaunch planOf) {
  StringRef part;
  std::optional<std::string> arrangement;
  for (OpOperand *use : uses) {
    auto launch = cast<LaunchIntoOp>(use->getOwner());
    const plan::Kernel &kernel = planOf(launch);
    StringRef role = roleOf(*use);
    // Whatever moves scales alone has elements for their sizes.
    if (role == "a_data" &&
        llvm::none_of(kernel.parameters, [&](const plan::Parameter &parameter) {
          return parameter.role == role;
        }))
      continue;
    auto [operand, name] = role.split('_');
    // The host adds up what has zero points, or the other operand has them.
    bool isAddedUp = !kernel.zeroTerms.empty() &&
                     (operand == "a" || operand == "b") &&
                     !hasRole(launch, (operand + "_" + kTerms).str());
    if (isAddedUp)
      return false;
    if (isOfTileSums(kernel) && operand == "d")
      name = kTerms;
    std::optional<std::string> found = arrangementOf(kernel, operand, name);
    if (name.empty())
      name = "data";
    if (!found || (arrangement && (name != part || *found != *arrangement)))
      return false;
    part = name;
    arrangement = found;
  }
  return true;
}

static void noteLaunch(LaunchIntoOp launch, OpOperand &use, Users &users) {
  (launch.isDpsInit(&use) ? users.isWritten : users.isRead) = true;
  users.uses.push_back(&use);
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
  Value bytes = LLVM::MulOp::create(
      b, count,
      constant(int64_t(llvm::divideCeil(type.getElementTypeBitWidth(), 8))));
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

void blockscale::placeOnDevice(ModuleOp module, PlanOfLaunch planOf) {
  SmallVector<memref::AllocOp> allocs;
  module.walk([&](memref::AllocOp alloc) {
    if (alloc.getType().getLayout().isIdentity())
      allocs.push_back(alloc);
  });
  Placer placer(module);
  for (memref::AllocOp alloc : allocs) {
    Users users;
    noteUses(alloc.getMemref(), users);
    // Of what has no dimensions the runtime takes the host's value.
    if (alloc.getType().getRank() == 0)
      continue;
    if (users.onlyKernels && users.isWritten && users.isRead &&
        agree(users.uses, planOf))
      placer.place(alloc, users);
  }
}

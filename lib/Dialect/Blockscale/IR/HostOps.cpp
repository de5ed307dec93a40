//===- HostOps.cpp - launches as the host sees them -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelVerifiers.h"
#include "blockscale/Dialect/Blockscale/IR/BlockscaleHost.h"
#include "blockscale/Dialect/Blockscale/IR/ZeroTerms.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace blockscale;

//===----------------------------------------------------------------------===//
// What a launch passes
//===----------------------------------------------------------------------===//

static bool hasParameter(FunctionOpInterface kernel, ParameterRole role) {
  for (unsigned i = 0, e = kernel.getNumArguments(); i < e; ++i) {
    auto attribute =
        kernel.getArgAttrOfType<ParameterAttr>(i, ParameterAttr::name);
    if (attribute && attribute.getRole() == role)
      return true;
  }
  return false;
}

SmallVector<StringRef> blockscale::launchOperands(FunctionOpInterface kernel) {
  if (hasParameter(kernel, ParameterRole::X)) {
    SmallVector<StringRef> operands{"x"};
    if (hasParameter(kernel, ParameterRole::TensorScale))
      operands.push_back(stringifyParameterRole(ParameterRole::TensorScale));
    return operands;
  }
  if (kernel->hasAttr(ConversionAttr::name))
    return {"a"};
  if (!hasParameter(kernel, ParameterRole::D) &&
      !hasParameter(kernel, ParameterRole::DData))
    return {};
  SmallVector<StringRef> operands{"a", "b"};
  for (ParameterRole role :
       {ParameterRole::Alpha, ParameterRole::Beta, ParameterRole::C,
        ParameterRole::Bias, ParameterRole::Offsets, ParameterRole::KOffsets,
        ParameterRole::RowCounts, ParameterRole::RowNumbers,
        ParameterRole::TensorScale})
    if (hasParameter(kernel, role))
      operands.push_back(stringifyParameterRole(role));
  if (auto given = kernel->getAttrOfType<ArrayAttr>(kGivenTermsName))
    llvm::append_range(operands, given.getAsValueRange<StringAttr>());
  return operands;
}

//===----------------------------------------------------------------------===//
// LaunchIntoOp
//===----------------------------------------------------------------------===//

LogicalResult LaunchIntoOp::verifySymbolUses(SymbolTableCollection &symbols) {
  // What is inside of a binary only its plan knows.
  Operation *root = symbols.lookupNearestSymbolFrom(
      *this, getKernelAttr().getRootReference());
  if (root && root->getName().getStringRef() == "gpu.binary")
    return success();
  return verifyKernelSymbol(
      *this, getKernelAttr(),
      symbols.lookupNearestSymbolFrom(*this, getKernelAttr()));
}

LogicalResult LaunchIntoOp::inferReturnTypes(MLIRContext *,
                                             std::optional<Location>,
                                             Adaptor adaptor,
                                             SmallVectorImpl<Type> &types) {
  for (Type init : adaptor.getInits().getTypes())
    if (isa<TensorType>(init))
      types.push_back(init);
  return success();
}

SmallVector<StringRef> LaunchIntoOp::getRolesOfInits() {
  if (std::optional<ArrayAttr> roles = getResultRoles())
    return llvm::to_vector(roles->getAsValueRange<StringAttr>());
  constexpr StringRef kParts[] = {"d_data", "d_scales", "d_tensor_scale"};
  if (getInits().size() == 1)
    return {"d"};
  return SmallVector<StringRef>(ArrayRef(kParts).take_front(getInits().size()));
}

LogicalResult LaunchIntoOp::verify() {
  if (getRoles().size() != getInputs().size())
    return emitOpError() << "has " << getInputs().size() << " inputs for "
                         << getRoles().size() << " roles";
  if (std::optional<ArrayAttr> roles = getResultRoles();
      roles && roles->size() != getInits().size())
    return emitOpError() << "has " << getInits().size()
                         << " values in 'outs' for " << roles->size()
                         << " of 'result_roles'";
  // Those of a kernel with two results have names.
  if (getInits().empty() || (!getResultRoles() && getInits().size() > 3))
    return emitOpError() << "has " << getInits().size()
                         << " values in 'outs'; expected the result, or two or "
                            "three parts of a quantised one";
  llvm::StringSet<> seen;
  SmallVector<StringRef> named =
      llvm::to_vector(getRoles().getAsValueRange<StringAttr>());
  if (getResultRoles())
    llvm::append_range(named, getRolesOfInits());
  for (StringRef role : named)
    if (!seen.insert(role).second)
      return emitOpError() << "names the role '" << role << "' twice";
  bool onTensors = isa<TensorType>(getInits().front().getType());
  for (Type type : getInits().getTypes())
    if (isa<TensorType>(type) != onTensors)
      return emitOpError()
             << "has tensors and memrefs in 'outs'; expected one or the other";
  for (auto [role, input] :
       llvm::zip_equal(getRoles().getAsValueRange<StringAttr>(), getInputs())) {
    Type type = input.getType();
    bool isShaped =
        onTensors ? isa<RankedTensorType>(type) : isa<MemRefType>(type);
    if (!isShaped && !type.isF32())
      return emitOpError() << "takes '" << role << "' as " << type
                           << "; expected a ranked "
                           << (onTensors ? "tensor" : "memref") << " or f32";
  }
  return success();
}

void LaunchIntoOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  for (OpOperand &input : getInputsMutable())
    if (isa<MemRefType>(input.get().getType()))
      effects.emplace_back(MemoryEffects::Read::get(), &input);
  for (OpOperand &init : getInitsMutable())
    if (isa<MemRefType>(init.get().getType()))
      effects.emplace_back(MemoryEffects::Write::get(), &init);
}

//===----------------------------------------------------------------------===//
// OnPartsOp
//===----------------------------------------------------------------------===//

MatmulOp OnPartsOp::getProduct() {
  return cast<MatmulOp>(getBody().front().front());
}

/// The types of what a value of `type` is in an `on_parts`.
static Result<SmallVector<Type>> partTypes(Type type) {
  auto scaled = dyn_cast<ScaledTensorType>(type);
  if (!scaled)
    return SmallVector<Type>{type};
  Result<TensorParts> parts = getTensorParts(scaled);
  if (!parts)
    return parts.why();
  return parts->present();
}

SmallVector<BlockArgument> OnPartsOp::getArgumentsOfInputs() {
  SmallVector<BlockArgument> arguments;
  for (BlockArgument argument : getBody().getArguments())
    arguments.append(partTypes(argument.getType())->size(), argument);
  return arguments;
}

OnPartsOp OnPartsOp::create(OpBuilder &builder, MatmulOp product, Type result,
                            TypeRange arguments, ValueRange inputs) {
  Location loc = product.getLoc();
  auto op = OnPartsOp::create(builder, loc, result, inputs);
  OpBuilder::InsertionGuard guard(builder);
  Block *block =
      builder.createBlock(&op.getBody(), {}, arguments,
                          SmallVector<Location>(arguments.size(), loc));
  Operation *copy = builder.clone(*product);
  copy->setOperands(block->getArguments());
  copy->getResult(0).setType(result);
  ReturnOp::create(builder, loc, copy->getResult(0));
  return op;
}

/// What the body returns.
LogicalResult OnPartsOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location> location,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  Region &body = adaptor.getBody();
  bool hasEnd = !body.empty() && !body.front().empty();
  auto end =
      dyn_cast_or_null<ReturnOp>(hasEnd ? &body.front().back() : nullptr);
  if (!end || end->getNumOperands() != 1)
    return emitOptionalError(location, "expected a body that ends in a "
                                       "'blockscale.return' of one value");
  types.push_back(end.getValue().getType());
  return success();
}

LogicalResult OnPartsOp::verifyRegions() {
  Block &block = getBody().front();
  MatmulOp product =
      block.empty() ? MatmulOp() : dyn_cast<MatmulOp>(block.front());
  auto end = dyn_cast_or_null<ReturnOp>(block.getTerminator());
  if (!product || !end || product->getNextNode() != end.getOperation())
    return emitOpError() << "expected a body of one 'blockscale.matmul' and "
                            "'blockscale.return'";
  if (end.getValue() != product.getResult())
    return emitOpError() << "expected the product's result to be returned";
  if (!llvm::equal(product->getOperands(), block.getArguments()))
    return emitOpError() << "expected the arguments of the body to be the "
                            "product's operands, in their order";
  SmallVector<Type> expected;
  for (Type type : block.getArgumentTypes()) {
    Result<SmallVector<Type>> parts = partTypes(type);
    if (!parts)
      return emitOpError() << parts.why().text;
    llvm::append_range(expected, *parts);
  }
  if (expected.size() != getInputs().size())
    return emitOpError() << "expected " << expected.size()
                         << " inputs, the parts of the body's arguments, found "
                         << getInputs().size();
  for (auto [index, type, input] : llvm::enumerate(expected, getInputs()))
    if (type != input.getType())
      return emitOpError() << "expected input " << index << " to be of type "
                           << type << ", found " << input.getType();
  return success();
}

#define GET_OP_CLASSES
#include "blockscale/Dialect/Blockscale/IR/BlockscaleHostOps.cpp.inc"

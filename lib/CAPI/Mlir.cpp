//===- Mlir.cpp - for programs that use MLIR's C interface ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale-c/Mlir.h"
#include "Session.h"
#include "blockscale/Dialect/Blockscale/IR/Builders.h"
#include "blockscale/Dialect/BlockscaleNKI/IR/BlockscaleNKI.h"
#include "blockscale/InitAll.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Registration.h"

#include <mutex>

using namespace blockscale;
using namespace blockscale::capi;

MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(Blockscale, blockscale, BlockscaleDialect)
MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(BlockscaleNKI, blockscale_nki,
                                      nki::BlockscaleNKIDialect)

void blockscaleRegisterAllDialects(MlirDialectRegistry registry) {
  registerAllDialects(*unwrap(registry));
}

void blockscaleRegisterAllPasses() {
  static std::once_flag once;
  std::call_once(once, [] {
    registerAllPasses();
    registerAllPipelines();
  });
}

BlockscaleStatus blockscaleModuleFromMlir(BlockscaleSession handle,
                                          MlirModule module,
                                          BlockscaleModule *copy) {
  return guarded([&] {
    requirePointer(copy, "copy");
    requirePointer(module.ptr, "module");
    std::shared_ptr<Session> session = get<Session>(handle.id);
    // The two belong to different contexts: through bytes.
    std::string bytes = writeBytecode(unwrap(module));
    mlir::OwningOpRef<mlir::ModuleOp> op;
    inSession(
        session, [&](Session &in) { op = parseModule(in, bytes, ""); },
        [&] { *copy = makeModule(session, std::move(op)); });
  });
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

bool blockscaleTypeIsAScaledTensor(MlirType type) {
  return type.ptr && mlir::isa<ScaledTensorType>(unwrap(type));
}

MlirType blockscaleScaledTensorTypeGet(MlirContext context, intptr_t rank,
                                       const int64_t *shape, MlirType element,
                                       MlirStringRef spec, MlirStringRef layout,
                                       MlirStringRef order) {
  auto emitError = [&] {
    return mlir::emitError(mlir::UnknownLoc::get(unwrap(context)));
  };
  if (rank < 0 || (rank && !shape)) {
    emitError() << "expected a shape";
    return {nullptr};
  }
  auto scaleLayout = layout.length
                         ? symbolizeScaleLayout(unwrap(layout))
                         : std::optional<ScaleLayout>(ScaleLayout::Plain);
  auto dataOrder = order.length ? symbolizeDataOrder(unwrap(order))
                                : std::optional<DataOrder>(DataOrder::KMajor);
  if (!scaleLayout) {
    emitError() << "unknown layout '" << unwrap(layout) << "'";
    return {nullptr};
  }
  if (!dataOrder) {
    emitError() << "unknown order '" << unwrap(order) << "'";
    return {nullptr};
  }
  unwrap(context)->getOrLoadDialect<BlockscaleDialect>();
  return wrap(mlir::Type(
      getScaledTensorType(emitError, llvm::ArrayRef<int64_t>(shape, rank),
                          element.ptr ? unwrap(element) : mlir::Type(),
                          unwrap(spec), *scaleLayout, *dataOrder)));
}

static ScaledTensorType scaledTensor(MlirType type) {
  return mlir::cast<ScaledTensorType>(unwrap(type));
}

MlirType blockscaleScaledTensorTypeGetElementType(MlirType type) {
  return wrap(scaledTensor(type).getElementType());
}

intptr_t blockscaleScaledTensorTypeGetRank(MlirType type) {
  return static_cast<intptr_t>(scaledTensor(type).getShape().size());
}

int64_t blockscaleScaledTensorTypeGetDim(MlirType type, intptr_t index) {
  return scaledTensor(type).getShape()[static_cast<size_t>(index)];
}

void blockscaleScaledTensorTypeGetSpec(MlirType type,
                                       MlirStringCallback callback,
                                       void *userData) {
  ScaleSpecAttr spec = scaledTensor(type).getSpec();
  std::string text = spec.getValue() == ScaleSpec() ? "" : spec.getText();
  callback({text.data(), text.size()}, userData);
}

MlirStringRef blockscaleScaledTensorTypeGetLayout(MlirType type) {
  return wrap(stringifyScaleLayout(scaledTensor(type).getLayout()));
}

MlirStringRef blockscaleScaledTensorTypeGetOrder(MlirType type) {
  return wrap(stringifyDataOrder(scaledTensor(type).getOrder()));
}

MlirOperation blockscaleMatmulCreate(MlirLocation location, MlirValue a,
                                     MlirValue b, MlirType resultElement) {
  auto refuse = [&](const char *what, mlir::Type found) -> MlirOperation {
    auto error = mlir::emitError(unwrap(location)) << what;
    if (found)
      error << found;
    else
      error << "none";
    return {nullptr};
  };
  for (MlirValue operand : {a, b}) {
    mlir::Type type = operand.ptr ? unwrap(operand).getType() : mlir::Type();
    if (!mlir::isa_and_nonnull<ScaledTensorType>(type))
      return refuse("expected operands of type !blockscale.tensor, found ",
                    type);
  }
  mlir::Type element = resultElement.ptr ? unwrap(resultElement) : mlir::Type();
  if (!element || !mlir::RankedTensorType::isValidElementType(element))
    return refuse("expected a type for elements of the result, found ",
                  element);
  mlir::OpBuilder builder(unwrap(location)->getContext());
  return wrap(createMatmul(builder, unwrap(location), unwrap(a), unwrap(b),
                           unwrap(resultElement))
                  .getOperation());
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

bool blockscaleAttributeIsATarget(MlirAttribute attribute) {
  return attribute.ptr && mlir::isa<TargetAttr>(unwrap(attribute));
}

MlirAttribute blockscaleTargetAttrGet(MlirContext context, MlirStringRef chip) {
  Result<hw::Target> target = hw::parseTarget(unwrap(chip).str());
  if (!target)
    return {nullptr};
  unwrap(context)->getOrLoadDialect<BlockscaleDialect>();
  return wrap(mlir::Attribute(TargetAttr::get(unwrap(context), *target)));
}

//===- HostPlan.cpp - what the host does for a kernel ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelNames.h"
#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "blockscale/Target/NKI/TranslateToNKI.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace blockscale;
using namespace blockscale::nki;

namespace json = llvm::json;

/// Version of the schema that docs/nki.md describes.
static constexpr int64_t kHostPlanVersion = 1;

/// Code of the scale 1, for groups that only pad.
static constexpr int64_t kNeutralScale = 127;

static json::Array shapeOf(ArrayRef<int64_t> shape) {
  return json::Array(shape);
}

static std::string text(Type type) {
  std::string result;
  llvm::raw_string_ostream(result) << type;
  return result;
}

/// "(r % 128)", or "r" where there is one matrix.
static std::string rowInMatrix(int64_t rows, int64_t batch) {
  return batch == 1 ? "r" : "(r % " + std::to_string(rows) + ")";
}

static std::string matrixOf(int64_t rows, int64_t batch) {
  return batch == 1 ? "0" : "r / " + std::to_string(rows);
}

/// Row of the source tensor's scales for a row of the matrix.
static std::string scaleRow(const ScaleSpec &spec) {
  if (!spec.rows || spec.rows->size == 1)
    return "c";
  return spec.rows->size == 0 ? "0" : "c / " + std::to_string(spec.rows->size);
}

/// How element [r, c] of the parameter is made.
static json::Object packing(HostTensorAttr parameter, BufferType type,
                            int64_t batch) {
  if (parameter.getForm() == HostForm::Plain)
    return json::Object{{"form", "plain"}};
  auto source = cast<ScaledTensorType>(parameter.getSource());
  const ScaleSpec &spec = source.getSpec().getValue();
  int64_t rows = type.getDim(0) / batch;
  std::string row = rowInMatrix(rows, batch);
  if (parameter.getForm() == HostForm::Packed) {
    ElementFormat format =
        X4Type::get(source.getContext(), source.getElementType()).getFormat();
    return json::Object{
        {"form", "packed"},
        {"format", StringRef(formatName(format))},
        {"bitsPerElement", static_cast<int64_t>(formatInfo(format).bits)},
        {"elements", static_cast<int64_t>(kPack)},
        {"matrix", matrixOf(rows, batch)},
        {"row", "c"},
        {"k", "4 * " + row + " + q"},
        {"padding", 0}};
  }
  int64_t span = spec.columns->size;
  std::string block = row;
  if (span != int64_t(kGroup))
    block = "32 * " + row + " / " + std::to_string(span);
  return json::Object{{"form", "scales"},
                      {"format", "ue8m0"},
                      {"matrix", matrixOf(rows, batch)},
                      {"row", scaleRow(spec)},
                      {"sourceRow", "c"},
                      {"block", block},
                      {"padding", kNeutralScale}};
}

static json::Array parametersOf(KernelOp kernel, const KernelNames &names) {
  json::Array result;
  int64_t batch = kernel.getSize("batch");
  for (auto [argument, attribute] : llvm::zip(
           kernel.getBody().front().getArguments(), kernel.getParameters())) {
    auto parameter = cast<HostTensorAttr>(attribute);
    auto type = cast<BufferType>(argument.getType());
    result.push_back(
        json::Object{{"name", names.of(argument).str()},
                     {"operand", parameter.getOperand()},
                     {"source", text(parameter.getSource())},
                     {"type", elementTypeName(type.getElementType())},
                     {"shape", shapeOf(type.getShape())},
                     {"packing", packing(parameter, type, batch)}});
  }
  return result;
}

static json::Array resultsOf(KernelOp kernel, const KernelNames &names) {
  json::Array result;
  for (Value value : kernel.getBody().front().getTerminator()->getOperands()) {
    auto type = cast<BufferType>(value.getType());
    result.push_back(
        json::Object{{"name", names.of(value).str()},
                     {"type", elementTypeName(type.getElementType())},
                     {"shape", shapeOf(type.getShape())}});
  }
  return result;
}

static json::Array memoryOf(KernelOp kernel, const KernelNames &names) {
  json::Array result;
  kernel.walk([&](AllocOp tile) {
    BufferType type = tile.getResult().getType();
    if (type.getMemory() == Buffer::Hbm)
      return;
    result.push_back(json::Object{
        {"name", names.of(tile.getResult()).str()},
        {"memory", StringRef(bufferName(type.getMemory()))},
        {"shape", shapeOf(type.getShape())},
        {"type", elementTypeName(type.getElementType())},
        {"address", static_cast<int64_t>(tile.getAddress().value_or(0))},
        {"bytes", type.getPartitionBytes()}});
  });
  return result;
}

/// How often each instruction runs, loops unrolled.
static json::Object instructionsOf(KernelOp kernel) {
  llvm::MapVector<StringRef, int64_t> counts;
  kernel.walk([&](Operation *op) {
    if (!isa<DmaCopyOp, MemsetOp, MatmulMXOp, QuantizeMXOp, TensorCopyOp,
             TensorTensorOp, TensorScalarOp, ActivationOp>(op))
      return;
    int64_t times = 1;
    for (Operation *outer = op->getParentOp(); outer != kernel;
         outer = outer->getParentOp())
      times *= cast<LoopOp>(outer).getTripCount();
    counts[op->getName().stripDialect()] += times;
  });
  json::Object result;
  for (auto [name, count] : counts)
    result[name] = count;
  return result;
}

FailureOr<std::string> blockscale::nki::buildHostPlan(ModuleOp module) {
  json::Array kernels;
  std::string target;
  for (auto kernel : module.getOps<KernelOp>()) {
    KernelNames names(kernel);
    target = targetName(kernel.getParsedTarget());
    kernels.push_back(json::Object{
        {"name", pythonName(kernel.getName())},
        {"sourceFunction", kernel.getName()},
        {"sizes", json::Object{{"M", kernel.getSize("M")},
                               {"N", kernel.getSize("N")},
                               {"K", kernel.getSize("K")},
                               {"batch", kernel.getSize("batch")}}},
        {"parameters", parametersOf(kernel, names)},
        {"results", resultsOf(kernel, names)},
        {"memory", memoryOf(kernel, names)},
        {"instructions", instructionsOf(kernel)}});
  }
  if (kernels.empty())
    return module.emitError() << "holds no 'blockscale_nki.kernel' to plan";
  std::string result;
  llvm::raw_string_ostream os(result);
  os << llvm::formatv(
            "{0:2}", json::Value(json::Object{{"version", kHostPlanVersion},
                                              {"target", target},
                                              {"kernels", std::move(kernels)}}))
     << "\n";
  return result;
}

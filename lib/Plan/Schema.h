//===- Schema.h - what stands in a launch plan ------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The schema is written once, in the `describe` functions; a Writer and a
// Reader walk over it, so that what is written is what is read. `number` gives
// the least and the largest legal value: wide enough for whatever a driver
// takes, and narrow enough that no arithmetic on them goes wrong.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_PLAN_SCHEMA_H
#define BLOCKSCALE_LIB_PLAN_SCHEMA_H

#include "blockscale/Plan/Plan.h"
#include "blockscale/Plan/Variants.h"

#include <limits>

namespace blockscale::plan {

/// Bytes that a kernel's parameters may take (CUDA C++ Programming Guide,
/// "Function parameters").
inline constexpr int64_t kMaxParameterBytes = 32764;
inline constexpr int64_t kMaxAlignment = 4096;
inline constexpr int64_t kMax32 = std::numeric_limits<uint32_t>::max();

template <typename Archive> void describe(Archive &a, Size &size) {
  a.field("name", size.name);
  a.number("value", size.value, 1, kMaxSize);
  a.number("maximum", size.maximum, 1, kMaxSize);
}

template <typename Archive> void describe(Archive &a, Limit &limit) {
  a.expression("value", limit.value);
  a.number("maximum", limit.maximum, 0, std::numeric_limits<int64_t>::max());
  a.field("what", limit.what);
}

/// Codes of the driver's enumerators are small; which of them exist is the
/// driver's business.
template <typename Archive> void describe(Archive &a, DriverEnum &e) {
  a.field("name", e.name);
  a.number("code", e.code, 0, 15);
}

template <typename Archive> void describe(Archive &a, TensorMap &map) {
  a.field("dataType", map.dataType);
  a.expression("globalDim", map.globalDim);
  a.expression("globalStrides", map.globalStrides);
  a.number("boxDim", map.boxDim, 1, 256);
  a.number("elementStrides", map.elementStrides, 1, 8);
  a.field("interleave", map.interleave);
  a.field("swizzle", map.swizzle);
  a.field("l2Promotion", map.l2Promotion);
  a.field("oobFill", map.oobFill);
}

template <typename Archive> void describe(Archive &a, Parameter &parameter) {
  a.field("role", parameter.role);
  a.field("operand", parameter.operand);
  a.field("kind", parameter.kind);
  a.field("type", parameter.type);
  a.number("offset", parameter.offset, 0, kMaxParameterBytes);
  a.number("size", parameter.size, 1, kMaxParameterBytes);
  a.number("alignment", parameter.alignment, 1, kMaxAlignment);
  a.field("tensorMap", parameter.tensorMap);
}

template <typename Archive> void describe(Archive &a, ZeroPoints &zeros) {
  constexpr int64_t kMostBits = 32;
  a.number("bits", zeros.bits, 2, kMostBits);
  a.number("rows", zeros.rows, 0, kMaxSize);
  a.number("block", zeros.block, 0, kMaxSize);
}

template <typename Archive> void describe(Archive &a, SourceElements &source) {
  constexpr size_t kMostCodes = 512;
  constexpr int64_t kMostCode = 65535;
  a.field("format", source.format);
  a.number("codes", source.codes, -1, kMostCode);
  size_t count = source.codes.size();
  a.check(count > 1 && count <= kMostCodes && (count & (count - 1)) == 0,
          "has " + std::to_string(count) +
              " 'codes'; expected one for each code of the source, a power of "
              "two up to 512");
  a.laterField("zeros", source.zeros);
}

template <typename Archive> void describe(Archive &a, DataPacking &data) {
  a.field("operand", data.operand);
  a.field("format", data.format);
  a.field("order", data.order);
  a.number("bits", data.bits, 1, 64);
  a.number("elementMultiple", data.elementMultiple, 1, 256);
  a.field("zeroPadding", data.zeroPadding);
  a.expression("lines", data.lines);
  a.expression("elements", data.elements);
  a.expression("linePitch", data.linePitch);
  a.expression("batchPitch", data.batchPitch);
  a.number("alignment", data.alignment, 1, kMaxAlignment);
  a.field("bitOrder", data.bitOrder);
  a.laterField("source", data.source);
}

template <typename Archive> void describe(Archive &a, ScalePacking &scales) {
  a.field("operand", scales.operand);
  a.field("format", scales.format);
  a.number("block", scales.block, 1, kMaxSize);
  a.laterNumber("rows", scales.rows, 1, 0, kMaxSize);
  a.laterNumber("elements", scales.elements, 0, 1, kMaxSize);
  a.check(scales.ownBlock() % std::max(scales.block, 1u) == 0,
          "has 'elements' of " + std::to_string(scales.elements) +
              "; expected a multiple of 'block', " +
              std::to_string(scales.block));
  a.field("layout", scales.layout);
  a.place("offset", scales.offset, {"l", "r", "j"});
  a.expression("paddedRows", scales.paddedRows);
  a.expression("paddedScales", scales.paddedScales);
  a.expression("bytes", scales.bytes);
  a.number("alignment", scales.alignment, 1, kMaxAlignment);
  a.number("paddingValue", scales.paddingValue, 0, 255);
  a.number("largestPaddingValue", scales.largestPaddingValue, 0, 255);
}

template <typename Archive>
void describe(Archive &a, MetadataPacking &metadata) {
  a.field("operand", metadata.operand);
  a.field("pattern", metadata.pattern);
  a.number("elementsPerByte", metadata.elementsPerByte, 1, 256);
  a.field("layout", metadata.layout);
  a.place("offset", metadata.offset, {"l", "r", "k"});
  a.expression("paddedRows", metadata.paddedRows);
  a.expression("paddedElements", metadata.paddedElements);
  a.expression("bytes", metadata.bytes);
  a.number("paddingValue", metadata.paddingValue, 0, 255);
  a.number("alignment", metadata.alignment, 1, kMaxAlignment);
}

template <typename Archive> void describe(Archive &a, TensorScales &scales) {
  a.field("operand", scales.operand);
  a.expression("elements", scales.elements);
  a.number("alignment", scales.alignment, 1, kMaxAlignment);
}

template <typename Archive> void describe(Archive &a, VectorScales &scales) {
  a.field("operand", scales.operand);
  a.field("format", scales.format);
  a.number("rows", scales.rows, 0, kMaxSize);
  a.laterNumber("block", scales.block, 0, 1, kMaxSize);
  a.expression("matrixElements", scales.matrixElements);
  a.expression("elements", scales.elements);
  a.number("alignment", scales.alignment, 1, kMaxAlignment);
}

template <typename Archive> void describe(Archive &a, ZeroTerms &terms) {
  a.field("operand", terms.operand);
  a.field("format", terms.format);
  a.number("rows", terms.rows, 0, kMaxSize);
  a.number("block", terms.block, 0, kMaxSize);
  a.expression("first", terms.first);
  a.expression("count", terms.count);
}

template <typename Archive> void describe(Archive &a, Workspace &workspace) {
  a.expression("zeroBytes", workspace.zeroBytes);
  a.expression("bytes", workspace.bytes);
  a.number("alignment", workspace.alignment, 1, kMaxAlignment);
  a.number("parts", workspace.parts, 0, kMaxSize);
}

template <typename Archive> void describe(Archive &a, PlainOperand &plain) {
  a.field("operand", plain.operand);
  a.field("type", plain.type);
  a.expression("elements", plain.elements);
  a.expression("rowPitch", plain.rowPitch);
  a.expression("batchPitch", plain.batchPitch);
  a.number("alignment", plain.alignment, 1, kMaxAlignment);
}

template <typename Archive> void describe(Archive &a, EpilogueStep &step) {
  a.field("name", step.name);
  a.field("op", step.op);
  a.field("operands", step.operands);
  a.field("type", step.type);
  a.field("predicate", step.predicate);
  a.field("constant", step.constant);
}

template <typename Archive> void describe(Archive &a, Epilogue &epilogue) {
  a.field("alpha", epilogue.alpha);
  a.field("beta", epilogue.beta);
  a.field("aTensorScale", epilogue.aTensorScale);
  a.field("bTensorScale", epilogue.bTensorScale);
  a.field("bias", epilogue.bias);
  a.field("steps", epilogue.steps);
  a.field("result", epilogue.result);
  a.laterFlag("pairs", epilogue.pairs);
}

template <typename Archive>
void describe(Archive &a, Quantization &quantization) {
  a.field("rule", quantization.rule);
  a.field("rounding", quantization.rounding);
  a.field("seed", quantization.seed);
  a.laterField("type", quantization.type);
  a.laterFlag("transposed", quantization.transposed);
}

template <typename Archive> void describe(Archive &a, Conversion &conversion) {
  a.field("op", conversion.op);
  a.laterNumber("keep", conversion.keep, 0, 1, kMaxSize);
  a.laterNumber("group", conversion.group, 0, 1, kMaxSize);
  a.laterFlag("pairs", conversion.pairs);
  a.laterFlag("mnMajor", conversion.mnMajor);
  a.laterFlag("sparse", conversion.sparse);
}

template <typename Archive> void describe(Archive &a, Kernel &kernel) {
  a.field("name", kernel.name);
  a.field("sourceFunction", kernel.sourceFunction);
  a.laterField("variantOf", kernel.variantOf);
  a.expression("grid", kernel.grid);
  a.number("cluster", kernel.cluster, 1, kMaxSize);
  a.number("block", kernel.block, 1, kMaxSize);
  a.field("dependentLaunch", kernel.dependentLaunch);
  a.laterFlag("cooperative", kernel.cooperative);
  a.number("sharedMemoryBytes", kernel.sharedMemoryBytes, 0, kMax32);
  a.laterFlag("oversizedSharedMemory", kernel.oversizedSharedMemory);
  a.field("sizes", kernel.sizes);
  a.field("limits", kernel.limits);
  a.conditions("conditions", kernel.conditions);
  a.field("parameters", kernel.parameters);
  a.field("data", kernel.data);
  a.field("scales", kernel.scales);
  a.field("metadata", kernel.metadata);
  a.field("tensorScales", kernel.tensorScales);
  a.laterList("vectorScales", kernel.vectorScales);
  a.laterList("zeroTerms", kernel.zeroTerms);
  a.field("operands", kernel.operands);
  a.laterField("workspace", kernel.workspace);
  a.field("epilogue", kernel.epilogue);
  a.laterField("quantization", kernel.quantization);
  a.laterField("transposedQuantization", kernel.transposedQuantization);
  a.laterField("conversion", kernel.conversion);
}

template <typename Archive> void describe(Archive &a, Argument &argument) {
  a.field("name", argument.name);
  a.field("type", argument.type);
}

template <typename Archive> void describe(Archive &a, StepOperand &operand) {
  a.field("operand", operand.operand);
  a.field("value", operand.value);
  a.field("constant", operand.constant);
}

template <typename Archive> void describe(Archive &a, Step &step) {
  a.field("op", step.op);
  a.field("kernel", step.kernel);
  a.field("operands", step.operands);
  a.field("results", step.results);
  a.field("text", step.text);
  a.field("location", step.location);
}

template <typename Archive> void describe(Archive &a, Function &function) {
  a.field("name", function.name);
  a.field("arguments", function.arguments);
  a.field("steps", function.steps);
  a.field("results", function.results);
}

/// An alternative, or what a plan has in common with one.
template <typename Archive> void describe(Archive &a, Plan &plan) {
  a.field("target", plan.target);
  a.laterList("devices", plan.devices);
  a.field("kernels", plan.kernels);
  a.field("functions", plan.functions);
}

/// A whole plan.
template <typename Archive> void describeFile(Archive &a, Plan &plan) {
  int64_t version = kPlanVersion;
  a.number("version", version, 0, kMax32);
  a.check(version == kPlanVersion,
          "version " + std::to_string(version) + " is not " +
              std::to_string(kPlanVersion) + ", the one known here");
  describe(a, plan);
  a.laterList("alternatives", plan.alternatives);
}

static constexpr std::string_view kKinds[] = {"tensorMap", "pointer", "scalar"};

} // namespace blockscale::plan

#endif // BLOCKSCALE_LIB_PLAN_SCHEMA_H

//===- Plan.cpp - launch plans to and from JSON ---------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The schema is written once, in the `describe` functions; a Writer and a
// Reader walk over it, so that what is written is what is read.

#include "blockscale/Plan/Plan.h"
#include "blockscale/Plan/Expression.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace blockscale::plan;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// The schema
//===----------------------------------------------------------------------===//

template <typename Archive> static void describe(Archive &a, Size &size) {
  a.field("name", size.name);
  a.field("value", size.value);
}

template <typename Archive> static void describe(Archive &a, DriverEnum &e) {
  a.field("name", e.name);
  a.field("code", e.code);
}

template <typename Archive> static void describe(Archive &a, TensorMap &map) {
  a.field("dataType", map.dataType);
  a.expression("globalDim", map.globalDim);
  a.expression("globalStrides", map.globalStrides);
  a.field("boxDim", map.boxDim);
  a.field("elementStrides", map.elementStrides);
  a.field("interleave", map.interleave);
  a.field("swizzle", map.swizzle);
  a.field("l2Promotion", map.l2Promotion);
  a.field("oobFill", map.oobFill);
}

template <typename Archive>
static void describe(Archive &a, Parameter &parameter) {
  a.field("role", parameter.role);
  a.field("operand", parameter.operand);
  a.field("kind", parameter.kind);
  a.field("type", parameter.type);
  a.field("offset", parameter.offset);
  a.field("size", parameter.size);
  a.field("alignment", parameter.alignment);
  a.field("tensorMap", parameter.tensorMap);
}

template <typename Archive>
static void describe(Archive &a, DataPacking &data) {
  a.field("operand", data.operand);
  a.field("format", data.format);
  a.field("order", data.order);
  a.field("bits", data.bits);
  a.field("elementMultiple", data.elementMultiple);
  a.field("zeroPadding", data.zeroPadding);
  a.expression("lines", data.lines);
  a.expression("elements", data.elements);
  a.expression("linePitch", data.linePitch);
  a.expression("batchPitch", data.batchPitch);
  a.field("alignment", data.alignment);
  a.field("bitOrder", data.bitOrder);
}

template <typename Archive>
static void describe(Archive &a, ScalePacking &scales) {
  a.field("operand", scales.operand);
  a.field("format", scales.format);
  a.field("block", scales.block);
  a.field("layout", scales.layout);
  a.field("offset", scales.offset);
  a.expression("paddedRows", scales.paddedRows);
  a.expression("paddedScales", scales.paddedScales);
  a.expression("bytes", scales.bytes);
  a.field("alignment", scales.alignment);
  std::string padding = "any", recommended = "0";
  a.field("paddingValue", padding);
  a.field("recommendedPaddingValue", recommended);
}

template <typename Archive>
static void describe(Archive &a, MetadataPacking &metadata) {
  a.field("operand", metadata.operand);
  a.field("pattern", metadata.pattern);
  a.field("elementsPerByte", metadata.elementsPerByte);
  a.field("layout", metadata.layout);
  a.field("offset", metadata.offset);
  a.expression("paddedRows", metadata.paddedRows);
  a.expression("paddedElements", metadata.paddedElements);
  a.expression("bytes", metadata.bytes);
  a.field("paddingValue", metadata.paddingValue);
  a.field("alignment", metadata.alignment);
}

template <typename Archive>
static void describe(Archive &a, PlainOperand &plain) {
  a.field("operand", plain.operand);
  a.field("type", plain.type);
  a.expression("elements", plain.elements);
  a.expression("rowPitch", plain.rowPitch);
  a.expression("batchPitch", plain.batchPitch);
}

template <typename Archive>
static void describe(Archive &a, Epilogue &epilogue) {
  a.field("alpha", epilogue.alpha);
  a.field("beta", epilogue.beta);
  a.field("aTensorScale", epilogue.aTensorScale);
  a.field("bTensorScale", epilogue.bTensorScale);
  a.field("bias", epilogue.bias);
  a.field("activation", epilogue.activation);
}

template <typename Archive> static void describe(Archive &a, Kernel &kernel) {
  a.field("name", kernel.name);
  a.field("sourceFunction", kernel.sourceFunction);
  a.expression("grid", kernel.grid);
  a.field("cluster", kernel.cluster);
  a.field("block", kernel.block);
  a.field("dependentLaunch", kernel.dependentLaunch);
  a.field("sharedMemoryBytes", kernel.sharedMemoryBytes);
  a.field("sizes", kernel.sizes);
  a.field("parameters", kernel.parameters);
  a.field("data", kernel.data);
  a.field("scales", kernel.scales);
  a.field("metadata", kernel.metadata);
  a.field("operands", kernel.operands);
  a.field("epilogue", kernel.epilogue);
}

template <typename Archive> static void describe(Archive &a, Plan &plan) {
  int64_t version = kPlanVersion;
  a.field("version", version);
  a.check(version == kPlanVersion,
          "version " + std::to_string(version) + " is not " +
              std::to_string(kPlanVersion) + ", the one known here");
  a.field("target", plan.target);
  a.field("kernels", plan.kernels);
}

static constexpr StringRef kKinds[] = {"tensorMap", "pointer", "scalar"};

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

namespace {
struct Writer {
  llvm::json::OStream &json;

  void check(bool, const std::string &) {}
  template <typename T> void field(StringRef key, T &value) {
    json.attributeBegin(key);
    write(value);
    json.attributeEnd();
  }
  template <typename T> void expression(StringRef key, T &value) {
    field(key, value);
  }

  void write(std::string &value) { json.value(value); }
  void write(bool &value) { json.value(value); }
  void write(int64_t &value) { json.value(value); }
  void write(uint64_t &value) { json.value(int64_t(value)); }
  void write(unsigned &value) { json.value(int64_t(value)); }
  void write(ParameterKind &value) { json.value(kKinds[unsigned(value)]); }
  template <typename T> void write(std::optional<T> &value) {
    if (value)
      write(*value);
    else
      json.value(nullptr);
  }
  template <typename T> void write(std::vector<T> &values) {
    json.arrayBegin();
    for (T &value : values)
      write(value);
    json.arrayEnd();
  }
  template <typename T> void write(T &value) {
    json.objectBegin();
    describe(*this, value);
    json.objectEnd();
  }
};
} // namespace

std::string blockscale::plan::printPlan(const Plan &plan) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::json::OStream json(stream, /*IndentSize=*/2);
  // The schema's functions serve the reader too, hence a copy to refer to.
  Plan copy = plan;
  Writer{json}.write(copy);
  stream << '\n';
  return text;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {
/// Reads the fields of one JSON object. Of several errors the first counts.
struct Reader {
  const llvm::json::Object &object;
  const std::string path;
  std::string &error;

  void fail(StringRef at, const std::string &what) {
    if (error.empty())
      error = "launch plan: '" + at.str() + "': " + what;
  }

  void check(bool holds, const std::string &why) {
    if (!holds)
      fail(path.empty() ? "plan" : path, why);
  }

  std::string pathOf(StringRef key) const {
    return path.empty() ? key.str() : path + "." + key.str();
  }

  template <typename T> void field(StringRef key, T &value) {
    if (!error.empty())
      return;
    if (const llvm::json::Value *found = object.get(key))
      read(*found, pathOf(key), value);
    else
      fail(pathOf(key), "is missing");
  }

  void judge(const std::string &at, const std::string &text) {
    if (std::optional<std::string> why = whyNotExpression(text))
      fail(at, *why);
  }
  void expression(StringRef key, std::string &value) {
    field(key, value);
    // A bias has no pitches, a matrix no element count.
    if (error.empty() && !value.empty())
      judge(pathOf(key), value);
  }
  void expression(StringRef key, std::vector<std::string> &values) {
    field(key, values);
    for (auto [index, value] : llvm::enumerate(values))
      if (error.empty())
        judge(pathOf(key) + "[" + std::to_string(index) + "]", value);
  }

  void read(const llvm::json::Value &json, const std::string &at,
            std::string &value) {
    if (std::optional<StringRef> text = json.getAsString())
      value = text->str();
    else
      fail(at, "is not a string");
  }
  void read(const llvm::json::Value &json, const std::string &at, bool &value) {
    if (std::optional<bool> truth = json.getAsBoolean())
      value = *truth;
    else
      fail(at, "is not true or false");
  }
  void read(const llvm::json::Value &json, const std::string &at,
            int64_t &value) {
    if (std::optional<int64_t> number = json.getAsInteger())
      value = *number;
    else
      fail(at, "is not an integer");
  }
  template <typename T>
  void readUnsigned(const llvm::json::Value &json, const std::string &at,
                    T &value) {
    int64_t number = 0;
    read(json, at, number);
    if (number < 0 ||
        uint64_t(number) > uint64_t(std::numeric_limits<T>::max()))
      return fail(at, std::to_string(number) + " is out of range");
    value = T(number);
  }
  void read(const llvm::json::Value &json, const std::string &at,
            uint64_t &value) {
    readUnsigned(json, at, value);
  }
  void read(const llvm::json::Value &json, const std::string &at,
            unsigned &value) {
    readUnsigned(json, at, value);
  }
  void read(const llvm::json::Value &json, const std::string &at,
            ParameterKind &value) {
    std::string name;
    read(json, at, name);
    for (auto [index, kind] : llvm::enumerate(kKinds))
      if (name == kind) {
        value = ParameterKind(index);
        return;
      }
    fail(at, "'" + name + "' is not 'tensorMap', 'pointer' or 'scalar'");
  }
  template <typename T>
  void read(const llvm::json::Value &json, const std::string &at,
            std::optional<T> &value) {
    value.reset();
    if (json.getAsNull())
      return;
    read(json, at, value.emplace());
  }
  template <typename T>
  void read(const llvm::json::Value &json, const std::string &at,
            std::vector<T> &values) {
    const llvm::json::Array *array = json.getAsArray();
    if (!array)
      return fail(at, "is not an array");
    values.clear();
    for (auto [index, element] : llvm::enumerate(*array))
      read(element, at + "[" + std::to_string(index) + "]",
           values.emplace_back());
  }
  template <typename T>
  void read(const llvm::json::Value &json, const std::string &at, T &value) {
    const llvm::json::Object *fields = json.getAsObject();
    if (!fields)
      return fail(at, "is not an object");
    Reader reader{*fields, at, error};
    describe(reader, value);
  }
};
} // namespace

/// Rules between fields, which their types do not say.
static std::string whyNotConsistent(const Kernel &kernel) {
  auto inKernel = [&](const std::string &what) {
    return "launch plan: kernel '" + kernel.name + "': " + what;
  };
  if (kernel.grid.size() != 3 || kernel.cluster.size() != 3 ||
      kernel.block.size() != 3)
    return inKernel("'grid', 'cluster' and 'block' need 3 entries each");
  for (const Parameter &parameter : kernel.parameters) {
    bool isMap = parameter.kind == ParameterKind::TensorMap;
    if (isMap != parameter.tensorMap.has_value())
      return inKernel("parameter '" + parameter.role + "' " +
                      (isMap ? "lacks its" : "has no place for a") +
                      " 'tensorMap'");
    if (!isMap)
      continue;
    size_t rank = parameter.tensorMap->globalDim.size();
    if (rank < 1 || rank > 5 || parameter.tensorMap->boxDim.size() != rank ||
        parameter.tensorMap->elementStrides.size() != rank ||
        parameter.tensorMap->globalStrides.size() != rank - 1)
      return inKernel("the tensor map of parameter '" + parameter.role +
                      "' needs 1 to 5 extents, as many 'boxDim' and "
                      "'elementStrides', and one less of 'globalStrides'");
  }
  return "";
}

llvm::Expected<Plan> blockscale::plan::parsePlan(StringRef text) {
  llvm::Expected<llvm::json::Value> json = llvm::json::parse(text);
  if (!json)
    return llvm::createStringError("launch plan: " +
                                   llvm::toString(json.takeError()));
  Plan plan;
  std::string error;
  const llvm::json::Object *object = json->getAsObject();
  if (!object)
    return llvm::createStringError("launch plan: not a JSON object");
  Reader reader{*object, "", error};
  describe(reader, plan);
  for (const Kernel &kernel : plan.kernels)
    if (error.empty())
      error = whyNotConsistent(kernel);
  if (!error.empty())
    return llvm::createStringError(error);
  return plan;
}

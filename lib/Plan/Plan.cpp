//===- Plan.cpp - launch plans to and from JSON ---------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Plan/Plan.h"
#include "Schema.h"
#include "blockscale/Plan/Expression.h"
#include "blockscale/Plan/Variants.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

using namespace blockscale;
using namespace blockscale::plan;

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

namespace {
/// Gives JSON whose keys stand in the order of the schema.
struct Writer {
  using Json = nlohmann::ordered_json;
  Json &object;

  void check(bool, const std::string &) {}
  template <typename T> void field(const char *key, T &value) {
    object[key] = toJson(value);
  }
  /// A key that plans did not always have; without it it is false.
  void laterFlag(const char *key, bool value) {
    if (value)
      object[key] = value;
  }
  /// Likewise; without it it is `absent`.
  void laterNumber(const char *key, unsigned &value, unsigned absent, int64_t,
                   int64_t) {
    if (value != absent)
      field(key, value);
  }
  /// Likewise; without it it is empty.
  template <typename T> void laterList(const char *key, std::vector<T> &value) {
    if (!value.empty())
      field(key, value);
  }
  /// A field that plans had not from the beginning.
  template <typename T>
  void laterField(const char *key, std::optional<T> &value) {
    if (value)
      field(key, value);
  }
  template <typename T> void expression(const char *key, T &value) {
    field(key, value);
  }
  template <typename T> void conditions(const char *key, T &value) {
    field(key, value);
  }
  template <typename T>
  void number(const char *key, T &value, int64_t, int64_t) {
    field(key, value);
  }
  void place(const char *key, std::string &value,
             std::initializer_list<std::string_view>) {
    field(key, value);
  }

  Json toJson(std::string &value) { return value; }
  Json toJson(bool &value) { return value; }
  Json toJson(double &value) { return value; }
  Json toJson(int64_t &value) { return value; }
  Json toJson(uint64_t &value) { return value; }
  Json toJson(unsigned &value) { return value; }
  Json toJson(ParameterKind &value) { return kKinds[unsigned(value)]; }
  template <typename T> Json toJson(std::optional<T> &value) {
    return value ? toJson(*value) : Json();
  }
  template <typename T> Json toJson(std::vector<T> &values) {
    Json array = Json::array();
    for (T &value : values)
      array.push_back(toJson(value));
    return array;
  }
  template <typename T> Json toJson(T &value) {
    Json fields = Json::object();
    Writer writer{fields};
    describe(writer, value);
    return fields;
  }
};
} // namespace

std::string blockscale::plan::printPlan(const Plan &plan) {
  Writer::Json json = Writer::Json::object();
  Writer writer{json};
  // The schema's functions serve the reader too, hence a copy to refer to.
  Plan copy = plan;
  describeFile(writer, copy);
  constexpr int kIndent = 2;
  return json.dump(kIndent, ' ', /*ensure_ascii=*/false,
                   Writer::Json::error_handler_t::replace) +
         "\n";
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {
using nlohmann::json;

/// Reads the fields of one JSON object. Of several errors the first counts.
struct Reader {
  const json &object;
  const std::string path;
  std::optional<Reason> &why;

  void fail(const std::string &at, const std::string &what) {
    if (!why)
      why = "launch plan: '" + at + "': " + what;
  }

  void check(bool holds, const std::string &rule) {
    if (!holds)
      fail(path.empty() ? "plan" : path, rule);
  }

  std::string pathOf(const char *key) const {
    return path.empty() ? key : path + "." + key;
  }

  template <typename T> void field(const char *key, T &value) {
    if (why)
      return;
    auto found = object.find(key);
    if (found == object.end())
      return fail(pathOf(key), "is missing");
    read(*found, pathOf(key), value);
  }

  void laterFlag(const char *key, bool &value) {
    value = false;
    if (object.contains(key))
      field(key, value);
  }

  void laterNumber(const char *key, unsigned &value, unsigned absent,
                   int64_t least, int64_t largest) {
    value = absent;
    if (object.contains(key))
      number(key, value, least, largest);
  }

  template <typename T> void laterList(const char *key, std::vector<T> &value) {
    value.clear();
    if (object.contains(key))
      field(key, value);
  }
  template <typename T>
  void laterField(const char *key, std::optional<T> &value) {
    value.reset();
    if (object.contains(key))
      field(key, value);
  }

  void judge(const std::string &at, const std::string &text) {
    if (auto broken = whyNotExpression(text))
      fail(at, broken->text);
  }
  void expression(const char *key, std::string &value) {
    field(key, value);
    // A bias has no pitches, a matrix no element count.
    if (!why && !value.empty())
      judge(pathOf(key), value);
  }
  void expression(const char *key, std::vector<std::string> &values) {
    field(key, values);
    for (size_t i = 0; i < values.size() && !why; ++i)
      judge(pathOf(key) + "[" + std::to_string(i) + "]", values[i]);
  }
  void conditions(const char *key, std::vector<std::string> &values) {
    field(key, values);
    for (size_t i = 0; i < values.size() && !why; ++i)
      if (auto broken = whyNotCondition(values[i]))
        fail(pathOf(key) + "[" + std::to_string(i) + "]", broken->text);
  }

  /// An expression over `names`, the coordinates of a byte, besides the sizes.
  void place(const char *key, std::string &value,
             std::initializer_list<std::string_view> names) {
    field(key, value);
    if (why)
      return;
    if (auto broken = whyNotExpression(value, names))
      fail(pathOf(key), broken->text);
  }

  template <typename T>
  void number(const char *key, T &value, int64_t least, int64_t largest) {
    if (why)
      return;
    auto found = object.find(key);
    if (found == object.end())
      return fail(pathOf(key), "is missing");
    readNumber(*found, pathOf(key), value, {least, largest});
  }

  struct Range {
    int64_t least, largest;
  };
  template <typename T>
  void readNumber(const json &json, const std::string &at, T &value,
                  Range range) {
    if (!json.is_number_integer())
      return fail(at, "is not an integer");
    bool beyond =
        json.is_number_unsigned() &&
        json.get<uint64_t>() > uint64_t(std::numeric_limits<int64_t>::max());
    auto number = json.get<int64_t>();
    if (beyond || number < range.least || number > range.largest)
      return fail(at, json.dump() + " is out of range; expected " +
                          std::to_string(range.least) + " to " +
                          std::to_string(range.largest));
    value = static_cast<T>(number);
  }
  template <typename T>
  void readNumber(const json &json, const std::string &at,
                  std::optional<T> &value, Range range) {
    value.reset();
    if (!json.is_null())
      readNumber(json, at, value.emplace(), range);
  }
  template <typename T>
  void readNumber(const json &json, const std::string &at,
                  std::vector<T> &values, Range range) {
    readArray(json, at, values, [&](const auto &element, const auto &place) {
      readNumber(element, place, values.emplace_back(), range);
    });
  }

  void read(const json &json, const std::string &at, std::string &value) {
    if (json.is_string())
      value = json.get_ref<const std::string &>();
    else
      fail(at, "is not a string");
  }
  void read(const json &json, const std::string &at, bool &value) {
    if (json.is_boolean())
      value = json.get<bool>();
    else
      fail(at, "is not true or false");
  }
  void read(const json &json, const std::string &at, double &value) {
    if (json.is_number())
      value = json.get<double>();
    else
      fail(at, "is not a number");
  }
  void read(const json &json, const std::string &at, ParameterKind &value) {
    std::string name;
    read(json, at, name);
    for (size_t i = 0; i < std::size(kKinds); ++i)
      if (name == kKinds[i]) {
        value = ParameterKind(i);
        return;
      }
    fail(at, "'" + name + "' is not 'tensorMap', 'pointer' or 'scalar'");
  }
  template <typename T>
  void read(const json &json, const std::string &at, std::optional<T> &value) {
    value.reset();
    if (!json.is_null())
      read(json, at, value.emplace());
  }
  template <typename T, typename ReadElement>
  void readArray(const json &json, const std::string &at,
                 std::vector<T> &values, const ReadElement &readElement) {
    if (!json.is_array())
      return fail(at, "is not an array");
    values.clear();
    for (size_t i = 0; i < json.size() && !why; ++i)
      readElement(json[i], at + "[" + std::to_string(i) + "]");
  }
  template <typename T>
  void read(const json &json, const std::string &at, std::vector<T> &values) {
    readArray(json, at, values, [&](const auto &element, const auto &place) {
      read(element, place, values.emplace_back());
    });
  }
  template <typename T>
  void read(const json &json, const std::string &at, T &value) {
    if (!json.is_object())
      return fail(at, "is not an object");
    Reader reader{json, at, why};
    describe(reader, value);
  }
};

/// Goes over JSON without keeping it: is it well formed, and how deep?
struct Prescan : nlohmann::json_sax<json> {
  std::string problem;
  unsigned depth = 0;

  bool open() {
    if (++depth <= kMaxPlanDepth)
      return true;
    problem = "nesting deeper than " + std::to_string(kMaxPlanDepth);
    return false;
  }
  bool close() {
    --depth;
    return true;
  }
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t &) override { return true; }
  bool string(string_t &) override { return true; }
  bool binary(binary_t &) override { return true; }
  bool start_object(size_t) override { return open(); }
  bool key(string_t &) override { return true; }
  bool end_object() override { return close(); }
  bool start_array(size_t) override { return open(); }
  bool end_array() override { return close(); }
  bool parse_error(size_t, const std::string &,
                   const nlohmann::detail::exception &reason) override {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: ..."
    std::string text = reason.what();
    size_t after = text.find("] ");
    problem = after == std::string::npos ? text : text.substr(after + 2);
    return false;
  }
};
} // namespace

/// What is wrong with a tensor map beyond its fields.
static std::optional<Reason> whyNotMap(const TensorMap &map) {
  size_t rank = map.globalDim.size();
  if (rank < 1 || rank > 5 || map.boxDim.size() != rank ||
      map.elementStrides.size() != rank || map.globalStrides.size() != rank - 1)
    return "needs 1 to 5 extents, as many 'boxDim' and 'elementStrides', and "
           "one less of 'globalStrides'";
  return std::nullopt;
}

/// Rules between fields, which their types do not say.
static std::optional<Reason> whyNotConsistent(const Kernel &kernel) {
  auto inKernel = [&](const std::string &what) {
    return "launch plan: kernel '" + kernel.name + "': " + what;
  };
  if (kernel.grid.size() != 3 || kernel.cluster.size() != 3 ||
      kernel.block.size() != 3)
    return inKernel("'grid', 'cluster' and 'block' need 3 entries each");
  for (std::string_view name : {"M", "N", "K", "batch"}) {
    size_t count = 0;
    for (const Size &size : kernel.sizes)
      count += size.name == name;
    if (count != 1)
      return inKernel("'sizes' has " + std::to_string(count) +
                      " entries for '" + std::string(name) + "'; expected one");
  }
  bool takesWorkspace =
      std::any_of(kernel.parameters.begin(), kernel.parameters.end(),
                  [](const Parameter &parameter) {
                    return parameter.role == kWorkspaceRole;
                  });
  if (takesWorkspace != kernel.workspace.has_value())
    return inKernel("a 'workspace' and a parameter of that role belong "
                    "together");
  for (const Parameter &parameter : kernel.parameters) {
    bool isMap = parameter.kind == ParameterKind::TensorMap;
    if (isMap != parameter.tensorMap.has_value())
      return inKernel("parameter '" + parameter.role + "' " +
                      (isMap ? "lacks its" : "has no place for a") +
                      " 'tensorMap'");
    if (!isMap)
      continue;
    if (auto why = whyNotMap(*parameter.tensorMap))
      return inKernel("the tensor map of parameter '" + parameter.role + "' " +
                      why->text);
  }
  return std::nullopt;
}

/// "10.7"
static bool isCapability(std::string_view text) {
  size_t point = text.find('.');
  auto isNumber = [](std::string_view part) {
    return !part.empty() && part.size() <= 3 &&
           part.find_first_not_of("0123456789") == part.npos;
  };
  return point != text.npos && isNumber(text.substr(0, point)) &&
         isNumber(text.substr(point + 1));
}

/// Rules between a plan's alternatives.
static std::optional<Reason> whyNotChoice(const Plan &plan) {
  std::set<std::string> targets;
  for (const Plan *each : choices(plan)) {
    auto inTarget = [&](const std::string &what) {
      return "launch plan: target '" + each->target + "': " + what;
    };
    for (const std::string &device : each->devices)
      if (!isCapability(device))
        return inTarget("'" + device +
                        "' in 'devices' is no compute capability such as "
                        "'10.0'");
    if (!plan.alternatives.empty() && each->devices.empty())
      return inTarget("needs 'devices' to be chosen by");
    if (!targets.insert(each->target).second)
      return inTarget("is there twice");
    for (const Kernel &kernel : each->kernels)
      if (auto why = whyNotConsistent(kernel))
        return why;
    if (auto why = whyNotVariants(*each))
      return why;
  }
  return std::nullopt;
}

/// The text as JSON, if it is JSON and within the limits.
static Result<json> parseJson(std::string_view text) {
  if (text.size() > kMaxPlanBytes)
    return Reason("launch plan: " + std::to_string(text.size()) +
                  " bytes; at most " + std::to_string(kMaxPlanBytes) +
                  " are read");
  Prescan prescan;
  if (!json::sax_parse(text, &prescan))
    return Reason("launch plan: " + prescan.problem);
  return json::parse(text);
}

Result<Plan> blockscale::plan::parsePlan(std::string_view text) {
  Result<json> parsed = parseJson(text);
  if (!parsed)
    return parsed.why();
  if (!parsed->is_object())
    return Reason("launch plan: not a JSON object");
  Plan plan;
  std::optional<Reason> why;
  Reader reader{*parsed, "", why};
  describeFile(reader, plan);
  if (!why)
    why = whyNotChoice(plan);
  if (why)
    return *why;
  return plan;
}

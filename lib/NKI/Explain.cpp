//===- Explain.cpp - the rules on the command line ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Rules.h"

#include <sstream>

using namespace blockscale;
using namespace blockscale::nki;

namespace {

/// Reads names into fields and keeps the first complaint.
class Reader {
public:
  void element(const std::string &name, const char *what,
               ElementFormat &value) {
    if (!name.empty())
      take(parseFormat(name), name, what, value);
  }
  void plain(const std::string &name, const char *what, PlainType &value) {
    if (name.empty())
      return;
    std::optional<PlainType> type = parsePlainType(name);
    if (name == "f32")
      type = PlainType::F32;
    if (name == "bf16")
      type = PlainType::BF16;
    if (name == "f16")
      type = PlainType::F16;
    if (name == "e8m0" || name == "ue8m0")
      type = PlainType::E8M0;
    take(type, name, what, value);
  }
  void buffer(const std::string &name, const char *what, Buffer &value) {
    for (Buffer buffer : {Buffer::Hbm, Buffer::Sbuf, Buffer::Psum})
      if (bufferName(buffer) == name) {
        value = buffer;
        return;
      }
    if (!name.empty())
      complain(name, what);
  }
  void accumulate(const std::string &names,
                  std::vector<std::optional<bool>> &values) {
    std::istringstream words(names);
    for (std::string name; std::getline(words, name, ',');) {
      values.emplace_back();
      if (name == "true" || name == "false")
        values.back() = name == "true";
      else if (name != "none")
        complain(name, "value of 'accumulate'");
    }
  }
  void map(const std::vector<unsigned> &strides, ContractionMap &value) {
    if (strides.size() == 2)
      value = {strides[0], strides[1]};
    else if (!strides.empty())
      complain(number(strides.size()) + " strides", "K map");
  }

  std::optional<Reason> why;

private:
  template <typename Value>
  void take(std::optional<Value> parsed, const std::string &name,
            const char *what, Value &value) {
    if (parsed)
      value = *parsed;
    else
      complain(name, what);
  }
  void complain(const std::string &name, const char *what) {
    if (!why)
      why = "unknown " + std::string(what) + " '" + name + "'";
  }
};

template <typename Query>
Legality answer(const Query &query, const std::string &description) {
  if (std::optional<Reason> why = whyNot(query))
    return {false, "illegal: " + why->text};
  return {true, "legal: " + description};
}

/// Fills in what is not a size.
void readOperands(const LegalityQuestion &question, Reader &reader,
                  MatmulQuery &query) {
  reader.element(question.a, "element type", query.stationary);
  reader.element(question.b, "element type", query.moving);
  query.scaled = question.scale != "none";
  if (query.scaled)
    reader.element(question.scale, "scale format", query.scale);
  reader.plain(question.scaleType, "type of scale tiles", query.scaleType);
  reader.plain(question.dst, "type of dst", query.dst);
  reader.buffer(question.dstBuffer, "memory", query.dstBuffer);
  reader.buffer(question.srcBuffer, "memory", query.operandBuffer);
  reader.accumulate(question.accumulate, query.accumulate);
  reader.map(question.kMap, query.stationaryMap);
  query.movingMap = query.stationaryMap;
  reader.map(question.movingKMap, query.movingMap);
  query.accumulateFlags = question.accumulateFlags;
  query.sparse = question.sparse;
  query.zeroPoints = question.zeroPoints;
  query.block = question.block.value_or(query.block);
  query.dataIndex = question.dataIndex;
  query.scaleIndex = question.scaleIndex;
}

void readSizes(const LegalityQuestion &question, MatmulQuery &query) {
  query.partitions =
      question.partitions.value_or(question.k ? *question.k / kPack : 128);
  query.movingPartitions = question.movingPartitions.value_or(query.partitions);
  query.scalePartitions = question.scalePartitions.value_or(query.partitions);
  query.scaleOffset = question.scaleOffset.value_or(0);
  query.m = question.m.value_or(query.m);
  query.n = question.n.value_or(query.n);
  query.dstPartitions = question.dstPartitions;
  query.dstFree = question.dstFree;
  query.stationaryScaleFree = question.scaleFree;
  query.movingScaleFree = question.movingScaleFree;
  if (question.rowSize || question.columnSize)
    query.tileSize = {question.rowSize.value_or(kPartitions),
                      question.columnSize.value_or(kPartitions)};
  if (question.startRow || question.startColumn)
    query.tilePosition = {question.startRow.value_or(0),
                          question.startColumn.value_or(0)};
  query.operandPartition =
      question.operandPartition.value_or(question.startRow.value_or(0));
  query.movingPartition = question.movingPartition;
}

Result<Legality> explainMatmul(const LegalityQuestion &question,
                               Target target) {
  MatmulQuery query;
  query.target = target;
  Reader reader;
  readOperands(question, reader, query);
  if (reader.why)
    return *reader.why;
  if (question.k && question.partitions)
    return Reason("give 'k' or 'partitions', which is a quarter of it, "
                  "not both");
  if (question.k && *question.k % kPack != 0)
    return Reason("K of an instruction is four elements for each of its "
                  "partitions: a multiple of 4, found " +
                  number(*question.k));
  readSizes(question, query);
  std::string tile;
  if (query.tileSize && query.tilePosition)
    tile = ", rows " + number(query.tilePosition->first) + " to " +
           number(query.tilePosition->first + query.tileSize->first - 1) +
           " of the array";
  return answer(query, "'nc_matmul_mx' on '" + targetName(target) + "': '" +
                           std::string(formatName(query.stationary)) +
                           "' by '" + std::string(formatName(query.moving)) +
                           "', one 'ue8m0' per 32, M = " + number(query.m) +
                           ", N = " + number(query.n) +
                           ", P = " + number(query.partitions) + " (K = " +
                           number(query.partitions * kPack) + ")" + tile);
}

Result<Legality> explainQuantize(const LegalityQuestion &question,
                                 Target target) {
  QuantizeQuery query;
  query.target = target;
  Reader reader;
  reader.plain(question.a, "type of src", query.src);
  reader.element(question.b, "element type", query.dst);
  reader.plain(question.scaleType, "type of scale tiles", query.scaleType);
  reader.buffer(question.dstBuffer, "memory", query.dstBuffer);
  reader.buffer(question.srcBuffer, "memory", query.srcBuffer);
  if (reader.why)
    return *reader.why;
  query.partitions = question.partitions.value_or(128);
  query.scalePartitions = question.scalePartitions.value_or(query.partitions);
  query.scaleOffset = question.scaleOffset.value_or(0);
  query.free = question.n.value_or(query.free);
  query.dstPartitions = question.dstPartitions;
  query.dstFree = question.dstFree;
  query.scaleFree = question.scaleFree;
  return answer(query, "'quantize_mx' on '" + targetName(target) + "': '" +
                           std::string(plainTypeName(query.src)) + "' to '" +
                           std::string(formatName(query.dst)) +
                           "', P = " + number(query.partitions) +
                           ", F = " + number(query.free));
}

/// Calls `row` with instruction, subject, legal values and source of each rule.
template <typename Function> void forEachRule(Target target, Function row) {
  auto rows = [&](auto query) {
    query.target = target;
    for (const auto &rule : rulesFor(query))
      row(instructionName(query), rule.what, rule.expected(query), rule.source);
  };
  MatmulQuery matmul;
  matmul.tileSize = {32, 128};
  matmul.tilePosition = {0, 0};
  rows(matmul);
  rows(QuantizeQuery{});
}

} // namespace

Result<Legality>
blockscale::nki::explainLegality(const LegalityQuestion &question) {
  Result<Target> target = parseTarget(question.target);
  if (!target)
    return target.why();
  if (question.kind.empty() || question.kind == "nc_matmul_mx")
    return explainMatmul(question, *target);
  if (question.kind == "quantize_mx")
    return explainQuantize(question, *target);
  return Reason("unknown kind '" + question.kind + "', legal on '" +
                targetName(*target) + "' are 'nc_matmul_mx' and 'quantize_mx'");
}

std::string blockscale::nki::rulesMarkdown(Target target) {
  std::string text = "| instruction | what | legal on " + targetName(target) +
                     " | source |\n| --- | --- | --- | --- |\n";
  forEachRule(target, [&](std::string_view instruction, std::string_view what,
                          const std::string &legal, std::string_view source) {
    text += "| " + std::string(instruction) + " | " + std::string(what) +
            " | " + legal + " | " + std::string(source) + " |\n";
  });
  return text;
}

std::string blockscale::nki::rulesCsv(Target target) {
  std::string text = "instruction,what,legal,source\n";
  forEachRule(target, [&](std::string_view instruction, std::string_view what,
                          const std::string &legal, std::string_view source) {
    text += std::string(instruction) + "," + std::string(what) + ",\"" + legal +
            "\",\"" + std::string(source) + "\"\n";
  });
  return text;
}

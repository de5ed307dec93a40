//===- Questions.cpp - what the hardware allows ---------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support.h"
#include "blockscale-c/Explain.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <vector>

using namespace blockscale::python;

namespace {

using Fields = std::vector<std::pair<std::string, std::string>>;

/// Fields over the texts of `given`.
std::vector<BlockscaleField> fieldsOf(const Fields &given) {
  std::vector<BlockscaleField> fields;
  for (const auto &[name, value] : given)
    fields.push_back({slice(name), slice(value)});
  return fields;
}

std::pair<bool, std::string> explainLegality(const Fields &given) {
  std::vector<BlockscaleField> fields = fieldsOf(given);
  bool isLegal;
  BlockscaleBytes words;
  check(blockscaleExplainLegality(fields.data(), fields.size(), &isLegal,
                                  &words));
  return {isLegal, take(words)};
}

std::string explainInstructions(const std::string &target, int format) {
  BlockscaleBytes words;
  check(blockscaleExplainInstructions(slice(target),
                                      BlockscaleTableFormat(format), &words));
  return take(words);
}

std::string explainLayout(const Fields &given, int form) {
  std::vector<BlockscaleField> fields = fieldsOf(given);
  BlockscaleBytes words;
  check(blockscaleExplainLayout(fields.data(), fields.size(),
                                BlockscaleLayoutForm(form), &words));
  return take(words);
}

std::string explainTable(const std::string &table,
                         const std::string &questions) {
  BlockscaleBytes answers;
  check(blockscaleExplainTable(slice(table), slice(questions), &answers));
  return take(answers);
}

std::string explainHazards() {
  BlockscaleBytes words;
  check(blockscaleExplainHazards(&words));
  return take(words);
}

} // namespace

void blockscale::python::defineQuestions(nb::module_ &m) {
  m.def("explain_legality", &explainLegality);
  m.def("explain_layout", &explainLayout);
  m.def("explain_instructions", &explainInstructions);
  m.def("explain_table", &explainTable);
  m.def("explain_hazards", &explainHazards);
}

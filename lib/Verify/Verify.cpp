//===- Verify.cpp - run a kernel and compare with the reference -----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Verify/Verify.h"
#include "Conditions.h"
#include "Dequantization.h"
#include "Groups.h"
#include "Quantization.h"
#include "QuantizedResult.h"
#include "WrittenBytes.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <iomanip>
#include <sstream>

using namespace blockscale;
using namespace blockscale::verify;

std::string_view verify::dataKindName(DataKind kind) {
  return kind == DataKind::Exact ? "exact" : "random";
}

std::string_view verify::conditionsName(Conditions conditions) {
  return conditions == Conditions::Plain ? "plain" : "harsh";
}

//===----------------------------------------------------------------------===//
// The result
//===----------------------------------------------------------------------===//

namespace {
/// D as numbers, and which of its elements the kernel wrote.
struct Written {
  std::vector<double> values;
  std::vector<bool> written;
  uint64_t missing = 0;
};
} // namespace

unsigned verify::outputBytes(reference::OutputType type) {
  bool isHalf =
      type == reference::OutputType::BF16 || type == reference::OutputType::F16;
  return isHalf ? 2 : 4;
}

uint32_t verify::unwrittenCode(reference::OutputType type) {
  // All bits set are a NaN that no instruction makes; the smallest integer is
  // no sum that a test's data reach.
  if (type == reference::OutputType::I32)
    return 0x80000000;
  return outputBytes(type) == 2 ? 0xffff : 0xffffffff;
}

static double valueOf(uint32_t code, reference::OutputType type) {
  switch (type) {
  case reference::OutputType::F32: {
    float value;
    std::memcpy(&value, &code, sizeof(float));
    return value;
  }
  case reference::OutputType::BF16:
    return decode(ElementFormat::BF16, code);
  case reference::OutputType::F16:
    return decode(ElementFormat::F16, code);
  case reference::OutputType::I32:
    break;
  }
  return static_cast<int32_t>(code);
}

/// `bytes` from `offset` on.
static Written readResult(const std::vector<uint8_t> &bytes, uint64_t offset,
                          reference::OutputType type) {
  unsigned size = verify::outputBytes(type);
  Written result;
  result.values.resize((bytes.size() - offset) / size);
  result.written.resize(result.values.size());
  for (size_t i = 0; i < result.values.size(); ++i) {
    uint32_t code = 0;
    std::memcpy(&code, bytes.data() + offset + i * size, size);
    result.written[i] = code != verify::unwrittenCode(type);
    result.missing += !result.written[i];
    result.values[i] = valueOf(code, type);
  }
  return result;
}

/// True if anything of the rectangle was written.
static bool isTouched(const reference::Problem &problem, const Written &result,
                      const reference::Tile &tile) {
  for (uint64_t row = 0; row < tile.rows; ++row)
    for (uint64_t column = 0; column < tile.columns; ++column)
      if (result.written[(tile.batch * problem.m + tile.row + row) *
                             problem.resultColumns() +
                         tile.column + column])
        return true;
  return false;
}

/// The pieces in which anything was written. The kernel's tiles are not known
/// here; squares of 8 lie in one of them whatever its shape. Neighbours along
/// a row are joined.
static std::vector<reference::Tile>
touchedTiles(const reference::Problem &problem, const Written &result) {
  std::vector<reference::Tile> tiles;
  for (const reference::Tile &tile : reference::allTiles(problem, 8, 8)) {
    if (!isTouched(problem, result, tile))
      continue;
    bool joins = !tiles.empty() && tiles.back().batch == tile.batch &&
                 tiles.back().row == tile.row &&
                 tiles.back().column + tiles.back().columns == tile.column;
    if (joins)
      tiles.back().columns += tile.columns;
    else
      tiles.push_back(tile);
  }
  return tiles;
}

/// Clusters spread evenly over `total`, the first and the last among them.
static std::vector<uint64_t> sampleOf(uint64_t total, uint64_t count) {
  std::vector<uint64_t> sample;
  for (uint64_t i = 0; i < count; ++i)
    sample.push_back(count == 1 ? 0 : i * (total - 1) / (count - 1));
  sample.erase(std::unique(sample.begin(), sample.end()), sample.end());
  return sample;
}

/// The clusters of a sample, empty for all of `total`. Those that compute a
/// tile together run together, or the sample would finish nothing, and those of
/// a cooperative launch all do, as do those that tiles are shared out among.
static std::vector<uint64_t> sampleOf(const plan::Kernel &kernel,
                                      uint64_t total, uint64_t count) {
  uint64_t parts = kernel.workspace ? kernel.workspace->parts : 1;
  if (count == 0 || parts == 0 || count >= total / parts || kernel.cooperative)
    return {};
  std::vector<uint64_t> sample;
  for (uint64_t tile : sampleOf(total / parts, count))
    for (uint64_t part = 0; part < parts; ++part)
      sample.push_back(tile * parts + part);
  return sample;
}

/// Begins a step of `all` units; what is to be told how many of them are done,
/// null if nobody wants to know.
static std::function<void(uint64_t, uint64_t)>
countOf(const VerifyOptions &options, const std::string &step, const char *unit,
        uint64_t all) {
  if (!options.progress)
    return nullptr;
  options.progress(step, unit, 0, all);
  return [&options, step, unit](uint64_t done, uint64_t total) {
    options.progress(step, unit, done, total);
  };
}

/// Whether the launch left its workspace as it found it, for the next one.
static bool isWorkspaceReady(const plan::Kernel &kernel,
                             const plan::Environment &sizes,
                             const HostData &data) {
  if (!kernel.workspace)
    return true;
  const std::string role(plan::kWorkspaceRole);
  const std::vector<uint8_t> &memory = data.memory.at(role);
  auto shift = data.offsets.find(role);
  auto begin =
      memory.begin() + int64_t(shift == data.offsets.end() ? 0 : shift->second);
  Result<uint64_t> zeros = evaluateSize(kernel.workspace->zeroBytes, sizes);
  return zeros && std::all_of(begin, begin + int64_t(*zeros),
                              [](uint8_t byte) { return byte == 0; });
}

/// Compares what was written of one product.
static void compareProduct(const reference::Problem &problem,
                           const Written &result, const VerifyOptions &options,
                           bool sampled, Verdict &verdict) {
  std::vector<reference::Tile> tiles =
      sampled ? touchedTiles(problem, result) : reference::allTiles(problem);
  reference::Criterion criterion = verdict.data == DataKind::Exact
                                       ? reference::Criterion::Exact
                                       : reference::Criterion::Tight;
  auto progress =
      countOf(options, verdict.kernel + ", reference", "tiles", tiles.size());
  for (const reference::TileResult &tile : reference::matmul(
           problem, tiles, options.threads, options.stop, progress))
    reference::compare(problem, tile, result.values, criterion,
                       verdict.comparison);
}

/// The elements from `first` to before `end`.
static Written piece(const Written &all, uint64_t first, uint64_t end) {
  Written result;
  end = std::min<uint64_t>(end, all.values.size());
  first = std::min(first, end);
  result.values.assign(all.values.begin() + int64_t(first),
                       all.values.begin() + int64_t(end));
  result.written.assign(all.written.begin() + int64_t(first),
                        all.written.begin() + int64_t(end));
  result.missing =
      uint64_t(std::count(result.written.begin(), result.written.end(), false));
  return result;
}

/// Whether any of these elements was written.
static bool wroteAny(const Written &result, uint64_t first, uint64_t end) {
  Written nobodys = piece(result, first, end);
  return nobodys.missing != nobodys.values.size();
}

/// Compares group by group; what lies behind the last one, or behind the rows
/// of a matrix that are there, is nobody's.
static void compareGroups(const Inputs &inputs, const Written &result,
                          const VerifyOptions &options, bool sampled,
                          Verdict &verdict) {
  uint64_t n = inputs.problem.resultColumns(), done = 0;
  verdict.unwritten = 0;
  for (size_t group = 0; group < inputs.groupEnds.size(); ++group) {
    auto [first, end] = rowsOfGroup(inputs, group);
    verdict.wroteBehind |= wroteAny(result, done * n, first * n);
    if (end > first) {
      reference::Problem problem = problemOfGroup(inputs, group);
      Written own = piece(result, first * n, end * n);
      bool isRight = !verdict.comparison.first;
      compareProduct(problem, own, options, sampled, verdict);
      verdict.unwritten += own.missing;
      if (isRight && verdict.comparison.first)
        verdict.diagnosis =
            "group " + std::to_string(group) + ", which starts at row " +
            std::to_string(first) + ": " +
            reference::diagnose(problem, *verdict.comparison.first);
    }
    done = end;
  }
  verdict.wroteBehind |= wroteAny(result, done * n, result.values.size());
}

/// Compares the matrices of groups along K.
static void compareKGroups(const Inputs &inputs, const Written &result,
                           const VerifyOptions &options, bool sampled,
                           Verdict &verdict) {
  uint64_t elements = inputs.problem.m * inputs.problem.n;
  for (size_t group = 0; group < inputs.groupEnds.size(); ++group) {
    reference::Problem problem = problemOfGroup(inputs, group);
    Written own = piece(result, group * elements, (group + 1) * elements);
    bool isRight = !verdict.comparison.first;
    compareProduct(problem, own, options, sampled, verdict);
    if (isRight && verdict.comparison.first)
      verdict.diagnosis =
          "group " + std::to_string(group) + ", which ends at element " +
          std::to_string(inputs.groupEnds[group]) +
          " of K: " + reference::diagnose(problem, *verdict.comparison.first);
  }
}

static void compareResult(const Inputs &inputs, const VerifyOptions &options,
                          bool sampled, Verdict &verdict) {
  const reference::Problem &problem = inputs.problem;
  const std::vector<uint8_t> &memory = inputs.data.memory.at("d");
  auto shift = inputs.data.offsets.find("d");
  uint64_t offset = shift == inputs.data.offsets.end() ? 0 : shift->second;
  Written result = readResult(memory, offset, problem.output);
  verdict.unwritten = result.missing;
  verdict.wroteBefore =
      !std::all_of(memory.begin(), memory.begin() + int64_t(offset),
                   [](uint8_t byte) { return byte == kGuardByte; });
  if (inputs.groupsAlongK)
    return compareKGroups(inputs, result, options, sampled, verdict);
  if (!inputs.groupEnds.empty())
    return compareGroups(inputs, result, options, sampled, verdict);
  compareProduct(problem, result, options, sampled, verdict);
  if (verdict.comparison.first)
    verdict.diagnosis = reference::diagnose(problem, *verdict.comparison.first);
}

/// Compares codes and scales of D; a sample is compared with all of the
/// reference, as only they tell what was run.
static void compareCodes(const plan::Kernel &kernel,
                         const plan::Environment &sizes, const Inputs &inputs,
                         const VerifyOptions &options, bool sampled,
                         Verdict &verdict) {
  reference::Criterion criterion = verdict.data == DataKind::Exact
                                       ? reference::Criterion::Exact
                                       : reference::Criterion::Tight;
  auto multiply = [&](const reference::Problem &product, uint64_t columns) {
    constexpr uint64_t kRows = 128;
    std::vector<reference::Tile> tiles =
        reference::allTiles(product, kRows, columns);
    auto progress =
        countOf(options, verdict.kernel + ", reference", "tiles", tiles.size());
    return reference::matmul(product, tiles, options.threads, options.stop,
                             progress);
  };
  compareQuantized(kernel, sizes, inputs, multiply, criterion, sampled,
                   verdict);
}

/// Options of a run of `launch`, of which `verdict` has what is run.
static emulator::Options runOptions(const emulator::Launch &launch,
                                    const plan::Kernel &kernel,
                                    const plan::Environment &sizes,
                                    const VerifyOptions &options,
                                    Verdict &verdict) {
  uint64_t ctas = std::max<uint64_t>(1, launch.cluster.count());
  verdict.clusters = launch.grid.count() / ctas;
  emulator::Options run;
  run.threads = options.threads;
  run.seed = options.seed;
  run.completion = options.completion;
  run.trace = options.trace;
  run.stop = options.stop;
  run.residentClusters = uint64_t(sizes.at("max_clusters"));
  run.clusters = sampleOf(kernel, verdict.clusters, options.sampleClusters);
  verdict.clustersRun =
      run.clusters.empty() ? verdict.clusters : run.clusters.size();
  run.progress =
      countOf(options, verdict.kernel, "clusters", verdict.clustersRun);
  return run;
}

/// Runs `launch`; false if the run was ended.
static bool runLaunch(const emulator::Module &module,
                      const emulator::Launch &launch, emulator::Options run,
                      const VerifyOptions &options, Verdict &verdict) {
  if (options.beforeRun)
    options.beforeRun(launch, run);
  auto start = std::chrono::steady_clock::now();
  verdict.run = emulator::run(module, launch, run);
  verdict.emulationSeconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  return !verdict.run.stopped;
}

/// Of a kernel that multiplies nothing: `Run` has its memory and compares it.
template <typename Run>
static void verifyElementwise(const emulator::Module &module,
                              const plan::Kernel &kernel,
                              const plan::Environment &sizes,
                              const VerifyOptions &options, Verdict &verdict) {
  verdict.sizes = sizes;
  Result<Run> made =
      Run::make(kernel, sizes, verdict.data, options.seed, options.conditions);
  if (!made) {
    verdict.why = made.why();
    return;
  }
  Result<emulator::Launch> launch = buildLaunch(kernel, sizes, made->data);
  if (!launch) {
    verdict.why = launch.why();
    return;
  }
  emulator::Options run = runOptions(*launch, kernel, sizes, options, verdict);
  std::vector<uint64_t> sample = run.clusters;
  if (runLaunch(module, *launch, std::move(run), options, verdict))
    made->compare(sample, verdict);
  verdict.workspaceReady = isWorkspaceReady(kernel, sizes, made->data);
}

static void verifyConversion(const emulator::Module &module,
                             const plan::Kernel &kernel,
                             const plan::Environment &sizes,
                             const VerifyOptions &options, Verdict &verdict) {
  const std::string &op = kernel.conversion->op;
  auto run = verifyElementwise<DequantizationRun>;
  if (op == "relayout")
    run = verifyElementwise<RelayoutRun>;
  if (op == "prune")
    run = verifyElementwise<PruningRun>;
  if (op == "compress" || op == "densify")
    run = verifyElementwise<SparsityRun>;
  if (op == "tile_sums")
    run = verifyElementwise<TileSumsRun>;
  run(module, kernel, sizes, options, verdict);
}

Verdict verify::verifyKernel(const emulator::Module &module,
                             const plan::Kernel &kernel,
                             const plan::Environment &givenSizes, DataKind kind,
                             const VerifyOptions &options) {
  Verdict verdict;
  verdict.kernel = kernel.name;
  verdict.data = kind;
  verdict.conditions = options.conditions;
  if (plan::onlyQuantizes(kernel)) {
    plan::Environment sizes = givenSizes;
    // CTAs that wait for each other stand for many.
    if (kernel.cooperative && options.conditions == Conditions::Harsh)
      sizes["max_clusters"] = std::min<int64_t>(sizes["max_clusters"], 2);
    verifyElementwise<QuantizationRun>(module, kernel, sizes, options, verdict);
    return verdict;
  }
  if (kernel.conversion) {
    verifyConversion(module, kernel, givenSizes, options, verdict);
    return verdict;
  }
  bool isHarsh = options.conditions == Conditions::Harsh;
  // A sample of few clusters with many tiles each would be no sample.
  const plan::Environment sizes = isHarsh && !options.sampleClusters
                                      ? fewSms(kernel, givenSizes)
                                      : givenSizes;
  verdict.sizes = sizes;
  Result<Inputs> inputs = makeInputs(kernel, sizes, kind, options.seed,
                                     options.conditions, options.progress);
  if (!inputs) {
    verdict.why = inputs.why();
    return verdict;
  }
  Result<emulator::Launch> launch = buildLaunch(kernel, sizes, inputs->data);
  if (!launch) {
    verdict.why = launch.why();
    return verdict;
  }
  emulator::Options run = runOptions(*launch, kernel, sizes, options, verdict);
  // Half of tensor memory stays free for kernels that take that much; those
  // that take more get what there is.
  constexpr uint64_t kColumnStep = 32, kPlaces = 7;
  if (isHarsh)
    run.firstTensorColumn =
        unsigned(kColumnStep * (1 + options.seed % kPlaces));
  bool sampled = !run.clusters.empty();
  if (!runLaunch(module, *launch, std::move(run), options, verdict))
    return verdict;
  if (kernel.quantization)
    compareCodes(kernel, sizes, *inputs, options, sampled, verdict);
  else
    compareResult(*inputs, options, sampled, verdict);
  verdict.workspaceReady =
      sampled || isWorkspaceReady(kernel, sizes, inputs->data);
  return verdict;
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

static std::string sizesText(const plan::Environment &sizes) {
  std::string text;
  for (const char *name : {"batch", "M", "N", "K"}) {
    auto found = sizes.find(name);
    if (found != sizes.end() &&
        (found->second != 1 || std::string_view(name) != "batch"))
      text += (text.empty() ? "" : "x") + std::to_string(found->second);
  }
  return text;
}

static void printDetails(const Verdict &verdict, std::ostream &out) {
  std::string head = verdict.kernel + ", " +
                     std::string(dataKindName(verdict.data)) + " data, " +
                     std::string(conditionsName(verdict.conditions)) +
                     " conditions: ";
  if (verdict.why)
    out << head << verdict.why->text << "\n";
  for (const emulator::Finding &finding : verdict.run.findings)
    out << head << emulator::toString(finding) << "\n";
  if (!verdict.diagnosis.empty())
    out << head << verdict.diagnosis << "\n";
  if (verdict.wroteBefore)
    out << head << "bytes before the result were overwritten\n";
  if (verdict.wroteBehind)
    out << head << "rows behind the last group were written\n";
  if (!verdict.workspaceReady)
    out << head << "the counters of the workspace are not zero again\n";
  if (!verdict.why && verdict.run.clean() && verdict.comparison.compared == 0)
    out << head << "the sample wrote nothing\n";
}

static void printOpenPoints(const std::vector<Verdict> &verdicts,
                            std::ostream &out) {
  emulator::OpenPointSet all;
  for (const Verdict &verdict : verdicts)
    all.add(verdict.run.openPoints);
  if (all.empty())
    return;
  out << "depends on choices where the PTX ISA is open:\n";
  for (size_t i = 0; i < size_t(emulator::OpenPoint::Count); ++i)
    if (all.contains(static_cast<emulator::OpenPoint>(i)))
      out << "  " << emulator::openPoints()[i].name << ": "
          << emulator::openPoints()[i].choice << "\n";
}

std::string verify::printVerdicts(const std::vector<Verdict> &verdicts) {
  size_t width = 6;
  for (const Verdict &verdict : verdicts)
    width = std::max(width, verdict.kernel.size());
  std::ostringstream out;
  auto row = [&](const std::string &kernel) -> std::ostream & {
    return out << std::left << std::setw(int(width) + 2) << kernel;
  };
  row("kernel") << std::setw(8) << "data" << std::setw(22) << "size"
                << std::setw(14) << "clusters" << std::setw(12) << "compared"
                << std::setw(12) << "mismatches" << std::setw(12)
                << "worst error" << std::setw(9) << "findings"
                << "  verdict\n";
  for (const Verdict &verdict : verdicts) {
    const reference::Comparison &comparison = verdict.comparison;
    std::ostringstream worst;
    worst << std::setprecision(3) << comparison.worst;
    row(verdict.kernel) << std::setw(8) << dataKindName(verdict.data)
                        << std::setw(22) << sizesText(verdict.sizes)
                        << std::setw(14)
                        << std::to_string(verdict.clustersRun) + " of " +
                               std::to_string(verdict.clusters)
                        << std::setw(12) << comparison.compared << std::setw(12)
                        << comparison.mismatches << std::setw(12) << worst.str()
                        << std::setw(9) << verdict.run.findings.size() << "  "
                        << (verdict.passed() ? "pass" : "FAIL") << "\n";
  }
  for (const Verdict &verdict : verdicts)
    printDetails(verdict, out);
  printOpenPoints(verdicts, out);
  return out.str();
}

//===- PackVerb.cpp - quantise, prune, tile and convert -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Progress.h"
#include "Verb.h"
#include "blockscale/Checkpoint/PackWords.h"
#include "blockscale/Driver/Driver.h"
#include "blockscale/Driver/OutputFiles.h"
#include "blockscale/HW/ScaleLayout.h"
#include "blockscale/Packing/TileArray.h"

#include <csignal>
#include <cstdio>
#include <iostream>

using namespace blockscale;
using namespace blockscale::checkpoint;
using namespace blockscale::driver;

namespace {
class PackVerb : public Verb {
public:
  PackVerb();
  int run() override;

private:
  std::string readOptions();
  /// Bytes of an array into a layout or back: --tile and --untile.
  std::string checkTiling() const;
  int runTiling();

  std::string input, output, tile, untile;
  std::vector<uint64_t> shape;
  PackWords words;
  std::vector<std::string> tensors;
  bool checksums = false;
  unsigned threads = 0;
  PackOptions options;
  Progress progress{command};
};
} // namespace

/// Set by the first signal; the second one ends the program.
static std::atomic<bool> isInterrupted{false};

static void interrupt(int signal) {
  isInterrupted = true;
  std::signal(signal, SIG_DFL);
}

PackVerb::PackVerb()
    : Verb("pack", "Quantise, prune, compress, tile and rename the tensors of "
                   "a checkpoint or array") {
  command.positional("FILE", input,
                     "A .npy or .safetensors file, the index of several, or "
                     "their directory");
  command.text("o", output, "FILE",
               "What to write: a .safetensors file, or NAME.npy for NAME.data."
               "npy, NAME.scales.npy and so on");
  command.text("to", words.to, "FORMAT",
               "Quantise to " + packFormatNames() +
                   ", the last two being the values as numbers (default: keep "
                   "the values, change names and layouts)");
  auto choose = [&](const char *name, std::string &value,
                    const std::vector<PackWord> &known, const char *help) {
    std::vector<CommandLine::Choice<std::string>> choices;
    for (const PackWord &each : known)
      choices.push_back({std::string(each.word), std::string(each.word),
                         std::string(each.meaning)});
    command.choice<std::string>(name, value, std::move(choices), help);
  };
  choose("names", words.names, packFamilies(),
         "Names and conventions of what is written");
  choose("scales", words.scales,
         {{"rows", "one row for each row (default)"},
          {"tiled", "128 x 4 atoms, as kernels read them"}},
         "Where scales and metadata lie");
  choose("rule", words.rule, packRules(),
         "How the power of two of an MX block is chosen");
  command.text("prune", words.prune, "PATTERN",
               "Keep the largest of each group only: '2:4', or '4:8' in pairs");
  command.flag("compress", words.compress,
               "Store what --prune keeps, and metadata that say where it was");
  command.texts("tensors", tensors, "PATTERN",
                "Parameters to change, '*' being any text (default: all that "
                "is quantised, and with --to all matrices); others are copied");
  command.text("shard-size", words.shardSize, "BYTES",
               "Begin another file where one would grow above this, such as "
               "'5GB' or '512MiB', and write an index of all");
  command.text("tile", tile, "WHAT",
               "FILE.npy is 'scales' or 'metadata' alone, a row of bytes for "
               "each row: put them into 128 x 4 atoms or 128 x 16 tiles");
  command.text("untile", untile, "WHAT", "The inverse; needs --shape");
  command.numbers("shape", shape, "Of --untile, rows and bytes of a row");
  command.flag("checksums", checksums,
               "Keep the CRC-32 of each tensor in the file, and print it");
  command.number("threads", threads, "Host threads (default 0: all)");
}

std::string PackVerb::readOptions() {
  if (input.empty() || output.empty())
    return input.empty() ? "no input given" : "no output given with -o";
  Result<PackOptions> read = parsePackWords(words);
  if (!read)
    return read.why().text;
  options = *read;
  options.tensors = tensors;
  options.checksums = checksums;
  options.threads = threads;
  return "";
}

std::string PackVerb::checkTiling() const {
  const std::string &what = tile.empty() ? untile : tile;
  if (!tile.empty() && !untile.empty())
    return "--tile and --untile contradict each other";
  for (const char *other : {"to", "names", "scales", "rule", "prune",
                            "compress", "tensors", "shard-size", "checksums"})
    if (command.isGiven(other))
      return "--" + std::string(other) + " is not of a single array of " + what;
  if (what != "scales" && what != "metadata")
    return "unknown bytes '" + what + "', legal are 'scales' and 'metadata'";
  if (untile.empty() != shape.empty() || (!shape.empty() && shape.size() != 2))
    return "--untile needs --shape=ROWS,BYTES, and nothing else does";
  return input.empty()    ? "no input given"
         : output.empty() ? "no output given with -o"
                          : "";
}

int PackVerb::runTiling() {
  if (std::string error = checkTiling(); !error.empty())
    return reportError(error, kNotUnderstood);
  Result<packing::NpyArray> read = packing::readNpy(input);
  if (!read)
    return reportError(read.why().text, kFailure);
  bool isScales = tile == "scales" || untile == "scales";
  const hw::Layout &layout = isScales ? hw::kTiledScales : hw::kTiledMetadata;
  Result<packing::NpyArray> array =
      tile.empty() ? packing::untileArray(*read, layout, shape[0], shape[1])
                   : packing::tileArray(*read, layout,
                                        isScales ? 0 : hw::kEmptyMetadataByte);
  if (!array)
    return reportError("'" + input + "': " + array.why().text, kFailure);
  auto bytes = packing::formatNpy(*array);
  if (!bytes)
    return reportError("'" + input + "' has too many dimensions", kFailure);
  if (auto why = writeFile(output, {bytes->begin(), bytes->end()}))
    return reportError(why->text, kFailure);
  return kSuccess;
}

int PackVerb::run() {
  if (!tile.empty() || !untile.empty())
    return runTiling();
  if (std::string error = readOptions(); !error.empty())
    return reportError(error, kNotUnderstood);
  Result<Checkpoint> read = Checkpoint::open(input);
  if (!read)
    return reportError(read.why().text, kFailure);
  options.stop = &isInterrupted;
  options.progress = [&](uint64_t done, uint64_t total) {
    progress.report(done, total);
  };
  progress.begin("pack", "bytes");
  // A file that may not grow says so by a signal, too.
  std::signal(SIGXFSZ, SIG_IGN);
  auto onInterrupt = std::signal(SIGINT, interrupt);
  auto onTerminate = std::signal(SIGTERM, interrupt);
  Result<std::vector<PackedTensor>> packed = pack(*read, output, options);
  std::signal(SIGINT, onInterrupt);
  std::signal(SIGTERM, onTerminate);
  progress.finish();
  if (!packed)
    return reportError(packed.why().text, kFailure);
  for (const PackedTensor &tensor : *packed) {
    std::cout << tensor.name << ": " << dtypeName(tensor.dtype) << ' '
              << printShape(tensor.shape);
    if (tensor.checksum) {
      char text[9];
      std::snprintf(text, sizeof(text), "%08x", *tensor.checksum);
      std::cout << ", crc32 " << text;
    }
    std::cout << '\n';
  }
  return kSuccess;
}

std::unique_ptr<Verb> blockscale::driver::makePackVerb() {
  return std::make_unique<PackVerb>();
}

//===- PackVerb.cpp - quantise, prune, tile and convert -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Progress.h"
#include "Verb.h"
#include "blockscale/Checkpoint/Pack.h"
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
  std::string readSparsity();

  std::string input, output, to, prune, tile, untile;
  std::vector<uint64_t> shape;
  ScaleRule rule = ScaleRule::RoundUp;
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
  command.text("to", to, "FORMAT",
               "Quantise to " + packing::blockFormatNames() +
                   ", or write the values as 'f32' or 'bf16' (default: keep "
                   "the values, change names and layouts)");
  command.choice<Family>(
      "names", options.family,
      {{"modelopt", Family::ModelOpt, "global scale is a factor (default)"},
       {"compressed-tensors", Family::CompressedTensors,
        "global scale is a divisor"},
       {"torchao", Family::Torchao, "global scale is a factor"}},
      "Names and conventions of what is written");
  command.choice<bool>("scales", options.tiled,
                       {{"rows", false, "one row for each row (default)"},
                        {"tiled", true, "128 x 4 atoms, as kernels read them"}},
                       "Where scales and metadata lie");
  command.choice<ScaleRule>(
      "rule", rule,
      {{"round-up", ScaleRule::RoundUp, "never saturates (default)"},
       {"floor", ScaleRule::Floor, "the sample algorithm of OCP MX 1.0"},
       {"floor-plus-one", ScaleRule::FloorPlusOne, "of AWS quantize_mx"},
       {"ceil", ScaleRule::Ceil, "next power of two of the largest value"},
       {"mid-max", ScaleRule::MidMax, "between floor and round-up"},
       {"rounded-max", ScaleRule::RoundedMax, "between floor and round-up"},
       {"top-binade", ScaleRule::TopBinade, "between floor and round-up"}},
      "How the power of two of an MX block is chosen");
  command.text("prune", prune, "PATTERN",
               "Keep the largest of each group only: '2:4', or '4:8' in pairs");
  command.flag("compress", options.compress,
               "Store what --prune keeps, and metadata that say where it was");
  command.texts("tensors", options.tensors, "PATTERN",
                "Parameters to change, '*' being any text (default: all that "
                "is quantised, and with --to all matrices); others are copied");
  command.text("tile", tile, "WHAT",
               "FILE.npy is 'scales' or 'metadata' alone, a row of bytes for "
               "each row: put them into 128 x 4 atoms or 128 x 16 tiles");
  command.text("untile", untile, "WHAT", "The inverse; needs --shape");
  command.numbers("shape", shape, "Of --untile, rows and bytes of a row");
  command.flag("checksums", options.checksums,
               "Keep the CRC-32 of each tensor in the file, and print it");
  command.number("threads", options.threads, "Host threads (default 0: all)");
}

std::string PackVerb::readSparsity() {
  if (prune.empty())
    return options.compress ? "--compress needs --prune" : "";
  if (prune == "2:4")
    options.prune = hw::SparsePattern::TwoOfFour;
  else if (prune == "4:8")
    options.prune = hw::SparsePattern::PairsFourOfEight;
  else
    return "unknown pattern '" + prune + "', legal are '2:4' and '4:8'";
  if (options.to == PackTo::Same)
    return "--prune needs --to: values change";
  if (!options.compress)
    return "";
  if (options.to != PackTo::Blocks)
    return "--compress needs a block-scaled format in --to";
  bool isFp4 = options.format.element == ElementFormat::E2M1;
  bool isPairs = options.prune == hw::SparsePattern::PairsFourOfEight;
  if (isPairs && !isFp4)
    return "4:8 in pairs is the pattern of e2m1 alone; legal is '2:4'";
  if (!isPairs && options.format.hasTensorScale())
    return "no instruction multiplies NVFP4 compressed to 2:4; legal is '4:8'";
  return "";
}

std::string PackVerb::readOptions() {
  if (input.empty() || output.empty())
    return input.empty() ? "no input given" : "no output given with -o";
  if (to == "f32" || to == "bf16") {
    options.to = to == "f32" ? PackTo::F32 : PackTo::BF16;
  } else if (!to.empty()) {
    std::optional<packing::BlockFormat> format = packing::parseBlockFormat(to);
    if (!format)
      return "unknown format '" + to + "', legal are " +
             packing::blockFormatNames() + ", 'f32' and 'bf16'";
    options.to = PackTo::Blocks;
    options.format = *format;
    options.format.rule = rule;
  }
  bool hasRule =
      options.to == PackTo::Blocks && !options.format.hasTensorScale();
  if (command.isGiven("rule") && !hasRule)
    return "--rule is of the MX formats, whose scales are powers of two";
  return readSparsity();
}

std::string PackVerb::checkTiling() const {
  const std::string &what = tile.empty() ? untile : tile;
  if (!tile.empty() && !untile.empty())
    return "--tile and --untile contradict each other";
  for (const char *other :
       {"to", "names", "scales", "prune", "compress", "tensors", "checksums"})
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

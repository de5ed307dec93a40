//===- HostOperands.cpp - from host memory to a kernel's memory -----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Runtime/HostOperands.h"
#include "LineCopies.h"
#include "OperandLines.h"
#include "ZeroPoints.h"
#include "ZeroTerms.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

using namespace blockscale;
using namespace blockscale::runtime;

Result<HostOperands> runtime::readOperands(const BlockscaleOperand *operands,
                                           int64_t count) {
  HostOperands result;
  for (int64_t i = 0; i < count; ++i) {
    const BlockscaleOperand &given = operands[i];
    if (!given.role)
      return Reason("operand " + std::to_string(i) + " has no role");
    if (given.rank < 0 || (given.rank > 0 && (!given.sizes || !given.strides)))
      return Reason("operand '" + std::string(given.role) + "' has no shape");
    HostOperand operand;
    operand.role = given.role;
    operand.data = static_cast<uint8_t *>(given.data);
    operand.elementBytes = given.elementBytes;
    operand.isResident = given.flags & BLOCKSCALE_OPERAND_RESIDENT;
    operand.sizes.assign(given.sizes, given.sizes + given.rank);
    operand.strides.assign(given.strides, given.strides + given.rank);
    if (!result.emplace(operand.role, operand).second)
      return Reason("operand '" + operand.role + "' is given twice");
  }
  return result;
}

/// Whether elements follow each other without gaps; the strides of dimensions
/// with one element say nothing.
static bool isContiguous(const HostOperand &operand) {
  int64_t expected = 1;
  for (size_t i = operand.sizes.size(); i-- > 0;) {
    if (operand.sizes[i] != 1 && operand.strides[i] != expected)
      return false;
    expected *= operand.sizes[i];
  }
  return true;
}

//===----------------------------------------------------------------------===//
// What a plan says of an operand
//===----------------------------------------------------------------------===//

static bool isSize(const plan::Parameter &parameter) {
  return parameter.kind == plan::ParameterKind::Scalar &&
         parameter.type == "i32";
}

static bool isWorkspace(const plan::Parameter &parameter) {
  return parameter.role == plan::kWorkspaceRole;
}

/// Whether the caller has to pass it: sizes follow from the operands' shapes,
/// terms of zero points from their values where it does not, and a workspace is
/// ours.
static bool isOperand(const plan::Parameter &parameter) {
  return !isSize(parameter) && !isWorkspace(parameter) &&
         !plan::isTerms(parameter.role);
}

static const plan::PlainOperand *plainOf(const plan::Kernel &kernel,
                                         const std::string &role) {
  for (const plan::PlainOperand &plain : kernel.operands)
    if (role == plain.operand)
      return &plain;
  return nullptr;
}

/// Bytes of a code of the source: those of one of 8 bits, and of indices of
/// tables with the table's number, which may be of more. Zero points are apart.
static int64_t sourceBytes(const plan::SourceElements &source) {
  constexpr size_t kCodesOfByte = 256;
  return source.zeros || source.codes.size() <= kCodesOfByte ? 1 : 2;
}

/// Bytes of an element of the operand in host memory.
static int64_t elementBytes(const plan::Kernel &kernel,
                            const plan::Parameter &parameter) {
  constexpr int64_t kByte = 8;
  if (const plan::DataPacking *data = dataOf(kernel, parameter.role))
    return data->source ? sourceBytes(*data->source)
                        : std::max<int64_t>(1, data->bits / kByte);
  if (const plan::PlainOperand *plain = plainOf(kernel, parameter.role))
    return int64_t(plan::plainBytes(plain->type));
  if (parameter.role == parameter.operand + "_scales")
    for (const plan::VectorScales &scales : kernel.vectorScales)
      if (scales.operand == parameter.operand)
        return int64_t(plan::plainBytes(scales.format));
  bool isByte = parameter.role == parameter.operand + "_scales" ||
                parameter.role == parameter.operand + "_metadata";
  return isByte ? 1 : sizeof(float);
}

/// Whether the operand is a matrix or a batch of them.
static bool isMatrix(const plan::Kernel &kernel, const std::string &role) {
  return dataOf(kernel, role) || role == "c" || role == "d" ||
         role == plan::kQuantizedRole;
}

bool runtime::isResult(const plan::Kernel &kernel, const std::string &role) {
  return std::any_of(kernel.parameters.begin(), kernel.parameters.end(),
                     [&](const plan::Parameter &parameter) {
                       return plan::isOfResult(parameter) &&
                              parameter.role == role;
                     });
}

/// The role of a product's rows: D, or its codes where the kernel quantises it.
static std::string resultRole(const plan::Kernel &kernel) {
  return kernel.quantization ? "d_data" : "d";
}

static std::string whyNotOperand(const plan::Kernel &kernel,
                                 const plan::Parameter &parameter,
                                 const HostOperand &operand) {
  const std::string name = "operand '" + parameter.role + "' ";
  size_t rank = operand.sizes.size();
  if (operand.strides.size() != rank)
    return name + "has " + std::to_string(rank) + " sizes and " +
           std::to_string(operand.strides.size()) + " strides";
  for (int64_t size : operand.sizes)
    if (size < 0 || size > plan::kMaxSize)
      return name + "has an extent of " + std::to_string(size) +
             "; expected 0 to " + std::to_string(plan::kMaxSize);
  if (isMatrix(kernel, parameter.role) && rank != 2 && rank != 3)
    return name + "has rank " + std::to_string(rank) + "; expected 2 or 3";
  if (parameter.kind == plan::ParameterKind::Scalar && rank != 0)
    return name + "has rank " + std::to_string(rank) + "; expected a number";
  if ((parameter.role == plan::kOffsetsRole ||
       parameter.role == plan::kOffsetsAlongKRole ||
       parameter.role == plan::kRowCountsRole ||
       parameter.role == plan::kRowNumbersRole) &&
      rank != 1)
    return name + "has rank " + std::to_string(rank) + "; expected 1";
  int64_t bytes = elementBytes(kernel, parameter);
  if (operand.elementBytes != bytes)
    return name + "has elements of " + std::to_string(operand.elementBytes) +
           " bytes; expected " + std::to_string(bytes);
  if (!operand.data && elementsOf(operand) != 0)
    return name + "has no address";
  return "";
}

/// What the sizes follow from, whatever the plan says.
static std::vector<std::string> sizedRoles(const plan::Kernel &kernel) {
  bool prunes = kernel.conversion && kernel.conversion->op == "prune";
  if (plan::onlyQuantizes(kernel) || prunes)
    return {std::string(plan::kQuantizedRole)};
  if (kernel.conversion)
    return {"a_data"};
  return {resultRole(kernel), "a_data"};
}

static bool isParameter(const plan::Kernel &kernel, const std::string &role) {
  return std::any_of(kernel.parameters.begin(), kernel.parameters.end(),
                     [&](const plan::Parameter &parameter) {
                       return parameter.role == role &&
                              (isOperand(parameter) || plan::isTerms(role));
                     });
}

std::string runtime::whyNotOperands(const plan::Kernel &kernel,
                                    const HostOperands &operands) {
  const std::string inKernel = "kernel '" + kernel.name + "': ";
  size_t found = 0;
  for (const plan::Parameter &parameter : kernel.parameters) {
    auto operand = operands.find(parameter.role);
    bool isGiven = operand != operands.end() && plan::isTerms(parameter.role);
    if (!isOperand(parameter) && !isGiven)
      continue;
    if (operand == operands.end())
      return inKernel + "there is no operand '" + parameter.role + "'";
    ++found;
    std::string why = whyNotOperand(kernel, parameter, operand->second);
    if (!why.empty())
      return inKernel + why;
  }
  for (const plan::DataPacking &data : kernel.data) {
    if (zerosRole(data).empty())
      continue;
    ++found;
    if (std::string why = whyNotZeros(data, operands); !why.empty())
      return inKernel + why;
  }
  for (const plan::ZeroTerms &terms : kernel.zeroTerms) {
    ++found;
    if (std::string why = whyNotZeros(terms, operands); !why.empty())
      return inKernel + why;
  }
  const std::vector<std::string> sized = sizedRoles(kernel);
  for (const std::string &role : sized) {
    auto operand = operands.find(role);
    if (operand == operands.end())
      return inKernel + "there is no operand '" + role + "'";
    size_t rank = operand->second.sizes.size();
    if (rank != 2 && rank != 3)
      return inKernel + "operand '" + role + "' has rank " +
             std::to_string(rank) + "; expected 2 or 3";
    // Of scales that move the elements tell the sizes and nothing else.
    found += !isParameter(kernel, role);
  }
  if (found == operands.size())
    return "";
  for (const auto &entry : operands)
    if (!isZeros(kernel, entry.first) && !isParameter(kernel, entry.first) &&
        std::find(sized.begin(), sized.end(), entry.first) == sized.end())
      return inKernel + "it has no operand '" + entry.first + "'";
  return "";
}

/// Half of a sparse operand is stored, whatever its pattern.
static constexpr int64_t kCompression = 2;

/// The sizes of a kernel that multiplies nothing, from what it reads.
static plan::Environment sizesOfMatrix(const std::vector<int64_t> &sizes) {
  return {{"M", sizes[sizes.size() - 2]},
          {"N", 1},
          {"K", sizes.back()},
          {"batch", sizes.size() == 3 ? sizes[0] : 1}};
}

plan::Environment runtime::sizesOf(const plan::Kernel &kernel,
                                   const HostOperands &operands) {
  if (plan::onlyQuantizes(kernel)) {
    plan::Environment sizes =
        sizesOfMatrix(operands.at(std::string(plan::kQuantizedRole)).sizes);
    if (kernel.quantization->transposed)
      std::swap(sizes["M"], sizes["K"]);
    return sizes;
  }
  if (kernel.conversion) {
    plan::Environment sizes =
        sizesOfMatrix(operands.at(sizedRoles(kernel).front()).sizes);
    if (kernel.conversion->mnMajor)
      std::swap(sizes["M"], sizes["K"]);
    if (kernel.conversion->op == "densify" || kernel.conversion->sparse)
      sizes["K"] *= kCompression;
    return sizes;
  }
  const HostOperand &d = operands.at(resultRole(kernel)),
                    &a = operands.at("a_data");
  size_t rank = d.sizes.size(), aRank = a.sizes.size();
  const plan::DataPacking *data = dataOf(kernel, "a_data");
  bool mnMajor = data && data->order == "mn_major";
  int64_t k = a.sizes[mnMajor ? aRank - 2 : aRank - 1];
  if (!kernel.metadata.empty() && kernel.metadata.front().operand == "a")
    k *= kCompression;
  int64_t batch = rank == 3 ? d.sizes[0] : 1;
  // Groups are counted by their ends.
  auto offsets = operands.find(std::string(plan::kOffsetsRole));
  if (offsets != operands.end())
    batch = offsets->second.sizes[0];
  // Of a pair of columns of the product D has one.
  int64_t sums = kernel.epilogue.pairs ? 2 : 1;
  plan::Environment sizes{{"M", d.sizes[rank - 2]},
                          {"N", d.sizes[rank - 1] * sums},
                          {"K", k},
                          {"batch", batch}};
  if (plan::isGathered(kernel))
    sizes[std::string(plan::kTokensSize)] =
        a.sizes[mnMajor ? aRank - 1 : aRank - 2];
  return sizes;
}

//===----------------------------------------------------------------------===//
// Packing
//===----------------------------------------------------------------------===//

namespace {
/// Packs the operands of one launch. The first error is kept.
class Packer {
public:
  Packer(const plan::Kernel &kernel, const plan::Environment &sizes)
      : kernel(kernel), sizes(sizes) {}

  /// `zeros` are to be subtracted from its elements; null without.
  void add(const plan::Parameter &parameter, const HostOperand &operand,
           const HostOperand *zeros);
  void addWorkspace(const plan::Parameter &parameter);

  DeviceData result;
  std::string error;

private:
  uint64_t value(const std::string &expression);
  void checkCount(const HostOperand &operand, uint64_t expected);
  void checkDeviceMemory(const HostOperand &operand);
  /// The memory of `bytes` bytes with zeros, for what must be copied.
  uint8_t *memoryFor(const HostOperand &operand, uint64_t bytes);
  void addData(const plan::DataPacking &data, const HostOperand &operand,
               const HostOperand *zeros, uint64_t bytes);
  /// One line of codes of the source as those that are stored for them.
  void translate(const plan::SourceElements &source, uint64_t number,
                 const uint8_t *line, const HostOperand &operand,
                 std::vector<uint16_t> &stored);
  ZeroTiles zeroTiles(const plan::DataPacking &data, const HostOperand &zeros);
  void addBytes(const HostOperand &operand, uint64_t bytes);

  const plan::Kernel &kernel;
  const plan::Environment &sizes;
};
} // namespace

uint64_t Packer::value(const std::string &expression) {
  Result<uint64_t> result = plan::evaluateSize(expression, sizes);
  if (!result && error.empty())
    error = result.why().text;
  return result ? *result : 0;
}

static std::string shapeOf(const HostOperand &operand) {
  std::string text;
  for (int64_t size : operand.sizes)
    text += (text.empty() ? "" : "x") + std::to_string(size);
  return text;
}

void Packer::checkCount(const HostOperand &operand, uint64_t expected) {
  if (error.empty() && elementsOf(operand) != expected)
    error = "operand '" + operand.role + "' has the shape " + shapeOf(operand) +
            "; expected " + std::to_string(expected) +
            " elements for M = " + std::to_string(sizes.at("M")) +
            ", N = " + std::to_string(sizes.at("N")) +
            ", K = " + std::to_string(sizes.at("K")) +
            ", batch = " + std::to_string(sizes.at("batch"));
}

uint8_t *Packer::memoryFor(const HostOperand &operand, uint64_t bytes) {
  std::vector<uint8_t> &memory = result.memory[operand.role];
  memory.assign(bytes, 0);
  return memory.data();
}

/// To be appended to a refusal: which kernels have a code for all numbers.
static std::string whatHolds(const plan::SourceElements &source) {
  bool hasNumberMore =
      source.format == "e4m3b8fnuz" || source.format == "e5m2b16fnuz";
  return hasNumberMore
             ? "; kernels of kind 'f16' hold it, as those under float scales "
               "and without scales do where no 'mma' asks for 8 bits"
             : "";
}

void Packer::translate(const plan::SourceElements &source, uint64_t number,
                       const uint8_t *line, const HostOperand &operand,
                       std::vector<uint16_t> &stored) {
  // What the bits of bytes above those of a code hold does not matter.
  size_t mask = source.codes.size() - 1;
  bool isWide = sourceBytes(source) > 1;
  for (size_t i = 0; i < stored.size(); ++i, line += lineStep(operand)) {
    size_t given = (isWide ? *line | line[1] << 8 : *line) & mask;
    int64_t code = source.codes[given];
    if (code < 0 && error.empty()) {
      char hex[8];
      std::snprintf(hex, sizeof hex, "0x%02x", unsigned(given));
      error = "operand '" + operand.role + "', line " + std::to_string(number) +
              ", element " + std::to_string(i) + ": code " + hex + " of '" +
              source.format + "' has no exact code in the kernel's format" +
              whatHolds(source);
    }
    stored[i] = uint16_t(code);
  }
}

ZeroTiles Packer::zeroTiles(const plan::DataPacking &data,
                            const HostOperand &zeros) {
  ZeroTiles tiles(data, value(data.lines), value(data.elements),
                  compressionOf(kernel, data.operand));
  checkCount(zeros, tiles.ofMatrix() * uint64_t(plan::matricesOf(
                                           kernel, data.operand, sizes)));
  if (error.empty() && zeros.isOnDevice)
    error = "operand '" + zeros.role +
            "' is on the device; the host subtracts zero points where it packs "
            "the elements";
  if (error.empty())
    tiles.read(zeros);
  return tiles;
}

void Packer::addData(const plan::DataPacking &data, const HostOperand &operand,
                     const HostOperand *zeros, uint64_t bytes) {
  uint64_t lines = value(data.lines), elements = value(data.elements);
  uint64_t pitch = value(data.linePitch), batchPitch = value(data.batchPitch);
  size_t rank = operand.sizes.size();
  uint64_t batch = rank == 3 ? uint64_t(operand.sizes[0]) : 1;
  auto matrices = uint64_t(plan::matricesOf(kernel, data.operand, sizes));
  bool fits = uint64_t(operand.sizes[rank - 2]) == lines &&
              uint64_t(operand.sizes[rank - 1]) == elements &&
              batch == matrices;
  if (error.empty() && !fits)
    error = "operand '" + operand.role + "' has the shape " + shapeOf(operand) +
            "; expected " + std::to_string(matrices) + "x" +
            std::to_string(lines) + "x" + std::to_string(elements);
  constexpr unsigned kByte = 8;
  uint64_t lineBytes = (elements * data.bits + kByte - 1) / kByte;
  bool hasRoom = lineBytes <= pitch && lines * pitch <= batchPitch &&
                 batch * batchPitch <= bytes;
  if (error.empty() && !hasRoom)
    error = "the plan has too little room for operand '" + operand.role + "'";
  if (!error.empty() || operand.isOnDevice)
    return;
  uint8_t *memory = memoryFor(operand, bytes);
  if (isResult(kernel, operand.role))
    return;
  std::optional<ZeroTiles> tiles;
  if (zeros)
    tiles = zeroTiles(data, *zeros);
  if (!error.empty())
    return;
  std::vector<uint16_t> stored(data.source ? elements : 0);
  forEachLine(operand, [&](uint64_t number, const uint8_t *line) {
    uint8_t *to = memory + number / lines * batchPitch + number % lines * pitch;
    int64_t step = lineStep(operand);
    if (data.source) {
      if (!tiles)
        translate(*data.source, number, line, operand, stored);
      else if (std::string why =
                   tiles->subtract(*data.source, number, line, step, stored);
               !why.empty() && error.empty())
        error = "operand '" + operand.role + "', " + why;
      // The lowest byte comes first.
      line = reinterpret_cast<const uint8_t *>(stored.data());
      step = sizeof(uint16_t);
    }
    size_t bytes = data.bits / kByte;
    if (data.bits < kByte)
      packLine(to, line, step, elements, data.bits);
    else
      copyLine(to, int64_t(bytes), line, step, elements, bytes);
  });
}

void Packer::checkDeviceMemory(const HostOperand &operand) {
  if (error.empty() && elementsOf(operand) != 0 && !isContiguous(operand))
    error = "operand '" + operand.role +
            "' is on the device and has gaps between its elements; expected it "
            "as the launch plan packs it";
}

/// What lies in memory as it is, element after element.
void Packer::addBytes(const HostOperand &operand, uint64_t bytes) {
  uint64_t size = uint64_t(operand.elementBytes);
  checkCount(operand, bytes / size);
  if (!error.empty() || operand.isOnDevice)
    return;
  uint8_t *memory = memoryFor(operand, bytes);
  // What D held before is not looked at.
  if (isResult(kernel, operand.role))
    return;
  uint64_t lineBytes = lineElements(operand) * size;
  forEachLine(operand, [&](uint64_t number, const uint8_t *line) {
    copyLine(memory + number * lineBytes, operand.elementBytes, line,
             lineStep(operand), lineElements(operand), size);
  });
}

void Packer::add(const plan::Parameter &parameter, const HostOperand &operand,
                 const HostOperand *zeros) {
  if (parameter.kind == plan::ParameterKind::Scalar) {
    float number = 0;
    std::memcpy(&number, operand.data, sizeof(float));
    result.scalars[parameter.role] = number;
    return;
  }
  Result<uint64_t> bytes = plan::memoryBytes(kernel, parameter, sizes);
  if (!bytes) {
    error = bytes.why().text;
    return;
  }
  if (const plan::DataPacking *data = dataOf(kernel, parameter.role))
    addData(*data, operand, zeros, *bytes);
  else
    addBytes(operand, *bytes);
  if (!operand.isOnDevice)
    return;
  checkDeviceMemory(operand);
  result.bytesOnDevice[parameter.role] = *bytes;
}

/// Of a launch of its own, which waits for no other one.
void Packer::addWorkspace(const plan::Parameter &parameter) {
  Result<uint64_t> bytes = plan::memoryBytes(kernel, parameter, sizes);
  if (bytes)
    result.memory[parameter.role].assign(*bytes, 0);
  else
    error = bytes.why().text;
}

Result<DeviceData> runtime::packOperands(const plan::Kernel &kernel,
                                         const plan::Environment &sizes,
                                         const HostOperands &operands) {
  Packer packer(kernel, sizes);
  auto zerosOf = [&](const std::string &role) {
    auto zeros = operands.find(zerosRole(kernel, role));
    return zeros == operands.end() ? nullptr : &zeros->second;
  };
  auto isGiven = [&](const plan::Parameter &parameter) {
    // Those of an earlier launch have no shape.
    auto terms = operands.find(parameter.role);
    return plan::isTerms(parameter.role) && terms != operands.end() &&
           !terms->second.sizes.empty();
  };
  for (const plan::Parameter &parameter : kernel.parameters)
    if (packer.error.empty() && (isOperand(parameter) || isGiven(parameter)))
      packer.add(parameter, operands.at(parameter.role),
                 zerosOf(parameter.role));
    else if (packer.error.empty() && isWorkspace(parameter))
      packer.addWorkspace(parameter);
  for (const plan::Parameter &parameter : kernel.parameters) {
    const std::string &role = parameter.role;
    if (!packer.error.empty() || !plan::isTerms(role) || operands.count(role))
      continue;
    auto terms = packTerms(kernel, sizes, operands, parameter);
    if (terms)
      packer.result.memory[role] = *std::move(terms);
    else
      packer.error = "'" + role + "': " + terms.why().text;
  }
  if (!packer.error.empty())
    return Reason("kernel '" + kernel.name + "': " + packer.error);
  return std::move(packer.result);
}

/// The codes of D, line by line, to an array with a code in each element.
static void storeData(const plan::DataPacking &data,
                      const plan::Environment &sizes,
                      const std::vector<uint8_t> &memory,
                      const HostOperand &result) {
  // They had values when the operands were packed.
  uint64_t lines = *plan::evaluateSize(data.lines, sizes);
  uint64_t pitch = *plan::evaluateSize(data.linePitch, sizes);
  uint64_t batchPitch = *plan::evaluateSize(data.batchPitch, sizes);
  constexpr unsigned kByte = 8;
  forEachLine(result, [&](uint64_t number, uint8_t *line) {
    const uint8_t *from =
        memory.data() + number / lines * batchPitch + number % lines * pitch;
    if (data.bits < kByte)
      unpackLine(line, lineStep(result), from, lineElements(result), data.bits);
    else
      copyLine(line, lineStep(result), from, result.elementBytes,
               lineElements(result), size_t(result.elementBytes));
  });
}

void runtime::storeResult(const plan::Kernel &kernel,
                          const plan::Environment &sizes,
                          const std::vector<uint8_t> &memory,
                          const HostOperand &result) {
  if (const plan::DataPacking *data = dataOf(kernel, result.role))
    return storeData(*data, sizes, memory, result);
  uint64_t size = uint64_t(result.elementBytes);
  uint64_t lineBytes = lineElements(result) * size;
  forEachLine(result, [&](uint64_t number, uint8_t *line) {
    copyLine(line, lineStep(result), memory.data() + number * lineBytes,
             result.elementBytes, lineElements(result), size);
  });
}

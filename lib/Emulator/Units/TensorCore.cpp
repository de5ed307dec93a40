//===- TensorCore.cpp - execution of tcgen05.mma and its copies -----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorCoreImpl.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace blockscale::emulator {

using namespace detail;

struct TensorCore::Scratch {
  Operand a, b;
  std::vector<float> panelA, panelB, scalesOfPanelB;
};

TensorCore::TensorCore() : scratch(new Scratch) {}
TensorCore::~TensorCore() = default;

static void refuse(TensorReport &report, TensorIssueKind kind, Hazard hazard,
                   unsigned cta, uint32_t address, std::string message) {
  report.refused = true;
  report.issues.push_back({kind, hazard, cta, address, std::move(message)});
}

//===----------------------------------------------------------------------===//
// Accumulator
//===----------------------------------------------------------------------===//

/// The tiles of one CTA's part of the accumulator (data-path layouts A to G).
static unsigned accumulatorTiles(const MmaRequest &request,
                                 const InstructionDescriptor &idesc,
                                 AccumulatorTile tiles[kMaxTiles]) {
  unsigned rows = idesc.m / request.form.ctaGroup;
  unsigned lane0 = TensorMemory::laneOf(request.d);
  bool pairB = request.form.ctaGroup == 2 && idesc.m == 128 && !idesc.sparse;
  // Layouts B, E and G put parts of N side by side in the lanes.
  bool split = pairB || request.form.weightStationary;
  unsigned count = split ? 128 / rows : 1;
  for (unsigned t = 0; t < count; ++t) {
    AccumulatorTile &tile = tiles[t];
    tile.rows = rows;
    tile.countN = idesc.n / count;
    tile.firstN = t * tile.countN;
    tile.column = TensorMemory::columnOf(request.d);
    for (unsigned r = 0; r < rows; ++r)
      tile.lanes[r] = rows == 128 ? r
                      : split     ? r + rows * t
                                  : r % 16 + 32 * (r / 16) + lane0;
  }
  return count;
}

/// Issue with the accumulator's place or contents, if any.
static void checkAccumulator(const MmaRequest &request,
                             const InstructionDescriptor &idesc, unsigned cta,
                             const TensorCta &where,
                             const AccumulatorTile &tile,
                             TensorReport &report) {
  unsigned lane0 = TensorMemory::laneOf(request.d);
  bool halfLanes = tile.rows == 64 && tile.countN == idesc.n;
  if (lane0 != 0 && !(halfLanes && lane0 == 16)) {
    refuse(report, TensorIssueKind::IllegalInstruction,
           Hazard::AccumulatorMisplaced, cta, request.d,
           "accumulator address names lane " + std::to_string(lane0) +
               ", must be 0" + (halfLanes ? " or 16" : ""));
    return;
  }
  if (!where.tensor->allocated(tile.column, tile.countN)) {
    bool beyond = tile.column + tile.countN > where.tensor->columns();
    refuse(report, TensorIssueKind::Unallocated,
           beyond ? Hazard::AccumulatorMisplaced : Hazard::ColumnsUnallocated,
           cta, request.d,
           "accumulator columns " + std::to_string(tile.column) + ".." +
               std::to_string(tile.column + tile.countN - 1) +
               " are not all allocated");
    return;
  }
  if (!request.enableInputD)
    return;
  for (unsigned r = 0; r < tile.rows; ++r)
    if (!where.tensor->valid(tile.lanes[r], tile.column, tile.countN)) {
      refuse(report, TensorIssueKind::Uninitialised,
             Hazard::AccumulatorUnwritten, cta,
             tile.lanes[r] << 16 | tile.column,
             "the accumulator is added to but was never written");
      return;
    }
}

static bool laneDisabled(const MmaRequest &request, unsigned cta,
                         unsigned lane) {
  unsigned index = cta * 128 + lane;
  return request.disableOutputLane[index / 32] >> index % 32 & 1;
}

static bool anyLaneDisabled(const MmaRequest &request) {
  return std::any_of(request.disableOutputLane.begin(),
                     request.disableOutputLane.end(),
                     [](uint32_t word) { return word != 0; });
}

static float loadAccumulator(Element type, uint32_t word) {
  return decode(type, type == Element::F16 ? word & 0xffff : word);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

namespace {

/// One tile's multiplication, given the operands.
struct TileProduct {
  const MmaRequest &request;
  const InstructionDescriptor &idesc;
  unsigned cta;
  TensorMemory &tensor;
  const AccumulatorTile &tile;

  void store(unsigned row, unsigned n, float value) {
    unsigned lane = tile.lanes[row];
    if (laneDisabled(request, cta, lane))
      return;
    tensor.row(lane)[tile.column + n] =
        encode(idesc.accumulator, value, ConvertMode{});
  }
  float initial(unsigned row, unsigned n) const {
    if (!request.enableInputD)
      return 0;
    float value = loadAccumulator(idesc.accumulator,
                                  tensor.row(tile.lanes[row])[tile.column + n]);
    return std::ldexp(value, -int(request.scaleInputD));
  }
  void fast(const float *panelA, const float *panelB);
  void precise(const Operand &a, const Operand &b);
  void integer(const Operand &a, const Operand &b);
};

} // namespace

void TileProduct::fast(const float *panelA, const float *panelB) {
  unsigned k = idesc.k;
  bool direct = idesc.accumulator == Element::F32 && !request.scaleInputD &&
                !anyLaneDisabled(request);
  // The panel of B stays in the cache nearest to the core.
  for (unsigned n0 = 0; n0 < tile.countN; n0 += kBlockColumns) {
    const float *b = panelB + size_t(n0) * k;
    for (unsigned r0 = 0; r0 < tile.rows; r0 += kBlockRows) {
      const float *a = panelA + size_t(r0) * k;
      unsigned columns = std::min(kBlockColumns, tile.countN - n0);
      float buffer[kBlockRows][kBlockColumns] = {};
      float *rows[kBlockRows];
      bool inPlace = direct && columns == kBlockColumns;
      for (unsigned r = 0; r < kBlockRows; ++r) {
        rows[r] = inPlace
                      ? reinterpret_cast<float *>(
                            tensor.row(tile.lanes[r0 + r]) + tile.column + n0)
                      : buffer[r];
        for (unsigned n = 0; !inPlace && n < columns; ++n)
          buffer[r][n] = initial(r0 + r, n0 + n);
      }
      multiplyBlock(a, b, k, rows, !inPlace || request.enableInputD);
      for (unsigned r = 0; !inPlace && r < kBlockRows; ++r)
        for (unsigned n = 0; n < columns; ++n)
          store(r0 + r, n0 + n, buffer[r][n]);
    }
  }
}

void TileProduct::precise(const Operand &a, const Operand &b) {
  unsigned blocks = std::max(a.scaleCount, 1u), block = a.k / blocks;
  for (unsigned r = 0; r < tile.rows; ++r) {
    for (unsigned n = 0; n < tile.countN; ++n) {
      const float *left = a.row(r), *right = b.row(tile.firstN + n);
      double sum = 0;
      for (unsigned s = 0; s < blocks; ++s) {
        double scale = 1;
        if (a.scaleCount)
          scale = double(a.scales[r * blocks + s]) *
                  double(b.scales[(tile.firstN + n) * blocks + s]);
        for (unsigned i = s * block; i < (s + 1) * block; ++i)
          sum += double(left[i]) * double(right[i]) * scale;
      }
      store(r, n, float(double(initial(r, n)) + sum));
    }
  }
}

void TileProduct::integer(const Operand &a, const Operand &b) {
  for (unsigned r = 0; r < tile.rows; ++r) {
    unsigned lane = tile.lanes[r];
    if (laneDisabled(request, cta, lane))
      continue;
    for (unsigned n = 0; n < tile.countN; ++n) {
      uint32_t &word = tensor.row(lane)[tile.column + n];
      int64_t sum = request.enableInputD ? int32_t(word) : 0;
      const float *left = a.row(r), *right = b.row(tile.firstN + n);
      for (unsigned i = 0; i < a.k; ++i)
        sum += int64_t(left[i]) * int64_t(right[i]);
      if (idesc.saturate)
        sum = std::min<int64_t>(std::max<int64_t>(sum, INT32_MIN), INT32_MAX);
      word = uint32_t(sum);
    }
  }
}

//===----------------------------------------------------------------------===//
// Execution
//===----------------------------------------------------------------------===//

/// Why `.ashift` is illegal here, if it is.
static std::optional<std::string>
whyNotShifted(const MmaRequest &request, const InstructionDescriptor &idesc) {
  if (isBlockScaled(request.form.kind))
    return std::string("'.ashift' does not exist for block-scaled kinds");
  if (!request.aInTensorMemory)
    return std::string("'.ashift' needs A in tensor memory, found a "
                       "shared-memory descriptor");
  if (idesc.m != 128 && idesc.m != 256)
    return "'.ashift' needs M 128 or 256, found " + std::to_string(idesc.m);
  if (idesc.sparse && request.form.ctaGroup == 2 && idesc.m == 128)
    return std::string("'.ashift' of a sparse pair needs M 256, found 128");
  return std::nullopt;
}

/// A matrix off its swizzle pattern. The swizzle is one of absolute addresses,
/// for copies as for descriptors with base offset 0, so that these read what a
/// copy to the same place wrote.
static void checkPattern(const SharedDescriptor &descriptor, const char *what,
                         uint32_t address, TensorReport &report) {
  auto reason = whyNotPattern(descriptor);
  if (!reason)
    return;
  if (descriptor.baseOffset)
    refuse(report, TensorIssueKind::IllegalInstruction,
           Hazard::OffSwizzlePattern, 0, address, what + *reason);
  else
    report.issues.push_back({TensorIssueKind::Advice, Hazard::OffSwizzlePattern,
                             0, address, what + *reason});
}

/// Why A, or B, does not lie where its descriptor says, and which of the rules
/// it breaks.
static std::optional<std::pair<std::string, Hazard>>
whyNotOperands(const MmaRequest &request, const TensorContext &context,
               TensorReport &report) {
  const InstructionDescriptor &idesc = report.idesc;
  unsigned storedA = idesc.k / (idesc.sparse ? 2 : 1);
  if (request.aInTensorMemory) {
    if (idesc.mnMajorA)
      return std::pair("A in tensor memory must be K-major",
                       Hazard::IllegalInstructionDescriptor);
    if (idesc.doubleK)
      report.openPoints.add(OpenPoint::WideTensorMemoryContainer);
    if (idesc.doubleK && request.form.kind == MmaKind::MXF8F6F4 &&
        bitWidth(idesc.a) == 4)
      return std::pair("4-bit elements of A in tensor memory have no container "
                       "at K=64; K=32 has one",
                       Hazard::IllegalInstructionDescriptor);
  } else if (auto reason = whyNotOperand(
                 decodeSharedDescriptor(request.a), idesc.mnMajorA,
                 rowBytes(request.form, idesc, idesc.a, storedA),
                 bitWidth(idesc.a), {context.wideAddresses})) {
    return std::pair("operand 'A': " + *reason,
                     Hazard::IllegalMatrixDescriptor);
  }
  unsigned bytesB = request.form.lookupB
                        ? kIndexBytes
                        : rowBytes(request.form, idesc, idesc.b, idesc.k);
  if (auto reason = whyNotOperand(
          decodeSharedDescriptor(request.b), idesc.mnMajorB, bytesB,
          bitWidth(idesc.b), {context.wideAddresses, request.form.lookupB}))
    return std::pair("operand 'B': " + *reason,
                     Hazard::IllegalMatrixDescriptor);
  return std::nullopt;
}

/// What no document settles of descriptors of shared memory.
static void checkDescriptors(const MmaRequest &request, TensorReport &report) {
  for (uint64_t bits : {request.aInTensorMemory ? 0 : request.a, request.b}) {
    SharedDescriptor descriptor = decodeSharedDescriptor(bits);
    if (descriptor.baseOffset)
      report.openPoints.add(OpenPoint::BaseOffsetPattern);
    if (descriptor.start >> 18)
      report.openPoints.add(OpenPoint::SharedAddress19);
    checkPattern(descriptor,
                 bits == request.b ? "operand 'B': " : "operand 'A': ", 0,
                 report);
  }
}

/// Refuses what neither descriptor field nor operand can have.
static void checkRequest(const MmaRequest &request, TensorContext &context,
                         ZeroColumns &columns, TensorReport &report) {
  auto illegal = [&](std::string message,
                     Hazard hazard = Hazard::IllegalInstructionDescriptor) {
    refuse(report, TensorIssueKind::IllegalInstruction, hazard, 0, 0,
           std::move(message));
  };
  if (auto reason = decodeInstructionDescriptor(
          request.idesc, request.form, report.idesc, report.openPoints))
    return illegal(*reason);
  for (unsigned c = 0; c < request.form.ctaGroup; ++c)
    if (!context.cta[c].shared || !context.cta[c].tensor)
      return illegal("a CTA of the pair is not resident",
                     Hazard::PeerNotRunning);
  const InstructionDescriptor &idesc = report.idesc;
  MmaKind kind = request.form.kind;
  if (request.scaleInputD && ((kind != MmaKind::F16 && kind != MmaKind::TF32) ||
                              request.scaleInputD > 15))
    return illegal(
        "scale-input-d is 0..15 and only for kinds 'f16' and 'tf32'");
  if (request.aShift)
    if (auto reason = whyNotShifted(request, idesc))
      return illegal(*reason);
  if (isBlockScaled(kind) && anyLaneDisabled(request))
    return illegal("disable-output-lane does not exist for block-scaled kinds");
  if (auto why = whyNotOperands(request, context, report))
    return illegal(why->first, why->second);
  if (request.form.weightStationary) {
    if (auto reason =
            decodeZeroColumns(request.zeroColumns, idesc.m, idesc.n, columns))
      return illegal(*reason);
    if (columns.zero.any())
      report.openPoints.add(OpenPoint::ZeroColumnSpans);
    if (idesc.m != 128 && (request.aInTensorMemory || idesc.sparse))
      report.openPoints.add(OpenPoint::StationaryReplicas);
  }
  checkDescriptors(request, report);
}

/// Moves the rows of A, which has been read, in each CTA.
static void shiftA(const MmaRequest &request, TensorContext &context,
                   TensorReport &report) {
  // Every kind without block scales stores 32 bytes of K per row, or 64.
  unsigned words = report.idesc.doubleK ? 16 : 8;
  report.openPoints.add(OpenPoint::ShiftedA);
  for (unsigned c = 0; c < request.form.ctaGroup; ++c)
    context.cta[c].tensor->shiftRows(
        TensorMemory::columnOf(uint32_t(request.a)), words);
}

/// A number made of bytes.
static void mix(uint64_t &number, const void *bytes, size_t count) {
  const auto *from = static_cast<const uint8_t *>(bytes);
  for (size_t i = 0; i < count; i += 8) {
    uint64_t word = 0;
    std::memcpy(&word, from + i, std::min<size_t>(8, count - i));
    number = (number ^ word) * 0x9E3779B97F4A7C15u;
    number ^= number >> 29;
  }
}

static uint64_t contentsOf(const Operand &b) {
  uint64_t number = b.coded;
  if (b.coded)
    mix(number, b.codes.data(), b.codes.size());
  else
    mix(number, b.elements.data(), b.elements.size() * sizeof(float));
  mix(number, b.scales.data(), b.scales.size() * sizeof(float));
  return number;
}

/// Says that a tile of the accumulator holds numbers, but where lanes are
/// disabled.
static void markValid(const MmaRequest &request, unsigned cta,
                      const AccumulatorTile &tile, TensorMemory &tensor) {
  for (unsigned r = 0; r < tile.rows; ++r)
    if (!laneDisabled(request, cta, tile.lanes[r]))
      tensor.markValid(tile.lanes[r], tile.column, tile.countN);
}

TensorReport TensorCore::execute(const MmaRequest &request,
                                 TensorContext &context) {
  TensorReport report;
  ZeroColumns columns;
  checkRequest(request, context, columns, report);
  if (report.refused)
    return report;
  const InstructionDescriptor &idesc = report.idesc;
  OperandReader reader(request, idesc, context, report);
  Operand &a = scratch->a, &b = scratch->b;
  if (!reader.readB(columns, b)) {
    report.refused = true;
    return report;
  }
  bool integers = isInteger(request.form.kind);
  unsigned packedTile = ~0u;
  // Each part of the accumulator has rows of A in its own lanes.
  bool ownA = request.form.weightStationary &&
              (request.aInTensorMemory || idesc.sparse);
  for (unsigned c = 0; c < request.form.ctaGroup; ++c) {
    AccumulatorTile tiles[kMaxTiles];
    unsigned tileCount = accumulatorTiles(request, idesc, tiles);
    for (unsigned t = 0; t < tileCount; ++t)
      checkAccumulator(request, idesc, c, context.cta[c], tiles[t], report);
    if (report.refused || !reader.readA(c, tiles[0].lanes, a) ||
        (idesc.scaleCount &&
         (!reader.readScalesA(c, a) || !reader.readScalesB(c, b)))) {
      report.refused = true;
      return report;
    }
    if (request.tellsB && c == 0)
      report.contentsB = contentsOf(b);
    TensorMemory &tensor = *context.cta[c].tensor;
    bool exact = precise || a.extreme() || b.extreme();
    if (!integers && !exact)
      a.pack(0, a.rows, kBlockRows, scratch->panelA);
    for (unsigned t = 0; t < tileCount; ++t) {
      TileProduct product{request, idesc, c, tensor, tiles[t]};
      if (t && ownA) {
        if (!reader.readA(c, tiles[t].lanes, a)) {
          report.refused = true;
          return report;
        }
        if (!integers && !exact)
          a.pack(0, a.rows, kBlockRows, scratch->panelA);
      }
      if (integers || exact) {
        a.expand();
        b.expand();
      }
      if (integers) {
        product.integer(a, b);
      } else if (exact) {
        product.precise(a, b);
      } else {
        // Both CTAs of a pair normally hold the same scales of B.
        if (packedTile != t || scratch->scalesOfPanelB != b.scales) {
          b.pack(tiles[t].firstN, tiles[t].countN, kBlockColumns,
                 scratch->panelB);
          scratch->scalesOfPanelB = b.scales;
          packedTile = t;
        }
        product.fast(scratch->panelA.data(), scratch->panelB.data());
      }
      markValid(request, c, tiles[t], tensor);
    }
    tensor.touch();
  }
  if (request.aShift)
    shiftA(request, context, report);
  report.openPoints.add(OpenPoint::AccumulationOrder);
  report.macs = uint64_t(idesc.m) * idesc.n * idesc.k;
  return report;
}

TensorReport TensorCore::copy(CopyShape shape, CopyFormat format,
                              unsigned ctaGroup, uint32_t address,
                              uint64_t bits, TensorContext &context) {
  TensorReport report;
  SharedDescriptor descriptor = decodeSharedDescriptor(bits);
  unsigned rowBytes = copyRowBytes(shape), rows = copyRows(shape);
  if (auto reason = whyNotOperand(descriptor, false, rowBytes, 8,
                                  {context.wideAddresses})) {
    refuse(report, TensorIssueKind::IllegalInstruction,
           Hazard::IllegalMatrixDescriptor, 0, address, *reason);
    return report;
  }
  checkPattern(descriptor, "", address, report);
  if (report.refused)
    return report;
  for (unsigned c = 0; c < ctaGroup && c < 2; ++c) {
    const TensorCta &cta = context.cta[c];
    if (!cta.shared || !cta.tensor) {
      refuse(report, TensorIssueKind::IllegalInstruction,
             Hazard::PeerNotRunning, c, address,
             "a CTA of the pair is not resident");
      return report;
    }
    unsigned dataBytes = format == CopyFormat::Plain      ? 16
                         : format == CopyFormat::B4x16P64 ? 8
                                                          : 12;
    uint8_t source[128 * 32];
    for (unsigned r = 0; r < rows; ++r)
      for (unsigned b = 0; b < rowBytes; b += 16)
        if (!readShared(cta, c, addressKMajor(descriptor, r, b), 16, dataBytes,
                        "copy source", source + r * rowBytes + b, report)) {
          report.refused = true;
          return report;
        }
    if (auto reason = cta.tensor->copyIn(shape, format, address, source,
                                         report.openPoints)) {
      bool allocated =
          cta.tensor->allocated(TensorMemory::columnOf(address), rowBytes / 4);
      refuse(report, TensorIssueKind::Unallocated,
             allocated ? Hazard::AccumulatorMisplaced
                       : Hazard::ColumnsUnallocated,
             c, address, *reason);
      return report;
    }
  }
  return report;
}

} // namespace blockscale::emulator

//===- TensorCoreOperands.cpp - reading operands of tcgen05.mma -----------===//
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

namespace blockscale::emulator::detail {

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

static bool isFp4Kind(MmaKind kind) {
  return kind == MmaKind::MXF4 || kind == MmaKind::MXF4NVF4;
}

static Container containerOf(MmaKind kind, const InstructionDescriptor &idesc,
                             Element type, bool fromTensor) {
  if (isFp4Kind(kind))
    return Container::Packed4;
  if (idesc.doubleK && bitWidth(type) < 8)
    return bitWidth(type) == 4 ? Container::Packed4 : Container::Packed6;
  switch (bitWidth(type)) {
  case 4:
    return fromTensor ? Container::ByteShifted4 : Container::Padded4;
  case 6:
    return fromTensor ? Container::Byte : Container::Padded6;
  case 8:
    return Container::Byte;
  case 16:
    return Container::Half;
  default:
    return Container::Word;
  }
}

static unsigned bytesFor(Container container, unsigned elements) {
  switch (container) {
  case Container::Packed4:
    return elements / 2;
  case Container::Packed6:
    return elements * 6 / 8;
  case Container::Half:
    return elements * 2;
  case Container::Word:
    return elements * 4;
  default:
    return elements;
  }
}

/// Bytes of a 16-byte group that hold data.
static unsigned groupData(Container container) {
  if (container == Container::Padded4)
    return 8;
  return container == Container::Padded6 ? 12 : 16;
}

static void decodeHalves(Element type, const uint8_t *in, unsigned count,
                         float *out) {
  const float *table = type == Element::F16 ? tableOf(type) : nullptr;
  for (unsigned i = 0; i < count; ++i) {
    uint16_t code;
    std::memcpy(&code, in + 2 * i, 2);
    out[i] = table ? table[code] : decode(type, code);
  }
}

static void decodeRow(Container container, Element type, const uint8_t *in,
                      unsigned count, float *out) {
  const float *table = tableOf(type);
  switch (container) {
  case Container::Packed4:
    for (unsigned i = 0; i < count; i += 2) {
      out[i] = table[in[i / 2] & 0xf];
      out[i + 1] = table[in[i / 2] >> 4];
    }
    return;
  case Container::Padded4:
    for (unsigned i = 0; i < count; ++i)
      out[i] = table[in[i / 16 * 16 + i % 16 / 2] >> i % 2 * 4 & 0xf];
    return;
  case Container::Padded6:
    for (unsigned i = 0; i < count; ++i) {
      unsigned bit = i % 16 * 6;
      const uint8_t *from = in + i / 16 * 16 + bit / 8;
      out[i] = table[(from[0] | from[1] << 8) >> bit % 8 & 0x3f];
    }
    return;
  case Container::Packed6:
    for (unsigned i = 0; i < count; ++i) {
      const uint8_t *from = in + i * 6 / 8;
      // The last elements of a row end with its last byte.
      unsigned above = i * 6 % 8 > 2 ? from[1] << 8 : 0;
      out[i] = table[(from[0] | above) >> i * 6 % 8 & 0x3f];
    }
    return;
  case Container::Byte: {
    uint8_t mask = uint8_t((1u << bitWidth(type)) - 1);
    for (unsigned i = 0; i < count; ++i)
      out[i] = table[in[i] & mask];
    return;
  }
  case Container::ByteShifted4:
    for (unsigned i = 0; i < count; ++i)
      out[i] = table[in[i] >> 2 & 0xf];
    return;
  case Container::Half:
    decodeHalves(type, in, count, out);
    return;
  case Container::Word:
    for (unsigned i = 0; i < count; ++i) {
      uint32_t code;
      std::memcpy(&code, in + 4 * i, 4);
      out[i] = decode(type, code);
    }
    return;
  }
}

//===----------------------------------------------------------------------===//
// Operand
//===----------------------------------------------------------------------===//

void Operand::reset(unsigned rowCount, unsigned depth, unsigned scalesPerRow) {
  rows = rowCount;
  k = depth;
  scaleCount = scalesPerRow;
  coded = false;
  elements.resize(size_t(rows) * k);
  scales.resize(size_t(rows) * scaleCount);
}

bool Operand::extreme() {
  // Elements stay within 2^+-16, so a product of two folded values stays within
  // 2^+-112 and needs no subnormals.
  const float low = 0x1p-40f, high = 0x1p40f;
  bool suspect = false;
  for (float scale : scales)
    suspect |= !((scale >= low) & (scale <= high));
  if (!suspect)
    return false;
  for (unsigned r = 0; r < rows; ++r) {
    for (unsigned s = 0; s < scaleCount; ++s) {
      float scale = scales[r * scaleCount + s];
      if (std::isnan(scale) || scale == 0 || (scale >= low && scale <= high))
        continue;
      expand();
      unsigned block = k / scaleCount;
      for (unsigned i = s * block; i < (s + 1) * block; ++i)
        if (row(r)[i] != 0)
          return true;
    }
  }
  return false;
}

void Operand::pack(unsigned first, unsigned count, unsigned width,
                   std::vector<float> &panel) const {
  if (coded)
    return packCodes(first, count, width, panel);
  unsigned panels = (count + width - 1) / width;
  panel.resize(size_t(panels) * k * width);
  unsigned blocks = scaleCount ? scaleCount : 1, block = k / blocks;
  for (unsigned p = 0; p < panels; ++p) {
    float *to = panel.data() + size_t(p) * k * width;
    unsigned valid = std::min(width, count - p * width);
    if (valid < width)
      std::memset(to, 0, size_t(k) * width * sizeof(float));
    for (unsigned s = 0; s < blocks; ++s) {
      const float *from[kBlockColumns];
      float scale[kBlockColumns];
      for (unsigned r = 0; r < valid; ++r) {
        unsigned index = first + p * width + r;
        from[r] = row(index);
        scale[r] = scaleCount ? scales[index * scaleCount + s] : 1.0f;
      }
      for (unsigned i = s * block; i < (s + 1) * block; ++i)
        for (unsigned r = 0; r < valid; ++r)
          to[size_t(i) * width + r] = from[r][i] * scale[r];
    }
  }
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

bool readShared(const TensorCta &cta, unsigned ctaIndex, uint32_t address,
                unsigned bytes, unsigned dataBytes, const char *operand,
                uint8_t *out, TensorReport &report) {
  if (address < cta.sharedBase || address - cta.sharedBase > cta.sharedSize ||
      bytes > cta.sharedSize - (address - cta.sharedBase)) {
    report.issues.push_back(
        {TensorIssueKind::OutOfRange, Hazard::IllegalMatrixDescriptor, ctaIndex,
         address,
         std::string("operand '") + operand + "' lies beyond shared memory"});
    return false;
  }
  if (bytes == 16)
    std::memcpy(out, cta.shared + (address - cta.sharedBase), 16);
  else
    std::memcpy(out, cta.shared + (address - cta.sharedBase), bytes);
  if (cta.sharedValid &&
      std::memchr(cta.sharedValid + (address - cta.sharedBase), 0, dataBytes)) {
    report.issues.push_back({TensorIssueKind::Uninitialised,
                             Hazard::Uninitialised, ctaIndex, address,
                             std::string("operand '") + operand +
                                 "' reads shared memory that was never "
                                 "written"});
    return false;
  }
  return true;
}

bool OperandReader::fail(TensorIssueKind kind, Hazard hazard, unsigned cta,
                         uint32_t address, std::string message) {
  report.issues.push_back({kind, hazard, cta, address, std::move(message)});
  return false;
}

bool OperandReader::sharedRow(const SharedDescriptor &descriptor, bool mnMajor,
                              const char *operand, Source source,
                              unsigned elementBytes, unsigned bytes,
                              unsigned dataBytes, uint8_t *out) {
  unsigned step = mnMajor ? elementBytes : 16;
  dataBytes = std::min(dataBytes, step);
  for (unsigned b = 0; b < bytes; b += step) {
    uint32_t address =
        mnMajor ? addressMNMajor(descriptor, source.row * elementBytes,
                                 b / elementBytes)
                : addressKMajor(descriptor, source.row, b);
    if (!readShared(*source.cta, source.ctaIndex, address, step, dataBytes,
                    operand, out + b, report))
      return false;
  }
  return true;
}

bool OperandReader::tensorRow(unsigned cta, unsigned lane, uint32_t address,
                              unsigned bytes, const char *operand,
                              uint8_t *out) {
  const TensorMemory &tensor = *context.cta[cta].tensor;
  unsigned column = TensorMemory::columnOf(address);
  uint32_t at = lane << 16 | column;
  if (lane >= TensorMemory::kLanes ||
      !tensor.allocated(column, (bytes + 3) / 4))
    return fail(TensorIssueKind::Unallocated, Hazard::ColumnsUnallocated, cta,
                at,
                std::string("operand '") + operand +
                    "' reads tensor-memory columns that are not allocated");
  std::memcpy(out, tensor.row(lane) + column, bytes);
  if (!tensor.valid(lane, column, (bytes + 3) / 4))
    return fail(TensorIssueKind::Uninitialised, Hazard::AccumulatorUnwritten,
                cta, at,
                std::string("operand '") + operand +
                    "' reads tensor memory that was never written");
  return true;
}

/// Whether elements keep their four zero bits, if they have such.
bool OperandReader::hasZeroBits(Element type, const uint8_t *raw,
                                unsigned count, unsigned cta, unsigned row,
                                const char *operand) {
  for (unsigned i = 0; type == Element::S1Z4M11 && i < count; ++i)
    if (raw[2 * i + 1] & 0x78)
      return fail(TensorIssueKind::Inconsistent, Hazard::None, cta, 0,
                  std::string("operand '") + operand + "', row " +
                      std::to_string(row) + ": bits 11 to 14 of element " +
                      std::to_string(i) + " must be 0 for 's1z4m11'");
  return true;
}

/// Stored positions that a metadata nibble names, in a chunk of four units.
static bool nibblePositions(unsigned nibble, unsigned &first,
                            unsigned &second) {
  first = nibble & 3;
  second = nibble >> 2;
  // 0b0110 (2 then 1) is listed for tcgen05 beside the ascending pairs.
  return first < second || nibble == 6;
}

bool OperandReader::expandSparse(unsigned cta, unsigned lane,
                                 const float *stored, float *out) {
  bool fp4 = isFp4Kind(request.form.kind), tf32 = idesc.a == Element::TF32;
  bool half = bitWidth(idesc.a) == 16;
  bool pairs = fp4 && !request.form.elementwise;
  unsigned unit = pairs ? 2 : 1;        // elements per stored unit
  unsigned chunk = tf32 ? 2 : 4 * unit; // logical elements per nibble
  unsigned chunks = idesc.k / chunk, bytes = (chunks + 1) / 2;
  uint32_t address = request.metadata;
  if (tf32 || half) {
    report.openPoints.add(OpenPoint::SparseSelector);
    address += idesc.sparsitySelector;
  }
  uint8_t metadata[32];
  if (!tensorRow(cta, lane, address, bytes, "sparsity metadata", metadata))
    return false;
  std::memset(out, 0, idesc.k * sizeof(float));
  for (unsigned c = 0; c < chunks; ++c) {
    unsigned nibble = metadata[c / 2] >> c % 2 * 4 & 0xf, first, second;
    bool legal = tf32 ? nibble == 0x4 || nibble == 0xe
                      : nibblePositions(nibble, first, second);
    const float *chosen = stored + c * (tf32 ? 1 : 2 * unit);
    if (!legal && std::all_of(chosen, chosen + (tf32 ? 1 : 2 * unit),
                              [](float value) { return value == 0; })) {
      report.openPoints.add(OpenPoint::ZeroMetadata);
      continue;
    }
    if (!legal)
      return fail(TensorIssueKind::Inconsistent, Hazard::None, cta, address,
                  "sparsity metadata " + std::to_string(nibble) + " of row " +
                      std::to_string(lane) + ", chunk " + std::to_string(c) +
                      " is not a legal pair of positions");
    if (tf32) {
      out[c * 2 + (nibble == 0xe)] = stored[c];
      continue;
    }
    for (unsigned u = 0; u < unit; ++u) {
      out[c * chunk + first * unit + u] = stored[c * 2 * unit + u];
      out[c * chunk + second * unit + u] = stored[(c * 2 + 1) * unit + u];
    }
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Codes
//===----------------------------------------------------------------------===//

/// Whether codes of one byte or half a byte index a table of values.
static bool hasCodes(Container container) {
  return container != Container::Half && container != Container::Word &&
         container != Container::Packed6;
}

/// Turns a 16-byte unit of a container into 16 bytes of codes.
static void toCodes(Container container, uint8_t mask, uint8_t *unit) {
  uint8_t in[16];
  std::memcpy(in, unit, 16);
  for (unsigned i = 0; i < 16; ++i)
    switch (container) {
    case Container::Padded4:
      unit[i] = in[i / 2] >> i % 2 * 4 & 0xf;
      break;
    case Container::Padded6:
      unit[i] = (in[i * 6 / 8] | in[i * 6 / 8 + 1] << 8) >> i * 6 % 8 & 0x3f;
      break;
    case Container::ByteShifted4:
      unit[i] = in[i] >> 2 & 0xf;
      break;
    default:
      unit[i] = in[i] & mask;
      break;
    }
}

/// One code per byte, whatever the container; packed nibbles stay.
static void finishCodes(Container container, Element type, Operand &out) {
  unsigned bits = bitWidth(type);
  if (container == Container::Packed4 ||
      (container == Container::Byte && bits == 8))
    return;
  auto mask = uint8_t((1u << bits) - 1);
  for (size_t i = 0; i < out.codes.size(); i += 16)
    toCodes(container, mask, &out.codes[i]);
}

void OperandReader::startCodes(Container container, Element type, bool negate,
                               unsigned bytes, Operand &out) {
  out.coded = true;
  out.nibbles = container == Container::Packed4;
  out.negate = negate;
  out.codeBytes = bytes;
  out.table = tableOf(type);
  out.codes.resize(size_t(out.rows) * bytes);
}

/// Copies all rows of a K-major operand from `firstRow` on. False if anything
/// is out of order; reading row by row then says what.
bool OperandReader::sharedCodes(const SharedDescriptor &descriptor,
                                Container container, unsigned firstCta,
                                unsigned perCta, unsigned firstRow,
                                unsigned bytes, Operand &out) {
  typedef uint64_t Words __attribute__((vector_size(16)));
  uint64_t upper = groupData(container) == 8    ? 0
                   : groupData(container) == 12 ? 0xffffffffu
                                                : ~uint64_t(0);
  const Words mask = {~uint64_t(0), upper};
  Words missing = {0, 0};
  for (unsigned row = 0; row < out.rows; ++row) {
    const TensorCta &cta = context.cta[firstCta + row / perCta];
    for (unsigned b = 0; b < bytes; b += 16) {
      uint32_t offset = addressKMajor(descriptor, firstRow + row % perCta, b) -
                        cta.sharedBase;
      if (offset >= cta.sharedSize || cta.sharedSize - offset < 16)
        return false;
      std::memcpy(&out.codes[size_t(row) * bytes + b], cta.shared + offset, 16);
      if (cta.sharedValid) {
        Words valid;
        std::memcpy(&valid, cta.sharedValid + offset, 16);
        missing |= ~valid & mask;
      }
    }
  }
  return !(missing[0] | missing[1]);
}

static void negateAll(float *values, unsigned count) {
  for (unsigned i = 0; i < count; ++i)
    values[i] = -values[i];
}

bool OperandReader::readA(unsigned cta, const unsigned *lanes, Operand &out) {
  unsigned rows = idesc.m / request.form.ctaGroup;
  out.reset(rows, idesc.k, idesc.scaleCount);
  bool fromTensor = request.aInTensorMemory;
  Container container =
      containerOf(request.form.kind, idesc, idesc.a, fromTensor);
  unsigned storedK = idesc.sparse ? idesc.k / 2 : idesc.k;
  unsigned bytes = bytesFor(container, storedK);
  SharedDescriptor descriptor = decodeSharedDescriptor(request.a);
  if (container == Container::ByteShifted4)
    report.openPoints.add(OpenPoint::Fp4TensorMemoryContainer);
  if (hasCodes(container) && !idesc.sparse && !idesc.mnMajorA && !fromTensor) {
    startCodes(container, idesc.a, idesc.negateA, bytes, out);
    if (sharedCodes(descriptor, container, cta, rows, 0, bytes, out)) {
      finishCodes(container, idesc.a, out);
      return true;
    }
    out.coded = false;
  }
  for (unsigned r = 0; r < rows; ++r) {
    uint8_t raw[128];
    bool read =
        fromTensor
            ? tensorRow(cta, lanes[r], uint32_t(request.a), bytes, "A", raw)
            : sharedRow(descriptor, idesc.mnMajorA, "A",
                        {&context.cta[cta], cta, r}, bytesFor(container, 2) / 2,
                        bytes, groupData(container), raw);
    if (!read || !hasZeroBits(idesc.a, raw, storedK, cta, r, "A"))
      return false;
    float stored[128];
    decodeRow(container, idesc.a, raw, storedK,
              idesc.sparse ? stored : out.row(r));
    if (idesc.sparse && !expandSparse(cta, lanes[r], stored, out.row(r)))
      return false;
    if (idesc.negateA)
      negateAll(out.row(r), idesc.k);
  }
  return true;
}

bool OperandReader::readB(const ZeroColumns &columns, Operand &out) {
  out.reset(idesc.n, idesc.k, idesc.scaleCount);
  if (request.form.lookupB)
    return readIndices(out);
  Container container = containerOf(request.form.kind, idesc, idesc.b, false);
  unsigned bytes = bytesFor(container, idesc.k);
  unsigned perCta = idesc.n / request.form.ctaGroup;
  SharedDescriptor descriptor = decodeSharedDescriptor(request.b);
  if (hasCodes(container) && !idesc.mnMajorB && columns.zero.none()) {
    startCodes(container, idesc.b, idesc.negateB, bytes, out);
    if (sharedCodes(descriptor, container, 0, perCta, columns.shift, bytes,
                    out)) {
      finishCodes(container, idesc.b, out);
      return true;
    }
    out.coded = false;
  }
  for (unsigned n = 0; n < idesc.n; ++n) {
    uint8_t raw[256];
    unsigned cta = n / perCta;
    if (columns.zero[n]) {
      std::fill_n(out.row(n), idesc.k, 0.0f);
      continue;
    }
    if (!sharedRow(descriptor, idesc.mnMajorB, "B",
                   {&context.cta[cta], cta, n % perCta + columns.shift},
                   bytesFor(container, 2) / 2, bytes, groupData(container),
                   raw))
      return false;
    if (!hasZeroBits(idesc.b, raw, idesc.k, cta, n, "B"))
      return false;
    decodeRow(container, idesc.b, raw, idesc.k, out.row(n));
    if (idesc.negateB)
      negateAll(out.row(n), idesc.k);
  }
  return true;
}

/// Visits the pieces of `rows` rows that are read; row r is in CTA r / perCta.
static void visitOperand(SharedOperand operand, uint64_t bits, bool mnMajor,
                         Container container, unsigned rows, unsigned perCta,
                         const ZeroColumns &columns, unsigned k,
                         const OperandVisit &visit) {
  SharedDescriptor descriptor = decodeSharedDescriptor(bits);
  unsigned data = groupData(container), size = bytesFor(container, 2) / 2;
  auto rowOf = [&](unsigned row) { return row % perCta + columns.shift; };
  if (!mnMajor) {
    for (unsigned row = 0; row < rows; ++row)
      for (unsigned b = 0; !columns.zero[row] && b < bytesFor(container, k);
           b += 16)
        visit(operand, row / perCta, addressKMajor(descriptor, rowOf(row), b),
              data);
    return;
  }
  // Sixteen bytes along M or N stay together in every swizzle.
  bool whole = columns.zero.none() && !columns.shift;
  unsigned step = whole ? 16 / size : 1;
  for (unsigned row = 0; row < rows; row += step)
    for (unsigned i = 0; !columns.zero[row] && i < k; ++i)
      visit(operand, row / perCta,
            addressMNMajor(descriptor, rowOf(row) * size, i),
            whole ? data : size);
}

} // namespace blockscale::emulator::detail

namespace blockscale::emulator {

void forOperandRanges(const MmaRequest &request, const OperandVisit &visit) {
  using namespace detail;
  InstructionDescriptor idesc;
  OpenPointSet openPoints;
  if (decodeInstructionDescriptor(request.idesc, request.form, idesc,
                                  openPoints))
    return;
  ZeroColumns columns;
  if (request.form.weightStationary &&
      decodeZeroColumns(request.zeroColumns, idesc.m, idesc.n, columns))
    return;
  unsigned group = request.form.ctaGroup;
  if (!request.aInTensorMemory)
    visitOperand(SharedOperand::A, request.a, idesc.mnMajorA,
                 containerOf(request.form.kind, idesc, idesc.a, false), idesc.m,
                 idesc.m / group, {}, idesc.sparse ? idesc.k / 2 : idesc.k,
                 visit);
  visitOperand(SharedOperand::B, request.b, idesc.mnMajorB,
               containerOf(request.form.kind, idesc, idesc.b, false), idesc.n,
               idesc.n / group, columns,
               request.form.lookupB ? kIndexBytes : idesc.k, visit);
}

void forCopyRanges(CopyShape shape, CopyFormat format, unsigned ctaGroup,
                   uint64_t bits, const OperandVisit &visit) {
  SharedDescriptor descriptor = decodeSharedDescriptor(bits);
  unsigned data = format == CopyFormat::Plain      ? 16
                  : format == CopyFormat::B4x16P64 ? 8
                                                   : 12;
  for (unsigned cta = 0; cta < ctaGroup; ++cta)
    for (unsigned row = 0; row < copyRows(shape); ++row)
      for (unsigned b = 0; b < copyRowBytes(shape); b += 16)
        visit(SharedOperand::Source, cta, addressKMajor(descriptor, row, b),
              data);
}

} // namespace blockscale::emulator

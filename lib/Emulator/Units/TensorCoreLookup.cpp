//===- TensorCoreLookup.cpp - B of indices into tables --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `.decompress::lut::b` (PTX ISA 9.4, tcgen05, "Decompression of input
// matrices"): shared memory holds an index of 3 bits for each element, each 8
// columns of N share a table of 8 values of e4m3 in tensor memory. Sizes and
// alignments are in the text; how the bits lie is in its figures 279 to 282,
// and an open point here.
//
//===----------------------------------------------------------------------===//

#include "TensorCoreImpl.h"

namespace blockscale::emulator::detail {

/// Columns of N that share a table, its values, and the bits of an index.
constexpr unsigned kTableColumns = 8, kTableValues = 8, kIndexBits = 3;

/// The table in the lane: the values 0 to 3 in the first column, from the
/// lowest byte on, and 4 to 7 in the next.
bool OperandReader::lookupTable(unsigned cta, unsigned lane,
                                uint8_t table[kTableValues]) {
  const TensorMemory &tensor = *context.cta[cta].tensor;
  unsigned column = TensorMemory::columnOf(request.lookup);
  uint32_t at = lane << 16 | column;
  if (!tensor.allocated(column, 2))
    return fail(TensorIssueKind::Unallocated, Hazard::ColumnsUnallocated, cta,
                at,
                "the lookup table of 'B' is in tensor-memory columns that are "
                "not allocated");
  if (!tensor.valid(lane, column, 2))
    return fail(TensorIssueKind::Uninitialised, Hazard::ScalesMissing, cta, at,
                "the lookup table of 'B' in lane " + std::to_string(lane) +
                    " was never written");
  for (unsigned i = 0; i < kTableValues; ++i)
    table[i] = uint8_t(tensor.row(lane)[column + i / 4] >> i % 4 * 8);
  return true;
}

/// The codes of a row: 64 of its 128 indices, from the lowest bit on. All of
/// the row is fetched, but what the instruction does not use may be unwritten.
bool OperandReader::indexRow(const SharedDescriptor &descriptor, unsigned cta,
                             unsigned row, const uint8_t table[kTableValues],
                             uint8_t *codes) {
  // One byte more, so that the last index can be read as two bytes.
  uint8_t raw[kIndexBytes + 1] = {};
  unsigned first = descriptor.secondHalf ? kIndexBytes / 2 : 0;
  for (unsigned b = 0; b < kIndexBytes; b += 8) {
    bool used = b >= first && b < first + kIndexBytes / 2;
    if (!readShared(context.cta[cta], cta, addressKMajor(descriptor, row, b), 8,
                    used ? 8 : 0, "B", raw + b, report))
      return false;
  }
  for (unsigned i = 0; i < idesc.k; ++i) {
    unsigned bit = first * 8 + i * kIndexBits;
    unsigned pair = raw[bit / 8] | raw[bit / 8 + 1] << 8;
    codes[i] = table[pair >> bit % 8 & (kTableValues - 1)];
  }
  return true;
}

bool OperandReader::readIndices(Operand &out) {
  uint32_t address = request.lookup;
  if (TensorMemory::laneOf(address))
    return fail(TensorIssueKind::IllegalInstruction,
                Hazard::IllegalInstructionDescriptor, 0, address,
                "the address of the lookup table of 'B' must name lane 0");
  if (address & 1)
    return fail(TensorIssueKind::IllegalInstruction,
                Hazard::IllegalInstructionDescriptor, 0, address,
                "the column of the lookup table of 'B' is odd");
  report.openPoints.add(OpenPoint::LookupTables);
  report.openPoints.add(OpenPoint::LookupIndices);
  SharedDescriptor descriptor = decodeSharedDescriptor(request.b);
  startCodes(Container::Byte, idesc.b, idesc.negateB, idesc.k, out);
  unsigned perCta = idesc.n / request.form.ctaGroup;
  uint8_t table[kTableValues];
  for (unsigned n = 0; n < idesc.n; ++n) {
    unsigned cta = n / perCta, row = n % perCta;
    if (row % kTableColumns == 0 &&
        !lookupTable(cta, row / kTableColumns, table))
      return false;
    if (!indexRow(descriptor, cta, row, table, &out.codes[size_t(n) * idesc.k]))
      return false;
  }
  return true;
}

} // namespace blockscale::emulator::detail

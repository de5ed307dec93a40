//===- TensorAreas.cpp - tensor memory an instruction touches -------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorAreas.h"

#include <algorithm>

namespace blockscale::emulator {
namespace {

/// The first or second 16 lanes of each of the four quadrants.
constexpr uint8_t kFirstHalves = 0x55, kSecondHalves = 0xAA;

struct AreaList {
  std::vector<TensorArea> areas;

  void add(unsigned column, unsigned count, uint8_t lanes, bool read,
           bool write) {
    if (count && column < TensorMemory::kColumns &&
        count <= TensorMemory::kColumns - column)
      areas.push_back({column, count, lanes, read, write});
  }
  /// Scales of `rows` rows from byte `id` on: a word per 32 rows and column,
  /// the next words of a row `stride` columns on.
  void addScales(uint32_t address, unsigned id, unsigned scales, unsigned rows,
                 unsigned stride) {
    for (unsigned word = 0; word * 4 < id + scales; ++word)
      add(TensorMemory::columnOf(address) + word * stride, (rows + 31) / 32,
          TensorArea::kAllLanes, true, false);
  }
};

/// Bytes of K that A takes per row of tensor memory, where no 6- or 4-bit
/// element is padded.
unsigned rowBytesOfA(const MmaRequest &request,
                     const InstructionDescriptor &idesc) {
  return emulator::rowBytes(request.form, idesc, idesc.a,
                            idesc.k / (idesc.sparse ? 2 : 1));
}

/// Columns of metadata: a nibble per chunk of 4 elements, 4 pairs of fp4, or 2
/// of tf32.
unsigned metadataColumns(const MmaRequest &request,
                         const InstructionDescriptor &idesc) {
  bool pairs =
      !request.form.elementwise && (request.form.kind == MmaKind::MXF4 ||
                                    request.form.kind == MmaKind::MXF4NVF4);
  unsigned chunk = pairs ? 8 : idesc.a == Element::TF32 ? 2 : 4;
  return (idesc.k / chunk + 7) / 8;
}

} // namespace

std::vector<TensorArea> areasOf(const MmaRequest &request,
                                const InstructionDescriptor &idesc) {
  if (!idesc.m) // illegal
    return {};
  AreaList list;
  bool pair = request.form.ctaGroup == 2;
  bool stationary = request.form.weightStationary;
  bool halves = idesc.m / request.form.ctaGroup == 64 && !stationary;
  // Pairs with 64 dense rows per CTA use all lanes and half of the columns, as
  // .ws does; with M 32 it is a quarter of them.
  bool split = pair && halves && !idesc.sparse;
  unsigned parts = stationary ? 128 / idesc.m : split ? 2 : 1;
  uint8_t lanes = TensorArea::kAllLanes;
  if (halves && !split)
    lanes =
        TensorMemory::laneOf(request.d) == 16 ? kSecondHalves : kFirstHalves;
  list.add(TensorMemory::columnOf(request.d), idesc.n / parts, lanes,
           request.enableInputD, true);
  if (request.aInTensorMemory)
    list.add(TensorMemory::columnOf(uint32_t(request.a)),
             (rowBytesOfA(request, idesc) + 3) / 4,
             split ? uint8_t(0x0F) : lanes, true, request.aShift);
  if (idesc.sparse)
    list.add(TensorMemory::columnOf(request.metadata) + idesc.sparsitySelector,
             metadataColumns(request, idesc), lanes, true, false);
  if (request.form.lookupB) // a lane for each 8 columns of N
    list.add(TensorMemory::columnOf(request.lookup), 2,
             idesc.n / request.form.ctaGroup > 128 ? 0x03 : 0x01, true, false);
  if (idesc.scaleCount) {
    // A row to a lane: each word is a column.
    list.addScales(request.scaleA, idesc.scaleIdA, idesc.scaleCount,
                   idesc.rowScalesA ? 1 : idesc.m / request.form.ctaGroup,
                   idesc.rowScalesA ? 1 : 4);
    unsigned rows = split ? idesc.n / 2 : idesc.n;
    list.addScales(request.scaleB, idesc.scaleIdB, idesc.scaleCount, rows,
                   split           ? (rows + 31) / 32
                   : idesc.n > 128 ? 8
                                   : 4);
  }
  return std::move(list.areas);
}

TensorArea areaOf(CopyShape shape, uint32_t address) {
  uint8_t lanes = shape == CopyShape::S4x256b
                      ? TensorMemory::laneOf(address) % 32 < 16 ? kFirstHalves
                                                                : kSecondHalves
                      : TensorArea::kAllLanes;
  return {TensorMemory::columnOf(address), copyRowBytes(shape) / 4, lanes,
          false, true};
}

TensorArea areaOfShift(uint32_t address) {
  return {TensorMemory::columnOf(address), 8, TensorArea::kAllLanes, true,
          true};
}

std::vector<TensorArea> areasOf(const Fragment &fragment, uint32_t address,
                                bool store) {
  AreaList list;
  unsigned lane = TensorMemory::laneOf(address), first = lane / 16 % 8;
  unsigned groups = fragment.shape == FragmentShape::S32x32b ? 3 : 1;
  auto lanes = uint8_t(groups << first);
  unsigned column = TensorMemory::columnOf(address);
  unsigned width = fragment.registers() * (fragment.pack16 ? 2 : 1);
  switch (fragment.shape) {
  case FragmentShape::S16x64b:
  case FragmentShape::S16x128b:
  case FragmentShape::S16x256b:
    width *= 2;
    break;
  case FragmentShape::S16x32bx2:
    list.add(column + fragment.halfSplit, width, lanes, !store, store);
    break;
  default:
    break;
  }
  list.add(column, width, lanes, !store, store);
  return std::move(list.areas);
}

} // namespace blockscale::emulator

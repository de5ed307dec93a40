//===- Pieces.cpp - memory that the lanes access in a row
//------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Run/Observer.h"
#include "Elements.h"
#include "LoadStore.h"

namespace blockscale::emulator::machine {
namespace {

using Shape = LoadStoreRecord;

/// One piece of memory, of which the 32 lanes access an equal part each, in
/// their order.
struct Piece {
  uint8_t *data = nullptr;
  uint8_t *valid = nullptr; ///< shared memory only
  uint64_t address = 0;     ///< shared memory: with rank
  const Region *region = nullptr;
};

/// Whether each lane's address follows that of the one before it.
template <typename T> bool inARow(const T *base, unsigned bytes) {
  if (base[1] - base[0] != T(bytes))
    return false;
  T wrong = 0;
  for (unsigned lane = 0; lane != 32; ++lane)
    wrong |= base[lane] - base[0] - T(lane * bytes);
  return wrong == 0;
}

bool sharedPiece(Exec &x, const Shape &s, Use use, Piece &out) {
  unsigned bytes = s.bytes(), total = 32 * bytes;
  Cta &cta = *x.cta;
  if (s.address.wide || total > cta.shared.size())
    return false;
  const uint32_t *base = x.reg<uint32_t>(s.address.base);
  uint32_t offset = base[0] + uint32_t(s.address.imm) -
                    (cta.rank << kRankShift) - kSharedBase;
  if (offset > cta.shared.size() - total || offset & (bytes - 1) ||
      !inARow(base, bytes))
    return false;
  if (use == Use::Write && !cta.barriers.empty())
    for (uint32_t at = offset / 8; at <= (offset + total - 1) / 8; ++at)
      if (cta.barrierAt[at] >= 0)
        return false;
  out.data = cta.shared.data() + offset;
  out.valid = cta.valid.data() + offset;
  out.address = uint64_t(cta.rank) << kRankShift | (offset + kSharedBase);
  return true;
}

bool globalPiece(Exec &x, const Shape &s, Use use, Piece &out) {
  unsigned bytes = s.bytes(), total = 32 * bytes;
  if (!s.address.wide)
    return false;
  const uint64_t *base = x.reg<uint64_t>(s.address.base);
  uint64_t address = base[0] + uint64_t(s.address.imm);
  if (address & (bytes - 1) || !inARow(base, bytes))
    return false;
  const Region *region = x.warp->region;
  if (!region || address - region->base >= region->size)
    x.warp->region = region = x.cluster->grid.memory.find(address, total);
  if (!region || (use == Use::Write && !region->writable))
    return false;
  uint64_t offset = address - region->base;
  if (offset > region->size || total > region->size - offset)
    return false;
  out.data = region->data + offset;
  out.address = address;
  out.region = region;
  return true;
}

/// The common case: all lanes run and access memory in a row, each an element
/// of the registers' size. False if they need a closer look.
bool findPiece(Exec &x, const Shape &s, Use use, Piece &out) {
  if (x.mask != ~0u || s.address.base == kNoSlot || s.strong ||
      s.registerBytes != s.element)
    return false;
  switch (s.where) {
  case Where::SharedCta:
  case Where::SharedCluster:
    return sharedPiece(x, s, use, out);
  case Where::Global:
  case Where::Generic:
    return globalPiece(x, s, use, out);
  default:
    return false;
  }
}

/// Calls `body` with a value of the element's type; false if there is none.
template <typename F> bool withElement(unsigned bytes, F &&body) {
  switch (bytes) {
  case 1:
    body(uint8_t());
    return true;
  case 2:
    body(uint16_t());
    return true;
  case 4:
    body(uint32_t());
    return true;
  case 8:
    body(uint64_t());
    return true;
  }
  return false;
}

/// Moves a piece into registers or out of them. Other host threads may access
/// global memory meanwhile, shared memory none.
template <typename T, bool isLoad>
void movePiece(Exec &x, const Shape &s, const Piece &piece) {
  unsigned count = s.count;
  for (unsigned i = 0; i != count; ++i) {
    if (s.data[i] == kNoSlot)
      continue;
    T *lanes = x.reg<T>(s.data[i]);
    uint8_t *at = piece.data + i * sizeof(T);
    unsigned step = count * unsigned(sizeof(T));
    if (piece.valid && count == 1)
      std::memcpy(isLoad ? static_cast<void *>(lanes) : at,
                  isLoad ? at : static_cast<const void *>(lanes),
                  32 * sizeof(T));
    else if (isLoad)
      for (unsigned lane = 0; lane != 32; ++lane)
        lanes[lane] = readElement<T>(at + lane * step);
    else
      for (unsigned lane = 0; lane != 32; ++lane)
        writeElement<T>(at + lane * step, lanes[lane]);
  }
}

bool allWritten(const uint8_t *marks, unsigned bytes) {
  uint64_t all = ~uint64_t(0);
  for (unsigned i = 0; i != bytes; i += 8) {
    uint64_t eight;
    std::memcpy(&eight, marks + i, 8);
    all &= eight;
  }
  return all == ~uint64_t(0);
}

/// Whether a store leaves a piece, all of it written, as it is.
bool storesSame(Exec &x, const Shape &s, const Piece &piece) {
  if (piece.valid && !allWritten(piece.valid, 32 * s.bytes()))
    return false;
  bool same = true;
  withElement(s.element, [&](auto type) {
    using T = decltype(type);
    for (unsigned i = 0; same && i != s.count; ++i) {
      const T *lanes = x.reg<T>(s.data[i]);
      const uint8_t *at = piece.data + i * sizeof(T);
      for (unsigned lane = 0; same && lane != 32; ++lane)
        same = readElement<T>(at + lane * s.bytes()) == lanes[lane];
    }
  });
  return same;
}

/// Strict mode: checks the access to a piece.
void orderPiece(Exec &x, const Record &r, const Shape &s, const Piece &piece,
                Use use) {
  if (piece.region && !piece.region->isTracked())
    return;
  Touch touch;
  touch.origin = x.origin(r, 0);
  touch.write = use == Use::Write;
  touch.bytes = uint16_t(s.bytes());
  touch.nonCoherent = s.nonCoherent;
  if (touch.write && storesSame(x, s, piece))
    touch.flags = PastAccess::Same;
  Range range{piece.address, 32 * s.bytes(), 0,
              unsigned(__builtin_ctz(s.bytes()))};
  if (piece.region)
    tell(*x.cluster, GlobalTouched{*x.warp, &range, 1, touch});
  else
    tell(*x.cluster, SharedTouched{*x.warp, *x.cta, &range, 1, touch});
}

} // namespace

bool loadPiece(Exec &x, const Record &r, const Shape &s) {
  Piece piece;
  if (!findPiece(x, s, Use::Read, piece) ||
      (piece.valid && !allWritten(piece.valid, 32 * s.bytes())))
    return false;
  return withElement(s.element, [&](auto type) {
    if (x.cluster->order)
      orderPiece(x, r, s, piece, Use::Read);
    movePiece<decltype(type), true>(x, s, piece);
    if (x.warp->tainted)
      for (Slot slot : s.data)
        if (slot != kNoSlot)
          x.setUndefined(slot, 0);
  });
}

bool storePiece(Exec &x, const Record &r, const Shape &s) {
  Piece piece;
  if (x.warp->tainted || !findPiece(x, s, Use::Write, piece))
    return false;
  return withElement(s.element, [&](auto type) {
    if (x.cluster->order)
      orderPiece(x, r, s, piece, Use::Write);
    ++x.cluster->writes;
    movePiece<decltype(type), false>(x, s, piece);
    if (piece.valid)
      std::memset(piece.valid, 0xFF, 32 * s.bytes());
  });
}

} // namespace blockscale::emulator::machine

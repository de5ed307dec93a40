//===- NamedLayouts.cpp - every layout by its name ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/HW/NamedLayouts.h"
#include "blockscale/HW/Fragments.h"
#include "blockscale/HW/Memory.h"
#include "blockscale/HW/Metadata.h"
#include "blockscale/HW/ScaleLayout.h"

#include <algorithm>

namespace blockscale::hw {

using Values = std::vector<std::uint64_t>;

static constexpr std::uint64_t kMostBytes = std::uint64_t(1) << 62;
static constexpr unsigned kThreads = 32;

//===----------------------------------------------------------------------===//
// Questions
//===----------------------------------------------------------------------===//

static std::optional<Reason> whyNot(const std::vector<LayoutAxis> &axes,
                                    const Values &values) {
  if (values.size() != axes.size())
    return "expected " + std::to_string(axes.size()) + " coordinates, found " +
           std::to_string(values.size());
  for (std::size_t i = 0; i < axes.size(); ++i)
    if (values[i] >= axes[i].extent)
      return axes[i].name + " " + std::to_string(values[i]) +
             " is none of the " + std::to_string(axes[i].extent);
  return std::nullopt;
}

static Coordinates coordinates(const std::vector<LayoutAxis> &axes,
                               const Values &values) {
  Coordinates result;
  for (std::size_t i = 0; i < axes.size(); ++i)
    result[axes[i].dim] = values[i];
  return result;
}

static Values values(const std::vector<LayoutAxis> &axes,
                     const Coordinates &coordinates) {
  Values result;
  for (const LayoutAxis &axis : axes)
    result.push_back(coordinates[axis.dim]);
  return result;
}

Coordinates NamedLayout::toPlace(const Coordinates &content) const {
  if (storage)
    return {{Dim::Offset, storage->offset(content)}};
  return (isOfRegisters ? layout.inverse() : layout).at(content);
}

Coordinates NamedLayout::toContent(const Coordinates &place) const {
  if (storage)
    return storage->at(place[Dim::Offset]);
  return (isOfRegisters ? layout : layout.inverse()).at(place);
}

std::uint64_t NamedLayout::size() const {
  std::uint64_t result = 1;
  for (const LayoutAxis &axis : places)
    result *= axis.extent;
  return result;
}

Result<Values> NamedLayout::placeOf(const Values &content) const {
  if (auto why = whyNot(contents, content))
    return *why;
  Coordinates at = coordinates(contents, content);
  Values place = values(places, toPlace(at));
  // Between the halves of a load there is what no register holds.
  at[Dim::K] -= at[Dim::K] % alongK;
  if (whyNot(places, place) || !(toContent(coordinates(places, place)) == at)) {
    std::string text;
    for (std::size_t i = 0; i < contents.size(); ++i)
      text +=
          (i ? ", " : "") + contents[i].name + " " + std::to_string(content[i]);
    return Reason(text + " has no place in layout '" + name + "'");
  }
  return place;
}

Result<std::optional<Values>>
NamedLayout::contentAt(const Values &place) const {
  if (auto why = whyNot(places, place))
    return *why;
  Coordinates at = coordinates(places, place);
  Values content = values(contents, toContent(at));
  // Padding is beyond the extents; of a place that nothing is laid to, what the
  // inverse says lies elsewhere.
  if (whyNot(contents, content) ||
      !(toPlace(coordinates(contents, content)) == at))
    return std::optional<Values>();
  return std::optional<Values>(std::move(content));
}

std::string NamedLayout::formula() const {
  auto nameOf = [&](Dim dim) {
    for (const auto *axes : {&contents, &places})
      for (const LayoutAxis &axis : *axes)
        if (axis.dim == dim)
          return axis.name;
    return std::string(dimName(dim));
  };
  std::string text;
  auto line = [&](const std::string &target, const Term &term,
                  std::uint64_t stride) {
    text += target + " += " + printDigit(term, nameOf(term.source));
    if (stride != 1)
      text += " * " + std::to_string(stride);
    text += '\n';
  };
  if (!storage) {
    for (const Term &term : layout)
      line(nameOf(term.target), term, term.stride);
    return text;
  }
  if (contents.front().dim == Dim::Batch && contents.front().extent != 1)
    line("offset", {Dim::Batch}, storage->matrixBytes);
  for (const auto &digit : joined(*storage).digits)
    line("offset", digit.term, digit.stride);
  return text;
}

//===----------------------------------------------------------------------===//
// What there is
//===----------------------------------------------------------------------===//

/// Makes one kind of layout of its parameters, all of which have values.
class NamedLayoutBuilder {
public:
  using Parameters = std::map<std::string, std::uint64_t>;

  NamedLayoutBuilder(std::string_view name, const Parameters &parameters)
      : parameters(parameters) {
    result.name = name;
  }

  /// Bytes of memory.
  Result<NamedLayout> memory(const Layout &layout);
  /// Scales in tensor memory.
  Result<NamedLayout> tensorScales();
  /// Sparsity metadata in tensor memory.
  Result<NamedLayout> tensorMetadata();
  Result<NamedLayout> accumulator(AccumulatorLayout layout);
  /// Registers of a load from tensor memory or a store to it.
  Result<NamedLayout> tensorLoad(TmemShape shape);
  /// Registers of an operand of mma.sync.
  Result<NamedLayout> warpOperand(WarpOperand operand);
  /// Registers that hold the scales of 32 rows.
  Result<NamedLayout> scaleRegisters();

private:
  std::uint64_t get(const char *name) const { return parameters.at(name); }
  void content(const char *name, Dim dim, std::uint64_t extent) {
    result.contents.push_back({name, dim, extent});
  }
  void place(const char *name, Dim dim, std::uint64_t extent) {
    result.places.push_back({name, dim, extent});
  }
  /// Places in tensor memory, as many columns as the contents need.
  Result<NamedLayout> inTensorMemory(const Layout &layout, bool hasBytes);

  const Parameters &parameters;
  NamedLayout result;
};

Result<NamedLayout> NamedLayoutBuilder::memory(const Layout &layout) {
  auto padded = [&](const char *name, Dim dim) {
    std::uint64_t multiple = layout.multipleOf(dim), extent = get(name);
    return extent > kMostBytes ? kMostBytes + 1
                               : ceilDiv(extent, multiple) * multiple;
  };
  std::uint64_t bytes = get("batch");
  if (__builtin_mul_overflow(bytes, padded("rows", Dim::Row), &bytes) ||
      __builtin_mul_overflow(bytes, padded("blocks", Dim::Block), &bytes) ||
      bytes > kMostBytes)
    return Reason("the layout does not fit 62 bits");
  content("batch", Dim::Batch, get("batch"));
  content("row", Dim::Row, get("rows"));
  content("block", Dim::Block, get("blocks"));
  place("offset", Dim::Offset, bytes);
  result.layout = layout;
  result.storage = storageLayout(
      layout, {{Dim::Row, get("rows")}, {Dim::Block, get("blocks")}});
  return std::move(result);
}

Result<NamedLayout> NamedLayoutBuilder::inTensorMemory(const Layout &layout,
                                                       bool hasBytes) {
  Coordinates extents;
  for (const LayoutAxis &axis : result.contents)
    extents[axis.dim] = axis.extent;
  std::uint64_t columns = layout.extent(Dim::Column, extents);
  if (columns > kTmemColumns)
    return Reason("the layout has " + std::to_string(columns) +
                  " columns, tensor memory " + std::to_string(kTmemColumns));
  place("lane", Dim::Lane, kTmemLanes);
  place("column", Dim::Column, columns);
  if (hasBytes)
    place("byte", Dim::Byte, kTmemColumnBytes);
  result.layout = layout;
  return std::move(result);
}

Result<NamedLayout> NamedLayoutBuilder::tensorScales() {
  std::uint64_t rows = get("rows"), copies = get("copies");
  if (copies != 2 && copies != 4)
    return Reason("scales lie in tensor memory in 4 copies, or in 2 of B with "
                  "pairs of CTAs and M = 128; found " +
                  std::to_string(copies));
  if (rows > kTmemColumns || get("blocks") > kTmemColumns * kTmemColumnBytes)
    return Reason("an instruction reads scales of at most 256 rows, and tensor "
                  "memory has 2048 bytes in a lane");
  Result<ScaleRegion> region =
      scaleRegion(copies == 4 ? ScalePath::FourByOne : ScalePath::TwoByTwo,
                  static_cast<unsigned>(rows));
  if (!region)
    return region.why();
  content("row", Dim::Row, region->rows);
  content("block", Dim::Block, get("blocks"));
  content("replica", Dim::Replica, replicas(region->path));
  return inTensorMemory(scaleLayout(*region), /*hasBytes=*/true);
}

Result<NamedLayout> NamedLayoutBuilder::tensorMetadata() {
  if (get("rows") > kTmemLanes)
    return Reason("tensor memory has " + std::to_string(kTmemLanes) +
                  " lanes, one for each row; found " +
                  std::to_string(get("rows")) + " rows");
  content("row", Dim::Row, get("rows"));
  content("block", Dim::Block, get("blocks"));
  return inTensorMemory(kRowPerLane, /*hasBytes=*/true);
}

Result<NamedLayout> NamedLayoutBuilder::accumulator(AccumulatorLayout layout) {
  auto columns =
      static_cast<unsigned>(std::min<std::uint64_t>(get("columns"), 1 << 16));
  auto has = [&](unsigned row) {
    return accumulatorPosition(layout, columns, row, 0);
  };
  if (auto first = has(0); !first)
    return first.why();
  unsigned rows = 1;
  while (has(2 * rows - 1))
    rows *= 2;
  content("row", Dim::Row, rows);
  content("column", Dim::ColumnOfD, columns);
  Layout places = accumulatorPlaces(layout, columns);
  Coordinates extents{{Dim::Row, rows}, {Dim::ColumnOfD, columns}};
  place("cta", Dim::Cta, places.extent(Dim::Cta, extents));
  return inTensorMemory(places, /*hasBytes=*/false);
}

Result<NamedLayout> NamedLayoutBuilder::tensorLoad(TmemShape shape) {
  auto num =
      static_cast<unsigned>(std::min<std::uint64_t>(get("repeat"), 1 << 16));
  if (auto why = whyNot(shape, num))
    return *why;
  unsigned split = 0;
  if (shape == TmemShape::S16x32bx2) {
    // Halves that overlap give one place to two registers.
    if (get("split") < num || get("split") > kTmemColumns - num)
      return Reason("the second half of a load lies 'split' columns behind the "
                    "first, from " +
                    std::to_string(num) + " to " +
                    std::to_string(kTmemColumns - num) + ", found " +
                    std::to_string(get("split")));
    split = static_cast<unsigned>(get("split"));
  }
  result.layout = tmemFragmentLayout(shape, split);
  result.isOfRegisters = true;
  Coordinates extents{{Dim::Thread, kThreads},
                      {Dim::Value, tmemRegisters(shape, num)}};
  content("lane", Dim::Lane, result.layout.extent(Dim::Lane, extents));
  content("column", Dim::Column,
          std::max(result.layout.extent(Dim::Column, extents),
                   std::uint64_t(split) + (split ? num : 0)));
  place("thread", Dim::Thread, kThreads);
  place("register", Dim::Value, tmemRegisters(shape, num));
  return std::move(result);
}

/// The instruction of mma.sync with K = `k`.
static std::optional<WarpMma> warpMma(std::uint64_t k, bool isSparse) {
  if (isSparse)
    return k == 64    ? std::optional(WarpMma::SparseK64)
           : k == 128 ? std::optional(WarpMma::SparseK128)
                      : std::nullopt;
  return k == 32   ? std::optional(WarpMma::K32)
         : k == 64 ? std::optional(WarpMma::K64)
                   : std::nullopt;
}

Result<NamedLayout> NamedLayoutBuilder::warpOperand(WarpOperand operand) {
  std::optional<WarpMma> mma = warpMma(get("k"), get("sparse") != 0);
  if (!mma)
    return Reason("mma.sync with block scaling has K = 32 and 64, and 64 and "
                  "128 where A is sparse; found " +
                  std::to_string(get("k")));
  bool isScale =
      operand == WarpOperand::ScaleA || operand == WarpOperand::ScaleB;
  auto scales = static_cast<unsigned>(
      std::min<std::uint64_t>(isScale ? get("scales") : 1, 1 << 8));
  Result<unsigned> size = warpFragmentSize(*mma, operand, scales);
  if (!size)
    return size.why();
  result.layout = warpFragmentLayout(*mma, operand, scales);
  result.isOfRegisters = true;
  if (isScale)
    result.alongK = get("k") / scales;
  Coordinates extents{{Dim::Thread, kThreads}, {Dim::Value, *size}};
  bool isOfB = operand == WarpOperand::B || operand == WarpOperand::ScaleB;
  content(isOfB ? "column" : "row", Dim::Row,
          result.layout.extent(Dim::Row, extents));
  if (operand == WarpOperand::C)
    content("column", Dim::ColumnOfD,
            result.layout.extent(Dim::ColumnOfD, extents));
  else
    content("k", Dim::K, get("k"));
  if (isScale)
    content("replica", Dim::Replica,
            result.layout.extent(Dim::Replica, extents));
  place("thread", Dim::Thread, kThreads);
  place("value", Dim::Value, *size);
  return std::move(result);
}

Result<NamedLayout> NamedLayoutBuilder::scaleRegisters() {
  result.layout = kScaleRegisters;
  result.layout.add({Dim::Value, 1, 0, Dim::Block});
  result.isOfRegisters = true;
  content("row", Dim::Row, kThreads);
  content("block", Dim::Block, kAtomScales);
  place("thread", Dim::Thread, kThreads);
  place("byte", Dim::Value, kAtomScales);
  return std::move(result);
}

namespace {
struct Entry {
  NamedLayoutKind kind;
  Result<NamedLayout> (*build)(NamedLayoutBuilder &);
};
} // namespace

/// A builder's function with its argument.
template <auto Function, auto Argument>
static Result<NamedLayout> with(NamedLayoutBuilder &builder) {
  return (builder.*Function)(Argument);
}
template <auto Function>
static Result<NamedLayout> plainly(NamedLayoutBuilder &builder) {
  return (builder.*Function)();
}
template <const Layout &Value>
static Result<NamedLayout> inMemory(NamedLayoutBuilder &builder) {
  return builder.memory(Value);
}

static std::vector<Entry> makeEntries() {
  using B = NamedLayoutBuilder;
  const std::vector<LayoutParameter> ofMemory{
      {"rows", "rows of the operand", {}},
      {"blocks", "bytes for each row", {}},
      {"batch", "matrices", 1}};
  const LayoutParameter rows{"rows", "rows of A, columns of B", 128},
      columns{"columns", "columns of D", {}},
      repeat{"repeat", "the number behind .x", {}},
      k{"k", "elements along K of one instruction", {}},
      sparse{"sparse", "1 if A is sparse", 0},
      scales{"scales", "scales of a row in one instruction", 1};
  std::vector<Entry> entries{
      {{"plain", "Scales or metadata as rows of bytes.", ofMemory},
       inMemory<kPlainRows>},
      {{"tiled_128x4",
        "Scales in tiles of 128 rows by 4 blocks, as cuBLAS, CUTLASS and the "
        "tensor core read them.",
        ofMemory},
       inMemory<kTiledScales>},
      {{"tiled_128x16",
        "Scales in tiles of 128 rows by 16 blocks, row after row, as sm_107 "
        "can "
        "read those of A.",
        ofMemory},
       inMemory<kRowTiledScales>},
      {{"tiled_metadata", "Sparsity metadata in tiles of 128 rows by 16 bytes.",
        ofMemory},
       inMemory<kTiledMetadata>},
      {{"tensor_scales",
        "Scales in tensor memory, from their first column.",
        {rows,
         {"blocks", "scales along K", 4},
         {"copies", "4, or 2 of B with pairs of CTAs and M = 128", 4}}},
       plainly<&B::tensorScales>},
      {{"tensor_metadata",
        "Sparsity metadata in tensor memory, a row in each lane.",
        {rows, {"blocks", "bytes for each row", 16}}},
       plainly<&B::tensorMetadata>},
      {{"accumulator_a", "D of pairs of CTAs with M = 256.", {columns}},
       with<&B::accumulator, AccumulatorLayout::A>},
      {{"accumulator_b", "D of pairs of CTAs with M = 128.", {columns}},
       with<&B::accumulator, AccumulatorLayout::B>},
      {{"accumulator_d", "D of one CTA with M = 128.", {columns}},
       with<&B::accumulator, AccumulatorLayout::D>},
      {{"accumulator_f", "D of one CTA with M = 64.", {columns}},
       with<&B::accumulator, AccumulatorLayout::F>},
      {{"load_32x32b", "Registers of tcgen05.ld.32x32b.", {repeat}},
       with<&B::tensorLoad, TmemShape::S32x32b>},
      {{"load_16x64b", "Registers of tcgen05.ld.16x64b.", {repeat}},
       with<&B::tensorLoad, TmemShape::S16x64b>},
      {{"load_16x128b", "Registers of tcgen05.ld.16x128b.", {repeat}},
       with<&B::tensorLoad, TmemShape::S16x128b>},
      {{"load_16x256b", "Registers of tcgen05.ld.16x256b.", {repeat}},
       with<&B::tensorLoad, TmemShape::S16x256b>},
      {{"load_16x32bx2",
        "Registers of tcgen05.ld.16x32bx2.",
        {repeat, {"split", "columns from the first half to the second", {}}}},
       with<&B::tensorLoad, TmemShape::S16x32bx2>},
      {{"warp_a",
        "Registers of A of mma.sync with block scaling.",
        {k, sparse}},
       with<&B::warpOperand, WarpOperand::A>},
      {{"warp_b",
        "Registers of B of mma.sync with block scaling.",
        {k, sparse}},
       with<&B::warpOperand, WarpOperand::B>},
      {{"warp_c",
        "Registers of C and D of mma.sync with block scaling.",
        {k, sparse}},
       with<&B::warpOperand, WarpOperand::C>},
      {{"warp_metadata",
        "Elements that the metadata in a thread's register are for.",
        {k, {"sparse", "1: A is sparse", 1}}},
       with<&B::warpOperand, WarpOperand::Metadata>},
      {{"warp_scales_a",
        "Registers of A's scales of mma.sync.",
        {k, sparse, scales}},
       with<&B::warpOperand, WarpOperand::ScaleA>},
      {{"warp_scales_b",
        "Registers of B's scales of mma.sync.",
        {k, sparse, scales}},
       with<&B::warpOperand, WarpOperand::ScaleB>},
      {{"scale_registers",
        "Rows whose four scales a thread holds where a register serves two "
        "tiles of A or four of B.",
        {}},
       plainly<&B::scaleRegisters>}};
  return entries;
}

static const std::vector<Entry> &entries() {
  static const std::vector<Entry> all = makeEntries();
  return all;
}

const std::vector<NamedLayoutKind> &namedLayouts() {
  static const std::vector<NamedLayoutKind> kinds = [] {
    std::vector<NamedLayoutKind> result;
    for (const Entry &entry : entries())
      result.push_back(entry.kind);
    return result;
  }();
  return kinds;
}

/// "'rows', 'blocks' and 'batch'".
template <typename Range> static std::string listOfNames(const Range &range) {
  std::string list;
  std::size_t left = range.size();
  for (const auto &one : range) {
    --left;
    list += "'" + one.name + "'" + (left > 1 ? ", " : left == 1 ? " and " : "");
  }
  return list;
}

/// The parameters of a kind, with what is by default.
static Result<std::map<std::string, std::uint64_t>>
complete(const NamedLayoutKind &kind,
         std::map<std::string, std::uint64_t> parameters) {
  for (const auto &[name, value] : parameters) {
    bool isKnown = std::any_of(kind.parameters.begin(), kind.parameters.end(),
                               [&name = name](const LayoutParameter &one) {
                                 return one.name == name;
                               });
    if (!isKnown)
      return Reason("layout '" + kind.name + "' has no parameter '" + name +
                    "'" +
                    (kind.parameters.empty()
                         ? ""
                         : ", legal are " + listOfNames(kind.parameters)));
    if (value == 0 && name != "sparse")
      return Reason("expected '" + name + "' of at least 1, found 0");
  }
  for (const LayoutParameter &one : kind.parameters) {
    if (parameters.count(one.name))
      continue;
    if (!one.byDefault)
      return Reason("layout '" + kind.name + "' needs '" + one.name +
                    "', the " + one.meaning);
    parameters[one.name] = *one.byDefault;
  }
  return parameters;
}

Result<NamedLayout>
namedLayout(std::string_view name,
            const std::map<std::string, std::uint64_t> &parameters) {
  for (const Entry &entry : entries()) {
    if (entry.kind.name != name)
      continue;
    auto all = complete(entry.kind, parameters);
    if (!all)
      return all.why();
    NamedLayoutBuilder builder(name, *all);
    return entry.build(builder);
  }
  return Reason("unknown layout '" + std::string(name) + "', legal are " +
                listOfNames(namedLayouts()));
}

} // namespace blockscale::hw

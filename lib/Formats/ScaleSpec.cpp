//===- ScaleSpec.cpp - how a tensor is scaled -----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Formats/ScaleSpec.h"

#include "SpecCursor.h"

#include <functional>
#include <tuple>

using namespace blockscale;
using namespace blockscale::detail;

namespace {

struct Segment {
  std::string_view text;
  size_t offset;
};

/// One tile as written.
struct WrittenTile {
  Segment segment;
  TileSpec tile;
  bool namesSubtile = false;
  unsigned keepN = 0, ofM = 0;
};

std::vector<Segment> split(std::string_view text, size_t offset) {
  std::vector<Segment> segments;
  while (true) {
    size_t length = text.find('_');
    segments.push_back({text.substr(0, length), offset});
    if (length == std::string_view::npos)
      return segments;
    text.remove_prefix(length + 1);
    offset += length + 1;
  }
}

/// Whether a segment has the form of a tile, legal or not: a "t" and then only
/// digits and the letters of its parts. No number spec looks like that.
bool looksLikeTile(std::string_view text) {
  return !text.empty() && text.front() == 't' &&
         text.find_first_not_of("0123456789snm", 1) == std::string_view::npos;
}

/// N and M of "nNmM".
struct WrittenSparsity {
  unsigned keepN, ofM;
};

/// The sparsity that the cursor stands before.
std::optional<WrittenSparsity> readSparsity(SpecCursor &cursor) {
  if (!cursor.consume("n"))
    return std::nullopt;
  std::optional<unsigned> n = cursor.number();
  if (!n || !cursor.consume("m"))
    return std::nullopt;
  std::optional<unsigned> m = cursor.number();
  if (!m)
    return std::nullopt;
  return WrittenSparsity{*n, *m};
}

/// The sparsity that is all of a segment.
std::optional<WrittenSparsity> loneSparsity(std::string_view text) {
  SpecCursor cursor(text);
  std::optional<WrittenSparsity> sparsity = readSparsity(cursor);
  return cursor.atEnd() ? sparsity : std::nullopt;
}

/// The rules of tile and subtile sizes; the reason if one is broken.
std::optional<Reason> whyNotTile(const WrittenTile &written) {
  const TileSpec &tile = written.tile;
  std::string name = "tile " + inQuotes(written.segment.text);
  if (tile.size != 0 &&
      (!isPowerOfTwo(tile.size) || tile.size < 4 || tile.size > 256))
    return name + " has size " + std::to_string(tile.size) +
           ", expected a power of two from 4 to 256, or 0 for the whole "
           "dimension" +
           (tile.size == 1 ? "; tiles of single rows do not name them, such as "
                             "'t32' for 1 x 32"
                           : "");
  if (!written.namesSubtile)
    return std::nullopt;
  if (tile.isWholeDimension())
    return name + " divides a whole dimension into subtiles";
  if (!isPowerOfTwo(tile.subtile) || tile.subtile < 2 ||
      tile.subtile > tile.size)
    return name + " has subtile " + std::to_string(tile.subtile) +
           ", expected a power of two from 2 to " + std::to_string(tile.size);
  return std::nullopt;
}

/// The rules of N and M; the reason if one is broken. `name` has them.
std::optional<Reason> whyNotGroups(const std::string &name, unsigned n,
                                   unsigned m) {
  if (m != 2 && m != 4 && m != 8 && m != 16)
    return name + " keeps elements of groups of " + std::to_string(m) +
           ", expected 2, 4, 8 or 16";
  if (n < 1 || n >= m)
    return name + " keeps " + std::to_string(n) + " of " + std::to_string(m) +
           " elements, expected 1 to " + std::to_string(m - 1);
  return std::nullopt;
}

/// The rules of a sparse tile; the reason if one is broken.
std::optional<Reason> whyNotSparsity(const WrittenTile &written) {
  std::string name = "tile " + inQuotes(written.segment.text);
  unsigned m = written.ofM;
  if (auto why = whyNotGroups(name, written.keepN, m))
    return why;
  if (written.tile.isWholeDimension())
    return std::nullopt;
  if (written.tile.size % m != 0 || written.tile.subtile % m != 0)
    return name + " has sparsity groups of " + std::to_string(m) +
           " that do not divide its " +
           (written.tile.hasSubtile() ? "subtile" : "size");
  return std::nullopt;
}

Result<WrittenTile> parseTile(const Segment &segment) {
  WrittenTile written;
  written.segment = segment;
  SpecCursor cursor(segment.text);
  cursor.consume("t");
  written.tile.size = cursor.number().value_or(0);
  written.tile.subtile = written.tile.size;

  auto malformed = [&] {
    return Reason("tile " + inQuotes(segment.text) + " is malformed at " +
                      inQuotes(cursor.rest()) + ", expected t[T][sS][nNmM]",
                  segment.offset + segment.text.size() - cursor.rest().size());
  };
  if (cursor.consume("s")) {
    std::optional<unsigned> subtile = cursor.number();
    if (!subtile)
      return malformed();
    written.tile.subtile = *subtile;
    written.namesSubtile = true;
  }
  bool isSparse = cursor.rest().substr(0, 1) == "n";
  std::optional<WrittenSparsity> sparsity = readSparsity(cursor);
  if (isSparse && !sparsity)
    return malformed();
  if (sparsity) {
    written.keepN = sparsity->keepN;
    written.ofM = sparsity->ofM;
  }
  if (!cursor.atEnd())
    return malformed();
  std::optional<Reason> why = whyNotTile(written);
  if (!why && sparsity)
    why = whyNotSparsity(written);
  if (why)
    return why->within(segment.offset);
  return written;
}

Result<NumberSpec> parseScaleNumber(const Segment &segment) {
  std::string_view text = segment.text;
  if (text.empty())
    return Reason("scale spec has an empty segment", segment.offset);
  if (text.substr(0, 2) == "cb")
    return Reason("codebook " + inQuotes(text) + " cannot be a scale",
                  segment.offset);
  if (text == "float8")
    return Reason(
        "in a scale spec 'float8_' is left out: write 'e4m3fn' or 'e5m2', and "
        "'e4m3b8fnuz' or 'e5m2b16fnuz' for those that end in 'fnuz'",
        segment.offset);
  Result<NumberSpec> number = parseNumberSpec(text);
  if (!number)
    return Reason(number.why().text +
                      "; scale spec segments are number specs and tiles",
                  number.why().place + segment.offset);
  return number;
}

/// The parts of a spec before they are given roles.
struct WrittenSpec {
  bool multi = false;
  std::vector<NumberSpec> numbers;
  std::vector<Segment> numberSegments;
  std::vector<WrittenTile> tiles;
  /// Behind number specs without tiles.
  std::optional<WrittenSparsity> sparsity;
};

/// Why sparsity is no segment of its own there; empty if it is: the last one
/// behind a scale of the tensor.
std::optional<Reason> whyNotLast(const Segment &segment,
                                 const WrittenSpec &written, bool isLast) {
  if (isLast && written.tiles.empty() && !written.numbers.empty())
    return std::nullopt;
  return Reason("sparsity " + inQuotes(segment.text) +
                    " stands beside a tile, expected it in the tile of the "
                    "scale, such as 't32" +
                    std::string(segment.text) +
                    "', behind one scale for the tensor, such as 'float32_" +
                    std::string(segment.text) +
                    "', or alone for a tensor without scales",
                segment.offset);
}

/// Reads the segments of a spec with or without "multi_" in front.
Result<WrittenSpec> readSegments(const std::vector<Segment> &segments,
                                 bool multi) {
  WrittenSpec written;
  written.multi = multi;
  for (const Segment &segment : segments) {
    if (looksLikeTile(segment.text)) {
      if (written.numbers.empty())
        return Reason("scale spec begins with tile " + inQuotes(segment.text) +
                          ", expected a number spec before it",
                      segment.offset);
      if (written.tiles.size() == 2)
        return Reason("scale spec has more than two tiles", segment.offset);
      Result<WrittenTile> tile = parseTile(segment);
      if (!tile)
        return tile.why();
      written.tiles.push_back(*tile);
      continue;
    }
    if (auto sparsity = loneSparsity(segment.text)) {
      if (auto why = whyNotLast(segment, written, &segment == &segments.back()))
        return *why;
      if (auto why = whyNotGroups("sparsity " + inQuotes(segment.text),
                                  sparsity->keepN, sparsity->ofM))
        return why->within(segment.offset);
      written.sparsity = sparsity;
      continue;
    }
    Result<NumberSpec> number = parseScaleNumber(segment);
    if (!number)
      return number.why();
    if (!written.tiles.empty())
      return Reason("number spec " + inQuotes(segment.text) +
                        " follows a tile, expected number specs first",
                    segment.offset);
    if (written.numbers.size() == 3)
      return Reason("scale spec has more than three number specs",
                    segment.offset);
    written.numbers.push_back(*number);
    written.numberSegments.push_back(segment);
  }
  return written;
}

/// What the number of specs, the prefix and the tiles must agree on.
std::optional<Reason> whyNotCounts(const WrittenSpec &written) {
  size_t numbers = written.numbers.size();
  if (numbers == 3 && written.tiles.empty())
    return "scale spec has three number specs but no tile for the second scale";
  if (written.multi && numbers == 1)
    return "scale spec has 'multi_' but one number spec, expected a tensor "
           "scale and a tile scale";
  if (written.multi && written.tiles.empty())
    return "scale spec has 'multi_' but no tile for the second scale";
  return std::nullopt;
}

void assignNumbers(const WrittenSpec &written, ScaleSpec &spec) {
  const std::vector<NumberSpec> &numbers = written.numbers;
  if (numbers.size() == 3 || (numbers.size() == 2 && written.multi)) {
    spec.tensorScale = numbers[0];
    spec.scale = numbers[1];
    if (numbers.size() == 3)
      spec.zero = numbers[2];
    return;
  }
  spec.scale = numbers[0];
  if (numbers.size() == 2)
    spec.zero = numbers[1];
}

/// Gives the tiles to the dimensions; the error if they cannot stand together.
std::optional<Reason> assignTiles(const WrittenSpec &written, ScaleSpec &spec) {
  const std::vector<WrittenTile> &tiles = written.tiles;
  if (written.sparsity) {
    spec.keepN = written.sparsity->keepN;
    spec.ofM = written.sparsity->ofM;
  }
  if (tiles.empty())
    return std::nullopt;
  const WrittenTile &last = tiles.back();
  spec.columns = last.tile;
  spec.keepN = last.keepN;
  spec.ofM = last.ofM;
  if (tiles.size() == 1)
    return std::nullopt;
  const WrittenTile &first = tiles.front();
  spec.rows = first.tile;
  if (first.ofM != 0)
    return "tile " + inQuotes(first.segment.text) +
           " is sparse, expected sparsity on the last dimension only";
  if (first.tile.isWholeDimension() && last.tile.isWholeDimension())
    return "scale spec covers both dimensions as a whole; one scale for the "
           "tensor is spelled without tiles";
  if (spec.hasSubtile() && first.namesSubtile != last.namesSubtile)
    return "scale spec has a subtile in one of two dimensions, expected both";
  return std::nullopt;
}

/// The rules of which kinds can scale and shift.
std::optional<Reason> whyNotKinds(const ScaleSpec &spec) {
  if (spec.scale->kind == NumberKind::Uint ||
      (spec.tensorScale && spec.tensorScale->kind == NumberKind::Uint))
    return "an unsigned integer cannot be a scale";
  if (!spec.zero)
    return std::nullopt;
  if (spec.scale->kind != NumberKind::Float)
    return "a zero point (" + inQuotes(print(*spec.zero)) +
           ") needs a float scale, found " + inQuotes(print(*spec.scale));
  if (!spec.zero->isSigned())
    return "a zero point must be float or int, found " +
           inQuotes(print(*spec.zero));
  return std::nullopt;
}

Result<ScaleSpec> parseUnscaled(std::string_view text,
                                WrittenSparsity sparsity) {
  if (auto why = whyNotGroups("sparsity " + inQuotes(text), sparsity.keepN,
                              sparsity.ofM))
    return *why;
  ScaleSpec spec;
  spec.keepN = sparsity.keepN;
  spec.ofM = sparsity.ofM;
  return spec;
}

std::string printTile(const TileSpec &tile, bool showSubtile) {
  std::string text = "_t" + std::to_string(tile.size);
  return showSubtile ? text + "s" + std::to_string(tile.subtile) : text;
}

auto fieldsOf(const ScaleSpec &spec) {
  return std::tie(spec.tensorScale, spec.scale, spec.zero, spec.rows,
                  spec.columns, spec.keepN, spec.ofM);
}

std::string cannotBeScaled(const NumberSpec &data, const ScaleSpec &scale) {
  return "data " + inQuotes(print(data)) + " cannot be scaled by " +
         inQuotes(print(scale)) + ": ";
}

/// The rules of codebook data.
std::optional<Reason> whyNotCodebook(const ScaleSpec &scale) {
  if (scale.zero)
    return "codebook data take no zero point";
  if (!scale.isTile())
    return "codebook data need a tile of the last dimension";
  if (scale.scale->kind != NumberKind::Exponent)
    return "codebook data need an exponent scale";
  return std::nullopt;
}

std::optional<Reason> whyNotPlain(const NumberSpec &data,
                                  const ScaleSpec &scale);

/// What was probably meant by scale and zero point of data that take no zero
/// point: a scale of the tensor, the wider of the two, over scales of tiles.
std::optional<ScaleSpec> twoScopes(const NumberSpec &data,
                                   const ScaleSpec &scale) {
  if (scale.tensorScale || !scale.columns)
    return std::nullopt;
  ScaleSpec meant = scale;
  meant.tensorScale = scale.scale;
  meant.scale = scale.zero;
  meant.zero.reset();
  if (meant.scale->bits() > meant.tensorScale->bits())
    std::swap(meant.scale, meant.tensorScale);
  if (whyNotPlain(data, meant))
    return std::nullopt;
  return meant;
}

std::optional<Reason> whyNotPlain(const NumberSpec &data,
                                  const ScaleSpec &scale) {
  if (data.kind == NumberKind::Exponent)
    return "exponent types can only be scales";
  if (data.kind == NumberKind::Uint && !scale.zero)
    return "unsigned integer data need a zero point after the scale";
  if (data.kind != NumberKind::Uint && scale.zero) {
    std::string reason = "a zero point is for unsigned integer data";
    if (std::optional<ScaleSpec> meant = twoScopes(data, scale))
      reason += "; for a tensor scale over tile scales write " +
                inQuotes(print(*meant));
    return reason;
  }
  if (data.kind == NumberKind::Int && scale.scale->kind == NumberKind::Int)
    return "integer data need a float or exponent scale";
  if (scale.hasSubtile())
    return "subtiles are for codebook data";
  return std::nullopt;
}

} // namespace

bool blockscale::operator==(const TileSpec &left, const TileSpec &right) {
  return left.size == right.size && left.subtile == right.subtile;
}

bool blockscale::operator==(const ScaleSpec &left, const ScaleSpec &right) {
  return fieldsOf(left) == fieldsOf(right);
}

size_t blockscale::hash_value(const ScaleSpec &spec) {
  // One spelling per spec: its hash is as good as that of the fields.
  return std::hash<std::string>()(print(spec));
}

Result<ScaleSpec> blockscale::parseScaleSpec(std::string_view text) {
  std::string lower = toLower(text);
  if (std::optional<WrittenSparsity> sparsity = loneSparsity(lower))
    return parseUnscaled(lower, *sparsity);
  constexpr std::string_view prefix = "multi_";
  bool isMulti = lower.compare(0, prefix.size(), prefix) == 0;
  size_t start = isMulti ? prefix.size() : 0;
  Result<WrittenSpec> written = readSegments(
      split(std::string_view(lower).substr(start), start), isMulti);
  if (!written)
    return written.why();
  if (auto why = whyNotCounts(*written))
    return *why;
  ScaleSpec spec;
  assignNumbers(*written, spec);
  if (auto why = whyNotKinds(spec))
    return *why;
  if (auto why = assignTiles(*written, spec))
    return why->within(written->tiles.front().segment.offset);
  return spec;
}

std::string blockscale::print(const ScaleSpec &spec) {
  std::string text;
  if (spec.tensorScale)
    text = "multi_" + print(*spec.tensorScale) + "_";
  if (spec.scale)
    text += print(*spec.scale);
  if (spec.zero)
    text += "_" + print(*spec.zero);
  if (spec.rows)
    text += printTile(*spec.rows, spec.hasSubtile());
  if (spec.columns)
    text += printTile(*spec.columns, spec.hasSubtile());
  if (spec.isSparse() && spec.isTensor())
    text += "_";
  if (spec.isSparse())
    text += "n" + std::to_string(spec.keepN) + "m" + std::to_string(spec.ofM);
  return text;
}

std::optional<Reason> blockscale::whyNotDataType(const NumberSpec &data) {
  constexpr unsigned kIntegerBits = 8;
  bool isInteger =
      data.kind == NumberKind::Int || data.kind == NumberKind::Uint;
  if (!data.isCodebook() && (data.kind == NumberKind::Float ||
                             (isInteger && data.bits() == kIntegerBits)))
    return std::nullopt;
  return "data " + inQuotes(print(data)) +
         " cannot go unscaled, only floats and integers of 8 bits can";
}

std::optional<Reason> blockscale::whyNotDataType(const NumberSpec &data,
                                                 const ScaleSpec &scale) {
  if (scale.isUnscaled())
    return whyNotDataType(data);
  std::optional<Reason> why =
      data.isCodebook() ? whyNotCodebook(scale) : whyNotPlain(data, scale);
  if (!why)
    return std::nullopt;
  return cannotBeScaled(data, scale) + why->text;
}

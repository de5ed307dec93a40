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

using ParsedScale = Parsed<ScaleSpec>;

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
std::string whyNotTile(const WrittenTile &written) {
  const TileSpec &tile = written.tile;
  std::string name = "tile " + quoted(written.segment.text);
  if (tile.size != 0 &&
      (!isPowerOfTwo(tile.size) || tile.size < 4 || tile.size > 256))
    return name + " has size " + std::to_string(tile.size) +
           ", expected a power of two from 4 to 256, or 0 for the whole "
           "dimension";
  if (!written.namesSubtile)
    return {};
  if (tile.size == 0)
    return name + " divides a whole dimension into subtiles";
  if (!isPowerOfTwo(tile.subtile) || tile.subtile < 2 ||
      tile.subtile > tile.size)
    return name + " has subtile " + std::to_string(tile.subtile) +
           ", expected a power of two from 2 to " + std::to_string(tile.size);
  return {};
}

/// The rules of N and M; the reason if one is broken. `name` has them.
std::string whyNotGroups(const std::string &name, unsigned n, unsigned m) {
  if (m != 2 && m != 4 && m != 8 && m != 16)
    return name + " keeps elements of groups of " + std::to_string(m) +
           ", expected 2, 4, 8 or 16";
  if (n < 1 || n >= m)
    return name + " keeps " + std::to_string(n) + " of " + std::to_string(m) +
           " elements, expected 1 to " + std::to_string(m - 1);
  return {};
}

/// The rules of a sparse tile; the reason if one is broken.
std::string whyNotSparsity(const WrittenTile &written) {
  std::string name = "tile " + quoted(written.segment.text);
  unsigned m = written.ofM;
  std::string reason = whyNotGroups(name, written.keepN, m);
  if (!reason.empty())
    return reason;
  if (written.tile.size == 0)
    return name + " is sparse over a whole dimension, expected a tile size";
  if (written.tile.size % m != 0 || written.tile.subtile % m != 0)
    return name + " has sparsity groups of " + std::to_string(m) +
           " that do not divide its " +
           (written.tile.hasSubtile() ? "subtile" : "size");
  return {};
}

Parsed<WrittenTile> parseTile(const Segment &segment) {
  using Result = Parsed<WrittenTile>;
  WrittenTile written;
  written.segment = segment;
  SpecCursor cursor(segment.text);
  cursor.consume("t");
  written.tile.size = cursor.number().value_or(0);
  written.tile.subtile = written.tile.size;

  auto malformed = [&] {
    return Result::failure(
        "tile " + quoted(segment.text) + " is malformed at " +
            quoted(cursor.rest()) + ", expected t[T][sS][nNmM]",
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
  std::string reason = whyNotTile(written);
  if (reason.empty() && sparsity)
    reason = whyNotSparsity(written);
  if (!reason.empty())
    return Result::failure(reason, segment.offset);
  return Result::success(written);
}

Parsed<NumberSpec> parseScaleNumber(const Segment &segment) {
  using Result = Parsed<NumberSpec>;
  std::string_view text = segment.text;
  if (text.empty())
    return Result::failure("scale spec has an empty segment", segment.offset);
  if (text.substr(0, 2) == "cb")
    return Result::failure("codebook " + quoted(text) + " cannot be a scale",
                           segment.offset);
  if (text == "float8")
    return Result::failure(
        "in a scale spec 'float8_' is left out: write 'e4m3fn' or 'e5m2'",
        segment.offset);
  Result number = parseNumberSpec(text);
  if (!number) {
    number.error += "; scale spec segments are number specs and tiles";
    number.errorOffset += segment.offset;
  }
  return number;
}

/// The parts of a spec before they are given roles.
struct WrittenSpec {
  bool multi = false;
  std::vector<NumberSpec> numbers;
  std::vector<Segment> numberSegments;
  std::vector<WrittenTile> tiles;
};

/// Reads the segments; fills `error` and gives back false on failure.
bool readSegments(const std::vector<Segment> &segments, WrittenSpec &written,
                  ParsedScale &error) {
  auto fail = [&](std::string message, size_t offset) {
    error = ParsedScale::failure(std::move(message), offset);
    return false;
  };
  for (const Segment &segment : segments) {
    if (looksLikeTile(segment.text)) {
      if (written.numbers.empty())
        return fail("scale spec begins with tile " + quoted(segment.text) +
                        ", expected a number spec before it",
                    segment.offset);
      if (written.tiles.size() == 2)
        return fail("scale spec has more than two tiles", segment.offset);
      Parsed<WrittenTile> tile = parseTile(segment);
      if (!tile)
        return fail(tile.error, tile.errorOffset);
      written.tiles.push_back(*tile);
      continue;
    }
    if (loneSparsity(segment.text))
      return fail("sparsity " + quoted(segment.text) +
                      " stands beside a scale, expected it in the tile of "
                      "the scale, such as 't32" +
                      std::string(segment.text) +
                      "', or alone for a tensor without scales",
                  segment.offset);
    Parsed<NumberSpec> number = parseScaleNumber(segment);
    if (!number)
      return fail(number.error, number.errorOffset);
    if (!written.tiles.empty())
      return fail("number spec " + quoted(segment.text) +
                      " follows a tile, expected number specs first",
                  segment.offset);
    if (written.numbers.size() == 3)
      return fail("scale spec has more than three number specs",
                  segment.offset);
    written.numbers.push_back(*number);
    written.numberSegments.push_back(segment);
  }
  return true;
}

/// What the number of specs, the prefix and the tiles must agree on.
std::string whyNotCounts(const WrittenSpec &written) {
  size_t numbers = written.numbers.size();
  if (numbers == 3 && written.tiles.empty())
    return "scale spec has three number specs but no tile for the second scale";
  if (written.multi && numbers == 1)
    return "scale spec has 'multi_' but one number spec, expected a tensor "
           "scale and a tile scale";
  if (written.multi && written.tiles.empty())
    return "scale spec has 'multi_' but no tile for the second scale";
  return {};
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
std::string assignTiles(const WrittenSpec &written, ScaleSpec &spec) {
  const std::vector<WrittenTile> &tiles = written.tiles;
  if (tiles.empty())
    return {};
  const WrittenTile &last = tiles.back();
  spec.columns = last.tile;
  spec.keepN = last.keepN;
  spec.ofM = last.ofM;
  if (tiles.size() == 1)
    return {};
  const WrittenTile &first = tiles.front();
  spec.rows = first.tile;
  if (first.ofM != 0)
    return "tile " + quoted(first.segment.text) +
           " is sparse, expected sparsity on the last dimension only";
  if (first.tile.size == 0 && last.tile.size == 0)
    return "scale spec covers both dimensions as a whole; one scale for the "
           "tensor is spelled without tiles";
  if (spec.hasSubtile() && first.namesSubtile != last.namesSubtile)
    return "scale spec has a subtile in one of two dimensions, expected both";
  return {};
}

/// The rules of which kinds can scale and shift.
std::string whyNotKinds(const ScaleSpec &spec) {
  if (spec.scale->kind == NumberKind::Uint ||
      (spec.tensorScale && spec.tensorScale->kind == NumberKind::Uint))
    return "an unsigned integer cannot be a scale";
  if (!spec.zero)
    return {};
  if (spec.scale->kind != NumberKind::Float)
    return "a zero point (" + quoted(print(*spec.zero)) +
           ") needs a float scale, found " + quoted(print(*spec.scale));
  if (!spec.zero->isSigned())
    return "a zero point must be float or int, found " +
           quoted(print(*spec.zero));
  return {};
}

ParsedScale parseUnscaled(std::string_view text, WrittenSparsity sparsity) {
  std::string reason =
      whyNotGroups("sparsity " + quoted(text), sparsity.keepN, sparsity.ofM);
  if (!reason.empty())
    return ParsedScale::failure(reason);
  ScaleSpec spec;
  spec.keepN = sparsity.keepN;
  spec.ofM = sparsity.ofM;
  return ParsedScale::success(spec);
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
  return "data " + quoted(print(data)) + " cannot be scaled by " +
         quoted(print(scale)) + ": ";
}

/// The rules of codebook data.
std::string whyNotCodebook(const ScaleSpec &scale) {
  if (scale.zero)
    return "codebook data take no zero point";
  if (!scale.isTile())
    return "codebook data need a tile of the last dimension";
  if (scale.scale->kind != NumberKind::Exponent)
    return "codebook data need an exponent scale";
  return {};
}

std::string whyNotPlain(const NumberSpec &data, const ScaleSpec &scale);

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
  if (!whyNotPlain(data, meant).empty())
    return std::nullopt;
  return meant;
}

std::string whyNotPlain(const NumberSpec &data, const ScaleSpec &scale) {
  if (data.kind == NumberKind::Exponent)
    return "exponent types can only be scales";
  if (data.kind == NumberKind::Uint && !scale.zero)
    return "unsigned integer data need a zero point after the scale";
  if (data.kind != NumberKind::Uint && scale.zero) {
    std::string reason = "a zero point is for unsigned integer data";
    if (std::optional<ScaleSpec> meant = twoScopes(data, scale))
      reason += "; for a tensor scale over tile scales write " +
                quoted(print(*meant));
    return reason;
  }
  if (data.kind == NumberKind::Int && scale.scale->kind == NumberKind::Int)
    return "integer data need a float or exponent scale";
  if (scale.hasSubtile())
    return "subtiles are for codebook data";
  return {};
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

Parsed<ScaleSpec> blockscale::parseScaleSpec(std::string_view text) {
  std::string lower = toLower(text);
  if (std::optional<WrittenSparsity> sparsity = loneSparsity(lower))
    return parseUnscaled(lower, *sparsity);
  std::string_view rest = lower;
  WrittenSpec written;
  constexpr std::string_view prefix = "multi_";
  if (rest.substr(0, prefix.size()) == prefix) {
    written.multi = true;
    rest.remove_prefix(prefix.size());
  }
  ParsedScale result;
  if (!readSegments(split(rest, lower.size() - rest.size()), written, result))
    return result;
  std::string reason = whyNotCounts(written);
  if (!reason.empty())
    return ParsedScale::failure(reason);
  ScaleSpec spec;
  assignNumbers(written, spec);
  reason = whyNotKinds(spec);
  if (!reason.empty())
    return ParsedScale::failure(reason);
  reason = assignTiles(written, spec);
  if (!reason.empty())
    return ParsedScale::failure(reason, written.tiles.front().segment.offset);
  return ParsedScale::success(spec);
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
  if (spec.isSparse())
    text += "n" + std::to_string(spec.keepN) + "m" + std::to_string(spec.ofM);
  return text;
}

std::optional<std::string> blockscale::whyNotDataType(const NumberSpec &data) {
  constexpr unsigned kIntegerBits = 8;
  bool isInteger =
      data.kind == NumberKind::Int || data.kind == NumberKind::Uint;
  if (!data.isCodebook() && (data.kind == NumberKind::Float ||
                             (isInteger && data.bits() == kIntegerBits)))
    return std::nullopt;
  return "data " + quoted(print(data)) +
         " cannot go unscaled, only floats and integers of 8 bits can";
}

std::optional<std::string> blockscale::whyNotDataType(const NumberSpec &data,
                                                      const ScaleSpec &scale) {
  if (scale.isUnscaled())
    return whyNotDataType(data);
  std::string reason =
      data.isCodebook() ? whyNotCodebook(scale) : whyNotPlain(data, scale);
  if (reason.empty())
    return std::nullopt;
  return cannotBeScaled(data, scale) + reason;
}

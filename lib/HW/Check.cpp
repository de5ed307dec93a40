//===- Check.cpp - is this matrix instruction legal? ----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A query is legal if some row of the target satisfies every rule below. The
// rules stand in the order in which a person would want them checked: the first
// one that leaves no row is the one to complain about.
//
//===----------------------------------------------------------------------===//

#include "blockscale/HW/Check.h"

#include "CheckInternal.h"

#include <algorithm>
#include <array>

using namespace blockscale;
using namespace blockscale::hw;

namespace {

using Rows = std::vector<const MmaRow *>;

/// How far the description of the instruction goes when a rule complains; each
/// level repeats what earlier rules have settled.
enum class Subject { Target, Kind, Form, Shape };

struct Rule {
  Subject subject;
  bool (*holds)(const MmaRow &row, const MmaQuery &query);
  std::string (*found)(const MmaQuery &query);
  /// What `row` would accept in its place.
  std::string (*allowed)(const MmaRow &row, const MmaQuery &query);
};

std::string inQuotes(std::string_view text) {
  return "'" + std::string(text) + "'";
}

std::string scaleName(const std::optional<ElementFormat> &scale) {
  return scale ? std::string(formatName(*scale)) : "no scale";
}

std::string majorName(OperandMajor major, const char *mn) {
  return major == OperandMajor::K ? "K-major" : mn;
}

std::string blockName(unsigned block) {
  return block ? std::to_string(block) : "no block";
}

bool majorFits(const MmaRow &row, OperandType type, OperandMajor major) {
  return major == OperandMajor::K || row.mnMajor.contains(type);
}

bool idFits(const MmaRow &row, unsigned id) {
  return id < 4 && (row.scaleIds >> id & 1);
}

std::string idList(const MmaRow &row) {
  std::string text;
  for (unsigned id = 0; id < 4; ++id)
    if (idFits(row, id))
      text += (text.empty() ? "" : ", ") + std::to_string(id);
  return text;
}

const std::array kRules{
    Rule{Subject::Target,
         [](const MmaRow &row, const MmaQuery &q) {
           return !q.family || row.family == *q.family;
         },
         [](const MmaQuery &q) {
           return q.family ? std::string(familyName(*q.family)) : "";
         },
         [](const MmaRow &row, const MmaQuery &) {
           return std::string(familyName(row.family));
         }},
    Rule{
        Subject::Target,
        [](const MmaRow &row, const MmaQuery &q) { return row.kind == q.kind; },
        [](const MmaQuery &q) { return "kind " + inQuotes(kindName(q.kind)); },
        [](const MmaRow &row, const MmaQuery &) {
          return std::string(kindName(row.kind));
        }},
    Rule{Subject::Kind,
         [](const MmaRow &row, const MmaQuery &q) {
           return row.a.contains(q.a);
         },
         [](const MmaQuery &q) {
           return "type " + inQuotes(q.a.name()) + " of A";
         },
         [](const MmaRow &row, const MmaQuery &) { return row.a.names(); }},
    Rule{Subject::Kind,
         [](const MmaRow &row, const MmaQuery &q) {
           return row.b.contains(q.b) && (!row.sameTypes || q.a == q.b);
         },
         [](const MmaQuery &q) {
           return "type " + inQuotes(q.b.name()) + " of B with " +
                  inQuotes(q.a.name()) + " of A";
         },
         [](const MmaRow &row, const MmaQuery &q) {
           return row.sameTypes ? q.a.name() : row.b.names();
         }},
    Rule{Subject::Kind,
         [](const MmaRow &row, const MmaQuery &q) {
           return row.scale == q.scale;
         },
         [](const MmaQuery &q) {
           return q.scale ? "scale type " + inQuotes(formatName(*q.scale))
                          : "an operand without scales";
         },
         [](const MmaRow &row, const MmaQuery &) {
           return scaleName(row.scale);
         }},
    Rule{Subject::Kind,
         [](const MmaRow &row, const MmaQuery &q) {
           return row.block == q.block;
         },
         [](const MmaQuery &q) {
           return q.block ? "block " + std::to_string(q.block) + " with " +
                                scaleName(q.scale)
                          : "an operand without blocks";
         },
         [](const MmaRow &row, const MmaQuery &) {
           return blockName(row.block);
         }},
    Rule{Subject::Kind,
         [](const MmaRow &row, const MmaQuery &q) {
           return row.sparse == q.sparse;
         },
         [](const MmaQuery &q) {
           return std::string(q.sparse ? "a sparse A" : "a dense A");
         },
         [](const MmaRow &row, const MmaQuery &) {
           return std::string(row.sparse ? "sparse" : "dense");
         }},
    Rule{Subject::Form,
         [](const MmaRow &row, const MmaQuery &q) { return row.k == q.k; },
         [](const MmaQuery &q) { return "K = " + std::to_string(q.k); },
         [](const MmaRow &row, const MmaQuery &) {
           return std::to_string(row.k);
         }},
    Rule{Subject::Form,
         [](const MmaRow &row, const MmaQuery &q) {
           return row.ctaGroup == q.ctaGroup;
         },
         [](const MmaQuery &q) {
           return "cta_group " + std::to_string(q.ctaGroup);
         },
         [](const MmaRow &row, const MmaQuery &) {
           return std::to_string(row.ctaGroup);
         }},
    Rule{Subject::Shape,
         [](const MmaRow &row, const MmaQuery &q) { return row.m == q.m; },
         [](const MmaQuery &q) { return "M = " + std::to_string(q.m); },
         [](const MmaRow &row, const MmaQuery &) {
           return std::to_string(row.m);
         }},
    Rule{Subject::Shape,
         [](const MmaRow &row, const MmaQuery &q) {
           return majorFits(row, q.a, q.aMajor);
         },
         [](const MmaQuery &q) {
           return majorName(q.aMajor, "M-major") + " A of type " +
                  inQuotes(q.a.name());
         },
         [](const MmaRow &, const MmaQuery &) {
           return std::string("K-major");
         }},
    Rule{Subject::Shape,
         [](const MmaRow &row, const MmaQuery &q) {
           return majorFits(row, q.b, q.bMajor);
         },
         [](const MmaQuery &q) {
           return majorName(q.bMajor, "N-major") + " B of type " +
                  inQuotes(q.b.name());
         },
         [](const MmaRow &, const MmaQuery &) {
           return std::string("K-major");
         }},
    Rule{Subject::Shape,
         [](const MmaRow &row, const MmaQuery &q) {
           return nRange(row, q.b, q.bMajor).contains(q.n);
         },
         [](const MmaQuery &q) {
           return "N = " + std::to_string(q.n) +
                  (q.bMajor == OperandMajor::MN ? " of an N-major B" : "");
         },
         [](const MmaRow &row, const MmaQuery &q) {
           return describeRange(nRange(row, q.b, q.bMajor));
         }},
    Rule{Subject::Shape,
         [](const MmaRow &row, const MmaQuery &q) {
           return idFits(row, q.sfaId);
         },
         [](const MmaQuery &q) {
           return "SFA_ID = " + std::to_string(q.sfaId) +
                  " at K = " + std::to_string(q.k);
         },
         [](const MmaRow &row, const MmaQuery &) { return idList(row); }},
    Rule{Subject::Shape,
         [](const MmaRow &row, const MmaQuery &q) {
           return idFits(row, q.sfbId);
         },
         [](const MmaQuery &q) {
           return "SFB_ID = " + std::to_string(q.sfbId) +
                  " at K = " + std::to_string(q.k);
         },
         [](const MmaRow &row, const MmaQuery &) { return idList(row); }},
};

/// The rows of `rows` for which the first `count` rules hold.
Rows filter(Rows rows, const MmaQuery &query, size_t count) {
  for (size_t i = 0; i < count; ++i)
    rows.erase(std::remove_if(rows.begin(), rows.end(),
                              [&](const MmaRow *row) {
                                return !kRules[i].holds(*row, query);
                              }),
               rows.end());
  return rows;
}

std::string subjectOf(Subject subject, const MmaQuery &query,
                      const MmaRow &row) {
  std::string text;
  if (subject != Subject::Target) {
    text = " for ";
    if (subject != Subject::Kind)
      text += query.sparse ? "sparse " : "dense ";
    text += inQuotes(kindName(query.kind));
    if (subject == Subject::Shape && row.family == MmaFamily::Tcgen05)
      text += " with cta_group " + std::to_string(query.ctaGroup);
    if (row.family == MmaFamily::MmaSync)
      text += " (mma.sync)";
  }
  return text + " on " + inQuotes(targetName(query.target));
}

/// The rows of all targets that have what the first `count` rules ask for.
Rows rowsAnywhere(const MmaQuery &query, size_t count) {
  Rows rows;
  for (const MmaRow &row : allRows())
    rows.push_back(&row);
  return filter(std::move(rows), query, count);
}

/// Their targets.
std::string elsewhere(const Rows &rows) {
  TargetSet targets;
  for (const MmaRow *row : rows)
    targets = targets | row->targets;
  std::string names = targets.names();
  return names.empty() ? "" : "; it exists on " + names + " only";
}

/// How a rule is known, where that is not the documents' word alone: by the
/// rows that keep it, if nobody here could run any of them; on targets that
/// nobody could run, by those that `query` would need.
std::string sourceOfRule(const Rule &rule, const MmaQuery &query,
                         const Rows &keeping, const Rows &before) {
  std::string_view evidence;
  bool isNew = std::all_of(keeping.begin(), keeping.end(),
                           [](auto *row) { return !row->evidence.empty(); });
  if (!keeping.empty() && isNew)
    evidence = keeping.front()->evidence;
  else if (rule.subject == Subject::Target && query.target.chip == Chip::SM107)
    evidence = "[P] ptxas 13.5 refuses it";
  else
    evidence = evidenceOn(*before.front(), query.target);
  return evidence.empty() ? "" : " (source: " + std::string(evidence) + ")";
}

std::string complain(size_t index, const MmaQuery &query, const Rows &before) {
  const Rule &rule = kRules[index];
  Rows keeping = rowsAnywhere(query, index + 1);
  std::vector<std::string> allowed;
  for (const MmaRow *row : before) {
    std::string text = rule.allowed(*row, query);
    if (std::find(allowed.begin(), allowed.end(), text) == allowed.end())
      allowed.push_back(text);
  }
  std::string list;
  for (const std::string &text : allowed)
    list += (list.empty() ? "" : " or ") + text;
  return rule.found(query) + " is not legal" +
         subjectOf(rule.subject, query, *before.front()) + ": expected " +
         list + elsewhere(keeping) + sourceOfRule(rule, query, keeping, before);
}

/// What a sparse A lacks on sm_107: of 4 bits metadata that nothing here makes,
/// of 8 bits a documented instruction with twice the K.
std::string whyNotSparse(const MmaQuery &query) {
  constexpr unsigned kWideSparseK = 128;
  if (!query.sparse || query.target.chip != Chip::SM107)
    return "";
  if (containerBits(query.kind) == 4)
    return "; its metadata are of single elements (2:4, descriptor bit 12) on "
           "this chip, of which PTX ISA 9.4 alone tells and no kernel is "
           "public [T]";
  if (query.k != kWideSparseK)
    return "";
  if (query.kind == MmaKind::MXF8F6F4)
    return "; PTX ISA 9.4 lists the shape [T], but how many scales a row has "
           "with it is inferred [I] and no kernel is public";
  if (query.kind == MmaKind::F8F6F4)
    return "; PTX ISA 9.4 lists the shape and gives no descriptor code for it "
           "[T], and no kernel is public";
  return "";
}

/// The first rule that `query` breaks, in words.
std::optional<Reason> brokenRule(const MmaQuery &query) {
  if (std::optional<Reason> reason = whyNotTarget(query.target))
    return reason;
  Rows rows = rowsFor(query.target);
  for (size_t i = 0; i < kRules.size(); ++i) {
    Rows next = rows;
    next.erase(std::remove_if(next.begin(), next.end(),
                              [&](const MmaRow *row) {
                                return !kRules[i].holds(*row, query);
                              }),
               next.end());
    if (next.empty())
      return complain(i, query, rows) + whyNotSparse(query);
    rows = std::move(next);
  }
  return std::nullopt;
}

} // namespace

std::string blockscale::hw::describeRange(const NRange &range) {
  if (range.min == range.max)
    return std::to_string(range.min);
  return std::to_string(range.min) + ".." + std::to_string(range.max) +
         " step " + std::to_string(range.step);
}

const MmaRow *blockscale::hw::findRow(const MmaQuery &query) {
  Rows rows = filter(rowsFor(query.target), query, kRules.size());
  return rows.empty() ? nullptr : rows.front();
}

std::optional<Reason> blockscale::hw::whyNot(const MmaQuery &query) {
  std::optional<Reason> reason = brokenRule(query);
  if (!reason || query.target.variant == TargetVariant::Plain)
    return reason;
  if (std::optional<MmaQuery> nearest = nearestLegal(query))
    reason->text += "; nearest legal: " + describeChange(query, *nearest);
  return reason;
}

/// The targets that have such scales, and how that is known, where only chips
/// have them that nobody here could run.
static std::string whereSpanIsNew(OperandType a, OperandType b,
                                  ElementFormat scale, unsigned scaleSpan,
                                  bool sparse) {
  TargetSet targets;
  std::string_view evidence;
  for (const MmaRow &row : allRows()) {
    if (row.evidence.empty() || row.scale != scale || row.sparse != sparse ||
        row.scaleSpan() != scaleSpan || !row.a.contains(a) ||
        !row.b.contains(b))
      continue;
    targets = targets | row.targets;
    if (evidence.empty())
      evidence = row.evidence;
  }
  if (evidence.empty())
    return "";
  return "; it exists on " + targets.names() +
         " only (source: " + std::string(evidence) + ")";
}

std::optional<Reason>
blockscale::hw::whyNotScaleSpan(OperandType a, OperandType b,
                                ElementFormat scale, unsigned scaleSpan,
                                bool sparse, Target target) {
  if (std::optional<Reason> reason = whyNotTarget(target))
    return reason;
  if (!findSchemes(a, b, scale, scaleSpan, sparse, target).empty())
    return std::nullopt;
  std::vector<std::string> spans;
  for (const MmaRow *row : rowsFor(target)) {
    if (!row->scale || row->sparse != sparse || !row->a.contains(a) ||
        !row->b.contains(b))
      continue;
    std::string text = "one " + std::string(formatName(*row->scale)) + " per " +
                       std::to_string(row->scaleSpan());
    if (std::find(spans.begin(), spans.end(), text) == spans.end())
      spans.push_back(text);
  }
  std::string list;
  for (const std::string &text : spans)
    list += (list.empty() ? "" : " or ") + text;
  return "no " + std::string(sparse ? "sparse" : "dense") + " instruction on " +
         inQuotes(targetName(target)) + " multiplies " + inQuotes(a.name()) +
         " by " + inQuotes(b.name()) + " with one " +
         inQuotes(formatName(scale)) + " scale per " +
         std::to_string(scaleSpan) + " elements of K: expected " +
         (list.empty() ? "other operand types" : list) +
         whereSpanIsNew(a, b, scale, scaleSpan, sparse);
}

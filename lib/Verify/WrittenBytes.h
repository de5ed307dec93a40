//===- WrittenBytes.h - check what a kernel stores, byte by byte -*- C++ -*-==//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_VERIFY_WRITTENBYTES_H
#define BLOCKSCALE_LIB_VERIFY_WRITTENBYTES_H

#include "blockscale/Verify/Verify.h"

namespace blockscale::verify {

/// What a kernel has to write to the memory of a parameter.
struct WrittenBytes {
  static constexpr uint64_t kNobody = ~uint64_t(0);

  std::string role;
  std::vector<uint8_t> bytes;
  /// The CTA that writes each byte, or nobody.
  std::vector<uint64_t> writers;

  explicit WrittenBytes(std::string role, uint64_t size)
      : role(std::move(role)), bytes(size), writers(size, kNobody) {}
  void expect(uint64_t byte, uint8_t value, uint64_t cta) {
    bytes[byte] = value;
    writers[byte] = cta;
  }
};

/// One run of a kernel that stores bytes that are known exactly: its memory
/// before it, and what is there behind it.
struct WrittenRun {
  HostData data;
  std::vector<WrittenBytes> results;

  /// Compares what CTAs of `sample` wrote, or all if there are none; nothing
  /// else may have been written.
  void compare(const std::vector<uint64_t> &sample, Verdict &verdict) const;
};

/// Runs of kernels that move scales of all codes, metadata and elements of a
/// byte from one layout or order to another.
struct RelayoutRun : WrittenRun {
  static Result<RelayoutRun> make(const plan::Kernel &kernel,
                                  const plan::Environment &sizes, DataKind kind,
                                  uint64_t seed, Conditions conditions);
};

/// Adds scales that a kernel moves, or repeats for shorter tiles, to what a run
/// reads and writes; its CTAs are those from `firstCta` on. Returns what is
/// wrong with the plan.
std::optional<Reason> addMovedScales(const plan::Kernel &kernel,
                                     const plan::Environment &sizes,
                                     uint64_t seed, bool isHarsh,
                                     uint64_t firstCta, WrittenRun &run);

/// The same of scales in layout 'plain', one for each of several shorter tiles.
std::optional<Reason> addRepeatedScales(const plan::Kernel &kernel,
                                        const plan::Environment &sizes,
                                        uint64_t seed, bool isHarsh,
                                        uint64_t firstCta, WrittenRun &run);

/// Adds elements of a byte that a kernel brings into the other order;
/// `firstCta` becomes that behind those that do so.
std::optional<Reason> addTransposedElements(const plan::Kernel &kernel,
                                            const plan::Environment &sizes,
                                            uint64_t seed, bool isHarsh,
                                            uint64_t &firstCta,
                                            WrittenRun &run);

/// Runs of kernels that prune, with ties and special values of all kinds.
struct PruningRun : WrittenRun {
  static Result<PruningRun> make(const plan::Kernel &kernel,
                                 const plan::Environment &sizes, DataKind kind,
                                 uint64_t seed, Conditions conditions);
};

/// Runs of kernels that compress and densify, with groups of every kind.
struct SparsityRun : WrittenRun {
  static Result<SparsityRun> make(const plan::Kernel &kernel,
                                  const plan::Environment &sizes, DataKind kind,
                                  uint64_t seed, Conditions conditions);
};

/// Runs of kernels that add up tiles, with scales that all differ.
struct TileSumsRun : WrittenRun {
  static Result<TileSumsRun> make(const plan::Kernel &kernel,
                                  const plan::Environment &sizes, DataKind kind,
                                  uint64_t seed, Conditions conditions);
};

} // namespace blockscale::verify

#endif // BLOCKSCALE_LIB_VERIFY_WRITTENBYTES_H

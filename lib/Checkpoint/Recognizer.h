//===- Recognizer.h - what is known of one parameter ------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CHECKPOINT_RECOGNIZER_H
#define BLOCKSCALE_LIB_CHECKPOINT_RECOGNIZER_H

#include "Groups.h"
#include "blockscale/Checkpoint/Recognize.h"

namespace blockscale::checkpoint {

/// Elements of a row that share a scale.
inline constexpr uint64_t kNvfp4Block = 16, kMxBlock = 32;

/// What is known while one parameter is looked at.
struct Recognizer {
  const Checkpoint &checkpoint;
  const Declaration &declared;
  const Group &group;
  QuantizedTensor result;

  void report(Rule rule, std::string text) {
    result.findings.push_back({rule, std::move(text)});
  }

  void recognize();

private:
  // Of the families, in RecognizeFamilies.cpp.
  void recognizeWeight();
  void recognizePacked();
  void recognizeTorchao();
  void recognizeBlocks(const Tensor &blocks, const Tensor *scales);
  void packedWeight(const Tensor &weight);
  void floatWeight(const Tensor &weight);
  void fp8InBlocks(const Tensor &scales);
  void numberOrRows(const Tensor &scales, const std::string &format);
  void packedIntegers(const Tensor &packed);

  void findGlobals();
  void findOrphans();
  void compareFamily();

  void take(Family family, std::string format,
            std::optional<ElementFormat> element, const Tensor *elements,
            unsigned packed);
  void takeScales(const Tensor *scales, std::optional<ElementFormat> format,
                  uint64_t rows, uint64_t columns);
  void placeScales();
  bool isMatrix(const Tensor &scales, uint64_t rows, uint64_t columns) const;
  Family declaredFamily() const;
  Family mxFamily() const;
};

/// "'weight_scale' (F8_E4M3 [256, 8])".
std::string named(const Tensor &tensor);

inline bool isByte(DType type) {
  return type == DType::U8 || type == DType::I8;
}

} // namespace blockscale::checkpoint

#endif // BLOCKSCALE_LIB_CHECKPOINT_RECOGNIZER_H

//===- Plan.h - what a host must know to launch kernels ---------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The launch plan as data, and to and from JSON. docs/launch-plan.md describes
// the schema. Needs neither MLIR nor LLVM, so that whoever runs kernels can
// read plans.
//
// An `Expression` below is text as Expression.h defines it, over the sizes of
// the source matmul (M, N, K, batch) `num_sms`, the device's number of SMs,
// and `max_clusters`, the clusters of the kernel that it runs at once.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_PLAN_PLAN_H
#define BLOCKSCALE_PLAN_PLAN_H

#include "blockscale/Formats/Result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace blockscale::plan {

/// Version of the schema that this code writes and the only one it reads.
inline constexpr int64_t kPlanVersion = 3;

/// Limits of the text that is read: a plan from a stranger must not take the
/// stack or the memory of the host.
inline constexpr uint64_t kMaxPlanBytes = uint64_t(64) << 20;
inline constexpr unsigned kMaxPlanDepth = 32;

/// The largest value of a size: kernels take them as 32-bit integers.
inline constexpr int64_t kMaxSize = 0x7fffffff;

using Expression = std::string;

/// A size of the source matmul. A size without value is dynamic: it is a
/// kernel parameter, and the host chooses it at each launch.
struct Size {
  /// "M", "N", "K", "batch".
  std::string name;
  std::optional<int64_t> value;
  /// The most that a launch may choose.
  int64_t maximum = kMaxSize;
};

/// What the sizes of a launch have to obey together.
struct Limit {
  Expression value;
  /// The most that `value` may be.
  int64_t maximum = 0;
  /// What it counts.
  std::string what;
};

/// An enumerator of the CUDA driver API with its number.
struct DriverEnum {
  std::string name;
  int64_t code = 0;
};

/// The arguments of `cuTensorMapEncodeTiled`, field by field. Extents are in
/// elements, innermost first; strides in bytes, of all dimensions but the
/// first.
struct TensorMap {
  DriverEnum dataType;
  std::vector<Expression> globalDim;
  std::vector<Expression> globalStrides;
  std::vector<int64_t> boxDim;
  std::vector<int64_t> elementStrides;
  DriverEnum interleave, swizzle, l2Promotion, oobFill;
};

enum class ParameterKind { TensorMap, Pointer, Scalar };

/// One kernel parameter, in the order of the PTX.
struct Parameter {
  /// What it carries: "a_data", "b_scales", "d", "alpha", "size_m", ...
  std::string role;
  /// The operand of the source matmul that it belongs to: "a", "b", "c",
  /// "bias", "d", "alpha", "beta"; for sizes the name of the size, for what
  /// belongs to none its role.
  std::string operand;
  ParameterKind kind = ParameterKind::Scalar;
  /// "tensor_map"; the element type behind a pointer; or "f32", "i32".
  std::string type;
  /// Bytes, as the PTX declares them.
  uint64_t offset = 0, size = 0, alignment = 0;
  /// Set exactly for `ParameterKind::TensorMap`.
  std::optional<TensorMap> tensorMap;
};

/// Zero points of elements: whole numbers with a sign, those of one row after
/// those of another and so those of matrices.
struct ZeroPoints {
  /// Bits of a zero point: 2 to 32, of whole bytes in memory.
  unsigned bits = 0;
  /// Rows of the operand that share one; 0 if all rows of a matrix do.
  unsigned rows = 1;
  /// Elements along K that share one; 0 if all do.
  unsigned block = 0;
};

/// Elements of the source of which an operand's are made, without rounding.
struct SourceElements {
  /// "int4".
  std::string format;
  /// The code that is stored for each code of the source; -1 for one that
  /// cannot be stored, so that whoever packs must refuse it.
  std::vector<int64_t> codes;
  /// Set where zero points are subtracted from the codes of the source: with n
  /// `codes` they are for the differences -n / 2 to n / 2 - 1, and whoever
  /// packs must refuse others.
  std::optional<ZeroPoints> zeros = {};
};

/// How the elements of A or B lie in global memory: `batch` matrices of
/// `lines` lines, each of `elements` elements and then padding up to
/// `linePitch` bytes. Of a sparse A these are the elements that are stored.
struct DataPacking {
  /// "a" or "b".
  std::string operand;
  /// "e2m1", "e4m3", "f16", "tf32", "int8", "uint8", ...
  std::string format;
  /// "k_major": a line is a row of the operand along K; "mn_major": a line is
  /// all rows at one k.
  std::string order;
  /// Bits of an element in global memory: 4, 6, 8, 16 or 32.
  unsigned bits = 0;
  /// The line is filled with elements up to a multiple of this many: with any
  /// valid ones, or with zeros where no scale keeps them out of the sum.
  unsigned elementMultiple = 1;
  bool zeroPadding = false;
  Expression lines, elements, linePitch, batchPitch;
  /// Byte alignment that the address needs.
  unsigned alignment = 0;
  /// How elements of less than a byte lie in their bytes.
  std::string bitOrder;
  /// Set where the operand itself has elements of a format that no instruction
  /// multiplies: whoever packs translates them to `format`.
  std::optional<SourceElements> source = {};
};

/// How the scales of A or B lie in global memory.
struct ScalePacking {
  std::string operand;
  /// "ue8m0" or "ue4m3".
  std::string format;
  /// Elements along K, pruned ones included, that share a scale.
  unsigned block = 0;
  /// What one scale of the operand itself covers, where that is more than a row
  /// and a block, so that the scale is repeated in memory: rows, 0 if all of a
  /// matrix, and elements along K, a multiple of `block`; 0 if as many.
  unsigned rows = 1, elements = 0;
  /// "tiled_128x4", or "tiled_128x16" of A on sm_107.
  std::string layout;
  /// Byte of the scale of row `r` and block `j` of matrix `l`; an expression
  /// over these three too.
  Expression offset;
  /// Extents and bytes with padding. Bytes from 0 to `largestPaddingValue` are
  /// harmless there; `paddingValue` is the one to take.
  Expression paddedRows, paddedScales, bytes;
  unsigned paddingValue = 0, largestPaddingValue = 0;
  unsigned alignment = 0;

  /// Elements along K that share a scale of the operand itself.
  unsigned ownBlock() const { return elements ? elements : block; }
};

/// How the sparsity metadata of A lie in global memory.
struct MetadataPacking {
  std::string operand;
  /// "2:4", "4:8 in pairs" or "1:2".
  std::string pattern;
  /// Elements along K, pruned ones included, that one byte describes.
  unsigned elementsPerByte = 0;
  /// "tiled_128x16"; of a kernel that moves them also "plain", row after row.
  std::string layout;
  /// Byte that describes element `k` of row `r` of matrix `l`; an expression
  /// over these three too.
  Expression offset;
  /// Extents and bytes with padding, which is filled with `paddingValue`.
  Expression paddedRows, paddedElements, bytes;
  unsigned paddingValue = 0;
  unsigned alignment = 0;
};

/// The scales of whole matrices of a two-level spec: f32 numbers, one after
/// another.
struct TensorScales {
  /// "a" or "b".
  std::string operand;
  /// Numbers: one for each matrix of the batch.
  Expression elements;
  /// Byte alignment that the address needs.
  unsigned alignment = 0;
};

/// Scales that the epilogue reads: numbers that each cover all of K, or a block
/// of it, those of one row after those of another and so those of matrices.
struct VectorScales {
  /// "a" or "b".
  std::string operand;
  /// "f32", "f16", "bf16", "ue8m0", "ue4m3", "ue5m3", "e5m2", or as number
  /// specs spell them "e4m3b8fnuz", "e5m2b16fnuz", "e4m3b11fnuz" and "e3m4".
  std::string format;
  /// Rows of the operand that share one; 0 if all rows of a matrix do.
  unsigned rows = 1;
  /// Numbers of a matrix, and of the whole batch.
  Expression matrixElements, elements;
  /// Byte alignment that the address needs.
  unsigned alignment = 0;
  /// Elements along K that share one; 0 if all do. With a number the sum over
  /// each block of K is multiplied by its scales before it is added.
  unsigned block = 0;
};

/// Zero points in real units, which the epilogue subtracts from x: with t from
/// 0 on for the tiles of `operand` along K, x = x - alpha * z_t * s_t, where
/// z_t is the zero point of the element's row of the operand, and s_t the sum
/// of its row of the other operand over the tile, scales included; those of `a`
/// are of `b` less zero points of its own, those of `b` of `a` without. Both
/// are parameters, "a_terms" and "b_terms": for each matrix one term of all
/// rows after another.
struct ZeroTerms {
  /// "a" or "b".
  std::string operand;
  /// "f32", "f16" or "bf16": the zero points themselves, as the host has them.
  std::string format;
  /// Rows of the operand that share one; 0 if all rows of a matrix do.
  unsigned rows = 1;
  /// Elements along K that share one; 0 if all do.
  unsigned block = 0;
  /// The first of the terms, and how many there are.
  Expression first, count;
};

/// D, C: row-major; bias: a vector.
struct PlainOperand {
  /// "d", "c", "bias".
  std::string operand;
  /// "f32", "bf16", "f16", "i32".
  std::string type;
  /// Elements from one row to the next and from one matrix to the next, for
  /// matrices; the number of elements, for the bias.
  Expression rowPitch, batchPitch, elements;
  /// Byte alignment that the address needs; with more the kernel may be faster.
  unsigned alignment = 0;
};

/// The role of the parameter that points to a workspace.
inline constexpr std::string_view kWorkspaceRole = "workspace";

/// The roles of the parameters that zero points in real units are in, with the
/// sums that they are multiplied by.
inline constexpr std::string_view kTermsOfA = "a_terms", kTermsOfB = "b_terms";
inline bool isTerms(std::string_view role) {
  return role == kTermsOfA || role == kTermsOfB;
}

/// Memory that the CTAs of a launch exchange sums or maxima in. Its first bytes
/// are zero before the first launch that uses it, and after every launch; what
/// the others hold does not matter. Launches that may run at the same time need
/// different workspaces.
struct Workspace {
  Expression zeroBytes, bytes;
  /// Byte alignment that the address needs.
  unsigned alignment = 0;
  /// Clusters that compute an output tile together; the first tiles are those
  /// of the clusters from 0, from `parts` on and so on. 0 where tiles are
  /// shared out: any of the grid may have a part of a tile.
  unsigned parts = 0;
};

/// One op of an epilogue: it rounds to its type, to nearest even.
struct EpilogueStep {
  /// What later steps call its value: "t0", "t1", ...
  std::string name;
  /// An op of MLIR: "arith.addf", "math.exp", ...
  std::string op;
  /// Names of values: "x", "c", "bias", of pairs "up" and "up_bias", or steps
  /// before.
  std::vector<std::string> operands;
  /// "f32", "i1", "bf16" or "f16".
  std::string type;
  /// Of "arith.cmpf": "olt", ...; otherwise empty.
  std::string predicate;
  /// Of "arith.constant": a decimal number, "inf", "-inf" or "nan"; of type i1
  /// "0" or "1".
  std::optional<std::string> constant;
};

/// D is `result` of steps on x, on c = beta * C and on the bias. With the
/// product f of alpha and of the scales of whole matrices, A's first, and with
/// the scales r and s of the element's rows of A and B, x = A * B * (f * r) *
/// s, each operation rounded to f32. With `pairs` D has half as many columns as
/// the product: column j is made of two sums, x of column 2j and "up" of column
/// 2j + 1, and of two of the bias, "bias" and "up_bias".
struct Epilogue {
  bool alpha = false, beta = false;
  bool aTensorScale = false, bTensorScale = false;
  /// "none", "row" or "column".
  std::string bias = "none";
  std::vector<EpilogueStep> steps;
  /// The name of a value.
  std::string result = "x";
  bool pairs = false;
};

/// What a kernel does that quantises. It reads "x", and the tensor scales from
/// "tensor_scale"; `d` of data, scales and tensor scales is what it writes, and
/// `transposed` of one with two results, all of it but the padding of lines. It
/// has no A, B and N: N is 1. A kernel that multiplies quantises the result of
/// its epilogue instead of "x"; rows of D then have N elements.
struct Quantization {
  /// "floor", "round_up", ...: how powers of two are chosen.
  std::string rule;
  /// "even", "away", "zero", "stochastic" or "stochastic_rs".
  std::string rounding;
  /// Of the last two: the seed as a decimal number of 64 bits, which JSON's own
  /// numbers do not hold everywhere; else empty.
  std::string seed;
  /// Of a kernel that multiplies: "f32", "bf16" or "f16", what the result of
  /// the epilogue is rounded to first.
  std::optional<std::string> type = {};
  /// Whether "x" is the transpose of what is quantised: rows of K along M.
  bool transposed = false;
};

/// What a kernel does that converts. It reads "a", or "x" where it prunes, and
/// writes "d". It has no B and N: N is 1, and a row of D has K numbers, or one
/// for each row of A where it adds up tiles.
struct Conversion {
  /// "dequantize", "relayout", "prune", "compress", "densify", "tile_sums".
  std::string op;
  /// Of "prune": how many elements of each group along K stay, and whether
  /// aligned pairs stay or go together; `group` of "tile_sums": the elements of
  /// a tile along K, 0 if one is all of K. Else 0.
  unsigned keep = 0, group = 0;
  bool pairs = false;
  /// Of "relayout", which may leave the elements of "a" as they are: whether
  /// they are in order "mn_major", and whether half of them are stored.
  bool mnMajor = false, sparse = false;
};

struct Kernel {
  /// The entry in the PTX.
  std::string name;
  /// The function that the matmul, the quantisation or the conversion stood in.
  std::string sourceFunction;
  /// The entry in whose place this one is launched where A has at most as many
  /// rows as the size M here may have (Variants.h).
  std::optional<std::string> variantOf;
  /// CTAs along x, y, z.
  std::vector<Expression> grid;
  /// CTAs of a cluster, threads of a CTA, along x, y, z.
  std::vector<int64_t> cluster, block;
  /// Whether the kernel waits for the one before it in the stream itself, so
  /// that its launch may ask for programmatic stream serialization.
  bool dependentLaunch = false;
  /// Whether its CTAs wait for each other, so that all have to run at once: its
  /// launch asks for that by CU_LAUNCH_ATTRIBUTE_COOPERATIVE.
  bool cooperative = false;
  /// Dynamic shared memory in bytes; more than 48 KiB has to be asked for with
  /// CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES.
  uint64_t sharedMemoryBytes = 0;
  /// Whether that is more than the standard mode has, so that
  /// CU_FUNC_ATTRIBUTE_SHARED_MEMORY_MODE must be
  /// CU_SHARED_MEMORY_MODE_ALLOW_OVERSIZED_SHARED_MEMORY (CUDA 13.4).
  bool oversizedSharedMemory = false;
  /// M, N, K, batch.
  std::vector<Size> sizes;
  /// Limits that depend on dynamic sizes.
  std::vector<Limit> limits;
  /// What dynamic sizes must satisfy, as text of Expression.h: "K % 8 == 0".
  /// The kernel computes something else, without notice, where one fails.
  std::vector<std::string> conditions;
  std::vector<Parameter> parameters;
  std::vector<DataPacking> data;
  /// Empty for kinds without scales.
  std::vector<ScalePacking> scales;
  /// Empty if A is dense.
  std::vector<MetadataPacking> metadata;
  /// Of the operands that have them.
  std::vector<TensorScales> tensorScales;
  /// Of the operands that have them.
  std::vector<VectorScales> vectorScales;
  /// Of the operands that have them.
  std::vector<ZeroTerms> zeroTerms;
  std::vector<PlainOperand> operands;
  /// Of the parameter "workspace", if there is one.
  std::optional<Workspace> workspace;
  Epilogue epilogue;
  /// Set for kernels that quantise, what they read or their product.
  std::optional<Quantization> quantization = {};
  /// Set for those that quantise the transpose of what they read too.
  std::optional<Quantization> transposedQuantization = {};
  /// Set for kernels that convert.
  std::optional<Conversion> conversion = {};
};

/// Whether the kernel quantises what it reads; all others multiply or convert.
inline bool onlyQuantizes(const Kernel &kernel) {
  return kernel.quantization && !kernel.quantization->type;
}

/// An argument of a function of the source.
struct Argument {
  /// As MLIR prints it: "%arg0".
  std::string name;
  /// "!blockscale.tensor<...>", "f32", ...
  std::string type;
};

/// An operand of a step: one of `value` and `constant` is set.
struct StepOperand {
  /// Of a launch: "a", "b", "alpha", "beta", "c", "bias". Empty for a duty of
  /// the host.
  std::string operand;
  /// The name of an argument of the function or of a step's result.
  std::string value;
  /// A factor that the source fixes. The launch must pass it.
  std::optional<double> constant;
};

/// One thing that a function does: the launch of a kernel, or what no kernel
/// does and the host must do itself.
struct Step {
  /// "blockscale.launch", "arith.mulf", ...
  std::string op;
  /// The entry in the PTX; none for a duty of the host.
  std::optional<std::string> kernel;
  std::vector<StepOperand> operands;
  /// Names of the results; of a launch what the kernel writes as "d", and as
  /// "transposed".
  std::vector<std::string> results;
  /// The op as MLIR prints it, large constants elided, and where it stands in
  /// the source: "proj.mlir:7:8"; the place is empty where nobody knows it.
  std::string text, location;
};

/// A function of the source that has a body.
struct Function {
  std::string name;
  std::vector<Argument> arguments;
  /// In the order in which they run.
  std::vector<Step> steps;
  /// Names of what the function returns.
  std::vector<std::string> results;
};

struct Plan {
  /// "sm_100a", ...
  std::string target;
  std::vector<Kernel> kernels;
  /// How the source joins the kernels.
  std::vector<Function> functions;
  /// Compute capabilities of the devices that run the target's code: "10.0",
  /// ... Empty in plans of before there were alternatives.
  std::vector<std::string> devices = {};
  /// The same source for other targets, each with kernels and PTX of its own
  /// and without alternatives.
  std::vector<Plan> alternatives = {};
};

/// `plan` and its alternatives: what a launcher chooses from. A device takes
/// the first that has it.
std::vector<const Plan *> choices(const Plan &plan);

/// What of `plan` runs on devices of compute capability `device`, "10.7". The
/// reason why nothing does names the targets that there are.
Result<const Plan *> planForDevice(const Plan &plan, std::string_view device);

/// What of `plan` goes with code for `target`. A plan without alternatives goes
/// with any.
Result<const Plan *> planForTarget(const Plan &plan, std::string_view target);

/// One plan with all of `plans`, of which there is one at least, in their
/// order. None of them has alternatives.
Plan joinPlans(std::vector<Plan> plans);

/// The constant that every launch of the entry `kernel` in the functions of
/// `plan` passes as `operand` ("alpha", "beta"); none if there is no launch, or
/// one that passes a value or another constant.
std::optional<double> fixedOperand(const Plan &plan, std::string_view kernel,
                                   std::string_view operand);

/// The plan as JSON, ending in a line feed.
std::string printPlan(const Plan &plan);

/// Reads what `printPlan` wrote. The error names the path of the first key
/// that is missing, of a wrong type, out of its range or not an expression;
/// unknown keys are ignored. Never fails otherwise, whatever the text: beyond
/// kMaxPlanBytes or kMaxPlanDepth it is refused before it is read.
Result<Plan> parsePlan(std::string_view text);

} // namespace blockscale::plan

#endif // BLOCKSCALE_PLAN_PLAN_H

//===- CapiFuzzer.cpp - hostile programs ----------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The input is a program: each byte chooses a call of the C interface and where
// its arguments come from. Handles are of any kind, dead or alive; numbers and
// enumerators are whatever comes; text is a part of the input, or what a call
// made. Pointers are the one thing that no library can check: they are null or
// good. Each call has to give back a status, and a sentence unless it is OK.
//
//===----------------------------------------------------------------------===//

#include "blockscale-c/Compiler.h"
#include "blockscale-c/Emulator.h"
#include "blockscale-c/Explain.h"
#include "blockscale-c/Layout.h"
#include "blockscale-c/Packing.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <list>
#include <string>
#include <vector>

static const char kProduct[] =
    "!a = !blockscale.tensor<128x128xf8E4M3FN, \"e8m0_t32\", layout = "
    "tiled_128x4>\n"
    "func.func @f(%a: !a, %b: !a) -> tensor<128x128xf32> {\n"
    "  %d = blockscale.matmul %a, %b : !a, !a -> tensor<128x128xf32>\n"
    "  return %d : tensor<128x128xf32>\n"
    "}\n";

namespace {
class Program {
public:
  Program(const uint8_t *data, size_t size) : next(data), end(data + size) {}
  ~Program();

  void run() {
    while (next != end && calls < kMostCalls)
      call();
  }

private:
  static constexpr unsigned kMostCalls = 64;
  static constexpr size_t kMostBytes = 1 << 16;

  uint8_t byte() { return next == end ? 0 : *next++; }
  uint64_t number();
  BlockscaleSlice text();
  void *memory(size_t &size);
  template <typename Handle> Handle handle() {
    uint8_t choice = byte();
    // Mostly one that there is, of any kind.
    if (handles.empty() || choice >= 250)
      return {choice == 255 ? UINT64_MAX : choice - 250u};
    return {handles[choice % handles.size()]};
  }
  template <typename Enum> Enum enumerator() {
    uint8_t choice = byte();
    return static_cast<Enum>(choice < 250 ? choice % 8 : choice - 300);
  }

  void check(BlockscaleStatus status);
  /// After a call that makes a handle.
  template <typename Handle> void keep(BlockscaleStatus status, Handle made) {
    check(status);
    if (status == BLOCKSCALE_OK)
      handles.push_back(made.id);
  }
  void keepText(BlockscaleStatus status, BlockscaleBytes made);

  void call();
  void callSession(uint8_t which);
  void callCompiler(uint8_t which);
  void callLaunch(uint8_t which);
  void callLaunchRun(uint8_t which);
  void callPacking(uint8_t which);
  void callExplain(uint8_t which);
  void callLayout(uint8_t which);

  const uint8_t *next, *end;
  unsigned calls = 0;
  std::vector<uint64_t> handles;
  /// What calls made, to be used as input.
  std::vector<std::string> made{kProduct, "sm_103a", "f", "a_data", "e4m3"};
  std::vector<std::vector<uint8_t>> memories;
  std::list<BlockscaleSession> callers;
};
} // namespace

static void fail(const char *what) {
  std::fprintf(stderr, "capi-fuzzer: %s\n", what);
  std::abort();
}

void Program::check(BlockscaleStatus status) {
  bool hasMessage = *blockscaleLastError() != '\0';
  if (hasMessage != (status != BLOCKSCALE_OK))
    fail("a status and its sentence do not agree");
  if (!std::strcmp(blockscaleStatusName(status), "unknown status"))
    fail("unknown status");
  if (status == BLOCKSCALE_INTERNAL)
    fail(blockscaleLastError());
}

Program::~Program() {
  for (uint64_t id : handles) {
    blockscaleLaunchDestroy({id});
    blockscaleRunDestroy({id});
    blockscaleCompilationDestroy({id});
    blockscaleVerificationDestroy({id});
    blockscaleBytesDestroy({id});
    blockscaleLayoutDestroy({id});
    blockscaleModuleDestroy({id});
  }
  for (uint64_t id : handles)
    blockscaleSessionDestroy({id});
}

uint64_t Program::number() {
  uint8_t choice = byte();
  if (choice < 128)
    return choice;
  if (choice < 192)
    return uint64_t(1) << (choice - 128);
  uint64_t value = 0;
  for (unsigned i = 0; i < choice % 9u; ++i)
    value = value << 8 | byte();
  return value;
}

BlockscaleSlice Program::text() {
  uint8_t choice = byte();
  if (choice == 255)
    return {nullptr, byte()};
  if (choice >= 128) {
    const std::string &chosen = made[choice % made.size()];
    return {chosen.data(), chosen.size()};
  }
  size_t size = std::min<size_t>(choice, size_t(end - next));
  BlockscaleSlice slice{reinterpret_cast<const char *>(next), size};
  next += size;
  return slice;
}

void *Program::memory(size_t &size) {
  uint64_t wanted = number();
  size = static_cast<size_t>(wanted);
  if (byte() == 0)
    return nullptr;
  // A size that nobody has is told with memory that it would not fit into only
  // where the call must find that out before it looks.
  size = std::min<size_t>(size, kMostBytes);
  memories.emplace_back(std::max<size_t>(size, 1));
  return memories.back().data();
}

void Program::keepText(BlockscaleStatus status, BlockscaleBytes bytes) {
  keep(status, bytes);
  BlockscaleSlice slice;
  if (status == BLOCKSCALE_OK &&
      blockscaleBytesGet(bytes, &slice) == BLOCKSCALE_OK)
    made.emplace_back(slice.data, slice.size);
}

static void onDiagnostic(const BlockscaleDiagnostic *diagnostic,
                         void *userData) {
  if (diagnostic->message.size % 7 == 3)
    throw 1;
  // Whoever calls back into the session is told that it is in use.
  BlockscaleModule module;
  if (blockscaleModuleParse(*static_cast<BlockscaleSession *>(userData), {}, {},
                            &module) == BLOCKSCALE_OK)
    fail("a session was used twice at a time");
}

void Program::callSession(uint8_t which) {
  BlockscaleModule module;
  BlockscaleBytes bytes;
  switch (which) {
  case 0: {
    BlockscaleSession session;
    keep(blockscaleSessionCreate(&session), session);
    return;
  }
  case 1:
    return check(blockscaleSessionDestroy(handle<BlockscaleSession>()));
  case 2: {
    auto session = handle<BlockscaleSession>();
    BlockscaleSlice source = text();
    return keep(blockscaleModuleParse(session, source, text(), &module),
                module);
  }
  case 3:
    return keep(blockscaleModuleClone(handle<BlockscaleModule>(), &module),
                module);
  case 4:
    return check(blockscaleModuleDestroy(handle<BlockscaleModule>()));
  case 5:
    return keepText(blockscaleModulePrint(handle<BlockscaleModule>(), &bytes),
                    bytes);
  case 6:
    return keepText(
        blockscaleModuleWriteBytecode(handle<BlockscaleModule>(), &bytes),
        bytes);
  case 7: {
    // The callback wants the handle of the session that calls it.
    BlockscaleSession &session =
        callers.emplace_back(handle<BlockscaleSession>());
    return check(blockscaleSessionSetDiagnosticCallback(
        session, byte() % 2 ? onDiagnostic : nullptr, &session));
  }
  }
}

void Program::callCompiler(uint8_t which) {
  BlockscaleCompileOptions options;
  check(blockscaleCompileOptionsInit(&options, sizeof options));
  std::string target(text().size % 16, 'x');
  switch (byte() % 4) {
  case 0:
    options.target = "sm_103a";
    break;
  case 1:
    options.target = target.c_str();
    break;
  }
  options.expectedRows = static_cast<int64_t>(number());
  options.structSize = byte() % 8 ? sizeof options : number();
  switch (which) {
  case 0: {
    BlockscaleCompilation compilation;
    return keep(
        blockscaleCompile(handle<BlockscaleModule>(), &options, &compilation),
        compilation);
  }
  case 1:
    return check(blockscaleModuleLower(handle<BlockscaleModule>(),
                                       enumerator<BlockscaleStage>(),
                                       byte() % 2 ? &options : nullptr));
  case 2: {
    BlockscaleSlice slice;
    auto compilation = handle<BlockscaleCompilation>();
    auto chip = static_cast<size_t>(number());
    BlockscaleStatus status = blockscaleCompilationGetOutput(
        compilation, chip, enumerator<BlockscaleOutput>(), &slice);
    check(status);
    if (status == BLOCKSCALE_OK)
      made.emplace_back(slice.data, slice.size);
    return;
  }
  case 3:
    return check(blockscaleCompilationDestroy(handle<BlockscaleCompilation>()));
  }
}

void Program::callLaunch(uint8_t which) {
  BlockscaleLaunch launch;
  BlockscaleSlice first = text();
  size_t size;
  switch (which) {
  case 0:
    return keep(blockscaleLaunchCreate(first, text(), &launch), launch);
  case 1: {
    BlockscaleSlice plan = text();
    return keep(blockscaleLaunchCreateFromPlan(first, plan, text(), &launch),
                launch);
  }
  case 2:
    return check(blockscaleLaunchSetGrid(handle<BlockscaleLaunch>(), byte() % 4,
                                         byte() % 4, byte() % 4));
  case 3:
    return check(blockscaleLaunchSetBlock(handle<BlockscaleLaunch>(),
                                          uint32_t(number()), 1, 1));
  case 4: {
    launch = handle<BlockscaleLaunch>();
    void *data = memory(size);
    return check(blockscaleLaunchAddMemory(launch, data, size, byte() % 2));
  }
  case 5: {
    launch = handle<BlockscaleLaunch>();
    void *data = memory(size);
    return check(blockscaleLaunchAddScalar(launch, data, size));
  }
  case 6:
    return check(blockscaleLaunchSetSize(handle<BlockscaleLaunch>(), first,
                                         static_cast<int64_t>(number())));
  case 7: {
    launch = handle<BlockscaleLaunch>();
    void *data = memory(size);
    return check(blockscaleLaunchSetMemory(launch, first, data, size));
  }
  }
}

void Program::callLaunchRun(uint8_t which) {
  size_t size;
  switch (which) {
  case 0: {
    BlockscaleRunOptions options;
    check(blockscaleRunOptionsInit(&options, sizeof options));
    options.completion = enumerator<BlockscaleCompletion>();
    options.threads = 1;
    options.stepLimit = 1000;
    BlockscaleRun run;
    return keep(blockscaleLaunchRun(handle<BlockscaleLaunch>(), &options, &run),
                run);
  }
  case 1: {
    BlockscaleSlice report;
    bool isClean;
    auto run = handle<BlockscaleRun>();
    check(blockscaleRunIsClean(run, &isClean));
    return check(blockscaleRunGetReport(run, &report));
  }
  case 2: {
    BlockscaleTensorMap map;
    for (uint32_t *field : {&map.dataType, &map.rank, &map.interleave,
                            &map.swizzle, &map.l2Promotion, &map.oobFill})
      *field = byte() % 8;
    for (uint64_t &extent : map.globalDim)
      extent = number();
    for (uint64_t &stride : map.globalStrides)
      stride = number();
    for (unsigned i = 0; i < 5; ++i) {
      map.boxDim[i] = uint32_t(number());
      map.elementStrides[i] = 1 + byte() % 2;
    }
    auto launch = handle<BlockscaleLaunch>();
    void *data = memory(size);
    return check(blockscaleLaunchAddTensorMap(launch, &map, data, size, false));
  }
  case 3:
    return check(blockscaleLaunchDestroy(handle<BlockscaleLaunch>()));
  }
}

void Program::callPacking(uint8_t which) {
  size_t size, otherSize;
  void *one = memory(size), *other = memory(otherSize);
  uint64_t bytes;
  BlockscaleElements elements{
      uint32_t(number()), bool(byte() % 2), number(), number(),
      number(),           number(),         number()};
  BlockscaleScales scales{enumerator<BlockscaleScaleLayout>(), number(),
                          number(), number()};
  switch (which) {
  case 0:
    check(blockscaleElementsGetSize(&elements, &bytes));
    check(blockscalePackElements(&elements, one, size, other, otherSize));
    return check(
        blockscaleUnpackElements(&elements, one, size, other, otherSize));
  case 1: {
    uint64_t rows = byte(), blocks = byte();
    check(blockscaleRepeatScales(&scales, rows, blocks, one, size, other,
                                 otherSize));
    check(blockscaleScalesGetSize(&scales, &bytes));
    check(blockscalePackScales(&scales, one, size, byte(), other, otherSize));
    return check(blockscaleUnpackScales(&scales, one, size, other, otherSize));
  }
  case 2: {
    otherSize = std::min(otherSize, kMostBytes);
    std::vector<float> values(otherSize);
    check(blockscaleDecode(text(), one, size, values.data(), otherSize));
    return check(blockscaleEncode(text(), values.data(), otherSize, one, size));
  }
  }
}

void Program::callExplain(uint8_t which) {
  BlockscaleBytes bytes;
  switch (which) {
  case 0: {
    std::vector<BlockscaleField> fields(byte() % 4);
    for (BlockscaleField &field : fields) {
      field.name = text();
      field.value = text();
    }
    bool isLegal;
    return keepText(blockscaleExplainLegality(fields.data(), fields.size(),
                                              &isLegal, &bytes),
                    bytes);
  }
  case 1: {
    BlockscaleSlice table = text();
    return keepText(blockscaleExplainTable(table, text(), &bytes), bytes);
  }
  case 2: {
    BlockscaleSlice target = text();
    return keepText(blockscaleExplainInstructions(
                        target, enumerator<BlockscaleTableFormat>(), &bytes),
                    bytes);
  }
  case 3:
    return check(blockscaleBytesDestroy(handle<BlockscaleBytes>()));
  }
}

void Program::callLayout(uint8_t which) {
  BlockscaleBytes bytes;
  BlockscaleLayout layout = handle<BlockscaleLayout>();
  switch (which) {
  case 0: {
    static constexpr const char *kNames[] = {
        "plain",         "tiled_128x4",   "tiled_metadata",
        "tensor_scales", "accumulator_b", "tensor_metadata",
        "load_16x64b",   "load_16x32bx2", "warp_a",
        "warp_metadata", "warp_scales_a", "scale_registers"};
    static constexpr const char *kParameters[] = {
        "rows", "blocks", "batch", "columns", "repeat", "split", "k", "scales"};
    const char *name = kNames[byte() % std::size(kNames)];
    std::vector<BlockscaleLayoutParameter> parameters(byte() % 4);
    for (BlockscaleLayoutParameter &one : parameters) {
      const char *known = kParameters[byte() % std::size(kParameters)];
      one = {{known, std::strlen(known)}, number()};
    }
    return keep(blockscaleLayoutCreate({name, std::strlen(name)},
                                       parameters.data(), parameters.size(),
                                       &layout),
                layout);
  }
  case 1: {
    size_t contentRank, placeRank;
    BlockscaleStatus status =
        blockscaleLayoutGetRanks(layout, &contentRank, &placeRank);
    check(status);
    if (status != BLOCKSCALE_OK)
      return;
    // What is found must be found again.
    std::vector<uint64_t> point(contentRank), place(placeRank),
        back(contentRank);
    for (uint64_t &coordinate : place)
      coordinate = number();
    status =
        blockscaleLayoutFindContents(layout, place.data(), 1, point.data());
    check(status);
    if (status != BLOCKSCALE_OK || point.front() == UINT64_MAX)
      return;
    std::vector<uint64_t> again(placeRank);
    if (blockscaleLayoutFindPlaces(layout, point.data(), 1, again.data()) !=
            BLOCKSCALE_OK ||
        again != place)
      fail("a layout is not one-to-one");
    return;
  }
  case 2: {
    size_t contentRank, placeRank;
    if (blockscaleLayoutGetRanks(layout, &contentRank, &placeRank) !=
        BLOCKSCALE_OK)
      return;
    std::vector<uint64_t> point(contentRank), place(placeRank);
    for (uint64_t &coordinate : point)
      coordinate = number();
    return check(
        blockscaleLayoutFindPlaces(layout, point.data(), 1, place.data()));
  }
  case 3:
    return keepText(blockscaleLayoutDescribe(layout, &bytes), bytes);
  case 4:
    return keepText(blockscaleLayoutDraw(layout, false, &bytes), bytes);
  case 5:
    return check(blockscaleLayoutDestroy(layout));
  }
}

void Program::call() {
  ++calls;
  uint8_t choice = byte();
  switch (choice / 8 % 7) {
  case 0:
    return callSession(choice % 8);
  case 1:
    return callCompiler(choice % 4);
  case 2:
    return callLaunch(choice % 8);
  case 3:
    return callLaunchRun(choice % 4);
  case 4:
    return callPacking(choice % 3);
  case 5:
    return callExplain(choice % 4);
  case 6:
    return callLayout(choice % 6);
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Program(data, size).run();
  return 0;
}

//===- PtxVersion.cpp - what needs which PTX and which CUDA ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/HW/PtxVersion.h"

#include <array>

using namespace blockscale;
using namespace blockscale::hw;

namespace {

struct Version {
  unsigned ptx;
  CudaRelease cuda;
};

// The table of releases in the PTX ISA document, "Release Notes"; 9.5 is what
// ptxas of CUDA 13.5 takes.
constexpr std::array kVersions{
    Version{86, {12, 7}}, Version{87, {12, 8}}, Version{88, {12, 9}},
    Version{90, {13, 0}}, Version{91, {13, 1}}, Version{92, {13, 2}},
    Version{93, {13, 3}}, Version{94, {13, 4}}, Version{95, {13, 5}},
};

/// What an instruction has in its text if it is newer than PTX 9.0: one part,
/// or two in this order.
struct Spelling {
  std::string_view first, second;
  unsigned version;
};

// Tried with ptxas of CUDA 13.1 to 13.5 (docs/sources.md, [ptxas]).
constexpr std::array kSpellings{
    Spelling{"s2f6x2", "", 91},
    Spelling{"kind::mxf4nvf4.block_scale.scale_vec::4X", ".ue8m0", 91},
    Spelling{"cvt.rn.satfinite.e2m", ".f16x2", 91},
    Spelling{"cvt.rn.satfinite.e3m", ".f16x2", 91},
    Spelling{"cvt.rn.satfinite.e", ".bf16x2", 91},
    Spelling{"cvt.rn.scaled::n2::", "", 92},
    Spelling{"cvt.rn.bf16x2.e", "", 92},
    Spelling{"clmad.", "", 93},
    Spelling{"tcgen05.alloc", ".exclusive", 94},
    Spelling{"tcgen05.dealloc", ".exclusive", 94},
    Spelling{".collector::b::", "", 94},
    Spelling{"kind::ti16", "", 94},
    Spelling{".decompress::lut::b", "", 94},
    Spelling{".spcompress", "", 94},
    Spelling{"ue5m3x2", "", 94},
    Spelling{".scaled::n1::", "", 94},
    Spelling{".pzo", "", 94},
    Spelling{"cvt.rz.satfinite.e", "", 94},
    Spelling{".multicast::cluster::16b", "", 94},
    Spelling{".multicast::cluster::32b", "", 94},
    Spelling{".sync_restrict::shared::read::mma::a", "", 94},
    Spelling{".mbarrier::report::", "", 94},
    Spelling{".override::", "", 94},
    Spelling{"fabric.submit.commit_group", "", 95},
    Spelling{"%locality_domain", "", 95},
};

/// Whether a statement of `ptx` has the spelling.
bool occurs(const Spelling &spelling, std::string_view ptx) {
  size_t found = ptx.find(spelling.first);
  while (found != std::string_view::npos) {
    std::string_view rest = ptx.substr(found + spelling.first.size());
    rest = rest.substr(0, rest.find_first_of(";\n"));
    if (rest.find(spelling.second) != std::string_view::npos)
      return true;
    found = ptx.find(spelling.first, found + 1);
  }
  return false;
}

} // namespace

CudaRelease hw::cudaReleaseOf(unsigned version) {
  for (const Version &row : kVersions)
    if (version <= row.ptx)
      return row.cuda;
  return {kVersions.back().cuda.first, version % 10};
}

std::string hw::ptxVersionName(unsigned version) {
  return std::to_string(version / 10) + "." + std::to_string(version % 10);
}

std::string hw::cudaReleaseName(CudaRelease release) {
  return std::to_string(release.first) + "." + std::to_string(release.second);
}

unsigned hw::ptxVersionUsed(std::string_view ptx) {
  unsigned version = 90;
  for (const Spelling &spelling : kSpellings)
    if (spelling.version > version && occurs(spelling, ptx))
      version = spelling.version;
  return version;
}

# Helpers of blockscale's own build. Every library is one target that can be
# linked alone; its headers live in include/blockscale/<Library>.

set(BLOCKSCALE_WARNINGS -Wall -Wextra -Wno-unused-parameter)
if(BLOCKSCALE_WERROR)
  list(APPEND BLOCKSCALE_WARNINGS -Werror)
endif()

# blockscale_install_library(<name> <export set> [<exported name>])
# Install a library target and export it as Blockscale::<exported name>: what
# follows `Blockscale` in its name, unless it is said. The export set is `Free`
# for libraries that need no LLVM, `MLIR` for others.
function(blockscale_install_library name set)
  string(REGEX REPLACE "^Blockscale" "" exported ${name})
  if(ARGC GREATER 2)
    set(exported ${ARGV2})
  endif()
  set_target_properties(${name} PROPERTIES EXPORT_NAME ${exported})
  add_library(Blockscale::${exported} ALIAS ${name})
  set_property(GLOBAL APPEND PROPERTY BLOCKSCALE_EXPORTS_${set} ${exported})
  install(TARGETS ${name} EXPORT Blockscale${set}Targets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT Development
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT Runtime
      NAMELINK_COMPONENT Development
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT Runtime)
endfunction()

# blockscale_precompile(<target> <headers>...)
# Without times of files in what clang writes, so that ccache keeps it.
function(blockscale_precompile target)
  target_compile_options(${target} PRIVATE
    "$<$<COMPILE_LANG_AND_ID:CXX,Clang>:SHELL:-Xclang -fno-pch-timestamp>")
  target_precompile_headers(${target} PRIVATE ${ARGN})
endfunction()

# blockscale_precompile_standard(<target> [<headers of its own>...])
# Half of the time of a file without MLIR goes into the headers of the standard
# library. With BLOCKSCALE_PRECOMPILED_HEADERS they are read once for all such
# libraries; one whose own headers cost as much brings these and has all for itself.
function(blockscale_precompile_standard target)
  if(NOT BLOCKSCALE_PRECOMPILED_HEADERS)
    return()
  endif()
  # Not <filesystem> and what includes it: std::quoted is no function of ours.
  set(headers <algorithm> <array> <cmath> <cstring> <functional> <map> <memory>
    <optional> <sstream> <string> <tuple> <unordered_map> <utility> <variant>
    <vector>)
  if(ARGN)
    blockscale_precompile(${target} ${headers} ${ARGN})
    return()
  endif()
  if(NOT TARGET BlockscaleStandardHeaders)
    set(empty ${PROJECT_BINARY_DIR}/StandardHeaders.cpp)
    file(CONFIGURE OUTPUT ${empty} CONTENT "")
    add_library(BlockscaleStandardHeaders STATIC EXCLUDE_FROM_ALL ${empty})
    target_compile_options(BlockscaleStandardHeaders PRIVATE
      ${BLOCKSCALE_WARNINGS})
    target_compile_features(BlockscaleStandardHeaders PUBLIC cxx_std_17)
    blockscale_precompile(BlockscaleStandardHeaders ${headers})
  endif()
  target_precompile_headers(${target} REUSE_FROM BlockscaleStandardHeaders)
endfunction()

# blockscale_add_library(<name> <sources>... [LINK <targets>...]
#                        [EXPORT_AS <name>] [NOT_INSTALLED]
#                        [PRECOMPILE <headers>...])
# A library without MLIR: C++17, the standard library, and what LINK names.
# NOT_INSTALLED is for what only our own programs link, PRECOMPILE for
# blockscale_precompile_standard.
function(blockscale_add_library name)
  cmake_parse_arguments(ARG "NOT_INSTALLED" "EXPORT_AS" "LINK;PRECOMPILE" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_compile_options(${name} PRIVATE ${BLOCKSCALE_WARNINGS})
  target_include_directories(${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(${name} PUBLIC cxx_std_17)
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
  blockscale_precompile_standard(${name} ${ARG_PRECOMPILE})
  if(NOT ARG_NOT_INSTALLED)
    blockscale_install_library(${name} Free ${ARG_EXPORT_AS})
  endif()
endfunction()

# blockscale_precompile_upstream(<target>)
# MLIR's headers and our dialect's cost most of the time of a file that includes
# them. With BLOCKSCALE_PRECOMPILED_HEADERS they are read once for all libraries over
# MLIR, which takes a tenth of the time; but a file that lacks an include still
# compiles.
function(blockscale_precompile_upstream target)
  if(NOT TARGET BlockscaleUpstreamHeaders)
    set(empty ${PROJECT_BINARY_DIR}/UpstreamHeaders.cpp)
    file(CONFIGURE OUTPUT ${empty} CONTENT "")
    add_mlir_library(BlockscaleUpstreamHeaders STATIC ${empty}
      DISABLE_INSTALL EXCLUDE_FROM_LIBMLIR PARTIAL_SOURCES_INTENDED
      DEPENDS BlockscaleIRIncGen)
    target_compile_options(BlockscaleUpstreamHeaders PRIVATE
      ${BLOCKSCALE_WARNINGS})
    target_include_directories(BlockscaleUpstreamHeaders SYSTEM PRIVATE
      ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
    target_include_directories(BlockscaleUpstreamHeaders PRIVATE
      ${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR}/include)
    target_compile_features(BlockscaleUpstreamHeaders PUBLIC cxx_std_17)
    blockscale_precompile(BlockscaleUpstreamHeaders
      <algorithm> <functional> <map> <memory> <optional> <string> <vector>
      <mlir/Dialect/Arith/IR/Arith.h> <mlir/Dialect/Func/IR/FuncOps.h>
      <mlir/Dialect/GPU/IR/GPUDialect.h> <mlir/Dialect/LLVMIR/LLVMDialect.h>
      <mlir/Dialect/Linalg/IR/Linalg.h> <mlir/Dialect/Math/IR/Math.h>
      <mlir/Dialect/SCF/IR/SCF.h> <mlir/Dialect/Tensor/IR/Tensor.h>
      <mlir/Dialect/Vector/IR/VectorOps.h> <mlir/IR/Builders.h>
      <mlir/IR/BuiltinOps.h> <mlir/IR/DialectImplementation.h>
      <mlir/IR/Matchers.h> <mlir/IR/PatternMatch.h>
      <mlir/Interfaces/FunctionInterfaces.h> <mlir/Pass/Pass.h>
      <mlir/Pass/PassManager.h> <mlir/Transforms/DialectConversion.h>
      <llvm/ADT/TypeSwitch.h>
      <blockscale/Dialect/Blockscale/IR/Blockscale.h>)
  endif()
  target_precompile_headers(${target} REUSE_FROM BlockscaleUpstreamHeaders)
endfunction()

# blockscale_link_mlir(<target> PUBLIC|PRIVATE <MLIR targets>...)
# As mlir_target_link_libraries, but a program with BLOCKSCALE_LINKS_ARCHIVES gets
# no libMLIR.so and libLLVM.so, neither by itself nor from libraries that it links.
function(blockscale_link_mlir target type)
  if(NOT MLIR_LINK_MLIR_DYLIB)
    mlir_target_link_libraries(${target} ${type} ${ARGN})
    return()
  endif()
  if(TARGET obj.${target})
    target_link_libraries(obj.${target} ${ARGN})
  endif()
  set(links_archives "$<BOOL:$<TARGET_PROPERTY:BLOCKSCALE_LINKS_ARCHIVES>>")
  foreach(library MLIR LLVM)
    target_link_libraries(${target} ${type}
      $<$<NOT:${links_archives}>:${library}>)
  endforeach()
endfunction()

# blockscale_link_archives(<program>)
# Links a program that blockscale_add_tool made with the archives of MLIR and LLVM,
# if BLOCKSCALE_LINK_ARCHIVES allows it. Most of the time of a short run goes into
# the relocations of libMLIR.so and libLLVM.so. It can load no plugins then.
function(blockscale_link_archives program)
  if(NOT BLOCKSCALE_LINK_ARCHIVES)
    return()
  endif()
  # Files, for as targets MLIR's bring libLLVM.so. LLVMSupport brings what the
  # system has to offer.
  file(GLOB archives ${LLVM_LIBRARY_DIR}/libMLIR*.a ${LLVM_LIBRARY_DIR}/libLLVM*.a)
  set_property(TARGET ${program} PROPERTY BLOCKSCALE_LINKS_ARCHIVES ON)
  target_link_libraries(${program} PRIVATE ${archives} LLVMSupport)
  # They hold what folding of code warns about, and debug information.
  target_link_options(${program} PRIVATE -Wl,--icf=none -Wl,--gc-sections
    -Wl,--as-needed $<$<CONFIG:Release>:-Wl,--strip-debug>)
endfunction()

# blockscale_add_mlir_library(<name> <sources>... [DEPENDS <targets>...]
#                             [LINK <our targets>...] [MLIR <MLIR targets>...]
#                             [EXPORT_AS <name>] [NOT_INSTALLED])
# A library over MLIR. MLIR targets go through blockscale_link_mlir, so that one
# process never holds both libMLIR.so and the static archives.
function(blockscale_add_mlir_library name)
  cmake_parse_arguments(ARG "NOT_INSTALLED" "EXPORT_AS" "DEPENDS;LINK;MLIR"
    ${ARGN})
  add_mlir_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS}
    DISABLE_INSTALL EXCLUDE_FROM_LIBMLIR PARTIAL_SOURCES_INTENDED
    DEPENDS ${ARG_DEPENDS}
    LINK_LIBS PUBLIC ${ARG_LINK})
  # Who links the library decides how it links LLVM, too.
  foreach(property LINK_LIBRARIES INTERFACE_LINK_LIBRARIES)
    get_target_property(libraries ${name} ${property})
    list(REMOVE_ITEM libraries LLVM)
    set_property(TARGET ${name} PROPERTY ${property} ${libraries})
  endforeach()
  blockscale_link_mlir(${name} PUBLIC ${ARG_MLIR})
  foreach(target ${name} obj.${name})
    if(TARGET ${target})
      target_compile_options(${target} PRIVATE ${BLOCKSCALE_WARNINGS})
      target_include_directories(${target} SYSTEM PUBLIC
        $<BUILD_INTERFACE:${LLVM_INCLUDE_DIRS}> $<BUILD_INTERFACE:${MLIR_INCLUDE_DIRS}>)
      target_include_directories(${target} PUBLIC
        $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
        $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
        $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    endif()
  endforeach()
  target_compile_features(${name} PUBLIC cxx_std_17)
  if(BLOCKSCALE_PRECOMPILED_HEADERS)
    blockscale_precompile_upstream(${name})
  endif()
  if(NOT ARG_NOT_INSTALLED)
    blockscale_install_library(${name} MLIR ${ARG_EXPORT_AS})
  endif()
endfunction()

# blockscale_add_tool(<name> <sources>... [LINK <our targets>...] [MLIR <MLIR targets>...])
function(blockscale_add_tool name)
  cmake_parse_arguments(ARG "" "" "LINK;MLIR" ${ARGN})
  add_llvm_executable(${name} ${ARG_UNPARSED_ARGUMENTS} DISABLE_LLVM_LINK_LLVM_DYLIB)
  target_compile_options(${name} PRIVATE ${BLOCKSCALE_WARNINGS})
  target_include_directories(${name} SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
  target_include_directories(${name} PRIVATE
    ${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR}/include)
  target_link_libraries(${name} PRIVATE ${ARG_LINK})
  blockscale_link_mlir(${name} PRIVATE ${ARG_MLIR})
  set_target_properties(${name} PROPERTIES
    INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR};${LLVM_LIBRARY_DIR}")
  install(TARGETS ${name}
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT Runtime)
endfunction()

# blockscale_add_manual(<tool>): its man page and the completion of shells, as
# the program prints them itself, installed where each is looked for.
function(blockscale_add_manual tool)
  set(folder ${PROJECT_BINARY_DIR}/share)
  set(outputs)
  foreach(form_and_file "man man/man1/${tool}.1"
      "bash bash-completion/completions/${tool}"
      "zsh zsh/site-functions/_${tool}"
      "fish fish/vendor_completions.d/${tool}.fish")
    string(REPLACE " " ";" form_and_file ${form_and_file})
    list(GET form_and_file 0 form)
    list(GET form_and_file 1 file)
    get_filename_component(place ${file} DIRECTORY)
    add_custom_command(OUTPUT ${folder}/${file}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}/${place}
      COMMAND ${tool} --print=${form} > ${folder}/${file}
      DEPENDS ${tool} VERBATIM)
    list(APPEND outputs ${folder}/${file})
    install(FILES ${folder}/${file}
      DESTINATION ${CMAKE_INSTALL_DATADIR}/${place} COMPONENT Runtime)
  endforeach()
  add_custom_target(${tool}-manual ALL DEPENDS ${outputs})
endfunction()

# blockscale_add_written_manual(<tool>): the page of a tool whose options are
# MLIR's, as it stands in docs/man.
function(blockscale_add_written_manual tool)
  install(FILES ${PROJECT_SOURCE_DIR}/docs/man/${tool}.1
    DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT Runtime)
endfunction()

# blockscale_precompile_gtest(<target>)
# The same for unit tests, which all read GoogleTest and the standard library. What
# a test does itself is little, so that it is not optimised then: together a quarter
# of the time.
function(blockscale_precompile_gtest target)
  if(NOT TARGET BlockscaleTestHeaders)
    set(empty ${PROJECT_BINARY_DIR}/TestHeaders.cpp)
    file(CONFIGURE OUTPUT ${empty} CONTENT "")
    # A program, as those that read it are: a library is compiled otherwise.
    add_executable(BlockscaleTestHeaders EXCLUDE_FROM_ALL ${empty})
    target_compile_options(BlockscaleTestHeaders PRIVATE
      ${BLOCKSCALE_WARNINGS} -O0)
    target_link_libraries(BlockscaleTestHeaders PRIVATE
      GTest::gtest GTest::gtest_main)
    blockscale_precompile(BlockscaleTestHeaders
      <gtest/gtest.h> <algorithm> <array> <cmath> <cstring> <filesystem>
      <fstream> <functional> <map> <memory> <numeric> <optional> <random> <set>
      <sstream> <string> <vector>)
  endif()
  target_compile_options(${target} PRIVATE -O0)
  target_precompile_headers(${target} REUSE_FROM BlockscaleTestHeaders)
endfunction()

# blockscale_add_unittest(<name> <sources>... [LINK <targets>...])
# A GoogleTest program, registered with ctest. BLOCKSCALE_ORACLE_DIR names the
# folder of reference tables (test/oracle). The variable BLOCKSCALE_TEST_LABELS
# says which of the targets `unittests-LABEL` and of ctest's labels it is part of.
function(blockscale_add_unittest name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_compile_options(${name} PRIVATE ${BLOCKSCALE_WARNINGS})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/unittests)
  target_compile_definitions(${name} PRIVATE
    BLOCKSCALE_ORACLE_DIR="${PROJECT_SOURCE_DIR}/test/oracle"
    BLOCKSCALE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  if(BLOCKSCALE_SANITIZERS)
    # How long something takes says nothing then.
    target_compile_definitions(${name} PRIVATE BLOCKSCALE_SANITIZED)
  endif()
  target_link_libraries(${name} PRIVATE ${ARG_LINK} GTest::gtest GTest::gtest_main)
  if(BLOCKSCALE_PRECOMPILED_HEADERS)
    blockscale_precompile_gtest(${name})
  endif()
  set_property(GLOBAL APPEND PROPERTY BLOCKSCALE_UNITTESTS ${name})
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS "${BLOCKSCALE_TEST_LABELS}")
  foreach(label ${BLOCKSCALE_TEST_LABELS})
    if(NOT TARGET unittests-${label})
      add_custom_target(unittests-${label})
    endif()
    add_dependencies(unittests-${label} ${name})
  endforeach()
endfunction()

# blockscale_require_definitions(<shared library>): it defines or links all that
# it uses. With sanitizers the program brings their functions.
function(blockscale_require_definitions name)
  if(NOT BLOCKSCALE_SANITIZERS)
    target_link_options(${name} PRIVATE "LINKER:-z,defs")
  endif()
endfunction()

# blockscale_enable_sanitizers(<list>): in everything that follows. Without
# frames and lines a report says little; without optimisation the emulator is
# too slow to be tested.
macro(blockscale_enable_sanitizers list)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES Clang)
    message(FATAL_ERROR "BLOCKSCALE_SANITIZERS needs clang")
  endif()
  string(REPLACE ";" "," sanitizers "${list}")
  # LLVM's classes have no type information that the check of vtables could use.
  add_compile_options(-fsanitize=${sanitizers} -fno-sanitize=vptr
    -fno-sanitize-recover=all -fno-omit-frame-pointer -O1 -gline-tables-only)
  add_link_options(-fsanitize=${sanitizers})
  # As in blockscale_require_definitions(); LLVM's configuration asks for it too.
  string(REPLACE "-Wl,-z,defs" "" CMAKE_SHARED_LINKER_FLAGS
    "${CMAKE_SHARED_LINKER_FLAGS}")
  if(BLOCKSCALE_ENABLE_FUZZERS)
    add_compile_options(-fsanitize=fuzzer-no-link)
  endif()
endmacro()

# blockscale_add_subdirectories(<dirs>...): those that are there.
macro(blockscale_add_subdirectories)
  foreach(directory ${ARGN})
    if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${directory}/CMakeLists.txt)
      add_subdirectory(${directory})
    endif()
  endforeach()
endmacro()

# blockscale_type_identities(<variable>): lines of a linker's map with what a
# library beside libMLIR.so has to offer beside its entry points, or nothing.
# MLIR knows types and traits by the address of a variable or, failing that, by
# their names, as the compiler spells them. libMLIR.so is clang's, and GCC spells
# some otherwise: built with it, a library offers those variables, so that both
# have one.
function(blockscale_type_identities variable)
  set(lines)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    foreach(kind _ZZ _ZGVZ)
      string(APPEND lines "\n    ${kind}N4mlir6detail14TypeIDResolver*;")
    endforeach()
  endif()
  set(${variable} "${lines}" PARENT_SCOPE)
endfunction()

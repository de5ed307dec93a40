# What others get: headers, the CMake package, and a Debian package of each half.
# `docs/embedding.md` is their page.

include(CMakePackageConfigHelpers)

set(BLOCKSCALE_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/Blockscale)

#===-- Headers -------------------------------------------------------------===#

# The command line's library is ours alone.
set(installed_headers FILES_MATCHING PATTERN "*.h" PATTERN "*.def" PATTERN "*.td"
  PATTERN Driver EXCLUDE)
if(NOT BLOCKSCALE_ENABLE_MLIR)
  list(APPEND installed_headers PATTERN Compiler EXCLUDE
    PATTERN Conversion EXCLUDE PATTERN Dialect EXCLUDE
    PATTERN Execute EXCLUDE PATTERN InitAll.h EXCLUDE
    PATTERN Pipelines EXCLUDE PATTERN Target EXCLUDE)
endif()
install(DIRECTORY include/blockscale include/blockscale-runtime
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  COMPONENT Development ${installed_headers})
install(DIRECTORY include/blockscale-c
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT Development)
if(BLOCKSCALE_ENABLE_MLIR)
  # What TableGen made of the .td files, beside the headers that include it.
  install(DIRECTORY ${PROJECT_BINARY_DIR}/include/blockscale
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT Development
    FILES_MATCHING PATTERN "*.inc" PATTERN CMakeFiles EXCLUDE)
endif()

#===-- CMake package -------------------------------------------------------===#

get_property(BLOCKSCALE_FREE_COMPONENTS GLOBAL PROPERTY BLOCKSCALE_EXPORTS_Free)
get_property(BLOCKSCALE_C_COMPONENTS GLOBAL PROPERTY BLOCKSCALE_EXPORTS_C)
list(APPEND BLOCKSCALE_FREE_COMPONENTS ${BLOCKSCALE_C_COMPONENTS})
get_property(BLOCKSCALE_MLIR_COMPONENTS GLOBAL PROPERTY BLOCKSCALE_EXPORTS_MLIR)

set(export_sets Free C)
if(BLOCKSCALE_ENABLE_MLIR)
  list(APPEND export_sets MLIR)
endif()
foreach(set ${export_sets})
  install(EXPORT Blockscale${set}Targets NAMESPACE Blockscale::
    DESTINATION ${BLOCKSCALE_CMAKE_DIR} COMPONENT Development)
endforeach()
# The build folder is a package, too, for what needs no MLIR:
# -DBlockscale_DIR=build/cmake, with the targets that were built.
foreach(set Free C)
  export(EXPORT Blockscale${set}Targets NAMESPACE Blockscale::
    FILE ${PROJECT_BINARY_DIR}/cmake/Blockscale${set}Targets.cmake)
endforeach()
configure_package_config_file(cmake/BlockscaleConfig.cmake.in
  ${PROJECT_BINARY_DIR}/cmake/BlockscaleConfig.cmake
  INSTALL_DESTINATION ${BLOCKSCALE_CMAKE_DIR}
  PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
# Before 1.0 a new minor version may break its users.
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/cmake/BlockscaleConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/cmake/BlockscaleConfig.cmake
  ${PROJECT_BINARY_DIR}/cmake/BlockscaleConfigVersion.cmake
  DESTINATION ${BLOCKSCALE_CMAKE_DIR} COMPONENT Development)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT Runtime)

#===-- Debian packages -----------------------------------------------------===#

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME blockscale)
set(CPACK_PACKAGE_VENDOR blockscale)
set(CPACK_PACKAGE_CONTACT "blockscale developers")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY
  "Compiler and emulator for block-scaled matrix products")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL Runtime Development)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE gzip)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME blockscale)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME blockscale-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(runtime_depends "libc6 (>= 2.36)" "libstdc++6 (>= 12)" libzstd1 liblz4-1)
set(development_depends "blockscale (= ${PROJECT_VERSION})")
if(BLOCKSCALE_ENABLE_MLIR)
  list(APPEND runtime_depends
    "libmlir-${LLVM_VERSION_MAJOR} (>= 1:${LLVM_VERSION_MAJOR}.${LLVM_VERSION_MINOR})"
    "libllvm${LLVM_VERSION_MAJOR} (>= 1:${LLVM_VERSION_MAJOR}.${LLVM_VERSION_MINOR})")
  list(APPEND development_depends libmlir-${LLVM_VERSION_MAJOR}-dev
    llvm-${LLVM_VERSION_MAJOR}-dev mlir-${LLVM_VERSION_MAJOR}-tools)
endif()
list(JOIN runtime_depends ", " CPACK_DEBIAN_RUNTIME_PACKAGE_DEPENDS)
list(JOIN development_depends ", " CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS)
include(CPack)

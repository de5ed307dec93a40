/*===- Mlir.h - for programs that use MLIR's C interface -*- C -*-===*\
|*
|* Part of the blockscale project, under the Apache License v2.0 with LLVM
|* Exceptions.
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
\*===----------------------------------------------------------------------===*/

/*
 * For programs that link MLIR's own C interface (over the libMLIR.so that
 * libBlockscale uses) and build IR with it. Unlike the rest these functions
 * take MLIR's handles, which nobody can check: what is wrong with them is not
 * found out.
 */

#ifndef BLOCKSCALE_C_MLIR_H
#define BLOCKSCALE_C_MLIR_H

#include "blockscale-c/Session.h"
#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The dialect `blockscale`. */
BLOCKSCALE_C_EXPORT MlirDialectHandle mlirGetDialectHandle__blockscale__(void);
/* The dialect `blockscale_nki`. */
BLOCKSCALE_C_EXPORT MlirDialectHandle
mlirGetDialectHandle__blockscale_nki__(void);

/* All dialects that our inputs and stages use. */
BLOCKSCALE_C_EXPORT void
blockscaleRegisterAllDialects(MlirDialectRegistry registry);

/* Our passes and pipeline, by name. May be called more than once. */
BLOCKSCALE_C_EXPORT void blockscaleRegisterAllPasses(void);

/* A copy of `module` in the session; both stay apart from then on. */
BLOCKSCALE_C_EXPORT BlockscaleStatus blockscaleModuleFromMlir(
    BlockscaleSession session, MlirModule module, BlockscaleModule *copy);

/* Types !blockscale.tensor. `spec` is text ("e8m0_t32", empty for no scales),
   `layout` and `order` are as the type prints them ("plain", "tiled_128x4";
   "k_major", "mn_major"; empty for the first of them). What is no such type is
   a diagnostic of the context, and null. */
BLOCKSCALE_C_EXPORT bool blockscaleTypeIsAScaledTensor(MlirType type);
BLOCKSCALE_C_EXPORT MlirType blockscaleScaledTensorTypeGet(
    MlirContext context, intptr_t rank, const int64_t *shape, MlirType element,
    MlirStringRef spec, MlirStringRef layout, MlirStringRef order);
BLOCKSCALE_C_EXPORT MlirType
blockscaleScaledTensorTypeGetElementType(MlirType type);
BLOCKSCALE_C_EXPORT intptr_t blockscaleScaledTensorTypeGetRank(MlirType type);
BLOCKSCALE_C_EXPORT int64_t blockscaleScaledTensorTypeGetDim(MlirType type,
                                                             intptr_t index);
/* `callback` gets the canonical spelling. */
BLOCKSCALE_C_EXPORT void
blockscaleScaledTensorTypeGetSpec(MlirType type, MlirStringCallback callback,
                                  void *userData);
BLOCKSCALE_C_EXPORT MlirStringRef
blockscaleScaledTensorTypeGetLayout(MlirType type);
BLOCKSCALE_C_EXPORT MlirStringRef
blockscaleScaledTensorTypeGetOrder(MlirType type);

/* The product blockscale.matmul of two values of such types, detached; its
   result has the shape that follows and elements of `resultElement`. Values and
   elements of other types are a diagnostic of the context, and null. */
BLOCKSCALE_C_EXPORT MlirOperation blockscaleMatmulCreate(
    MlirLocation location, MlirValue a, MlirValue b, MlirType resultElement);

/* Attributes #blockscale.target; null for a chip that we do not know. */
BLOCKSCALE_C_EXPORT bool blockscaleAttributeIsATarget(MlirAttribute attribute);
BLOCKSCALE_C_EXPORT MlirAttribute blockscaleTargetAttrGet(MlirContext context,
                                                          MlirStringRef chip);

#ifdef __cplusplus
}
#endif

#endif /* BLOCKSCALE_C_MLIR_H */

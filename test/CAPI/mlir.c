/* RUN: %cc -isystem %llvm_include -c %s -o %t.o
   RUN: %cxx %t.o -o %t %link_mlir && %t

   Beside MLIR's own C interface: IR that it builds, with our dialect and types,
   is compiled. */

#include "blockscale-c/Mlir.h"
#include "blockscale-c/Compiler.h"
#include "check.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Dialect/Func.h"

static MlirStringRef text(const char *words) {
  return mlirStringRefCreateFromCString(words);
}

static void collect(MlirStringRef part, void *userData) {
  strncat((char *)userData, part.data, part.length);
}

static MlirAttribute type(MlirType of) { return mlirTypeAttrGet(of); }

static MlirModule buildModule(MlirContext context, MlirType operand,
                              MlirType result) {
  MlirLocation loc = mlirLocationUnknownGet(context);
  MlirType inputs[] = {operand, operand};
  MlirLocation places[] = {loc, loc};
  MlirBlock body = mlirBlockCreate(2, inputs, places);
  MlirValue arguments[] = {mlirBlockGetArgument(body, 0),
                           mlirBlockGetArgument(body, 1)};
  MlirOperation product = blockscaleMatmulCreate(
      loc, arguments[0], arguments[1], mlirF32TypeGet(context));
  mlirBlockAppendOwnedOperation(body, product);
  MlirValue value = mlirOperationGetResult(product, 0);
  MlirOperationState last = mlirOperationStateGet(text("func.return"), loc);
  mlirOperationStateAddOperands(&last, 1, &value);
  mlirBlockAppendOwnedOperation(body, mlirOperationCreate(&last));
  MlirRegion region = mlirRegionCreate();
  mlirRegionAppendOwnedBlock(region, body);
  MlirOperationState state = mlirOperationStateGet(text("func.func"), loc);
  MlirNamedAttribute attributes[] = {
      mlirNamedAttributeGet(
          mlirIdentifierGet(context, text("function_type")),
          type(mlirFunctionTypeGet(context, 2, inputs, 1, &result))),
      mlirNamedAttributeGet(mlirIdentifierGet(context, text("sym_name")),
                            mlirStringAttrGet(context, text("built")))};
  mlirOperationStateAddAttributes(&state, 2, attributes);
  mlirOperationStateAddOwnedRegions(&state, 1, &region);
  MlirModule module = mlirModuleCreateEmpty(loc);
  mlirBlockAppendOwnedOperation(mlirModuleGetBody(module),
                                mlirOperationCreate(&state));
  CHECK(mlirOperationVerify(mlirModuleGetOperation(module)));
  return module;
}

/* Whose product there is not is said, and nothing is made. */
static void checkRefused(MlirContext context, MlirType operand) {
  MlirLocation loc = mlirLocationUnknownGet(context);
  MlirType f32 = mlirF32TypeGet(context);
  MlirType inputs[] = {operand, f32};
  MlirLocation places[] = {loc, loc};
  MlirBlock block = mlirBlockCreate(2, inputs, places);
  MlirValue scaled = mlirBlockGetArgument(block, 0);
  MlirValue number = mlirBlockGetArgument(block, 1);
  MlirValue noValue = {NULL};
  MlirType noType = {NULL};
  CHECK(mlirOperationIsNull(blockscaleMatmulCreate(loc, scaled, number, f32)));
  CHECK(mlirOperationIsNull(blockscaleMatmulCreate(loc, noValue, scaled, f32)));
  CHECK(
      mlirOperationIsNull(blockscaleMatmulCreate(loc, scaled, scaled, noType)));
  CHECK(mlirOperationIsNull(
      blockscaleMatmulCreate(loc, scaled, scaled, mlirNoneTypeGet(context))));
  mlirBlockDestroy(block);
}

int main(void) {
  MlirContext context = mlirContextCreate();
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  blockscaleRegisterAllDialects(registry);
  mlirContextAppendDialectRegistry(context, registry);
  mlirDialectRegistryDestroy(registry);
  MlirDialect dialect = mlirDialectHandleLoadDialect(
      mlirGetDialectHandle__blockscale__(), context);
  CHECK(
      mlirStringRefEqual(mlirDialectGetNamespace(dialect), text("blockscale")));
  mlirDialectHandleLoadDialect(mlirGetDialectHandle__func__(), context);
  blockscaleRegisterAllPasses();
  blockscaleRegisterAllPasses();

  int64_t shape[] = {128, 256};
  MlirType e4m3 = mlirFloat8E4M3FNTypeGet(context);
  MlirType operand = blockscaleScaledTensorTypeGet(
      context, 2, shape, e4m3, text("e8m0_t32"), text("tiled_128x4"), text(""));
  CHECK(blockscaleTypeIsAScaledTensor(operand));
  CHECK(!blockscaleTypeIsAScaledTensor(e4m3));
  CHECK(mlirTypeEqual(
      operand,
      mlirTypeParseGet(context, text("!blockscale.tensor<128x256xf8E4M3FN, "
                                     "\"e8m0_t32\", layout = tiled_128x4>"))));
  CHECK(blockscaleScaledTensorTypeGetRank(operand) == 2);
  CHECK(blockscaleScaledTensorTypeGetDim(operand, 1) == 256);
  CHECK(mlirTypeEqual(blockscaleScaledTensorTypeGetElementType(operand), e4m3));
  char spec[32] = "";
  blockscaleScaledTensorTypeGetSpec(operand, collect, spec);
  CHECK(strcmp(spec, "e8m0_t32") == 0);
  CHECK(mlirStringRefEqual(blockscaleScaledTensorTypeGetLayout(operand),
                           text("tiled_128x4")));
  CHECK(mlirStringRefEqual(blockscaleScaledTensorTypeGetOrder(operand),
                           text("k_major")));
  CHECK(mlirTypeIsNull(blockscaleScaledTensorTypeGet(
      context, 2, shape, e4m3, text("e8m0_q32"), text(""), text(""))));
  CHECK(mlirTypeIsNull(blockscaleScaledTensorTypeGet(
      context, 2, shape, e4m3, text("e8m0_t32"), text("odd"), text(""))));
  /* A dynamic size is mlirShapedTypeGetDynamicSize(). */
  int64_t negative[] = {-1, 256};
  CHECK(mlirTypeIsNull(blockscaleScaledTensorTypeGet(
      context, 2, negative, e4m3, text("e8m0_t32"), text(""), text(""))));

  checkRefused(context, operand);
  MlirModule module = buildModule(
      context, operand,
      mlirRankedTensorTypeGet(2, (int64_t[]){128, 128}, mlirF32TypeGet(context),
                              mlirAttributeGetNull()));
  MlirAttribute target = blockscaleTargetAttrGet(context, text("sm_103a"));
  CHECK(blockscaleAttributeIsATarget(target));
  CHECK(mlirAttributeIsNull(blockscaleTargetAttrGet(context, text("sm_9"))));
  mlirOperationSetAttributeByName(mlirModuleGetOperation(module),
                                  text("blockscale.target"), target);

  BlockscaleSession session;
  BlockscaleModule copy;
  BlockscaleCompilation compilation;
  BlockscaleSlice ptx;
  CHECK_OK(blockscaleSessionCreate(&session));
  CHECK_OK(blockscaleModuleFromMlir(session, module, &copy));
  mlirModuleDestroy(module);
  mlirContextDestroy(context);
  CHECK_OK(blockscaleCompile(copy, NULL, &compilation));
  CHECK_OK(blockscaleCompilationGetOutput(compilation, 0, BLOCKSCALE_OUTPUT_PTX,
                                          &ptx));
  CHECK(contains(ptx, ".target sm_103a") && contains(ptx, ".entry built("));
  CHECK_OK(blockscaleCompilationDestroy(compilation));
  CHECK_OK(blockscaleSessionDestroy(session));
  return 0;
}

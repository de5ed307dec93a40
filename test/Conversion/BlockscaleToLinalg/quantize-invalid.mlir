// RUN: blockscale-opt %s --verify-diagnostics --split-input-file --blockscale-to-linalg

func.func @no_type(%x: tensor<4x32xf32>) -> !blockscale.tensor<4x32xf4E2M1FN, "e5m3fn_t16"> {
  // expected-error @below {{no type has the numbers of 'e5m3fn', so that no scales are rounded to them; expected scales of 'e4m3fn' or 'bfloat16', or a tensor that was quantized elsewhere, such as by Python's 'quantize'}}
  %0 = blockscale.quantize %x : tensor<4x32xf32> to !blockscale.tensor<4x32xf4E2M1FN, "e5m3fn_t16">
  return %0 : !blockscale.tensor<4x32xf4E2M1FN, "e5m3fn_t16">
}

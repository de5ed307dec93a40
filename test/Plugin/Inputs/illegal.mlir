func.func private @f(!blockscale.tensor<64x256xf8E4M3FN, "e8m0_q32">)

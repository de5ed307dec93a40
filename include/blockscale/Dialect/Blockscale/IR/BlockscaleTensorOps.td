//===- BlockscaleTensorOps.td - ops on tensors -------------*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TENSOR_OPS_TD
#define BLOCKSCALE_TENSOR_OPS_TD

include "blockscale/Dialect/Blockscale/IR/BlockscaleTypes.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Blockscale_Op<string mnemonic, list<Trait> traits = []>
    : Op<Blockscale_Dialect, mnemonic, traits>;

def Blockscale_PlainTensor
    : RankedTensorOf<[F32, BF16, F16]>;

def Blockscale_MatmulOp : Blockscale_Op<"matmul",
    [Pure, AttrSizedOperandSegments]> {
  let summary = "product of two block-scaled matrices";
  let description = [{
    With the values of `a` and `b` as their scale specs define them,

    ```
    d[m, n] = activation(alpha * sum_k a[m, k] * b[n, k]
                         + beta * c[m, n] + bias[n])
    ```

    Both operands have `K` last: `b` is the transpose of a row-major right
    side. With three dimensions the first one counts independent products.
    The sum is taken in f32; its order is not defined. `alpha` and `beta` are 1
    where they are not given, and `bias` is added per column of the result, or
    per row with `row`. GELU is `x * Phi(x)` with the error function.

    `schedule` decides how the product is cut into tiles; without one the
    compiler chooses.

    ```mlir
    %0 = blockscale.matmul %a, %b : !a, !b -> tensor<?x7168xf32>
    ```
  }];
  let arguments = (ins
    Blockscale_Tensor:$a, Blockscale_Tensor:$b,
    Optional<F32>:$alpha, Optional<F32>:$beta,
    Optional<Blockscale_PlainTensor>:$c,
    Optional<Blockscale_PlainTensor>:$bias,
    DefaultValuedAttr<Blockscale_BiasKindAttr,
                      "::blockscale::BiasKind::Column">:$bias_kind,
    OptionalAttr<Blockscale_ActivationAttr>:$activation,
    OptionalAttr<AnyAttr>:$schedule);
  let results = (outs Blockscale_PlainTensor:$result);
  let assemblyFormat = [{
    $a `,` $b (`alpha` `(` $alpha^ `)`)? (`beta` `(` $beta^ `)`)?
    (`c` `(` $c^ `)`)? custom<Bias>($bias, $bias_kind)
    (`activation` `(` $activation^ `)`)? (`schedule` `(` $schedule^ `)`)?
    attr-dict `:`
    custom<MatmulTypes>(ref($c), ref($bias), type($a), type($b), type($c),
                        type($bias))
    `->` type($result)
  }];
  let hasVerifier = 1;
}

#endif // BLOCKSCALE_TENSOR_OPS_TD

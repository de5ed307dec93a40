// RUN: blockscale-opt %s --split-input-file --verify-diagnostics

!q = !blockscale.tensor<?x128xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @other_layout(%x: tensor<?x128xbf16>, %ends: tensor<3xi32>) {
  // expected-error@+1 {{with 'groups' expected scales in layout 'grouped_128x4', found 'tiled_128x4'}}
  %0 = blockscale.quantize %x groups(%ends : tensor<3xi32>) : tensor<?x128xbf16> to !q
  return
}

// -----

!q = !blockscale.tensor<?x128xf8E4M3FN, "float32_t0">
func.func @all_of_k(%x: tensor<?x128xbf16>, %ends: tensor<3xi32>) {
  // expected-error@+1 {{with 'groups' expected scales in layout 'grouped_128x4', found 'plain'}}
  %0 = blockscale.quantize %x groups(%ends : tensor<3xi32>) : tensor<?x128xbf16> to !q
  return
}

// -----

!q = !blockscale.tensor<?x128xf8E4M3FN, "e8m0_t32_t32", layout = grouped_128x4>
func.func @squares(%x: tensor<?x128xbf16>, %ends: tensor<3xi32>) {
  // expected-error@+1 {{with 'groups' expected scales of single rows, found one for 32 rows}}
  %0 = blockscale.quantize %x groups(%ends : tensor<3xi32>) : tensor<?x128xbf16> to !q
  return
}

// -----

!q = !blockscale.tensor<?x128xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
func.func @no_groups(%x: tensor<?x128xbf16>) {
  // expected-error@+1 {{does not know the groups of layout 'grouped_128x4'}}
  %0 = blockscale.quantize %x : tensor<?x128xbf16> to !q
  return
}

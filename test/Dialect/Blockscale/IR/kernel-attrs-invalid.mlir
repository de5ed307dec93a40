// Schedules, instructions and what the host knows of a kernel, with values that
// do not exist or do not agree.

// RUN: blockscale-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{expected 'tile_m' of 128 to 512 in steps of 128, found 64}}
func.func private @tile_m_64() attributes {test.a = #blockscale.schedule<tile_m = 64>}

// -----

// expected-error @below {{expected 'tile_n' of 8 to 512 in steps of 8, found 260}}
func.func private @tile_n_260() attributes {test.a = #blockscale.schedule<tile_n = 260>}

// -----

// expected-error @below {{expected 'tile_n' above 256, two instructions beside each other, in steps of 64, found 264}}
func.func private @tile_n_264() attributes {test.a = #blockscale.schedule<tile_n = 264>}

// -----

// expected-error @below {{expected 'tile_k' of 32 to 768 in steps of 32, found 48}}
func.func private @tile_k_48() attributes {test.a = #blockscale.schedule<tile_k = 48>}

// -----

// expected-error @below {{expected 'stages' of 1 to 16, found 17}}
func.func private @stages_17() attributes {test.a = #blockscale.schedule<stages = 17>}

// -----

// expected-error @below {{expected 'accumulators' of 1 to 4, found 5}}
func.func private @accumulators_5() attributes {test.a = #blockscale.schedule<accumulators = 5>}

// -----

// expected-error @below {{expected 'group_m' of 1 to 65536, found -1}}
func.func private @group_m_1() attributes {test.a = #blockscale.schedule<group_m = -1>}

// -----

// expected-error @below {{expected 'cta_group' of 1 to 2, found 3}}
func.func private @cta_group_3() attributes {test.a = #blockscale.schedule<cta_group = 3>}

// -----

// expected-error @below {{expected 'cluster_m' of 1 to 16, found 17}}
func.func private @cluster_m_17() attributes {test.a = #blockscale.schedule<cluster_m = 17>}

// -----

// expected-error @below {{expected 'cluster_n' of 1 to 16, found -2}}
func.func private @cluster_n() attributes {test.a = #blockscale.schedule<cluster_n = -2>}

// -----

// expected-error @below {{expected 'cluster_m' to be a multiple of 2 because 'cta_group' is 2, found 3}}
func.func private @odd_pairs() attributes {test.a = #blockscale.schedule<cta_group = 2, cluster_m = 3>}

// -----

// expected-error @below {{expected at most 16 CTAs in a cluster, found 8x4}}
func.func private @cluster_32() attributes {test.a = #blockscale.schedule<cluster_m = 8, cluster_n = 4>}

// -----

// expected-error @below {{expected 'mma_k' of 8 to 128 in steps of 8, found 100}}
func.func private @mma_k() attributes {test.a = #blockscale.schedule<mma_k = 100>}

// -----

// expected-error @below {{failed to parse Blockscale_TargetAttr parameter 'value'}}
// expected-error @below {{unknown target 'sm_90a'; known targets: sm_100a, sm_103a, sm_107a, sm_110a, sm_120a, sm_121a, sm_100f, sm_103f, sm_107f, sm_110f, sm_120f, sm_121f}}
func.func private @target() attributes {test.a = #blockscale.target<sm_90a>}

// -----

// expected-error @below {{failed to parse Blockscale_MmaAttr parameter 'kind'}}
// expected-error @below {{'mxf5' is not a kind of matrix instruction}}
func.func private @kind() attributes {test.a = #blockscale.mma<kind = mxf5, a = e2m1, b = e2m1, scale = ue8m0, block = 32>}

// -----

// expected-error @below {{failed to parse Blockscale_MmaAttr parameter 'a'}}
// expected-error @below {{'e9m9' is not an element format}}
func.func private @format() attributes {test.a = #blockscale.mma<kind = mxf4, a = e9m9, b = e2m1, scale = ue8m0, block = 32>}

// -----

// expected-error @below {{'func.func' op has the unknown attribute 'blockscale.kernels'}}
func.func private @unknown() attributes {blockscale.kernels}

// -----

// expected-error @below {{'func.func' op expected 'blockscale.kernel' to be a #blockscale.kernel attribute}}
func.func private @not_kernel() attributes {blockscale.kernel}

// -----

// expected-error @below {{'builtin.module' op 'blockscale.kernel' belongs on a function}}
module @m attributes {blockscale.kernel = #blockscale.kernel<grid = ()[m, n, k, l, sms, clusters] -> (m, sms), block = 192>} {}

// -----

// expected-error @below {{failed to parse Blockscale_TargetAttr parameter 'value'}}
// expected-error @below {{unknown target 'sm_90a'; known targets: sm_100a, sm_103a, sm_107a, sm_110a, sm_120a, sm_121a, sm_100f, sm_103f, sm_107f, sm_110f, sm_120f, sm_121f}}
func.func private @kernel_target() attributes {blockscale.target = #blockscale.target<sm_90a>, blockscale.kernel = #blockscale.kernel<grid = ()[m, n, k, l, sms, clusters] -> (m, sms), block = 192>}

// -----

// expected-error @below {{expected the grid to be a map of the 6 symbols M, N, K, batch, the number of SMs and the number of clusters that run at once}}
func.func private @kernel_grid() attributes {blockscale.kernel = #blockscale.kernel<grid = ()[m, n, k, l] -> (m), block = 192>}

// -----

// expected-error @below {{expected the grid to have a result}}
func.func private @kernel_no_grid() attributes {blockscale.kernel = #blockscale.kernel<grid = ()[m, n, k, l, sms, clusters] -> (), block = 192>}

// -----

// expected-error @below {{expected 1 to 1024 threads per CTA, found 1056}}
func.func private @kernel_block() attributes {blockscale.kernel = #blockscale.kernel<grid = ()[m, n, k, l, sms, clusters] -> (m, sms), block = 1056>}

// -----

// expected-error @below {{expected 1 to 16 CTAs per cluster, found 17}}
func.func private @kernel_cluster() attributes {blockscale.kernel = #blockscale.kernel<grid = ()[m, n, k, l, sms, clusters] -> (m, sms), block = 192, cluster = 17>}

// -----

// expected-error @below {{argument 1 expected a #blockscale.parameter attribute named 'blockscale.parameter', found 'blockscale.role'}}
func.func private @parameter(i32, i32 {blockscale.role = #blockscale.parameter<d>})

// -----

// expected-error @below {{argument 0 expected a #blockscale.parameter attribute named 'blockscale.parameter', found 'blockscale.parameter'}}
func.func private @parameter_type(i32 {blockscale.parameter = "d"})

// -----

// expected-error @below {{expected the workspace to be a map of the grid's symbols to 3 results: bytes that are zero before the first launch, bytes of all of it, and clusters that compute a tile together}}
func.func private @kernel_workspace() attributes {blockscale.kernel = #blockscale.kernel<grid = ()[m, n, k, l, sms, clusters] -> (m), block = 192, workspace = ()[m, n, k, l, sms, clusters] -> (m)>}

// -----

// expected-error @below {{expected a constant number of at least 2 clusters that compute a tile together}}
func.func private @kernel_alone() attributes {blockscale.kernel = #blockscale.kernel<grid = ()[m, n, k, l, sms, clusters] -> (m), block = 192, workspace = ()[m, n, k, l, sms, clusters] -> (m, m, 1)>}

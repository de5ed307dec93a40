// Every field of an attribute with values that no chip has: refused where they
// stand, never replaced.

// RUN: blockscale-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{expected 'cta_group' of 1 to 2, found 7}}
func.func private @cta_group() attributes {test.a = #blockscale.mma<kind = mxf4, a = e2m1, b = e2m1, scale = ue8m0, block = 32, cta_group = 7>}

// -----

// expected-error @below {{expected 'cta_group' of 1 to 2, found -1}}
func.func private @cta_group_negative() attributes {test.a = #blockscale.mma<kind = f16, a = f16, b = f16, cta_group = -1>}

// -----

// expected-error @below {{expected 'cta_group' of 1 to 2, found 0}}
func.func private @cta_group_zero() attributes {test.a = #blockscale.mma<kind = f16, a = f16, b = f16, cta_group = 0>}

// -----

// expected-error @below {{kind 'mxf4' has no ue8m0 scale for 'block' -32}}
func.func private @block() attributes {test.a = #blockscale.mma<kind = mxf4, a = e2m1, b = e2m1, scale = ue8m0, block = -32>}

// -----

// expected-error @below {{kind 'mxf8f6f4' has no ue8m0 scale for 'block' 16}}
func.func private @block_16() attributes {test.a = #blockscale.mma<kind = mxf8f6f4, a = e4m3, b = e4m3, scale = ue8m0, block = 16>}

// -----

// expected-error @below {{kind 'mxf4nvf4' has no ue4m3 scale for 'block' 0}}
func.func private @block_0() attributes {test.a = #blockscale.mma<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3>}

// -----

// expected-error @below {{kind 'f16' has no scales; found 'block' of 32}}
func.func private @block_unscaled() attributes {test.a = #blockscale.mma<kind = f16, a = f16, b = f16, block = 32>}

// -----

// expected-error @below {{kind 'f8f6f4' has no scales; found 'scale'}}
func.func private @scale_unscaled() attributes {test.a = #blockscale.mma<kind = f8f6f4, a = e4m3, b = e4m3, scale = ue8m0, block = 32>}

// -----

// expected-error @below {{kind 'mxf4' has scales; expected 'scale'}}
func.func private @no_scale() attributes {test.a = #blockscale.mma<kind = mxf4, a = e2m1, b = e2m1>}

// -----

// expected-error @below {{kind 'mxf4' has no ue4m3 scale for 'block' 32}}
func.func private @scale() attributes {test.a = #blockscale.mma<kind = mxf4, a = e2m1, b = e2m1, scale = ue4m3, block = 32>}

// -----

// expected-error @below {{kind 'mxf4' has no 'a' of e4m3}}
func.func private @a() attributes {test.a = #blockscale.mma<kind = mxf4, a = e4m3, b = e2m1, scale = ue8m0, block = 32>}

// -----

// expected-error @below {{kind 'i8' has no 'b' of e4m3}}
func.func private @b() attributes {test.a = #blockscale.mma<kind = i8, a = int8, b = e4m3>}

// -----

// expected-error @below {{kind 'f16' has one type for both operands, found f16 and bf16}}
func.func private @types() attributes {test.a = #blockscale.mma<kind = f16, a = f16, b = bf16>}

// -----

// expected-error @below {{expected 'm' of 16 or 64 or 128 or 256, found -128}}
func.func private @m() attributes {test.a = #blockscale.mma<kind = mxf4, a = e2m1, b = e2m1, scale = ue8m0, block = 32, m = -128>}

// -----

// expected-error @below {{expected 'm' of 16 or 64 or 128 or 256, found 4294967424}}
func.func private @m_huge() attributes {test.a = #blockscale.mma<kind = mxf4, a = e2m1, b = e2m1, scale = ue8m0, block = 32, m = 4294967424>}

// -----

// expected-error @below {{expected 'n' of 8 to 256 in steps of 8, found 12}}
func.func private @n() attributes {test.a = #blockscale.mma<kind = mxf4, a = e2m1, b = e2m1, scale = ue8m0, block = 32, n = 12>}

// -----

// expected-error @below {{expected 'n' of 8 to 256 in steps of 8, found -8}}
func.func private @n_negative() attributes {test.a = #blockscale.mma<kind = mxf4, a = e2m1, b = e2m1, scale = ue8m0, block = 32, n = -8>}

// -----

// expected-error @below {{expected 'k' of 8 or 16 or 32 or 64 or 96 or 128, found 40}}
func.func private @k() attributes {test.a = #blockscale.mma<kind = mxf8f6f4, a = e4m3, b = e4m3, scale = ue8m0, block = 32, k = 40>}

// -----

// expected-error @below {{expected 'k' of 8 or 16 or 32 or 64 or 96 or 128, found -64}}
func.func private @k_negative() attributes {test.a = #blockscale.mma<kind = mxf4, a = e2m1, b = e2m1, scale = ue8m0, block = 32, k = -64>}

// -----

// expected-error @below {{kind 'mxf4' reads 'a' of e2m1 along K only}}
func.func private @a_mn_major() attributes {test.a = #blockscale.mma<kind = mxf4, a = e2m1, b = e2m1, scale = ue8m0, block = 32, a_mn_major = true>}

// -----

// expected-error @below {{kind 'mxf8f6f4' reads 'b' of e2m1 along K only}}
func.func private @b_mn_major() attributes {test.a = #blockscale.mma<kind = mxf8f6f4, a = e4m3, b = e2m1, scale = ue8m0, block = 32, b_mn_major = true>}

// -----

// expected-error @below {{expected 'a' of 0 to 1048575, found -16}}
func.func private @step_a() attributes {test.a = #blockscale.step<a = -16, b = 0>}

// -----

// expected-error @below {{expected 'b' of 0 to 1048575, found 1099511627776}}
func.func private @step_b() attributes {test.a = #blockscale.step<a = 0, b = 1099511627776>}

// -----

// expected-error @below {{expected 'sfa_column' of 0 to 575, found 576}}
func.func private @step_sfa_column() attributes {test.a = #blockscale.step<a = 0, b = 0, sfa_column = 576, sfa_id = 0, sfb_column = 0, sfb_id = 0>}

// -----

// expected-error @below {{expected 'sfa_id' of 0 to 3, found 4}}
func.func private @step_sfa_id() attributes {test.a = #blockscale.step<a = 0, b = 0, sfa_column = 0, sfa_id = 4, sfb_column = 0, sfb_id = 0>}

// -----

// expected-error @below {{expected 'sfb_column' of 0 to 575, found -1}}
func.func private @step_sfb_column() attributes {test.a = #blockscale.step<a = 0, b = 0, sfa_column = 0, sfa_id = 0, sfb_column = -1, sfb_id = 0>}

// -----

// expected-error @below {{expected 'sfb_id' of 0 to 3, found -1}}
func.func private @step_sfb_id() attributes {test.a = #blockscale.step<a = 0, b = 0, sfa_column = 0, sfa_id = 0, sfb_column = 0, sfb_id = -1>}

// -----

// expected-error @below {{expected all or none of 'sfa_column', 'sfa_id', 'sfb_column' and 'sfb_id'}}
func.func private @step_some() attributes {test.a = #blockscale.step<a = 0, b = 0, sfa_column = 0, sfa_id = 0>}

// -----

// expected-error @below {{expected 'metadata_column' of 0 to 575, found -4}}
func.func private @step_metadata() attributes {test.a = #blockscale.step<a = 0, b = 0, metadata_column = -4>}

// -----

// expected-error @below {{expected 'selector' of 0 to 3, found 4}}
func.func private @step_selector() attributes {test.a = #blockscale.step<a = 0, b = 0, selector = 4>}

// -----

// expected-error @below {{expected 'part' of 0 to 2, found 3}}
func.func private @range_part() attributes {test.a = #blockscale.k_range<part = 3, begin = 0, end = 96>}

// -----

// expected-error @below {{expected 'begin' of 0 to 767, found -96}}
func.func private @range_begin() attributes {test.a = #blockscale.k_range<part = 0, begin = -96, end = 96>}

// -----

// expected-error @below {{expected 'end' of 1 to 768, found 864}}
func.func private @range_end() attributes {test.a = #blockscale.k_range<part = 0, begin = 0, end = 864>}

// -----

// expected-error @below {{expected 'begin' before 'end', found 192 and 96}}
func.func private @range_order() attributes {test.a = #blockscale.k_range<part = 0, begin = 192, end = 96>}

// -----

// expected-error @below {{expected 'copy_stride' of 0 to 512, found -1}}
func.func private @copy_stride() attributes {test.a = #blockscale.tmem_accumulator<copy_stride = -1>}

// -----

// expected-error @below {{expected 'word_stride' of 1 to 512, found 0}}
func.func private @word_stride() attributes {test.a = #blockscale.tmem_scales<word_stride = 0>}

// -----

// expected-error @below {{expected 'shared_bytes' of 0 to 334848, found -1}}
func.func private @shared_bytes() attributes {test.a = #blockscale.kernel<grid = ()[m, n, k, l, sms, c] -> (m, sms), block = 192, shared_bytes = -1>}

// -----

// expected-error @below {{expected 'shared_bytes' of 0 to 101376 on sm_120a, found 232448}}
func.func private @shared_bytes_chip() attributes {blockscale.target = #blockscale.target<sm_120a>, blockscale.kernel = #blockscale.kernel<grid = ()[m, n, k, l, sms, c] -> (m, sms), block = 192, shared_bytes = 232448>}

// -----

// expected-error @below {{expected 'tensor_columns' of 0 to 576, found 1024}}
func.func private @tensor_columns() attributes {test.a = #blockscale.kernel<grid = ()[m, n, k, l, sms, c] -> (m, sms), block = 192, tensor_columns = 1024>}

// -----

// expected-error @below {{expected more than 512 'tensor_columns' in steps of 32, found 560}}
func.func private @tensor_columns_exclusive() attributes {test.a = #blockscale.kernel<grid = ()[m, n, k, l, sms, c] -> (m, sms), block = 192, tensor_columns = 560>}

// -----

// expected-error @below {{expected 'tensor_columns' of 0 to 512 on sm_100a, found 576}}
func.func private @tensor_columns_chip() attributes {blockscale.target = #blockscale.target<sm_100a>, blockscale.kernel = #blockscale.kernel<grid = ()[m, n, k, l, sms, c] -> (m, sms), block = 192, tensor_columns = 576>}

// -----

// expected-error @below {{expected 'shared_bytes' of 0 to 232448 on sm_100a, found 334848}}
func.func private @shared_bytes_standard() attributes {blockscale.target = #blockscale.target<sm_100a>, blockscale.kernel = #blockscale.kernel<grid = ()[m, n, k, l, sms, c] -> (m, sms), block = 192, shared_bytes = 334848>}

// -----

// expected-error @below {{expected 'tensor_columns' that can be allocated, powers of two from 32 on, found 48}}
func.func private @tensor_columns_power() attributes {test.a = #blockscale.kernel<grid = ()[m, n, k, l, sms, c] -> (m, sms), block = 192, tensor_columns = 48>}

// -----

// expected-error @below {{expected 1 to 1024 threads per CTA, found -32}}
func.func private @block_negative() attributes {test.a = #blockscale.kernel<grid = ()[m, n, k, l, sms, c] -> (m, sms), block = -32>}

// -----

// expected-error @below {{expected 1 to 16 CTAs per cluster, found 0}}
func.func private @cluster_zero() attributes {test.a = #blockscale.kernel<grid = ()[m, n, k, l, sms, c] -> (m, sms), block = 192, cluster = 0>}

// -----

// expected-error @below {{expected 'stages' of 1 to 16, found -5}}
func.func private @stages() attributes {test.a = #blockscale.schedule<stages = -5>}

// -----

// expected-error @below {{expected 'scale_stages' of 1 to 16, found 17}}
func.func private @scale_stages() attributes {test.a = #blockscale.schedule<scale_stages = 17>}

// -----

// expected-error @below {{expected 'scale_stages' of 1 to 5, found 6}}
func.func private @more_scale_stages() attributes {test.a = #blockscale.schedule<stages = 5, scale_stages = 6>}

// -----

// expected-error @below {{expected 'stream_k' of 1 to 1024, found 1025}}
func.func private @stream_k() attributes {test.a = #blockscale.schedule<stream_k = 1025>}

// -----

// expected-error @below {{expected 'split_k' of 1 to 64, found 65}}
func.func private @split_k() attributes {test.a = #blockscale.schedule<split_k = 65>}

// -----

// expected-error @below {{expected 'cluster_k' of 1 to 16, found 17}}
func.func private @cluster_k() attributes {test.a = #blockscale.schedule<split_k = 17, cluster_k = 17>}

// -----

// expected-error @below {{expected 'cluster_k' of 1 or of 'split_k', which is 4, found 2}}
func.func private @cluster_of_some_parts() attributes {test.a = #blockscale.schedule<split_k = 4, cluster_k = 2>}

// -----

// expected-error @below {{expected 'cluster_k' of 1 or of 'split_k', which is 1, found 2}}
func.func private @cluster_of_parts() attributes {test.a = #blockscale.schedule<cluster_k = 2>}

// -----

// expected-error @below {{expected 'group_m' of 1 to 65536, found 1073741824}}
func.func private @group_m() attributes {test.a = #blockscale.schedule<group_m = 1073741824>}

// -----

// expected-error @below {{expected 'cta_group' of 1 to 2, found -2}}
func.func private @schedule_cta_group() attributes {test.a = #blockscale.schedule<cta_group = -2>}

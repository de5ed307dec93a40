// Products from test/oracle/numerics/matmul.csv, executed. Each function is one
// case of the table; 'd' and the bounds are the table's exact sums and the sum
// of magnitudes times 64 * 2^-24, the error of 64 additions in f32 (0 where
// every order of additions is exact).

// RUN: blockscale-opt %s --blockscale-to-linalg --canonicalize --cse \
// RUN: | mlir-opt --one-shot-bufferize=bufferize-function-boundaries \
// RUN:   --convert-linalg-to-loops --convert-scf-to-cf \
// RUN:   --expand-strided-metadata --lower-affine --convert-to-llvm \
// RUN:   --reconcile-unrealized-casts \
// RUN: | %mlir-runner -e main -entry-point-result=void \
// RUN:   -shared-libs=%mlir_runner_libs | FileCheck %s

func.func private @printMemrefI32(tensor<*xi32>)

// 1 for each sum that is as close to the table's as it has to be.
func.func @report(%sums: tensor<2x2xf32>, %d: tensor<2x2xf64>,
                  %bound: tensor<2x2xf64>) {
  %init = tensor.empty() : tensor<2x2xi32>
  %close = linalg.generic {
      indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>,
                       affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%sums, %d, %bound : tensor<2x2xf32>, tensor<2x2xf64>, tensor<2x2xf64>)
      outs(%init : tensor<2x2xi32>) {
  ^bb0(%sum: f32, %expected: f64, %limit: f64, %out: i32):
    %wide = arith.extf %sum : f32 to f64
    %error = arith.subf %wide, %expected : f64
    %size = math.absf %error : f64
    %ok = arith.cmpf ole, %size, %limit : f64
    %flag = arith.extui %ok : i1 to i32
    linalg.yield %flag : i32
  } -> tensor<2x2xi32>
  %any = tensor.cast %close : tensor<2x2xi32> to tensor<*xi32>
  call @printMemrefI32(%any) : (tensor<*xi32>) -> ()
  return
}

// mxf8f6f4: e4m3 times e4m3, ue8m0 per 32.
func.func @case_5() {
  %a = arith.constant dense<"0x5F5745BA40119F7EEF38FB09C42EC77720DB4B4AF3716F9E28D7EC349FFA5EE6EB1BD8EF99CB6FB5369748A8DB6DD7980E6C0DF7071557D81C0ED9F6BCA617CBD7A9F3C40C1DB85DDC110FEA6257B4B2F366234B3DDAF8FA48B63BA53C146005309E9D9C97A604BD041B107383239832398D8BAB2ED246B04AF0459B61200D13"> : tensor<2x64xf8E4M3FN>
  %sa = arith.constant dense<"0x87858575"> : tensor<2x2xf8E8M0FNU>
  %b = arith.constant dense<"0x5F5745BA40119F7EEF38FB09C42EC77720DB4B4AF3716F9E28D7EC349FFA5EE6EB1BD8EF99CB6FB5369748A8DB6DD7980E6C0DF7071557D81C0ED9F6BCA617CBC5AD1FAE738800DB88031EA6AA97C1708A7AD0E7D61EE68693031830B02B005F6F3D3D1F32DD6C42F3B364963DAB09D4B2AAF7ECB1A65EB816FC14CD652FEC61"> : tensor<2x64xf8E4M3FN>
  %sb = arith.constant dense<"0x7A82867C"> : tensor<2x2xf8E8M0FNU>
  %d = arith.constant dense<[[89737079.82388306, 251409240.77148438], [-42161.89983347058, 256361303.18834358]]> : tensor<2x2xf64>
  %bound = arith.constant dense<[[342.31979302933905, 7434.287332184613], [0.3975852533391162, 1043.1499221603608]]> : tensor<2x2xf64>
  %qa = blockscale.assemble %a, %sa : tensor<2x64xf8E4M3FN>, tensor<2x2xf8E8M0FNU> to !blockscale.tensor<2x64xf8E4M3FN, "e8m0_t32">
  %qb = blockscale.assemble %b, %sb : tensor<2x64xf8E4M3FN>, tensor<2x2xf8E8M0FNU> to !blockscale.tensor<2x64xf8E4M3FN, "e8m0_t32">
  %y = blockscale.matmul %qa, %qb : !blockscale.tensor<2x64xf8E4M3FN, "e8m0_t32">, !blockscale.tensor<2x64xf8E4M3FN, "e8m0_t32"> -> tensor<2x2xf32>
  call @report(%y, %d, %bound) : (tensor<2x2xf32>, tensor<2x2xf64>, tensor<2x2xf64>) -> ()
  return
}

// mxf8f6f4: e5m2 times e4m3, ue8m0 per 32.
func.func @case_10() {
  %a = arith.constant dense<"0xF0D43F0FA31F04783BBEFB0BE70DE90374808F5F9811A706CDB1A403B87714491894B06DCEF9880692E0E3887910A086A9111760C4F7EEA12050E387F50177DF93E6C6C5068EB35642EB30AE996569391CB0C7DAF14A6D72B38624B5E92E67424255D48043748A02E5141AF68BA989F786E5BC36E9725302C031C9857AF99621"> : tensor<2x64xf8E5M2>
  %sa = arith.constant dense<"0x8379847E"> : tensor<2x2xf8E8M0FNU>
  %b = arith.constant dense<"0xE3B56D7A8DE13446EB66D7DC6ABC5531D33EB8A973FE32504904B5685370A57AE50475D8CD482DC2497E886F164B99B9DF99025BAAFEF6970CC2D58C76E0BD193C4E347A4B3743B49EA146361154E4ED55385EBF0605F2ADFE73B94A6BFBE2E00BE6D78CC64BA70F75CB8E796E0BCCEA6399FC36A7CB12D0EFCEBEF3878D5543"> : tensor<2x64xf8E4M3FN>
  %sb = arith.constant dense<"0x79787C7A"> : tensor<2x2xf8E8M0FNU>
  %d = arith.constant dense<[[1163990.0786980377, -19971642.6645814], [-936570.1004434489, -5041191.128281922]]> : tensor<2x2xf64>
  %bound = arith.constant dense<[[5.126423572479967, 81.46666724873627], [4.467017342897879, 20.013321561246922]]> : tensor<2x2xf64>
  %qa = blockscale.assemble %a, %sa : tensor<2x64xf8E5M2>, tensor<2x2xf8E8M0FNU> to !blockscale.tensor<2x64xf8E5M2, "e8m0_t32">
  %qb = blockscale.assemble %b, %sb : tensor<2x64xf8E4M3FN>, tensor<2x2xf8E8M0FNU> to !blockscale.tensor<2x64xf8E4M3FN, "e8m0_t32">
  %y = blockscale.matmul %qa, %qb : !blockscale.tensor<2x64xf8E5M2, "e8m0_t32">, !blockscale.tensor<2x64xf8E4M3FN, "e8m0_t32"> -> tensor<2x2xf32>
  call @report(%y, %d, %bound) : (tensor<2x2xf32>, tensor<2x2xf64>, tensor<2x2xf64>) -> ()
  return
}

// mxf8f6f4: e4m3 times e2m3, ue8m0 per 32.
func.func @case_22() {
  %a = arith.constant dense<"0x9890D99A22898C280098C970AE2F66574EB1AB8074447D162E3D8388FB4F8C210B72E5FA7C3AB75C948D55BA4A431BE4F47655210D2CD42E5748FC35F855A00958CA89FEB5F88EADB2829BC3775779A599494016C4C912F88D3519519F7CBC8B0221E60189F7B467A803CBCEE395B67464AC9EBFA0118D35CD02F320F0BF04D6"> : tensor<2x64xf8E4M3FN>
  %sa = arith.constant dense<"0x6D8F8D91"> : tensor<2x2xf8E8M0FNU>
  %b = arith.constant dense<"0x390B203E2C152C23373B3C0F070C39071137050E2C383A31193D0A1D362023140C2C091109121D13182E3135120D1E150D3A3F130A0D11243507092F381C0F180025293E183F33020236091E0C3C010D272D15192F0F1A1A3D061F1A37123A0A040A3C3927323321373C3A0D1321253E3E272101032A2F1E213E18361F061410"> : tensor<2x64xf6E2M3FN>
  %sb = arith.constant dense<"0x6F906C91"> : tensor<2x2xf8E8M0FNU>
  %d = arith.constant dense<[[-13914192478208.0, -7090122784768.0], [13106419859905.326, -174544451010401.47]]> : tensor<2x2xf64>
  %bound = arith.constant dense<[[159864928.0, 509921392.0], [326974112.0059768, 1176574208.0009408]]> : tensor<2x2xf64>
  %qa = blockscale.assemble %a, %sa : tensor<2x64xf8E4M3FN>, tensor<2x2xf8E8M0FNU> to !blockscale.tensor<2x64xf8E4M3FN, "e8m0_t32">
  %qb = blockscale.assemble %b, %sb : tensor<2x64xf6E2M3FN>, tensor<2x2xf8E8M0FNU> to !blockscale.tensor<2x64xf6E2M3FN, "e8m0_t32">
  %y = blockscale.matmul %qa, %qb : !blockscale.tensor<2x64xf8E4M3FN, "e8m0_t32">, !blockscale.tensor<2x64xf6E2M3FN, "e8m0_t32"> -> tensor<2x2xf32>
  call @report(%y, %d, %bound) : (tensor<2x2xf32>, tensor<2x2xf64>, tensor<2x2xf64>) -> ()
  return
}

// mxf8f6f4: e3m2 times e2m1, ue8m0 per 32.
func.func @case_27() {
  %a = arith.constant dense<"0x02202A332D1C1C202B35163D0A19390734032F38172C30130E3C0A0126280009010F2312200A3E08291311380C103B320C2F0B1B262B29361C102E2719283A0D0807073D14372D16173B07160B260D1035022D00043936060B1A1C352209361906302B252A0B391310292A180A3323072B31152A353928072E2832301D3B161C"> : tensor<2x64xf6E3M2FN>
  %sa = arith.constant dense<"0x767D7E85"> : tensor<2x2xf8E8M0FNU>
  %b = arith.constant dense<"0x020B0D030F00080C080D0B04000804040D050F04060B0B00080901050002070D04020307010D080D040F02000C070F0A060E0B08050208070B040C0806060102020B0E010A0B040B0A0A0E0401070E0C0C02020D060A08080F020C0E0E0C0F0B0F000A090607000F030B0E0602090A0C0E0E05060406000F08070703060C090A"> : tensor<2x64xf4E2M1FN>
  %sb = arith.constant dense<"0x81808185"> : tensor<2x2xf8E8M0FNU>
  %d = arith.constant dense<[[40.494140625, 1810.173828125], [-828.25, 240304.8125]]> : tensor<2x2xf64>
  %bound = arith.constant dense<[[0.0, 0.0], [0.0, 4.847944021224976]]> : tensor<2x2xf64>
  %qa = blockscale.assemble %a, %sa : tensor<2x64xf6E3M2FN>, tensor<2x2xf8E8M0FNU> to !blockscale.tensor<2x64xf6E3M2FN, "e8m0_t32">
  %qb = blockscale.assemble %b, %sb : tensor<2x64xf4E2M1FN>, tensor<2x2xf8E8M0FNU> to !blockscale.tensor<2x64xf4E2M1FN, "e8m0_t32">
  %y = blockscale.matmul %qa, %qb : !blockscale.tensor<2x64xf6E3M2FN, "e8m0_t32">, !blockscale.tensor<2x64xf4E2M1FN, "e8m0_t32"> -> tensor<2x2xf32>
  call @report(%y, %d, %bound) : (tensor<2x2xf32>, tensor<2x2xf64>, tensor<2x2xf64>) -> ()
  return
}

// mxf8f6f4: e2m1 times e2m1, ue8m0 per 32.
func.func @case_33() {
  %a = arith.constant dense<"0x000A01000A0D070C0A0B09050C0B0A010D0D03090002010A060904030B040C070E090E0704070B070D050E03010107080C0601010C0401030D020A09080C000E0E0B040C020403020804030C07010B0502030D090C070C0F0C070708020A070507010E020D0C01030E00050C0D0603020D0E0605010A020F0E010F07060A0A04"> : tensor<2x64xf4E2M1FN>
  %sa = arith.constant dense<"0x82828488"> : tensor<2x2xf8E8M0FNU>
  %b = arith.constant dense<"0x0F050E070C000C0002030104090B0108050E0D0603060506050F0B0B0F06000B0706040903020309050D0102030F050F0201020F0D060D000306090A080A0503040D030F0F0909070A09090E010D04020B0E04090C070D0D010A030F080F0B0A0B07030F0D030F090D080C0D030A0C0A08070309020B040805060B060D0D0A0E"> : tensor<2x64xf4E2M1FN>
  %sb = arith.constant dense<"0x7A867B84"> : tensor<2x2xf8E8M0FNU>
  %d = arith.constant dense<[[-30206.5, 1982.5], [-3473488.75, -405375.5]]> : tensor<2x2xf64>
  %bound = arith.constant dense<[[0.0, 0.0], [42.125794410705566, 0.0]]> : tensor<2x2xf64>
  %qa = blockscale.assemble %a, %sa : tensor<2x64xf4E2M1FN>, tensor<2x2xf8E8M0FNU> to !blockscale.tensor<2x64xf4E2M1FN, "e8m0_t32">
  %qb = blockscale.assemble %b, %sb : tensor<2x64xf4E2M1FN>, tensor<2x2xf8E8M0FNU> to !blockscale.tensor<2x64xf4E2M1FN, "e8m0_t32">
  %y = blockscale.matmul %qa, %qb : !blockscale.tensor<2x64xf4E2M1FN, "e8m0_t32">, !blockscale.tensor<2x64xf4E2M1FN, "e8m0_t32"> -> tensor<2x2xf32>
  call @report(%y, %d, %bound) : (tensor<2x2xf32>, tensor<2x2xf64>, tensor<2x2xf64>) -> ()
  return
}

// mxf4: e2m1 times e2m1, ue8m0 per 32.
func.func @case_43() {
  %a = arith.constant dense<"0x060D0F030F00080609040C090400060B030A0F050D06040C0705010A0105040C070907010D05060F0E050406030E0E070B0309050F0304000B0504090A080A060F06050C0904020605020B060003050C0A020003070B0B0801000E0601020307080F030603060F070108000807090E040A070A030F0D0600040500050E000E00"> : tensor<2x64xf4E2M1FN>
  %sa = arith.constant dense<"0x8389807C"> : tensor<2x2xf8E8M0FNU>
  %b = arith.constant dense<"0x0C0E0C0D08070A0508040007070701050B090E01050C0B0E05040B0C020E040003040F0E02020E0F020D0A0004070C08010A06030A0507070C00020B05000A0804090E0C0E0C0605030E0C0B0008020002070A0C030B0C0C000008090C0D0F0E07080E010A0F0C0F08070E03050F040E0904080403020E0D080A0E0F0C050B05"> : tensor<2x64xf4E2M1FN>
  %sb = arith.constant dense<"0x78798376"> : tensor<2x2xf8E8M0FNU>
  %d = arith.constant dense<[[-176.0625, 9807.0], [1.09033203125, -968.0166015625]]> : tensor<2x2xf64>
  %bound = arith.constant dense<[[0.0, 0.0], [0.0, 0.0165712283924222]]> : tensor<2x2xf64>
  %qa = blockscale.assemble %a, %sa : tensor<2x64xf4E2M1FN>, tensor<2x2xf8E8M0FNU> to !blockscale.tensor<2x64xf4E2M1FN, "e8m0_t32">
  %qb = blockscale.assemble %b, %sb : tensor<2x64xf4E2M1FN>, tensor<2x2xf8E8M0FNU> to !blockscale.tensor<2x64xf4E2M1FN, "e8m0_t32">
  %y = blockscale.matmul %qa, %qb : !blockscale.tensor<2x64xf4E2M1FN, "e8m0_t32">, !blockscale.tensor<2x64xf4E2M1FN, "e8m0_t32"> -> tensor<2x2xf32>
  call @report(%y, %d, %bound) : (tensor<2x2xf32>, tensor<2x2xf64>, tensor<2x2xf64>) -> ()
  return
}

// mxf4nvf4: e2m1 times e2m1, ue8m0 per 16.
func.func @case_50() {
  %a = arith.constant dense<"0x0D080F060F0706090D060807070107070A0E090204060D0603030F0D020105050908080B040F0901090B0C0C0E03070109010D0B07070E0C060F01030C0C0D05090E06010E09040B020F0C010C000B04060101090E040E06040A060F000A060B0F030D04000B0E000902030B090E0002060C0A06040B0D0C07030D00000C0805"> : tensor<2x64xf4E2M1FN>
  %sa = arith.constant dense<"0x767F797788817F78"> : tensor<2x4xf8E8M0FNU>
  %b = arith.constant dense<"0x0A01050B0A09010D00010401030F090B090E0A09090E0E0D090A01040500060C08090A0E0C0B0506010E040102010C0C0C030802020B05000D05030E0E0D0A050002030008070F0E0B0C05020F0A02050B0303030109080C04020101000A08080B0002060E0E0E0B01050C0800020206050F02050D060A030F010A0D0408020F"> : tensor<2x64xf4E2M1FN>
  %sb = arith.constant dense<"0x777A797E7E827B85"> : tensor<2x4xf8E8M0FNU>
  %d = arith.constant dense<[[-0.13390731811523438, -121.484619140625], [14.9423828125, 3276.609375]]> : tensor<2x2xf64>
  %bound = arith.constant dense<[[0.0, 0.0], [0.0, 0.0]]> : tensor<2x2xf64>
  %qa = blockscale.assemble %a, %sa : tensor<2x64xf4E2M1FN>, tensor<2x4xf8E8M0FNU> to !blockscale.tensor<2x64xf4E2M1FN, "e8m0_t16">
  %qb = blockscale.assemble %b, %sb : tensor<2x64xf4E2M1FN>, tensor<2x4xf8E8M0FNU> to !blockscale.tensor<2x64xf4E2M1FN, "e8m0_t16">
  %y = blockscale.matmul %qa, %qb : !blockscale.tensor<2x64xf4E2M1FN, "e8m0_t16">, !blockscale.tensor<2x64xf4E2M1FN, "e8m0_t16"> -> tensor<2x2xf32>
  call @report(%y, %d, %bound) : (tensor<2x2xf32>, tensor<2x2xf64>, tensor<2x2xf64>) -> ()
  return
}

// mxf4nvf4: e2m1 times e2m1, ue4m3 per 16.
func.func @case_60() {
  %a = arith.constant dense<"0x060D080004090303090F020B0103090D0507070001000A0107050D000C0A080D0904020B07080105030C0C020005080207010902000D08010509040F040A00070A0D0F06000C0909040F0C0A0F0B0F0C09050306070F0E01090E05050F02080A010404080F020D040B0F0A080708010D020F010D030F0A080D0C0A010F0E0B0A"> : tensor<2x64xf4E2M1FN>
  %sa = arith.constant dense<"0x433D1D7B73691073"> : tensor<2x4xf8E4M3FN>
  %b = arith.constant dense<"0x050E060E01070A0909020F0A040108020501080B0A09060B0B0E0E0D0F0F02050400050C0E020601010202050E0800020801060C0D000309050C000F040905070305060D0B0308020F050F0E0A0B0B0A070D01000D0C080E06020B010C000F070206060002010D0B08060A0E0301030F0B01050E0E0E0C02040300050A090A00"> : tensor<2x64xf4E2M1FN>
  %sb = arith.constant dense<"0x1162765314042412"> : tensor<2x4xf8E4M3FN>
  %d = arith.constant dense<[[319543.9851074219, -222.32275390625], [-66163.8125, -168.45068359375]]> : tensor<2x2xf64>
  %bound = arith.constant dense<[[1.3670421624556184, 0.0], [1.7200945615768433, 0.0]]> : tensor<2x2xf64>
  %qa = blockscale.assemble %a, %sa : tensor<2x64xf4E2M1FN>, tensor<2x4xf8E4M3FN> to !blockscale.tensor<2x64xf4E2M1FN, "e4m3fn_t16">
  %qb = blockscale.assemble %b, %sb : tensor<2x64xf4E2M1FN>, tensor<2x4xf8E4M3FN> to !blockscale.tensor<2x64xf4E2M1FN, "e4m3fn_t16">
  %y = blockscale.matmul %qa, %qb : !blockscale.tensor<2x64xf4E2M1FN, "e4m3fn_t16">, !blockscale.tensor<2x64xf4E2M1FN, "e4m3fn_t16"> -> tensor<2x2xf32>
  call @report(%y, %d, %bound) : (tensor<2x2xf32>, tensor<2x2xf64>, tensor<2x2xf64>) -> ()
  return
}

func.func @main() {
  call @case_5() : () -> ()
  call @case_10() : () -> ()
  call @case_22() : () -> ()
  call @case_27() : () -> ()
  call @case_33() : () -> ()
  call @case_43() : () -> ()
  call @case_50() : () -> ()
  call @case_60() : () -> ()
  return
}

// CHECK-COUNT-8: {{\[\[1,   1\],[[:space:]]+\[1,   1\]\]}}
// CHECK-NOT: Unranked

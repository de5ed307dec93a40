// RUN: blockscale-opt %s | FileCheck %s
// RUN: blockscale-opt %s | blockscale-opt | FileCheck %s
// RUN: blockscale-opt %s -canonicalize -cse | FileCheck %s

!inbox = !blockscale.shared<4x4x128x4xf32, container = 32>

// CHECK-LABEL: func.func @exchange
func.func @exchange(%sums: vector<16xf32>, %part: i32, %column: i32, %row: i32, %rank: i32) -> vector<16xf32> {
  %inbox = blockscale.shared_alloc : !inbox
  %full = blockscale.barrier_alloc arrivals(1) : !blockscale.barrier<1>
  %empty = blockscale.barrier_alloc arrivals(16) : !blockscale.barrier<1>
  // CHECK: blockscale.send_sums %{{.*}} to %[[INBOX:.*]][%{{.*}}, %{{.*}}, %{{.*}}] of %{{.*}} signal %{{.*}} : vector<16xf32> to <4x4x128x4xf32, container = 32>, <1>
  blockscale.send_sums %sums to %inbox[%part, %column, %row] of %rank signal %full : vector<16xf32> to !inbox, !blockscale.barrier<1>
  // CHECK: blockscale.receive_sums %[[INBOX]][%{{.*}}, %{{.*}}, %{{.*}}] : <4x4x128x4xf32, container = 32> -> vector<16xf32>
  %0 = blockscale.receive_sums %inbox[%part, %column, %row] : !inbox -> vector<16xf32>
  // CHECK: blockscale.release_sums %{{.*}} of %{{.*}} count 4 step 2 : <1>
  blockscale.release_sums %empty of %rank count 4 step 2 : !blockscale.barrier<1>
  return %0 : vector<16xf32>
}

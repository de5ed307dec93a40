// Sums that would not lie where they are looked for.

// RUN: blockscale-opt %s -split-input-file -verify-diagnostics

!inbox = !blockscale.shared<4x4x128x2xf32, container = 32>
func.func @fours(%part: i32) -> vector<16xf32> {
  %inbox = blockscale.shared_alloc : !inbox
  // expected-error @below {{expected blocks of columns in fours, of 32 bits and without swizzle, found '!blockscale.shared<4x4x128x2xf32, container = 32>'}}
  %0 = blockscale.receive_sums %inbox[%part, %part, %part] : !inbox -> vector<16xf32>
  return %0 : vector<16xf32>
}

// -----

!inbox = !blockscale.shared<4x4x128x4xf32, container = 32>
func.func @columns(%part: i32) -> vector<32xf32> {
  %inbox = blockscale.shared_alloc : !inbox
  // expected-error @below {{expected fours of columns of '!blockscale.shared<4x4x128x4xf32, container = 32>', found 'vector<32xf32>'}}
  %0 = blockscale.receive_sums %inbox[%part, %part, %part] : !inbox -> vector<32xf32>
  return %0 : vector<32xf32>
}

// -----

!inbox = !blockscale.shared<4x4x128x4xf32, container = 32>
func.func @element(%sums: vector<16xi32>, %part: i32) {
  %inbox = blockscale.shared_alloc : !inbox
  %full = blockscale.barrier_alloc arrivals(1) : !blockscale.barrier<1>
  // expected-error @below {{expected fours of columns of '!blockscale.shared<4x4x128x4xf32, container = 32>', found 'vector<16xi32>'}}
  blockscale.send_sums %sums to %inbox[%part, %part, %part] of %part signal %full : vector<16xi32> to !inbox, !blockscale.barrier<1>
  return
}

// -----

!inbox = !blockscale.shared<4x4x128x4xf32, container = 32>
func.func @remote(%sums: vector<16xf32>, %part: i32) {
  %inbox = blockscale.shared_alloc : !inbox
  %full = blockscale.barrier_alloc arrivals(1) : !blockscale.barrier<1>
  %other = blockscale.remote_barrier %full of %part : !blockscale.barrier<1>
  // expected-error @below {{expected the executing CTA's barriers, which name those of 'rank'}}
  blockscale.send_sums %sums to %inbox[%part, %part, %part] of %part signal %other : vector<16xf32> to !inbox, !blockscale.barrier<1, remote = true>
  return
}

// -----

func.func @released_remote(%rank: i32) {
  %empty = blockscale.barrier_alloc arrivals(1) : !blockscale.barrier<1>
  %other = blockscale.remote_barrier %empty of %rank : !blockscale.barrier<1>
  // expected-error @below {{expected the executing CTA's barriers, which name those of other CTAs}}
  blockscale.release_sums %other of %rank count 4 step 1 : !blockscale.barrier<1, remote = true>
  return
}

// -----

func.func @ranks(%rank: i32) {
  %empty = blockscale.barrier_alloc arrivals(1) : !blockscale.barrier<1>
  // expected-error @below {{expected ranks below 16, found 12 in steps of 2}}
  blockscale.release_sums %empty of %rank count 12 step 2 : !blockscale.barrier<1>
  return
}

// Waits at what another CTA has, and answers of launch control of another size.

// RUN: blockscale-opt %s -split-input-file -verify-diagnostics

func.func @remote_wait(%led: !blockscale.barrier<4, remote = true>, %i: i32) {
  // expected-error @below {{expected a barrier of the executing CTA; at a remote one threads can only arrive, and loads be counted}}
  blockscale.wait %led[%i] parity %i : !blockscale.barrier<4, remote = true>
  return
}

// -----

func.func @remote_expect(%led: !blockscale.barrier<4, remote = true>, %i: i32) {
  // expected-error @below {{expected a barrier of the executing CTA}}
  blockscale.arrive_expect %led[%i] bytes(16) : !blockscale.barrier<4, remote = true>
  return
}

// -----

func.func @remote_commit(%led: !blockscale.barrier<4, remote = true>, %i: i32) {
  // expected-error @below {{expected a barrier of the executing CTA}}
  blockscale.commit %led[%i] : !blockscale.barrier<4, remote = true>
  return
}

// -----

func.func @remote_response(%r: !blockscale.shared<2x16xi8, container = 8>, %led: !blockscale.barrier<2, remote = true>, %i: i32) {
  // expected-error @below {{expected a barrier of the executing CTA}}
  blockscale.try_cancel %r[%i] signal %led : !blockscale.shared<2x16xi8, container = 8>, !blockscale.barrier<2, remote = true>
  return
}

// -----

func.func @response_bytes(%r: !blockscale.shared<2x8xi8, container = 8>, %full: !blockscale.barrier<2>, %i: i32) {
  // expected-error @below {{expected responses of 16 bytes, found 8}}
  blockscale.try_cancel %r[%i] signal %full : !blockscale.shared<2x8xi8, container = 8>, !blockscale.barrier<2>
  return
}

// -----

func.func @query_bytes(%r: !blockscale.shared<2x32xi8, container = 8>, %i: i32) {
  // expected-error @below {{expected responses of 16 bytes, found 32}}
  %cta, %found = blockscale.query_cancel %r[%i] : !blockscale.shared<2x32xi8, container = 8>
  return
}

/*===- Support.h - status codes, handles, bytes -*- C -*-===*\
|*
|* Part of the blockscale project, under the Apache License v2.0 with LLVM
|* Exceptions.
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
\*===----------------------------------------------------------------------===*/

/*
 * The C interface of libBlockscale.
 *
 * A function returns a status and writes what it makes through its last
 * argument, which stays as it was unless the status is BLOCKSCALE_OK.
 * blockscaleLastError() says in words what was wrong. Nothing is printed, no
 * signal is sent, and no C++ exception leaves the library.
 *
 * A handle is a number that is given out once. A handle that was destroyed,
 * was never made or is of another kind is found out and is an error, and so
 * is null ({0}), which no function makes.
 *
 * Different handles may be used by different threads at a time. Of one session
 * with its modules, of one launch, and of one program, only one call may be
 * under way: another one gets BLOCKSCALE_BUSY and changes nothing, also if it
 * comes from a callback of the call that is under way.
 */

#ifndef BLOCKSCALE_C_SUPPORT_H
#define BLOCKSCALE_C_SUPPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define BLOCKSCALE_C_EXPORT
#else
#define BLOCKSCALE_C_EXPORT __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What programs were built against. Functions and fields are only added while
   the first number stays; each addition raises the second. */
#define BLOCKSCALE_C_API_MAJOR 0
#define BLOCKSCALE_C_API_MINOR 4

typedef enum BlockscaleStatus {
  BLOCKSCALE_OK = 0,
  /* An argument that no input can make right: a null pointer, an enumerator or
     a number that does not exist, a size that does not fit. */
  BLOCKSCALE_INVALID_ARGUMENT = 1,
  /* A handle that was destroyed, was never made, or is of another kind. */
  BLOCKSCALE_INVALID_HANDLE = 2,
  /* The session or launch is in use by another call. */
  BLOCKSCALE_BUSY = 3,
  /* The input is wrong: IR, PTX, a plan, sizes, a question. */
  BLOCKSCALE_REFUSED = 4,
  /* A callback threw a C++ exception. */
  BLOCKSCALE_CALLBACK_FAILED = 5,
  BLOCKSCALE_OUT_OF_MEMORY = 6,
  /* A mistake of ours. The session that was in use can only be destroyed. */
  BLOCKSCALE_INTERNAL = 7,
  /* A stop that was given to the call was asked for before it ended. */
  BLOCKSCALE_STOPPED = 8
} BlockscaleStatus;

/* "ok", "invalid argument", ...; "unknown status" for other numbers. */
BLOCKSCALE_C_EXPORT const char *blockscaleStatusName(BlockscaleStatus status);

/* What was wrong with the last call of this thread that did not return
   BLOCKSCALE_OK; empty after one that did. Valid until the thread's next call
   of a function that returns a status. */
BLOCKSCALE_C_EXPORT const char *blockscaleLastError(void);

/* "0.1.0". */
BLOCKSCALE_C_EXPORT const char *blockscaleVersion(void);

/* The numbers above, of the library that is loaded. */
BLOCKSCALE_C_EXPORT void blockscaleApiVersion(uint32_t *major, uint32_t *minor);

/* Bytes of somebody else's; not ended by a zero. */
typedef struct BlockscaleSlice {
  const char *data;
  size_t size;
} BlockscaleSlice;

typedef struct BlockscaleSession {
  uint64_t id;
} BlockscaleSession;
typedef struct BlockscaleModule {
  uint64_t id;
} BlockscaleModule;
typedef struct BlockscaleCompilation {
  uint64_t id;
} BlockscaleCompilation;
typedef struct BlockscaleVerification {
  uint64_t id;
} BlockscaleVerification;
typedef struct BlockscaleProgram {
  uint64_t id;
} BlockscaleProgram;
typedef struct BlockscaleCall {
  uint64_t id;
} BlockscaleCall;
typedef struct BlockscaleLaunch {
  uint64_t id;
} BlockscaleLaunch;
typedef struct BlockscaleRun {
  uint64_t id;
} BlockscaleRun;

/* Ends long calls early. */
typedef struct BlockscaleStop {
  uint64_t id;
} BlockscaleStop;

/* A stop for the options of calls that take one. When any thread asks for it,
   these calls end within milliseconds or so with BLOCKSCALE_STOPPED, and those
   that begin later at once. Destroying it leaves calls that have it alone. */
BLOCKSCALE_C_EXPORT BlockscaleStatus blockscaleStopCreate(BlockscaleStop *stop);
BLOCKSCALE_C_EXPORT BlockscaleStatus blockscaleStopAsk(BlockscaleStop stop);
BLOCKSCALE_C_EXPORT BlockscaleStatus blockscaleStopDestroy(BlockscaleStop stop);

/* How far a long call is: `done` of `total` steps of one size. Called on
   threads of the library, one at a time, with the objects of the call in use.
   If it throws a C++ exception it is not called again, and the call returns
   BLOCKSCALE_CALLBACK_FAILED at its end. */
typedef void (*BlockscaleProgressCallback)(uint64_t done, uint64_t total,
                                           void *userData);

/* What a long call is about to do: "gemm, inputs", in "rows". Called before the
   progress of this step, which counts from 0; both slices are borrowed until it
   returns. For the rest like BlockscaleProgressCallback. */
typedef void (*BlockscaleStepCallback)(BlockscaleSlice step,
                                       BlockscaleSlice unit, void *userData);

/* Bytes that a function made: text without a zero at its end, or binary. */
typedef struct BlockscaleBytes {
  uint64_t id;
} BlockscaleBytes;

/* Borrowed until `bytes` is destroyed. */
BLOCKSCALE_C_EXPORT BlockscaleStatus blockscaleBytesGet(BlockscaleBytes bytes,
                                                        BlockscaleSlice *slice);
BLOCKSCALE_C_EXPORT BlockscaleStatus
blockscaleBytesDestroy(BlockscaleBytes bytes);

#ifdef __cplusplus
}
#endif

#endif /* BLOCKSCALE_C_SUPPORT_H */

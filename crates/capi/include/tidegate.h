// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Tidegate for programs in C: block exports with response-time contracts, without a server.
//
//   tidegate_open("recorder.serve.toml", 0, &engine);      proved, or refused
//   tidegate_export_find(engine, "camera", &camera);
//   tidegate_submit_write(camera, frame, size, offset, TIDEGATE_DURABLE, &pending);
//   tidegate_await(pending, NULL, 0, &answer);              answer.response_ns
//   tidegate_ask(engine, "{\"do\":\"status\"}", &text);       also admit and remove
//   tidegate_close(engine);
//
// Calls that return an int32_t return 0, or a negative errno; then tidegate_error() says why in
// words. All of them may be used by several threads at once but where they say otherwise.
// examples/recorder.c is a whole program. Made by a test from the library's comments.

#ifndef TIDEGATE_H
#define TIDEGATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Serve what is not proved too, as best effort.
#define TIDEGATE_FORCE 1

// Its client missed a deadline.
#define TIDEGATE_DEADLINE_MISSED 1

// Its stream came to its end.
#define TIDEGATE_STREAM_ENDED 2

// On the medium before it is answered.
#define TIDEGATE_DURABLE 1

// A store with its exports at work. May be used by several threads at once.
struct tidegate_engine;

// A client's access to one export. May be used by several threads at once.
struct tidegate_export;

// What was submitted and not awaited.
struct tidegate_pending;

// What was agreed about an export.
struct tidegate_export_facts {
  // How much it holds.
  uint64_t size_bytes;
  // Every offset and length is a multiple of this.
  uint64_t alignment_bytes;
  // The largest request that is not cut; each part of a larger one counts as one.
  uint64_t request_bytes_max;
  // Requests in each period that the contract allows; 0: best effort.
  uint64_t requests;
  // The contract's period; 0: best effort.
  uint64_t period_ns;
  // Its deadline, from when the contract allows a request; 0: best effort.
  uint64_t deadline_ns;
  // What was proved: the longest response, from when the contract allows a request; 0: nothing.
  uint64_t bound_ns;
  // Whether it is only read.
  bool is_read_only;
};

// How a call was served.
struct tidegate_answer {
  // From when the contract allowed it, without one from arrival, to the answer; what a bound
  // speaks of.
  uint64_t response_ns;
  // Whether the contract allowed all of it when it came.
  bool is_within_contract;
};

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Reads a serve file (as `tidegate serve` does), proves what it promises, and begins to serve it
// to this program. Keys about sockets are not used. `flags`: 0 or TIDEGATE_FORCE.
//
// -EINVAL where the file is faulty or does not prove what it promises; -ENOENT, -EACCES or another
// error of the system where it cannot be read; -EIO where the store cannot be used.
//
// Safety: `file` is a string, `engine` a place for the answer.
int32_t tidegate_open(const char *file, uint32_t flags, struct tidegate_engine **engine);

// Answers everything that was asked, then ends. Exports that were found stay valid until they are
// freed, and answer -ESHUTDOWN. NULL is nothing.
//
// Safety: An engine that was opened and not closed, used by no other thread any more; or NULL.
int32_t tidegate_close(struct tidegate_engine *engine);

// Asks what the control socket of a server answers: one JSON object there, one back, with
// "status", "statistics", "check", "admit", "remove", "missed" and "ended" as docs/reference/control-socket.md has
// them; "stop" is refused: that is `tidegate_close`.
// The answer says in "ok" whether it was done; free it with `tidegate_free_text`.
// Where the call fails, it is NULL.
//
// Safety: `request` is a string, `answer` a place for the answer.
int32_t tidegate_ask(const struct tidegate_engine *engine, const char *request, char **answer);

// The export of that name; free it with `tidegate_export_free`. -ENOENT where there is none.
//
// Safety: `name` is a string, `found` a place for the answer.
int32_t tidegate_export_find(const struct tidegate_engine *engine,
                             const char *name,
                             struct tidegate_export **found);

// Frees what `tidegate_export_find` gave. NULL is nothing.
//
// Safety: An export that was found and not freed, used by no other thread any more; or NULL.
void tidegate_export_free(struct tidegate_export *export_);

// What was agreed about it when it was found.
//
// Safety: `facts` is a place for the answer.
int32_t tidegate_export_describe(const struct tidegate_export *export_,
                                 struct tidegate_export_facts *facts);

// Says something about the service that the export got: TIDEGATE_DEADLINE_MISSED or
// TIDEGATE_STREAM_ENDED. Only policies that notices steer act on it.
//
// Safety: `export` was found and not freed.
int32_t tidegate_notice(const struct tidegate_export *export_, uint32_t notice);

// Why the last call of this thread that failed did, in words. Valid until the next call of
// this thread fails; empty if none did.
const char *tidegate_error(void);

// The version of the library, such as "0.1.0".
const char *tidegate_version(void);

// Frees a text that this library gave out. NULL is nothing.
//
// Safety: A text of `tidegate_ask` that was not freed, or NULL.
void tidegate_free_text(char *text);

// Fills `data` with `length` bytes from `offset` on, and waits for them.
//
// Safety: `data` holds `length` bytes.
int32_t tidegate_read(const struct tidegate_export *export_,
                      void *data,
                      size_t length,
                      uint64_t offset);

// Writes `length` bytes from `offset` on, and waits until they are written. `flags`: 0 or
// TIDEGATE_DURABLE.
//
// Safety: `bytes` holds `length` bytes.
int32_t tidegate_write(const struct tidegate_export *export_,
                       const void *bytes,
                       size_t length,
                       uint64_t offset,
                       uint32_t flags);

// Writes `length` zeroes from `offset` on, at the cost of any other write. `flags`: 0 or
// TIDEGATE_DURABLE.
//
// Safety: `export` was found and not freed.
int32_t tidegate_zero(const struct tidegate_export *export_,
                      size_t length,
                      uint64_t offset,
                      uint32_t flags);

// Makes everything durable that was answered before, of any export, and waits for it.
//
// Safety: `export` was found and not freed.
int32_t tidegate_flush(const struct tidegate_export *export_);

// Begins to read `length` bytes from `offset` on: `tidegate_await` fills in the data.
//
// Safety: `pending` is a place for the answer.
int32_t tidegate_submit_read(const struct tidegate_export *export_,
                             size_t length,
                             uint64_t offset,
                             struct tidegate_pending **pending);

// Begins to write `length` bytes from `offset` on. They are copied: the memory may be used again
// as soon as this returns. `flags`: 0 or TIDEGATE_DURABLE.
//
// Safety: `bytes` holds `length` bytes, `pending` is a place for the answer.
int32_t tidegate_submit_write(const struct tidegate_export *export_,
                              const void *bytes,
                              size_t length,
                              uint64_t offset,
                              uint32_t flags,
                              struct tidegate_pending **pending);

// Begins to make everything durable that was answered before, of any export.
//
// Safety: `pending` is a place for the answer.
int32_t tidegate_submit_flush(const struct tidegate_export *export_,
                              struct tidegate_pending **pending);

// 1: `tidegate_await` returns at once; 0: it would block.
//
// Safety: `pending` was submitted and not awaited.
int32_t tidegate_is_answered(const struct tidegate_pending *pending);

// Blocks until it is answered, and frees it, whatever comes of it. A read fills `data`, which
// holds the `length` bytes that were asked for; for others both are NULL and 0. `answer` may be
// NULL.
//
// Safety: `pending` was submitted and not awaited; `data` holds `length` bytes.
int32_t tidegate_await(struct tidegate_pending *pending,
                       void *data,
                       size_t length,
                       struct tidegate_answer *answer);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* TIDEGATE_H */

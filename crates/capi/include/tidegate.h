// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// Tidegate for C programs: block exports with response-time contracts, without a server.
//
//   tidegate_open("recorder.serve.toml", 0, &engine);      proves the contracts, or fails
//   tidegate_export_find(engine, "camera", &camera);
//   tidegate_submit_write(camera, frame, size, offset, TIDEGATE_DURABLE, &pending);
//   tidegate_await(pending, NULL, 0, &answer);              answer.response_ns
//   tidegate_ask(engine, "{\"do\":\"status\"}", &text);       also admit and remove
//   tidegate_close(engine);
//
// Calls that return int32_t return 0 on success and a negative errno on failure; tidegate_error()
// then describes the failure. Several threads may call any function at once, except where its
// comment says otherwise. examples/recorder.c is a complete program. A test generates this file
// from the library's comments.

#ifndef TIDEGATE_H
#define TIDEGATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Also serve exports whose contract is not proved, as best effort.
#define TIDEGATE_FORCE 1

// The export's client missed a deadline.
#define TIDEGATE_DEADLINE_MISSED 1

// The export's stream ended.
#define TIDEGATE_STREAM_ENDED 2

// The write is on the medium before the call completes.
#define TIDEGATE_DURABLE 1

// A store and its exports in service. Several threads may use it at once.
struct tidegate_engine;

// A client's access to one export. Several threads may use it at once.
struct tidegate_export;

// A request that was submitted and not awaited.
struct tidegate_pending;

// The size, alignment and contract of an export.
struct tidegate_export_facts {
  // The export's size in bytes.
  uint64_t size_bytes;
  // Every offset and length must be a multiple of this number of bytes.
  uint64_t alignment_bytes;
  // The largest request, in bytes, that is not split; each part of a larger one counts as a
  // request.
  uint64_t request_bytes_max;
  // Requests that the contract allows per period; 0: best effort.
  uint64_t requests;
  // The contract's period in nanoseconds; 0: best effort.
  uint64_t period_ns;
  // The contract's deadline in nanoseconds, from the time when the contract allows the request;
  // 0: best effort.
  uint64_t deadline_ns;
  // The proved bound on the response time in nanoseconds, from the time when the contract allows
  // the request; 0: no bound is proved.
  uint64_t bound_ns;
  // Whether the export is read-only.
  bool is_read_only;
};

// The response time of a completed call, and whether the contract covers it.
struct tidegate_answer {
  // The response time in nanoseconds: from the time when the contract allowed the request
  // (without a contract: from its arrival) to its completion. The proved bound limits this
  // value.
  uint64_t response_ns;
  // Whether the contract allowed the whole request when it arrived.
  bool is_within_contract;
};

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Reads a serve file (as `tidegate serve` does), proves its contracts, and starts to serve its
// exports to this program. Keys about sockets are ignored. `flags`: 0 or TIDEGATE_FORCE.
//
// Returns -EINVAL if the file is faulty or a contract is not proved; -ENOENT, -EACCES or another
// system error if the file cannot be read; -EIO if the store cannot be used.
//
// Safety: `file` is a string; `engine` points to a variable for the result.
int32_t tidegate_open(const char *file, uint32_t flags, struct tidegate_engine **engine);

// Completes all submitted requests, then ends the engine. Exports that were found stay valid until
// they are freed; their calls return -ESHUTDOWN. NULL is ignored.
//
// Safety: `engine` was opened and not closed, and no other thread uses it any more; or it is NULL.
int32_t tidegate_close(struct tidegate_engine *engine);

// Sends one JSON object, a request of a server's control socket, and gives the reply, also a JSON
// object. The requests are "status", "statistics", "distributions", "check", "admit", "remove",
// "missed" and "ended" (docs/reference/control-socket.md); "stop" is refused: use
// `tidegate_close`. The reply's "ok" says whether the request succeeded; free the reply with
// `tidegate_free_text`. If the call fails, `answer` is set to NULL.
//
// Safety: `request` is a string; `answer` points to a variable for the result.
int32_t tidegate_ask(const struct tidegate_engine *engine, const char *request, char **answer);

// Finds the export of that name; free it with `tidegate_export_free`. Returns -ENOENT if there is
// none.
//
// Safety: `name` is a string; `found` points to a variable for the result.
int32_t tidegate_export_find(const struct tidegate_engine *engine,
                             const char *name,
                             struct tidegate_export **found);

// Frees an export that `tidegate_export_find` returned. NULL is ignored.
//
// Safety: `export` was found and not freed, and no other thread uses it any more; or it is NULL.
void tidegate_export_free(struct tidegate_export *export_);

// Gives the export's size, alignment and contract as they were when the export was found.
//
// Safety: `facts` points to a variable for the result.
int32_t tidegate_export_describe(const struct tidegate_export *export_,
                                 struct tidegate_export_facts *facts);

// Tells the service how the export's client is served: TIDEGATE_DEADLINE_MISSED or
// TIDEGATE_STREAM_ENDED. Only policies that react to notices use it, and only for exports with
// `soft = true` in the serve file.
//
// Safety: `export` was found and not freed.
int32_t tidegate_notice(const struct tidegate_export *export_, uint32_t notice);

// Describes why this thread's last failed call failed. The text is valid until another call of
// this thread fails; it is empty if none has failed.
const char *tidegate_error(void);

// Returns the library's version, such as "0.1.0".
const char *tidegate_version(void);

// Frees a text that this library gave out. NULL is ignored.
//
// Safety: `text` is from `tidegate_ask` and was not freed, or it is NULL.
void tidegate_free_text(char *text);

// Reads `length` bytes from `offset` on into `data`; blocks until the read is complete.
//
// Safety: `data` has room for `length` bytes.
int32_t tidegate_read(const struct tidegate_export *export_,
                      void *data,
                      size_t length,
                      uint64_t offset);

// Writes `length` bytes from `offset` on; blocks until the write is complete. `flags`: 0 or
// TIDEGATE_DURABLE.
//
// Safety: `bytes` holds `length` bytes.
int32_t tidegate_write(const struct tidegate_export *export_,
                       const void *bytes,
                       size_t length,
                       uint64_t offset,
                       uint32_t flags);

// Writes `length` zeroes from `offset` on, at the cost of any other write; blocks until the write
// is complete. `flags`: 0 or TIDEGATE_DURABLE.
//
// Safety: `export` was found and not freed.
int32_t tidegate_zero(const struct tidegate_export *export_,
                      size_t length,
                      uint64_t offset,
                      uint32_t flags);

// Makes durable all writes of all exports that completed before this call; blocks until they are
// durable.
//
// Safety: `export` was found and not freed.
int32_t tidegate_flush(const struct tidegate_export *export_);

// Submits a read of `length` bytes from `offset` on; `tidegate_await` delivers the data.
//
// Safety: `pending` points to a variable for the result.
int32_t tidegate_submit_read(const struct tidegate_export *export_,
                             size_t length,
                             uint64_t offset,
                             struct tidegate_pending **pending);

// Submits a write of `length` bytes from `offset` on. The bytes are copied, so the caller may
// reuse the memory as soon as this function returns. `flags`: 0 or TIDEGATE_DURABLE.
//
// Safety: `bytes` holds `length` bytes; `pending` points to a variable for the result.
int32_t tidegate_submit_write(const struct tidegate_export *export_,
                              const void *bytes,
                              size_t length,
                              uint64_t offset,
                              uint32_t flags,
                              struct tidegate_pending **pending);

// Submits a flush, which makes durable all writes of all exports that completed before this call.
//
// Safety: `pending` points to a variable for the result.
int32_t tidegate_submit_flush(const struct tidegate_export *export_,
                              struct tidegate_pending **pending);

// Returns 1 if `tidegate_await` would return immediately, 0 if it would block.
//
// Safety: `pending` was submitted and not awaited.
int32_t tidegate_is_answered(const struct tidegate_pending *pending);

// Blocks until the request is complete, then frees `pending`, also on failure. A read copies its
// data to `data`; `length` must be the submitted length. For other requests, pass NULL and 0.
// `answer` may be NULL.
//
// Safety: `pending` was submitted and not awaited; `data` has room for `length` bytes.
int32_t tidegate_await(struct tidegate_pending *pending,
                       void *data,
                       size_t length,
                       struct tidegate_answer *answer);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* TIDEGATE_H */

#include "mpi/p2p/buffered.h"

#include "mpi/datatype/named.h"
#include "mpi/object/comm_error.h"
#include "mpi/p2p/outgoing.h"
#include "mpi_abi/functions.h"
#include "os/native.h"

#include <string.h>

struct buffered {
  struct buffered *next;
  const void *owner;
  bool session; /* the owner is no communicator, and not the rank */
  void *address;
  MPI_Count size; /* bytes */
};

/* As large as need be. */
static bool is_automatic(const void *address) {
#if defined MPI_BUFFER_AUTOMATIC
  return address == MPI_BUFFER_AUTOMATIC;
#else
  (void)address;
  return false;
#endif
}

static struct buffered **find(const void *owner) {
  struct buffered **link = &rank_me()->buffered;
  while (*link && (*link)->owner != owner) {
    link = &(*link)->next;
  }
  return link;
}

static bool fits(const struct buffered *b, MPI_Count bytes) {
  return is_automatic(b->address) || bytes <= b->size;
}

static bool fits_session(MPI_Count bytes) {
  const struct buffered *b = rank_me()->buffered;
  while (b && !(b->session && fits(b, bytes))) {
    b = b->next;
  }
  return b != NULL;
}

int buffered_check(const struct comm *comm, MPI_Count count,
                   MPI_Datatype type) {
  const MPI_Count bytes = count * (MPI_Count)named_layout_of(type)->size;
  const struct buffered *b = *find(comm);
  b = b ? b : *find(NULL);
  return (b ? fits(b, bytes) : fits_session(bytes)) ? MPI_SUCCESS
                                                    : MPI_ERR_BUFFER;
}

int buffered_attach(const void *owner, void *address, MPI_Count size) {
  if (!is_automatic(address) && (!address || size < 0)) {
    return MPI_ERR_ARG;
  }
  struct buffered **link = find(owner);
  if (*link) {
    return MPI_ERR_BUFFER;
  }
  struct buffered *b = native_alloc(sizeof(*b));
  if (!b) {
    return MPI_ERR_NO_MEM;
  }
  *b = (struct buffered){
      .owner = owner,
      .session = owner && !handle_is(owner, HANDLE_COMM),
      .address = address,
      .size = is_automatic(address) ? 0 : size,
  };
  *link = b;
  return MPI_SUCCESS;
}

int buffered_detach(const void *owner, void *address, MPI_Count *size) {
  if (!address || !size) {
    return MPI_ERR_ARG;
  }
  struct buffered **link = find(owner), *b = *link;
  if (!b) {
    return MPI_ERR_BUFFER;
  }
  memcpy(address, &b->address, sizeof(b->address));
  *size = b->size;
  *link = b->next;
  native_free(b);
  return MPI_SUCCESS;
}

void buffered_forget(const void *owner) {
  struct buffered **link = find(owner), *b = *link;
  if (b) {
    *link = b->next;
    native_free(b);
  }
}

/* --- checkpoints --- */

/* As a file has it. */
struct saved {
  uint64_t comm; /* id of its team, or 0: the rank's */
  uint64_t address;
  int64_t size;
};

int buffered_count(const struct rank *rank) {
  int n = 0;
  for (const struct buffered *b = rank->buffered; b; b = b->next) {
    if (b->session) {
      return -1;
    }
    n++;
  }
  return n;
}

void buffered_save(const struct rank *rank, struct checkpoint_writer *to) {
  for (const struct buffered *b = rank->buffered; b; b = b->next) {
    const struct comm *const comm = b->owner;
    const struct saved s = {comm ? comm->team->id : 0, (uintptr_t)b->address,
                            b->size};
    checkpoint_write(to, &s, sizeof(s));
  }
}

void buffered_load(struct checkpoint_reader *from, uint32_t n) {
  for (uint32_t i = 0; i < n && !from->code; i++) {
    struct saved s;
    checkpoint_read(from, &s, sizeof(s));
    const struct comm *const owner =
        s.comm ? comm_with(rank_me(), s.comm) : NULL;
    if (!from->code &&
        ((s.comm && !owner) ||
         buffered_attach(owner, (void *)s.address, s.size) != MPI_SUCCESS)) {
      checkpoint_read_strange(from, "a buffer of a communicator that it lacks");
    }
  }
}

static int detach_int(const void *owner, void *address, int *size) {
  MPI_Count large = 0;
  const int code = buffered_detach(owner, address, size ? &large : NULL);
  if (!code) {
    *size = (int)large;
  }
  return code;
}

int pems_Buffer_attach(void *address, MPI_Count size) {
  return comm_error(MPI_COMM_WORLD, buffered_attach(NULL, address, size),
                    "MPI_Buffer_attach");
}

int pems_Buffer_detach(void *address, int *size) {
  return comm_error(MPI_COMM_WORLD, detach_int(NULL, address, size),
                    "MPI_Buffer_detach");
}

#if defined PEMS_MPI_HAS_Buffer_detach_c
int pems_Buffer_detach_c(void *address, MPI_Count *size) {
  return comm_error(MPI_COMM_WORLD, buffered_detach(NULL, address, size),
                    "MPI_Buffer_detach_c");
}
#endif

/* What is sent has left the buffer already: it was never there. */
int buffered_flush(void) {
  return MPI_SUCCESS;
}

static const struct request_class flushes = {.name = "flush of a buffer",
                                             .past = true};

int buffered_iflush(MPI_Request *request, const char *function) {
  if (!request) {
    return MPI_ERR_REQUEST;
  }
  struct request *r =
      request_new(sizeof(*r), &flushes, rank_me()->world, function);
  if (r) {
    request_done_now(r);
  }
  return request_give(r, request);
}

#if defined PEMS_MPI_HAS_Buffer_flush
int pems_Buffer_flush(void) {
  return buffered_flush();
}

int pems_Buffer_iflush(MPI_Request *request) {
  return comm_error(MPI_COMM_WORLD,
                    buffered_iflush(request, "MPI_Buffer_iflush"),
                    "MPI_Buffer_iflush");
}

int pems_Comm_attach_buffer(MPI_Comm handle, void *address, MPI_Count size) {
  const struct comm *comm = comm_of(handle);
  const int code = comm ? buffered_attach(comm, address, size) : MPI_ERR_COMM;
  return comm_error(handle, code, "MPI_Comm_attach_buffer");
}

int pems_Comm_detach_buffer(MPI_Comm handle, void *address, int *size) {
  const struct comm *comm = comm_of(handle);
  const int code = comm ? detach_int(comm, address, size) : MPI_ERR_COMM;
  return comm_error(handle, code, "MPI_Comm_detach_buffer");
}

int pems_Comm_detach_buffer_c(MPI_Comm handle, void *address, MPI_Count *size) {
  const struct comm *comm = comm_of(handle);
  const int code = comm ? buffered_detach(comm, address, size) : MPI_ERR_COMM;
  return comm_error(handle, code, "MPI_Comm_detach_buffer_c");
}

int pems_Comm_flush_buffer(MPI_Comm handle) {
  return comm_error(handle, comm_of(handle) ? buffered_flush() : MPI_ERR_COMM,
                    "MPI_Comm_flush_buffer");
}

int pems_Comm_iflush_buffer(MPI_Comm handle, MPI_Request *request) {
  static const char function[] = "MPI_Comm_iflush_buffer";
  return comm_error(handle,
                    comm_of(handle) ? buffered_iflush(request, function)
                                    : MPI_ERR_COMM,
                    function);
}
#endif

/* A rank's requests and messages, as a checkpoint has them that somebody has
   changed: what cannot be is refused, and says so. */
#include "mpi/p2p/p2p_load.h"

#include <errno.h>
#include <string.h>

#include "../check_kept.h"
#include "../check_shortage.h"
#include "check_main.h"
#include "mpi/datatype/layout_kept.h"
#include "mpi/p2p/letter.h"
#include "mpi/p2p/p2p_record.h"
#include "mpi/p2p/receive.h"

static struct p2p_record_rank head;
static struct p2p_record_request requests[2];
static uint64_t parts[3]; /* behind the second one */
static struct p2p_record_comm of;
static struct p2p_record_letter letter;
static int memory[4], bytes; /* behind the letter */
static int number;           /* of a handle that nobody has */

static void start(void) {
  handles_fix(4);
  shortage_begin();
  (void)shortage_end; /* what is left ends with the process of the test */
  struct handle h = handle_make(HANDLE_REQUEST);
  number = handle_c2f(&h);
  handle_end(&h);
  head = (struct p2p_record_rank){0};
  letter = (struct p2p_record_letter){.bytes = 4, .source = 2, .kept = true};
  of = (struct p2p_record_comm){shortage_rank.world->team->id, 1};
}

/* One that waits for a message of rank 2 of MPI_COMM_WORLD. */
static struct p2p_record_request receive(uint64_t n, int handle) {
  return (struct p2p_record_request){.number = n,
                                     .comm = shortage_rank.world->team->id,
                                     .function = (uintptr_t) "MPI_Irecv",
                                     .handle = handle,
                                     .kind = P2P_RECORD_RECEIVE,
                                     .active = true,
                                     .peer = 2,
                                     .posted = true,
                                     .span = {(uintptr_t)memory, 1}};
}

static void write_all(struct checkpoint_writer *to) {
  static const struct layout_segment segment = {0, sizeof(int), 0};
  const struct layout *const layout = layout_again(0, sizeof(int), &segment, 1);
  checkpoint_write(to, &head, sizeof(head));
  for (uint32_t i = 0; i < head.requests; i++) {
    checkpoint_write(to, &requests[i], sizeof(requests[i]));
    if (requests[i].kind == P2P_RECORD_RECEIVE) {
      layout_kept_save(layout, to);
    }
    checkpoint_write(to, parts, requests[i].parts * sizeof(*parts));
  }
  if (head.comms) {
    checkpoint_write(to, &of, sizeof(of));
  }
  if (head.comms || head.matched) {
    checkpoint_write(to, &letter, sizeof(letter));
    checkpoint_write(to, &bytes, sizeof(bytes));
  }
  layout_release(layout);
}

static struct pems_error error;

static void read_all(struct checkpoint_reader *from) {
  from->error = &error;
  p2p_load(&shortage_rank, from);
}

static void refuses(const char *why) {
  kept_save(write_all, NULL);
  ck_assert_int_ne(kept_read(read_all), 0);
  ck_assert_msg(strstr(error.text, why), "'%s' is not in '%s'", why,
                error.text);
  unlink(kept_path);
}

START_TEST(requests_and_messages_are_there) {
  start();
  head.requests = 2;
  requests[0] = receive(1, number);
  requests[1] = receive(2, 0);
  requests[1].kept = 2;
  head.comms = 1;
  letter.tag = 77; /* none of them asks for it */
  kept_save(write_all, NULL);
  kept_load(read_all);
  ck_assert_int_eq(shortage_rank.n_requests, 2);
  const struct request *const first =
      (struct request *)handle_f2c(HANDLE_REQUEST, number);
  ck_assert_ptr_nonnull(first);
  ck_assert_ptr_null(request_kept(0));
  const struct request *const second = request_kept(1);
  ck_assert_ptr_nonnull(second);
  ck_assert_ptr_ne(first, second);
  ck_assert_ptr_null(request_kept(1)); /* it is taken once */
  const struct comm *const c = shortage_rank.world;
  const struct letter *const l =
      endpoint_next(endpoint_of(c->team, c->index), NULL);
  ck_assert_int_eq(l->tag, 77);
}
END_TEST

START_TEST(a_communicator_that_the_rank_lacks) {
  start();
  head.requests = 1;
  requests[0] = receive(1, 0);
  requests[0].comm = 12345;
  refuses("a message of a communicator that it lacks");
  head = (struct p2p_record_rank){.comms = 1};
  of.comm = 12345;
  refuses("a message of a communicator that it lacks");
  head = (struct p2p_record_rank){.matched = 1};
  letter.comm = 12345;
  refuses("a message of a communicator that it lacks");
}
END_TEST

START_TEST(one_handle_of_two) {
  start();
  head.requests = 2;
  requests[0] = receive(1, number);
  requests[1] = receive(2, number);
  refuses("two requests or messages with one handle");
}
END_TEST

START_TEST(a_part_that_is_not_there) {
  start();
  head.requests = 2;
  requests[0] = receive(1, 0);
  requests[1] = receive(2, 0);
  requests[1].kind = P2P_RECORD_OTHER;
  requests[1].parts = 1;
  parts[0] = 9;
  refuses("a request that lacks a part");
  requests[1].parts = 3; /* more than there are requests */
  parts[0] = parts[1] = parts[2] = 1;
  refuses("a request that lacks a part");
}
END_TEST

START_TEST(a_message_of_no_kind) {
  start();
  head.comms = 1;
  letter.channel = CHANNELS;
  refuses("a message of an unknown kind");
}
END_TEST

/* Fewer things than are counted. */
START_TEST(less_than_there_should_be) {
  start();
  head.comms = 1;
  of.letters = 2;
  kept_save(write_all, NULL);
  ck_assert_int_ne(kept_read(read_all), 0);
  unlink(kept_path);
}
END_TEST

int main(void) {
  return check_main(
      "p2p_load",
      (const TTest *[]){requests_and_messages_are_there,
                        a_communicator_that_the_rank_lacks, one_handle_of_two,
                        a_part_that_is_not_there, a_message_of_no_kind,
                        less_than_there_should_be, NULL});
}

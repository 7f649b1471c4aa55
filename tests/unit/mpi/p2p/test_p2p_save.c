/* Requests and messages of a rank, written and read anew. */
#include "mpi/p2p/p2p_save.h"

#include "../check_shortage.h"
#include "check_main.h"
#include "mpi/p2p/matched.h"
#include "mpi/p2p/outgoing.h"
#include "mpi/p2p/p2p_load.h"
#include "mpi/p2p/receive.h"
#include "mpi/p2p/unbound.h"
#include "mpi/request/composite.h"
#include "mpi/request/requests.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N = 4 };

static char path[] = "/tmp/pems-p2p.XXXXXX";
static int memory[8][N];
static int number, matched_number; /* of handles */

/* N numbers, each behind the other. */
static struct layout_span span_of(int *at) {
  static const struct layout_segment segment = {0, sizeof(int), 0};
  return (struct layout_span){(char *)at, N,
                              layout_again(0, sizeof(int), &segment, 1)};
}

static struct endpoint *endpoint_mine(const struct comm *c) {
  return endpoint_of(c->team, c->index);
}

static struct endpoint_receive *post(struct comm *c, int source, int tag,
                                     int *to) {
  const struct endpoint_pattern p = {CHANNEL_USER, source, tag};
  const struct layout_span span = span_of(to);
  struct endpoint_receive *r = receive_again(c, &p, &span, "MPI_Irecv");
  run_queue_lock();
  endpoint_post_locked(endpoint_mine(c), r);
  run_queue_unlock();
  return r;
}

/* To itself. */
static struct outgoing message(int tag) {
  for (int i = 0; i < N; i++) {
    memory[7][i] = 10 * tag + i;
  }
  return (struct outgoing){.comm = shortage_rank.self,
                           .channel = CHANNEL_USER,
                           .mode = SEND_STANDARD,
                           .span = span_of(memory[7]),
                           .tag = tag,
                           .bytes = N * sizeof(int)};
}

static void send(int tag) {
  const struct outgoing o = message(tag);
  ck_assert(outgoing_now(&o));
  layout_release(o.span.layout);
}

static void send_synchronous(int tag) {
  struct outgoing o = message(tag);
  o.mode = SEND_SYNCHRONOUS;
  outgoing_later(outgoing_again(&o, "MPI_Issend"));
}

static void match(int tag) {
  const struct endpoint_pattern p = {CHANNEL_USER, MPI_ANY_SOURCE, tag};
  run_queue_lock();
  struct letter *const l =
      receive_take_locked(endpoint_mine(shortage_rank.self), &p);
  run_queue_unlock();
  l->comm = shortage_rank.self;
  comm_use(l->comm);
  matched_number = handle_c2f(&l->handle);
}

static void begin(void) {
  post(shortage_rank.world, 2, 5, memory[0]);
  post(shortage_rank.world, MPI_ANY_SOURCE, MPI_ANY_TAG, memory[1]);
  struct endpoint_receive *const r = post(shortage_rank.self, 0, 9, memory[2]);
  number = handle_c2f(&r->request.handle);
  ck_assert_ptr_null(p2p_save_stop(&shortage_rank, &(const char *){NULL}));
  send(9); /* is there when the memory has been saved */
  send(7);
  send_synchronous(8);
  send(10);
  match(10);
}

static void end(void) {
  struct letter *const l = matched_next(&shortage_rank, NULL);
  if (l) {
    letter_free(l);
    comm_unuse(shortage_rank.self);
  }
  while (shortage_rank.requests) {
    struct request *const r = shortage_rank.requests;
    r->class->cancel(r);
    request_end(r);
  }
  requests_forget(&shortage_rank);
  for (struct comm *c = shortage_rank.comms; c; c = c->next) {
    endpoint_free(c->team->endpoints[c->index]);
    c->team->endpoints[c->index] = NULL;
  }
  shortage_end();
}

static void save(void) {
  struct checkpoint_out o;
  struct checkpoint_writer w;
  struct checkpoint_sum sum;
  ck_assert_int_eq(checkpoint_create(&o, path, NULL), 0);
  ck_assert(p2p_save_any(&shortage_rank));
  checkpoint_write_begin(&w, &o, CHECKPOINT_MESSAGES, NULL);
  p2p_save(&shortage_rank, &w);
  ck_assert_int_eq(checkpoint_write_end(&w), 0);
  ck_assert_int_eq(checkpoint_finish(&o, &sum, NULL), 0);
  checkpoint_close(&o);
}

static void load(void) {
  struct checkpoint_in in;
  struct checkpoint_block b;
  struct checkpoint_reader r;
  ck_assert_int_eq(checkpoint_open(&in, path, NULL), 0);
  ck_assert_int_eq(checkpoint_next(&in, &b, NULL), 0);
  checkpoint_read_begin(&r, &in, &b, NULL);
  p2p_load(&shortage_rank, &r);
  ck_assert_int_eq(checkpoint_read_end(&r), 0);
  checkpoint_shut(&in);
}

static void look_at_receives(void) {
  struct endpoint *const e = endpoint_mine(shortage_rank.world);
  run_queue_lock();
  struct endpoint_receive *const first =
      endpoint_match_locked(e, CHANNEL_USER, 2, 5);
  struct endpoint_receive *const second =
      endpoint_match_locked(e, CHANNEL_USER, 2, 5);
  run_queue_unlock();
  ck_assert_ptr_eq(first->span.base, memory[0]);
  ck_assert_ptr_eq(second->span.base, memory[1]);
  ck_assert_uint_eq(span_size(&second->span), N * sizeof(int));
  run_queue_lock();
  endpoint_post_locked(e, first); /* so that they can be cancelled */
  endpoint_post_locked(e, second);
  run_queue_unlock();
  const struct request *const done =
      (const struct request *)handle_f2c(HANDLE_REQUEST, number);
  ck_assert_ptr_nonnull(done);
  ck_assert(done->done && done->active);
  ck_assert_int_eq(done->result.tag, 9);
  ck_assert_int_eq((int)done->result.bytes, N * (int)sizeof(int));
  ck_assert_int_eq(memory[2][3], 93);
}

static void look_at_letters(void) {
  const struct endpoint *const e = endpoint_mine(shortage_rank.self);
  int is[N];
  const struct letter *const kept = endpoint_next(e, NULL);
  ck_assert_int_eq(kept->tag, 7);
  ck_assert(kept->kept && !letter_is_unbound(kept));
  letter_read(kept, 0, (char *)is, sizeof(is));
  ck_assert_int_eq(is[2], 72);
  const struct letter *const sent = endpoint_next(e, kept);
  ck_assert_int_eq(sent->tag, 8);
  ck_assert(letter_is_unbound(sent));
  ck_assert(unbound_any(&shortage_rank));
  ck_assert(!p2p_load_bound());
  p2p_load_bind();
  ck_assert(p2p_load_bound());
  ck_assert_ptr_nonnull(sent->send);
  ck_assert_ptr_eq(sent->send->letter, sent);
  ck_assert_ptr_null(endpoint_next(e, sent));
  const struct letter *const matched = matched_next(&shortage_rank, NULL);
  ck_assert_int_eq(matched->tag, 10);
  ck_assert_int_eq(matched->handle.fortran, matched_number);
  ck_assert_ptr_eq(matched->comm, shortage_rank.self);
  ck_assert_ptr_null(matched_next(&shortage_rank, matched));
}

START_TEST(what_was_under_way_is_so_again) {
  close(mkstemp(path));
  handles_fix(4);
  shortage_begin();
  begin();
  save();
  end();
  memset(memory, 0, sizeof(memory));
  shortage_begin();
  ck_assert(!p2p_save_any(&shortage_rank));
  load();
  ck_assert_int_eq(shortage_rank.n_requests, 4);
  look_at_receives();
  look_at_letters();
  end();
  unlink(path);
}
END_TEST

/* Of one that is made of others all is gone. */
static void finish_whole(struct request *r) {
  ck_assert(request_is_done(r) && !r->finished);
  request_finish(r);
  ck_assert_int_eq(shortage_rank.n_requests, 1);
  request_end(r);
  ck_assert_int_eq(memory[3][1], 211);
  ck_assert_int_eq(memory[4][2], 222);
}

START_TEST(what_is_made_of_others_ends_with_them) {
  close(mkstemp(path));
  handles_fix(4);
  shortage_begin();
  struct request *parts[] = {
      &post(shortage_rank.self, 0, 21, memory[3])->request,
      &post(shortage_rank.self, 0, 22, memory[4])->request};
  struct request *r =
      composite_new(shortage_rank.world, parts, 2, "MPI_Ineighbor_alltoall");
  number = handle_c2f(&r->handle);
  ck_assert(requests_settle(&shortage_rank)); /* it is not waited for */
  ck_assert_ptr_null(p2p_save_stop(&shortage_rank, &(const char *){NULL}));
  send(21);
  save();
  send(22);
  finish_whole(r);
  end();
  memset(memory, 0, sizeof(memory));
  shortage_begin();
  load();
  ck_assert_int_eq(shortage_rank.n_requests, 3);
  r = (struct request *)handle_f2c(HANDLE_REQUEST, number);
  ck_assert_ptr_nonnull(r);
  ck_assert(!request_is_done(r));
  send(22);
  finish_whole(r);
  end();
  unlink(path);
}
END_TEST

static const struct request_class windows = {.name = "window"};

START_TEST(other_requests_are_named) {
  const char *function = NULL;
  shortage_begin();
  struct request *const r =
      request_new(sizeof(*r), &windows, shortage_rank.world, "MPI_Rput");
  ck_assert_str_eq(p2p_save_stop(&shortage_rank, &function), "a request of ");
  ck_assert_str_eq(function, "MPI_Rput");
  request_end(r);
  struct request *const past = request_past(shortage_rank.world, "MPI_Ibcast");
  request_done_now(past);
  ck_assert(requests_settle(&shortage_rank));
  ck_assert_ptr_null(p2p_save_stop(&shortage_rank, &function));
  ck_assert(past->finished);
  request_end(past);
  requests_forget(&shortage_rank);
  shortage_end();
}
END_TEST

int main(void) {
  return check_main("p2p_save",
                    (const TTest *[]){what_was_under_way_is_so_again,
                                      what_is_made_of_others_ends_with_them,
                                      other_requests_are_named, NULL});
}

#include "config/memory_plan.h"

#include <string.h>

#include "check_main.h"
#include "config/options.h"

#define KIB UINT64_C(1024)
#define MIB (1024 * KIB)
#define GIB (1024 * MIB)

static struct memory_plan plan_of(uint64_t memory) {
  return (struct memory_plan){.memory = memory,
                              .base = 10 * MIB,
                              .sigma = memory_plan_sigma(memory),
                              .vps = 4,
                              .peers = 1};
}

static uint64_t sum(const struct memory_plan *m) {
  uint64_t all = 0;
  for (int use = 0; use < MEMORY_USES; use++) {
    all += memory_plan_bytes(m, (enum memory_use)use);
  }
  return all;
}

START_TEST(shares_are_the_memory) {
  for (uint64_t memory = 64 * MIB; memory <= 64 * GIB; memory *= 2) {
    const struct memory_plan m = plan_of(memory);
    ck_assert_uint_eq(sum(&m), memory);
    ck_assert_uint_gt(memory_plan_bytes(&m, MEMORY_CONTEXTS), 0);
    ck_assert_uint_eq(memory_plan_overhead(&m) +
                          memory_plan_bytes(&m, MEMORY_CONTEXTS),
                      memory);
  }
}
END_TEST

START_TEST(shares_of_sigma_are_sigma) {
  static const enum memory_use of_sigma[] = {MEMORY_PACKED,   MEMORY_OLDEST,
                                             MEMORY_OUTGOING, MEMORY_INCOMING,
                                             MEMORY_BOUNDARY, MEMORY_LETTERS};
  const struct memory_plan m = plan_of(GIB);
  uint64_t all = 0;
  for (size_t i = 0; i < sizeof(of_sigma) / sizeof(of_sigma[0]); i++) {
    all += memory_plan_bytes(&m, of_sigma[i]);
  }
  ck_assert_uint_eq(m.sigma, 64 * MIB);
  ck_assert_uint_eq(all, m.sigma);
}
END_TEST

START_TEST(a_process_that_is_alone_has_no_chunks) {
  struct memory_plan m = plan_of(GIB);
  const uint64_t contexts = memory_plan_bytes(&m, MEMORY_CONTEXTS);
  m.peers = 0;
  ck_assert_uint_eq(memory_plan_bytes(&m, MEMORY_OUTGOING), 0);
  ck_assert_uint_eq(memory_plan_bytes(&m, MEMORY_INCOMING), 0);
  ck_assert_uint_eq(memory_plan_bytes(&m, MEMORY_CONTEXTS),
                    contexts + m.sigma / 4);
  ck_assert_uint_eq(sum(&m), GIB);
}
END_TEST

START_TEST(idle_shares_are_lent) {
  const struct memory_plan m = plan_of(GIB);
  ck_assert_uint_eq(memory_plan_kept(&m, MEMORY_LETTERS),
                    memory_plan_bytes(&m, MEMORY_LETTERS) / 4);
  ck_assert_uint_eq(memory_plan_kept(&m, MEMORY_PACKED),
                    memory_plan_bytes(&m, MEMORY_PACKED));
  ck_assert_uint_eq(memory_plan_lent(&m), (8 + 16 + 12) * MIB / 4 * 3);
}
END_TEST

START_TEST(a_report_has_a_share_if_it_is_wanted) {
  struct memory_plan m = plan_of(256 * MIB);
  const uint64_t contexts = memory_plan_bytes(&m, MEMORY_CONTEXTS);
  const uint64_t pems = memory_plan_bytes(&m, MEMORY_PEMS);
  ck_assert_uint_eq(memory_plan_bytes(&m, MEMORY_REPORT), 0);
  m.report = 33 * MIB;
  ck_assert_uint_eq(memory_plan_bytes(&m, MEMORY_REPORT), 33 * MIB);
  ck_assert_uint_eq(memory_plan_bytes(&m, MEMORY_PEMS), pems);
  ck_assert_uint_eq(memory_plan_bytes(&m, MEMORY_CONTEXTS),
                    contexts - 33 * MIB);
  ck_assert_uint_eq(sum(&m), 256 * MIB);
}
END_TEST

START_TEST(compression_has_a_share_if_it_is_used) {
  struct memory_plan m = plan_of(256 * MIB);
  const uint64_t contexts = memory_plan_bytes(&m, MEMORY_CONTEXTS);
  ck_assert_uint_eq(memory_plan_bytes(&m, MEMORY_COMPRESS), 0);
  m.compress = COMPRESS_LZ4;
  ck_assert_uint_eq(memory_plan_bytes(&m, MEMORY_COMPRESS), 16 * MIB);
  ck_assert_uint_eq(memory_plan_bytes(&m, MEMORY_CONTEXTS),
                    contexts - 16 * MIB);
  ck_assert_uint_eq(sum(&m), m.memory);
}
END_TEST

START_TEST(compression_that_may_not_pay_takes_nothing_from_contexts) {
  struct memory_plan m = plan_of(128 * MIB);
  const uint64_t contexts = memory_plan_bytes(&m, MEMORY_CONTEXTS);
  const uint64_t staging = memory_plan_bytes(&m, MEMORY_STAGING);
  m.compress = COMPRESS_AUTO;
  ck_assert_uint_eq(memory_plan_bytes(&m, MEMORY_CONTEXTS), contexts);
  ck_assert_uint_eq(memory_plan_bytes(&m, MEMORY_COMPRESS), 2 * MIB);
  ck_assert_uint_eq(memory_plan_bytes(&m, MEMORY_STAGING), staging - 2 * MIB);
  ck_assert_uint_eq(sum(&m), m.memory);
}
END_TEST

START_TEST(too_little_memory_leaves_nothing_for_contexts) {
  const struct memory_plan m = plan_of(8 * MIB);
  ck_assert_uint_eq(memory_plan_bytes(&m, MEMORY_CONTEXTS), 0);
}
END_TEST

START_TEST(each_share_has_a_name_and_stays_within_its_limits) {
  const struct memory_plan m = plan_of(100 * GIB);
  for (int use = 0; use < MEMORY_USES; use++) {
    const struct memory_share s = memory_plan_share(&m, (enum memory_use)use);
    ck_assert_uint_gt(strlen(s.name), 0);
    ck_assert_uint_le(strlen(s.name), 10);
    ck_assert_uint_gt(strlen(s.purpose), 0);
    ck_assert_uint_ge(s.bytes, s.least);
    ck_assert_uint_le(s.bytes, s.most);
    ck_assert_uint_eq(s.bytes, memory_plan_bytes(&m, (enum memory_use)use));
    for (int other = 0; other < use; other++) {
      ck_assert_str_ne(s.name,
                       memory_plan_share(&m, (enum memory_use)other).name);
    }
  }
  ck_assert_uint_eq(memory_plan_bytes(&m, MEMORY_STAGING), 12 * MIB);
}
END_TEST

START_TEST(sigma_is_an_eighth_up_to_64_mib) {
  ck_assert_uint_eq(memory_plan_sigma(GIB), 64 * MIB);
  ck_assert_uint_eq(memory_plan_sigma(80 * MIB), 10 * MIB);
  ck_assert_uint_eq(memory_plan_sigma(1), 64 * KIB);
  ck_assert_uint_eq(memory_plan_sigma(0), 64 * KIB);
}
END_TEST

START_TEST(what_is_packed_by_all_fits) {
  const struct memory_plan m = plan_of(GIB);
  for (int senders = 1; senders < 300; senders += 7) {
    for (int messages = 0; messages < 70; messages += 3) {
      const uint64_t each = memory_plan_packed(&m, senders, messages);
      ck_assert_uint_le(each * (uint64_t)senders * (uint64_t)messages,
                        memory_plan_bytes(&m, MEMORY_PACKED));
    }
  }
}
END_TEST

START_TEST(vectors_that_are_combined_fit) {
  const struct memory_plan m = plan_of(GIB);
  for (int runs = 0; runs < 300; runs++) {
    ck_assert_uint_le(memory_plan_vector(&m, runs) * (uint64_t)(3 + runs),
                      memory_plan_bytes(&m, MEMORY_OLDEST));
  }
}
END_TEST

/* To all peers, unless they are so many that the least is too much. */
START_TEST(chunks_to_all_peers_fit) {
  struct memory_plan m = plan_of(GIB);
  for (m.peers = 1; m.peers < 1000; m.peers += 11) {
    const uint64_t chunk = memory_plan_chunk(&m);
    ck_assert_uint_eq(chunk % 8, 0);
    ck_assert_uint_le(chunk * MEMORY_CHUNKS * (uint64_t)m.peers,
                      memory_plan_bytes(&m, MEMORY_OUTGOING));
  }
  m.peers = 1 << 20;
  ck_assert_uint_eq(memory_plan_chunk(&m), 4 * KIB);
  m.peers = 0;
  ck_assert_uint_gt(memory_plan_chunk(&m), 0);
}
END_TEST

START_TEST(what_peers_send_at_once_fits_their_letters) {
  struct memory_plan m = plan_of(GIB);
  for (m.peers = 1; m.peers <= 32; m.peers++) {
    ck_assert_uint_le(memory_plan_flow(&m) * (uint64_t)m.peers,
                      memory_plan_bytes(&m, MEMORY_LETTERS));
  }
  m.peers = 1000;
  ck_assert_uint_eq(memory_plan_flow(&m), 256 * KIB);
}
END_TEST

START_TEST(letters_are_small) {
  struct memory_plan m = plan_of(GIB);
  ck_assert_uint_eq(memory_plan_letter(&m), 64 * KIB);
  m.sigma = 64 * KIB;
  ck_assert_uint_eq(memory_plan_letter(&m), 4 * KIB);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {
      shares_are_the_memory,
      shares_of_sigma_are_sigma,
      a_process_that_is_alone_has_no_chunks,
      idle_shares_are_lent,
      a_report_has_a_share_if_it_is_wanted,
      compression_has_a_share_if_it_is_used,
      compression_that_may_not_pay_takes_nothing_from_contexts,
      too_little_memory_leaves_nothing_for_contexts,
      each_share_has_a_name_and_stays_within_its_limits,
      sigma_is_an_eighth_up_to_64_mib,
      what_is_packed_by_all_fits,
      vectors_that_are_combined_fit,
      chunks_to_all_peers_fit,
      what_peers_send_at_once_fits_their_letters,
      letters_are_small,
      NULL};
  return check_main("memory_plan", tests);
}

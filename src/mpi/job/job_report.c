#define _GNU_SOURCE
#include "mpi/job/job_report.h"

#include "base/failure.h"
#include "config/measured.h"
#include "config/memory_used.h"
#include "config/size.h"
#include "context/image/identity.h"
#include "context/residency/residency.h"
#include "disk/choice.h"
#include "mpi/object/naming.h"
#include "mpi_below/net.h"
#include "report/report.h"
#include "report/report_parts.h"
#include "report/trace.h"
#include "vp/vp.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

static const char *library_of(const void *at) {
  Dl_info info;
  if (!dladdr((const char *)at - 1, &info) || !info.dli_fname) {
    return "a library";
  }
  const char *name = strrchr(info.dli_fname, '/');
  return name ? name + 1 : info.dli_fname;
}

/* A place in a library is known by the library's name: there may be a copy of
   it for each rank, and to look up lines in all would take long. */
static uint64_t key_of(int vp, const void *at) {
  const uint64_t key = name_site_of_all(&vps.item[vp], at);
  return key ? key : UINT64_C(1) << 63 | name_hash(library_of(at));
}

static void name_place(int vp, const void *at, char *text, size_t size) {
  const uint64_t key = name_site_of_all(&vps.item[vp], at);
  char at_place[200] = "";
  struct text t = text_in(at_place, sizeof(at_place));
  if (key) {
    name_site_everywhere(&t, key); /* " at sort.c:12" */
    snprintf(text, size, "%s", at_place + strlen(" at "));
  } else {
    snprintf(text, size, "in %s", library_of(at));
  }
}

static void note_facts(const struct options *o, const char *driver) {
  const struct trace_facts facts = {
      .k = vps.plan.k,
      .resident = contexts_budget(),
      .lazy = o->swapin != SWAPIN_EAGER,
      .disk_rate =
          measured_find(driver, o->disk ? o->disk : choice_default_dir()),
  };
  trace_set_facts(&facts);
}

int job_report_start(const struct options *o, const char *driver,
                     struct pems_error *error) {
  static const struct report_places places = {key_of, name_place};
  if (!o->report) {
    return 0;
  }
  if (trace_start(vps.n, vps.first_rank) != 0) {
    return failure(
        error, ENOMEM,
        "out of memory: the report: %zu bytes: leave out --pems-report",
        trace_memory(vps.n));
  }
  report_name_places(&places);
  memory_used_add(MEMORY_REPORT, trace_memory(vps.n));
  char text[32];
  snprintf(text, sizeof(text), "%d", vps.plan.k);
  trace_note("k", text);
  trace_note("memory", size_format(vps.plan.memory.memory, text, sizeof(text)));
  trace_note("report takes up to",
             size_format(trace_memory(vps.n), text, sizeof(text)));
  trace_note("context", size_format(vps.plan.mu, text, sizeof(text)));
  trace_note("io", driver);
  note_facts(o, driver);
  return 0;
}

/* What the first process runs; the others run the same, or should. */
static int write_identity(const char *dir, const struct identity *identity,
                          struct pems_error *error) {
  struct report_file r;
  const int code = report_create(&r, dir, "identity.txt", 0, error);
  return code ? code : report_close(&r, identity_write(identity, r.f, error));
}

static int write_first(const char *dir, const struct identity *identity,
                       struct pems_error *error) {
  const int code = report_merge(dir, net_size(), error);
  return code ? code : write_identity(dir, identity, error);
}

bool job_report_write(const struct options *o, const struct identity *identity,
                      bool *mine, struct pems_error *error) {
  *mine = false;
  if (!o->report) {
    return true;
  }
  uint64_t zero = trace_zero();
  net_min(&zero);
  trace_set_zero(zero);
  uint64_t lacked = contexts_lacked();
  net_max(&lacked, 1);
  trace_set_lacked(lacked);
  int failed = report_write(o->report, net_rank(), net_size(), error);
  int first = net_first_failed(failed);
  if (first < 0) {
    failed = net_rank() == 0 ? write_first(o->report, identity, error) : 0;
    first = net_first_failed(failed);
  }
  *mine = first == net_rank();
  trace_end();
  return first < 0;
}

# Tables of what tests/bench/sched.sh has run: from RESULT lines.

function value(name,    i) {
  for (i = 2; i <= NF; i++)
    if (index($i, name "=") == 1)
      return substr($i, length(name) + 2)
  return ""
}

$1 == "RESULT" && value("status") == "" {
  step = value("step"); job = value("case"); p = value("threads")
  scheme = value("scheme")
  key = job SUBSEP p SUBSEP scheme
  if (!((job) in have_job)) { have_job[job] = 1; jobs[++job_count] = job }
  if (!((scheme) in have_scheme)) {
    have_scheme[scheme] = 1; schemes[++scheme_count] = scheme
  }
  if (!((p) in have_p)) { have_p[p] = 1; ps[++p_count] = p }
  if (step == "time") {
    s = value("seconds") + 0
    if (!(key in seconds) || s < seconds[key]) {
      seconds[key] = s; delta[key] = value("delta"); ratio[key] = value("work_ratio")
    }
  } else if (step == "cycles") {
    share[key] = sprintf("%5.1f %5.1f %5.1f %5.1f %5.1f %5.1f",
      value("good_work_percent"), value("useless_work_percent"),
      value("enqueue_percent"), value("dequeue_percent"),
      value("failed_dequeue_percent"), value("other_percent"))
    each[key] = sprintf("%6.0f %6.0f", value("cycles_per_enqueue"),
      value("cycles_per_dequeue"))
    if (scheme == "pmod")
      lmf[job SUBSEP p] = value("lmf_sequence")
  } else if (step == "rank") {
    # obim-O: of the shift that was best in time, or else of the last one.
    if (!(key in rank) || value("delta") == delta[key])
      rank[key] = sprintf("%10.1f %8d %8d", value("rank_mean"),
        value("rank_median"), value("rank_p99"))
  }
}

function best_of(job, p,    i, key, best) {
  for (i = 1; i <= scheme_count; i++) {
    key = job SUBSEP p SUBSEP schemes[i]
    if (key in seconds && (best == "" || seconds[key] < best))
      best = seconds[key]
  }
  return best
}

# One thread of obim, as well as it can be tuned.
function base_of(job) {
  if ((job SUBSEP 1 SUBSEP "obim-O") in seconds)
    return seconds[job SUBSEP 1 SUBSEP "obim-O"]
  return seconds[job SUBSEP 1 SUBSEP "obim-D"]
}

END {
  print "Seconds, work ratio and shift of the best run"
  for (j = 1; j <= job_count; j++)
    for (q = 1; q <= p_count; q++) {
      best = best_of(jobs[j], ps[q])
      for (i = 1; i <= scheme_count; i++) {
        key = jobs[j] SUBSEP ps[q] SUBSEP schemes[i]
        if (key in seconds) {
          printf "%-13s p=%-2d %-11s %9.3f s  %6.2f of the best  work %6.3f", \
            jobs[j], ps[q], schemes[i], seconds[key], seconds[key] / best, \
            ratio[key]
          print schemes[i] ~ /obim/ ? "  delta " delta[key] : ""
          logs[ps[q], schemes[i]] += log(best / seconds[key])
          count[ps[q], schemes[i]]++
        } else
          printf "%-13s p=%-2d %-11s         -\n", jobs[j], ps[q], schemes[i]
      }
    }
  print "\nTable 5: geometric mean of speed by that of each job's best scheme"
  for (q = 1; q <= p_count; q++)
    for (i = 1; i <= scheme_count; i++)
      if (count[ps[q], schemes[i]])
        printf "p=%-2d %-11s %5.2f of %d jobs\n", ps[q], schemes[i], \
          exp(logs[ps[q], schemes[i]] / count[ps[q], schemes[i]]), \
          count[ps[q], schemes[i]]
  print "\nFigure 6: % good, useless, enqueue, dequeue, failed, other;" \
    " cycles per enqueue, dequeue"
  for (j = 1; j <= job_count; j++)
    for (q = 1; q <= p_count; q++)
      for (i = 1; i <= scheme_count; i++) {
        key = jobs[j] SUBSEP ps[q] SUBSEP schemes[i]
        if (key in share)
          printf "%-13s p=%-2d %-11s %s  %s\n", jobs[j], ps[q], schemes[i], \
            share[key], each[key]
      }
  print "\nTable 6: lmf"
  for (j = 1; j <= job_count; j++)
    for (q = 1; q <= p_count; q++)
      if ((jobs[j] SUBSEP ps[q]) in lmf)
        printf "%-13s p=%-2d %s\n", jobs[j], ps[q], lmf[jobs[j] SUBSEP ps[q]]
  print "\nRank errors: mean, median, 99 %"
  for (j = 1; j <= job_count; j++)
    for (q = 1; q <= p_count; q++)
      for (i = 1; i <= scheme_count; i++) {
        key = jobs[j] SUBSEP ps[q] SUBSEP schemes[i]
        if (key in rank)
          printf "%-13s p=%-2d %-11s %s\n", jobs[j], ps[q], schemes[i], rank[key]
      }
  most = 0
  for (q = 1; q <= p_count; q++)
    most = ps[q] > most ? ps[q] : most
  printf "job" >data
  for (i = 1; i <= scheme_count; i++)
    printf " %s", schemes[i] >data
  printf "\n" >data
  for (j = 1; j <= job_count; j++) {
    printf "%s", jobs[j] >data
    for (i = 1; i <= scheme_count; i++) {
      key = jobs[j] SUBSEP most SUBSEP schemes[i]
      printf " %s", key in seconds && base_of(jobs[j]) ? \
        base_of(jobs[j]) / seconds[key] : "?" >data
    }
    printf "\n" >data
  }
}

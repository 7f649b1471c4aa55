# shellcheck shell=sh
# For tests: what they ask of the MPI's own command, $MPIRUN, in the way of each
# MPI. Sourcing this lets it run as root, with more processes than cores.
launcher_version=$("${MPIRUN:-mpirun}" --version 2>&1 </dev/null)
case $launcher_version in
*HYDRA* | *"Intel(R) MPI"*) launcher=hydra ;;
*"(OpenRTE)"* | *"(Open MPI) 4"*) launcher=orte ;;
*)
  launcher=prrte
  # Debian 13's finds no way from an IPv6 address to itself, and says so per process.
  OMPI_MCA_reachable=weighted
  export OMPI_MCA_reachable
  ;;
esac
OMPI_ALLOW_RUN_AS_ROOT=1
OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
OMPI_MCA_mpi_yield_when_idle=1
# It may print a line of each process.
OMPI_MCA_osc=^ucx
OMPI_MCA_rmaps_base_oversubscribe=1
PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
MPIR_CVAR_ENABLE_HEAVY_YIELD=1
MPIR_CVAR_CH4_PROGRESS_THROTTLE=1
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM OMPI_MCA_osc \
  OMPI_MCA_mpi_yield_when_idle OMPI_MCA_rmaps_base_oversubscribe \
  PRTE_MCA_rmaps_default_mapping_policy MPIR_CVAR_ENABLE_HEAVY_YIELD \
  MPIR_CVAR_CH4_PROGRESS_THROTTLE

# launcher_is_4_0: is it MPICH 4.0?
launcher_is_4_0() {
  [ "$launcher" = hydra ] &&
    echo "$launcher_version" | grep -q '^ *Version: *4\.0'
}

# launcher_measure N: N processes of the MPI are to be measured. MPICH's do not
# sleep between two looks, then, if each has a core.
launcher_measure() {
  if [ "$1" -le "$(nproc)" ]; then
    unset MPIR_CVAR_ENABLE_HEAVY_YIELD MPIR_CVAR_CH4_PROGRESS_THROTTLE
  else
    MPIR_CVAR_ENABLE_HEAVY_YIELD=1 MPIR_CVAR_CH4_PROGRESS_THROTTLE=1
    export MPIR_CVAR_ENABLE_HEAVY_YIELD MPIR_CVAR_CH4_PROGRESS_THROTTLE
  fi
}

# launcher_status STATUS: what a shell would make of a program that ended so:
# Hydra passes the number of a signal on as it is.
launcher_status() {
  case $launcher:$1 in
  hydra:6 | hydra:9 | hydra:11 | hydra:15) echo $((128 + $1)) ;;
  *) echo "$1" ;;
  esac
}

# launcher_ended WANTED STATUS: may a process have ended so? Hydra's status is
# that of any process, those included that it has killed.
launcher_ended() {
  case $launcher:$2 in
  *:"$1" | hydra:9 | hydra:15) return 0 ;;
  *) return 1 ;;
  esac
}

# launcher_forward NAME VALUE: the options that give processes a variable.
launcher_forward() {
  case $launcher in
  hydra) echo "-genv $1 $2" ;;
  *) echo "-x $1=$2" ;;
  esac
}

# The name of mpirun's process, and of the one that it has on each other host.
# shellcheck disable=SC2034 # for tests/hosts
case $launcher in
hydra) launcher_mpirun=mpiexec launcher_daemon=hydra_pmi_proxy ;;
orte) launcher_mpirun=mpirun launcher_daemon=orted ;;
*) launcher_mpirun=prterun launcher_daemon=prted ;;
esac

# launcher_apart FOLDER COMMAND: options of pemsrun or mpirun, COMMAND, that send the
# output of each process to a file of its own there: else it comes in pieces that may
# end within a line.
launcher_apart() {
  case $launcher in
  hydra)
    mkdir -p "$1"
    echo "-outfile-pattern $1/%r"
    ;;
  orte) echo "--output-filename $1:nojobid,nocopy" ;;
  *) [ "$2" = mpirun ] || echo "--wrapper=$(launcher_before "$1")" ;;
  esac
}

# launcher_before FOLDER: what mpirun is to start, with the program as its arguments,
# for the same. Of each two files in a folder PMIx 5.0.7 refuses one (--output).
launcher_before() {
  case $launcher in
  hydra | orte) ;;
  *)
    mkdir -p "$1"
    # shellcheck disable=SC2016 # it is the process that has these
    printf '#!/bin/sh\nexec "$@" >%s/of.$PMIX_RANK.out\n' "'$1'" >"$1/before"
    chmod +x "$1/before"
    echo "$1/before"
    ;;
  esac
}

# launcher_works FOLDER: does output come that way?
launcher_works() {
  # shellcheck disable=SC2046 # options
  "${MPIRUN:-mpirun}" $(launcher_apart "$1" mpirun) -n 2 $(launcher_before "$1") \
    echo word >"$1.all" 2>/dev/null </dev/null
  launcher_output "$1" >>"$1.all"
  [ "$(grep -cx word "$1.all")" -eq 2 ]
}

# launcher_errors FOLDER: prints what came on standard error, where that has files.
launcher_errors() {
  [ ! -d "$1" ] || find "$1" -type f \( -name stderr -o -name '*.err' \) -exec cat {} +
}

# launcher_output FOLDER: prints what came, and removes the folder.
launcher_output() {
  if [ -d "$1" ]; then
    find "$1" -type f ! -name stderr ! -name '*.err' ! -name before -exec cat {} +
    rm -rf "$1"
  fi
}

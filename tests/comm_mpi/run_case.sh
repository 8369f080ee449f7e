#!/usr/bin/env bash
# run_case.sh PROGRAM CASE PROCESSES: runs a case under mpirun and holds it to its exit code, its message, its time, and
# to leaving neither processes nor files in shared memory behind.
set -uo pipefail
program=$1 name=$2 processes=$3
slower=${TRIREME_SLOWER:-1}  # of a sanitizer's build
limit_s=$((20 * slower))
log=$(mktemp)
# A folder of this run alone: other MPI jobs of the machine have files in shared memory too.
shared=$(mktemp -d /dev/shm/comm_mpi_XXXXXX)
export OMPI_MCA_btl_vader_backing_directory=$shared OMPI_MCA_osc_sm_backing_directory=$shared \
  OMPI_MCA_osc_rdma_backing_directory=$shared
trap 'rm -rf "$log" "$shared"' EXIT
fail() { echo "$name on $processes processes: $1"; cat "$log"; exit 1; }

options=(--oversubscribe --bind-to none -n "$processes")
[ "$(id -u)" -eq 0 ] && options+=(--allow-run-as-root)
# Survivors: mpirun leaves them alone, so that they have to notice the death themselves.
[ "$name" = survivors ] && options+=(--enable-recovery)

# A copy of the program under a name of this run alone tells its processes from others.
mine=$(mktemp -u -t comm_mpi_XXXXXX)
ln -s "$program" "$mine"
trap 'rm -rf "$log" "$shared" "$mine"' EXIT
start=$(date +%s)
timeout -k 5 $((100 * slower)) mpirun "${options[@]}" "$mine" "$name" >"$log" 2>&1
code=$?
took_s=$(($(date +%s) - start))

case $name in
  window|messages|threads|threads-messages)
    [ $code -eq 0 ] || fail "exit code $code" ;;
  throws)
    [ $code -eq 3 ] || fail "exit code $code"
    grep -q 'rank 1: the disk is full' "$log" || fail "the failing rank's own message is missing"
    grep -q 'rank 0: rank 1 failed: the disk is full (rank 0 had waited .* in .* of gradients of block 4)' "$log" ||
      fail "rank 0 does not say why" ;;
  absent|stopped|survivors)
    # With recovery on, mpirun's own exit code is 0 whatever its processes say.
    [ $code -eq 3 ] || [ "$name" = survivors ] || fail "exit code $code"
    grep -q 'rank 0: rank 1 \(failed: \)\?did not come to .* of gradients of block 4 within 3.* s' "$log" || fail "no message" ;;
  killed)
    # mpirun notices first, names the process and ends the others.
    [ $code -ne 0 ] || fail "exit code $code"
    grep -Eq 'process rank 1 .*(signal 9|Killed)|rank 1 (did not come|failed)' "$log" || fail "nobody names the dead rank" ;;
esac
case $name in
  throws|absent|stopped|survivors|killed) [ $took_s -le $limit_s ] || fail "took $took_s s" ;;
esac
for _ in 1 2 3 4 5 6 7 8 9 10; do
  left=$(pgrep -f "^$mine" || true)
  [ -z "$left" ] && break
  sleep 0.5
done
[ -z "$left" ] || fail "processes left: $left"
left=$(ls -A "$shared")
[ -z "$left" ] || fail "left in shared memory: $left"
exit 0

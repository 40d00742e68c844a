#!/bin/bash
# Solve a game on a SLURM cluster, a worker a core:
#
#     sbatch --nodes=8 examples/slurm.sh connect-four:6,6 /scratch/me/c4-6x6 /scratch/me/c4-6x6.lmdb
#
# the game, the store (a folder that all nodes share, or s3://BUCKET/PREFIX), and the book. All that lasts is in the
# store: the job goes on where it was after a requeue, a time limit, a dead node, or when it is submitted once more.
#
#SBATCH --job-name=solverbook
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=32
#SBATCH --mem=0
#SBATCH --exclusive
#SBATCH --time=12:00:00
#SBATCH --signal=B:TERM@120
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=solverbook-%j.log

set -euo pipefail
umask 077

if [ $# -ne 3 ]; then
    echo "usage: sbatch examples/slurm.sh GAME STORE BOOK" >&2
    exit 2
fi
game=$1 store=$2 book=$3
: "${SLURM_JOB_ID:?run this by sbatch}"

# Whoever has the token may run anything on these nodes: a new one for each start, in a file of the home folder, which
# the nodes share, that nobody else reads. It does not encrypt: keep the nodes' network to yourself.
export RAY_AUTH_MODE=token
export RAY_AUTH_TOKEN_PATH=$HOME/.ray/solverbook-$SLURM_JOB_ID.token
mkdir -p "$HOME/.ray"
head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n' >"$RAY_AUTH_TOKEN_PATH"

export SRUN_CPUS_PER_TASK=$SLURM_CPUS_PER_TASK # which srun does not take from sbatch any more
one=(--nodes=1 --ntasks=1 --overlap)
mapfile -t nodes < <(scontrol show hostnames "$SLURM_JOB_NODELIST")
head=${nodes[0]}
read -r -a addresses < <(srun "${one[@]}" --nodelist="$head" hostname --ip-address)
for ip in "${addresses[@]}"; do
    [[ $ip == *:* ]] || break # the first of IPv4
done
port=$((20000 + SLURM_JOB_ID % 10000))
# the names of sockets must be short: not below a shared folder, whose path may be long
common=(--disable-usage-stats --temp-dir="/tmp/ray-$SLURM_JOB_ID" --block)

# shellcheck disable=SC2317
finish() {
    local running
    mapfile -t running < <(jobs -p)
    # the shell's own kill: a minimal node has no program of that name
    [ ${#running[@]} -eq 0 ] || kill "${running[@]}" 2>/dev/null || true
    wait || true
    rm -f "$RAY_AUTH_TOKEN_PATH"
}
trap finish EXIT

# The head leaves a core to the driver, which is the solve below.
srun "${one[@]}" --nodelist="$head" ray start --head --node-ip-address="$ip" --port="$port" \
    --num-cpus=$((SLURM_CPUS_PER_TASK - 1)) --include-dashboard=false "${common[@]}" &

for try in $(seq 30); do
    ray status --address "$ip:$port" >/dev/null 2>&1 && break
    if [ "$try" = 30 ]; then
        echo "there is no Ray at $ip:$port" >&2
        exit 1
    fi
    sleep 1
done

others=$((SLURM_JOB_NUM_NODES - 1))
if [ "$others" -gt 0 ]; then
    srun --nodes="$others" --ntasks="$others" --ntasks-per-node=1 --overlap --exclude="$head" \
        ray start --address="$ip:$port" --num-cpus="$SLURM_CPUS_PER_TASK" "${common[@]}" &
fi

# Two minutes before the time limit SLURM signals this script; the solve ends, what is committed stays, and the job
# queues again.
requeue=
trap 'requeue=yes; kill "$solve"' TERM
solver solve "$game" --cluster "$ip:$port" --store "$store" -o "$book" &
solve=$!
status=0
wait "$solve" || status=$?
if [ -n "$requeue" ]; then
    wait "$solve" 2>/dev/null || true
    scontrol requeue "$SLURM_JOB_ID"
fi
exit "$status"

#!/bin/bash
# An array of shards, and a job that merges after them; its exit code is the verdict.
# Start it on a login node, in a folder that all nodes share and that holds no other campaign: bash FILE
#SBATCH --job-name=seedbed
#SBATCH --ntasks=1
case "${1:-submit}" in
  submit)
    array=$(sbatch --parsable --array=1-@shards@ "$0" shard) || exit
    # After any end: a shard that could not run leaves a gap, and the merge says so. A federation adds its cluster's name.
    sbatch --dependency="afterany:${array%%;*}" "$0" merge
    ;;
  shard)
    shard=$SLURM_ARRAY_TASK_ID
    @run@
    @code@
    ;;
  merge)
    @merge@ --html page
    ;;
esac

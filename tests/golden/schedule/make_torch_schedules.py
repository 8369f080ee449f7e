"""PyTorch's own pipeline schedules at 4 ranks and 8 micro-batches, as CSV, for the tests of src/schedule.

    python make_torch_schedules.py        # needs torch >= 2.9; writes torch_*.csv beside itself

PyTorch works a rank's order out from a few counts alone, so no process group and no module is needed.
"""

import csv
import pathlib

import torch.distributed.pipelining.schedules as pipelining

RANKS, MICRO_BATCHES = 4, 8


def rows(kind, stages_per_rank):
    schedule = kind.__new__(kind)
    schedule.pp_group_size = RANKS
    schedule._n_microbatches = MICRO_BATCHES
    schedule.n_local_stages = stages_per_rank
    schedule._stages = [None] * stages_per_rank
    schedule.num_stages = schedule._num_stages = RANKS * stages_per_rank
    schedule.number_of_rounds = MICRO_BATCHES // RANKS
    schedule.microbatches_per_round = RANKS
    table = []
    for rank in range(RANKS):
        schedule.rank = rank
        table.append(schedule._calculate_single_rank_operations(rank))
    return table


def main():
    for name, kind, stages_per_rank in [
        ("interleaved", pipelining.ScheduleInterleaved1F1B, 2),
        ("looped_bfs", pipelining.ScheduleLoopedBFS, 2),
        ("zb_h1", pipelining.ScheduleInterleavedZeroBubble, 1),
        ("interleaved_zb", pipelining.ScheduleInterleavedZeroBubble, 2),
        ("zbv", pipelining.ScheduleZBVZeroBubble, 2),
        ("dualpipev", pipelining.ScheduleDualPipeV, 2),
    ]:
        path = pathlib.Path(__file__).with_name(f"torch_{name}.csv")
        with path.open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(rows(kind, stages_per_rank))


main()

// The pipeline schedules, a file each. What a schedule asks of its input stands in catalog.cpp and has been
// checked before it is called. Beside each: its bubble, the time in which a rank does nothing, and the stored
// activations of the fullest rank, in stages x micro-batches. p ranks, v stages per rank, M micro-batches of
// at least p (2p for DualPipe); F, B, W: a stage's forward, whole backward and weight part; communication
// costs nothing. tests/schedule/formula_test.cpp holds each to them.
#pragma once
#include "schedule/schedule.h"

namespace trireme {

// Bubble (p-1)(F+B), stored M. Huang et al. 2019, "GPipe", section 2.3 (there with backwards in reverse
// order; here in order, which takes as long and keeps the order of gradient sums).
Schedule gpipe(const ScheduleInput& input);

// Bubble (p-1)(F+B), stored min(p, M). Narayanan et al. 2021, "Memory-efficient pipeline-parallel DNN
// training" (PipeDream-Flush).
Schedule one_forward_one_backward(const ScheduleInput& input);

// Bubble (p-1)(F+B), that is 1/v of 1F1B's, since F and B are those of a stage v times as small; stored
// p(v+1) - 1. Narayanan et al. 2021, "Efficient large-scale language model training on GPU clusters",
// section 2.2; the memory is (1 + (p-1)/(pv)) times 1F1B's, Korthikanti et al. 2022, section 4.2.
Schedule interleaved(const ScheduleInput& input);

// Bubble (p-1)(F+B), stored vM. All micro-batches through a stage before the next stage, so that with sharded
// parameters each is gathered once per direction. Lamy-Poirier 2022, "Breadth-first pipeline parallelism".
Schedule looped_bfs(const ScheduleInput& input);

// Bubble (p-1)(F+B-2W), stored p. Qi et al. 2023, "Zero bubble pipeline parallelism", ZB-H1 (whose T_B
// is the input part alone).
Schedule zb_h1(const ScheduleInput& input);

// ZB-H1 over v stages per rank, in the order of the interleaved schedule. Bubble (p-1)(F+B-2W), 1/v of
// ZB-H1's, for M a multiple of p; stored pv.
Schedule interleaved_zb(const ScheduleInput& input);

// From a rank's first step to its last it waits for nothing when F = I = W and M >= 2p - 1; stored 2p, as
// much as 1F1B's p stages twice as large. Qi et al. 2023, ZB-V.
Schedule zbv(const ScheduleInput& input);

// Bubble (p/2-1)(F&B+B-3W), F&B being the time of an overlapped pair; stored p + 1. DeepSeek-V3 technical
// report 2024, section 3.2.1, table 2. Micro-batches 0 to M/2 - 1 enter at rank 0, the others at rank p - 1.
Schedule dualpipe(const ScheduleInput& input);

// DualPipe's lower half: p ranks hold 2p stages in a V, and one copy of the parameters is enough. With P = 2p
// stages the bubble is (P/2-1)(F&B+B-3W), stored P + 1. DeepSeek, DualPipe repository 2025 (after Sea AI
// Lab's "cut-in-half").
Schedule dualpipev(const ScheduleInput& input);

}  // namespace trireme

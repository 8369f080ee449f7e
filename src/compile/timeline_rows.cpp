// Rows are numbered with room for every axis, so that a row's number says what it is.
#include "compile/timeline_rows.h"

#include <fmt/format.h>

#include "compile/timeline_text.h"

namespace trireme {
namespace {

constexpr int64_t kStepRow = 0, kComputeRow = 1, kCommRow = 2, kFirstAxisRow = 3,
                  kFirstP2pRow = kFirstAxisRow + kBlockAxes;

}  // namespace

TimelineRow step_row() { return {kStepRow, "step"}; }

TimelineRow row_of(const Program& program, const Action& action) {
  const std::string stream(name_of(action.stream));
  if (action.stream != Stream::p2p) return {action.stream == Stream::comm ? kCommRow : kComputeRow, stream};
  const int64_t comm = action.transfers[0].comm.index;
  return {kFirstP2pRow + comm, stream + " " + program.comms[static_cast<size_t>(comm)].name};
}

TimelineRow row_of(BlockAxis axis) {
  return {kFirstAxisRow + static_cast<int64_t>(axis), fmt::format("axis {}", name_of(axis))};
}

std::string name_of_action(const Program& program, const Action& action) {
  std::string name(name_of(action.kind));
  if (const std::string subject = subject_of(program, action); !subject.empty()) name += " " + subject;
  if (action.micro_batch >= 0) name += fmt::format(" mb {}", action.micro_batch);
  return name;
}

std::string name_of_axis_call(std::string_view op, const Program& program, const Action& action) {
  return fmt::format("{} in {}", op, name_of_action(program, action));
}

}  // namespace trireme

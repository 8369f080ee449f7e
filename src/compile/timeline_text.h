// What runs when, for people: the schedule of a whole pipeline as a drawing, and a Program's timelines with a
// line per action: its unit, its micro-batch and what it waits for.
#pragma once
#include <string>

#include "ir/program.h"
#include "schedule/schedule.h"

namespace trireme {

// A title and the drawing of schedule/draw.h; "" where there is one rank.
std::string pipeline_text(const Schedule& schedule);

// "layers.3", "embed.weight/grad": what an action works on. A unit's name, or the buffer that a transfer
// fills, or that it sends.
std::string subject_of(const Program& program, const Action& action);

std::string timelines_text(const Program& program);

}  // namespace trireme

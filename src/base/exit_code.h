// The exit codes of the program (docs/errors.md).
#pragma once

namespace trireme {

inline constexpr int kDone = 0;
inline constexpr int kUserMistake = 2;       // a UserError
inline constexpr int kEnvironment = 3;       // an EnvError
inline constexpr int kStoppedAndSaved = 75;  // before its last step, with a checkpoint saved: start it again

}  // namespace trireme

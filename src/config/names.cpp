// How the enums of a config are written, in the order of their values.
#include "config/run_spec.h"

namespace trireme {
namespace {
using Names = std::span<const std::string_view>;
constexpr std::string_view kFamilies[] = {"gpt2", "llama", "deepseek"};
constexpr std::string_view kActivations[] = {"gelu_tanh", "gelu", "relu2", "swiglu"};
constexpr std::string_view kRopeScalings[] = {"none", "linear", "ntk", "yarn", "llama3"};
constexpr std::string_view kRopeLayouts[] = {"half", "interleaved"};
constexpr std::string_view kRouterScores[] = {"softmax", "sigmoid"};
constexpr std::string_view kSoftmaxOrders[] = {"before", "after"};
constexpr std::string_view kAuxScopes[] = {"micro_batch", "sequence"};
constexpr std::string_view kPackings[] = {"stream", "document"};
constexpr std::string_view kOptimizers[] = {"adamw", "sgd"};
constexpr std::string_view kLrs[] = {"constant", "linear", "cosine", "wsd"};
constexpr std::string_view kComputes[] = {"bf16", "fp32"};
constexpr std::string_view kSchedules[] = {"gpipe",          "1f1b", "interleaved", "looped_bfs", "zb_h1",
                                           "interleaved_zb", "zbv",  "dualpipe",    "dualpipev"};
constexpr std::string_view kContextModes[] = {"ring", "allgather", "ulysses"};
constexpr std::string_view kRecomputes[] = {"none", "selective", "full"};
constexpr std::string_view kSaveFailures[] = {"stop", "continue"};
constexpr std::string_view kDevices[] = {"auto", "cpu", "null"};
}  // namespace

Names names_of_values(Family) { return kFamilies; }
Names names_of_values(Activation) { return kActivations; }
Names names_of_values(RopeScalingKind) { return kRopeScalings; }
Names names_of_values(RopeLayout) { return kRopeLayouts; }
Names names_of_values(RouterScore) { return kRouterScores; }
Names names_of_values(SoftmaxOrder) { return kSoftmaxOrders; }
Names names_of_values(AuxScope) { return kAuxScopes; }
Names names_of_values(Packing) { return kPackings; }
Names names_of_values(OptimizerKind) { return kOptimizers; }
Names names_of_values(LrKind) { return kLrs; }
Names names_of_values(Compute) { return kComputes; }
Names names_of_values(PipelineSchedule) { return kSchedules; }
Names names_of_values(ContextMode) { return kContextModes; }
Names names_of_values(RecomputeKind) { return kRecomputes; }
Names names_of_values(OnSaveFailure) { return kSaveFailures; }
Names names_of_values(DeviceKind) { return kDevices; }

}  // namespace trireme

// With Poisson failures the expected wall clock of an interval is M e^(R/M) (e^((tau + delta)/M) - 1): it is
// tried until one try of tau + delta passes without a failure, and each restart may fail as well.
#include "plan/calculators/save_interval.h"

#include <fmt/format.h>

#include <cmath>

#include "base/error.h"
#include "sim/failures.h"

namespace trireme {
namespace {

// Results at one interval, under keys that begin with `name`.
AnswerSection section_at(const std::string& name, AnswerSection section, double interval_s,
                         const Failures& failures) {
  const Expected expected = expected_at(interval_s, failures);
  const std::string tau = plain(interval_s), delta = plain(failures.save_s), m = plain(failures.mtbf_s),
                    r = plain(failures.restart_s);
  section.results.push_back(worked_fraction(
      {.key = name + "_goodput",
       .label = "goodput",
       .value = expected.goodput,
       .formula = "tau / (M * e^(R/M) * (e^((tau+delta)/M) - 1))",
       .numbers = fmt::format("{} / ({} * e^({}/{}) * (e^(({}+{})/{}) - 1))", tau, m, r, m, tau, delta, m)}));
  section.results.push_back(
      worked_fraction({.key = name + "_saving",
                       .label = "in saves",
                       .value = expected.saving,
                       .formula = "goodput * delta / tau",
                       .numbers = fmt::format("{:.5g} * {} / {}", expected.goodput, delta, tau)}));
  section.results.push_back(
      worked_fraction({.key = name + "_lost",
                       .label = "in restarts and work done again",
                       .value = expected.lost,
                       .formula = "1 - goodput - saves",
                       .numbers = fmt::format("1 - {:.5g} - {:.5g}", expected.goodput, expected.saving)}));
  section.results.push_back(worked_seconds(
      {.key = name + "_lost_work",
       .label = "work lost per failure",
       .value = expected.lost_work_s,
       .formula = "M - (tau+delta) / (e^((tau+delta)/M) - 1)",
       .numbers = fmt::format("{} - ({}+{}) / (e^(({}+{})/{}) - 1)", m, tau, delta, tau, delta, m)}));
  return section;
}

Worked interval_result(const std::string& name, double interval_s) {
  return worked_seconds({.key = name + "_interval", .label = "tau, between saves", .value = interval_s});
}

AnswerSection young_section(const Failures& failures) {
  AnswerSection section{"Young 1974", {}};
  const double interval_s = young_interval(failures);
  Worked result = interval_result("young", interval_s);
  result.formula = "sqrt(2 * delta * M)";
  result.numbers = fmt::format("sqrt(2 * {} * {})", plain(failures.save_s), plain(failures.mtbf_s));
  section.results.push_back(std::move(result));
  return section_at("young", std::move(section), interval_s, failures);
}

AnswerSection daly_section(const Failures& failures) {
  AnswerSection section{"Daly 2006", {}};
  const double interval_s = daly_interval(failures);
  const std::string delta = plain(failures.save_s), m = plain(failures.mtbf_s);
  Worked result = interval_result("daly", interval_s);
  if (failures.save_s >= 2 * failures.mtbf_s) {
    result.formula = "M, since delta >= 2 M";
    result.numbers = m;
  } else {
    result.formula = "sqrt(2*delta*M) * (1 + sqrt(delta/(2*M))/3 + delta/(2*M)/9) - delta";
    result.numbers = fmt::format("sqrt(2*{}*{}) * (1 + sqrt({}/(2*{}))/3 + {}/(2*{})/9) - {}", delta, m,
                                 delta, m, delta, m, delta);
  }
  section.results.push_back(std::move(result));
  return section_at("daly", std::move(section), interval_s, failures);
}

// Below this share of goodput a run does not come to its end.
constexpr double kLeastGoodput = 1e-6;

void refuse_hopeless(const Failures& failures, int64_t units) {
  if (expected_at(daly_interval(failures), failures).goodput >= kLeastGoodput) return;
  fail_user(
      "--devices {}: a failure comes every {}, so that saves of {} and restarts of {} hardly ever come to "
      "their end and the run would not get on; use fewer devices, or shorten --save and --restart",
      units, as_duration(failures.mtbf_s), as_duration(failures.save_s), as_duration(failures.restart_s));
}

}  // namespace

double run_mtbf(double unit_mtbf_s, int64_t units) { return unit_mtbf_s / static_cast<double>(units); }

double young_interval(const Failures& failures) { return std::sqrt(2 * failures.save_s * failures.mtbf_s); }

double daly_interval(const Failures& failures) {
  if (failures.save_s >= 2 * failures.mtbf_s) return failures.mtbf_s;
  const double ratio = failures.save_s / (2 * failures.mtbf_s);
  return young_interval(failures) * (1 + std::sqrt(ratio) / 3 + ratio / 9) - failures.save_s;
}

double slowdown(double interval_s, const Failures& failures) {
  return expected_slowdown({.work_s = interval_s, .save_s = failures.save_s},
                           {.mtbf_s = failures.mtbf_s, .restart_s = failures.restart_s});
}

Expected expected_at(double interval_s, const Failures& failures) {
  CHECK(interval_s > 0 && failures.mtbf_s > 0, "tau = {}, M = {}", interval_s, failures.mtbf_s);
  const double m = failures.mtbf_s, tried_s = interval_s + failures.save_s;
  Expected expected;
  expected.goodput = 1 / slowdown(interval_s, failures);
  expected.saving = expected.goodput * failures.save_s / interval_s;
  expected.lost = 1 - expected.goodput - expected.saving;
  const double odds = std::expm1(tried_s / m);
  // M - t/(e^(t/M) - 1) loses all digits where t is much less than M; there it is t/2 (1 - t/6M + ...).
  expected.lost_work_s = tried_s < 1e-4 * m ? tried_s / 2 * (1 - tried_s / (6 * m)) : m - tried_s / odds;
  return expected;
}

Answer save_interval(const IntervalInput& input) {
  const Failures failures{.mtbf_s = run_mtbf(input.unit_mtbf_s, input.units),
                          .save_s = input.save_s,
                          .restart_s = input.restart_s};
  refuse_hopeless(failures, input.units);
  Answer answer;
  AnswerSection rate{"Failures, as a Poisson process", {}};
  rate.results.push_back(
      worked_seconds({.key = "mtbf",
                      .label = "M, between failures of the run",
                      .value = failures.mtbf_s,
                      .formula = "M_unit / units",
                      .numbers = fmt::format("{} s / {}", plain(input.unit_mtbf_s), input.units)}));
  rate.results.push_back(worked_number({.key = "failures_per_day",
                                        .label = "failures per day",
                                        .value = kDay_s / failures.mtbf_s,
                                        .formula = "86400 / M",
                                        .numbers = fmt::format("86400 / {}", plain(failures.mtbf_s))}));
  answer.sections = {rate, young_section(failures), daly_section(failures)};
  if (input.own_interval_s > 0) {
    AnswerSection own{"The interval given", {interval_result("own", input.own_interval_s)}};
    answer.sections.push_back(section_at("own", std::move(own), input.own_interval_s, failures));
  }
  answer.notes.push_back(
      fmt::format("delta = {}, how long a save stops the run: of one that is written behind the steps, only "
                  "the copy. R = {}, from a failure until the run goes on.",
                  as_duration(input.save_s), as_duration(input.restart_s)));
  if (find_result(answer, "daly_goodput")->value < 0.5)
    answer.notes.push_back(
        "More than half of the time goes into failures: faster saves and restarts, or spare machines, matter "
        "more than the interval.");
  return answer;
}

}  // namespace trireme

// A plan and a search as text for people.
#pragma once
#include <string>
#include <vector>

#include "plan/nearest_fit.h"
#include "plan/search.h"

namespace trireme {

std::string plan_text(const Plan& plan);
// What to change where it does not fit; `fixes` may be empty.
std::string fixes_text(const Plan& plan, const std::vector<Fix>& fixes);
std::string search_text(const SearchResult& result, const RunSpec& base, const Cluster& cluster);

}  // namespace trireme

// A plan and a search as JSON for machines. Units stand in the names.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "plan/calculators/worked.h"
#include "plan/nearest_fit.h"
#include "plan/search.h"

namespace trireme {

// cost: of plan/calculators/run_cost.h, where there are prices.
std::string plan_json(const Plan& plan, const std::vector<Fix>& fixes, const std::optional<Answer>& cost);
std::string search_json(const SearchResult& result, const Cluster& cluster);

}  // namespace trireme

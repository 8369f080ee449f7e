// A plan and a search as JSON for machines. Units stand in the names.
#pragma once
#include <string>
#include <vector>

#include "plan/nearest_fit.h"
#include "plan/search.h"

namespace trireme {

std::string plan_json(const Plan& plan, const std::vector<Fix>& fixes);
std::string search_json(const SearchResult& result, const Cluster& cluster);

}  // namespace trireme

// getenv, and the lines "key = value" of one section of a file.
#include "cli/store_environment.h"

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <initializer_list>
#include <map>
#include <string>

namespace trireme::cli {
namespace {

// The first of them that is set to something.
std::string variable(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const char* value = std::getenv(name);
    if (value != nullptr && *value != '\0') return value;
  }
  return "";
}

std::string trimmed(const std::string& text) {
  const size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::map<std::string, std::string> profile_in(const std::string& path, const std::string& profile) {
  std::map<std::string, std::string> values;
  std::ifstream file(path);
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    line = trimmed(line);
    if (line.starts_with('[')) {
      inside = trimmed(line.substr(1, line.find(']') - 1)) == profile;
      continue;
    }
    const size_t equals = line.find('=');
    if (!inside || equals == std::string::npos || line.starts_with('#') || line.starts_with(';')) continue;
    values[trimmed(line.substr(0, equals))] = trimmed(line.substr(equals + 1));
  }
  return values;
}

void read_profile(S3Options& options) {
  std::string path = variable({"AWS_SHARED_CREDENTIALS_FILE"});
  if (path.empty()) path = variable({"HOME"}) + "/.aws/credentials";
  std::string profile = variable({"AWS_PROFILE"});
  if (profile.empty()) profile = "default";
  std::map<std::string, std::string> values = profile_in(path, profile);
  options.access_key = values["aws_access_key_id"];
  options.secret_key = values["aws_secret_access_key"];
  options.session_token = values["aws_session_token"];
  if (options.region.empty()) options.region = values["region"];
  options.credentials_source = fmt::format("profile {} of {}", profile, path);
}

}  // namespace

S3Options s3_options_from_environment() {
  S3Options options;
  options.endpoint = variable({"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"});
  options.region = variable({"AWS_REGION", "AWS_DEFAULT_REGION"});
  options.ca_file = variable({"AWS_CA_BUNDLE"});
  // HTTP_PROXY in capitals is a header's name to web servers, and not taken, as curl does not.
  options.proxy = options.endpoint.starts_with("http://") ? variable({"http_proxy"})
                                                          : variable({"https_proxy", "HTTPS_PROXY"});
  options.no_proxy = variable({"no_proxy", "NO_PROXY"});
  options.access_key = variable({"AWS_ACCESS_KEY_ID"});
  options.secret_key = variable({"AWS_SECRET_ACCESS_KEY"});
  options.session_token = variable({"AWS_SESSION_TOKEN"});
  options.credentials_source = "the environment";
  if (options.access_key.empty() || options.secret_key.empty()) read_profile(options);
  return options;
}

}  // namespace trireme::cli

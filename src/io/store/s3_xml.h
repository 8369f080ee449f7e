// The XML that S3 speaks: what of it a store needs.
#pragma once
#include <string>
#include <vector>

namespace trireme {

struct S3Error {
  std::string code;     // "NoSuchBucket"; "" when the text is no error
  std::string message;  // the server's
  std::string region;   // the right one, where the server says so
};
S3Error parse_s3_error(const std::string& xml);

struct ListPage {
  std::vector<std::string> keys;
  std::vector<std::string> prefixes;  // up to the delimiter, and with it
  std::string continuation;           // token of the next page; "" at the last
};
// EnvError when it is no page of a list; `where` names it.
ListPage parse_list_page(const std::string& xml, const std::string& where);

std::string parse_upload_id(const std::string& xml);                     // "" when there is none
std::string complete_upload_xml(const std::vector<std::string>& etags);  // of parts 1, 2, ...

}  // namespace trireme

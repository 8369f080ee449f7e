// Reading by pugixml.
#include "io/store/s3_xml.h"

#include <pugixml.hpp>
#include <string_view>

#include "base/error.h"
#include "io/store/s3_address.h"

namespace trireme {
namespace {

pugi::xml_document parse(const std::string& xml) {
  pugi::xml_document document;
  document.load_buffer(xml.data(), xml.size());
  return document;  // empty when it is no XML
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '"')
      out += "&quot;";
    else if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else
      out += c;
  }
  return out;
}

}  // namespace

S3Error parse_s3_error(const std::string& xml) {
  const pugi::xml_document document = parse(xml);
  const pugi::xml_node error = document.child("Error");
  return {error.child_value("Code"), error.child_value("Message"), error.child_value("Region")};
}

ListPage parse_list_page(const std::string& xml, const std::string& where) {
  const pugi::xml_document document = parse(xml);
  const pugi::xml_node root = document.child("ListBucketResult");
  if (!root) fail_env("the list of {} is no answer of an S3 store: look at the endpoint", where);
  const bool encoded = std::string_view(root.child_value("EncodingType")) == "url";
  const auto decode = [&](const char* text) { return encoded ? decode_form(text) : std::string(text); };
  ListPage page;
  for (const pugi::xml_node entry : root.children("Contents"))
    page.keys.push_back(decode(entry.child_value("Key")));
  for (const pugi::xml_node entry : root.children("CommonPrefixes"))
    page.prefixes.push_back(decode(entry.child_value("Prefix")));
  if (std::string_view(root.child_value("IsTruncated")) == "true") {
    page.continuation = root.child_value("NextContinuationToken");
    if (page.continuation.empty()) fail_env("the list of {} goes on, but does not say where", where);
  }
  return page;
}

std::string parse_upload_id(const std::string& xml) {
  return parse(xml).child("InitiateMultipartUploadResult").child_value("UploadId");
}

std::string complete_upload_xml(const std::vector<std::string>& etags) {
  std::string xml = "<CompleteMultipartUpload>";
  for (size_t i = 0; i < etags.size(); ++i)
    xml += fmt::format("<Part><PartNumber>{}</PartNumber><ETag>{}</ETag></Part>", i + 1, escaped(etags[i]));
  return xml + "</CompleteMultipartUpload>";
}

}  // namespace trireme

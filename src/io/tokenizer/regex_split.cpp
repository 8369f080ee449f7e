// PCRE2 behind RegexSplitter. Limits on matching keep a hostile expression from hanging the run.
#define PCRE2_CODE_UNIT_WIDTH 8
#include "io/tokenizer/regex_split.h"

#include <pcre2.h>

#include "base/error.h"

namespace trireme {
namespace {

constexpr size_t kStackBytes = size_t{1} << 20;       // the compiled matcher's own stack, at first
constexpr size_t kMaxStackBytes = size_t{256} << 20;  // and at most
constexpr uint32_t kMatchLimit = 200'000'000;         // backtracking steps per piece

std::string message_of(int code) {
  PCRE2_UCHAR text[256];
  pcre2_get_error_message(code, text, sizeof text);
  return reinterpret_cast<const char*>(text);
}

template <auto Free>
struct Deleter {
  template <class T>
  void operator()(T* owned) const {
    Free(owned);
  }
};

template <class T, auto Free>
using Owned = std::unique_ptr<T, Deleter<Free>>;

}  // namespace

struct RegexSplitter::Code {
  std::string regex;
  Owned<pcre2_code, pcre2_code_free> code;
  Owned<pcre2_match_context, pcre2_match_context_free> context;
  Owned<pcre2_jit_stack, pcre2_jit_stack_free> stack;
  Owned<pcre2_match_data, pcre2_match_data_free> match;
};

RegexSplitter::RegexSplitter(const std::string& regex) : code_(std::make_unique<Code>()) {
  int error = 0;
  PCRE2_SIZE offset = 0;
  code_->regex = regex;
  code_->code.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(regex.data()), regex.size(),
                                  PCRE2_UTF | PCRE2_UCP | PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C,
                                  &error, &offset, nullptr));
  if (!code_->code) {
    fail_user("split pattern {} is no regular expression that PCRE2 takes: {} at offset {}", regex,
              message_of(error), offset);
  }
  pcre2_jit_compile(code_->code.get(), PCRE2_JIT_COMPLETE);  // where it cannot, the interpreter runs
  code_->context.reset(pcre2_match_context_create(nullptr));
  pcre2_set_match_limit(code_->context.get(), kMatchLimit);
  code_->stack.reset(pcre2_jit_stack_create(kStackBytes, kMaxStackBytes, nullptr));
  if (code_->stack) pcre2_jit_stack_assign(code_->context.get(), nullptr, code_->stack.get());
  code_->match.reset(pcre2_match_data_create_from_pattern(code_->code.get(), nullptr));
}

RegexSplitter::~RegexSplitter() = default;

void RegexSplitter::split(std::string_view text, const std::function<void(std::string_view)>& visit) {
  size_t done = 0;    // visited so far
  size_t search = 0;  // where the next match may begin
  while (search <= text.size()) {
    const int found = pcre2_match(code_->code.get(), reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(),
                                  search, PCRE2_NOTEMPTY, code_->match.get(), code_->context.get());
    if (found == PCRE2_ERROR_NOMATCH) break;
    if (found < 0) {
      fail_user("split pattern {} gave up at byte {} of a text of {} bytes: {}; use a simpler pattern",
                code_->regex, search, text.size(), message_of(found));
    }
    const PCRE2_SIZE* ends = pcre2_get_ovector_pointer(code_->match.get());
    if (ends[0] < done || ends[1] <= ends[0]) break;  // \K can turn a match inside out
    if (ends[0] > done) visit(text.substr(done, ends[0] - done));
    visit(text.substr(ends[0], ends[1] - ends[0]));
    done = search = ends[1];
  }
  if (done < text.size()) visit(text.substr(done));
}

}  // namespace trireme

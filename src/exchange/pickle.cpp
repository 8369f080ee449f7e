// The unpickler: a stack machine whose stack holds indices. Every length is held against the bytes that are
// left before it is used.
#include "exchange/pickle.h"

#include <algorithm>
#include <array>
#include <bit>
#include <unordered_map>
#include <utility>

#include "base/error.h"

namespace trireme {
namespace {

constexpr size_t kMaxBytes = size_t{1} << 28;  // and as many values of 64 bytes at most
constexpr size_t kMaxMarks = 1000;             // open lists and tuples; torch's pickles have less than ten
// The one class that pickle fills item by item: it is read as the dict that it is.
constexpr std::string_view kOrderedDict = "collections.OrderedDict";

struct Unpickler {
  Unpickler(std::span<const std::byte> bytes, const PickleRules& rules, const std::string& file)
      : bytes_(bytes), rules_(rules), file_(file) {}

  Pickle run();

  [[noreturn]] void refuse(const std::string& what) const {
    fail_env("{}: at byte {}, opcode 0x{:02x}: {}", file_, opcode_at_, opcode_, what);
  }

  // ---- bytes ----

  void next_opcode() {
    opcode_at_ = at_;
    opcode_ = 0;
    if (at_ == bytes_.size()) refuse("the pickle is cut short");
    opcode_ = std::to_integer<uint8_t>(bytes_[at_++]);
  }

  std::string_view take(uint64_t size) {
    if (size > bytes_.size() - at_)
      refuse(fmt::format("{} bytes are announced and {} are left: cut short or damaged", size,
                         bytes_.size() - at_));
    const std::string_view text(reinterpret_cast<const char*>(bytes_.data()) + at_, size);
    at_ += size;
    return text;
  }

  uint64_t number(size_t size) {  // little-endian
    uint64_t value = 0;
    const std::string_view text = take(size);
    for (size_t i = 0; i < size; ++i) value |= uint64_t{static_cast<uint8_t>(text[i])} << (8 * i);
    return value;
  }

  std::string_view line() {
    const size_t begin = at_;
    while (at_ < bytes_.size() && bytes_[at_] != std::byte{'\n'}) ++at_;
    if (at_ == bytes_.size()) refuse("a name without an end");
    return {reinterpret_cast<const char*>(bytes_.data()) + begin, at_++ - begin};
  }

  // ---- the stack ----

  size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }

  PickleId pop() {
    if (stack_.size() <= floor()) refuse("nothing is on the stack");
    const PickleId id = stack_.back();
    stack_.pop_back();
    return id;
  }

  PickleId top() const {
    if (stack_.size() <= floor()) refuse("nothing is on the stack");
    return stack_.back();
  }

  std::vector<PickleId> pop_last(size_t count) {
    if (stack_.size() - floor() < count) refuse("the stack has too few values");
    std::vector<PickleId> items(stack_.end() - static_cast<std::ptrdiff_t>(count), stack_.end());
    stack_.resize(stack_.size() - count);
    return items;
  }

  std::vector<PickleId> pop_to_mark() {
    if (marks_.empty()) refuse("no mark is on the stack");
    std::vector<PickleId> items = pop_last(stack_.size() - marks_.back());
    marks_.pop_back();
    return items;
  }

  void mark() {
    if (marks_.size() == kMaxMarks) refuse(fmt::format("more than {} open marks", kMaxMarks));
    marks_.push_back(stack_.size());
  }

  void push(PickleValue value) {
    stack_.emplace_back(static_cast<int64_t>(pickle_.values.size()));
    pickle_.values.push_back(std::move(value));
  }
  void push_integer(int64_t value) { push({.kind = PickleKind::integer, .integer = value}); }
  void push_boolean(int64_t value) { push({.kind = PickleKind::boolean, .integer = value}); }
  void push_text(PickleKind kind, uint64_t size) { push({.kind = kind, .text = take(size)}); }
  void push_tuple(std::vector<PickleId> items) {
    push({.kind = PickleKind::tuple, .items = std::move(items)});
  }

  PickleValue& value(PickleId id) { return pickle_.values[static_cast<size_t>(id.index)]; }

  PickleValue& expect(PickleId id, PickleKind kind, const char* what) {
    if (value(id).kind != kind) refuse(fmt::format("{} instead of {}", describe(pickle_, id), what));
    return value(id);
  }

  // ---- what opcodes do ----

  void push_long(uint64_t size) {  // two's complement
    if (size > 8) refuse(fmt::format("an integer of {} bytes", size));
    uint64_t bits = number(size);
    if (size > 0 && size < 8 && (bits >> (8 * size - 1)) != 0) bits |= ~uint64_t{0} << (8 * size);
    push_integer(static_cast<int64_t>(bits));
  }

  void push_real() {
    uint64_t bits = 0;
    for (const char c : take(8)) bits = bits << 8 | static_cast<uint8_t>(c);
    push({.kind = PickleKind::real, .real = std::bit_cast<double>(bits)});
  }

  void push_class(std::string_view module, std::string_view name) {
    const std::string full = fmt::format("{}.{}", module, name);
    const auto known = std::find(rules_.classes.begin(), rules_.classes.end(), full);
    if (known == rules_.classes.end())
      refuse(fmt::format("it names {}, which is not of this format; nothing of it was run", full));
    push({.kind = PickleKind::class_name, .text = *known});
  }

  void global() {
    const std::string_view module = line();
    push_class(module, line());
  }

  void stack_global() {
    const PickleId name = pop();
    const PickleId module = pop();
    push_class(expect(module, PickleKind::text, "a module's name").text,
               expect(name, PickleKind::text, "a class's name").text);
  }

  void make_object() {
    const PickleId args = pop();
    const PickleId made = pop();
    expect(args, PickleKind::tuple, "a tuple of arguments");
    expect(made, PickleKind::class_name, "a class");
    if (value(made).text == kOrderedDict) {
      if (!value(args).items.empty()) refuse("an OrderedDict with arguments");
      push({.kind = PickleKind::dict});
    } else {
      push({.kind = PickleKind::object, .items = {made, args}});
    }
  }

  void build() {
    const PickleId state = pop();
    PickleValue& object = expect(top(), PickleKind::object, "an object to give state to");
    if (object.items.size() != 2) refuse("an object gets state twice");
    object.items.push_back(state);
  }

  void append(const std::vector<PickleId>& items) {
    PickleValue& list = expect(top(), PickleKind::list, "a list to append to");
    list.items.insert(list.items.end(), items.begin(), items.end());
  }

  void set_items(const std::vector<PickleId>& items) {
    if (items.size() % 2 != 0) refuse("a key without a value");
    PickleValue& dict = expect(top(), PickleKind::dict, "a dict to set items of");
    dict.items.insert(dict.items.end(), items.begin(), items.end());
  }

  void persistent() {
    if (!rules_.persistent_ids) refuse("a persistent id, which this format has none of");
    const PickleId id = pop();
    push({.kind = PickleKind::persistent, .items = {id}});
  }

  void remember(uint64_t slot) { memo_[slot] = top(); }

  void recall(uint64_t slot) {
    const auto it = memo_.find(slot);
    if (it == memo_.end()) refuse(fmt::format("nothing was remembered as {}", slot));
    stack_.push_back(it->second);
  }

  void frame() {
    const uint64_t size = number(8);
    if (size > bytes_.size() - at_)
      refuse(fmt::format("a frame of {} bytes where {} are left: cut short or damaged", size,
                         bytes_.size() - at_));
  }

  std::span<const std::byte> bytes_;
  const PickleRules& rules_;
  const std::string& file_;
  size_t at_ = 0;
  size_t opcode_at_ = 0;
  uint8_t opcode_ = 0;
  std::vector<PickleId> stack_;
  std::vector<size_t> marks_;  // sizes of the stack
  std::unordered_map<uint64_t, PickleId> memo_;
  Pickle pickle_;
};

struct Opcode {
  uint8_t code;
  void (*run)(Unpickler&);
};

// NEWOBJ is REDUCE here, since neither calls anything.
constexpr Opcode kOpcodes[] = {
    // PROTO FRAME STOP
    {0x95, [](Unpickler& u) { u.frame(); }},
    {'.', [](Unpickler&) {}},
    // MARK POP POP_MARK DUP
    {'(', [](Unpickler& u) { u.mark(); }},
    {'0', [](Unpickler& u) { u.pop(); }},
    {'1', [](Unpickler& u) { u.pop_to_mark(); }},
    {'2', [](Unpickler& u) { u.stack_.push_back(u.top()); }},
    // NONE NEWTRUE NEWFALSE
    {'N', [](Unpickler& u) { u.push({}); }},
    {0x88, [](Unpickler& u) { u.push_boolean(1); }},
    {0x89, [](Unpickler& u) { u.push_boolean(0); }},
    // BININT1 BININT2 BININT LONG1 LONG4 BINFLOAT
    {'K', [](Unpickler& u) { u.push_integer(static_cast<int64_t>(u.number(1))); }},
    {'M', [](Unpickler& u) { u.push_integer(static_cast<int64_t>(u.number(2))); }},
    {'J', [](Unpickler& u) { u.push_integer(static_cast<int32_t>(u.number(4))); }},
    {0x8a, [](Unpickler& u) { u.push_long(u.number(1)); }},
    {0x8b, [](Unpickler& u) { u.push_long(u.number(4)); }},
    {'G', [](Unpickler& u) { u.push_real(); }},
    // SHORT_BINUNICODE BINUNICODE BINUNICODE8 SHORT_BINBYTES BINBYTES BINBYTES8
    {0x8c, [](Unpickler& u) { u.push_text(PickleKind::text, u.number(1)); }},
    {'X', [](Unpickler& u) { u.push_text(PickleKind::text, u.number(4)); }},
    {0x8d, [](Unpickler& u) { u.push_text(PickleKind::text, u.number(8)); }},
    {'C', [](Unpickler& u) { u.push_text(PickleKind::bytes, u.number(1)); }},
    {'B', [](Unpickler& u) { u.push_text(PickleKind::bytes, u.number(4)); }},
    {0x8e, [](Unpickler& u) { u.push_text(PickleKind::bytes, u.number(8)); }},
    // EMPTY_LIST APPEND APPENDS
    {']', [](Unpickler& u) { u.push({.kind = PickleKind::list}); }},
    {'a', [](Unpickler& u) { u.append({u.pop()}); }},
    {'e', [](Unpickler& u) { u.append(u.pop_to_mark()); }},
    // EMPTY_TUPLE TUPLE TUPLE1 TUPLE2 TUPLE3
    {')', [](Unpickler& u) { u.push_tuple({}); }},
    {'t', [](Unpickler& u) { u.push_tuple(u.pop_to_mark()); }},
    {0x85, [](Unpickler& u) { u.push_tuple(u.pop_last(1)); }},
    {0x86, [](Unpickler& u) { u.push_tuple(u.pop_last(2)); }},
    {0x87, [](Unpickler& u) { u.push_tuple(u.pop_last(3)); }},
    // EMPTY_DICT SETITEM SETITEMS
    {'}', [](Unpickler& u) { u.push({.kind = PickleKind::dict}); }},
    {'s', [](Unpickler& u) { u.set_items(u.pop_last(2)); }},
    {'u', [](Unpickler& u) { u.set_items(u.pop_to_mark()); }},
    // GLOBAL STACK_GLOBAL REDUCE NEWOBJ BUILD BINPERSID
    {'c', [](Unpickler& u) { u.global(); }},
    {0x93, [](Unpickler& u) { u.stack_global(); }},
    {'R', [](Unpickler& u) { u.make_object(); }},
    {0x81, [](Unpickler& u) { u.make_object(); }},
    {'b', [](Unpickler& u) { u.build(); }},
    {'Q', [](Unpickler& u) { u.persistent(); }},
    // BINPUT LONG_BINPUT MEMOIZE BINGET LONG_BINGET
    {'q', [](Unpickler& u) { u.remember(u.number(1)); }},
    {'r', [](Unpickler& u) { u.remember(u.number(4)); }},
    {0x94, [](Unpickler& u) { u.remember(u.memo_.size()); }},
    {'h', [](Unpickler& u) { u.recall(u.number(1)); }},
    {'j', [](Unpickler& u) { u.recall(u.number(4)); }},
};

constexpr auto kRunByCode = [] {
  std::array<void (*)(Unpickler&), 256> table{};
  for (const Opcode& opcode : kOpcodes) table[opcode.code] = opcode.run;
  return table;
}();

Pickle Unpickler::run() {
  if (bytes_.size() > kMaxBytes)
    fail_env("{} has {} bytes; more than {} are not read", file_, bytes_.size(), kMaxBytes);
  next_opcode();
  const uint64_t protocol = opcode_ == 0x80 ? number(1) : 0;
  if (protocol < 2 || protocol > 5) refuse("it is no pickle of protocol 2 to 5");
  do {
    next_opcode();
    const auto run_opcode = kRunByCode[opcode_];
    if (!run_opcode)
      refuse("no file of this format needs this opcode: the file is damaged or of another kind");
    run_opcode(*this);
  } while (opcode_ != '.');
  if (at_ != bytes_.size()) refuse(fmt::format("{} bytes follow the end of the pickle", bytes_.size() - at_));
  pickle_.root = pop();
  if (!stack_.empty() || !marks_.empty()) refuse(fmt::format("{} values are left over", stack_.size()));
  return std::move(pickle_);
}

}  // namespace

Pickle parse_pickle(std::span<const std::byte> bytes, const PickleRules& rules, const std::string& file) {
  return Unpickler(bytes, rules, file).run();
}

std::string describe(const Pickle& pickle, PickleId id) {
  const PickleValue& value = pickle.at(id);
  switch (value.kind) {
    case PickleKind::none:
      return "None";
    case PickleKind::boolean:
      return value.integer != 0 ? "True" : "False";
    case PickleKind::integer:
      return fmt::format("the integer {}", value.integer);
    case PickleKind::real:
      return fmt::format("the number {}", value.real);
    case PickleKind::text:
      return fmt::format("a text of {} bytes", value.text.size());
    case PickleKind::bytes:
      return fmt::format("{} bytes", value.text.size());
    case PickleKind::list:
      return fmt::format("a list of {}", value.items.size());
    case PickleKind::tuple:
      return fmt::format("a tuple of {}", value.items.size());
    case PickleKind::dict:
      return fmt::format("a dict of {}", value.items.size() / 2);
    case PickleKind::class_name:
      return std::string(value.text);
    case PickleKind::object:
      return fmt::format("{}(...)", pickle.at(value.items[0]).text);
    case PickleKind::persistent:
      return "a persistent id";
  }
  return "";
}

}  // namespace trireme

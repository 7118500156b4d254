#include "sql/parser/ast.h"

#include <new>

namespace stoa::sql {
namespace {

// Memory of nodes that one thread has let go, at most kMostKept of them.
class NodePool {
 public:
  ~NodePool() {
    for (void* node : kept_) {
      ::operator delete(node);
    }
  }

  void* Take() {
    if (kept_.empty()) {
      return ::operator new(sizeof(ParsedExpr));
    }
    void* node = kept_.back();
    kept_.pop_back();
    return node;
  }

  void Give(void* node) {
    if (kept_.size() < kMostKept) {
      kept_.push_back(node);
    } else {
      ::operator delete(node);
    }
  }

 private:
  static constexpr size_t kMostKept = 8192;  // 2 MB
  std::vector<void*> kept_;
};

thread_local NodePool node_pool;

}  // namespace

ParsedExpr::ParsedExpr() = default;
ParsedExpr::~ParsedExpr() = default;

void* ParsedExpr::operator new(size_t) { return node_pool.Take(); }

void ParsedExpr::operator delete(void* node) {
  if (node != nullptr) {
    node_pool.Give(node);
  }
}

}  // namespace stoa::sql

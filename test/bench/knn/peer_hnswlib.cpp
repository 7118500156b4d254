#include <hnswlib/hnswlib.h>

#include "peer.h"

namespace stoa::bench {

namespace {

class Hnswlib : public Peer {
 public:
  std::string name() const override { return "hnswlib"; }
  void Build(const VectorSet& base, bool inner_product, size_t m, size_t ef_construction) override {
    if (inner_product) {
      space_ = std::make_unique<hnswlib::InnerProductSpace>(base.dims);
    } else {
      space_ = std::make_unique<hnswlib::L2Space>(base.dims);
    }
    index_ = std::make_unique<hnswlib::HierarchicalNSW<float>>(space_.get(), base.size(), m, ef_construction);
    for (size_t i = 0; i < base.size(); ++i) {
      index_->addPoint(base.at(i), i);
    }
  }
  void Search(const float* query, size_t k, size_t ef, std::vector<uint32_t>& found) override {
    index_->setEf(ef);
    auto nearest = index_->searchKnn(query, k);
    found.clear();
    for (; !nearest.empty(); nearest.pop()) {
      found.push_back(static_cast<uint32_t>(nearest.top().second));
    }
  }

 private:
  std::unique_ptr<hnswlib::SpaceInterface<float>> space_;
  std::unique_ptr<hnswlib::HierarchicalNSW<float>> index_;
};

}  // namespace

std::unique_ptr<Peer> MakeHnswlib() { return std::make_unique<Hnswlib>(); }

}  // namespace stoa::bench

#include <faiss/IndexHNSW.h>

#include "peer.h"

namespace stoa::bench {

namespace {

class Faiss : public Peer {
 public:
  std::string name() const override { return "faiss"; }
  void Build(const VectorSet& base, bool inner_product, size_t m, size_t ef_construction) override {
    index_ = std::make_unique<faiss::IndexHNSWFlat>(
        static_cast<int>(base.dims), static_cast<int>(m),
        inner_product ? faiss::METRIC_INNER_PRODUCT : faiss::METRIC_L2);
    index_->hnsw.efConstruction = static_cast<int>(ef_construction);
    index_->add(static_cast<faiss::Index::idx_t>(base.size()), base.floats.data());
  }
  void Search(const float* query, size_t k, size_t ef, std::vector<uint32_t>& found) override {
    index_->hnsw.efSearch = static_cast<int>(ef);
    distances_.resize(k);
    labels_.resize(k);
    index_->search(1, query, static_cast<faiss::Index::idx_t>(k), distances_.data(), labels_.data());
    found.clear();
    for (const faiss::Index::idx_t label : labels_) {
      if (label >= 0) {
        found.push_back(static_cast<uint32_t>(label));
      }
    }
  }

 private:
  std::unique_ptr<faiss::IndexHNSWFlat> index_;
  std::vector<float> distances_;
  std::vector<faiss::Index::idx_t> labels_;
};

}  // namespace

std::unique_ptr<Peer> MakeFaiss() { return std::make_unique<Faiss>(); }

}  // namespace stoa::bench

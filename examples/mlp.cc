// A network of dense layers on the digits, without a loop of one's own: nn::Trainer fits, watches the validation, and stops when it
// gets no better.
#include <cstdio>

#include "weft/nn.h"
#include "weft/weft.h"

namespace nn = weft::nn;

int main(int argc, char** argv) {
  nn::set_random_seed(1);
  const auto digits = weft::data::read_npz(argc > 1 ? argv[1] : "examples/data/digits.npz");
  const weft::Tensor images = weft::reshape(weft::cast(digits.at("images"), weft::DType::float32), {-1, 64}), labels = digits.at("labels");

  nn::Sequential net{nn::Rescaling(1.0 / 16), nn::Dense(128, "relu"), nn::Dropout(0.2), nn::Dense(10)};
  nn::Trainer trainer(net, {.optimizer = nn::Adam({.learning_rate = 3e-3}),
                            .loss = nn::losses::SparseCategoricalCrossentropy({.from_logits = true}),
                            .metrics = {nn::metrics::SparseCategoricalAccuracy("accuracy")}});
  const nn::History history =
      trainer.fit(images, labels,
                  {.epochs = 30,
                   .validation_split = 0.2,
                   .seed = 1,
                   .callbacks = {nn::EarlyStopping({.monitor = "val_accuracy", .patience = 5, .restore_best_weights = true})}});
  std::printf("%s", net.summary().c_str());
  const double accuracy = trainer.evaluate(images, labels).at("accuracy");
  std::printf("%zu epochs, accuracy on all digits %.3f\n", history.epoch.size(), accuracy);
  return accuracy > 0.95 ? 0 : 1;
}

// A short tour: tensors, ops on two virtual devices, where things ran, and what an error looks like.
#include <iostream>
#include <weft/raw.h>
#include <weft/weft.h>

namespace wf = weft;

int main() {
  wf::configure({.cpu_devices = 2});
  std::cout << "Devices:\n";
  for (const auto& d : wf::devices()) std::cout << "  " << d.name << '\n';

  wf::Tensor a{{1.f, 2.f}, {3.f, 4.f}};
  std::cout << "\na         = " << a << "\na * a + 1 = " << a * a + 1.f << "\nsoftmax   = " << wf::softmax(a) << '\n';

  std::cout << "\nThe same ops on the second device, with the placement log on:\n" << std::flush;
  wf::set_log_device_placement(true);
  wf::Tensor product;
  {
    wf::DeviceScope second("/CPU:1");
    product = wf::matmul(a, wf::transpose(a));
  }
  wf::set_log_device_placement(false);
  std::cout << "matmul(a, a^T) = " << product << " on " << product.device() << '\n';

  auto top = wf::raw::TopKV2(wf::Tensor{3.f, 9.f, 4.f, 7.f}, wf::Tensor(2));
  std::cout << "\nEvery op has a wrapper in weft::raw: TopKV2 gives " << top.values << " at " << top.indices << '\n';

  try {
    wf::matmul(a, wf::Tensor{{1.f, 2.f, 3.f}});
  } catch (const wf::Error& e) {
    std::cout << "\nA mistake is an exception with TensorFlow's code (" << int(e.code()) << ") and text:\n  " << e.what() << '\n';
  }
}

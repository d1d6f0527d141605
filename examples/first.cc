#include <iostream>
#include <weft/weft.h>

int main() {
  weft::Tensor x{{1.f, 2.f}, {3.f, 4.f}};
  weft::Tensor y = weft::matmul(x, x) + 1.f;
  std::cout << y << '\n';
}

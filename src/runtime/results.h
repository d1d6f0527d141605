// Where the results of a function lie. Who calls one from inside another function gets them in host memory, where its kernels read them; an eager
// call takes them where they were computed.
#pragma once

namespace weft::runtime {

// The next function that this thread calls leaves its results where they are.
class ResultsAnywhere {
 public:
  ResultsAnywhere() { asked_ = true; }
  ~ResultsAnywhere() { asked_ = false; }
  ResultsAnywhere(const ResultsAnywhere&) = delete;
  // Asked by the function; those that it calls itself do not see it.
  static bool take() {
    const bool asked = asked_;
    asked_ = false;
    return asked;
  }

 private:
  static inline thread_local bool asked_ = false;
};

}  // namespace weft::runtime

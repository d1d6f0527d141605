// SPDX-License-Identifier: Apache-2.0
//
// The inline TF_TString_ functions as a plain C client uses them. Expected sizes and capacities are
// those of TensorFlow 2.21's own header.
#include <stdio.h>

#include "tsl/platform/ctstring.h"

static int failures = 0;

static void check(int line, const char* what, int ok) {
  if (ok) return;
  fprintf(stderr, "%s:%d: %s\n", __FILE__, line, what);
  failures++;
}
#define CHECK(x) check(__LINE__, #x, (x))

static int is(const TF_TString* s, TF_TString_Type type, size_t size, size_t cap) {
  return TF_TString_GetType(s) == type && TF_TString_GetSize(s) == size && TF_TString_GetCapacity(s) == cap;
}

static int references = 0;
static void ref(TStringOwnerCApi* self) { *(int*)self->obj += 1; }
static bool unref(TStringOwnerCApi* self) { return --*(int*)self->obj == 0; }

static void sizes_and_capacities(void) {
  char text[401];
  memset(text, 'a', 400);
  text[400] = '\0';
  TF_TString s;
  TF_TString_Init(&s);
  CHECK(is(&s, TF_TSTR_SMALL, 0, 22));
  TF_TString_Copy(&s, text, 22);
  CHECK(is(&s, TF_TSTR_SMALL, 22, 22) && s.u.raw.raw[0] == 22 << 2);
  TF_TString_Copy(&s, text, 23);
  CHECK(is(&s, TF_TSTR_LARGE, 23, 31) && s.u.large.size == (23 << 2 | 1));
  TF_TString_Copy(&s, text, 400);
  CHECK(is(&s, TF_TSTR_LARGE, 400, 415) && strcmp(TF_TString_GetDataPointer(&s), text) == 0);
  TF_TString_Resize(&s, 100, 'x');  // below half: the capacity is halved once
  CHECK(is(&s, TF_TSTR_LARGE, 100, 207));
  TF_TString_Resize(&s, 3, 'x');
  CHECK(is(&s, TF_TSTR_SMALL, 3, 22) && strcmp(TF_TString_GetDataPointer(&s), "aaa") == 0);
  TF_TString_Reserve(&s, 100);
  CHECK(is(&s, TF_TSTR_LARGE, 3, 111));
  TF_TString_ReserveAmortized(&s, 112);
  CHECK(is(&s, TF_TSTR_LARGE, 3, 223));
  TF_TString_Dealloc(&s);
  CHECK(is(&s, TF_TSTR_SMALL, 0, 22));
}

static void appending(void) {
  TF_TString s;
  TF_TString_Init(&s);
  TF_TString_Copy(&s, "abc", 3);
  for (int i = 0; i < 4; i++) TF_TString_Append(&s, &s);
  CHECK(TF_TString_GetSize(&s) == 48);
  CHECK(memcmp(TF_TString_GetDataPointer(&s) + 45, "abc", 4) == 0);
  TF_TString_AppendN(&s, "!", 1);
  CHECK(TF_TString_GetSize(&s) == 49 && TF_TString_GetDataPointer(&s)[48] == '!');
  TF_TString_Dealloc(&s);
}

static void views_and_owners(void) {
  static const char text[] = "a text of more than twenty-two bytes";
  TStringOwnerCApi owner = {ref, unref, &references};
  TF_TString a, b;
  TF_TString_Init(&a);
  TF_TString_Init(&b);
  TF_TString_AssignViewWithOwner(&a, text, 36, &owner);
  CHECK(is(&a, TF_TSTR_VIEW, 36, 0) && TF_TString_GetDataPointer(&a) == text);
  TF_TString_Assign(&b, &a);
  CHECK(references == 2);
  TF_TString_GetMutableDataPointer(&b)[0] = 'A';
  CHECK(is(&b, TF_TSTR_LARGE, 36, 47) && references == 1 && text[0] == 'a');
  TF_TString_Move(&b, &a);
  CHECK(references == 1 && is(&a, TF_TSTR_SMALL, 0, 22) && is(&b, TF_TSTR_VIEW, 36, 0));
  TF_TString_Dealloc(&b);
  CHECK(references == 0);
}

static void offset_strings(void) {
  struct {
    TF_TString s;
    char bytes[8];
  } mapped = {{{{0, {0}}}}, "mapped!"};
  mapped.s.u.offset.size = 6 << 2 | TF_TSTR_OFFSET;
  mapped.s.u.offset.offset = sizeof(TF_TString);
  CHECK(is(&mapped.s, TF_TSTR_OFFSET, 6, 0) && TF_TString_GetDataPointer(&mapped.s) == mapped.bytes);
  TF_TString s;
  TF_TString_Init(&s);
  TF_TString_Assign(&s, &mapped.s);
  CHECK(is(&s, TF_TSTR_VIEW, 6, 0));
  TF_TString_GetMutableDataPointer(&s);
  CHECK(is(&s, TF_TSTR_SMALL, 6, 22) && strcmp(TF_TString_GetDataPointer(&s), "mapped") == 0);
}

int main(void) {
  sizes_and_capacities();
  appending();
  views_and_owners();
  offset_strings();
  return failures != 0;
}

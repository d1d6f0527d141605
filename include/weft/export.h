// What libweft shows: everything marked WEFT_API, nothing else.
#pragma once

#define WEFT_API __attribute__((visibility("default")))

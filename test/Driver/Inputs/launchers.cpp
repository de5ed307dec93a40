// Includes the launchers of four examples and calls one with sizes.

#include "accumulate.h"
#include "l70.h"
#include "oss.h"
#include "q30.h"

#include "oss.h"

CUresult run(CUmodule module, CUstream stream) {
  CUfunction function;
  if (CUresult result = launch_oss_m1::load_oss_m1(module, &function))
    return result;
  launch_oss_m1::oss_m1Arguments arguments;
  arguments.sizeM = 17;
  return launch_oss_m1::launch_oss_m1(function, arguments, 148, stream);
}

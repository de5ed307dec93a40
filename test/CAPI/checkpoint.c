/* RUN: mkdir -p %t.dir && %cc %s -o %t %link && %t %t.dir

   A model in a file: what it is, its numbers, and packing it. */

#include "blockscale-c/Checkpoint.h"
#include "check.h"

static char path[4096];

/* Two rows of 32 e4m3 codes, 1.0 and then -2.0, under exponents 1 and -1. */
static void writeModel(const char *folder, const char *name, int isRight) {
  const char *header = "{\"a.weight\":{\"dtype\":\"F8_E4M3\",\"shape\":[2,32],"
                       "\"data_offsets\":[0,64]},"
                       "\"a.weight_scale\":{\"dtype\":\"U8\",\"shape\":[2,1],"
                       "\"data_offsets\":[64,66]}}      ";
  uint8_t data[66];
  memset(data, 0x38, 32);
  memset(data + 32, 0xc0, 32);
  data[64] = 128;
  data[65] = isRight ? 126 : 255;
  uint64_t length = strlen(header);
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "wb");
  CHECK(file);
  CHECK(fwrite(&length, 8, 1, file) == 1);
  CHECK(fwrite(header, length, 1, file) == 1);
  CHECK(fwrite(data, sizeof data, 1, file) == 1);
  CHECK(fclose(file) == 0);
}

static void checkReading(BlockscaleCheckpoint model) {
  BlockscaleRows rows = {0, 1, 1}, both = {0, 0, 2}, none = {1, 0, 1};
  float values[64];
  uint8_t codes[64];
  CHECK_OK(blockscaleCheckpointReadValues(model, slice("a.weight"), &rows,
                                          values, 32));
  CHECK(values[0] == -1 && values[31] == -1);
  CHECK_OK(blockscaleCheckpointReadValues(model, slice("a.weight"), &both,
                                          values, 64));
  CHECK(values[0] == 2 && values[63] == -1);
  CHECK_OK(blockscaleCheckpointReadCodes(model, slice("a.weight"), &both, codes,
                                         64));
  CHECK(codes[0] == 0x38 && codes[63] == 0xc0);
  CHECK_FAILS(BLOCKSCALE_INVALID_ARGUMENT, "'values' has 252 bytes, expected",
              blockscaleCheckpointReadValues(model, slice("a.weight"), &both,
                                             values, 63));
  CHECK_FAILS(BLOCKSCALE_INVALID_ARGUMENT, "are not in [2, 32]",
              blockscaleCheckpointReadValues(model, slice("a.weight"), &none,
                                             values, 32));
  CHECK_FAILS(
      BLOCKSCALE_REFUSED, "there is no parameter 'b'",
      blockscaleCheckpointReadValues(model, slice("b"), &rows, values, 32));
}

static void checkReport(BlockscaleCheckpoint model, bool isRight) {
  BlockscaleBytes text, json;
  BlockscaleSlice words;
  bool passed;
  CHECK_OK(blockscaleCheckpointDescribe(model, &json));
  CHECK_OK(blockscaleBytesGet(json, &words));
  CHECK(contains(words, "\"spec\": \"e8m0_t32\""));
  CHECK_OK(blockscaleBytesDestroy(json));
  CHECK_OK(blockscaleCheckpointCheck(model, NULL, &passed, &text, &json));
  CHECK(passed == isRight);
  CHECK_OK(blockscaleBytesGet(text, &words));
  CHECK(contains(words, "[nan-scale]") == !isRight);
  CHECK_OK(blockscaleBytesDestroy(text));
  CHECK_OK(blockscaleBytesDestroy(json));
  BlockscaleCheckOptions options;
  CHECK_OK(blockscaleCheckOptionsInit(&options, sizeof options));
  CHECK(options.readScales && options.first == 0);
  options.readScales = false;
  CHECK_OK(blockscaleCheckpointCheck(model, &options, &passed, &text, &json));
  CHECK(passed);
  CHECK_OK(blockscaleBytesDestroy(text));
  CHECK_OK(blockscaleBytesDestroy(json));
}

static bool stop(uint64_t done, uint64_t total, void *calls) {
  CHECK(done <= total);
  ++*(int *)calls;
  return false;
}

static void checkPacking(BlockscaleCheckpoint model, const char *folder) {
  BlockscalePackOptions options;
  BlockscaleBytes json;
  BlockscaleSlice words;
  int calls = 0;
  CHECK_OK(blockscalePackOptionsInit(&options, sizeof options));
  CHECK(options.shard == -1);
  options.to = "f32";
  options.shardSize = "1KB";
  snprintf(path, sizeof path, "%s/out.safetensors", folder);
  CHECK_OK(blockscaleCheckpointPlanShards(model, slice(path), &options, &json));
  CHECK_OK(blockscaleBytesGet(json, &words));
  CHECK(contains(words, "\"bytes\":256,"));
  CHECK_OK(blockscaleBytesDestroy(json));
  CHECK_FAILS(BLOCKSCALE_REFUSED, "No such file",
              blockscaleCheckpointFinishShards(model, slice(path), &options));
  options.progress = stop;
  options.userData = &calls;
  CHECK_FAILS(BLOCKSCALE_REFUSED, "interrupted",
              blockscaleCheckpointPack(model, slice(path), &options, &json));
  CHECK(calls == 1);
  options.progress = NULL;
  CHECK_OK(blockscaleCheckpointPack(model, slice(path), &options, &json));
  CHECK_OK(blockscaleBytesGet(json, &words));
  CHECK(contains(words, "\"dtype\":\"F32\",\"shape\":[2,32]"));
  CHECK_OK(blockscaleBytesDestroy(json));
  CHECK_OK(blockscaleCheckpointFinishShards(model, slice(path), &options));
  BlockscaleCheckpoint packed;
  CHECK_OK(blockscaleCheckpointOpen(slice(path), &packed));
  CHECK_OK(blockscaleCheckpointDestroy(packed));
  options.to = "fp5";
  CHECK_FAILS(BLOCKSCALE_REFUSED, "unknown format 'fp5'",
              blockscaleCheckpointPack(model, slice(path), &options, &json));
  options.shard = -2;
  options.to = NULL;
  CHECK_FAILS(BLOCKSCALE_INVALID_ARGUMENT, "'shard' is -2",
              blockscaleCheckpointPack(model, slice(path), &options, &json));
  remove(path);
}

int main(int argc, char **argv) {
  CHECK(argc == 2);
  BlockscaleCheckpoint model, other;
  writeModel(argv[1], "right.safetensors", 1);
  CHECK_OK(blockscaleCheckpointOpen(slice(path), &model));
  checkReading(model);
  checkReport(model, true);
  checkPacking(model, argv[1]);
  writeModel(argv[1], "wrong.safetensors", 0);
  CHECK_OK(blockscaleCheckpointOpen(slice(path), &other));
  checkReport(other, false);
  CHECK_OK(blockscaleCheckpointDestroy(other));
  CHECK_OK(blockscaleCheckpointDestroy(model));
  CHECK_FAILS(BLOCKSCALE_INVALID_HANDLE, "no checkpoint has this handle",
              blockscaleCheckpointDestroy(model));
  CHECK_FAILS(
      BLOCKSCALE_REFUSED, "No such file",
      blockscaleCheckpointOpen(slice("/none/model.safetensors"), &model));
  return 0;
}

/* RUN: %cc %s -o %t %link && %t

   Where bytes lie, without a formula of one's own. */

#include "blockscale-c/Explain.h"
#include "blockscale-c/Layout.h"
#include "check.h"

static BlockscaleLayout make(const char *name, const char *first, uint64_t x,
                             const char *second, uint64_t y, size_t count) {
  BlockscaleLayoutParameter parameters[2] = {{slice(first), x},
                                             {slice(second), y}};
  BlockscaleLayout layout;
  CHECK_OK(blockscaleLayoutCreate(slice(name), parameters, count, &layout));
  return layout;
}

static void checkMemory(void) {
  /* 130 rows by 5 blocks: 2 x 2 tiles of 512 bytes. Row 33, block 2 lies in
     line 1 of its tile; row 129, block 4 in the last tile. */
  BlockscaleLayout layout = make("tiled_128x4", "rows", 130, "blocks", 5, 2);
  uint64_t size;
  CHECK_OK(blockscaleLayoutGetSize(layout, &size));
  CHECK(size == 2048);
  size_t contentRank, placeRank;
  CHECK_OK(blockscaleLayoutGetRanks(layout, &contentRank, &placeRank));
  CHECK(contentRank == 3 && placeRank == 1);
  const uint64_t contents[2][3] = {{0, 33, 2}, {0, 129, 4}};
  uint64_t places[2], back[2][3];
  CHECK_OK(blockscaleLayoutFindPlaces(layout, contents[0], 2, places));
  CHECK(places[0] == 1 * 16 + 1 * 4 + 2 && places[1] == 3 * 512 + 1 * 16);
  CHECK_OK(blockscaleLayoutFindContents(layout, places, 2, back[0]));
  CHECK(!memcmp(contents, back, sizeof contents));
  /* Behind it is padding. */
  places[0] = 3 * 512 + 1 * 16 + 1;
  CHECK_OK(blockscaleLayoutFindContents(layout, places, 1, back[0]));
  CHECK(back[0][0] == UINT64_MAX && back[0][1] == UINT64_MAX &&
        back[0][2] == UINT64_MAX);
  const uint64_t outside[3] = {0, 130, 0};
  CHECK_FAILS(BLOCKSCALE_REFUSED, "row 130 is none of the 130",
              blockscaleLayoutFindPlaces(layout, outside, 1, places));
  places[0] = 2048;
  CHECK_FAILS(BLOCKSCALE_REFUSED, "offset 2048 is none of the 2048",
              blockscaleLayoutFindContents(layout, places, 1, back[0]));
  CHECK_FAILS(BLOCKSCALE_INVALID_ARGUMENT, "'contents' is null",
              blockscaleLayoutFindPlaces(layout, NULL, 1, places));
  CHECK_OK(blockscaleLayoutFindPlaces(layout, NULL, 0, NULL));

  BlockscaleBytes text;
  BlockscaleSlice words;
  CHECK_OK(blockscaleLayoutDescribe(layout, &text));
  CHECK_OK(blockscaleBytesGet(text, &words));
  CHECK(contains(words, "\"name\": \"tiled_128x4\"") &&
        contains(words, "\"size\": 2048") &&
        contains(words, "offset += row / 128 * 1024\\noffset += block / 4 * "
                        "512\\noffset += row % 32 * 16\\n"));
  CHECK_OK(blockscaleBytesDestroy(text));
  CHECK_OK(blockscaleLayoutDraw(layout, false, &text));
  CHECK_OK(blockscaleBytesGet(text, &words));
  CHECK(contains(words, "<svg") && contains(words, "Layout 'tiled_128x4'") &&
        contains(words, ">32\302\2673<"));
  CHECK_OK(blockscaleBytesDestroy(text));
  CHECK_OK(blockscaleLayoutDestroy(layout));
  CHECK_FAILS(BLOCKSCALE_INVALID_HANDLE, "layout",
              blockscaleLayoutGetSize(layout, &size));
}

static void checkTensorMemory(void) {
  /* A row of test/oracle/tmem_accumulator.csv, and one of tmem_sf_layout.csv.
   */
  BlockscaleLayout sums = make("accumulator_d", "columns", 256, "", 0, 1);
  const uint64_t element[2] = {114, 172};
  uint64_t place[3];
  CHECK_OK(blockscaleLayoutFindPlaces(sums, element, 1, place));
  CHECK(place[0] == 0 && place[1] == 114 && place[2] == 172);
  CHECK_OK(blockscaleLayoutDestroy(sums));
  BlockscaleLayout scales = make("tensor_scales", "rows", 128, "blocks", 8, 2);
  const uint64_t scale[3] = {100, 5, 1};
  CHECK_OK(blockscaleLayoutFindPlaces(scales, scale, 1, place));
  CHECK(place[0] == 36 && place[1] == 7 && place[2] == 1);
  CHECK_OK(blockscaleLayoutDestroy(scales));
}

static void checkList(void) {
  BlockscaleBytes text;
  BlockscaleSlice words;
  CHECK_OK(blockscaleLayoutList(&text));
  CHECK_OK(blockscaleBytesGet(text, &words));
  CHECK(contains(words, "\"plain\"") && contains(words, "\"warp_scales_b\"") &&
        contains(words, "\"bytes for each row\""));
  CHECK_OK(blockscaleBytesDestroy(text));
  BlockscaleLayout layout;
  BlockscaleLayoutParameter twice[2] = {{slice("rows"), 1}, {slice("rows"), 2}};
  CHECK_FAILS(BLOCKSCALE_REFUSED, "'rows' is given twice",
              blockscaleLayoutCreate(slice("plain"), twice, 2, &layout));
  CHECK_FAILS(BLOCKSCALE_REFUSED, "needs 'blocks'",
              blockscaleLayoutCreate(slice("plain"), twice, 1, &layout));
  CHECK_FAILS(BLOCKSCALE_REFUSED, "unknown layout 'tiles', legal are 'plain'",
              blockscaleLayoutCreate(slice("tiles"), NULL, 0, &layout));
  CHECK_FAILS(BLOCKSCALE_INVALID_ARGUMENT, "'parameters' is null",
              blockscaleLayoutCreate(slice("plain"), NULL, 1, &layout));
  CHECK_FAILS(BLOCKSCALE_INVALID_ARGUMENT, "'layout' is null",
              blockscaleLayoutCreate(slice("plain"), twice, 1, NULL));
}

/* What `explain layout` says. */
static void checkExplained(void) {
  BlockscaleField fields[] = {{slice("kind"), slice("mxf8f6f4")},
                              {slice("row"), slice("37")},
                              {slice("block"), slice("3")},
                              {slice("sparse"), slice("false")}};
  BlockscaleBytes text;
  BlockscaleSlice words;
  CHECK_OK(blockscaleExplainLayout(fields, 4, BLOCKSCALE_LAYOUT_TEXT, &text));
  CHECK_OK(blockscaleBytesGet(text, &words));
  CHECK(contains(words, "elements 96 to 127 along K"));
  CHECK_OK(blockscaleBytesDestroy(text));
  CHECK_OK(blockscaleExplainLayout(fields, 4, BLOCKSCALE_LAYOUT_JSON, &text));
  CHECK_OK(blockscaleBytesGet(text, &words));
  CHECK(contains(words, "\"tensor\""));
  CHECK_OK(blockscaleBytesDestroy(text));
  CHECK_OK(blockscaleExplainLayout(fields, 4, BLOCKSCALE_LAYOUT_SVG, &text));
  CHECK_OK(blockscaleBytesGet(text, &words));
  CHECK(contains(words, "<svg"));
  CHECK_OK(blockscaleBytesDestroy(text));
  fields[0].value = slice("f16");
  CHECK_FAILS(
      BLOCKSCALE_REFUSED, "kind 'f16' has no scales",
      blockscaleExplainLayout(fields, 4, BLOCKSCALE_LAYOUT_TEXT, &text));
  fields[0].name = slice("type");
  CHECK_FAILS(
      BLOCKSCALE_REFUSED,
      "no question has a word 'type'; there are "
      "'memory'",
      blockscaleExplainLayout(fields, 4, BLOCKSCALE_LAYOUT_TEXT, &text));
  CHECK_FAILS(
      BLOCKSCALE_INVALID_ARGUMENT, "'form'",
      blockscaleExplainLayout(fields, 0, (BlockscaleLayoutForm)7, &text));
}

int main(void) {
  checkMemory();
  checkTensorMemory();
  checkList();
  checkExplained();
  return 0;
}

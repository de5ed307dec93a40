/* RUN: %cc %s -o %t %link && %t

   Packing and questions. */

#include "blockscale-c/Explain.h"
#include "blockscale-c/Packing.h"
#include "check.h"

static void checkElements(void) {
  /* Two rows of six 4-bit codes in rows of 4 bytes; the first is low. */
  BlockscaleElements fp4 = {4, false, 1, 2, 6, 4, 0};
  const uint8_t codes[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  const uint8_t expected[8] = {0x21, 0x43, 0x65, 0, 0x87, 0xa9, 0xcb, 0};
  uint8_t memory[8], back[12];
  uint64_t size;
  CHECK_OK(blockscaleElementsGetSize(&fp4, &size));
  CHECK(size == sizeof memory);
  CHECK_OK(blockscalePackElements(&fp4, codes, 12, memory, 8));
  CHECK(!memcmp(memory, expected, 8));
  CHECK_OK(blockscaleUnpackElements(&fp4, memory, 8, back, 12));
  CHECK(!memcmp(codes, back, 12));
  CHECK_FAILS(BLOCKSCALE_INVALID_ARGUMENT, "11 bytes, expected 12",
              blockscalePackElements(&fp4, codes, 11, memory, 8));
  /* Four 6-bit codes in three bytes. */
  BlockscaleElements fp6 = {6, false, 1, 1, 4, 0, 0};
  const uint8_t six[4] = {0x3f, 0, 0x3f, 1}, three[3] = {0x3f, 0xf0, 0x07};
  CHECK_OK(blockscalePackElements(&fp6, six, 4, memory, 3));
  CHECK(!memcmp(memory, three, 3));
}

static void checkScales(void) {
  /* 130 rows by 5 blocks: 2 x 2 tiles of 512 bytes. Row 33, block 2 lies in
     lane 1, 33 / 32 * 4 + 2 in it; row 129, block 4 in the last tile. */
  BlockscaleScales scales = {BLOCKSCALE_SCALES_TILED_128X4, 1, 130, 5};
  static uint8_t plain[130 * 5], memory[2048], back[130 * 5];
  for (int i = 0; i < 130 * 5; ++i)
    plain[i] = (uint8_t)(i % 251);
  uint64_t size;
  CHECK_OK(blockscaleScalesGetSize(&scales, &size));
  CHECK(size == sizeof memory);
  CHECK_OK(blockscalePackScales(&scales, plain, sizeof plain, 0xee, memory,
                                sizeof memory));
  CHECK(memory[1 * 16 + 1 * 4 + 2] == (33 * 5 + 2) % 251);
  CHECK(memory[3 * 512 + 1 * 16] == (129 * 5 + 4) % 251);
  CHECK(memory[3 * 512 + 1 * 16 + 1] == 0xee);
  CHECK_OK(blockscaleUnpackScales(&scales, memory, sizeof memory, back,
                                  sizeof back));
  CHECK(!memcmp(plain, back, sizeof plain));
  /* 2 tiles of 128 rows by 16 blocks: row 129, block 4 in the second row of the
     second. */
  static uint8_t rows[2 * 2048];
  scales.layout = BLOCKSCALE_SCALES_TILED_128X16;
  CHECK_OK(blockscaleScalesGetSize(&scales, &size));
  CHECK(size == sizeof rows);
  CHECK_OK(blockscalePackScales(&scales, plain, sizeof plain, 0xee, rows,
                                sizeof rows));
  CHECK(rows[33 * 16 + 2] == (33 * 5 + 2) % 251);
  CHECK(rows[2048 + 16 + 4] == (129 * 5 + 4) % 251);
  CHECK(rows[2048 + 16 + 5] == 0xee);
  CHECK_OK(
      blockscaleUnpackScales(&scales, rows, sizeof rows, back, sizeof back));
  CHECK(!memcmp(plain, back, sizeof plain));
}

static void checkRepeatedScales(void) {
  /* One scale for 2 rows and 3 blocks of 3 rows by 4 blocks, for all rows and
     for each block, and for more of both than there are. */
  BlockscaleScales scales = {BLOCKSCALE_SCALES_TILED_128X4, 2, 3, 4};
  const uint8_t own[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  const uint8_t tiles[24] = {1, 1, 1, 2, 1, 1, 1, 2, 3, 3, 3, 4,
                             5, 5, 5, 6, 5, 5, 5, 6, 7, 7, 7, 8};
  const uint8_t columns[24] = {1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4,
                               5, 6, 7, 8, 5, 6, 7, 8, 5, 6, 7, 8};
  uint8_t plain[24];
  CHECK_OK(blockscaleRepeatScales(&scales, 2, 3, own, 8, plain, 24));
  CHECK(!memcmp(plain, tiles, 24));
  CHECK_OK(blockscaleRepeatScales(&scales, 0, 1, own, 8, plain, 24));
  CHECK(!memcmp(plain, columns, 24));
  CHECK_OK(blockscaleRepeatScales(&scales, UINT64_MAX, UINT64_MAX, own, 2,
                                  plain, 24));
  CHECK(plain[0] == 1 && plain[11] == 1 && plain[12] == 2 && plain[23] == 2);
  CHECK_FAILS(BLOCKSCALE_INVALID_ARGUMENT, "a scale for 0 blocks",
              blockscaleRepeatScales(&scales, 2, 0, own, 8, plain, 24));
  CHECK_FAILS(BLOCKSCALE_INVALID_ARGUMENT, "7 bytes, expected 8",
              blockscaleRepeatScales(&scales, 2, 3, own, 7, plain, 24));
  CHECK_FAILS(BLOCKSCALE_INVALID_ARGUMENT, "23 bytes, expected 24",
              blockscaleRepeatScales(&scales, 2, 3, own, 8, plain, 23));
}

static void checkSparse(void) {
  /* Places 0 and 3 of the first group and 1 and 2 of the second: 11 00 and
     10 01 from the upper place to the lower. Row 1 has one code, at place 2,
     which goes with place 3, and then only -0: places 0 and 1. */
  BlockscaleSparse sparse = {BLOCKSCALE_SPARSE_2_OF_4, 8, false, 1, 2, 8};
  uint8_t codes[16] = {5, 0, 0, 6, 0, 7, 8, 0, 0, 0, 9, 0, 0, 0x80, 0, 0};
  const uint8_t expected[8] = {5, 6, 7, 8, 9, 0, 0, 0};
  static uint8_t stored[8], metadata[128 * 16];
  uint64_t storedSize, metadataSize;
  CHECK_OK(blockscaleSparseGetSizes(&sparse, &storedSize, &metadataSize));
  CHECK(storedSize == sizeof stored && metadataSize == sizeof metadata);
  CHECK_OK(blockscaleCompress(&sparse, codes, 16, 0xee, stored, 8, metadata,
                              sizeof metadata));
  CHECK(!memcmp(stored, expected, 8));
  CHECK(metadata[0] == 0x9c && metadata[1] == 0xee);
  CHECK(metadata[16] == 0x4e && metadata[32] == 0xee);
  /* 0x80 is -0 of a float and a number of an integer. */
  codes[14] = codes[15] = 1;
  CHECK_OK(blockscaleCompress(&sparse, codes, 16, 0xee, stored, 8, metadata,
                              sizeof metadata));
  sparse.isInteger = true;
  CHECK_FAILS(BLOCKSCALE_REFUSED, "row 1",
              blockscaleCompress(&sparse, codes, 16, 0xee, stored, 8, metadata,
                                 sizeof metadata));
  CHECK_FAILS(BLOCKSCALE_INVALID_ARGUMENT, "15 bytes, expected 16",
              blockscaleCompress(&sparse, codes, 15, 0xee, stored, 8, metadata,
                                 sizeof metadata));
  sparse.k = 12;
  CHECK_FAILS(BLOCKSCALE_REFUSED, "expected a multiple of 8",
              blockscaleSparseGetSizes(&sparse, &storedSize, &metadataSize));
  sparse.k = 1ull << 63;
  CHECK_FAILS(BLOCKSCALE_INVALID_ARGUMENT, "62 bits",
              blockscaleSparseGetSizes(&sparse, &storedSize, &metadataSize));
  sparse.bits = 5;
  CHECK_FAILS(BLOCKSCALE_INVALID_ARGUMENT, "elements of 5 bits",
              blockscaleSparseGetSizes(&sparse, &storedSize, &metadataSize));
}

static void checkCodes(void) {
  const float values[4] = {1, -6, 0.25f, 1000};
  const uint8_t e2m1[4] = {0x2, 0xf, 0x0, 0x7},
                e4m3[4] = {0x38, 0xcc, 0x28, 0x7e};
  const uint8_t bf16[8] = {0x80, 0x3f, 0xc0, 0xc0, 0x80, 0x3e, 0x7a, 0x44};
  uint8_t codes[8];
  float back[4];
  CHECK_OK(blockscaleEncode(slice("e2m1"), values, 4, codes, 4));
  CHECK(!memcmp(codes, e2m1, 4));
  CHECK_OK(blockscaleEncode(slice("e4m3"), values, 4, codes, 4));
  CHECK(!memcmp(codes, e4m3, 4));
  CHECK_OK(blockscaleDecode(slice("e4m3"), codes, 4, back, 4));
  CHECK(back[0] == 1 && back[1] == -6 && back[2] == 0.25f && back[3] == 448);
  CHECK_OK(blockscaleEncode(slice("bf16"), values, 4, codes, 8));
  CHECK(!memcmp(codes, bf16, 8));
}

static bool is(BlockscaleSlice text, const char *expected) {
  return text.size == strlen(expected) &&
         !memcmp(text.data, expected, text.size);
}

static void checkDataTypes(void) {
  BlockscaleDataType type;
  CHECK_OK(blockscaleFindDataType(slice("nvf4"), &type));
  CHECK(is(type.element, "e2m1") && is(type.scale, "ue4m3") && !type.zero.size);
  CHECK(type.block == 16 && type.rows == 1 && type.subtile == 1);
  CHECK_OK(blockscaleFindDataType(slice("mx6"), &type));
  CHECK(is(type.element, "cb51ie_int7") && is(type.scale, "ue8m0"));
  CHECK(type.block == 16 && type.subtile == 2);
  CHECK_OK(blockscaleFindDataType(slice("uint4_Fic"), &type));
  CHECK(is(type.element, "uint4") && is(type.scale, "f32") &&
        is(type.zero, "int8") && type.block == 0 && type.rows == 1);
  CHECK_OK(blockscaleFindDataType(slice("fp8nf32s"), &type));
  CHECK(is(type.element, "e4m3b8fnuz") && is(type.scale, "f16"));
  CHECK(type.block == 32 && type.rows == 32);
  CHECK_OK(blockscaleFindDataType(slice("int8_b"), &type));
  CHECK(is(type.scale, "bf16") && type.block == 0 && type.rows == 0);
  CHECK_OK(blockscaleFindDataType(slice("bf8"), &type));
  CHECK(is(type.element, "e5m2") && !type.scale.size && type.rows == 1);
  CHECK(blockscaleFindDataType(slice("NVF4"), &type) ==
        BLOCKSCALE_INVALID_ARGUMENT);
}

static void checkQuestions(void) {
  BlockscaleField fields[] = {{slice("target"), slice("sm_100a")},
                              {slice("kind"), slice("mxf4nvf4")},
                              {slice("a"), slice("e2m1")},
                              {slice("b"), slice("e2m1")},
                              {slice("scale"), slice("ue4m3")},
                              {slice("block"), slice("16")},
                              {slice("k"), slice("64")}};
  bool isLegal = false;
  BlockscaleBytes text;
  BlockscaleSlice answer;
  CHECK_OK(blockscaleExplainLegality(fields, 7, &isLegal, &text));
  CHECK_OK(blockscaleBytesGet(text, &answer));
  CHECK(isLegal && contains(answer, "legal: "));
  CHECK_OK(blockscaleBytesDestroy(text));
  fields[6].value = slice("96");
  CHECK_OK(blockscaleExplainLegality(fields, 7, &isLegal, &text));
  CHECK_OK(blockscaleBytesGet(text, &answer));
  CHECK(!isLegal && contains(answer, "illegal: ") &&
        contains(answer, "sm_103a"));
  CHECK_OK(blockscaleBytesDestroy(text));
  fields[6].value = slice("many");
  CHECK_FAILS(BLOCKSCALE_REFUSED, "'many' for 'k' is no number",
              blockscaleExplainLegality(fields, 7, &isLegal, &text));
  fields[6].name = slice("l");
  CHECK_FAILS(BLOCKSCALE_REFUSED, "no question has a word 'l'",
              blockscaleExplainLegality(fields, 7, &isLegal, &text));

  CHECK_OK(blockscaleExplainInstructions(slice("sm_120a"), BLOCKSCALE_TABLE_CSV,
                                         &text));
  CHECK_OK(blockscaleBytesGet(text, &answer));
  CHECK(contains(answer, "mma.sync") && !contains(answer, "tcgen05"));
  CHECK_OK(blockscaleBytesDestroy(text));
  CHECK_FAILS(BLOCKSCALE_REFUSED, "unknown target",
              blockscaleExplainInstructions(slice("sm_1"), BLOCKSCALE_TABLE_CSV,
                                            &text));
  /* A row of test/oracle/sf_gmem_offsets.csv. */
  CHECK_OK(
      blockscaleExplainTable(slice("sf_gmem_offsets"),
                             slice("block_size,mn_extent,k_extent,batch_extent,"
                                   "mn,k_element,batch\n"
                                   "16,4096,8192,1,521,1437,0\n"),
                             &text));
  CHECK_OK(blockscaleBytesGet(text, &answer));
  CHECK(contains(answer, "16,4096,8192,1,521,1437,0,273553\n"));
  CHECK_OK(blockscaleBytesDestroy(text));
  CHECK_FAILS(
      BLOCKSCALE_REFUSED, "fortune",
      blockscaleExplainTable(slice("fortune"), slice("a,b\n1,2\n"), &text));
  CHECK_OK(blockscaleExplainHazards(&text));
  CHECK_OK(blockscaleBytesGet(text, &answer));
  CHECK(contains(answer, "| number | grade | hazard | rule |"));
  CHECK_OK(blockscaleBytesDestroy(text));
}

int main(void) {
  checkElements();
  checkScales();
  checkRepeatedScales();
  checkSparse();
  checkCodes();
  checkDataTypes();
  checkQuestions();
  return 0;
}

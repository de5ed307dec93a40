"""Compares what pictures of layouts show with the tables of test/oracle.

    check_layouts.py ORACLE

Part of the blockscale project, under the Apache License v2.0 with LLVM Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import csv
import pathlib
import re
import sys

import picture

PICTURES = {}
checked = {}


def drawn(*options):
    if options not in PICTURES:
        PICTURES[options] = picture.Picture(picture.draw("--all", *options))
    return PICTURES[options]


def rows(oracle, name):
    with open(oracle / name, newline="") as file:
        return [{k: int(v) if v.isdigit() else v for k, v in row.items()}
                for row in csv.DictReader(file)]


def expect(table, what, found, wanted):
    checked[table] = checked.get(table, 0) + 1
    if found != wanted:
        raise SystemExit(f"{table}: {what}: the picture shows {found}, the table "
                         f"says {wanted}")


def number(text):
    return tuple(int(n) for n in re.findall(r"\d+", text))


def check_scales(oracle):
    """Both tables of scales in tensor memory: places, and addresses of MMAs."""
    for row in rows(oracle, "tmem_sf_layout.csv"):
        scales = {(32, 32): 1, (64, 32): 2, (64, 16): 4, (96, 32): 3, (96, 16): 6}[
            (row["K"] // (2 if row["sparse"] else 1), row["block_size"])]
        # The table holds layouts; that no sparse pair and no pair with K = 96 has
        # M = 128 it does not say.
        if (row["cta_group"], row["M"]) == (2, 128) and (row["sparse"] or
                                                         row["K"] == 96):
            expect("no such instruction", row,
                   picture.refuses(f"--kind={row['kind']}", "--cta-group=2",
                                   "--m=128", f"--k={row['K']}",
                                   *(["--sparse"] if row["sparse"] else [])),
                   True)
            continue
        block = row["k_step"] * scales + row["sf_in_mma"]
        period = 12 if row["K"] == 96 else 8
        at = drawn("--memory=tensor", f"--operand={row['operand'].lower()}",
                   f"--kind={row['kind']}", f"--block-size={row['block_size']}",
                   f"--k={row['K']}", f"--cta-group={row['cta_group']}",
                   f"--m={row['M']}", f"--n={row['mn_extent'] if row['operand'] == 'B' else 128}",
                   *(["--sparse"] if row["sparse"] else []),
                   "--row=0", f"--block={block // period * period}")
        byte = at.at(row["mn"], block)
        replicas = 2 if row["datapath"] == "2x2" and row["operand"] == "B" else 4
        expect("tmem_sf_layout.csv", row,
               (len(byte.line), byte.line[row["replica"]], byte.group, byte.byte),
               (replicas, row["lane"], row["column"], row["byte"]))
        # A pair with M = 128 has 64 rows of A in each CTA.
        if row["operand"] == "B" or row["mn"] < row["M"] // row["cta_group"]:
            expect("its MMA", row, (byte.mma, byte.fill),
                   (row["k_step"], f"bs-h{row['k_step'] % 8}"))
        expect("its address", row, number(at.key[row["k_step"]]),
               (row["instr_addr_column"], row["instr_sf_id"]))


def check_k96(oracle):
    def options(row):
        operand = row["operand"].lower()
        return ["--memory=tensor", f"--operand={operand}", "--kind=mxf4nvf4",
                f"--block-size={row['block_size']}", "--k=96", "--cta-group=2",
                f"--n={row['mn_extent'] if operand == 'b' else 128}"]
    for row in rows(oracle, "k96_scale_positions.csv"):
        scales = 6 if row["block_size"] == 16 else 3
        block = row["mma_index"] * scales + row["sf_in_mma"]
        at = drawn(*options(row), "--row=0", f"--block={block // 12 * 12}")
        byte = at.at(row["mn"], block)
        expect("k96_scale_positions.csv", row,
               (byte.line[0], byte.group, byte.byte, byte.mma),
               (row["lane_in_quadrant"], row["column"], row["byte"],
                row["mma_index"]))
    for row in rows(oracle, "k96_sequence.csv"):
        at = drawn(*options(row), "--row=0", f"--block={row['first_sf'] // 12 * 12}")
        expect("k96_sequence.csv", row, number(at.key[row["mma_index"]]),
               (row["column_offset"], row["sf_id"]))
        first = min(b.along for b in at.bytes if b.mma == row["mma_index"])
        expect("its first scale", row, first, row["first_sf"])
        # The id alone: its MMA has the hue, the others have none.
        which = "sfb-id" if row["operand"] == "B" else "sfa-id"
        alone = drawn(*options(row), "--row=0",
                      f"--block={row['first_sf'] // 12 * 12}",
                      f"--{which}={row['sf_id']}")
        lit = {b.mma for b in alone.bytes if b.fill != "bs-empty"}
        expect("the id alone", row, lit, {row["mma_index"]})


def check_memory(oracle):
    """Within a tile: offsets modulo its size."""
    for row in rows(oracle, "sf_gmem_offsets.csv"):
        block = row["k_element"] // row["block_size"]
        at = drawn("--memory=shared", f"--row={row['mn'] // 128 * 128}",
                   f"--block={block // 8 * 8}")
        byte = at.at(row["mn"], block)
        expect("sf_gmem_offsets.csv", row,
               byte.line[0] + 4 * byte.group + byte.byte, row["byte_offset"] % 512)
    for row in rows(oracle, "sparse_meta_gmem_offsets.csv"):
        kind = re.match(r"\w+", row["kind"])[0]
        each = row["logical_elements_per_metadata_byte"]
        block = row["k_logical"] // each
        at = drawn("--memory=shared", "--operand=metadata", f"--kind={kind}",
                   f"--row={row['m'] // 128 * 128}", f"--block={block // 16 * 16}")
        byte = at.at(row["m"], block * each)
        expect("sparse_meta_gmem_offsets.csv", row,
               byte.line[0] + 4 * byte.group + byte.byte, row["byte_offset"] % 2048)


def check_metadata(oracle):
    for row in rows(oracle, "tmem_sparse_meta.csv"):
        kind = re.match(r"\w+", row["kind"])[0]
        each = 8 if kind == "mxf8f6f4" else 16
        element = row["k_step"] * row["K_logical_per_mma"] + row["k_logical"]
        at = drawn("--memory=tensor", "--operand=metadata", f"--kind={kind}",
                   "--row=0", f"--block={element // each // 16 * 16}")
        byte = at.at(row["m"], element // each * each)
        expect("tmem_sparse_meta.csv", row,
               (byte.line, byte.group, byte.byte, byte.mma),
               ((row["lane"],), row["column"], row["byte"], row["k_step"]))


def check_registers(oracle):
    for row in rows(oracle, "mma_sync_fragments.csv"):
        operand = re.match(r"\w+", row["operand"])[0]
        if operand not in ("SFA", "SFB", "E"):
            continue
        kind = row["instruction"].split(".")[-1]
        sparse = ["--sparse"] if row["instruction"].startswith("sp.") else []
        quad, lane = divmod(row["thread"], 4)
        k = row["k_element_or_n"]
        if operand == "E":
            # Values are the elements that the word is for.
            each = 8 if kind == "mxf8f6f4" else 16
            at = drawn("--memory=registers", "--operand=metadata", f"--kind={kind}")
            byte = at.at(row["row_m_or_col_n"], k // each * each)
            wanted = ((quad,), lane, row["value_index"] // each)
            found = (byte.line, byte.group, byte.byte)
        else:
            # "SFA(byte-id 0 thread-id 0)"; others name no ids, which are 0.
            selector = number(row["operand"]) or (0, 0)
            span = {"mxf8f6f4": 32, "mxf4": 32, "mxf4nvf4": 16}[kind]
            block = k // (span * (2 if sparse else 1))
            at = drawn("--memory=registers", f"--operand={operand[-1].lower()}",
                       f"--kind={kind}", *sparse)
            if selector != (0, 0):
                raise SystemExit(f"a selector that the test does not know: {row}")
            # The picture has a tile of rows for each thread-id: of A two threads
            # of a quad hold one, of B each thread.
            tile = 16 * (lane // 2) if operand == "SFA" else 8 * lane
            byte = at.at(tile + row["row_m_or_col_n"], block)
            wanted = ((quad,), lane, row["value_index"])
            found = (byte.line, byte.group, byte.byte)
        expect("mma_sync_fragments.csv", row, found, wanted)


def main(arguments):
    oracle = pathlib.Path(arguments[1])
    for check in (check_scales, check_k96, check_memory, check_metadata,
                  check_registers):
        check(oracle)
    for table, count in checked.items():
        print(f"{table}: {count}")
    print(f"{len(PICTURES)} pictures agree")


if __name__ == "__main__":
    main(sys.argv)

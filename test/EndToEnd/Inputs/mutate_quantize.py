# Makes single edits to a kernel that quantises, and asks `blockscale verify` about
# each: another row, block or matrix, a value that the largest magnitude or the codes
# leave out, a scale without one of its steps, a bound that is off by one, a code in
# another place, a store that is left out.
#
# usage: mutate_quantize.py FILE.mlir FILE.ptx FOLDER EVERY [OPTION...]
#
# Of edits of the same kind there are EVERY at most, from the first place to the last.
# The first OPTION may be --epilogue: then only what follows the sums of a product is
# edited, up to the last store. Then --seeds=NUMBER, the data that edits are tried with:
# of a tile of thousands of elements few are its largest one. Then --few-sms=NUMBER: every
# other of them with so few SMs that a CTA has several tiles.
#
# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import re
import sys

import mutations
from elementwise_mutations import COUNTED, REPLACED, Edits
from mutations import Ptx

source, ptx_path, folder = sys.argv[1:4]
every, options = int(sys.argv[4]), sys.argv[5:]


class Epilogue(Ptx):
    """What becomes of sums, as far as it is stored."""

    def places(self, pattern):
        found = super().places
        # Its blocks come in any order.
        work = found(r"tcgen05\.ld|shfl|cvt\.rn\.satfinite|st\.global")
        first = [at for at in found(r"^\$L") if at < work[0]][-1]
        return [at for at in found(pattern) if first < at <= work[-1]]


is_epilogue = options[:1] == ["--epilogue"]
ptx = (Epilogue if is_epilogue else Ptx).read(ptx_path)
options = options[is_epilogue:]
seeds = re.fullmatch(r"--seeds=(\d+)", options[0]) if options else None
options = options[bool(seeds):]
few_sms = re.fullmatch(r"--few-sms=(\d+)", options[0]) if options else None
options = options[bool(few_sms):]

# What has no sign any more.
MAXIMA = "|".join(re.findall(r"max\.NaN\.abs\.f32 (%r\d+),", "\n".join(ptx.lines)))

# A pattern and what takes its place: the first group stays in front.
REPLACED = REPLACED + [
    ("one of two conditions", r"or(\.pred\s+%p\d+), (%p\d+), %p\d+;",
     r"and\1, \2, \2;"),
    ("the smaller", r"(\s)max\.u(32|16x2)", r"\1min.u\2"),
    ("no maximum of the left",
     r"(\s)max\.u(?:32|16x2)(\s+%r\d+), (%r\d+), %r\d+;", r"\1mov.b32\2, \3;"),
    ("no maximum of the right",
     r"(\s)max\.u(?:32|16x2)(\s+%r\d+), %r\d+, (%r\d+);", r"\1mov.b32\2, \3;"),
    ("the smaller", r"(\s)max(\.NaN\.abs\.f32)", r"\1min\2"),
    # Of the two that are left one is there twice.
    ("a sign in the magnitude",
     rf"(\s)max\.NaN\.abs(\.f32\s+%r\d+, (?!(?:{MAXIMA}),))", r"\1max.NaN\2"),
    ("no maximum of the first",
     r"(\smax\.NaN\.abs\.f32\s+%r\d+), (%r\d+), (%r\d+), (?!\2;)", r"\1, \3, \3, "),
    ("no maximum of the last",
     r"(\smax\.NaN\.abs\.f32\s+%r\d+), (%r\d+), (%r\d+), (?!\2;)%r\d+;",
     r"\1, \2, \3, \3;"),
    ("no bound", r"(\s)min\.NaN\.f32(\s+%r\d+), (%r\d+), [^;]+;",
     r"\1mov.b32\2, \3;"),
    ("a factor left out", r"(\s)mul\.rn\.f32(\s+%r\d+), %r\d+, ([^;]+);",
     r"\1mov.b32\2, \3;"),
    ("no inverse", r"(\s)rcp\.rn\.f32", r"\1mov.b32"),
    ("the codes exchanged",
     r"(cvt\.rn\.(?:satfinite\.\w+|b?f16x2)\.f32\s+%\w+), (%r\d+), (%r\d+);",
     r"\1, \3, \2;"),
    ("codes that are left out", r"(\s)or\.b(\d\d)(\s+%\w+), (%\w+), %\w+;",
     r"\1mov.b\2\3, \4;"),
    ("codes that are left out", r"(\s)or\.b(\d\d)(\s+%\w+), %\w+, (%\w+);",
     r"\1mov.b\2\3, \4;"),
    ("a sign in the magnitude",
     r"(and\.b32\s+%r\d+, %r\d+), (?:2147483647|2147450879);", r"\1, 4294967295;"),
    # Rounding at random.
    ("no bound", r"(\s)min\.xorsign\.abs\.f32(\s+%r\d+), (%r\d+), [^;]+;",
     r"\1mov.b32\2, \3;"),
    ("smaller steps", r"(\s)max\.xorsign\.abs\.f32(\s+%r\d+), (%r\d+), [^;]+;",
     r"\1mov.b32\2, \3;"),
    ("to nearest", r"(\s)fma\.rz\.f32", r"\1fma.rn.f32"),
    ("what is left kept", r"(and\.b32\s+%r\d+, %r\d+), (?:-65536|-4194304);",
     r"\1, -1;"),
    ("to nearest", r"(\s)mul\.rz\.f32", r"\1mul.rn.f32"),
    ("no random bits",
     r"(\s)dp2a\.lo\.u32\.u32(\s+%r\d+), %r\d+, \d+, (%r\d+);",
     r"\1mov.b32\2, \3;"),
    ("nothing but random bits", r"(dp2a\.lo\.u32\.u32\s+%r\d+, %r\d+, \d+), %r\d+;",
     r"\1, 0;"),
    ("half of the steps", r"(dp2a\.lo\.u32\.u32\s+%r\d+, %r\d+), 64,", r"\1, 32,"),
    ("half of the steps", r"(dp2a\.lo\.u32\.u32\s+%r\d+, %r\d+), 16384,",
     r"\1, 8192,"),
    ("the other half", r"(dp2a\.lo\.u32\.u32\s+%r\d+, %r\d+), (?:1|64),",
     r"\1, 256,"),
    ("the other half", r"(dp2a\.lo\.u32\.u32\s+%r\d+, %r\d+), (?:256|16384),",
     r"\1, 1,"),
    ("a factor left out",
     r"(\s)mul\.rn\.f32x2(\s+%rd\d+), (%rd\d+), %rd\d+;", r"\1mov.b64\2, \3;"),
    ("no product",
     r"(\s)fma\.rn\.f32x2(\s+%rd\d+), %rd\d+, %rd\d+, (%rd\d+);",
     r"\1mov.b64\2, \3;")]

# Rounding at random by an instruction.
if ptx.places(r"cvt\.rs"):
    REPLACED += [
        ("the codes exchanged",
         r"(cvt\.rs\.satfinite\.\w+\.f32\s+%\w+,) \{(%r\d+),(?!\2,)(%r\d+)",
         r"\1 {\3,\2"),
        # Each of two with random bits of its own, and the bytes of two such pairs.
        ("the codes exchanged",
         r"(cvt\.rs\.satfinite\.\w+\.f32\s+%\w+,) \{(%r\d+),\2,(%r\d+),\3\}",
         r"\1 {\3,\3,\2,\2}"),
        ("the pairs exchanged", r"(prmt\.b32\s+%r\d+), (%r\d+), (%r\d+),", r"\1, \3, \2,"),
        ("the other byte", r"(prmt\.b32\s+%r\d+, %r\d+, %r\d+), 0x6420U;",
         r"\1, 0x6440U;"),
        ("the codes exchanged",
         r"(cvt\.rs\.satfinite\.\w+\.f32\s+%\w+, \{%r\d+),(%r\d+),(%r\d+)",
         r"\1,\3,\2"),
        ("the lower half of a product", r"(\s)mul\.hi\.u64", r"\1mul.lo.u64"),
        ("nothing of the other", r"(\s)xor\.b64(\s+%rd\d+), (%rd\d+), [^;]+;",
         r"\1mov.b64\2, \3;"),
        ("no sum", r"(\s)mad\.lo\.s32(\s+%r\d+, %r\d+, -?\d+), %r\d+;",
         r"\1mad.lo.s32\2, 0;"),
        ("no product", r"(\s)mad\.lo\.s32(\s+%r\d+), %r\d+, -?\d+, (%r\d+);",
         r"\1mov.b32\2, \3;"),
        ("the halves exchanged", r"(mov\.b32 %r\d+, )\{(%codes0), (%codes1)\}",
         r"\1{\3, \2}")]

    # Where random bits are added before, those of the instruction are 0.
    if not ptx.places("dp2a"):
        REPLACED += [("towards zero", r"(cvt\.rs\.[^{]*\{[^}]*\}), %r\d+;", r"\1, 0;")]

# Lanes of a warp that find the largest magnitude of a tile.
lanes = ptx.places(r"redux\.sync")
if lanes:
    REPLACED += [
        ("the smallest of the lanes", r"(redux\.sync\.)max", r"\1min"),
        ("each lane for itself", r"(\s)redux\.sync\.max\.u32(\s+%r\d+), (%r\d+), [^;]+;",
         r"\1mov.b32\2, \3;")]

# Lanes of a quad that exchange parts of rows.
if ptx.places("shfl"):
    REPLACED += [
        ("no exchange", r"(\s)shfl\.sync\.bfly\.b32(\s+%r\d+), (%r\d+), [^;]+;",
         r"\1mov.b32\2, \3;")]

# Codes of integers.
if ptx.places(r"xor\.b32\s+%r\d+, %r\d+, -2139062144;"):
    REPLACED += [
        ("no bound", r"(\s)max\.f32(\s+%r\d+), (%r\d+), [^;]+;", r"\1mov.b32\2, \3;"),
        ("no bound", r"(\s)min\.f32(\s+%r\d+), (%r\d+), [^;]+;", r"\1mov.b32\2, \3;"),
        ("towards zero", r"(\s)add\.rn\.f32", r"\1add.rz.f32"),
        ("a sign left", r"(\s)xor\.b32(\s+%r\d+), (%r\d+), [^;]+;",
         r"\1mov.b32\2, \3;")]

# A number that is changed by so much.
COUNTED = COUNTED + [
    ("another lane", r"shfl\.sync\.bfly\.b32\s+%r\d+, %r\d+, (\d+),", 1),
    ("another bit field", r"bfe\.u32\s+%r\d+, %r\d+, (\d+)", 1)]

# Every block of a matrix has its tensor scale, and any of them may write it.
SAME = "the same number is written by other blocks"
STEPS = "blocks begin at multiples of 16"
WHOLE = "is a multiple of 32"
ELSEWHERE = "test_quantize_kernels.py has such"
EQUIVALENT = [
    (r"the other comparison: .*setp\.ne\.b32", SAME),
    (r"another sum: .*add\.s32\s+%r\d+, %r\d+, 508;", "four times K, which " + WHOLE),
    (r"to nearest: ", "less than half of 2^-16 of a step counts in one of 2^17 "
     "elements; " + ELSEWHERE)]
# Whether a block is the first one of a matrix, and the larger one of two halves.
text = "\n".join(ptx.lines)
# Two columns at once if their number, a size of the launch, is even.
ODD = {}
for rest, number, condition in re.findall(
        r"and\.b32\s+(%r\d+), (%r\d+), 1;\n\s*setp\.ne\.b32\s+(%p\d+), \1, 0;", text):
    ODD[rest] = condition
    if re.search(rf"ld\.param\.b32\s+{number},", text):
        EQUIVALENT.append((rf"another bound: .*setp\.ne\.b32\s+%p\d+, {rest}, 0;",
                           "each column for itself has the same numbers"))
for condition in re.findall(r"setp\.ne\.b32\s+(%p\d+),", text):
    if condition not in ODD.values():
        EQUIVALENT.append((rf"the other branch: .*@{condition} bra", SAME))
for first in re.findall(r"setp\.ne\.b32\s+%p\d+, (%r\d+), 0;", text):
    if first in ODD:
        continue
    EQUIVALENT += [(rf"codes that are left out: .*or\.b32\s+{first},", SAME),
                   (rf"a bit less: .*and\.b32\s+{first},", SAME)]
for halves in re.findall(r"max\.u16\s+%rs\d+, (%rs\d+, %rs\d+);", text):
    EQUIVALENT.append((rf"the halves exchanged: .*\{{{halves}\}}",
                       "the larger one is taken"))
# Lanes that leave what their warp has found.
for lane, first in re.findall(
        r"and\.b32\s+(%r\d+), %r\d+, 31;\n\s*setp\.ne\.b32\s+(%p\d+), \1, 0;", text):
    ANY = "all lanes of a warp have found the same"
    EQUIVALENT += [(rf"the other branch: .*@{first} bra", ANY),
                   (rf"a bit less: .*and\.b32\s+{lane},", ANY)]




def followers(roots, but=r"$^"):
    """What is computed of registers, but for what is loaded and by some lines."""
    computes = re.compile(r"\s*(?!ld|st|shfl|tcgen05|mbarrier|@)\w[\w.]*\s+"
                          r"(\{[^}]*\}|%\w+(?:\|%\w+)?)\s*,(.*);")
    lines = [found.groups() for found in map(computes.match, ptx.lines)
             if found and not re.search(but, found[0])]
    reached = set(roots)
    while True:
        more = set()
        for results, read in lines:
            if reached.intersection(re.findall(r"%\w+", read)):
                more.update(re.findall(r"%\w+", results))
        if more <= reached:
            return reached
        reached |= more


# Of the threads of a tile one leaves the scale, at a place that the bits of its number
# which tell these threads apart have no part in.
LEAVES = "another thread leaves the same scale at the same place"
threads = re.findall(r"mov\.u32\s+(%r\d+), %tid\.x;", text)
of_thread = followers(threads)
for leaves, one in re.findall(r"setp\.ne\.b32\s+(%p\d+), (%r\d+), 0;", text):
    parts = re.search(rf"or\.b32\s+{one}, (%r\d+), (%r\d+);", text)
    guarded = re.search(rf"@{leaves} bra\s+\$\w+;((?:\n(?!.*(?:bra|\$)).*)*)", text)
    stores = guarded and re.findall(r"st\.global\.b32\s+\[(%rd\d+)\]", guarded[1])
    if not parts or not stores or len(stores) != 1:
        continue
    # A place that is the tile's is the same for all threads.
    if stores[0] not in of_thread:
        EQUIVALENT += [(rf"another shift: .*shr\.u32\s+{part}, ", LEAVES)
                       for part in parts.groups()]
    # Where it has a row, rows of a tile differ in lower bits than those.
    row = re.search(r"shr\.u32\s+(%r\d+), %r\d+, (\d+);\n\s*and\.b32\s+%r\d+, \1, (\d+);",
                    guarded[1])
    for part in parts.groups():
        mask = re.search(rf"and\.b32\s+{part}, %r\d+, (\d+);", text)
        if row and mask and (int(row[3]) & -int(row[3])) << int(row[2]) == int(mask[1]) + 1:
            EQUIVALENT.append((rf"a bit less: .*and\.b32\s+{part},", LEAVES))
# Of two halves of the threads one leaves scales, at places of lower bits of its number.
for leaves, thread, last in re.findall(r"setp\.gt\.u32\s+(%p\d+), (%r\d+), (\d+);", text):
    guarded = re.search(rf"@{leaves} bra\s+\$\w+;((?:\n(?!.*(?:bra|\$)).*)*)", text)
    stores = guarded and re.findall(r"st\.global\.b32\s+\[(%rd\d+)\]", guarded[1])
    if thread in threads and stores and len(stores) == 1 and stores[0] not in followers(
            threads, rf"and\.b32\s+%r\d+, {thread}, {last};"):
        EQUIVALENT.append((rf"the other branch: .*@{leaves} bra", LEAVES))
# Two words at once, or each by itself: where the first condition fails there are loads
# behind one of their own.
for inside, tile, last in re.findall(
        r"setp\.lt\.u32\s+(%p\d+), (%r\d+), (\d+);", text):
    both = re.search(rf"and\.pred\s+(%p\d+), {inside}, (%p\d+);", text)
    if (both and re.search(rf"setp\.eq\.b64\s+{both[2]}, %rd\d+, 0;", text)
            and re.search(rf"setp\.gt\.u32\s+%p\d+, {tile}, {int(last) - 1};", text)
            and len(re.findall(rf"{inside}\b", text)) == 2):
        EQUIVALENT.append((rf"another bound: .*setp\.lt\.u32\s+{inside},",
                           "the words are loaded one by one then"))


def serves_maximum(at):
    """Whether nothing comes of the result of a line but the larger one of two halves,
    behind which sums are loaded again."""
    again = [line for line in ptx.places(r"tcgen05\.ld") if line > at]
    ends = [line for line in ptx.places(r"max\.u16\s") if line > at]
    if not again or not ends or again[0] < ends[0]:
        return False
    end = ends[0]
    reached = {re.search(r"%\w+", ptx.lines[at])[0]}
    for line in ptx.lines[at + 1:end]:
        read, results = re.findall(r"%\w+", line), []
        if not re.match(r"\s*(@|st|red|atom)", line):
            # Several where a word is taken apart.
            apart = re.match(r"\s*mov\.\w+\s+\{([^}]*)\}, %", line)
            count = apart[1].count("%") if apart else 1
            results, read = read[:count], read[count:]
        if reached.intersection(read):
            if not results:
                return False
            reached.update(results)
    outside = "\n".join(ptx.lines[:at] + ptx.lines[end + 1:])
    return not reached.intersection(re.findall(r"%\w+", outside))


EQUIVALENT += [(rf"the codes exchanged: {at}: ",
                "the larger one is taken, and both are made again")
               for at in ptx.places(r"cvt\.rn\.b?f16x2\.f32") if serves_maximum(at)]
# Rows of which a bit is set that is not set in the number they are compared with.
for row, bit in re.findall(r"or\.b32\s+(%r\d+), %r\d+, (\d+);", text):
    for at, last in re.findall(
            rf"setp\.gt\.u32\s+(%p\d+), {row}, (\d+);", text):
        if int(bit) & ~int(last):
            EQUIVALENT.append((
                rf"(the other comparison|another bound): .*setp\.gt\.u32\s+{at}, {row},",
                f"no row with the bit {bit} is {last}"))
# Lanes that have found the same as their neighbours.
for match in re.finditer(
        r"shfl\.sync\.bfly\.b32\s+(%r\d+), (%r\d+), 1, 31, -1;\n"
        r"\s*max\.u32\s+(%r\d+), \2, \1;\n"
        r"\s*shfl\.sync\.bfly\.b32\s+(%r\d+), \3, 2, 31, -1;", text):
    EQUIVALENT.append((rf"another lane: .*bfly\.b32\s+{match[4]}, {match[3]}, 2,",
                       "the lane beside the other one has found the same"))
# Lines of the transpose, which threads with two columns copy 32 at a time.
if "tensor<4x160x?xf4E2M1FN" in open(source).read():
    LINES = "32 lines are there, or none of them, and the first of two is even"
    EQUIVALENT.append((r"the other comparison: .*setp\.gt\.u32\s+%p\d+, %r\d+, 159;",
                       LINES))
    # The first one of a pair, and the first lines that are copied.
    for line in re.findall(r"setp\.gt\.u32\s+(%p\d+), %r\d+, 159;", text)[:2]:
        EQUIVALENT.append((rf"another bound: .*setp\.gt\.u32\s+{line},", LINES))
# Maxima that all CTAs find together.
if "red.relaxed.gpu" in text:
    LAST = "other threads read the last access again"
    SIZES = "sizes are 1 at least"
    EQUIVALENT += [
        (r"(the other comparison|another bound): .*setp\.gt\.u64", LAST),
        (r"another bound: .*setp\.lt\.u64", LAST),
        (r"another bound: .*setp\.lt\.s32\s+%p\d+, %r\d+, 1;", SIZES)]
    for cta in re.findall(r"mov\.u32\s+(%r\d+), %ctaid", text):
        EQUIVALENT.append((rf"the other comparison: .*setp\.ge\.s32\s+%p\d+, {cta},",
                           "a grid has no more CTAs than there are to stand for"))
    for batch in re.findall(r"setp\.lt\.s32\s+(%p\d+), %r\d+, 1;", text):
        EQUIVALENT.append((rf"one of two conditions: .*or\.pred\s+%p\d+, %p\d+, {batch};",
                           SIZES))
    for lane in re.findall(r"and\.b32\s+(%r\d+), %r\d+, 31;", text):
        EQUIVALENT.append((rf"a bit less: .*and\.b32\s+{lane},",
                           "all lanes of a warp have found the same"))
    for step in re.findall(r"mul\.rn\.f32\s+(%r\d+), %r\d+, %r\d+;", text):
        EQUIVALENT.append((rf"no bound: .*min\.NaN\.f32\s+%r\d+, {step}, 0f7F7FFFFF",
                           "scales times that of the tensor end below the numbers"))
    if "xbf16>" in open(source).read():
        EQUIVALENT.append((r"no bound: .*0f79C30C30", "only f32 reach so far"))
    before = text[:text.index("atom.acq_rel.gpu")]
    for first in re.findall(r"ld\.global\.v4\.b32\s+\{(%r\d+),", before):
        EQUIVALENT.append((rf"the words exchanged: .*\{{{first},",
                           "the larger one is taken"))
# A row that is read for its largest magnitude, then again for the codes.
if "_t0" in open(source).read():
    EQUIVALENT += [(rf"the words exchanged: {at}: .*ld\.global",
                    "the largest of numbers in any order")
                   for at in ptx.places(r"ld\.global\.v") if at < lanes[0]]
# Threads with two neighbouring blocks of a row, of which 10 are inside, 12 in memory.
if "@neighbours" in open(source).read():
    EQUIVALENT.append((r"(the other comparison|another bound): .*"
                       r"setp\.gt\.u32\s+%p\d+, %r\d+, (9|11);",
                       "the first of two has an even number"))
if "min_error" in open(source).read():
    EQUIVALENT.append((r"no bound: .*0f7F7FFFFF",
                       "the smaller scale has the same inverse then, and wins"))
    # Sums that are near each other, which are found exactly.
    OPEN = "sums are found exactly then"
    for distance, far in re.findall(
            r"abs\.f32\s+(%r\d+), %r\d+;\n\s*setp\.gt\.f32\s+(%p\d+), \1, %r\d+;",
            text):
        EQUIVALENT += [
            (rf"the other comparison: .*setp\.gt\.f32\s+{far},",
             "the margin is more than what sums are off"),
            (rf"no sign: .*abs\.f32\s+{distance},", OPEN)]
        for settled in re.findall(rf"and\.pred\s+(%p\d+), %p\d+, {far};\n"
                                  r"\s*or\.pred\s+%p\d+, %p\d+, \1;", text):
            EQUIVALENT.append((rf"one of two conditions: .*or\.pred\s+%p\d+, %p\d+, "
                               rf"{settled};", OPEN))
    # Of a product a pass over the sums that adds up errors: two numbers in each other's
    # place. The codes are made of sums that are loaded again.
    for at in ptx.places(r"mov\.b32\s+\{%rs\d+, %rs\d+\}, %r\d+;") if is_epilogue else ():
        behind = [line for line in ptx.lines[at:]
                  if re.search(r"tcgen05\.ld|st\.global", line)]
        halves = re.search(r"\{(%rs\d+), (%rs\d+)\}", ptx.lines[at])
        used = [re.findall(rf".*{half}\b.*", text) for half in halves.groups()]
        are_numbers = all(
            len(lines) == 2 and re.search(rf"cvt\.f32\.b?f16\s+%r\d+, {half};", lines[1])
            for half, lines in zip(halves.groups(), used))
        if are_numbers and behind and "tcgen05.ld" in behind[0]:
            EQUIVALENT.append((rf"the halves exchanged: {at}: ",
                               "errors are added up in any order"))
    # Where the largest number is beyond the largest code, errors have a bound.
    for within, number in re.findall(
            r"setp\.leu\.f32\s+(%p\d+), (%r\d+), 0f(?:44000000|43E00000);",
            text) if is_epilogue else ():
        BOTH = "both ways find the same errors, but of sums that no product has"
        EQUIVALENT += [
            (rf"the other branch: .*@{within} bra", BOTH),
            (rf"a factor left out: .*mul\.rn\.f32\s+{number},", BOTH)]
        for branch in ptx.places(rf"@{within} bra"):
            end = next(at for at in range(branch + 1, len(ptx.lines))
                       if re.search(r"^\$L|bra", ptx.lines[at]))
            EQUIVALENT += [(rf"[^:]*: {at}: ", "no sum is so large")
                           for at in range(branch + 1, end)]
    # What two sums of f32 that begin at 32 are less than their bits.
    EQUIVALENT.append((r"another sum: .*add\.s32\s+%r\d+, %r\d+, 2080374784;",
                       "no two errors here differ by 2^-20 of the bound"))
if is_epilogue:
    EQUIVALENT.append((r"no bound: .*0f(7B124924|77924924)",
                       "no sum is so large; those of quantized_float_chain.py are"))
    # Whether a part of a row whose scale CTAs choose together is inside.
    if "st.async" in text:
        for behind in re.findall(r"add\.s32\s+(%r\d+), %r\d+, -\d+;\n"
                                 r"\s*setp\.gt\.s32\s+%p\d+, \1, -2;", text):
            EQUIVALENT.append((
                rf"the other comparison: .*setp\.gt\.s32\s+%p\d+, {behind}, -2;",
                "parts begin at multiples of 64, of which N is one"))
    # Of the branch around zeros behind a row's last scale: other blocks write them too,
    # where their place depends on the row alone.
    EQUIVALENT += [
        (rf"the other branch: .*{found[0]}", SAME)
        for at in ptx.places(r"st\.global\.b8 \t\[%rd\d+\+\d+\], 0;")
        for found in [re.search(r"@%p\d+ bra", "".join(ptx.lines[at - 3:at]))] if found]
    # The row behind those of a group that have scales.
    TILE = "a tile of 128 rows ends where scales do"
    for at in ptx.places(r"and\.b32\s+%r\d+, %r\d+, -128;"):
        end = re.search(r"add\.s32\s+(%r\d+),", ptx.lines[at + 1])
        rows = end and re.search(rf"setp\.ge\.s32\s+(%p\d+), %r\d+, {end[1]};",
                                 ptx.lines[at + 2])
        if rows:
            EQUIVALENT += [
                (rf"the other comparison: .*setp\.ge\.s32\s+{rows[1]},", TILE),
                (rf"one of two conditions: .*or\.pred\s+%p\d+, %p\d+, {rows[1]};",
                 TILE)]
    # Swapped operands, whose tiles have 64 rows of D and threads 64 of its columns.
    if "n2m4" in open(source).read():
        for rows in re.findall(r"setp\.gt\.s32\s+(%p\d+), %r\d+, 255;", text):
            EARLY = "a tile of 64 rows ends where scales do, or before"
            EQUIVALENT += [
                (rf"(the other comparison|another bound): .*setp\.gt\.s32\s+{rows},",
                 EARLY),
                (rf"one of two conditions: .*or\.pred\s+%p\d+, %p\d+, {rows};",
                 EARLY)]
        for columns in re.findall(
                r"setp\.gt\.[su]32\s+(%p\d+), %r\d+, (?:-2|767);", text):
            ENDS = "N ends where a tile does"
            EQUIVALENT += [
                (rf"the other comparison: .*setp\.gt\.[su]32\s+{columns},", ENDS),
                (rf"one of two conditions: .*or\.pred\s+%p\d+, %p\d+, {columns};",
                 ENDS)]
        for place in re.findall(r"and\.b32\s+%r\d+, (%r\d+), 496;", text):
            EQUIVALENT.append((rf"another sum: .*add\.s32\s+{place}, {place}, ",
                               "the lower bits of the place of a row are left out"))
        EQUIVALENT += [
            (rf"another bound: .*setp\.ne\.b32\s+{found[1]},", SAME)
            for at in ptx.places(r"st\.global\.b8 \t\[%rd\d+\+\d+\], 0;")
            for found in [re.search(r"@(%p\d+) bra", "".join(ptx.lines[at - 3:at]))]
            if found]
        EQUIVALENT += [
            (r"(another bound|the other comparison): .*setp\.gt\.u32\s+%p\d+, "
             r"%r\d+, 63;", "tiles begin at multiples of 64 rows"),
            (r"(another bound|the other comparison): .*setp\.gt\.(u32\s+%p\d+, "
             r"%r\d+, 127|u16\s+%p\d+, %rs\d+, 1);", "of few rows all have scales")]
        # Rows of padding that are one round of a loop, whose counter says which 128
        # rows they are among.
        for place, row in re.findall(
                r"add\.s32\s+(%r\d+), \1, 8;\n\s*setp\.lt\.s32\s+%p\d+, (%r\d+), 192;",
                text):
            ONCE = "there is no second round"
            EQUIVALENT += [
                (rf"another bound: .*setp\.lt\.s32\s+%p\d+, {row}, 192;", ONCE),
                (rf"another sum: .*add\.s32\s+{place}, {place}, 8;", ONCE),
                (rf"codes that are left out: .*or\.b32\s+{row},",
                 "64 rows are among the same 128")]
        # A loop of one round or two, of which a carry says that there is another.
        for last, first in re.findall(
                r"add\.s32\s+(%r\d+), (%r\d+), 64;\n\s*setp\.lt\.u32\s+%p\d+, "
                r"\1, \2;", text):
            EQUIVALENT.append((rf"another sum: .*add\.s32\s+{last}, {first}, 64;",
                               "a carry comes of 64 as of 65"))
    # Rows that share a scale.
    if re.search(r"_t4_t(16|32)", open(source).read()):
        for columns in re.findall(r"setp\.eq\.b32\s+(%p\d+), %r\d+, 96;", text):
            EQUIVALENT.append((rf"one of two conditions: .*or\.pred\s+%p\d+, %p\d+, "
                               rf"{columns};", "behind N all of them are, or none"))
    # Both blocks of 16 of a quad are before column 192, or none is.
    for columns in re.findall(r"setp\.gt\.s32\s+(%p\d+), %r\d+, 191;", text):
        EQUIVALENT.append((rf"one of two conditions: .*or\.pred\s+%p\d+, %p\d+, "
                           rf"{columns};", "a quad has 32 columns, N is 192"))
    # Two columns, a gate and a product, that are the last of a static N.
    for columns in re.findall(r"setp\.gt\.s32\s+(%p\d+), %r\d+, -3;", text):
        ENDS = "N ends where a tile does"
        EQUIVALENT += [
            (rf"the other comparison: .*setp\.gt\.s32\s+{columns},", ENDS),
            (rf"one of two conditions: .*or\.pred\s+%p\d+, %p\d+, {columns};",
             ENDS)]
    # Of a dynamic N that ends inside of a tile of two blocks.
    for block in re.findall(r"setp\.ge\.u32\s+(%p\d+), %r\d+, %r\d+;\n\s*or\.pred", text):
        ZERO = "of a tile one block at most is behind N, whose scale is 0 anyway"
        EQUIVALENT += [
            (rf"the other comparison: .*setp\.ge\.u32\s+{block},", ZERO),
            (rf"one of two conditions: .*or\.pred\s+%p\d+, %p\d+, {block};", ZERO)]
    for rest in re.findall(r"sub\.s32\s+(%r\d+), %r\d+, %r\d+;\n\s*setp\.lt\.s32", text):
        end = re.search(rf"setp\.lt\.s32\s+(%p\d+), {rest}, 1;", text)
        if end:
            BEHIND = "blocks behind N do not come here"
            EQUIVALENT += [
                (rf"another bound: .*setp\.lt\.s32\s+{end[1]},", BEHIND),
                (rf"one of two conditions: .*or\.pred\s+%p\d+, %p\d+, {end[1]};",
                 BEHIND)]
    # Of what says whether a block is the first one, which stores the tensor scale.
    for at in ptx.places(r"\tor\.b32"):
        first, number = re.search(r"(%r\d+), (%r\d+),", ptx.lines[at]).groups()
        if re.search(rf"setp\.ne\.b32 .*{first}, 0;", ptx.lines[at + 1]):
            EQUIVALENT += [
                (rf"codes that are left out: .*or\.b32\s+{first},", SAME),
                (rf"another sum: .*add\.s32\s+{number}, {number}, 1;", SAME)]
    EQUIVALENT += [
        (r"another bound: .*setp\.eq\.b32\s+%p\d+, %r\d+, 254;",
         "no sum is so large; those of quantized_chain.py are"),
        (r"another bound: .*setp\.eq\.b32\s+%p\d+, %r\d+, 2139095040;",
         "no sum is infinite; those of quantized_chain.py are"),
        (r"the other comparison: .*setp\.gt\.[us]32\s+%p\d+, %r\d+, (95|191|319);", STEPS),
        (r"another bound: .*setp\.gt\.[us]32\s+%p\d+, %r\d+, (95|191|319);", STEPS),
        (r"no bound: .*0f7F7FFFFF",
         "no product of scales is so small; in kernels that quantise there are")]


edits = Edits(ptx, every)


def all_mutations():
    yield from edits.replaced(REPLACED)
    yield from edits.counted(COUNTED)
    yield from edits.masked("{1,3}")
    yield from edits.moved(ptx.some(r"(ld|st)\.global"))
    # What the threads of a CTA exchange.
    yield from edits.moved(ptx.places(r"(ld|st)\.shared"))
    yield from edits.left_out("a store left out",
                              edits.spread(ptx.places(r"st\.shared")))
    yield from edits.left_out("no barrier", ptx.places(r"bar(rier\.cta)?\.sync"))
    # Rows of the padding read the last row.
    for at in ptx.places(r"\smin\.u32") if lanes else ():
        if at < lanes[0]:
            yield f"always the last: {at}: {ptx.lines[at]}", ptx.replaced(
                at, r"min\.u32(\s+%r\d+), %r\d+, ([^;]+);", r"mov.b32\1, \2;")
    yield from edits.left_out("a store left out", ptx.some(r"st\.global"))


def judge(seed):
    sms = [f"--num-sms={few_sms[1]}"] if few_sms and seed % 2 == 0 else []
    return mutations.missed_by(source, *options, *sms, f"--seed={seed}")


judges = [judge(seed + 1) for seed in range(int(seeds[1]) if seeds else 1)]
mutations.report(all_mutations(), folder, mutations.missed_by_all(*judges),
                 equivalent=EQUIVALENT)

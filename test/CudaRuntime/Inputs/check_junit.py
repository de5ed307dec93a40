"""Checks JUnit XML against the elements and attributes that its readers agree on,
and prints suites, cases and first lines of failures.

The schema is the one that https://github.com/testmoapp/junitxml describes, with
the counts that have to agree.
"""
# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import sys
import xml.etree.ElementTree as tree

COUNT, SECONDS, TEXT = int, float, str

# Element: its attributes with their types (all of them required), its children.
SCHEMA = {
    "testsuites": ({"name": TEXT, "tests": COUNT, "failures": COUNT, "errors": COUNT},
                   ["testsuite"]),
    "testsuite": ({"name": TEXT, "tests": COUNT, "failures": COUNT, "errors": COUNT,
                   "skipped": COUNT, "time": SECONDS}, ["testcase"]),
    "testcase": ({"name": TEXT, "classname": TEXT, "time": SECONDS}, ["failure"]),
    "failure": ({"type": TEXT, "message": TEXT}, []),
}


def check(element):
    attributes, children = SCHEMA[element.tag]
    assert set(element.attrib) == set(attributes), (element.tag, element.attrib)
    for name, kind in attributes.items():
        value = kind(element.get(name))
        assert kind is TEXT and value or kind is not TEXT and value >= 0, (name, value)
    for child in element:
        assert child.tag in children, (element.tag, child.tag)
        check(child)
    if element.tag == "testcase":
        assert len(element) <= 1
    elif element.tag != "failure":
        assert int(element.get("tests")) == len(list(element.iter("testcase")))
        assert int(element.get("failures")) == len(list(element.iter("failure")))
        assert not (element.text or "").strip()


root = tree.parse(sys.argv[1]).getroot()
assert root.tag == "testsuites"
check(root)
for suite in root:
    print("suite", suite.get("name"))
    for case in suite:
        failure = case.find("failure")
        if failure is None:
            print("passed", case.get("name"))
            continue
        assert failure.text.startswith(failure.get("message"))
        print(f"failed {case.get('name')}: {failure.get('type')}: {failure.get('message')}")

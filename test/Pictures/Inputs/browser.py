"""A page as a browser shows it: boxes and texts that are visible, and pixels.

Part of the blockscale project, under the Apache License v2.0 with LLVM Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import html
import json
import pathlib
import re
import subprocess

import png

BROWSER = ["chromium-headless-shell", "--no-sandbox", "--disable-gpu",
           "--hide-scrollbars", "--virtual-time-budget=5000"]

# Everything that has a box and a text of its own, with the box of the picture
# that it is in; and whatever the page tried to load.
MEASURE = """
<script>
document.querySelectorAll('details').forEach(d => d.open = true);
const box = e => { const r = e.getBoundingClientRect();
                   return [r.left, r.top, r.right, r.bottom]; };
const found = [];
document.querySelectorAll('h1,h2,h3,p,td,th,dt,dd,pre,summary,svg text,svg rect')
  .forEach(e => {
    const svg = e.closest('svg');
    found.push({tag: e.tagName, classes: e.getAttribute('class') || '',
                text: e.tagName == 'rect' ? '' : e.textContent, box: box(e),
                picture: svg ? [...document.querySelectorAll('svg')].indexOf(svg)
                             : null,
                frame: svg ? box(svg) : null,
                fill: getComputedStyle(e).fill, colour: getComputedStyle(e).color});
  });
const result = document.createElement('pre');
result.id = 'measured';
result.textContent = JSON.stringify({found,
  width: document.documentElement.scrollWidth,
  height: document.documentElement.scrollHeight,
  loaded: performance.getEntriesByType('resource').map(r => r.name)});
document.body.appendChild(result);
</script>
"""


def measure(page, folder, width=1200):
    """What is on the page, folded parts opened."""
    text = pathlib.Path(page).read_text(encoding="utf-8")
    copy = pathlib.Path(folder, "measured.html").resolve()
    copy.write_text(text.replace("</body>", MEASURE + "</body>"),
                    encoding="utf-8")
    done = subprocess.run([*BROWSER, f"--window-size={width},1000", "--dump-dom",
                           copy.as_uri()], capture_output=True, text=True,
                          timeout=60, check=True)
    found = re.search(r'<pre id="measured">(.*?)</pre>', done.stdout, re.S)
    return json.loads(html.unescape(found[1]))


def screenshot(page, target, width, height, dark=False):
    options = ["--blink-settings=preferredColorScheme=" + ("0" if dark else "1"),
               f"--window-size={width},{height}", f"--screenshot={target}"]
    subprocess.run([*BROWSER, *options, pathlib.Path(page).resolve().as_uri()],
                   capture_output=True, timeout=60, check=True)
    return png.Image(target)

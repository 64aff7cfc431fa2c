#!/usr/bin/python3
"""Puts a page of src/report/page together: page.py OUTPUT TEMPLATE STYLE SCRIPT...

The style sheet and the scripts go into the template, each as one element, and so does the policy (CSP) that allows these
two by their hashes, and nothing else: no request, no other script, no other style, no attribute with either.
"""
import base64
import hashlib
import sys


def digest(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def read(path):
    with open(path, encoding="utf-8") as stream:
        return stream.read()


def main():
    output, template, style, *scripts = sys.argv[1:]
    page, css = read(template), "\n" + read(style)
    js = "\n'use strict';\n(() => {\n" + "\n".join(map(read, scripts)) + "})();\n"
    for text, what in ((css, "</style"), (js, "</script"), (js, "<!--")):
        if what in text.lower():
            sys.exit(f"page.py: '{what}' would end the element that it is in")
    policy = "; ".join(("default-src 'none'", f"script-src {digest(js)}", f"style-src {digest(css)}", "base-uri 'none'", "form-action 'none'"))
    parts = {"policy": f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
             "style": f"<style>{css}</style>", "script": f"<script>{js}</script>"}
    for name, text in parts.items():
        place = f"<!--{{{name}}}-->"
        if page.count(place) != 1:
            sys.exit(f"page.py: {template} must have one place for {name}")
        page = page.replace(place, text)
    with open(output, "w", encoding="utf-8") as stream:
        stream.write(page)


if __name__ == "__main__":
    main()

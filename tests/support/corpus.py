"""The corpus of the linter: tests/lint/LANGUAGE/GROUP.EXTENSION, each a group of snippets with
what must be found.

    //: child_process by its plain name is found
    const cp = require('child_process');
    cp.exec('ls');  //> js-child-process

`//:` (or `#:`) begins a snippet and names it. The linter gets each snippet as a separate file.
`//>` names the rules that must be found on the line, each as often as it is named. `//>^` is
about the line above, where no comment can follow. With `rule@7` the column is compared too.
`/*> rule */` is for where a comment must end. Anything that is not named must not be found.
"""
import collections
import dataclasses
import pathlib
import re

TOP = pathlib.Path(__file__).parents[1] / "lint"
LANGUAGES = ("python", "javascript", "typescript", "c", "bash")
HEADING = re.compile(r"^(?://|#): (.+)$")
MARK = re.compile(r"(?://|#|/\*)>(\^*) ([a-z0-9@ -]+?)(?: \*/|$|(?=\}))")


@dataclasses.dataclass
class Snippet:
    language: str
    group: str
    name: str
    suffix: str
    text: str
    expected: collections.Counter  # of (line, rule, column or None)

    @property
    def path(self) -> str:
        """The path of the file for the linter: unique, and it says what the snippet is."""
        slug = re.sub(r"[^a-z0-9]+", "-", self.name.lower()).strip("-")
        return f"{self.language}/{self.group}/{slug}{self.suffix}"


def expectations(lines):
    found = collections.Counter()
    for number, line in enumerate(lines, 1):
        for above, rules in MARK.findall(line):
            for rule in rules.split():
                name, _, column = rule.partition("@")
                found[number - len(above), name, int(column) if column else None] += 1
    return found


def read_group(path: pathlib.Path) -> list:
    snippets, lines = [], None
    for line in path.read_text(encoding="utf-8").splitlines():
        heading = HEADING.match(line)
        if heading:
            lines = []
            snippets.append((heading[1], lines))
        else:
            assert lines is not None, f"{path}: begins without a heading"
            lines.append(line)
    return [Snippet(path.parent.name, path.stem, name, path.suffix, "\n".join(part) + "\n", expectations(part))
            for name, part in snippets]


def read(language: str) -> list:
    """Every snippet of a language."""
    groups = sorted(path for path in (TOP / language).iterdir() if path.is_file())
    snippets = [snippet for path in groups for snippet in read_group(path)]
    paths = collections.Counter(snippet.path for snippet in snippets)
    assert max(paths.values(), default=0) <= 1, f"two snippets have one name: {paths.most_common(1)}"
    return snippets


def write(snippets: list, directory: pathlib.Path) -> None:
    for snippet in snippets:
        path = directory / snippet.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(snippet.text, encoding="utf-8")


def differences(snippet: Snippet, found: list) -> list:
    """What is missing and what is unexpected; found: (line, rule, column) of one snippet."""
    left, wrong = list(found), []
    for line, rule, column in snippet.expected.elements():
        match = next((one for one in left if one[:2] == (line, rule) and column in (None, one[2])), None)
        if match:
            left.remove(match)
        else:
            wrong.append(f"{snippet.path}:{line}: {rule}{f'@{column}' if column else ''} is not found")
    return wrong + [f"{snippet.path}:{line}: {rule}@{column} is found" for line, rule, column in left]

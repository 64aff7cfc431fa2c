"""How tools read their arguments, one reader per family, written from their manuals and not from
our policy.

A reader gets a table {name: form}, names with their dashes, form "flag", "value" or "optional",
and the arguments after the name of the tool. It returns what the tool would see: options as
(name, value or None), and operands. None means that the tool would refuse the vector, which is
as good as our refusal.
"""


class Refused(Exception):
    """The tool itself would refuse it."""


def whole_name(table, name, abbreviations):
    if name in table:
        return name
    candidates = [other for other in table if other.startswith(name)] if abbreviations and len(name) > 2 else []
    if len(candidates) != 1:
        raise Refused(name)
    return candidates[0]


class Reader:
    """The common part; flags say how the families differ."""

    def __init__(self, table, abbreviations=False, permute=True, strip_equals=False, one_dash=False):
        self.table, self.abbreviations, self.permute = table, abbreviations, permute
        self.strip_equals, self.one_dash = strip_equals, one_dash

    def read(self, arguments):
        self.rest, self.options, self.operands = list(arguments), [], []
        while self.rest:
            word = self.rest.pop(0)
            if word == "--":
                self.operands += self.rest
                break
            if word.startswith("--") or (self.one_dash and word.startswith("-") and len(word) > 2):
                self.long(word)
            elif word.startswith("-") and word != "-":
                self.short(word[1:])
            else:
                self.operands.append(word)
                if not self.permute:
                    self.operands += self.rest
                    break
        return self.options, self.operands

    def next_word(self, name):
        if not self.rest:
            raise Refused(name)
        return self.rest.pop(0)

    def long(self, word):
        name, equals, value = word.partition("=")
        if self.one_dash and not name.startswith("--"):
            name = "-" + name
        name = whole_name(self.table, name, self.abbreviations)
        form = self.table[name]
        if form == "flag" and equals:
            raise Refused(word)
        if form == "value" and not equals:
            value, equals = self.next_word(name), "="
        self.options.append((name, value if equals else None))

    def short(self, letters):
        while letters:
            name, letters = "-" + letters[0], letters[1:]
            if name not in self.table:
                raise Refused(name)
            form = self.table[name]
            if form == "flag":
                self.options.append((name, None))
                continue
            value = letters
            if value.startswith("=") and self.strip_equals:
                value = value[1:]
            if form == "value" and not letters:
                value = self.next_word(name)
            self.options.append((name, value or None))
            return


def getopt(table, arguments, permute=True):
    """getopt_long, and git's parse-options: abbreviations, "=" belongs to a short option's value."""
    return Reader(table, abbreviations=True, permute=permute).read(arguments)


def clap(table, arguments):
    return Reader(table, strip_equals=True).read(arguments)


def pflag(table, arguments, permute=True):
    """Go's pflag: a flag may have a value after "=", which the caller's table has as "optional"."""
    return Reader(table, permute=permute, strip_equals=True).read(arguments)


def click(table, arguments):
    return Reader(table, abbreviations=True).read(arguments)


def git(table, arguments):
    """A number alone is a count of commits; the rest is as in parse-options."""
    numbers = [word for word in arguments if word[:1] == "-" and word[1:].isdigit()]
    cut = arguments.index("--") if "--" in arguments else len(arguments)
    kept = [word for i, word in enumerate(arguments) if i >= cut or word not in numbers]
    return getopt(table, kept)


JQ_LONG = {"--slurp": "s", "--raw-output": "r", "--raw-output0": "", "--join-output": "j", "--ascii-output": "a",
           "--unbuffered": "", "--sort-keys": "S", "--color-output": "C", "--monochrome-output": "M", "--tab": "",
           "--compact-output": "c", "--null-input": "n", "--raw-input": "R", "--from-file": "f", "--exit-status": "e",
           "--seq": "", "--stream": "", "--stream-errors": "", "--args": "", "--jsonargs": "", "--help": "h",
           "--version": "V", "--run-tests": "", "--debug-dump-disasm": "", "--debug-trace": "", "--build-configuration": ""}
JQ_WORDS = {"--arg": 2, "--argjson": 2, "--slurpfile": 2, "--rawfile": 2, "--argfile": 2, "--indent": 1, "-L": 1,
            "--library-path": 1}


def jq(_, arguments):
    """jq's own loop: short options are letters anywhere in the argument; -L has its directory
    attached or separate."""
    rest, options, operands = list(arguments), [], []
    while rest:
        word = rest.pop(0)
        if word == "--":
            operands += rest
            break
        if word in JQ_WORDS:
            if len(rest) < JQ_WORDS[word]:
                raise Refused(word)
            options.append((word, [rest.pop(0) for _ in range(JQ_WORDS[word])]))
        elif word in JQ_LONG:
            options.append((word, None))
        elif word.startswith("-L"):
            options.append(("-L", [word[2:]]))
        elif word.startswith("-") and not word.startswith("--") and len(word) > 1:
            for letter in word[1:]:
                if letter not in JQ_LONG.values():
                    raise Refused(word)
                options.append(("-" + letter, None))
        elif word.startswith("--"):
            raise Refused(word)
        else:
            operands.append(word)
    return options, operands

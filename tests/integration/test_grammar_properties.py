"""No vector that the default policy allows has, as the tool would read it, an option that is not
listed, or a path that leads out of the root (R4).

Vectors are made from the tool's own list in every spelling, mixed with options that the tool
knows and the policy does not grant, cut short, bundled, with values attached and separate,
before and after the subcommand. An independent reader of the tool's family (readers.py) reads
the allowed ones; and if the tool is installed it is really run.
"""
import re

import hypothesis
import hypothesis.strategies as st
import pytest

import grammar
import readers
from feature import scaled
from grammar import SECRET, Judge

FLAG, VALUE, OPTIONAL = "flag", "value", "optional"


def table(text):
    """ "--x --y= --z[=]" as {name: form}. """
    forms = {}
    for word in text.split():
        form = OPTIONAL if word.endswith("[=]") else VALUE if word.endswith("=") else FLAG
        forms[word.removesuffix("[=]").removesuffix("=")] = form
    return forms


# More options of the tools, from their manuals: those that run, write, read elsewhere or use the
# network.
OTHERS = {
    "git": table("-c= -C= --exec-path[=] --git-dir= --work-tree= --config-env= --paginate --namespace= --bare --output= "
                 "--ext-diff --textconv --open-files-in-pager[=] -O[=] --no-index --show-signature --upload-pack= "
                 "--exec= --exclude-from= --contents= --ignore-revs-file= --filters --recurse-submodules "
                 "--edit-description -d -D --delete --force --exclude-per-directory= --pathspec-from-file= "
                 "--remerge-diff --super-prefix= --attr-source="),
    "rg": table("--pre= --pre-glob= --hostname-bin= --hyperlink-format= --search-zip -z --follow -L --generate="),
    "jq": table("-L= --library-path= --argfile= --run-tests"),
    "strace": table("-o= --output= -A --output-append-mode -E= --env= -u= --user= -p= --attach= -D --daemonize[=] -b= "
                    "--detach-on= -I= --interruptible= --inject= --fault= -k --stack-traces --kill-on-exit -O="),
    "docker": table("--privileged --cap-add= --device= --mount= --pid= --ipc= --userns= --uts= --volumes-from= --net= "
                    "--env-file= --cidfile= --add-host= --publish= -p= -P --publish-all --gpus= --runtime= --sysctl= "
                    "--security-opt= --host= -H= --context= --config= -D --debug --tls --output= -o= --iidfile= "
                    "--secret= --ssh= --build-context= --group-add= --cgroup-parent= -c= -a= --attach= -d --detach -t"),
    "semgrep": table("--autofix -a --output= -o= --baseline-commit= --core-opts= --pro --replacement= --remote= "
                     "--allow-local-builds --dangerously-allow-arbitrary-code-execution-from-rules --metrics="),
    "syft": table("--file= --config= -c= --template= -t= --from= --platform= --enrich= --base-path= --profile="),
    "grype": table("--file= --config= -c= --template= -t= --from= --platform= --vex= --profile="),
    "gitleaks": table("--log-opts= --follow-symlinks --report-template= --diagnostics= --diagnostics-dir="),
    "scip-typescript": table("--cwd= --pnpm-workspaces --yarn-workspaces --yarn-berry-workspaces"),
    "tree-sitter": table("--config-path= --debug-build -0 --debug-graph -D --edits= --grammar-path= -p= --lib-path= -l= "
                         "--lang-name= --open-log --paths= --rebuild -r --wasm"),
    "ast-grep": table("--custom-languages= --follow --interactive -i --update-all -U"),
}
READERS = {"git": readers.git, "rg": readers.clap, "jq": readers.jq, "strace": readers.getopt,
           "docker": readers.pflag, "semgrep": readers.click, "syft": readers.pflag, "grype": readers.pflag,
           "gitleaks": readers.pflag, "scip-typescript": readers.click, "tree-sitter": readers.clap,
           "ast-grep": readers.clap}
POLICY = grammar.default_policy()
# The first operand is a pattern or a program, unless one of these options is given.
FIRST_IS_TEXT = {"rg": {"-e", "--regexp", "-f", "--file", "--files", "--type-list"}, "jq": {"-f", "--from-file"},
                 "git grep": {"-e", "-f"}}
OUTSIDE = (SECRET, "../", "/etc")
PATH_TYPES = ("<inside>", "<existing>", "<mount>")


def check_injection(verdict, vector):
    """The tool gets the caller's arguments in the caller's order, with the injected ones between
    them."""
    at = 0
    for word in verdict.argv:
        # A command in a command is named by its path, which differs in a jail.
        wanted = re.escape(vector[at]) if at < len(vector) else None
        if wanted is not None and re.fullmatch(rf"(/(.*/stand-ins|[.]tool/[0-9]+)/)?{wanted}", word, re.DOTALL):
            at += 1
    assert at == len(vector), (vector, verdict.argv)


def split_level(rules, vector):
    """After the subcommand; before it only flags are listed."""
    if not rules.subcommand:
        return vector[1:]
    for start in range(1, len(vector)):
        if vector[start:start + len(rules.subcommand)] == rules.subcommand:
            assert all(word.startswith("-") for word in vector[1:start]), vector
            return vector[start + len(rules.subcommand):]
    raise AssertionError(f"no {rules.subcommand} in {vector}")


def read_as_the_tool(rules, arguments):
    forms = {**OTHERS[rules.tool], **{name: option.form for name, option in rules.options.items()}}
    if rules.tool == "strace" or rules.subcommand == ["run"] and rules.tool == "docker":
        return READERS[rules.tool](forms, arguments, permute=False)
    return READERS[rules.tool](forms, arguments)


def leads_out(path):
    return path.startswith("/") or ".." in path.split("/")


def check_paths(rules, vector, options, operands):
    given = {name for name, _ in options}
    checked = operands
    if str(rules) in FIRST_IS_TEXT and not given & FIRST_IS_TEXT[str(rules)]:
        checked = operands[1:]
    if rules.operands in ("inside", "existing"):
        for operand in checked:
            assert operand == "src/../file" or not leads_out(operand), (vector, operand)
    for name, value in options:
        option = rules.options.get(name)
        if option and value and option.form != "values" and option.patterns[0] in PATH_TYPES:
            assert not leads_out(value), (vector, name, value)
        if option and option.form == "values":
            for pattern, word in zip(option.patterns, value):
                assert pattern not in PATH_TYPES or not leads_out(word), (vector, name, word)


def check_vector(rules, vector, verdict):
    """The allowed vector, as the tool reads it; the tool would accept it, too."""
    check_injection(verdict, vector)
    options, operands = read_as_the_tool(rules, split_level(rules, vector))
    for name, _ in options:
        assert name in rules.options, f"{vector}: {rules.tool} reads {name}"
    check_paths(rules, vector, options, operands)


def levels():
    """Every level that has its own arguments."""
    return [rules for name, parts in POLICY.items() if name in READERS
            for rules in parts if rules.subcommand or len(parts) == 1]


def others_of(rules):
    return [(name, form) for name, form in OTHERS[rules.tool].items() if name not in rules.options]


def prepare(box):
    box.directory("root/src")
    box.file("root/file", "{}\n")
    box.file("root/x", "x\n")


@pytest.mark.parametrize("rules", levels(), ids=str)
def test_allowed_options_are_listed_as_the_tool_reads_them(user_box, rules):
    prepare(user_box)
    vectors = grammar.vectors(rules, others_of(rules))
    count = 0
    with Judge(user_box) as judge:
        @hypothesis.settings(max_examples=scaled(120, 30, 80), deadline=None, database=None, derandomize=True,
                             suppress_health_check=list(hypothesis.HealthCheck))
        @hypothesis.given(vectors)
        def check(vector):
            nonlocal count
            if rules.tool == "strace":  # it wants a command, which is judged by its own entry
                vector = [*vector, "jq", "-n", "1"]
            verdict = judge.ask(vector)
            assert verdict.outcome in ("allowed", "disallowed", "invalid"), verdict
            if verdict.allowed:
                count += 1
                check_vector(rules, vector, verdict)
            else:
                assert verdict.message and (verdict.line > 0 or verdict.outcome == "invalid"), verdict
        check()
    # A property of no vector at all would hold too.
    assert count >= scaled(3, 1)


# ---- one by one: every spelling of every option that is not granted ----

@pytest.mark.parametrize("rules", levels(), ids=str)
def test_no_spelling_of_another_option_is_allowed(user_box, rules):
    """Each alone, after a listed flag, in a bundle with it, after an operand, and where a value
    was expected."""
    prepare(user_box)
    flags = [name for name, option in rules.options.items() if option.form == FLAG]
    letters = [name[1] for name in flags if len(name) == 2]
    tail = ["jq", "-n", "1"] if rules.tool == "strace" else []
    with Judge(user_box) as judge:
        for name, form in others_of(rules):
            for way in grammar.spellings(name, ["x", SECRET], form):
                contexts = [way, [*flags[:1], *way], ["x", *way], [*way, "x"]]
                if len(name) == 2 and letters and way[0].startswith(name):
                    contexts += [["-" + letters[0] + way[0][1:], *way[1:]], ["-" + letters[-1] + way[0][1:], *way[1:]]]
                for context in contexts:
                    vector = [rules.tool, *rules.subcommand, *rules.require, *context, *tail]
                    verdict = judge.ask(vector)
                    if verdict.allowed:
                        check_vector(rules, vector, verdict)
                        assert not (form != OPTIONAL and context[0] in (name, f"{name}=x")), vector


def test_a_denied_option_is_refused_by_that_rule(user_box):
    with Judge(user_box) as judge:
        for parts in POLICY.values():
            for rules in parts:
                for name in rules.deny:
                    verdict = judge.ask([rules.tool, *rules.subcommand, name])
                    assert verdict.outcome == "disallowed", (str(rules), name)
                    if rules.bundles and (name.startswith("--") or len(name) == 2):
                        assert verdict.rule.endswith(".deny") and name in verdict.message, verdict
        assert judge.asked > 200


def test_every_listed_option_is_allowed(user_box):
    """The list also works: each option in each of its spellings, alone."""
    prepare(user_box)
    with Judge(user_box) as judge:
        for rules in [rules for parts in POLICY.values() for rules in parts if rules.subcommand or len(parts) == 1]:
            for option in rules.options.values():
                for way in spell_listed(option, rules.bundles):
                    tail = ["jq", "-n", "1"] if rules.tool == "strace" else []
                    image = ["alpine"] if str(rules) == "docker run" else []
                    required = [text for text in rules.require if not text.startswith(option.name)]
                    vector = [rules.tool, *rules.subcommand, *required, *way, *image, *tail]
                    verdict = judge.ask(vector)
                    assert verdict.allowed, (vector, verdict.message)
        assert judge.asked > 1000


GOOD_VALUES = {"<any>": "x", "<inside>": "src", "<existing>": "file", "<mount>": "./src:/work", "<number>": "1",
               "<name>": "x"}


def spell_listed(option, bundles):
    def good(pattern):
        head, mark, kind = pattern.partition("<")
        return head + (GOOD_VALUES[mark + kind] if mark else "")
    if option.form == "number":
        return [["-1"]]
    if option.form == "values":
        return [[option.name, *map(good, option.patterns)]]
    ways = [[option.name]] if option.form != VALUE else []
    for value in map(good, option.patterns):
        if option.form == VALUE and (not value.startswith("-") or value == "-"):
            ways.append([option.name, value])
        if option.form != FLAG:
            long = option.name.startswith("--") or not bundles
            ways.append([f"{option.name}={value}" if long else option.name + value])
    return ways


@hypothesis.settings(max_examples=50, deadline=None, database=None, derandomize=True)
@hypothesis.given(st.lists(st.sampled_from(["-x", "--long", "--value=v", "-fv", "word", "--"]), max_size=6))
def test_reference_readers_agree_where_they_must(args):
    """The simplest vectors mean the same to all families; otherwise a reader is wrong."""
    forms = table("-x --long --value= -f=")
    seen = [reader(forms, args) for reader in (readers.getopt, readers.clap, readers.pflag)]
    assert seen[0] == seen[1] == seen[2]


# ---- really run ----

REAL = ("git log", "git show", "git diff", "git grep", "git blame", "git ls-files", "git cat-file", "rg", "jq")


def snapshot(box):
    return {str(path.relative_to(box.base)): path.read_bytes() if path.is_file() else None
            for directory in (box.root, box.outside, box.home) for path in sorted(directory.rglob("*"))}


def real_levels():
    return [rules for rules in levels() if str(rules) in REAL]


@pytest.mark.parametrize("rules", real_levels(), ids=str)
def test_allowed_vectors_neither_write_nor_read_elsewhere(user_box, rules):
    """The tool itself, without chokepoint and without a jail, on allowed vectors."""
    user_box.repository()
    prepare(user_box)
    secret = user_box.file("outside/secret", "swordfish\n")
    vectors = grammar.vectors(rules, others_of(rules)).map(
        lambda vector: [word.replace(SECRET, str(secret)) for word in vector])
    env = user_box.environment(GIT_CONFIG_NOSYSTEM="1", GIT_CONFIG_GLOBAL="/dev/null", GIT_OPTIONAL_LOCKS="0")
    before = snapshot(user_box)
    count = 0
    with Judge(user_box) as judge:
        @hypothesis.settings(max_examples=scaled(80, 15, 20), deadline=None, database=None, derandomize=True,
                             suppress_health_check=list(hypothesis.HealthCheck))
        @hypothesis.given(vectors)
        def check(vector):
            nonlocal count
            verdict = judge.ask(vector)
            if not verdict.allowed:
                return
            count += 1
            answer = user_box.call(verdict.argv, env=env, cwd=user_box.root)
            assert b"swordfish" not in answer.out + answer.err, verdict.argv
            assert snapshot(user_box) == before, verdict.argv
        check()
    assert count >= scaled(3, 1)


def test_the_same_calls_do_harm_where_they_are_not_judged(user_box):
    """The test above relies on this: each of these reads or writes elsewhere when called without
    chokepoint."""
    user_box.repository()
    prepare(user_box)
    secret = str(user_box.file("outside/secret", "swordfish\n"))
    for argv in (["git", "diff", "--no-index", "file", secret], ["git", "diff", "file", secret], ["rg", "fish", secret],
                 ["jq", "-R", ".", secret], ["jq", "-nR", "--rawfile", "a", secret, "$a"], ["jq", "-f", secret, "file"]):
        answer = user_box.call(argv)
        assert b"swordfish" in answer.out + answer.err, argv
        with Judge(user_box) as judge:
            assert judge.ask(argv).outcome == "disallowed", argv
    before = snapshot(user_box)
    user_box.call(["git", "log", "-p", f"--output={user_box.outside}/made"])
    assert snapshot(user_box) != before

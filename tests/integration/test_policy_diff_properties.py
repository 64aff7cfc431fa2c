"""The promises of policy diff, checked with random policies (R6).

Two policies are drawn, the second often near the first. From either side the changes are the
same; and if nothing widens, no command line passes that did not pass before, according to
policy explain.
"""
import copy
import json

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from feature import scaled

TYPES = ["any", "inside", "existing", "mount", "number", "name"]
NAMES = ["-a", "-b", "-e", "--x", "--xy"]
WORDS = ["-a", "-b", "-e", "--x", "--xy", "-ab", "-ba", "-a=a", "-aa", "-a12", "--x=a", "--x=12", "--x=t=a", "--x=",
         "--x=/etc", "--xy=a", "--", "a", "12", "s", "t", "u", "f", ".", "/etc", ".:/w", "-5", "-", "", "a1", "t=1", "x"]

patterns = st.one_of(
    st.sampled_from(["a", "b", "12", "a1"]), st.sampled_from(TYPES).map("<{}>".format),
    st.tuples(st.sampled_from(["a", "t=", "1"]), st.sampled_from(TYPES)).map(lambda pair: f"{pair[0]}<{pair[1]}>"))


def notation(name):
    """One option in each of its forms."""
    alternatives = st.lists(patterns, min_size=1, max_size=2, unique=True)
    return st.one_of(st.just(name), st.just(name + "="), alternatives.map(lambda p: f"{name}={'|'.join(p)}"),
                     st.just(name + "[=]"), alternatives.map(lambda p: f"{name}[={'|'.join(p)}]"),
                     st.lists(patterns, min_size=1, max_size=2).map(lambda p: f"{name} {' '.join(p)}"))


options = st.lists(st.sampled_from(NAMES), max_size=4, unique=True).flatmap(
    lambda names: st.tuples(*map(notation, names)).map(list))


def trimmed(value):
    """Without None values, which mean absent."""
    return {key: inner for key, inner in value.items() if inner is not None}


def maybe(strategy):
    return st.one_of(st.none(), strategy)


rules = {"options": options, "operands": st.sampled_from(["none", *TYPES]), "first": maybe(st.sampled_from(TYPES)),
         "order": maybe(st.sampled_from(["mixed", "options_first"])), "inject": maybe(st.just(["-q"]))}
subcommand = st.fixed_dictionaries({"name": st.sampled_from(["s", "s t", "u"]), **rules}).map(trimmed)
plain = st.fixed_dictionaries({**rules, "bundles": maybe(st.booleans()), "exact": maybe(st.just([["-a"]]))}).map(trimmed)
grouped = st.fixed_dictionaries({"options": options, "subcommands": st.lists(
    subcommand, min_size=1, max_size=3, unique_by=lambda s: s["name"])})
arguments = st.one_of(st.none(), plain, plain, grouped, st.just({"exact": [["-a"], []]}),
                      st.just({"command": "after_options"}))
tools = st.fixed_dictionaries({
    "args": arguments, "route": st.sampled_from(["direct", "external"]), "limits": maybe(st.just({"timeout_s": 9})),
    "env": maybe(st.lists(st.sampled_from(["A", "B"]), unique=True)), "execs": maybe(st.just([])),
    "egress": maybe(st.lists(st.sampled_from(["a.org", "*.a.org", "x.a.org:443", "x.a.org"]), unique=True)),
}).map(trimmed)


def leaves(value, path=()):
    if isinstance(value, (dict, list)):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            if key != "name":
                yield (*path, key)
                yield from leaves(inner, (*path, key))


@st.composite
def pairs(draw):
    """Two tools; the second is new, or the first with one thing removed or drawn again."""
    first = draw(tools)
    second = draw(tools)
    if draw(st.integers(0, 3)) == 0:
        return first, second
    near = copy.deepcopy(first)
    path = draw(st.sampled_from(list(leaves(near)) or [None]))
    if path is not None:
        at = near
        for step in path[:-1]:
            at = at[step]
        del at[path[-1]]
    return (first, near) if draw(st.booleans()) else (near, first)


def write(box, name, tool):
    document = {"version": 1, "search_path": box.search_path, "tools": [
        {"name": "say_args", "why": "w", "adr": "0001", "route": "direct", **tool}]}
    return str(box.file(f"policy/{name}.yaml", json.dumps(document), 0o600))


def diff(box, old, new):
    answer = box.call([box.command, "policy", "diff", "--json", old, new])
    assume(answer.status != 125)  # drawn, but not a valid policy
    return json.loads(answer.out)["changes"]


def reversed_changes(changes):
    return sorted((c["tool"] or "", c["field"], c["after"] or "", c["before"] or "") for c in changes)


def drawn(examples):
    return settings(max_examples=scaled(examples, 20, examples // 3), deadline=None, database=None, derandomize=True,
                    suppress_health_check=list(HealthCheck))


@drawn(80)
@given(pair=pairs())
def test_changes_are_the_same_from_either_side(user_box, pair):
    old, new = write(user_box, "old", pair[0]), write(user_box, "new", pair[1])
    there, back = diff(user_box, old, new), diff(user_box, new, old)
    assert reversed_changes(there) == sorted(
        (c["tool"] or "", c["field"], c["before"] or "", c["after"] or "") for c in back)
    kinds = {(c["tool"], c["field"], c["before"], c["after"]): c["kind"] for c in back}
    for change in there:
        other = kinds[change["tool"], change["field"], change["after"], change["before"]]
        assert (change["kind"] == "neutral") == (other == "neutral")
        assert change["kind"] != "narrows" or other == "widens"
    assert diff(user_box, old, old) == [] and diff(user_box, new, new) == []


@drawn(80)
@given(pair=pairs(), lines=st.lists(st.lists(st.sampled_from(WORDS), max_size=3), min_size=1, max_size=4))
def test_nothing_new_passes_where_nothing_widens(user_box, pair, lines):
    old, new = write(user_box, "old", pair[0]), write(user_box, "new", pair[1])
    assume(all(change["kind"] != "widens" for change in diff(user_box, old, new)))

    def passes(policy, argv):
        answer = user_box.call([user_box.command, "policy", "explain", "--json", "--policy", policy, "--root",
                                str(user_box.root), "--", "say_args", *argv])
        return json.loads(answer.out)["decision"] == "allowed"
    for argv in lines:
        assert not passes(new, argv) or passes(old, argv), argv

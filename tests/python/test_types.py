"""Wrong types are TypeError, wrong values ValueError or a refusal, and any bytes and text pass unchanged: never a crash."""
import chokepoint
import pytest
from chokepoint import _choke
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

OBJECTS = [None, 1, -1, 1.5, float("nan"), float("inf"), True, "text", b"bytes", "", b"", [], [None], [1], {}, {"a": 1}, {1: "a"}, object(),
           print, ("a", None), "a\0b", ["a\0b"], 1 << 70, -(1 << 70), range(3), iter([]), type]
PARAMETERS = ["root", "cwd", "timeout", "env", "input", "stdin", "egress", "probe", "jail", "require_jail", "sandbox", "max_output", "text",
              "check", "keep_head", "keep", "why"]


@pytest.fixture(scope="module")
def one(tmp_path_factory):
    """One context for all examples: a process each would take minutes."""
    from conftest import TOOLS, entry, write_policy
    place = tmp_path_factory.mktemp("types")
    (place / "root").mkdir()
    (place / "policy").mkdir(mode=0o700)
    with chokepoint.Context(write_policy(place / "policy", map(entry, TOOLS))) as context:
        yield context, place / "root"


@pytest.mark.parametrize("parameter", PARAMETERS)
def test_wrong_values_of_a_parameter_never_crash(one, parameter):
    context, root = one
    for value in OBJECTS:
        options = {"root": root, "timeout": 20, **{parameter: value}}
        try:
            result = context.run_sync(["true"], **options)
        except (TypeError, ValueError, OSError, chokepoint.Error):
            continue
        assert result.outcome == "exited", (parameter, value)


@pytest.mark.parametrize("parameter, value", [
    ("root", 1), ("root", None), ("cwd", 1), ("timeout", "5"), ("timeout", True), ("env", ["A=b"]), ("env", {"A": 1}), ("env", {1: "b"}),
    ("input", 5), ("input", ["x"]), ("stdin", "file"), ("stdin", 1.5), ("egress", "host"), ("egress", [1]), ("egress", 5), ("probe", 1),
    ("jail", 1), ("max_output", "5"), ("max_output", 1.5), ("keep_head", b"1"), ("keep", 1)])
def test_wrong_type_is_a_type_error(one, parameter, value):
    context, root = one
    with pytest.raises(TypeError):
        context.run_sync(["true"], **{"root": root, parameter: value})


@pytest.mark.parametrize("argv", ["true", b"true", None, 1, [1], ["true", None], ["true", 1.5], {"true": 1}, [["true"]]])
def test_wrong_argv_is_a_type_error(one, argv):
    context, root = one
    for call in (context.run_sync, context.explain):
        with pytest.raises(TypeError):
            call(argv, root=root)


@pytest.mark.parametrize("argv", [[], [""], ["true", "a\0b"], ["./true"], ["/bin/true"], ["true\n"]])
def test_wrong_argv_is_refused(one, argv):
    context, root = one
    with pytest.raises((ValueError, chokepoint.Refused)):
        context.run_sync(argv, root=root)


@pytest.mark.parametrize("parameter, value", [
    ("timeout", 0), ("timeout", -1), ("timeout", float("nan")), ("timeout", float("inf")), ("timeout", 1e30), ("jail", "cage"),
    ("env", {"": "x"}), ("env", {"A=B": "x"}), ("env", {"A": "x\0"}), ("max_output", 0), ("max_output", -5), ("max_output", 1 << 80),
    ("stdin", -1), ("stdin", 1 << 40), ("root", "a\0b")])
def test_wrong_value_is_a_value_error(one, parameter, value):
    context, root = one
    with pytest.raises(ValueError):
        context.run_sync(["true"], **{"root": root, parameter: value})


def test_input_and_stdin_exclude_each_other(one):
    context, root = one
    with pytest.raises(ValueError):
        context.run_sync(["cat"], root=root, input=b"x", stdin=0)


def test_unknown_parameter_is_a_type_error(one, policy):
    context, root = one
    with pytest.raises(TypeError):
        context.run_sync(["true"], root=root, shell=True)
    with pytest.raises(TypeError):
        chokepoint.run(["true"], root=root, policy=policy, shell=True)


def test_names_of_the_extension_refuse_what_the_package_never_passes():
    calls = [lambda: _choke.Job(), lambda: _choke.Context(), lambda: _choke.Context(1, 2, 3, 4, 5, 6), lambda: _choke.Policy(1, 0),
             lambda: _choke.Policy(), lambda: _choke.lint(), lambda: _choke.lint(1, None, None, False, 0),
             lambda: _choke.audit_verify(None, 1, None, False, False, None), lambda: _choke.audit_head(1, None), lambda: _choke.audit_keygen(),
             lambda: _choke.credential_kind(1), lambda: _choke.Context(None, None, 0, 0, 0, None).start(1, 2),
             lambda: _choke.Context(None, None, 0, 0, 0, None).start((), False),
             lambda: _choke.Context(None, None, 0, 0, 0, None).run((1,) * 16),
             lambda: _choke.Context(None, None, 0, 0, 0, None).dispatch("x"),
             lambda: setattr(_choke.Context(None, None, 0, 0, 0, None), "level", "x"),
             lambda: _choke.Policy(None, 1).diff(1)]
    for call in calls:
        with pytest.raises((TypeError, ValueError)):
            call()


class Awkward:
    """An argument whose conversion runs Python code, which closes the context meanwhile."""

    def __init__(self, act):
        self.act = act

    def __fspath__(self):
        self.act()
        return "x"


def test_argument_that_uses_the_context_is_an_error(policy, root):
    with chokepoint.Context(policy) as context:
        for act in (context.close, lambda: context.run_sync(["true"], root=root), lambda: context._choke.dispatch(0)):
            with pytest.raises(RuntimeError):
                context.run_sync(["printf", Awkward(act)], root=root)
        arguments = ["printf", "%s"]
        arguments.append(Awkward(arguments.clear))
        assert context.run_sync(arguments, root=root).stdout == b"x"


quick = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
texts = st.text(st.characters(blacklist_characters="\0", blacklist_categories=("Cs",)), max_size=200)
surrogates = st.binary(max_size=200).map(lambda data: data.replace(b"\0", b"").decode("utf-8", "surrogateescape"))


@quick
@given(st.lists(texts | surrogates | st.binary(max_size=50).map(lambda data: data.replace(b"\0", b"")), max_size=8))
def test_arguments_arrive_unchanged(one, arguments):
    context, root = one
    try:
        result = context.run_sync(["printf", r"%s\0", *arguments], root=root, timeout=30)
    except chokepoint.Refused as refusal:  # something that looks like a credential
        assert refusal.outcome in ("disallowed", "invalid")
        return
    wanted = [argument if isinstance(argument, bytes) else argument.encode("utf-8", "surrogateescape") for argument in arguments]
    assert result.stdout == (b"".join(item + b"\0" for item in wanted) if wanted else b"\0")


@quick
@given(st.binary(max_size=5000))
def test_input_comes_back_unchanged(one, data):
    context, root = one
    assert context.run_sync(["cat"], root=root, input=data, timeout=30).stdout == data
    text = data.decode("utf-8", "surrogateescape")
    assert context.run_sync(["cat"], root=root, input=text, text=True, timeout=30).stdout == text


@pytest.mark.parametrize("size", [0, 1, 65535, 65536, 65537, 20_000_000])
def test_huge_and_empty_inputs(one, size):
    context, root = one
    result = context.run_sync(["cat"], root=root, input=b"\xff" * size, timeout=50)
    assert len(result.stdout) == size and not result.stdout_truncated


def test_huge_argument_is_refused_with_a_message(one):
    context, root = one
    with pytest.raises(chokepoint.Error) as caught:
        context.run_sync(["true", "x" * 40_000_000], root=root, timeout=50)
    assert str(caught.value)

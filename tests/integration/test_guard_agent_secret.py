"""R91: an agent in a cage uses a model that wants a key, and the key is nowhere in the cage: the proxy adds it, over TLS that it verifies."""
import agents
from model import command, scripted
from orders import KEY


def test_the_model_gets_the_key_and_the_agent_does_not(box):
    key = box.file("policy/key", KEY + "\n", 0o600)
    look = f"env; cat /proc/[0-9]*/environ | tr '\\0' '\\n'; cat {key}; grep -rs sk-of ~ . /tmp /etc 2>/dev/null; cat ~/.agent/*; echo looked"
    with scripted(command(look), tls=agents.identity(box)) as model:
        made = agents.profile("python-agent", model.port)
        made["egress"] = [f"localhost:{model.port}", f"127.0.0.1:{model.port}"]
        agents.set_variable(made, "OPENAI_BASE_URL", f"http://localhost:{model.port}/v1")
        guard = agents.Guard(box, agents.write_policy(box, made), "python-agent")
        answer = guard.run("python3", "-c", agents.AGENT.read_text(encoding="utf-8"), "go",
                           options=["--secret", f"localhost:{model.port},Authorization={key}", "--secret-ca", str(box.outside / "host.pem")])
        assert (answer.status, answer.out) == (0, b"done\n"), answer.err
        assert [asked["headers"]["Authorization"] for asked in model.asked] == [KEY] * 2
        said = model.answers[-1]
    assert "looked" in said and KEY not in said and "sk-of" not in said.replace("grep -rs sk-of", "")
    for path in (*box.root.rglob("*"), *guard.store().rglob("*"), box.log, guard.report):
        assert not path.is_file() or b"sk-of-the-caller" not in path.read_bytes(), path
    [secret] = answer.document["secrets"]
    assert (secret["header"], secret["requests"]) == ("Authorization", 2)

"""What the tests with real clients of `chokepoint mcp` share."""
import subprocess

# Tools that are external and read-only, so that every agent may call run without asking a person.
ENTRIES = [{"name": name, "why": "a test runs it", "adr": "0001", "route": "external"} for name in ("echo", "sleep", "tool123")]


def server(box, policy=None):
    return [box.command, "mcp", "--root", str(box.root), "--policy", str(policy or box.policy), "--audit", str(box.log)]


def output_of(command, cwd, timeout=300, status=0, **env):
    done = subprocess.run([str(part) for part in command], cwd=cwd, capture_output=True, check=False, timeout=timeout, stdin=subprocess.DEVNULL,
                          env={"PATH": "/usr/bin:/bin", "HOME": str(cwd), **env})
    assert done.returncode == status, (done.returncode, done.stdout[-3000:], done.stderr[-3000:])
    return done.stdout.decode()

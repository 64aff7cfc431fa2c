"""Every scanner of the default policy at once, on one repository, in the native jail: the real gitleaks and tree-sitter,
and stand-ins of the shape of semgrep, syft and grype."""
import suite
from gathered import gather
from hostile import IDENTITY

SECRET = "AK" + "IA" + "QYLPMN5HFIQR7XYA"
FOUND = {"semgrep": ("py-temporary-name", "app.py"), "gitleaks": ("aws-access-token", "key.py"),
         "gitleaks_history": ("aws-access-token", "key.py"), "vulnerabilities": ("GHSA-562c-5r94-xh97", None),
         "syntax": ("syntax-error", "bad.json")}
FILES = {"app.py": "import tempfile\nname = tempfile.mktemp()\n", "key.py": f"key = '{SECRET}'\n", "requirements.txt": "flask==0.5\n",
         "bad.json": "{,\n", "main.rs": "fn main() {}\n"}


def test_gather_says_ok_for_each(scanners_box):
    box = scanners_box
    box.semgrep_by_pipx()
    box.install(suite.gitleaks(), "gitleaks")
    box.syft_and_grype()
    box.tree_sitter()
    box.repository()
    for path, text in FILES.items():
        box.file(f"root/{path}", text)
    for args in (["add", "."], ["commit", "-qm", "all"]):
        assert box.call(["git", *args], env=box.environment(**IDENTITY)).status == 0
    found = gather(box, "--only", ",".join([*FOUND, "sbom"]), policy="default")
    assert {name: found.states[name] for name in [*FOUND, "sbom"]} == dict.fromkeys([*FOUND, "sbom"], "ok"), found.probes
    for name, (rule, path) in FOUND.items():
        report = found.probes[name]
        assert [(one["id"], one.get("path")) for one in report["evidence"]["findings"]] == [(rule, path)], report
        assert {call["jail"] for call in report["calls"]} == {"native"}, report
    assert found.probes["sbom"]["evidence"]["packages_total"] == 1
    assert SECRET not in str(found.document)

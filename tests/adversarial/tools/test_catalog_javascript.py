"""Promise: Tools in a hostile repository.
Attacker: a JavaScript project with its own eslint, prettier, tsc, mocha, jest and vitest, and who calls them by the
catalogue. Means: configuration, plug-ins, tests and set-up code that write outside, read a secret or start programs;
options that name more code, files elsewhere, a server, a debugger, or never end.

Expected: the tools of node_modules/.bin do their work in every jail, also where a test listens. The options are refused
before anything runs. What the project runs stays in the jail, and without a jail nothing runs.
"""
import json
import os
import shutil

import pytest

import catalog
import registry
from catalog import Case
from feature import full

WRITES = "require('fs').writeFileSync('CANARY', '');\n"
READS = "console.log(require('fs').readFileSync('SECRET', 'utf8'));\n"
# A program of the system prints the secret, in two parts: its name in this file does not count.
STARTS = """const {execFileSync} = require('child_process');
console.log(String(execFileSync('/usr/bin/printf', ['%s%s', 'the-secret', '-of-the-host'])));
"""
LISTENS = """const http = require('http');
it('serves', done => {
  const server = http.createServer((_, answer) => answer.end('served')).listen(0, '127.0.0.1', () => {
    http.get({host: '127.0.0.1', port: server.address().port}, answer => { answer.resume(); server.close(); done(); });
  });
});
"""
VITEST = """import { createServer } from 'http';
import { expect, test } from 'vitest';
test('serves', () => new Promise(done => {
  const server = createServer().listen(0, '127.0.0.1', () => {
    expect(server.address().port > 0).toBe(true);
    server.close(done);
  });
}));
"""
CONFIG = "export default [{rules: {'no-var': 'error'}}];\n"
OUT = json.dumps({"compilerOptions": {"module": "amd", "outFile": "CANARY"}, "files": ["a.ts"]})


def config(argv, name, tail):
    """Attacks by a file that the tool loads as code."""
    return {attack: (argv, {name: code + tail}) for attack, code in
            {"writes outside": WRITES, "reads a file outside": READS, "starts a program": STARTS}.items()}


# Arguments, with | between the calls.
REFUSED = {
    "eslint": """
        --plugin ./x a.js | --parser ./x.js a.js | --resolve-plugins-relative-to / a.js | --rulesdir . a.js |
        -f ./own.js a.js | --format=/etc/x.js a.js | -f./own.js a.js | -c /etc/x.js a.js | --config=../x.js a.js |
        -o /tmp/x a.js | --output-file=../x a.js | --cache-location /tmp/x a.js | --cache-file=/tmp/x a.js | --init
        | --inspect-config | --env-info | --mcp | --flag x | /etc/passwd | ../x | --fi a.js |
        --print-config=/etc/passwd""",
    "prettier": """
        --plugin ./x.js a.js | --plugin=./x.js a.js | --plugin-search-dir=/ a.js | --config /etc/x a.js |
        --config=../x a.js | --parser ./x.js a.js | --cache-location=/tmp/x a.js | --ignore-path=/etc/passwd a.js |
        /etc/passwd | --write ../x | --find-config-path /etc/x | -lw a.js | --writ a.js""",
    "tsc": """
        --outDir /tmp/x a.ts | --outDir ../x a.ts | --outFile /tmp/x a.ts | --declarationDir /tmp/x a.ts |
        --tsBuildInfoFile /tmp/x a.ts | --rootDir / a.ts | -p /etc | --project ../x | --generateTrace x |
        --generateCpuProfile x | --out x a.ts | --plugins x | --watch | -w | --init | --typeRoots /etc a.ts |
        /etc/passwd | @/etc/passwd | --OUTDIR /tmp/x a.ts | -outDir /tmp/x a.ts""",
    "mocha": """
        --require /etc/x | -r /etc/x | -r ../x | --loader ./x.js | --import=./x.js | -n require=./x.js |
        --node-option=require=./x.js | --inspect | --inspect-brk=0.0.0.0:1 | --watch | -w | -R ./own.js |
        --reporter=/etc/x.js | --config /etc/x | --package=/etc/x | -O output=/tmp/x | --reporter-option output=../x
        | --file /etc/x | --ui ./own.js | /etc/passwd | ../test | --expose-gc | --v8-options | -wr x""",
    "jest": """
        --globalSetup=./x.js | --globalTeardown=./x.js | --setupFiles=./x.js | --setupFilesAfterEnv=./x.js |
        --testRunner=./x.js | --runner=./x.js | --resolver=./x.js | --transform=./x.js | --reporters=./x.js |
        --testResultsProcessor=./x.js | --snapshotSerializers=./x.js | --filter=./x.js | --testSequencer=./x.js |
        --preset=./x.js | --prettierPath=./x.js | --testEnvironment=./x.js | --env=./x.js |
        --moduleDirectories=./x.js | --modulePaths=./x.js | --watchPlugins=./x.js | --projects=./x.js |
        --config /etc/x | --config '{"globalSetup": "/etc/x"}' | -c ../x | --coverageDirectory /tmp/x |
        --outputFile=/tmp/x | --cacheDirectory /tmp/x | --rootDir / | --roots=/etc | --watch | --watchAll | -o |
        --onlyChanged | --changedSince=x | --notify | --watchman | --init | /etc | ../x | --coverageReporters=./x.js
        | --globals={} | --haste={}""",
    "vitest": """
         | watch | dev | bench | init browser | --ui | run --ui | run --open | run --api | run --api.host=0.0.0.0 |
        run --browser=chromium | run --inspect | run --inspectBrk=0.0.0.0:1 | run --watch | run -w |
        run --poolOptions.forks.execArgv=-r | run --execArgv=-r | run --changed | run --standalone |
        run --config /etc/x | run -c ../x | run --root / | run --dir /etc | run --reporter=./x.js |
        run --outputFile=/tmp/x | run --outputFile.json=/tmp/x | run --coverage.reportsDirectory=/tmp/x |
        run --environment=./x.js | run --pool=./x.js | run --globalSetup=x | run /etc | related a.js |
        list --json=/tmp/x""",
}
TABLE = {
    "eslint": Case("eslint --fix --cache --max-warnings 0 -f json -o report.json .",
                   {"eslint.config.mjs": CONFIG, "a.js": "var x = 1;\n"},
                   attacks=config("eslint -c eslint.config.cjs a.js", "eslint.config.cjs", "module.exports = [];\n")),
    "prettier": Case("prettier --write --tab-width 4 a.js", {"a.js": "if (1) {\nf( ) }\n"}, "a.js",
                     attacks=config("prettier --check a.js", "prettier.config.cjs", "module.exports = {};\n")),
    "tsc": Case("tsc --strict --outDir out a.ts", {"a.ts": "export const n: number = 1;\n"},
                attacks={"writes outside": ("tsc", {"tsconfig.json": OUT}),
                         "arguments in a file": ("tsc @more", {"@more": "", "more": "--module amd --outFile CANARY a.ts"})}),
    "mocha": Case("mocha --timeout 20000 --forbid-only -R dot test",
                  {"test/one.js": LISTENS, "setup.js": "global.ready = true;\n"}, "1 passing", sample=True,
                  attacks=config("mocha", "test/one.js", "it('x', () => {});\n")),
    "jest": Case("jest --ci --coverage --coverageDirectory=out", {"test/one.test.js": LISTENS, "package.json": "{}\n"},
                 "1 passed", attacks=config("jest --ci", "jest.config.js", "module.exports = {};\n")),
    "vitest": Case("vitest run --reporter=verbose --no-color", {"test/one.test.js": VITEST}, "1 passed",
                   attacks=config("vitest run --config vitest.config.cjs", "vitest.config.cjs", "module.exports = {};\n")),
}
for tool, case in TABLE.items():
    case.refused = catalog.vectors(tool, REFUSED[tool])
# In a full run: further calls, and what they print.
FORMS = {"eslint": [("eslint --version", "v9."), ("eslint --print-config a.js", "no-var")],
         "prettier": [("prettier --version", "3."), ("prettier a.js", "f(")],
         "tsc": [("tsc --version", "Version"), ("tsc --noEmit --pretty false a.ts", ""), ("tsc --showConfig a.ts", "a.ts")],
         "mocha": [("mocha --version", ""), ("mocha -r ./setup.js --dry-run -g serves", "passing"),
                   ("mocha -R json -O output=report.json --parallel -j 2", "")],
         "jest": [("jest --version", "29."), ("jest -i -t serves --json --outputFile=report.json test/one", "1 passed"),
                  ("jest --listTests", "one.test.js")],
         "vitest": [("vitest --version", "vitest/"), ("vitest list", "serves"),
                    ("vitest related --run test/one.test.js", "1 passed")]}
PACKAGES = {"eslint": registry.LINTERS, "prettier": registry.LINTERS, "jest": registry.RUNNERS, "vitest": registry.RUNNERS,
            "mocha": registry.MOCHA}


def bring(box, name):
    """The project's node_modules, as `npm ci` leaves it."""
    modules = box.root / "node_modules"
    if name == "tsc":  # of another test, which every run fetches
        shutil.copytree(registry.fetched() / "node_modules/typescript", modules / "typescript")
        box.own(modules)
        box.directory("root/node_modules/.bin")
        (modules / ".bin/tsc").symlink_to("../typescript/bin/tsc")
    else:
        shutil.copytree(registry.fetched(PACKAGES[name]) / "node_modules", modules, symlinks=True)
        box.own(modules)  # vitest keeps a cache there


def works(cell, name, argv, said="", **keys):
    shape = {"policy": catalog.policy(cell.box, name), "timeout": 300, "deadline": 400, **keys}
    answer = cell.run(*catalog.vector(cell.box, argv), **shape)
    assert (answer.outcome, answer.status) == ("exited", 0) and said in catalog.output(answer), answer.document
    assert answer["jail"] == cell.jail and "execs_outside_root" in answer["layers"], answer.document


def test_table_has_every_entry():
    assert set(TABLE) == set(catalog.family("javascript"))


@pytest.mark.parametrize("name", catalog.chosen(TABLE))
def test_ordinary_work(cell, name):
    case = TABLE[name]
    bring(cell.box, name)
    catalog.plant(cell.box, case.files)
    works(cell, name, case.argv, case.said)
    for made in {"eslint": ["report.json", ".eslintcache"], "tsc": ["out/a.js"], "jest": ["out/lcov.info"]}.get(name, []):
        assert (cell.box.root / made).exists(), made
    if name in ("eslint", "prettier"):
        assert (cell.box.root / "a.js").read_text(encoding="ascii") != case.files["a.js"]
    for argv, said in FORMS[name] if full() else []:
        works(cell, name, argv, said)


@pytest.mark.parametrize("name", TABLE)
def test_arguments_are_refused(user_box, name):
    catalog.check_refused(user_box, name, TABLE[name])


@pytest.mark.parametrize("name", catalog.chosen(TABLE))
def test_attacks_stay_in_the_jail(cell, name):
    """As catalog.check_attack, with the tool in the project, which is copied once."""
    box = cell.box
    bring(box, name)
    env = box.environment(PATH=f"{box.root}/node_modules/.bin:/usr/bin:/bin")
    for argv, files in [*TABLE[name].attacks.values()][:None if full() else 1]:
        catalog.plant(box, {**TABLE[name].files, **files})
        plain = box.call(catalog.vector(box, argv), deadline=400, env=env)
        said = (plain.out + plain.err).decode(errors="replace")
        assert catalog.succeeded(box, said), f"the attack fails without a jail too: {said}"
        box.canary().unlink(missing_ok=True)
        answer = cell.run(*catalog.vector(box, argv), policy=catalog.policy(box, name), timeout=300, deadline=400)
        assert answer["jail"] == cell.jail, answer.document
        assert not catalog.succeeded(box, catalog.output(answer)), catalog.output(answer)


@pytest.mark.parametrize("name", TABLE)
def test_without_a_jail_it_does_not_run(user_box, name):
    user_box.directory("root/node_modules")
    user_box.directory("root/node_modules/.bin")
    user_box.file(f"root/node_modules/.bin/{name}", "#!/bin/sh\n", 0o755)
    policy = catalog.policy(user_box, name)
    answer = user_box.run(name, "--version", policy=policy, options=["--jail", "none"])
    assert (answer.outcome, answer["rule"]) == ("jail_unavailable", f"tools.{name}.workspace_code"), answer.document
    os.unlink(user_box.root / "node_modules/.bin" / name)
    assert user_box.run(name, "--version", policy=policy).outcome == "tool_missing"


@pytest.mark.parametrize("name", TABLE)
def test_policy_check_warns_of_nothing(user_box, name):
    answer = user_box.call([user_box.command, "policy", "check", "--json", str(catalog.policy(user_box, name))])
    assert [found for found in json.loads(answer.out)["findings"] if found["severity"] == "warning"] == [], answer.out

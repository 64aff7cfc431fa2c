-- A database of version 1, as that version made it of two looks (tests/integration/test_fleet_db.py).
PRAGMA application_id = 1667787590;
PRAGMA user_version = 1;
BEGIN TRANSACTION;
CREATE TABLE documents (
    id INTEGER PRIMARY KEY,
    look INTEGER NOT NULL REFERENCES looks (id),
    repository INTEGER NOT NULL REFERENCES repositories (id),
    sha256 TEXT,
    latest INTEGER NOT NULL,
    gathered TEXT,
    chokepoint TEXT,
    commit_id TEXT,
    cancelled INTEGER NOT NULL,
    files INTEGER,
    files_incomplete INTEGER NOT NULL,
    duration_ms REAL,
    critical INTEGER NOT NULL,
    high INTEGER NOT NULL,
    medium INTEGER NOT NULL,
    low INTEGER NOT NULL,
    info INTEGER NOT NULL,
    findings_cut INTEGER NOT NULL,
    packages_total INTEGER NOT NULL,
    UNIQUE (look, repository)
) STRICT;
INSERT INTO "documents" VALUES(1,1,2,'ed209dd7c2b8ad14371db069f9c64c6bdea3881eedb042d5614df4ca046ef19c',0,'2026-11-18T10:00:00Z','0.1.0','abababababababababababababababababababab',0,120,0,100.0,0,1,0,0,0,0,1);
INSERT INTO "documents" VALUES(2,1,3,'42a48dc89686398711f1aabd6df1211078078f2f5c0f41159392fb82376292ed',0,'2026-11-18T10:00:00Z','0.1.0','abababababababababababababababababababab',0,120,0,100.0,0,0,1,0,0,0,1);
INSERT INTO "documents" VALUES(3,2,2,'d59a52eef4f3cf8731cd63ce9e9e653c0490e0ddef395b9611afc9403050db87',1,'2026-11-18T10:00:00Z','0.1.0','abababababababababababababababababababab',0,120,0,100.0,1,1,0,0,0,0,1);
INSERT INTO "documents" VALUES(4,2,3,'1bcefba650081510af266be45f8d02390f5c65b1fce76afbef417d5354d78966',1,'2026-11-18T10:00:00Z','0.1.0','abababababababababababababababababababab',0,120,0,100.0,0,0,0,0,0,0,1);
CREATE TABLE executables (
    document INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    n INTEGER NOT NULL,
    path TEXT,
    argv TEXT,
    error TEXT,
    PRIMARY KEY (document, n)
) STRICT, WITHOUT ROWID;
INSERT INTO "executables" VALUES(2,0,'/bin/sh','sh -c id',NULL);
CREATE TABLE failures (
    look INTEGER NOT NULL REFERENCES looks (id),
    repository INTEGER NOT NULL REFERENCES repositories (id),
    stage TEXT,
    message TEXT,
    at TEXT,
    PRIMARY KEY (look, repository)
) STRICT, WITHOUT ROWID;
INSERT INTO "failures" VALUES(1,1,NULL,'cannot read ''/srv/c''',NULL);
INSERT INTO "failures" VALUES(2,1,NULL,'cannot read ''/srv/c''',NULL);
CREATE TABLE findings (
    document INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    n INTEGER NOT NULL,
    fingerprint TEXT NOT NULL,
    severity TEXT NOT NULL CHECK (severity IN ('critical', 'high', 'medium', 'low', 'info')),
    rule TEXT,
    message TEXT,
    path TEXT,
    line INTEGER,
    commit_id TEXT,
    place TEXT,
    source TEXT,
    seen_by TEXT,
    secret INTEGER NOT NULL,
    PRIMARY KEY (document, n)
) STRICT, WITHOUT ROWID;
INSERT INTO "findings" VALUES(1,0,'0397ef50ac48567903eb660936eb2451','high','secret_shape','cred','k.py',12,NULL,'source','sh -c','rg',1);
INSERT INTO "findings" VALUES(2,0,'f5ffee65233a5915be65f89abb888adc','medium','shell_call','a shell may run this','src/run.py',12,NULL,'source','sh -c','rg',0);
INSERT INTO "findings" VALUES(3,0,'0397ef50ac48567903eb660936eb2451','high','secret_shape','cred','k.py',12,NULL,'source','sh -c','rg',1);
INSERT INTO "findings" VALUES(3,1,'0088b6fcfdb052423fc3bbde8712f287','critical','action_by_tag','=cmd|'' /C calc''!A0\x1b[31m','\x1b]0;x\x07.py',12,NULL,'source','sh -c','rg',0);
CREATE TABLE looks (
    id INTEGER PRIMARY KEY,
    fleet TEXT NOT NULL UNIQUE,
    begun TEXT NOT NULL,
    directory TEXT NOT NULL
) STRICT;
INSERT INTO "looks" VALUES(1,'0000000000000001','2026-11-10T10:00:00Z','/srv/fleets/one');
INSERT INTO "looks" VALUES(2,'0000000000000002','2026-11-17T10:00:00Z','/srv/fleets/two');
CREATE TABLE packages (
    document INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    n INTEGER NOT NULL,
    name TEXT,
    version TEXT,
    ecosystem TEXT,
    purl TEXT,
    licences TEXT,
    path TEXT,
    PRIMARY KEY (document, n)
) STRICT, WITHOUT ROWID;
INSERT INTO "packages" VALUES(1,0,'left-pad','1.0.0','npm','pkg:npm/left-pad@1.0.0','MIT','package-lock.json');
INSERT INTO "packages" VALUES(2,0,'left-pad','1.1.0','npm','pkg:npm/left-pad@1.1.0','MIT','package-lock.json');
INSERT INTO "packages" VALUES(3,0,'left-pad','1.3.0','npm','pkg:npm/left-pad@1.3.0','MIT','package-lock.json');
INSERT INTO "packages" VALUES(4,0,'left-pad','1.1.0','npm','pkg:npm/left-pad@1.1.0','MIT','package-lock.json');
CREATE TABLE probes (
    document INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    n INTEGER NOT NULL,
    name TEXT,
    layer TEXT,
    tool TEXT,
    state TEXT,
    reason TEXT,
    install TEXT,
    headline TEXT,
    found INTEGER,
    noun TEXT,
    duration_ms REAL,
    PRIMARY KEY (document, n)
) STRICT, WITHOUT ROWID;
INSERT INTO "probes" VALUES(1,0,'sbom','static','syft','ok',NULL,NULL,'headline of sbom',NULL,NULL,12.5);
INSERT INTO "probes" VALUES(1,1,'semgrep','static','semgrep','tool_missing','semgrep is not installed','pip install semgrep',NULL,NULL,NULL,12.5);
INSERT INTO "probes" VALUES(2,0,'sbom','static','syft','ok',NULL,NULL,'headline of sbom',NULL,NULL,12.5);
INSERT INTO "probes" VALUES(2,1,'runtime_trace','static','docker','ok',NULL,NULL,'headline of runtime_trace',NULL,NULL,12.5);
INSERT INTO "probes" VALUES(3,0,'sbom','static','syft','ok',NULL,NULL,'headline of sbom',NULL,NULL,12.5);
INSERT INTO "probes" VALUES(3,1,'semgrep','static','semgrep','tool_missing','semgrep is not installed','pip install semgrep',NULL,NULL,NULL,12.5);
INSERT INTO "probes" VALUES(4,0,'sbom','static','syft','ok',NULL,NULL,'headline of sbom',NULL,NULL,12.5);
CREATE TABLE repositories (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    place TEXT NOT NULL
) STRICT;
INSERT INTO "repositories" VALUES(1,'name2','/srv/c');
INSERT INTO "repositories" VALUES(2,'name0','/srv/a');
INSERT INTO "repositories" VALUES(3,'name1','/srv/b');
CREATE TABLE tools (
    document INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    n INTEGER NOT NULL,
    name TEXT,
    path TEXT,
    version TEXT,
    sha256 TEXT,
    PRIMARY KEY (document, n)
) STRICT, WITHOUT ROWID;
INSERT INTO "tools" VALUES(1,0,'rg','/usr/bin/rg','13.0.0','1212121212121212121212121212121212121212121212121212121212121212');
INSERT INTO "tools" VALUES(2,0,'rg','/usr/bin/rg','13.0.0','1212121212121212121212121212121212121212121212121212121212121212');
INSERT INTO "tools" VALUES(3,0,'rg','/usr/bin/rg','13.0.0','1212121212121212121212121212121212121212121212121212121212121212');
INSERT INTO "tools" VALUES(4,0,'rg','/usr/bin/rg','13.0.0','1212121212121212121212121212121212121212121212121212121212121212');
CREATE TABLE versions (
    number INTEGER PRIMARY KEY,
    chokepoint TEXT NOT NULL,
    made TEXT NOT NULL
) STRICT;
INSERT INTO "versions" VALUES(1,'0.1.0','2026-11-19T04:04:55Z');
CREATE INDEX looks_by_date ON looks (begun, id);
CREATE INDEX documents_by_repository ON documents (repository, look);
CREATE INDEX documents_latest ON documents (critical DESC, high DESC, medium DESC, low DESC, info DESC) WHERE latest = 1;
CREATE INDEX failures_by_repository ON failures (repository);
CREATE INDEX tools_by_name ON tools (name, version);
CREATE INDEX probes_not_ok ON probes (name, state, reason, install) WHERE state NOT IN ('ok', 'skipped');
CREATE INDEX findings_by_fingerprint ON findings (fingerprint, document);
CREATE INDEX findings_by_rule ON findings (rule, document);
CREATE INDEX findings_secret ON findings (document) WHERE secret = 1;
CREATE INDEX packages_by_name ON packages (name, version, document);
CREATE INDEX executables_by_path ON executables (path, document);
COMMIT;

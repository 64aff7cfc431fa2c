-- The schema of the database of a fleet. A line "-- version N" begins what version N added: nothing above it may change once
-- it is released, or databases of that version are taken for damaged (src/fleet/db_schema.c). Texts are cut and have no
-- hidden character (src/front/shown.h). The comments are for docs/fleet.md and are not in the database.
-- version 1

-- Which versions of the schema this database has had; it has the highest.
CREATE TABLE versions (
    number INTEGER PRIMARY KEY,
    chokepoint TEXT NOT NULL,    -- the version of the command that brought it to this one
    made TEXT NOT NULL           -- when, in UTC
) STRICT;

-- Each DIR of `fleet run` is one look.
CREATE TABLE looks (
    id INTEGER PRIMARY KEY,
    fleet TEXT NOT NULL UNIQUE,  -- "id" of its fleet.json
    begun TEXT NOT NULL,         -- the date of the look, in UTC
    directory TEXT NOT NULL      -- where it was collected last
) STRICT;
CREATE INDEX looks_by_date ON looks (begun, id);

CREATE TABLE repositories (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,   -- of its document: documents/NAME.json
    place TEXT NOT NULL          -- path or URL
) STRICT;

-- One document of gather: one repository in one look.
CREATE TABLE documents (
    id INTEGER PRIMARY KEY,
    look INTEGER NOT NULL REFERENCES looks (id),
    repository INTEGER NOT NULL REFERENCES repositories (id),
    sha256 TEXT,                 -- of the file; null: the next collect reads it again
    latest INTEGER NOT NULL,     -- 1: no later look has a document of this repository
    gathered TEXT,               -- when it began, in UTC
    chokepoint TEXT,             -- the version of the command
    commit_id TEXT,              -- what was checked out
    cancelled INTEGER NOT NULL,
    files INTEGER,
    files_incomplete INTEGER NOT NULL,
    duration_ms REAL,
    critical INTEGER NOT NULL,   -- findings, by severity
    high INTEGER NOT NULL,
    medium INTEGER NOT NULL,
    low INTEGER NOT NULL,
    info INTEGER NOT NULL,
    findings_cut INTEGER NOT NULL, -- 1: a probe had more than its list holds
    packages_total INTEGER NOT NULL, -- as the probe counted them; its list may have fewer
    UNIQUE (look, repository)
) STRICT;
CREATE INDEX documents_by_repository ON documents (repository, look);
CREATE INDEX documents_latest ON documents (critical DESC, high DESC, medium DESC, low DESC, info DESC) WHERE latest = 1;

-- A repository without a document in a look, and why.
CREATE TABLE failures (
    look INTEGER NOT NULL REFERENCES looks (id),
    repository INTEGER NOT NULL REFERENCES repositories (id),
    stage TEXT,                  -- open, clone, gather or task
    message TEXT,
    at TEXT,                     -- in UTC
    PRIMARY KEY (look, repository)
) STRICT, WITHOUT ROWID;
CREATE INDEX failures_by_repository ON failures (repository);

-- What a document lists, in its order: n counts from 0. The tools that were called.
CREATE TABLE tools (
    document INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    n INTEGER NOT NULL,
    name TEXT,
    path TEXT,
    version TEXT,
    sha256 TEXT,                 -- of the file that was executed
    PRIMARY KEY (document, n)
) STRICT, WITHOUT ROWID;
CREATE INDEX tools_by_name ON tools (name, version);

CREATE TABLE probes (
    document INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    n INTEGER NOT NULL,
    name TEXT,
    layer TEXT,
    tool TEXT,
    state TEXT,                  -- ok, failed, timeout, tool_missing, skipped, refused or cancelled
    reason TEXT,                 -- why it is not ok
    install TEXT,                -- what installs the tool that is missing
    headline TEXT,
    found INTEGER,
    noun TEXT,                   -- of what it found
    duration_ms REAL,
    PRIMARY KEY (document, n)
) STRICT, WITHOUT ROWID;
CREATE INDEX probes_not_ok ON probes (name, state, reason, install) WHERE state NOT IN ('ok', 'skipped');

-- A finding is one place, whichever probes saw it.
CREATE TABLE findings (
    document INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    n INTEGER NOT NULL,
    fingerprint TEXT NOT NULL,   -- the same in another look while the line is the same
    severity TEXT NOT NULL CHECK (severity IN ('critical', 'high', 'medium', 'low', 'info')),
    rule TEXT,
    message TEXT,
    path TEXT,
    line INTEGER,
    commit_id TEXT,              -- what is only in the history: the commit that has the line
    place TEXT,                  -- source, test, example, document or vendored
    source TEXT,                 -- the line
    seen_by TEXT,                -- names of probes
    secret INTEGER NOT NULL,     -- 1: a credential
    PRIMARY KEY (document, n)
) STRICT, WITHOUT ROWID;
CREATE INDEX findings_by_fingerprint ON findings (fingerprint, document);
CREATE INDEX findings_by_rule ON findings (rule, document);
CREATE INDEX findings_secret ON findings (document) WHERE secret = 1;

-- Of the bill of materials.
CREATE TABLE packages (
    document INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    n INTEGER NOT NULL,
    name TEXT,
    version TEXT,
    ecosystem TEXT,              -- npm, pypi and the like
    purl TEXT,                   -- the package's URL
    licences TEXT,
    path TEXT,                   -- the file that names it
    PRIMARY KEY (document, n)
) STRICT, WITHOUT ROWID;
CREATE INDEX packages_by_name ON packages (name, version, document);

-- What the program of an image executed, or tried, while it was traced.
CREATE TABLE executables (
    document INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    n INTEGER NOT NULL,
    path TEXT,
    argv TEXT,
    error TEXT,                  -- null: it was executed
    PRIMARY KEY (document, n)
) STRICT, WITHOUT ROWID;
CREATE INDEX executables_by_path ON executables (path, document);

-- version 2

-- What the program of an image asked of the network while it was traced. There was none, so each attempt failed.
CREATE TABLE egress (
    document INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    n INTEGER NOT NULL,
    call TEXT,                   -- connect, sendto and the like
    family TEXT,                 -- AF_INET, AF_INET6, AF_UNIX ...
    address TEXT,
    port INTEGER,
    error TEXT,
    PRIMARY KEY (document, n)
) STRICT, WITHOUT ROWID;
CREATE INDEX egress_by_address ON egress (address, port, document);

-- With the ecosystem: the packages of all repositories are counted from the index alone.
DROP INDEX packages_by_name;
CREATE INDEX packages_by_name_and_ecosystem ON packages (name, ecosystem, version, document);

-- Documents of version 1 are read again, for what version 1 left out.
UPDATE documents SET sha256 = NULL;

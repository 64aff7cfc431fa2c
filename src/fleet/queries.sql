-- The named questions of `fleet query`. "-- query NAME [ARGUMENT]" begins one; the line after it says what it answers.
-- What is asked of a repository is asked of its latest document.

-- query repositories
-- The findings of each repository, the worst first.
SELECT r.place AS repository, d.critical, d.high, d.medium, d.low, d.info, l.begun AS look, d.commit_id AS "commit"
FROM documents d JOIN repositories r ON r.id = d.repository JOIN looks l ON l.id = d.look
WHERE d.latest = 1
ORDER BY d.critical DESC, d.high DESC, d.medium DESC, d.low DESC, d.info DESC, r.place;

-- query rules
-- How often each rule has found something, and in how many repositories.
SELECT f.severity, f.rule, count(*) AS findings, count(DISTINCT d.repository) AS repositories, min(r.place) AS first
FROM findings f JOIN documents d ON d.id = f.document AND d.latest = 1 JOIN repositories r ON r.id = d.repository
GROUP BY f.severity, f.rule
ORDER BY CASE f.severity WHEN 'critical' THEN 0 WHEN 'high' THEN 1 WHEN 'medium' THEN 2 WHEN 'low' THEN 3 ELSE 4 END,
    repositories DESC, findings DESC, f.rule;

-- query packages
-- Packages in more than one version, those with the most versions first.
SELECT p.name AS package, p.ecosystem, count(DISTINCT p.version) AS versions, count(DISTINCT d.repository) AS repositories,
    min(p.version) AS one, max(p.version) AS another
FROM packages p JOIN documents d ON d.id = p.document AND d.latest = 1
GROUP BY p.name, p.ecosystem HAVING versions > 1
ORDER BY versions DESC, repositories DESC, p.name, p.ecosystem;

-- query package NAME
-- Which versions of the package NAME are used, and where.
SELECT p.version, p.ecosystem, r.place AS repository, p.path, p.licences, l.begun AS look
FROM packages p JOIN documents d ON d.id = p.document AND d.latest = 1
    JOIN repositories r ON r.id = d.repository JOIN looks l ON l.id = d.look
WHERE p.name = ?1
ORDER BY p.version, r.place, p.path;

-- query secrets
-- Credentials, the oldest first: since which look they are there, and for how many days up to the newest look.
SELECT s.since, CAST(julianday((SELECT max(begun) FROM looks)) - julianday(s.since) AS INTEGER) AS days, s.severity,
    s.repository, s.rule, s.path, s.line, s.place, s.commit_id AS "commit"
FROM (SELECT (SELECT min(l.begun) FROM findings g JOIN documents e ON e.id = g.document JOIN looks l ON l.id = e.look
              WHERE g.fingerprint = f.fingerprint AND e.repository = d.repository) AS since,
        f.severity, r.place AS repository, f.rule, f.path, f.line, f.place, f.commit_id
    FROM findings f JOIN documents d ON d.id = f.document AND d.latest = 1 JOIN repositories r ON r.id = d.repository
    WHERE f.secret = 1) s
ORDER BY s.since, s.repository, s.path, s.line;

-- query build
-- Who runs what when something is built or started: programs of images, actions, base images, downloads into a shell.
SELECT r.place AS repository, 'program' AS kind, e.path AS what, e.argv AS details, e.error
FROM executables e JOIN documents d ON d.id = e.document AND d.latest = 1 JOIN repositories r ON r.id = d.repository
UNION ALL
SELECT r.place, CASE WHEN f.rule LIKE 'action%' THEN 'action' WHEN f.rule = 'image_unpinned' THEN 'base image'
        WHEN f.rule LIKE 'workflow%' THEN 'workflow' ELSE 'download' END,
    f.message, f.path || ifnull(':' || f.line, ''), NULL
FROM findings f JOIN documents d ON d.id = f.document AND d.latest = 1 JOIN repositories r ON r.id = d.repository
WHERE f.rule IN ('action_unpinned', 'action_by_tag', 'action_of_github_by_tag', 'image_unpinned', 'workflow_trust',
    'workflow-injection', 'pipe_to_shell', 'sh-pipe-shell')
ORDER BY 2, 3, 1, 4;

-- query program PATH
-- Which repositories run the program PATH when their image is started.
SELECT r.place AS repository, e.argv, e.error, l.begun AS look
FROM executables e JOIN documents d ON d.id = e.document AND d.latest = 1
    JOIN repositories r ON r.id = d.repository JOIN looks l ON l.id = d.look
WHERE e.path = ?1
ORDER BY r.place, e.argv;

-- query egress
-- Which addresses the programs of images asked for when they were started, and in how many repositories.
SELECT g.address, g.port, g.family, count(DISTINCT d.repository) AS repositories, min(r.place) AS first
FROM egress g JOIN documents d ON d.id = g.document AND d.latest = 1 JOIN repositories r ON r.id = d.repository
WHERE g.address IS NOT NULL
GROUP BY g.address, g.port, g.family
ORDER BY repositories DESC, g.address, g.port, g.family;

-- query probes
-- Probes that did not answer, why, and in how many repositories.
SELECT p.name AS probe, p.state, p.reason, p.install, count(*) AS repositories, min(r.place) AS first
FROM probes p JOIN documents d ON d.id = p.document AND d.latest = 1 JOIN repositories r ON r.id = d.repository
WHERE p.state NOT IN ('ok', 'skipped')
GROUP BY p.name, p.state, p.reason, p.install
ORDER BY repositories DESC, p.name, p.state, p.reason;

-- query failures
-- Repositories without a document in the newest look, and why.
SELECT r.place AS repository, f.stage, f.message, f.at
FROM failures f JOIN repositories r ON r.id = f.repository
WHERE f.look = (SELECT id FROM looks ORDER BY begun DESC, id DESC LIMIT 1)
ORDER BY r.place;

-- query changes
-- What changed between the two newest looks, in repositories that have a document in both; and repositories that came or went.
WITH newest AS (SELECT id FROM looks ORDER BY begun DESC, id DESC LIMIT 1),
    before AS (SELECT id FROM looks ORDER BY begun DESC, id DESC LIMIT 1 OFFSET 1),
    pairs AS MATERIALIZED (SELECT n.repository, n.id AS new, o.id AS old
        FROM documents n JOIN documents o ON o.repository = n.repository AND o.look = (SELECT id FROM before)
        WHERE n.look = (SELECT id FROM newest))
SELECT c.change, c.kind, r.place AS repository, c.severity, c.what, c.details
FROM (SELECT 'new' AS change, 'finding' AS kind, p.repository, f.severity, f.rule AS what,
        f.message || ifnull(' (' || f.path || ifnull(':' || f.line, '') || ')', '') AS details
    FROM pairs p JOIN findings f ON f.document = p.new
    WHERE NOT EXISTS (SELECT 1 FROM findings g WHERE g.fingerprint = f.fingerprint AND g.document = p.old)
    UNION ALL
    SELECT 'gone', 'finding', p.repository, f.severity, f.rule,
        f.message || ifnull(' (' || f.path || ifnull(':' || f.line, '') || ')', '')
    FROM pairs p JOIN findings f ON f.document = p.old
    WHERE NOT EXISTS (SELECT 1 FROM findings g WHERE g.fingerprint = f.fingerprint AND g.document = p.new)
    UNION ALL
    SELECT DISTINCT 'new', 'package', p.repository, NULL, a.name, a.version
    FROM pairs p JOIN packages a ON a.document = p.new
    WHERE NOT EXISTS (SELECT 1 FROM packages b WHERE b.name IS a.name AND b.version IS a.version AND b.document = p.old)
    UNION ALL
    SELECT DISTINCT 'gone', 'package', p.repository, NULL, a.name, a.version
    FROM pairs p JOIN packages a ON a.document = p.old
    WHERE NOT EXISTS (SELECT 1 FROM packages b WHERE b.name IS a.name AND b.version IS a.version AND b.document = p.new)
    UNION ALL
    SELECT 'new', 'repository', d.repository, NULL, NULL, NULL FROM documents d
    WHERE d.look = (SELECT id FROM newest) AND EXISTS (SELECT 1 FROM before) AND NOT EXISTS
        (SELECT 1 FROM documents o WHERE o.repository = d.repository AND o.look = (SELECT id FROM before))
    UNION ALL
    SELECT 'gone', 'repository', d.repository, NULL, f.stage, f.message FROM documents d
    LEFT JOIN failures f ON f.repository = d.repository AND f.look = (SELECT id FROM newest)
    WHERE d.look = (SELECT id FROM before) AND NOT EXISTS
        (SELECT 1 FROM documents n WHERE n.repository = d.repository AND n.look = (SELECT id FROM newest))) c
    JOIN repositories r ON r.id = c.repository
ORDER BY CASE c.severity WHEN 'critical' THEN 0 WHEN 'high' THEN 1 WHEN 'medium' THEN 2 WHEN 'low' THEN 3 WHEN 'info' THEN 4
    ELSE 5 END, c.change DESC, c.kind, r.place, c.what, c.details;

-- query looks
-- The looks that were collected, the newest first.
SELECT l.begun AS look, l.directory, l.fleet,
    (SELECT count(*) FROM documents d WHERE d.look = l.id) AS documents,
    (SELECT count(*) FROM failures f WHERE f.look = l.id) AS failures
FROM looks l ORDER BY l.begun DESC, l.id DESC;

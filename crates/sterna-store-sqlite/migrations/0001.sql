-- A task: what decides about it. Everything big is in tables of its own,
-- because SQLite writes a whole row anew whenever a part of it changes.
CREATE TABLE sterna_task (
    id         BLOB NOT NULL PRIMARY KEY,
    principal  BLOB NOT NULL,
    flow       BLOB NOT NULL,
    target     TEXT NOT NULL,
    status     TEXT NOT NULL,
    note       TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    expires_at INTEGER,
    fence      INTEGER NOT NULL,
    worker     TEXT,              -- who holds it; NULL when nobody does
    due_at     INTEGER,           -- when a worker may claim it
    attempts   INTEGER NOT NULL,
    entries    INTEGER NOT NULL,
    open       INTEGER NOT NULL,  -- questions that wait for an answer
    unread     INTEGER NOT NULL,  -- answers that no worker has taken
    heard      INTEGER NOT NULL   -- answers that ever came
) STRICT;
CREATE INDEX sterna_task_due ON sterna_task (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX sterna_task_owner ON sterna_task (principal, created_at, id);
CREATE INDEX sterna_task_end ON sterna_task (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE sterna_payload (
    task    BLOB NOT NULL PRIMARY KEY REFERENCES sterna_task ON DELETE CASCADE,
    request BLOB NOT NULL,
    outcome BLOB
) STRICT;

CREATE TABLE sterna_entry (
    task  BLOB NOT NULL REFERENCES sterna_task ON DELETE CASCADE,
    seq   INTEGER NOT NULL,
    key   TEXT NOT NULL,
    value BLOB NOT NULL,
    PRIMARY KEY (task, seq),
    UNIQUE (task, key)
) STRICT;

CREATE TABLE sterna_question (
    task        BLOB NOT NULL REFERENCES sterna_task ON DELETE CASCADE,
    key         TEXT NOT NULL,
    position    INTEGER NOT NULL, -- the order of asking
    fingerprint BLOB NOT NULL,
    phase       TEXT NOT NULL,
    request     BLOB NOT NULL,
    response    BLOB,
    heard       INTEGER,          -- the order of answering
    PRIMARY KEY (task, key)
) STRICT;

CREATE TABLE sterna_effect (
    flow       BLOB NOT NULL,
    key        TEXT NOT NULL,
    claimant   BLOB NOT NULL,
    claimed_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    result     BLOB,
    PRIMARY KEY (flow, key)
) STRICT;
CREATE INDEX sterna_effect_end ON sterna_effect (expires_at);

CREATE TABLE sterna_round (
    flow        BLOB NOT NULL,
    number      INTEGER NOT NULL,
    digest      BLOB NOT NULL,
    claimant    BLOB NOT NULL,
    entered_at  INTEGER NOT NULL,
    lease_until INTEGER NOT NULL,
    expires_at  INTEGER NOT NULL,
    response    BLOB,
    PRIMARY KEY (flow, number)
) STRICT;
CREATE INDEX sterna_round_end ON sterna_round (expires_at);

CREATE TABLE sterna_blob (
    id         BLOB NOT NULL PRIMARY KEY,
    value      BLOB NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX sterna_blob_end ON sterna_blob (expires_at);

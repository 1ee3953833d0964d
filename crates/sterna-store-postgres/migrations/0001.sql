-- Runs with search_path set to the schema of the store.

-- A task: what decides about it. Everything big is in tables of its own,
-- because PostgreSQL writes a whole row anew whenever a part of it changes.
-- Times are milliseconds since 1970 on the clock of this server.
CREATE TABLE task (
    id         bytea PRIMARY KEY,
    principal  bytea NOT NULL,
    flow       bytea NOT NULL,
    target     text NOT NULL,
    status     text NOT NULL,
    note       text,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    expires_at bigint,
    fence      bigint NOT NULL,
    worker     text,            -- who holds it; NULL when nobody does
    due_at     bigint,          -- when a worker may claim it
    attempts   bigint NOT NULL,
    entries    bigint NOT NULL,
    open       bigint NOT NULL, -- questions that wait for an answer
    unread     bigint NOT NULL, -- answers that no worker has taken
    heard      bigint NOT NULL  -- answers that ever came
) WITH (fillfactor = 70);
CREATE INDEX task_due ON task (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX task_owner ON task (principal, created_at, id);
CREATE INDEX task_end ON task (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE payload (
    task    bytea PRIMARY KEY REFERENCES task ON DELETE CASCADE,
    request bytea NOT NULL,
    outcome bytea
);

CREATE TABLE entry (
    task  bytea NOT NULL REFERENCES task ON DELETE CASCADE,
    seq   bigint NOT NULL,
    key   text NOT NULL,
    value bytea NOT NULL,
    PRIMARY KEY (task, seq),
    UNIQUE (task, key)
);

CREATE TABLE question (
    task        bytea NOT NULL REFERENCES task ON DELETE CASCADE,
    key         text NOT NULL,
    position    bigint NOT NULL, -- the order of asking
    fingerprint bytea NOT NULL,
    phase       text NOT NULL,
    request     bytea NOT NULL,
    response    bytea,
    heard       bigint,          -- the order of answering
    PRIMARY KEY (task, key)
);

CREATE TABLE effect (
    flow       bytea NOT NULL,
    key        text NOT NULL,
    claimant   bytea NOT NULL,
    claimed_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    result     bytea,
    PRIMARY KEY (flow, key)
);
CREATE INDEX effect_end ON effect (expires_at);

CREATE TABLE round (
    flow        bytea NOT NULL,
    number      bigint NOT NULL,
    digest      bytea NOT NULL,
    claimant    bytea NOT NULL,
    entered_at  bigint NOT NULL,
    lease_until bigint NOT NULL,
    expires_at  bigint NOT NULL,
    response    bytea,
    PRIMARY KEY (flow, number)
);
CREATE INDEX round_end ON round (expires_at);

CREATE TABLE blob (
    id         bytea PRIMARY KEY,
    value      bytea NOT NULL,
    expires_at bigint NOT NULL
);
CREATE INDEX blob_end ON blob (expires_at);

-- What an operator wants to look at.
CREATE VIEW overview AS
SELECT encode(id, 'hex') AS id, target, status, worker, attempts, entries, open, unread,
       to_timestamp(due_at / 1000.0) AS due_at,
       to_timestamp(created_at / 1000.0) AS created_at,
       to_timestamp(updated_at / 1000.0) AS updated_at,
       to_timestamp(expires_at / 1000.0) AS expires_at,
       note
FROM task;

-- Runs with search_path set to the schema of the store.

-- The answers that led to an effect. NULL in rows of the version before.
ALTER TABLE effect ADD COLUMN answers bytea;

-- The answers that led to an effect. NULL in rows of the version before.
ALTER TABLE sterna_effect ADD COLUMN answers BLOB;

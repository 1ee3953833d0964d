-- Owners get workers in turn: the next owner that has anything to do, and the
-- longest waiting task of one owner.
CREATE INDEX task_turn ON task (principal, due_at) WHERE due_at IS NOT NULL;

-- How many tasks of an owner have not ended.
CREATE INDEX task_open ON task (principal) WHERE status IN ('working', 'input_required');

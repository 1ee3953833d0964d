-- Owners get workers in turn: the next owner that has anything to do, and the
-- longest waiting task of one owner.
CREATE INDEX sterna_task_turn ON sterna_task (principal, due_at) WHERE due_at IS NOT NULL;

-- How many tasks of an owner have not ended.
CREATE INDEX sterna_task_open ON sterna_task (principal)
    WHERE status IN ('working', 'input_required');

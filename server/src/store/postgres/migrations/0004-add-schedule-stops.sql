-- Why a schedule is paused, for programs; and what its stop rules do not count any more since somebody resumed it.
ALTER TABLE schedule ADD COLUMN paused_cause text;
ALTER TABLE schedule ADD COLUMN stop_baseline text;

-- The steady clock, and the wall clock at the same instant: it goes on from here after a restart, even if the wall clock
-- was set meanwhile.
CREATE TABLE steady_clock (
  clock INTEGER NOT NULL,
  at INTEGER NOT NULL
) STRICT;

INSERT INTO steady_clock VALUES (0, 0);

-- Who has changed what, written in the transaction of the change. `details` is JSON of all other fields of an entry, masked.
CREATE TABLE audit_entry (
  owner_no INTEGER NOT NULL,
  audit_id INTEGER NOT NULL,
  at INTEGER NOT NULL,
  principal TEXT NOT NULL,
  action TEXT NOT NULL,
  subject TEXT NOT NULL,
  details TEXT NOT NULL,
  PRIMARY KEY (owner_no, audit_id)
) STRICT, WITHOUT ROWID;

-- Signed Merkle roots of entries, each with the hash of the one before it. `seal` is its JSON, `leaves` the hashes of its entries.
CREATE TABLE audit_seal (
  owner_no INTEGER NOT NULL REFERENCES owner,
  seal_no INTEGER NOT NULL,
  first_audit_id INTEGER NOT NULL,
  last_audit_id INTEGER NOT NULL,
  at INTEGER NOT NULL,
  seal TEXT NOT NULL,
  leaves BLOB NOT NULL,
  announced_at INTEGER,
  PRIMARY KEY (owner_no, seal_no)
) STRICT, WITHOUT ROWID;

/** The control store's tables in SQLite, one step per version. Never change a released step: existing stores have run it. */
export const MIGRATIONS = [
  `CREATE TABLE keys (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    hash BLOB NOT NULL,
    scopes TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    expires_ms INTEGER,
    revoked_ms INTEGER
  ) STRICT`,
  // endpoints, sources: JSON lists, null for all. pins: a JSON object.
  `ALTER TABLE keys ADD COLUMN description TEXT NOT NULL DEFAULT '';
  ALTER TABLE keys ADD COLUMN endpoints TEXT;
  ALTER TABLE keys ADD COLUMN sources TEXT;
  ALTER TABLE keys ADD COLUMN pins TEXT NOT NULL DEFAULT '{}';
  ALTER TABLE keys ADD COLUMN rate_per_second REAL;
  ALTER TABLE keys ADD COLUMN rate_burst INTEGER;
  ALTER TABLE keys ADD COLUMN last_used_ms INTEGER;
  CREATE INDEX keys_by_age ON keys (created_ms, id);
  CREATE TABLE audit (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at_ms INTEGER NOT NULL,
    action TEXT NOT NULL,
    key_id TEXT NOT NULL,
    actor TEXT NOT NULL,
    detail TEXT NOT NULL,
    count INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX audit_refusals ON audit (action = 'refused', id)`,
  `ALTER TABLE keys ADD COLUMN successor TEXT`,
  `ALTER TABLE keys ADD COLUMN origin TEXT;
  CREATE TABLE searches (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    name TEXT NOT NULL,
    address TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL,
    UNIQUE (owner, name)
  ) STRICT`,
  `CREATE TABLE alert_states (alert TEXT PRIMARY KEY, state TEXT NOT NULL) STRICT;
  CREATE TABLE alert_history (
    id TEXT PRIMARY KEY,
    alert TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    entry TEXT NOT NULL
  ) STRICT;
  CREATE INDEX alert_history_by_alert ON alert_history (alert, id);
  CREATE TABLE alert_silences (
    id TEXT PRIMARY KEY,
    alert TEXT NOT NULL,
    labels TEXT NOT NULL,
    until_ms INTEGER NOT NULL,
    comment TEXT NOT NULL,
    author TEXT NOT NULL,
    created_ms INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE alert_outbox (
    id TEXT PRIMARY KEY,
    receiver TEXT NOT NULL,
    message TEXT NOT NULL,
    tries INTEGER NOT NULL,
    first_ms INTEGER NOT NULL,
    due_ms INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX alert_outbox_by_receiver ON alert_outbox (receiver, id);
  -- One row: which process evaluates, by the database's clock. Each taking has a new fence, which its writes check.
  CREATE TABLE alert_lease (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    owner TEXT NOT NULL,
    fence INTEGER NOT NULL,
    until_ms INTEGER NOT NULL,
    writes INTEGER NOT NULL
  ) STRICT;
  INSERT INTO alert_lease VALUES (1, '', 0, 0, 0)`,
  `ALTER TABLE alert_outbox ADD COLUMN reason TEXT NOT NULL DEFAULT '';
  -- A ring: a row for each five minutes of a day, which that of the next day replaces.
  CREATE TABLE alert_points (
    alert TEXT NOT NULL,
    slot INTEGER NOT NULL,
    measure TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    low REAL NOT NULL,
    high REAL NOT NULL,
    PRIMARY KEY (alert, slot)
  ) STRICT`,
  `CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    hash TEXT NOT NULL,
    owner TEXT NOT NULL,
    name TEXT NOT NULL,
    claims TEXT NOT NULL,
    print TEXT NOT NULL,
    -- Null for a key: only a sign-in at the provider opens one session.
    login TEXT UNIQUE,
    created_ms INTEGER NOT NULL,
    seen_ms INTEGER NOT NULL,
    expires_ms INTEGER NOT NULL,
    address TEXT NOT NULL,
    agent TEXT NOT NULL
  ) STRICT;
  CREATE INDEX sessions_by_owner ON sessions (owner, created_ms, id);
  ALTER TABLE audit ADD COLUMN address TEXT NOT NULL DEFAULT ''`,
  `ALTER TABLE searches ADD COLUMN shared TEXT NOT NULL DEFAULT '';
  ALTER TABLE searches ADD COLUMN reach TEXT NOT NULL DEFAULT '';
  ALTER TABLE searches ADD COLUMN author TEXT NOT NULL DEFAULT '';
  CREATE INDEX searches_by_share ON searches (shared, updated_ms)`,
  // One row: the last entry of the trail that is an event, too, and the last one of the batch that is being copied.
  `CREATE TABLE audit_copy (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    copied INTEGER NOT NULL,
    claimed INTEGER NOT NULL
  ) STRICT;
  INSERT INTO audit_copy VALUES (1, 0, 0)`,
] as const;

/**
 * The control store's tables in PostgreSQL, one step per version. Never change a released step: existing stores have run it.
 * Texts and times are as in src/keys/sqlite-migrations.ts; ids are compared byte by byte, under any collation of the database.
 */
export const MIGRATIONS = [
  `CREATE TABLE tailrace_keys (
    id text COLLATE "C" PRIMARY KEY,
    name text NOT NULL,
    description text NOT NULL,
    hash bytea NOT NULL,
    scopes text NOT NULL,
    endpoints text,
    sources text,
    pins text NOT NULL,
    rate_per_second double precision,
    rate_burst bigint,
    created_ms bigint NOT NULL,
    expires_ms bigint,
    revoked_ms bigint,
    last_used_ms bigint,
    successor text,
    -- Which of all changes was the last of this key.
    change bigint NOT NULL
  );
  CREATE INDEX tailrace_keys_by_age ON tailrace_keys (created_ms, id);
  CREATE INDEX tailrace_keys_by_change ON tailrace_keys (change);
  CREATE TABLE tailrace_audit (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at_ms bigint NOT NULL,
    action text NOT NULL,
    key_id text NOT NULL,
    actor text NOT NULL,
    detail text NOT NULL,
    count bigint NOT NULL
  );
  CREATE INDEX tailrace_audit_refusals ON tailrace_audit ((action = 'refused'), id);
  -- One row: how many changes of keys there were. Whoever makes one holds it; all others look at it.
  CREATE TABLE tailrace_changes (only_row boolean PRIMARY KEY CHECK (only_row), count bigint NOT NULL);
  INSERT INTO tailrace_changes VALUES (true, 0)`,
  `ALTER TABLE tailrace_keys ADD COLUMN origin text COLLATE "C";
  CREATE TABLE tailrace_searches (
    id text COLLATE "C" PRIMARY KEY,
    owner text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    address text NOT NULL,
    created_ms bigint NOT NULL,
    updated_ms bigint NOT NULL,
    UNIQUE (owner, name)
  )`,
  `CREATE TABLE tailrace_alert_states (alert text COLLATE "C" PRIMARY KEY, state text NOT NULL);
  CREATE TABLE tailrace_alert_history (
    id text COLLATE "C" PRIMARY KEY,
    alert text COLLATE "C" NOT NULL,
    at_ms bigint NOT NULL,
    entry text NOT NULL
  );
  CREATE INDEX tailrace_alert_history_by_alert ON tailrace_alert_history (alert, id);
  CREATE TABLE tailrace_alert_silences (
    id text COLLATE "C" PRIMARY KEY,
    alert text COLLATE "C" NOT NULL,
    labels text NOT NULL,
    until_ms bigint NOT NULL,
    comment text NOT NULL,
    author text NOT NULL,
    created_ms bigint NOT NULL
  );
  CREATE TABLE tailrace_alert_outbox (
    id text COLLATE "C" PRIMARY KEY,
    receiver text COLLATE "C" NOT NULL,
    message text NOT NULL,
    tries bigint NOT NULL,
    first_ms bigint NOT NULL,
    due_ms bigint NOT NULL
  );
  CREATE INDEX tailrace_alert_outbox_by_receiver ON tailrace_alert_outbox (receiver, id);
  -- One row: which process evaluates, by the database's clock. Each taking has a new fence, which its writes check.
  CREATE TABLE tailrace_alert_lease (
    only_row boolean PRIMARY KEY CHECK (only_row),
    owner text NOT NULL,
    fence bigint NOT NULL,
    until_ms bigint NOT NULL,
    writes bigint NOT NULL
  );
  INSERT INTO tailrace_alert_lease VALUES (true, '', 0, 0, 0)`,
] as const;

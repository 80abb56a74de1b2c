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
  `ALTER TABLE tailrace_alert_outbox ADD COLUMN reason text NOT NULL DEFAULT '';
  -- A ring: a row for each five minutes of a day, which that of the next day replaces.
  CREATE TABLE tailrace_alert_points (
    alert text COLLATE "C" NOT NULL,
    slot bigint NOT NULL,
    measure text NOT NULL,
    at_ms bigint NOT NULL,
    low double precision NOT NULL,
    high double precision NOT NULL,
    PRIMARY KEY (alert, slot)
  )`,
  `CREATE TABLE tailrace_sessions (
    id text COLLATE "C" PRIMARY KEY,
    hash text NOT NULL,
    owner text COLLATE "C" NOT NULL,
    name text NOT NULL,
    claims text NOT NULL,
    print text NOT NULL,
    -- Null for a key: only a sign-in at the provider opens one session.
    login text UNIQUE,
    created_ms bigint NOT NULL,
    seen_ms bigint NOT NULL,
    expires_ms bigint NOT NULL,
    address text NOT NULL,
    agent text NOT NULL
  );
  CREATE INDEX tailrace_sessions_by_owner ON tailrace_sessions (owner, created_ms, id);
  ALTER TABLE tailrace_audit ADD COLUMN address text NOT NULL DEFAULT ''`,
  `ALTER TABLE tailrace_searches ADD COLUMN shared text COLLATE "C" NOT NULL DEFAULT '';
  ALTER TABLE tailrace_searches ADD COLUMN reach text NOT NULL DEFAULT '';
  ALTER TABLE tailrace_searches ADD COLUMN author text NOT NULL DEFAULT '';
  CREATE INDEX tailrace_searches_by_share ON tailrace_searches (shared, updated_ms)`,
  // One row: the last entry of the trail that is an event, too, and the last one of the batch that is being copied.
  `CREATE TABLE tailrace_audit_copy (
    only_row boolean PRIMARY KEY CHECK (only_row),
    copied bigint NOT NULL,
    claimed bigint NOT NULL
  );
  INSERT INTO tailrace_audit_copy VALUES (true, 0, 0)`,
] as const;

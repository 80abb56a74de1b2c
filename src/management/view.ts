import { type Static, type TSchema, Type } from 'typebox';
import { CHART_KINDS, THRESHOLD_SEVERITIES } from '../definitions/chart.ts';
import { CONTROLS, PARAMETER_TYPES } from '../definitions/parameter-type.ts';

// Longer than other files: one table of all that the console reads. Responses that the console reads: the schemas go
// into /openapi.json, the types into the routes and the console. The console imports this file, so this file must not
// import the service.

export const orNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
const textOrNull = (description: string) => orNull(Type.String({ description }));
const time = (description: string) => orNull(Type.String({ format: 'date-time', description }));
const count = (description: string) => Type.Integer({ minimum: 0, description });

/** The sender of a request. */
export const ME = Type.Object({
  id: Type.String({
    description: 'Id of the key or person; `private` or `public` for the keys of the environment.',
  }),
  token: Type.Boolean({ description: 'Whether it is a signed token of that key.' }),
  scopes: Type.Array(Type.String()),
  endpoints: orNull(Type.Array(Type.String())),
  sources: orNull(Type.Array(Type.String())),
  pins: Type.Record(Type.String(), Type.String()),
  version: Type.String({ description: 'Version of the service.' }),
  kind: Type.Enum(['person', 'key', 'token']),
  name: Type.String({ description: 'Name of the person; the id of a key.' }),
  role: textOrNull('Role of the person; null if none fits.'),
  choices: Type.Record(Type.String(), Type.Array(Type.String()), {
    description: 'Pins with several values: the parameter of this name chooses one, by default the first.',
  }),
  session: textOrNull('Id of the session; null for a key, and behind a proxy.'),
  denied: textOrNull('Why the person has no access.'),
});
export type Me = Static<typeof ME>;

/** A session of the console. */
export const SESSION = Type.Object({
  id: Type.String(),
  kind: Type.Enum(['person', 'key']),
  owner: Type.String({ description: 'Id of the person or key.' }),
  name: Type.String(),
  current: Type.Boolean({ description: 'Whether it is that of the request.' }),
  created_at: time('Sign-in.'),
  seen_at: time('Last request, up to a minute late.'),
  expires_at: time('Its end, even if it is in use.'),
  address: Type.String({ description: 'Address of the client that signed in.' }),
  agent: Type.String({ description: 'Its `User-Agent`.' }),
});
export type Session = Static<typeof SESSION>;

/** How one can sign in to the console. */
export const SIGN_IN = Type.Object({
  provider: Type.Boolean({ description: 'Whether people sign in with their account.' }),
  keys: Type.Boolean({ description: 'Whether keys sign in.' }),
  session: Type.Boolean({ description: 'Whether the request has a session, which may have ended.' }),
});
export type SignInView = Static<typeof SIGN_IN>;

const PARAMETER = Type.Object({
  name: Type.String(),
  type: Type.Enum([...PARAMETER_TYPES]),
  required: Type.Boolean(),
  description: Type.String(),
  default: Type.String({ description: 'Value that replaces a missing or empty one.' }),
  control: Type.Enum([...CONTROLS], { description: 'Control of a form.' }),
  values: Type.Array(Type.String(), { description: 'Values of an enum.' }),
  otherwise: textOrNull('Value that replaces any other; null: others are rejected.'),
  pinned: textOrNull('The one value that this key may send; null: any.'),
  search: textOrNull('Field of the events that have the value, as a search names it.'),
});

const COLUMN = Type.Object({
  name: Type.String(),
  type: Type.Enum(['string', 'integer', 'number', 'boolean', 'json']),
  description: Type.String(),
  search: textOrNull('Search for the events that the column is about.'),
});

const CHART = Type.Object({
  show: Type.Enum([...CHART_KINDS]),
  title: orNull(Type.String()),
  time: textOrNull('Column with microseconds since 1970, or texts in ISO 8601; null: none.'),
  series: textOrNull('Column: a series for each of its values; null: none.'),
  values: Type.Array(Type.String(), { description: 'Columns to draw; of a table, none: all.' }),
  unit: orNull(Type.String()),
  band: Type.Array(Type.String(), {
    description: 'The columns of the least and the greatest value; none, or two.',
  }),
  bad: Type.Array(Type.String(), {
    description: 'Of `values`, or values of `series`: drawn in the colour of failures.',
  }),
  top: orNull(count('Series that are drawn; the others are drawn as one. Null: as many as are readable.')),
  thresholds: Type.Array(
    Type.Object({
      is: Type.Enum(['above', 'below']),
      value: Type.Number(),
      severity: Type.Enum([...THRESHOLD_SEVERITIES]),
      label: orNull(Type.String()),
    }),
  ),
});
export type ChartView = Static<typeof CHART>;

export const ENDPOINT = Type.Object({
  id: Type.String({ format: 'uuid' }),
  name: Type.String(),
  description: Type.String(),
  max_rows: count('Most rows of an answer.'),
  caching_seconds: orNull(count('How long an answer is kept; null: it is not kept.')),
  warming_seconds: orNull(count('How often a kept answer is refreshed; null: it is not refreshed.')),
  query_sandboxing: Type.Boolean(),
  live_tail: Type.Boolean({ description: 'Whether new rows can be followed.' }),
  parameters: Type.Array(PARAMETER),
  formats: Type.Array(Type.String(), {
    description: 'Values of the parameter `format`; none if the endpoint has a parameter of this name.',
  }),
  columns: Type.Array(COLUMN),
  charts: Type.Array(CHART, { description: 'How the answer is drawn; none: as its values suggest.' }),
  sources: Type.Array(Type.String(), {
    description: 'Sources that the query reads and that this key may search; none if it may not search.',
  }),
  sql: textOrNull('The stored query, for keys with the scope `manage`.'),
});
export type EndpointView = Static<typeof ENDPOINT>;

export const SOURCE = Type.Object({
  id: Type.String({ format: 'uuid' }),
  name: Type.String(),
  table: Type.String(),
  description: Type.String(),
  managed: Type.Boolean({ description: 'False: it reads an existing table, and stores no events.' }),
  internal: Type.Boolean({ description: 'True: only Tailrace writes its events.' }),
  protected: Type.Boolean({
    description:
      'True: its events cannot be deleted, and only keys that may manage everything can search them.',
  }),
  retention_days: orNull(
    count('Days that an event is kept; null: Tailrace does not delete events of this source.'),
  ),
  columns: Type.Array(
    Type.Object({
      name: Type.String(),
      type: Type.String(),
      path: Type.Array(Type.String(), {
        description: 'Member names from the root of the event; none if an expression gives the value.',
      }),
      other_paths: Type.Array(Type.Array(Type.String()), {
        description: 'Further paths: the first of all that holds a value of the type counts.',
      }),
      description: Type.String(),
    }),
  ),
});
export type SourceView = Static<typeof SOURCE>;

export const SEARCH_SOURCE = Type.Object({
  name: Type.String(),
  id: Type.String({ format: 'uuid' }),
  description: Type.String(),
  internal: Type.Boolean({
    description: 'True: only Tailrace writes its events; a search that names no source leaves them out.',
  }),
  fields: Type.Array(
    Type.Object({
      name: Type.String({ description: 'Name in a search, such as `request.path`.' }),
      type: Type.Enum(['string', 'integer', 'number', 'boolean', 'json', 'level', 'timestamp']),
      description: Type.String(),
    }),
    { description: 'Fields of a row, then the typed columns. The metadata may have more.' },
  ),
  links: Type.Array(Type.Object({ label: Type.String(), field: Type.String(), url: Type.String() }), {
    description:
      'Links of values: `{value}` in `url` stands for the value of `field`, `{…}` for another field.',
  }),
  marks_deploys: Type.Boolean({
    description: 'Whether its events are deployments: the source is called `deployments`.',
  }),
});
export type SearchSource = Static<typeof SEARCH_SOURCE>;

const MINUTE = Type.Object({
  at: Type.String({ format: 'date-time', description: 'Start of the minute.' }),
  requests: count('Requests that ended in this minute.'),
  failures: count('Requests that failed.'),
  p50_ms: orNull(Type.Number()),
  p99_ms: orNull(Type.Number()),
});

export const TRAFFIC = Type.Object({
  name: Type.String(),
  requests_per_minute: Type.Number({ description: 'Over the last minute.' }),
  requests: count('Requests in the window, as all below.'),
  failures: count('Requests that failed.'),
  failure_codes: Type.Record(Type.String(), Type.Integer()),
  p50_ms: orNull(Type.Number({ description: 'Time from request to response, by nearest rank, within 4 %.' })),
  p99_ms: orNull(Type.Number()),
  hit_ratio: orNull(
    Type.Number({ description: 'Answers from the cache of all answers; null: not cached, or none.' }),
  ),
  rows: count('Rows returned.'),
  last_failure: orNull(
    Type.Object(
      { code: Type.String(), at: Type.String({ format: 'date-time' }) },
      { description: 'Counts since the start.' },
    ),
  ),
  minutes: Type.Array(MINUTE, { description: 'The last hour, oldest first.' }),
});
export type Traffic = Static<typeof TRAFFIC>;

const SOURCE_STATE = Type.Object({
  name: Type.String(),
  table: Type.String(),
  rows: count('Events stored.'),
  bytes: count('Bytes on disk.'),
  oldest: time('Time of the oldest event.'),
  newest: time('Time of the newest event.'),
  events_per_second: Type.Number({ description: 'Events received in the last minute.' }),
  without_project: count(
    'Events received since the start that belong to no project: keys that pin one cannot read them.',
  ),
  minutes: Type.Array(Type.Integer(), {
    description: 'Events received, minute by minute, oldest first.',
  }),
});
export type SourceState = Static<typeof SOURCE_STATE>;

const NOTICE = Type.Object({
  topic: Type.Enum(['retention', 'storing', 'alerts', 'roles']),
  message: Type.String({ description: 'What is wrong, and what to do.' }),
});
export type Notice = Static<typeof NOTICE>;

export const OVERVIEW = Type.Object({
  at: Type.String({ format: 'date-time' }),
  started_at: Type.String({ format: 'date-time' }),
  notices: Type.Array(NOTICE, { description: 'Problems that an operator has to solve.' }),
  window_seconds: count('Range of the counts: an hour, or less after a start.'),
  endpoints: Type.Array(TRAFFIC),
  search: orNull({
    ...TRAFFIC,
    description: 'Traffic of searches; null for a key that is limited to endpoints.',
  }),
  sources: Type.Array(SOURCE_STATE),
  engine: Type.Object({
    state: Type.Enum(['ready', 'stopping', 'unavailable']),
    message: orNull(Type.String()),
    running: count('Running queries.'),
    queued: count('Waiting queries.'),
    readers: count('Queries that may run at once.'),
    restarts: count('Times that the engine process was started again.'),
    memory_bytes: orNull(
      count('Resident memory of the engine process; null: a server, whose memory is unknown.'),
    ),
  }),
  store: Type.Object({
    read_at: time('When sizes and times of the sources were read; null: not yet.'),
    rows: count('Events in all sources that this key may know of.'),
    bytes: count('Their bytes on disk.'),
    cache_entries: count('Answers kept.'),
    cache_bytes: count('Their bytes.'),
    cache_bytes_max: count('Most bytes that may be kept.'),
    ingest_queued_bytes: count('Events that wait to be stored.'),
  }),
});
export type Overview = Static<typeof OVERVIEW>;

export const PROJECTS = Type.Object({
  result: Type.Array(Type.String()),
  complete: Type.Boolean({ description: 'False if some are not listed.' }),
});
export type Projects = Static<typeof PROJECTS>;

const GRANT = {
  scopes: Type.Array(Type.String()),
  endpoints: orNull(Type.Array(Type.String(), { description: 'Null: all.' })),
  sources: orNull(Type.Array(Type.String(), { description: 'Null: all.' })),
  pins: Type.Record(Type.String(), Type.String()),
  rate: orNull(Type.Object({ per_second: Type.Number(), burst: Type.Integer() })),
};

export const KEY = Type.Object({
  id: Type.String(),
  name: Type.String(),
  description: Type.String(),
  ...GRANT,
  created_at: time('When it was created.'),
  expires_at: time('Instant from which it is rejected; null: never.'),
  last_used_at: time('Within a few minutes.'),
  revoked_at: time('Instant from which it has been rejected.'),
  successor: textOrNull('Id of the key that it was rotated to.'),
});
export type KeyView = Static<typeof KEY>;

export const CREATED_KEY = Type.Object({
  key: Type.String({ description: 'The secret. It is shown only once.' }),
  ...KEY.properties,
});
export type CreatedKeyView = Static<typeof CREATED_KEY>;

export const TOKEN = Type.Object({
  token: Type.String(),
  id: Type.String(),
  ...GRANT,
  expires_at: time('Instant from which it is rejected.'),
});

export const KEY_ENTRY = Type.Object({
  id: Type.Integer({ description: 'Rises with every entry.' }),
  at: time('Instant; of rejections that are counted together, that of the first.'),
  action: Type.Enum([
    'created',
    'changed',
    'rotated',
    'revoked',
    'minted',
    'refused',
    'deleted',
    'saved',
    'silenced',
    'unsilenced',
    'signed_in',
    'signed_out',
    'ended',
  ]),
  key_id: Type.String({
    description: 'The key concerned; empty if it is unknown, for deleted events and for saved endpoints.',
  }),
  actor: Type.String({
    description: 'The person who did it, id of the key, `private` or `cli`; empty for rejections.',
  }),
  address: Type.String({ description: 'Address of the client that did it; empty if it is not known.' }),
  detail: Type.String({
    description: 'The grant, or what was saved; the reason of a rejection and, after `from`, the addresses.',
  }),
  count: Type.Integer({ description: 'Number of times within a minute.' }),
});
export type KeyEntry = Static<typeof KEY_ENTRY>;

/** A deletion of events that is done, running or planned. */
export const DELETION = Type.Object({
  id: textOrNull('Null for a dry run.'),
  state: Type.Enum(['planned', 'running', 'done', 'failed']),
  accepted_at: textOrNull(
    'ISO 8601. Events acknowledged before are deleted, events sent afterwards stay. Null for a dry run.',
  ),
  project: Type.String({ description: 'Empty: events that belong to no project.' }),
  before: textOrNull('Only events before it.'),
  rows: Type.Integer({ description: 'Events in all.' }),
  sources: Type.Array(Type.Object({ source: Type.String(), rows: Type.Integer() }), {
    description: 'Sources that had such events when it was accepted.',
  }),
  left_out: Type.Array(Type.Object({ source: Type.String(), rows: Type.Integer() }), {
    description: 'Protected sources that have such events: these stay.',
  }),
  progress: orNull(
    Type.Object(
      { source: Type.String(), parts_left: Type.Integer() },
      {
        description:
          'While it runs: the source whose events are being deleted, and the parts of its table left to rewrite.',
      },
    ),
  ),
  error: textOrNull('Why it failed.'),
});
export type DeletionView = Static<typeof DELETION>;

/** The completions of the workbench's editor, and whether it may save. */
export const WORKBENCH = Type.Object({
  may_edit: Type.Boolean(),
  refusal: textOrNull('Why it may not save.'),
  notice: textOrNull('What the first save does besides.'),
  alerts: Type.Object({
    refusal: textOrNull('Why it may not save alerts.'),
    receivers: Type.Array(Type.String(), { description: 'Names of the receivers.' }),
  }),
  dashboards: Type.Object({
    refusal: textOrNull('Why it may not save dashboards.'),
  }),
  searches: Type.Object({
    refusal: orNull(Type.String({ description: 'Why it may not save searches.' })),
  }),
  functions: Type.Array(Type.Object({ name: Type.String() })),
  tables: Type.Array(
    Type.Object({
      name: Type.String(),
      source: Type.String(),
      columns: Type.Array(
        Type.Object({
          name: Type.String(),
          type: Type.String({ description: 'Type of the engine.' }),
          description: Type.String(),
        }),
      ),
    }),
  ),
  parameter_types: Type.Array(Type.String()),
});
export type WorkbenchView = Static<typeof WORKBENCH>;

/** The two files of an endpoint as texts. */
export const ENDPOINT_FILES = Type.Object({
  name: Type.String(),
  definition: Type.String({ description: 'endpoint.yaml' }),
  sql: Type.String({ description: 'query.sql' }),
  version: Type.String({ description: 'Version of both; a save names it.' }),
  may_edit: Type.Boolean(),
});
export type EndpointFiles = Static<typeof ENDPOINT_FILES>;

/** A search as the files of an endpoint. */
export const SEARCH_DRAFT = Type.Object({
  name: Type.String({ description: 'A name that no endpoint has.' }),
  definition: Type.String({ description: 'endpoint.yaml, without `id`' }),
  sql: Type.String({ description: 'query.sql' }),
  test: Type.Union([Type.String(), Type.Null()], {
    description: 'A file of tests; null if no event was found that a test could have.',
  }),
  values: Type.Record(Type.String(), Type.String(), {
    description: 'Values of its parameters with which it returns what the search does.',
  }),
});
export type SearchDraftView = Static<typeof SEARCH_DRAFT>;

const RESULT_COLUMNS = Type.Array(
  Type.Object(
    { name: Type.String(), type: COLUMN.properties.type },
    { description: 'Columns as declared, else as the engine reports them.' },
  ),
);

/** The response to a run except its rows, which are the engine's bytes. */
export const RUN_REPORT = Type.Object({
  columns: RESULT_COLUMNS,
  charts: Type.Array(CHART, { description: 'As the draft declares them.' }),
  parameters: Type.Array(PARAMETER),
  rows_read: count('Rows that the engine has read.'),
  bytes_read: count('Uncompressed bytes that the engine has read.'),
  engine_ms: Type.Number(),
  truncated: Type.Boolean({ description: 'Whether there are more than max_rows rows.' }),
  now: Type.String({ format: 'date-time', description: '`@now` of the query.' }),
});
export type RunReport = Static<typeof RUN_REPORT>;

export const DRAFT_CHECK = Type.Object({
  parameters: Type.Array(PARAMETER),
  columns: RESULT_COLUMNS,
  errors: Type.Array(
    Type.Object({
      parameter: Type.Enum(['definition', 'sql']),
      message: Type.String(),
      line: Type.Optional(Type.Integer({ description: 'From 1.' })),
      column: Type.Optional(Type.Integer({ description: 'From 1.' })),
    }),
  ),
});
export type DraftCheck = Static<typeof DRAFT_CHECK>;

export const SAVED_ENDPOINT = Type.Object({
  name: Type.String(),
  version: Type.String(),
  tests: Type.Array(Type.Object({ name: Type.String(), passed: Type.Boolean(), message: Type.String() })),
});
export type SavedEndpoint = Static<typeof SAVED_ENDPOINT>;

export const SAVED_TEST = Type.Object({
  file: Type.String({ description: 'In the folder of the endpoint.' }),
  tests: SAVED_ENDPOINT.properties.tests,
});
export type SavedTest = Static<typeof SAVED_TEST>;

/** A search that a team keeps. */
export const SAVED_SEARCH = Type.Object({
  id: Type.String({ format: 'uuid' }),
  name: Type.String(),
  title: Type.String(),
  description: Type.String(),
  search: Type.Record(Type.String(), Type.String(), { description: "As in the console's address." }),
});
export type SavedSearchView = Static<typeof SAVED_SEARCH>;

/** The file of an alert as a text. */
export const ALERT_FILE = Type.Object({
  name: Type.String(),
  definition: Type.String(),
  version: Type.String({ description: 'A save names it.' }),
  may_edit: Type.Boolean(),
});
export type AlertFile = Static<typeof ALERT_FILE>;

export const ALERT_CHECK = Type.Object({ errors: DRAFT_CHECK.properties.errors });

export const SAVED_ALERT = Type.Object({ name: Type.String(), version: Type.String() });
export type SavedAlert = Static<typeof SAVED_ALERT>;

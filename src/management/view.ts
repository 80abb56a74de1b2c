import { type Static, Type } from 'typebox';
import { CHART_KINDS, THRESHOLD_SEVERITIES } from '../definitions/chart.ts';
import { CONTROLS, PARAMETER_TYPES } from '../definitions/parameter-type.ts';
import { AUDIT_ACTIONS } from '../keys/audit-action.ts';
import {
  count,
  flag,
  instantOrNull,
  list,
  oneOf,
  orNull,
  text,
  textOrNull,
  texts,
  UUID,
} from '../lib/schema.ts';

// Responses that the console reads; those of other pages are in the files beside this one. The schemas go into
// /openapi.json, the types into the routes and the console. The console imports these files, so they must not import the
// service.

/** The sender of a request. */
export const ME = Type.Object({
  id: text('Id of the key or person; `private` or `public` for the keys of the environment.'),
  token: flag('Whether it is a signed token of that key.'),
  scopes: texts(),
  endpoints: orNull(texts()),
  sources: orNull(texts()),
  pins: Type.Record(Type.String(), Type.String()),
  version: text('Version of the service.'),
  kind: oneOf(['person', 'key', 'token']),
  name: text('Name of the person; the id of a key.'),
  role: textOrNull('Role of the person; null if none fits.'),
  choices: Type.Record(Type.String(), texts(), {
    description: 'Pins with several values: the parameter of this name chooses one, by default the first.',
  }),
  session: textOrNull('Id of the session; null for a key, and behind a proxy.'),
  denied: textOrNull('Why the person has no access.'),
});
export type Me = Static<typeof ME>;

/** A session of the console. */
export const SESSION = Type.Object({
  id: text(),
  kind: oneOf(['person', 'key']),
  owner: text('Id of the person or key.'),
  name: text(),
  current: flag('Whether it is that of the request.'),
  created_at: instantOrNull('Sign-in.'),
  seen_at: instantOrNull('Last request, up to a minute late.'),
  expires_at: instantOrNull('Its end, even if it is in use.'),
  address: text('Address of the client that signed in.'),
  agent: text('Its `User-Agent`.'),
});
export type Session = Static<typeof SESSION>;

/** How one can sign in to the console. */
export const SIGN_IN = Type.Object({
  provider: flag('Whether people sign in with their account.'),
  keys: flag('Whether keys sign in.'),
  session: flag('Whether the request has a session, which may have ended.'),
});
export type SignInView = Static<typeof SIGN_IN>;

export const PARAMETER = Type.Object({
  name: text(),
  type: oneOf(PARAMETER_TYPES),
  required: flag(),
  description: text(),
  default: text('Value that replaces a missing or empty one.'),
  control: oneOf(CONTROLS, { description: 'Control of a form.' }),
  values: texts('Values of an enum.'),
  otherwise: textOrNull('Value that replaces any other; null: others are rejected.'),
  pinned: textOrNull('The one value that this key may send; null: any.'),
  search: textOrNull('Field of the events that have the value, as a search names it.'),
});

export const COLUMN = Type.Object({
  name: text(),
  type: oneOf(['string', 'integer', 'number', 'boolean', 'json']),
  description: text(),
  search: textOrNull('Search for the events that the column is about.'),
});

export const CHART = Type.Object({
  show: oneOf(CHART_KINDS),
  title: textOrNull(),
  time: textOrNull('Column with microseconds since 1970, or texts in ISO 8601; null: none.'),
  series: textOrNull('Column: a series for each of its values; null: none.'),
  values: texts('Columns to draw; of a table, none: all.'),
  unit: textOrNull(),
  band: texts('The columns of the least and the greatest value; none, or two.'),
  bad: texts('Of `values`, or values of `series`: drawn in the colour of failures.'),
  top: orNull(count('Series that are drawn; the others are drawn as one. Null: as many as are readable.')),
  thresholds: list(
    Type.Object({
      is: oneOf(['above', 'below']),
      value: Type.Number(),
      severity: oneOf(THRESHOLD_SEVERITIES),
      label: textOrNull(),
    }),
  ),
});
export type ChartView = Static<typeof CHART>;

export const ENDPOINT = Type.Object({
  id: UUID,
  name: text(),
  description: text(),
  max_rows: count('Most rows of an answer.'),
  caching_seconds: orNull(count('How long an answer is kept; null: it is not kept.')),
  warming_seconds: orNull(count('How often a kept answer is refreshed; null: it is not refreshed.')),
  query_sandboxing: flag(),
  live_tail: flag('Whether new rows can be followed.'),
  parameters: list(PARAMETER),
  formats: texts('Values of the parameter `format`; none if the endpoint has a parameter of this name.'),
  columns: list(COLUMN),
  charts: list(CHART, 'How the answer is drawn; none: as its values suggest.'),
  sources: texts('Sources that the query reads and that this key may search; none if it may not search.'),
  sql: textOrNull('The stored query, for keys with the scope `manage`.'),
});
export type EndpointView = Static<typeof ENDPOINT>;

export const SOURCE = Type.Object({
  id: UUID,
  name: text(),
  table: text(),
  description: text(),
  managed: flag('False: it reads an existing table, and stores no events.'),
  internal: flag('True: only Tailrace writes its events.'),
  protected: flag(
    'True: its events cannot be deleted, and only keys that may manage everything can search them.',
  ),
  retention_days: orNull(
    count('Days that an event is kept; null: Tailrace does not delete events of this source.'),
  ),
  columns: list(
    Type.Object({
      name: text(),
      type: text(),
      path: texts('Member names from the root of the event; none if an expression gives the value.'),
      other_paths: list(texts(), 'Further paths: the first of all that holds a value of the type counts.'),
      description: text(),
    }),
  ),
});
export type SourceView = Static<typeof SOURCE>;

export const SEARCH_SOURCE = Type.Object({
  name: text(),
  id: UUID,
  description: text(),
  internal: flag('True: only Tailrace writes its events; a search that names no source leaves them out.'),
  fields: list(
    Type.Object({
      name: text('Name in a search, such as `request.path`.'),
      type: oneOf(['string', 'integer', 'number', 'boolean', 'json', 'level', 'timestamp']),
      description: text(),
    }),
    'Fields of a row, then the typed columns. The metadata may have more.',
  ),
  links: list(
    Type.Object({ label: text(), field: text(), url: text() }),
    'Links of values: `{value}` in `url` stands for the value of `field`, `{…}` for another field.',
  ),
  marks_deploys: flag('Whether its events are deployments: the source is called `deployments`.'),
});
export type SearchSource = Static<typeof SEARCH_SOURCE>;

export const PROJECTS = Type.Object({ result: texts(), complete: flag('False if some are not listed.') });
export type Projects = Static<typeof PROJECTS>;

const GRANT = {
  scopes: texts(),
  endpoints: orNull(texts('Null: all.')),
  sources: orNull(texts('Null: all.')),
  pins: Type.Record(Type.String(), Type.String()),
  rate: orNull(Type.Object({ per_second: Type.Number(), burst: Type.Integer() })),
};

export const KEY = Type.Object({
  id: text(),
  name: text(),
  description: text(),
  ...GRANT,
  created_at: instantOrNull('When it was created.'),
  expires_at: instantOrNull('Instant from which it is rejected; null: never.'),
  last_used_at: instantOrNull('Within a few minutes.'),
  revoked_at: instantOrNull('Instant from which it has been rejected.'),
  successor: textOrNull('Id of the key that it was rotated to.'),
});
export type KeyView = Static<typeof KEY>;

export const CREATED_KEY = Type.Object({
  key: text('The secret. It is shown only once.'),
  ...KEY.properties,
});
export type CreatedKeyView = Static<typeof CREATED_KEY>;

export const TOKEN = Type.Object({
  token: text(),
  id: text(),
  ...GRANT,
  expires_at: instantOrNull('Instant from which it is rejected.'),
});

export const KEY_ENTRY = Type.Object({
  id: Type.Integer({ description: 'Rises with every entry.' }),
  at: instantOrNull('Instant; of rejections that are counted together, that of the first.'),
  action: oneOf(AUDIT_ACTIONS),
  key_id: text('The key concerned; empty if it is unknown, for deleted events and for saved endpoints.'),
  actor: text('The person who did it, id of the key, `private` or `cli`; empty for rejections.'),
  address: text('Address of the client that did it; empty if it is not known.'),
  detail: text('The grant, or what was saved; the reason of a rejection and, after `from`, the addresses.'),
  count: Type.Integer({ description: 'Number of times within a minute.' }),
});
export type KeyEntry = Static<typeof KEY_ENTRY>;

/** A deletion of events that is done, running or planned. */
export const DELETION = Type.Object({
  id: textOrNull('Null for a dry run.'),
  state: oneOf(['planned', 'running', 'done', 'failed']),
  accepted_at: textOrNull(
    'ISO 8601. Events acknowledged before are deleted, events sent afterwards stay. Null for a dry run.',
  ),
  project: text('Empty: events that belong to no project.'),
  before: textOrNull('Only events before it.'),
  rows: Type.Integer({ description: 'Events in all.' }),
  sources: list(
    Type.Object({ source: text(), rows: Type.Integer() }),
    'Sources that had such events when it was accepted.',
  ),
  left_out: list(
    Type.Object({ source: text(), rows: Type.Integer() }),
    'Protected sources that have such events: these stay.',
  ),
  progress: orNull(
    Type.Object(
      { source: text(), parts_left: Type.Integer() },
      {
        description:
          'While it runs: the source whose events are being deleted, and the parts of its table left to rewrite.',
      },
    ),
  ),
  error: textOrNull('Why it failed.'),
});
export type DeletionView = Static<typeof DELETION>;

/** A search that a team keeps. */
export const SAVED_SEARCH = Type.Object({
  id: UUID,
  name: text(),
  title: text(),
  description: text(),
  search: Type.Record(Type.String(), Type.String(), { description: "As in the console's address." }),
});
export type SavedSearchView = Static<typeof SAVED_SEARCH>;

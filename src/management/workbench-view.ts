import { type Static, Type } from 'typebox';
import { count, flag, instant, list, oneOf, text, textOrNull, texts } from '../lib/schema.ts';
import { CHART, COLUMN, PARAMETER } from './view.ts';

// As view.ts: the console imports this file, so this file must not import the service.

/** The completions of the workbench's editor, and whether it may save. */
export const WORKBENCH = Type.Object({
  may_edit: flag(),
  reason: textOrNull('Why it may not save.'),
  notice: textOrNull('What the first save does besides.'),
  alerts: Type.Object({
    reason: textOrNull('Why it may not save alerts.'),
    receivers: texts('Names of the receivers.'),
  }),
  dashboards: Type.Object({
    reason: textOrNull('Why it may not save dashboards.'),
  }),
  searches: Type.Object({
    reason: textOrNull('Why it may not save searches.'),
  }),
  functions: list(Type.Object({ name: text() })),
  tables: list(
    Type.Object({
      name: text(),
      source: text(),
      columns: list(Type.Object({ name: text(), type: text('Type of the engine.'), description: text() })),
    }),
  ),
  parameter_types: texts(),
});
export type WorkbenchView = Static<typeof WORKBENCH>;

/** The two files of an endpoint as texts. */
export const ENDPOINT_FILES = Type.Object({
  name: text(),
  definition: text('endpoint.yaml'),
  sql: text('query.sql'),
  version: text('Version of both; a save names it.'),
  may_edit: flag(),
});
export type EndpointFiles = Static<typeof ENDPOINT_FILES>;

/** A search as the files of an endpoint. */
export const SEARCH_DRAFT = Type.Object({
  name: text('A name that no endpoint has.'),
  definition: text('endpoint.yaml, without `id`'),
  sql: text('query.sql'),
  test: Type.Union([text(), Type.Null()], {
    description: 'A file of tests; null if no event was found that a test could have.',
  }),
  values: Type.Record(Type.String(), Type.String(), {
    description: 'Values of its parameters with which it returns what the search does.',
  }),
});
export type SearchDraftView = Static<typeof SEARCH_DRAFT>;

const RESULT_COLUMNS = list(
  Type.Object(
    { name: text(), type: COLUMN.properties.type },
    { description: 'Columns as declared, else as the engine reports them.' },
  ),
);

/** The response to a run except its rows, which are the engine's bytes. */
export const RUN_REPORT = Type.Object({
  columns: RESULT_COLUMNS,
  charts: list(CHART, 'As the draft declares them.'),
  parameters: list(PARAMETER),
  rows_read: count('Rows that the engine has read.'),
  bytes_read: count('Uncompressed bytes that the engine has read.'),
  engine_ms: Type.Number(),
  truncated: flag('Whether there are more than max_rows rows.'),
  now: instant('`@now` of the query.'),
});
export type RunReport = Static<typeof RUN_REPORT>;

export const DRAFT_CHECK = Type.Object({
  parameters: list(PARAMETER),
  columns: RESULT_COLUMNS,
  errors: list(
    Type.Object({
      parameter: oneOf(['definition', 'sql']),
      message: text(),
      line: Type.Optional(Type.Integer({ description: 'From 1.' })),
      column: Type.Optional(Type.Integer({ description: 'From 1.' })),
    }),
  ),
});
export type DraftCheck = Static<typeof DRAFT_CHECK>;

export const SAVED_ENDPOINT = Type.Object({
  name: text(),
  version: text(),
  tests: list(Type.Object({ name: text(), passed: flag(), message: text() })),
});
export type SavedEndpoint = Static<typeof SAVED_ENDPOINT>;

export const SAVED_TEST = Type.Object({
  file: text('In the folder of the endpoint.'),
  tests: SAVED_ENDPOINT.properties.tests,
});
export type SavedTest = Static<typeof SAVED_TEST>;

/** The file of an alert as a text. */
export const ALERT_FILE = Type.Object({
  name: text(),
  definition: text(),
  version: text('A save names it.'),
  may_edit: flag(),
});
export type AlertFile = Static<typeof ALERT_FILE>;

export const ALERT_CHECK = Type.Object({ errors: DRAFT_CHECK.properties.errors });

export const SAVED_ALERT = Type.Object({ name: text(), version: text() });
export type SavedAlert = Static<typeof SAVED_ALERT>;

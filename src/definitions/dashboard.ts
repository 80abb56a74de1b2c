import { type Static, Type } from 'typebox';
import { closed, listOf, oneOf, optional, shortText } from '../lib/schema.ts';
import { CHART_COLUMNS, CHART_TITLE, CHART_UNIT, PANEL_KINDS } from './chart.ts';
import { ENDPOINT_NAME } from './endpoint.ts';
import { createFileKind, type Defined } from './file-kind.ts';
import { CALL_VALUES, PARAMETER_NAME, SCALAR, toCallTexts } from './parameter-type.ts';
import { UUID_TEXT } from './source-file.ts';
import type { FieldFaults } from './yaml-file.ts';

const HEIGHT_PX = 220;
const RANGE = {
  pattern: '^(?:[1-9][0-9]{0,3}[mh]|[1-9][0-9]{0,2}d)$',
  expected: 'a number of minutes, hours or days, such as 30m, 24h or 7d',
};

const PANEL = closed(
  optional({
    endpoint: shortText(100, { expected: 'the name or UUID of an endpoint' }),
    parameters: CALL_VALUES,
    show: oneOf(PANEL_KINDS),
    title: CHART_TITLE,
    columns: CHART_COLUMNS,
    unit: CHART_UNIT,
    text: shortText(4_000),
  }),
);

const ROW = closed({
  height: Type.Optional(Type.Integer({ minimum: 80, maximum: 1_000, unit: 'pixels' })),
  panels: listOf(PANEL, [1, 6], 'panels'),
});

export const DASHBOARD_FILE = closed({
  id: UUID_TEXT,
  name: ENDPOINT_NAME,
  title: CHART_TITLE,
  ...optional({
    description: Type.String({ maxLength: 1_000 }),
    range: Type.String(RANGE),
    parameters: Type.Record(PARAMETER_NAME, SCALAR, {
      ...{ additionalProperties: false, maxProperties: 20 },
      expected: 'a map of at most 20 parameters with their defaults',
    }),
  }),
  rows: listOf(ROW, [1, 20], 'rows'),
});

type DashboardFile = Static<typeof DASHBOARD_FILE>;
type PanelFile = Static<typeof PANEL>;

/** The files of dashboards, checked for the faults that do not need their endpoints. */
export const DASHBOARDS = createFileKind('dashboard', DASHBOARD_FILE, {
  find: findFaults,
  create: createDashboard,
});

/** A page of panels, each an endpoint or a text. */
export type Dashboard = Defined<typeof DASHBOARDS>;
export type DashboardPanel = Dashboard['rows'][number]['panels'][number];

function* findFaults({ rows }: DashboardFile): FieldFaults {
  for (const [row, { panels }] of rows.entries())
    for (const [i, panel] of panels.entries())
      for (const [field, message] of findPanelFaults(panel))
        yield [['rows', row, 'panels', i, field], message];
}

const OF_ENDPOINTS = ['endpoint', 'parameters', 'columns', 'unit'] as const;

/** Checks that a panel is a text, or an endpoint with what is said about it. */
function* findPanelFaults(panel: PanelFile): Generator<readonly [keyof PanelFile, string]> {
  if (panel.show === 'text') {
    if (panel.text === undefined) yield ['text', '"text" is missing: the text that the panel shows'];
    for (const field of OF_ENDPOINTS)
      if (panel[field] !== undefined)
        yield [field, `"${field}" is of an endpoint; remove it or "show: text"`];
    return;
  }
  if (panel.endpoint === undefined)
    yield ['endpoint', '"endpoint" is missing: name one, or write "show: text" and "text"'];
  if (panel.text !== undefined) yield ['text', '"text" needs "show: text"'];
}

const DAY_SECONDS = 86_400;
const UNIT_SECONDS: Readonly<Record<string, number>> = { m: 60, h: 3600, d: DAY_SECONDS };

function createDashboard({ name, title, description = '', range = '24h', ...fields }: DashboardFile) {
  const defaults = Object.entries(fields.parameters ?? {}).map(([key, value]) => [key, String(value)]);
  return {
    ...{ name, title, description },
    /** The time before now that panels show at first. */
    rangeSeconds: Number.parseInt(range, 10) * (UNIT_SECONDS[range.at(-1) ?? ''] ?? DAY_SECONDS),
    /** Defaults of the parameters that the panels share, as texts. */
    parameters: Object.fromEntries(defaults) as Readonly<Record<string, string>>,
    rows: fields.rows.map(({ height = HEIGHT_PX, panels }) => ({
      heightPx: height,
      panels: panels.map(({ parameters, columns = [], ...panel }) => ({
        ...panel, // without `show` as the endpoint's chart
        /** Texts as in a query string; they override those that are shared. */
        parameters: toCallTexts(parameters),
        /** Values of the chart; empty: as the endpoint's chart. */
        columns,
      })),
    })),
  };
}

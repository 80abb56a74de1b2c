import { type Static, Type } from 'typebox';
import type { Fault } from '../errors.ts';
import { CHART_COLUMNS, CHART_TITLE, CHART_UNIT, PANEL_KINDS, type PanelKind } from './chart.ts';
import { ENDPOINT_NAME } from './endpoint.ts';
import { createShapeCheck } from './shape.ts';
import { UUID_TEXT } from './source-file.ts';
import { checkUnique, readYamlFolder, type YamlFile } from './yaml-file.ts';

/** A page of panels, each an endpoint. */
export interface Dashboard {
  readonly id: string;
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** The time before now that panels show at first. */
  readonly rangeSeconds: number;
  /** Defaults of the parameters that the panels share, as texts. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly rows: readonly DashboardRow[];
  readonly file: string;
  readonly fault: YamlFile['fault'];
}

interface DashboardRow {
  readonly heightPx: number;
  readonly panels: readonly DashboardPanel[];
}

export interface DashboardPanel {
  /** Name or UUID; `undefined` for a text. */
  readonly endpoint: string | undefined;
  /** Texts as in a query string; they override those that are shared. */
  readonly parameters: Readonly<Record<string, string | readonly string[]>>;
  /** `undefined`: as the endpoint's chart. */
  readonly show: PanelKind | undefined;
  readonly title: string | undefined;
  /** Values of the chart; empty: as the endpoint's chart. */
  readonly columns: readonly string[];
  readonly unit: string | undefined;
  readonly text: string | undefined;
}

const MAP = { additionalProperties: false, expected: 'a map of fields' };
const SCALAR = Type.Union([Type.String(), Type.Number(), Type.Boolean()], {
  expected: 'a string, a number, true or false',
});
const PARAMETER_VALUES_MAX = 1_000;
const PARAMETERS_MAX = 20;
const ROWS_MAX = 20;
const PANELS_MAX = 6;
const HEIGHT_PX_MIN = 80;
const HEIGHT_PX_MAX = 1_000;
const HEIGHT_PX = 220;
const TEXT_CHARS_MAX = 4_000;
const DESCRIPTION_CHARS_MAX = 1_000;
const RANGE = {
  pattern: '^(?:[1-9][0-9]{0,3}[mh]|[1-9][0-9]{0,2}d)$',
  expected: 'a number of minutes, hours or days, such as 30m, 24h or 7d',
};
const PARAMETER_NAME = '^(?!__proto__$)[A-Za-z_][A-Za-z0-9_]{0,62}$';

const PANEL = Type.Object(
  {
    endpoint: Type.Optional(
      Type.String({ minLength: 1, maxLength: 100, expected: 'the name or UUID of an endpoint' }),
    ),
    parameters: Type.Optional(
      Type.Record(
        Type.String({ pattern: PARAMETER_NAME }),
        Type.Union([SCALAR, Type.Array(SCALAR, { maxItems: PARAMETER_VALUES_MAX })], {
          expected: 'the value of a parameter, or a list of values',
        }),
        { additionalProperties: false, expected: 'a map of parameters' },
      ),
    ),
    show: Type.Optional(Type.Enum([...PANEL_KINDS], { expected: `one of ${PANEL_KINDS.join(', ')}` })),
    title: Type.Optional(CHART_TITLE),
    columns: Type.Optional(CHART_COLUMNS),
    unit: Type.Optional(CHART_UNIT),
    text: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: TEXT_CHARS_MAX,
        expected: `a string of 1 to ${TEXT_CHARS_MAX} characters`,
      }),
    ),
  },
  MAP,
);

export const DASHBOARD_FILE = Type.Object(
  {
    id: UUID_TEXT,
    name: ENDPOINT_NAME,
    title: CHART_TITLE,
    description: Type.Optional(
      Type.String({
        maxLength: DESCRIPTION_CHARS_MAX,
        expected: `a string of at most ${DESCRIPTION_CHARS_MAX} characters`,
      }),
    ),
    range: Type.Optional(Type.String(RANGE)),
    parameters: Type.Optional(
      Type.Record(Type.String({ pattern: PARAMETER_NAME }), SCALAR, {
        additionalProperties: false,
        maxProperties: PARAMETERS_MAX,
        expected: `a map of at most ${PARAMETERS_MAX} parameters with their defaults`,
      }),
    ),
    rows: Type.Array(
      Type.Object(
        {
          height: Type.Optional(
            Type.Integer({
              minimum: HEIGHT_PX_MIN,
              maximum: HEIGHT_PX_MAX,
              expected: `a whole number of pixels from ${HEIGHT_PX_MIN} to ${HEIGHT_PX_MAX}`,
            }),
          ),
          panels: Type.Array(PANEL, {
            minItems: 1,
            maxItems: PANELS_MAX,
            expected: `a list of 1 to ${PANELS_MAX} panels`,
          }),
        },
        MAP,
      ),
      { minItems: 1, maxItems: ROWS_MAX, expected: `a list of 1 to ${ROWS_MAX} rows` },
    ),
  },
  MAP,
);

type DashboardFile = Static<typeof DASHBOARD_FILE>;
type PanelFile = Static<typeof PANEL>;

/** Finds faults of shape: unknown, missing or wrong fields. */
const checkDashboardShape = createShapeCheck(DASHBOARD_FILE);

/** Finds the faults of a file that do not need its endpoints. */
export function checkDashboard(file: YamlFile): Fault[] {
  const shape = checkDashboardShape(file);
  if (shape.length > 0) return shape;
  return dashboardFields(file).rows.flatMap(({ panels }, row) =>
    panels.flatMap((panel, i) =>
      [...findPanelFaults(panel)].map(([field, message]) =>
        file.fault(['rows', row, 'panels', i, field], message),
      ),
    ),
  );
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

function dashboardFields(file: YamlFile): DashboardFile {
  return file.value as DashboardFile; // checkDashboard has called checkDashboardShape
}

const DAY_SECONDS = 86_400;
const UNIT_SECONDS: Readonly<Record<string, number>> = { m: 60, h: 3600, d: DAY_SECONDS };

/** Creates the dashboard of a file in which `checkDashboard` found no fault. */
export function createDashboard(file: YamlFile): Dashboard {
  const fields = dashboardFields(file);
  const { range = '24h' } = fields;
  const defaults = Object.entries(fields.parameters ?? {}).map(([name, value]) => [name, String(value)]);
  return {
    id: fields.id.toLowerCase(),
    name: fields.name,
    title: fields.title,
    description: fields.description ?? '',
    rangeSeconds: Number.parseInt(range, 10) * (UNIT_SECONDS[range.at(-1) ?? ''] ?? DAY_SECONDS),
    parameters: Object.fromEntries(defaults),
    rows: fields.rows.map(({ height, panels }) => ({
      heightPx: height ?? HEIGHT_PX,
      panels: panels.map(createPanel),
    })),
    file: file.file,
    fault: file.fault,
  };
}

function createPanel({
  endpoint,
  parameters = {},
  show,
  title,
  columns,
  unit,
  text,
}: PanelFile): DashboardPanel {
  const texts = Object.entries(parameters).map(([name, value]) => [
    name,
    typeof value === 'object' ? value.map(String) : String(value),
  ]);
  return {
    ...{ endpoint, parameters: Object.fromEntries(texts), show, title },
    ...{ columns: columns ?? [], unit, text },
  };
}

/**
 * Reads the dashboards of a folder. Adds every fault that does not need endpoints.
 *
 * @param dir `undefined`: there are none
 */
export async function readDashboards(dir: string | undefined, faults: Fault[]): Promise<Dashboard[]> {
  if (dir === undefined) return [];
  const files = await readYamlFolder(dir, faults);
  faults.push(...checkUnique(files, ['id', 'name']));
  return files.flatMap((file) => {
    const own = checkDashboard(file);
    faults.push(...own);
    return own.length === 0 ? [createDashboard(file)] : [];
  });
}

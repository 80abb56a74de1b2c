import { isMap, parseDocument, stringify, type YAMLMap } from 'yaml';
import type { EndpointView } from '../../../../src/management/view.ts';
import type { RunReport } from '../../../../src/management/workbench-view.ts';
import type { Values } from '../../format/values.ts';
import type { Table, Word } from '../../ui/editor/completion.ts';
import { type Base, toBase } from './work.ts';

const NOW: Word = { name: 'now', type: 'instant', description: 'Instant of the query, UTC.' };
const PAGE = ['page_from', 'page_until'];

/** The fields of an endpoint.yaml under work that the workbench reads; wrong ones are missing. */
export function readOutline(definition: string) {
  const { contents } = parseDocument(definition, { merge: true });
  const root = isMap(contents) ? contents : undefined;
  const columns = fieldsOf(root, 'columns');
  const added = root?.has('cursor') === true ? PAGE : [];
  const parameters: Word[] = [...fieldsOf(root, 'parameters'), NOW, ...added.map((name) => ({ name }))];
  return {
    name: String(root?.get('name') ?? ''),
    parameters,
    columns: new Map(columns.map(({ name, description }) => [name, description])),
  };
}

function fieldsOf(root: YAMLMap | undefined, field: string) {
  const map = root?.get(field);
  if (!isMap(map)) return [];
  return map.items.map(({ key, value }) => ({
    name: String(key),
    type: isMap(value) ? String(value.get('type') ?? '') : '',
    description: isMap(value) ? String(value.get('description') ?? '') : '',
  }));
}

/** Writes `columns` as the query returns them, with the descriptions there, those of `tables`, or the name in words. */
export function withColumns(
  definition: string,
  columns: RunReport['columns'],
  tables: readonly Table[],
): string {
  const written = readOutline(definition).columns;
  const known = new Map(tables.flatMap((table) => table.columns.map((one) => [one.name, one.description])));
  const lines = columns.map(({ name, type }) => {
    const description = written.get(name) || known.get(name) || sentence(name);
    return `  ${scalar(name)}: { type: ${type}, description: ${scalar(description)} }`;
  });
  return replaceField(definition, 'columns', `columns:\n${lines.join('\n')}`);
}

/** The definition under another name. A copy has no id: the service gives it one. */
export function withName(definition: string, name: string, isCopy: boolean): string {
  const named = replaceField(definition, 'name', `name: ${scalar(name)}`);
  return isCopy ? named.replace(fieldOf('id'), '').trimStart() : named;
}

/** Replaces the lines of a field at the top level, or adds them at the end. */
function replaceField(definition: string, field: string, lines: string): string {
  const pattern = fieldOf(field);
  if (pattern.test(definition)) return definition.replace(pattern, () => lines);
  return `${definition.trimEnd()}\n${lines}\n`.trimStart();
}

/** A field at the top level, to the end of its value: without the empty lines and comments that follow. */
function fieldOf(name: string): RegExp {
  return new RegExp(`^["']?${name}["']?[ \\t]*:.*(?:\\n(?:[ \\t]*(?:#.*)?\\n)*[ \\t]+[^\\s#].*)*`, 'm');
}

function scalar(text: string): string {
  const plain = stringify(text, { lineWidth: 0 }).trimEnd();
  return /[,[\]{}\n]/.test(plain) && !/^["']/.test(plain) ? JSON.stringify(text) : plain;
}

function sentence(name: string): string {
  const words = name.replaceAll('_', ' ').trim();
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
}

/** A new endpoint: events of a table by hour, which a chart can show at once. Without columns it can be replaced by any other query. */
export function newEndpoint(tables: readonly Table[]): Base {
  const table = tables.find(({ columns }) => columns.some(({ name }) => name === 'project'));
  return toBase({
    version: null,
    definition: `name: my.endpoint
description: Events of a project by hour, over the last day.
max_rows: 1000
caching: disabled
parameters:
  project: { type: string, required: true, description: Reference of the project. }
`,
    sql: `SELECT
  formatDateTime(toStartOfHour(e.timestamp), '%Y-%m-%dT%H:%i:%S') AS timestamp,
  count() AS count
FROM ${table?.name ?? 'edge_logs'} AS e
WHERE e.project = @project
  AND e.timestamp > toDateTime64(@now, 6, 'UTC') - INTERVAL 1 DAY
GROUP BY timestamp
ORDER BY timestamp
`,
  });
}

const NUMERIC: readonly string[] = ['integer', 'number'];

type Asked = Pick<EndpointView, 'name' | 'description' | 'parameters'> & {
  readonly columns: readonly Pick<EndpointView['columns'][number], 'name' | 'type'>[];
};

/** A new alert on an endpoint, by a name that no alert has, with what else its file may say. */
export function newAlert(
  endpoint: Asked | undefined,
  parameters: Values,
  { taken, receivers }: Readonly<Record<'taken' | 'receivers', readonly string[]>>,
): string {
  const { name = 'my.endpoint', description = 'What it is about.', columns = [] } = endpoint ?? {};
  const required = endpoint?.parameters.filter((one) => one.required && one.default === '') ?? [];
  const values = columns.filter((column) => column.name !== 'timestamp' && column.type !== 'json');
  const numbers = values.filter(({ type }) => NUMERIC.includes(type)).map((column) => column.name);
  const labels = values.filter(({ type }) => !NUMERIC.includes(type)).map((column) => column.name);
  const [column] = numbers;
  const given = [
    ...required.map((one) => [one.name, '']),
    ...Object.entries(parameters).filter(([, value]) => value !== ''),
  ];
  const text = stringify(
    {
      ...{ name: findFree(name, taken), description, endpoint: name },
      ...(given.length > 0 && { parameters: Object.fromEntries(given) }),
      every: 60,
      when: column === undefined ? 'rows' : { column, above: 0 },
      for: 0,
      text: column === undefined ? `${name} has rows` : `${name}: ${column} is {{ ${column} }}`,
      to: receivers.length > 0 ? receivers.slice(0, 1) : ['ops'],
    },
    { lineWidth: 0 },
  );
  return `${text}# when: also below and equals${numbers.length > 1 ? `; columns: ${numbers.join(', ')}` : ''}
# for: seconds that it has to hold before it fires
# to: ${receivers.length > 0 ? receivers.join(', ') : 'a receiver, which TAILRACE_RECEIVERS_FILE has to name'}
${labels.length > 0 ? `# per: [${labels.join(', ')}]  an instance for each set of their values\n` : ''}`;
}

/** Returns the name, or with the first number that makes it one which is not taken: `errors.2`. */
function findFree(name: string, taken: readonly string[]): string {
  let free = name;
  for (let number = 2; taken.includes(free); number++) free = `${name}.${number}`;
  return free;
}

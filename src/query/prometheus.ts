import { type Endpoint, isAdHoc, type ResultColumn, toToolName } from '../definitions/endpoint.ts';
import { TIME_COLUMN } from '../definitions/pages.ts';
import { identifier, join, type Sql, sql, textOf, trusted } from '../sql/sql.ts';

// Aliases of the statement have characters that no column of an endpoint has.
const LABELS = identifier('#labels');
const VALUES = identifier('#values');
const TIME = identifier('#time');
const AGE = identifier('#age');
const PLACE = identifier('#place');
const VALUE = identifier('#value');
const FIRST = identifier('#first');
const ALL = identifier('#all');
const SAME_LABELS =
  'several rows have the same labels, so Prometheus would keep one of them: return one row for ' +
  'each, or give each its own text';

const isNumeric = ({ type }: ResultColumn) => type === 'integer' || type === 'number';

/**
 * The columns of an answer as Prometheus reads them: each number is a metric. Only rows of the latest time are written
 * of those with the same labels.
 */
function findSampleColumns({ columns }: Pick<Endpoint, 'columns'>) {
  const time = columns.find(
    ({ name, type }) => name === TIME_COLUMN && (type === 'integer' || type === 'string'),
  );
  const others = columns.filter((column) => column !== time);
  const numbers = others.filter(isNumeric);
  return {
    numbers: time !== undefined && isNumeric(time) && numbers.length > 0 ? [...numbers, time] : numbers,
    labels: others.filter((column) => !isNumeric(column)),
    time,
  };
}

/** Returns why the answers of an endpoint cannot be samples; `undefined` if they can. */
export function findPrometheusFault(endpoint: Pick<Endpoint, 'columns' | 'sqlOrigin'>): string | undefined {
  if (isAdHoc(endpoint))
    return (
      'prometheus needs declared columns, which a SELECT of your own does not have; leave out ' +
      '"sql", or choose another format'
    );
  const { numbers, labels } = findSampleColumns(endpoint);
  if (numbers.length === 0)
    return 'prometheus needs an integer or number column besides the time, and this answer has none; choose another format';
  const reserved = labels.find(({ name }) => toLabelName(name).startsWith('__'));
  if (reserved === undefined) return undefined;
  return (
    `prometheus keeps names that begin with __ for itself: rename the column ${reserved.name}, ` +
    'or choose another format'
  );
}

/** A name of a column, or of a field of a search, as Prometheus allows it. */
function toLabelName(name: string): string {
  return name.replaceAll(/\W/g, '_').replace(/^(?=\d)/, '_');
}

/**
 * Writes a SELECT of the text format 0.0.4: a sample for each row and numeric column, by metric, in an order of the rows
 * only. The engine's own format `Prometheus` would escape more in labels than readers accept.
 */
export function writeSamples(endpoint: Endpoint, rows: string): string {
  const { numbers, labels, time } = findSampleColumns(endpoint);
  const names = numbers.map(({ name }) => toLabelName(`${toToolName(endpoint.name)}_${name}`));
  const heads = numbers.map(
    ({ name, description }, i) =>
      sql`${`# HELP ${names[i]} ${escapeHelp(description)}\n# TYPE ${names[i]} ${typeOf(name)}\n`}`,
  );
  const list = (items: readonly Sql[]) => sql`[${join(items, ', ')}]`;
  const texts = list([sql`''`, ...labels.map(writeLabel)]); // an empty list would have no type
  const samples = sql`SELECT arrayStringConcat(arrayFilter(x -> x != '', ${texts}), ',') AS ${LABELS},
${list(numbers.map(writeNumber))} AS ${VALUES},
    ${time === undefined ? sql`0` : identifier(time.name)} AS ${TIME} FROM (${trusted(rows)})`;
  const newest = sql`SELECT ${LABELS}, ${VALUES},
    rank() OVER (PARTITION BY ${LABELS} ORDER BY ${TIME} DESC) AS ${AGE} FROM (${samples})`;
  const unique = sql`SELECT ${LABELS}, any(${VALUES}) AS ${ALL} FROM (${newest}) WHERE ${AGE} = 1
GROUP BY ${LABELS} HAVING NOT throwIf(count() > 1, ${SAME_LABELS})`;
  const placed = sql`SELECT ${LABELS}, ${VALUE}, ${PLACE},
    row_number() OVER (PARTITION BY ${PLACE} ORDER BY ${LABELS}) = 1 AS ${FIRST}
FROM (${unique}) ARRAY JOIN ${ALL} AS ${VALUE}, arrayEnumerate(${ALL}) AS ${PLACE} WHERE ${VALUE} != ''`;
  return textOf(sql`SELECT concat(if(${FIRST}, ${list(heads)}[${PLACE}], ''),
    ${list(names.map((name) => sql`${name}`))}[${PLACE}],
if(${LABELS} = '', '', concat('{', ${LABELS}, '}')), ' ', ${VALUE}) FROM (${placed}) ORDER BY ${PLACE}, ${LABELS}`);
}

/** By the name, as Prometheus does: `requests_total` only grows. */
function typeOf(column: string): 'counter' | 'gauge' {
  return column.endsWith('_total') ? 'counter' : 'gauge';
}

/** A label with its value, or nothing: to Prometheus an empty label is none. */
function writeLabel({ name }: ResultColumn): Sql {
  const text = sql`ifNull(toValidUTF8(toString(${identifier(name)})), '')`;
  // Some readers end at a NUL.
  const escaped = [
    ['\\', '\\\\'],
    ['"', '\\"'],
    ['\n', '\\n'],
    ['\0', '\u{FFFD}'],
  ].reduce((value, [from = '', to = '']) => sql`replaceAll(${value}, ${from}, ${to})`, text);
  return sql`if(${text} = '', '', concat(${`${toLabelName(name)}="`}, ${escaped}, '"'))`;
}

/** A number as text; empty for NULL, which has none. */
function writeNumber({ name }: ResultColumn): Sql {
  const text = sql`ifNull(toString(${identifier(name)}), '')`;
  return sql`transform(${text}, ['nan', '-nan', 'inf', '-inf'], ['NaN', 'NaN', '+Inf', '-Inf'], ${text})`;
}

function escapeHelp(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

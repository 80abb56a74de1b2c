/** Texts that keep the engine busy, or stop it. */

const repeat = (n: number, first: string, around: (text: string, i: number) => string) =>
  Array.from({ length: n }).reduce<string>((text, _, i) => around(text, i), first);
const list = (n: number, member: (i: number) => string, separator = ', ') =>
  Array.from({ length: n }, (_, i) => member(i)).join(separator);

// The engine's loader of time zones opens any of these, and never closes it, or keeps it forever.
const BAD_ZONES = [
  ...['file:/dev/ptmx', '/etc/passwd', '../../../dev/ptmx', 'Europe/./Berlin', 'Fixed/UTC+01:02:03'],
  ...['europe/berlin', 'libc:UTC', 'localtime', ''],
];

/** Calls, with `?` where their zone is. */
const ZONED_CALLS = [
  'toDateTime64(@now, 6, ?)',
  'parseDateTimeBestEffort(@now, ?)',
  "formatDateTime(timestamp, '%Y', ?)",
  'toHour(timestamp, ?)',
  'toStartOfInterval(timestamp, INTERVAL 1 DAY, toDateTime(0), ?)',
  'timestamp AT TIME ZONE ?',
  'arrayMap(t -> toHour(t, ?), [timestamp])',
  '(SELECT toHour(timestamp, ?) FROM app LIMIT 1)',
];

// Not written out, so that no check can read them.
const UNKNOWN_ZONES = [
  ...["concat('file:', '/dev/ptmx')", 'id', '@project', '(SELECT id FROM app LIMIT 1)'],
  ...["if(1, 'file:/dev/ptmx', 'UTC')", "['file:/dev/ptmx'][1]", "materialize('UTC')", "'UTC' || ''"],
];

const ZONES = [
  ...ZONED_CALLS.flatMap((call, i) => [
    call.replace('?', `'${BAD_ZONES[i % BAD_ZONES.length]}'`),
    call.replace('?', UNKNOWN_ZONES[i % UNKNOWN_ZONES.length] ?? ''),
  ]),
  ...BAD_ZONES.map((zone) => `@now::DateTime64(3, '${zone}')`),
  "CAST((@now, 1) AS Tuple(LowCardinality(DateTime('file:/dev/ptmx')), Int8))",
  "toTimezone(timestamp, '\\x66ile:/dev/ptmx')",
  'toTimezone(timestamp, $$file:/dev/ptmx$$)',
  "CAST(@now, 'DateTime(\\'file:/dev/ptmx\\')')",
  'CAST(@now, \'DateTime("file:/dev/ptmx")\')',
  "CAST(@now, concat('DateTime(', '\\'file:/dev/ptmx\\')'))",
  "arrayMap(toHour, [timestamp], ['file:/dev/ptmx'])",
  "mapApply(toString, map(timestamp, 'file:/dev/ptmx'))",
  "arrayMap((t, z) -> toHour(t, z), [timestamp], ['file:/dev/ptmx'])",
].map((call) => `SELECT ${call} FROM app`);
const ZONES_BY_NAME = [
  "WITH 'file:/dev/ptmx' AS zone SELECT toHour(timestamp, zone) FROM app",
  "WITH hour AS f SELECT arrayMap(f, [timestamp], ['file:/dev/ptmx']) FROM app",
  "WITH z AS (SELECT 'file:/dev/ptmx' AS zone) SELECT toHour(timestamp, zone) FROM app, z",
  "SELECT toHour(timestamp, zone) FROM app ARRAY JOIN ['file:/dev/ptmx'] AS zone",
];

const NESTED_VALUES = [5, 12, 31].flatMap((n) => [
  repeat(n, 'SELECT 1', (text) => `SELECT 1 WHERE 1 IN (${text})`),
  repeat(n, 'SELECT id FROM app', (text) => `SELECT id FROM app WHERE in(id, (${text}))`),
  repeat(n, 'SELECT 1', (text) => `SELECT 1 WHERE EXISTS (${text})`),
  repeat(n, 'SELECT 1', (text) => `SELECT (${text}) + 1`),
  repeat(n, 'SELECT 1', (text) => `SELECT 1 = ANY (${text})`),
  repeat(n, 'SELECT 1', (text, i) => `WITH (${text}) AS s${i} SELECT s${i}`),
  repeat(n, 'SELECT 1 AS x', (text) => `SELECT x FROM (SELECT 1 AS x WHERE 1 IN (${text}))`),
]);

const VIEW_FORMS = [
  (c: string) => `SELECT a.id FROM ${c} AS a JOIN ${c} AS b ON a.id = b.id`,
  (c: string) => `SELECT id FROM ${c} UNION ALL SELECT id FROM ${c}`,
  (c: string) => `SELECT id FROM ${c} WHERE id IN (SELECT id FROM ${c})`,
  (c: string) => `SELECT (SELECT id FROM ${c}) + (SELECT id + 1 FROM ${c}) AS id`,
];
const VIEWS = [7, 20].flatMap((n) =>
  VIEW_FORMS.map((next) => {
    const views = list(n, (i) => `c${i} AS (${i === 0 ? 'SELECT id FROM app' : next(`c${i - 1}`)})`);
    return `WITH ${views} SELECT count() FROM c${n - 1}`;
  }),
);

const doubling = (n: number, first: string, next: (before: string) => string) =>
  `SELECT ${first} AS a0, ${list(n, (i) => `${next(`a${i}`)} AS a${i + 1}`)} FROM app`;
const ALIASES = [14, 100].flatMap((n) => [
  doubling(n, '1', (a) => `${a} + ${a}`),
  doubling(n, 'id', (a) => `concat(${a}, ${a})`),
  doubling(n, '(1, 1)', (a) => `(${a}, ${a})`),
  doubling(n, '[status]', (a) => `arrayMap(x -> x + ${a}[1], ${a})`),
]);

const BETWEENS = [17, 60].flatMap((n) => [
  `SELECT ${repeat(n, '1', (text) => `${text} BETWEEN 0 AND 2`)}`,
  `SELECT ${repeat(n, '1', (text) => `abs(${text} NOT BETWEEN 0 AND 2)`)}`,
  `SELECT ${repeat(n, '1', (text) => `CASE WHEN ${text} BETWEEN 0 AND 2 THEN 1 END`)}`,
]);

const GROWN = [
  "WITH (SELECT groupConcat(a.event_message) FROM app AS a, app AS b, app AS c) AS t SELECT countMatches(t, 'G')",
  "WITH (SELECT toString(groupArray(a.id)) FROM app AS a, app AS b, app AS c) AS t SELECT position(t, 'zzz')",
  "SELECT match(t, '(?:.{0,9}){30}~') FROM (SELECT groupConcat(event_message) AS t FROM app)",
  `SELECT match(x, 'a+b') FROM (${repeat(5, 'SELECT id AS x FROM app', (text) => `SELECT concat(x, x, x, x, x, x, x, x) AS x FROM (${text})`)})`,
  "SELECT countMatches(x, 'G') FROM app ARRAY JOIN [groupConcat(event_message)] AS t, [toString(t)] AS x",
  `SELECT ${list(300, (i) => `lower(concat(event_message, '${i}'))`)} FROM app`,
];

const RESCANS = [
  ...['G(.*~)?', 'G.*~|G', '(.+~)*.', '(?s).(.{3,}x)?'].flatMap((pattern) => [
    `SELECT countMatches(event_message, '${pattern}') FROM app`,
    `SELECT replaceRegexpAll(event_message, '${pattern}', '') FROM app`,
  ]),
];

const WIDE = [
  `SELECT ${list(3_000, () => '*')} FROM app`,
  repeat(9, 'SELECT 1 AS x', (text, i) => `SELECT *, * EXCEPT (y) FROM (SELECT *, ${i} AS y FROM (${text}))`),
  `SELECT ${list(200, (i) => `sum(status) OVER (ORDER BY status + ${i})`)} FROM app`,
  'SELECT count() FROM app GROUP BY CUBE(id, status, tags, numbers)',
  `SELECT count() FROM app AS a ${list(20, (i) => `JOIN app AS t${i} ON a.id = t${i}.id`, ' ')}`,
  list(40, () => 'SELECT id FROM app', ' UNION ALL '),
  repeat(13, 'SELECT id FROM app', (text) => `SELECT id FROM (${text})`),
  `SELECT ${'['.repeat(4_000)}1${']'.repeat(4_000)}`,
  `SELECT ${'NOT '.repeat(1_000)}1`,
];

const TUPLES = [
  repeat(9, 'SELECT id AS x FROM app', (text) => `SELECT (x, x, x, x, x, x) AS x FROM (${text})`),
  `WITH ${list(13, (i) => `c${i} AS (${i === 0 ? 'SELECT id AS x FROM app' : `SELECT (x, x, x) AS x FROM c${i - 1}`})`)} SELECT * FROM c12`,
  `SELECT (${list(501, () => 'id')}) FROM app`,
  `SELECT CAST([], '${'Array('.repeat(40)}String${')'.repeat(40)}')`,
];

/** Nobody has created a table `later` yet: what a check finds must not depend on the tables that there are. */
export const LATER_TABLES: readonly string[] = [
  'SELECT * FROM later',
  'SELECT * FROM (WITH later AS (SELECT 1 AS a) SELECT a FROM later) AS t, later',
  'SELECT (WITH later AS (SELECT 1 AS a) SELECT a FROM later), (SELECT a FROM later)',
  'SELECT a FROM later UNION ALL (WITH later AS (SELECT 1 AS a) SELECT a FROM later)',
  'WITH later AS (SELECT id FROM later) SELECT id FROM later',
  'WITH a AS (SELECT id FROM later), later AS (SELECT id FROM app) SELECT id FROM a',
  'WITH later AS (SELECT 1 AS id) SELECT later.id, b.id FROM app AS later, later AS b',
  'WITH a AS (WITH later AS (SELECT id FROM app) SELECT id FROM later) SELECT a.id FROM a JOIN later USING (id)',
  'WITH later AS f SELECT arrayMap(f, [1]) FROM app',
];

/** Kind → texts that are rejected before the engine resolves a name. */
export const ATTACKS: Readonly<Record<string, readonly string[]>> = {
  'time zones': [...ZONES, ...ZONES_BY_NAME],
  'more than 16 BETWEEN': BETWEENS,
  'more than 32 JOIN': [
    `SELECT count() FROM app AS a ${list(33, (i) => `JOIN app AS t${i} ON a.id = t${i}.id`, ' ')}`,
  ],
  'tuples of tuples': TUPLES,
  'patterns that scan a text again and again, or are too large': [
    ...RESCANS,
    "SELECT match(id, '.{0,999}.{0,999}.{0,999}') FROM app",
    `SELECT id LIKE '${'x'.repeat(4_097)}' FROM app`,
  ],
  'lists of each row': [
    'SELECT hasAll([id], [tags]) FROM app',
    'SELECT hasAny([id], arrayMap(x -> id, [1])) FROM app',
  ],
  'names of tables to come': LATER_TABLES,
};

/** Kind → texts that the engine's limits end. */
export const LIMITED: Readonly<Record<string, readonly string[]>> = {
  'SELECTs inside of IN, EXISTS or a value': NESTED_VALUES,
  'views that read a view twice': VIEWS,
  'aliases that use one twice': ALIASES,
  'texts and lists that grew': GROWN,
  'columns, windows, keys, joins, brackets and operators': WIDE,
};

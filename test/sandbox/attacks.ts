// Longer than other files: one list, which is read and changed as a whole.

/** Texts that keep the engine busy, or stop it, while it only reads them. All must be refused before it resolves a name. */

const repeat = (n: number, first: string, around: (text: string, i: number) => string) =>
  Array.from({ length: n }).reduce<string>((text, _, i) => around(text, i), first);
const list = (n: number, member: (i: number) => string, separator = ', ') =>
  Array.from({ length: n }, (_, i) => member(i)).join(separator);

// What the engine's loader of time zones opens, never gives back, or keeps for ever.
const BAD_ZONES = [
  'file:/dev/ptmx',
  'file:/etc/passwd',
  '/dev/ptmx',
  '../../../dev/ptmx',
  'Europe/./Berlin',
  'Europe//Berlin',
  './Europe/Berlin',
  'Fixed/UTC+01:02:03',
  'Fixed/UTC-23:59:59',
  'europe/berlin',
  'libc:UTC',
  'localtime',
  ' UTC',
  '',
];

/** A call, with `?` in the place of its zone. */
const ZONED_CALLS = [
  'toTimezone(timestamp, ?)',
  'toTimeZone(timestamp, ?)',
  'toDateTime(@now, ?)',
  'toDateTime64(@now, 6, ?)',
  'toDateTimeOrNull(@now, ?)',
  'parseDateTimeBestEffort(@now, ?)',
  'parseDateTime64BestEffort(@now, 6, ?)',
  "formatDateTime(timestamp, '%Y', ?)",
  'toHour(timestamp, ?)',
  'toStartOfDay(timestamp, ?)',
  'toStartOfInterval(timestamp, INTERVAL 1 DAY, ?)',
  'toStartOfInterval(timestamp, INTERVAL 1 DAY, toDateTime(0), ?)',
  'toStartOfWeek(timestamp, 1, ?)',
  'toYYYYMMDDhhmmss(timestamp, ?)',
  "dateDiff('day', timestamp, timestamp, ?)",
  "dateTrunc('day', timestamp, ?)",
  "dateName('day', timestamp, ?)",
  'toString(timestamp, ?)',
  'toDate(timestamp, ?)',
  'toUnixTimestamp(@now, ?)',
  'fromUnixTimestamp64Milli(1, ?)',
  "fromUnixTimestamp(1, '%Y', ?)",
  'makeDateTime(2026, 1, 1, 0, 0, 0, ?)',
  'addDays(timestamp, 1, ?)',
  'timestamp AT TIME ZONE ?',
  'CAST(@now AS DateTime(?))',
  'CAST(@now AS Nullable(DateTime64(3, ?)))',
  'CAST([@now] AS Array(DateTime(?)))',
  'CAST((@now, 1) AS Tuple(LowCardinality(DateTime(?)), Int8))',
  '@now::DateTime64(6, ?)',
  "timestamp > '2026-01-01 00:00:00'::DateTime(?)",
  'arrayMap(t -> toHour(t, ?), [timestamp])',
  'maxIf(toHour(timestamp, ?), 1)',
  'count() OVER (ORDER BY toHour(timestamp, ?))',
  '(SELECT toHour(timestamp, ?) FROM app LIMIT 1)',
];

// Not written out: nobody can say what it comes to.
const UNKNOWN_ZONES = [
  "concat('file:', '/dev/ptmx')",
  'id',
  '@project',
  '(SELECT id FROM app LIMIT 1)',
  "if(1, 'file:/dev/ptmx', 'UTC')",
  "['file:/dev/ptmx'][1]",
  "materialize('UTC')",
  "'UTC' || ''",
];

const WITHOUT_TYPE = ZONED_CALLS.filter(
  (call) => !/DateTime(?:64)?\([^(]*\?/.test(call.replace(/toDateTime\w*/, '')),
);

const ZONES = [
  ...ZONED_CALLS.map((call, i) => call.replace('?', `'${BAD_ZONES[i % 9]}'`)),
  ...BAD_ZONES.flatMap((zone) => [`toTimezone(@now, '${zone}')`, `@now::DateTime64(3, '${zone}')`]),
  ...WITHOUT_TYPE.flatMap((call, i) => [
    call.replace('?', UNKNOWN_ZONES[i % UNKNOWN_ZONES.length] ?? ''),
    call.replace('?', UNKNOWN_ZONES[(i + 3) % UNKNOWN_ZONES.length] ?? ''),
  ]),
  "toTimezone(timestamp, '\\x66ile:/dev/ptmx')",
  'toTimezone(timestamp, $$file:/dev/ptmx$$)',
  "CAST(@now, 'DateTime(\\'file:/dev/ptmx\\')')",
  "CAST(@now, 'DateTime(''file:/dev/ptmx'')')",
  "CAST(@now, 'DateTime(`file:/dev/ptmx`)')",
  'CAST(@now, \'DateTime("file:/dev/ptmx")\')',
  "CAST(@now, 'DateTime(/* */\\'file:/dev/ptmx\\')')",
  "CAST(@now, 'DateTime($$file:/dev/ptmx$$)')",
  "CAST(@now, concat('DateTime(', '\\'file:/dev/ptmx\\')'))",
  "cast(@now, 'DateTime(\\'U\\\\x54C\\')')",
  "arrayMap(toTimezone, [timestamp], ['file:/dev/ptmx'])",
  "arrayMap(toHour, [timestamp], ['file:/dev/ptmx'])",
  "arrayMap(hour AS upper, [timestamp], ['file:/dev/ptmx'])",
  "mapApply(toString, map(timestamp, 'file:/dev/ptmx'))",
  "arrayMap((t, z) -> toHour(t, z), [timestamp], ['file:/dev/ptmx'])",
].map((call) => `SELECT ${call} FROM app`);
const ZONES_BY_NAME = [
  "WITH 'file:/dev/ptmx' AS zone SELECT toHour(timestamp, zone) FROM app",
  "WITH (SELECT 'file:/dev/ptmx') AS zone SELECT toHour(timestamp, zone) FROM app",
  "WITH toHour AS upper SELECT arrayMap(upper, [timestamp], ['file:/dev/ptmx']) FROM app",
  "WITH hour AS f SELECT arrayMap(f, [timestamp], ['file:/dev/ptmx']) FROM app",
  "WITH z AS (SELECT 'file:/dev/ptmx' AS zone) SELECT toHour(timestamp, zone) FROM app, z",
  "SELECT 'file:/dev/ptmx' AS zone, toHour(timestamp, zone) FROM app",
  "SELECT toHour(timestamp, zone) FROM app ARRAY JOIN ['file:/dev/ptmx'] AS zone",
];

const DEPTHS = [5, 8, 12, 20, 31];
const deep = (first: string, around: (text: string, i: number) => string) =>
  DEPTHS.map((depth) => repeat(depth, first, around));

const NESTED_VALUES = [
  ...deep('SELECT 1', (text) => `SELECT 1 WHERE 1 IN (${text})`),
  ...deep('SELECT 1', (text) => `SELECT 1 IN (${text})`),
  ...deep('SELECT 1', (text) => `SELECT 1 WHERE 1 NOT IN (${text})`),
  ...deep('SELECT id FROM app', (text) => `SELECT id FROM app WHERE id IN (${text})`),
  ...deep('SELECT id FROM app', (text) => `SELECT id FROM app WHERE in(id, (${text}))`),
  ...deep(
    'SELECT id, status FROM app',
    (text) => `SELECT id, status FROM app WHERE (id, status) IN (${text})`,
  ),
  ...deep('SELECT 1', (text) => `SELECT 1 WHERE EXISTS (${text})`),
  ...deep('SELECT 1', (text) => `SELECT (${text}) + 1`),
  ...deep('SELECT 1', (text) => `SELECT 1 = ANY (${text})`),
  ...deep('SELECT 1', (text) => `SELECT if(1 IN (${text}), 1, 2)`),
  ...deep('SELECT 1', (text, i) => `WITH (${text}) AS s${i} SELECT s${i}`),
  ...deep('SELECT 1 AS x', (text) => `SELECT x FROM (SELECT 1 AS x WHERE 1 IN (${text}))`),
  ...deep('SELECT id FROM app', (text) => `SELECT id FROM app GROUP BY id HAVING id IN (${text})`),
  ...deep('SELECT id FROM app', (text) => `SELECT id FROM app ORDER BY id IN (${text})`),
  ...deep(
    'SELECT id FROM app',
    (text, i) => `SELECT a.id FROM app AS a JOIN app AS b${i} ON a.id = b${i}.id AND a.id IN (${text})`,
  ),
];

const views = (n: number, first: string, next: (before: string) => string, last: (view: string) => string) =>
  `WITH ${list(n, (i) => `c${i} AS (${i === 0 ? first : next(`c${i - 1}`)})`)} ${last(`c${n - 1}`)}`;
const VIEW_FORMS: readonly (readonly [first: string, next: (before: string) => string])[] = [
  ['SELECT id FROM app', (c) => `SELECT a.id FROM ${c} AS a, ${c} AS b`],
  ['SELECT id FROM app', (c) => `SELECT a.id FROM ${c} AS a JOIN ${c} AS b ON a.id = b.id`],
  ['SELECT id FROM app', (c) => `SELECT a.id FROM ${c} AS a JOIN ${c} AS b USING (id)`],
  ['SELECT id FROM app', (c) => `SELECT id FROM ${c} UNION ALL SELECT id FROM ${c}`],
  ['SELECT id FROM app', (c) => `SELECT id FROM ${c} WHERE id IN (SELECT id FROM ${c})`],
  ['SELECT id FROM app', (c) => `SELECT id FROM ${c} INTERSECT SELECT id FROM ${c}`],
  ['SELECT 1 AS id', (c) => `SELECT (SELECT id FROM ${c}) + (SELECT id + 1 FROM ${c}) AS id`],
];
const VIEWS = [7, 12, 20].flatMap((n) =>
  VIEW_FORMS.map(([first, next]) => views(n, first, next, (view) => `SELECT count() FROM ${view}`)),
);

const doubling = (n: number, first: string, next: (before: string) => string, rest = 'FROM app') =>
  `SELECT ${first} AS a0, ${list(n, (i) => `${next(`a${i}`)} AS a${i + 1}`)} ${rest}`;
const ALIASES = [14, 20, 40, 100].flatMap((n) => [
  doubling(n, '1', (a) => `${a} + ${a}`),
  doubling(n, 'status', (a) => `${a} + ${a}`),
  doubling(n, 'id', (a) => `concat(${a}, ${a})`),
  doubling(n, '[1]', (a) => `arrayConcat(${a}, ${a})`),
  doubling(n, '(1, 1)', (a) => `(${a}, ${a})`),
  doubling(n, 'status', (a) => `if(${a} > 1, ${a}, 2)`),
  doubling(n, '[status]', (a) => `arrayMap(x -> x + ${a}[1], ${a})`),
  doubling(n, 'status', (a) => `${a} AND ${a}`, 'FROM app WHERE a5'),
]);

const BETWEENS = [3, 8, 12, 25, 60].flatMap((n) => [
  `SELECT ${repeat(n, '1', (text) => `${text} BETWEEN 0 AND 2`)}`,
  `SELECT ${repeat(n, '1', (text) => `(${text} BETWEEN 0 AND 2)`)}`,
  `SELECT ${repeat(n, '1', (text) => `abs(${text} NOT BETWEEN 0 AND 2)`)}`,
  `SELECT ${repeat(n, '1', (text) => `CASE WHEN ${text} BETWEEN 0 AND 2 THEN 1 END`)}`,
  `SELECT 1${' BETWEEN 0 AND and'.repeat(n)} FROM (SELECT 1 AS and)`,
  `SELECT ${repeat(n, '1', (text) => `[${text} BETWEEN 0 AND 2][1]`)}`,
]);

const grown = (collect: string) => `(SELECT ${collect} FROM app AS a, app AS b, app AS c, app AS d) AS t`;
const COLLECTED = [
  'groupConcat(a.event_message)',
  "groupConcat(',')(a.event_message)",
  'arrayStringConcat(groupArray(a.event_message))',
  'toString(groupArray(a.event_message))',
  'toJSONString(groupUniqArray(a.event_message))',
];
const SEARCHES = [
  "countMatches(t, 'G')",
  "match(t, '(?:.{0,9}){30}~')",
  "extractAll(t, '[A-Z]+')",
  "replaceRegexpAll(t, '[0-9]', 'x')",
  "t LIKE '%a%b%c%'",
  "position(t, 'zzz')",
  "multiSearchAny(t, ['yyy', 'zzz'])",
  "replaceAll(t, 'a', 'b')",
  "hasToken(t, 'zzz')",
  "splitByChar(',', t)",
  "JSONExtractString(t, 'a')",
  'length(lower(t))',
];
const GROWN = [
  ...COLLECTED.flatMap((collect) => SEARCHES.map((search) => `WITH ${grown(collect)} SELECT ${search}`)),
  ...COLLECTED.flatMap((collect) =>
    SEARCHES.slice(0, 5).map(
      (search) => `SELECT ${search} FROM (SELECT ${collect.replaceAll('a.', '')} AS t FROM app)`,
    ),
  ),
  ...SEARCHES.slice(0, 4).map(
    (search) =>
      `WITH v AS (SELECT groupConcat(event_message) FROM app), w(t) AS (SELECT * FROM v) SELECT ${search} FROM w`,
  ),
  ...SEARCHES.slice(0, 4).map(
    (search) => `SELECT ${search} FROM (SELECT id AS t FROM app UNION ALL SELECT groupConcat(id) FROM app)`,
  ),
  ...[2, 5, 9].map(
    (n) =>
      `SELECT match(x, 'a+b') FROM (${repeat(n, 'SELECT event_message AS x FROM app', (text) => `SELECT concat(x, x, x, x, x, x, x, x, x, x, x, x, x) AS x FROM (${text})`)})`,
  ),
  "SELECT match(toString(tuple(*)), 'a') FROM (SELECT groupArray(id) FROM app)",
  `SELECT match(replaceAll(event_message, 'e', '${'x'.repeat(900)}'), 'a') FROM app`,
  'WITH (SELECT groupArray(a.id) FROM app AS a, app AS b, app AS c) AS t SELECT count() FROM app WHERE has(t, id)',
  'WITH (SELECT groupArray(a.id) FROM app AS a, app AS b, app AS c) AS t SELECT arrayCount(x -> has(t, x), t)',
  'WITH (SELECT groupArray(a.id) FROM app AS a, app AS b) AS t SELECT indexOf(t, id), countEqual(t, id) FROM app',
  'SELECT groupArray(100)(x) FROM (SELECT arrayMap(a -> arrayMap(b -> arrayMap(c -> (a, b, c), n), n), n) AS x FROM (SELECT groupArray(status) AS n FROM app))',
  "SELECT has(splitByString('', groupConcat(event_message)), 'a') FROM app",
  // Within its ARRAY JOIN a name stands for the whole list, not for a member.
  ...SEARCHES.slice(0, 3).flatMap((search) => [
    `SELECT ${search.replace('(t', '(x')} FROM app ARRAY JOIN [groupConcat(event_message)] AS t, [toString(t)] AS x`,
    `SELECT u FROM (SELECT groupArray(event_message) AS g FROM app) ARRAY JOIN [${search.replaceAll(/\bt\b/g, 'toString(t)')}] AS u ARRAY JOIN g AS t`,
    `SELECT u FROM (SELECT groupArray(event_message) AS g FROM app) ARRAY JOIN g AS t, [${search.replaceAll(/\bt\b/g, 'toString(t)')}] AS u`,
  ]),
  `SELECT ${list(100, (i) => `JSONExtractInt(groupConcat(tags), 'k${i}')`)} FROM app`,
  `SELECT ${list(300, (i) => `lower(concat(event_message, '${i}'))`)} FROM app`,
  `SELECT ${list(100, (i) => `match(event_message, 'a${i}+')`)} FROM app`,
  `SELECT ${list(50, (i) => `countMatches(event_message, 'a${i}')`)} FROM app`,
];

const RESCANS = [
  'G(.*~)?',
  '.(.*~)?',
  'G.*~|G',
  '(G.*~|G)',
  '(?:G(?:.*~)?)',
  '(.+~)*.',
  '(a[^b]*c){0,1}a',
  '(?s).(.{3,}x)?',
];
const SCANS = RESCANS.flatMap((pattern) => [
  `SELECT countMatches(event_message, '${pattern}') FROM app`,
  `SELECT extractAll(event_message, '${pattern}') FROM app`,
  `SELECT replaceRegexpAll(event_message, '${pattern}', '') FROM app`,
]);

const WIDE = [
  `SELECT ${list(200, () => '*')} FROM app AS a, app AS b`,
  `SELECT ${list(3_000, () => '*')} FROM app`,
  repeat(9, 'SELECT 1 AS x', (text, i) => `SELECT *, * EXCEPT (y) FROM (SELECT *, ${i} AS y FROM (${text}))`),
  repeat(5, 'SELECT * FROM app', (text) => `SELECT *, *, *, * FROM (${text})`),
  repeat(9, 'SELECT id AS x FROM app', (text) => `SELECT (x, x, x, x, x, x) AS x FROM (${text})`),
  repeat(
    9,
    'SELECT numbers AS x FROM app',
    (text) => `SELECT arrayMap(y -> (y, y, y, y, y), x) AS x FROM (${text})`,
  ),
  repeat(
    6,
    'SELECT (1, 2) AS x',
    (text) => `SELECT (untuple(x), untuple(x), untuple(x), x, x, x, x, x) AS x FROM (${text})`,
  ),
  `SELECT ${list(200, (i) => `sum(status) OVER (ORDER BY status + ${i})`)} FROM app`,
  `SELECT ${list(33, (i) => `count() OVER w${i}`)} FROM app WINDOW ${list(33, (i) => `w${i} AS (ORDER BY status + ${i})`)}`,
  'SELECT count() FROM app GROUP BY CUBE(id, status, tags, numbers)',
  'SELECT id, status, tags, event_message, count() FROM app GROUP BY ALL WITH CUBE',
  `SELECT count() FROM app GROUP BY GROUPING SETS (${list(9, (i) => `(status + ${i})`)})`,
  `SELECT count() FROM app GROUP BY ROLLUP(${list(8, (i) => `status + ${i}`)})`,
  `SELECT count() FROM app AS a ${list(17, (i) => `CROSS JOIN (SELECT 1) AS t${i}`, ' ')}`,
  `SELECT count() FROM app AS a ${list(20, (i) => `JOIN app AS t${i} ON a.id = t${i}.id`, ' ')}`,
  list(40, () => 'SELECT id FROM app', ' UNION ALL '),
  `SELECT ${list(40, (i) => `(SELECT count() FROM app WHERE status = ${i})`)}`,
  repeat(13, 'SELECT id FROM app', (text) => `SELECT id FROM (${text})`),
  `SELECT CAST([], '${'Array('.repeat(40)}String${')'.repeat(40)}')`,
  `SELECT CAST(tuple(), 'Tuple(${list(100, () => 'String')})')`,
];

const BRACKETS = ['()', '[]'].flatMap(([open = '', close = '']) =>
  [65, 200, 1_000, 4_000].map((n) => `SELECT ${open.repeat(n)}1${close.repeat(n)}`),
);
const LONG = [
  ...BRACKETS,
  ...[100, 1_000, 4_000].flatMap((n) => [
    `SELECT ${'NOT '.repeat(n)}1`,
    `SELECT ${'- '.repeat(n)}1`,
    `SELECT 1${' + 1'.repeat(n)}`,
    `SELECT 1${'::String'.repeat(n)}`.slice(0, 16_000),
    `SELECT ${repeat(65 + n / 20, '1', (text) => `CASE WHEN 1 THEN ${text} END`)}`,
  ]),
];

// What a check finds must not depend on the tables that there are: nobody has created `later` yet.
const LATER_TABLES = [
  'SELECT * FROM later',
  'SELECT * FROM (WITH later AS (SELECT 1 AS a) SELECT a FROM later) AS t, later',
  'SELECT (WITH later AS (SELECT 1 AS a) SELECT a FROM later), (SELECT a FROM later)',
  'SELECT a FROM later UNION ALL (WITH later AS (SELECT 1 AS a) SELECT a FROM later)',
  'SELECT a FROM later UNION ALL WITH later AS (SELECT 1 AS a) SELECT a FROM later',
  'WITH later AS (SELECT id FROM later) SELECT id FROM later',
  'WITH later AS (SELECT id FROM (SELECT id FROM later)) SELECT id FROM later',
  'WITH a AS (SELECT id FROM later), later AS (SELECT id FROM app) SELECT id FROM a',
  'WITH a AS (SELECT id FROM b), b AS (SELECT id FROM a) SELECT id FROM a',
  'WITH later AS (SELECT 1 AS id) SELECT later.id, b.id FROM app AS later, later AS b',
  'SELECT id IN (WITH later AS (SELECT id FROM app) SELECT id FROM later) FROM app WHERE id IN (SELECT id FROM later)',
  'WITH a AS (WITH later AS (SELECT id FROM app) SELECT id FROM later) SELECT a.id FROM a JOIN later USING (id)',
  'SELECT arrayMap(later, [1], [2]) FROM app',
  'SELECT arrayMap(later, [1]) FROM app',
  'WITH later AS f SELECT arrayMap(f, [1]) FROM app',
  'SELECT id FROM app WHERE id IN later',
];

/** Kind → texts. */
export const ATTACKS: Readonly<Record<string, readonly string[]>> = {
  'time zones': [...ZONES, ...ZONES_BY_NAME],
  'SELECT inside of IN, EXISTS or a value': NESTED_VALUES,
  'views that read a view twice': VIEWS,
  'aliases that use one twice': ALIASES,
  'BETWEEN of a BETWEEN': BETWEENS,
  'texts and lists that grew': GROWN,
  'patterns that scan a text again and again': SCANS,
  'columns, windows, keys and joins': WIDE,
  'brackets and operators': LONG,
  'names of tables to come': LATER_TABLES,
};

const BIG =
  '(SELECT a.id AS id, a.status AS status, a.event_message AS m FROM app AS a, app AS b, app AS c, app AS d)';
const BIGGER =
  '(SELECT a.id AS id, a.status AS status, a.event_message AS m FROM app AS a, app AS b, app AS c, app AS d, app AS e)';
const EIGHT = 'concat(m, m, m, m, m, m, m, m) AS m';

/** SELECTs that are allowed and take long: each must end soon after its deadline. */
export const HEAVY: readonly string[] = [
  `SELECT countIf(match(m, '[0-9]{2}~')) FROM (SELECT ${EIGHT} FROM (SELECT ${EIGHT} FROM ${BIG}))`,
  `SELECT sum(countMatches(m, '[A-Z]')), sum(countMatches(m, '[a-z]+/')) FROM ${BIGGER}`,
  `SELECT length(arraySort(groupArray(m))) FROM ${BIGGER}`,
  `SELECT length(lower(groupConcat(m))), length(upper(groupConcat(',')(m))) FROM ${BIGGER}`,
  `WITH (SELECT groupArray(100)(m) FROM ${BIG}) AS t SELECT countIf(has(t, id)) FROM ${BIGGER}`,
  `SELECT count() FROM ${BIG} AS l JOIN ${BIG} AS r ON l.status = r.status AND l.m > r.m AND l.m < r.id`,
  `SELECT count() FROM ${BIG} AS l, ${BIG} AS r WHERE l.m > concat(r.m, 'z')`,
  `SELECT count() FROM ${BIG} AS l LEFT ANTI JOIN ${BIG} AS r ON l.status = r.status AND l.id > concat(r.id, r.m)`,
  `SELECT sum(r) FROM (SELECT uniqExact(m) OVER (ORDER BY m, id ROWS BETWEEN 400000 PRECEDING AND CURRENT ROW) AS r FROM ${BIG})`,
  `SELECT count() FROM (SELECT p1, p2 FROM (SELECT splitByString('', m) AS p FROM ${BIG}) ARRAY JOIN p AS p1 ARRAY JOIN p AS p2)`,
  'SELECT count() FROM (SELECT a.id, b.id, c.id, count() FROM app AS a, app AS b, app AS c, app AS d, app AS e GROUP BY CUBE(a.id, b.id, c.id))',
  `SELECT count() FROM app ARRAY JOIN splitByString('', '${'x'.repeat(7_000)}') AS a ARRAY JOIN splitByString('', '${'y'.repeat(7_000)}') AS b`,
  `SELECT sum(length(replaceAll(m, 'e', '${'x'.repeat(60)}'))) FROM ${BIGGER}`,
  `SELECT (SELECT count() FROM ${BIGGER} AS a, ${BIGGER} AS b WHERE a.m > concat(b.m, 'z'))`,
  `SELECT DISTINCT concat(l.m, r.m) FROM ${BIG} AS l, ${BIG} AS r`,
];

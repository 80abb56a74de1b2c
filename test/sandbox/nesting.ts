// Longer than other files: one list, which is read and changed as a whole.

/** Texts that grow with `n`: whatever of a SELECT can be put inside of, or next to, another. */
export type Family = (n: number) => string;

const wrap =
  (inner: string, around: (text: string, i: number) => string): Family =>
  (n) =>
    Array.from({ length: n }).reduce<string>((text, _, i) => around(text, i), inner);
const list =
  (member: (i: number) => string, separator = ', '): Family =>
  (n) =>
    Array.from({ length: n }, (_, i) => member(i)).join(separator);
const select =
  (family: Family, rest = 'FROM app'): Family =>
  (n) =>
    `SELECT ${family(n)} ${rest}`;
/** `WITH c0 AS …, c1 AS …` of views that each read the one before. */
const chain =
  (first: string, next: (before: string, i: number) => string, last: (view: string) => string): Family =>
  (n) =>
    `WITH ${list((i) => `c${i} AS (${i === 0 ? first : next(`c${i - 1}`, i)})`)(n)} ${last(`c${n - 1}`)}`;

/** Calls of one argument, operators and brackets, each around the one before. */
const AROUND: Readonly<Record<string, (text: string, i: number) => string>> = {
  brackets: (text) => `(${text})`,
  'lists in lists': (text) => `[${text}]`,
  'tuples in tuples': (text) => `(${text}, 1)`,
  'maps in maps': (text) => `map('a', ${text})`,
  not: (text) => `NOT ${text}`,
  minus: (text) => `- ${text}`,
  'calls in calls': (text) => `abs(${text})`,
  if: (text, i) => `if(status = ${i}, ${text}, ${i})`,
  'if of both': (text) => `if(status > 1, ${text}, 1 + ${text.slice(0, 200)})`,
  multiIf: (text, i) => `multiIf(status = ${i}, 1, ${text})`,
  case: (text, i) => `CASE WHEN status = ${i} THEN ${text} ELSE 0 END`,
  'case of an expression': (text) => `CASE ${text} WHEN 1 THEN 2 ELSE 3 END`,
  '?:': (text, i) => `status > ${i} ? ${text} : ${i}`,
  'arrayMap in arrayMap': (text, i) => `arrayMap(x${i} -> ${text}, [1, 2])`,
  'arrayMap of a name': (text, i) => `arrayMap(x${i} -> (${text}, x${i}), numbers)`,
  'arraySum in arraySum': (text, i) => `arraySum(y${i} -> y${i} + ${text}, [1, 2])`,
  'values of a SELECT': (text) => `(SELECT ${text})`,
  'values of a SELECT twice': (text) => `(SELECT ${text}) + 1`,
  exists: (text) => `EXISTS (SELECT ${text})`,
  in: (text) => `1 IN (SELECT ${text})`,
  'in a filter': (text) => `1 IN (SELECT 1 WHERE ${text})`,
  'in of tuples': (text) => `(1, 2) IN (SELECT 1, ${text})`,
  CAST: (text, i) => `CAST(${text} AS ${i % 2 === 0 ? 'String' : 'Nullable(String)'})`,
  '::': (text) => `${text}::String`,
  'element of': (text) => `[${text}][1]`,
  'part of a tuple': (text) => `tuple(${text}, 2).1`,
  concat: (text) => `concat(${text}, id)`,
  between: (text) => `${text} BETWEEN 0 AND 2`,
  'is null': (text) => `(${text}) IS NULL`,
  interval: (text) => `toDateTime(0) + INTERVAL (${text}) SECOND`,
  aliases: (text, i) => `(${text} AS a${i})`,
  'aliases twice': (text, i) => `(${text} AS a${i}) + 1`,
  extract: (text) => `EXTRACT(YEAR FROM ${text})`,
  substring: (text) => `substring(${text} FROM 1 FOR 3)`,
  trim: (text) => `trim(BOTH ' ' FROM ${text})`,
  grouping: (text) => `ignore(${text})`,
  window: (text) => `count() OVER (ORDER BY ${text})`,
  untuple: (text) => `untuple((${text}, 1))`,
  arrayJoin: (text) => `arrayJoin([${text}, ${text.slice(0, 40).length}])`,
  countIf: (text) => `toUInt8(${text})`,
  concatenated: (text) => `${text} || 'a'`,
  filter: (text) => `arrayFilter(z -> has([1], z), arrayMap(z -> 1, [${text}]))`,
  transform: (text) => `transform(${text}, [1, 2], [3, 4], 5)`,
};

const NESTED = Object.entries(AROUND).map(([name, around]) => [name, select(wrap('1', around))] as const);

const OPERATORS = [
  '+',
  '-',
  '*',
  '/',
  '%',
  '=',
  '<',
  '||',
  'AND',
  'OR',
  'AND NOT',
  '= 1 OR',
  'DIV',
  'IS NOT DISTINCT FROM',
];
const CHAINS = OPERATORS.map(
  (sign) => [`chain of ${sign}`, select(list(() => 'status', ` ${sign} `))] as const,
);

const JOINS = [
  'CROSS JOIN',
  ',',
  'INNER JOIN',
  'LEFT JOIN',
  'FULL JOIN',
  'ANY LEFT JOIN',
  'LEFT SEMI JOIN',
  'PASTE JOIN',
];
const JOINED = JOINS.map(
  (join) =>
    [
      `chain of ${join}`,
      (n: number) =>
        `SELECT count() FROM app AS t ${list((i) => `${join} app AS t${i}${/[A-Z] JOIN/.test(join) && !/CROSS|PASTE/.test(join) ? ` ON t.id = t${i}.id` : ''}`, ' ')(n)}`,
    ] as const,
);

const SETS = ['UNION ALL', 'UNION DISTINCT', 'INTERSECT', 'EXCEPT'].flatMap((set) => [
  [`chain of ${set}`, list((i) => `SELECT ${i}`, ` ${set} `)] as const,
  [`nest of ${set}`, wrap('SELECT 1', (text) => `SELECT 1 ${set} (${text})`)] as const,
  [
    `nest of ${set} of views`,
    wrap('SELECT id FROM app', (text) => `SELECT id FROM (${text}) ${set} SELECT id FROM errors`),
  ] as const,
]);

const DOUBLING: Readonly<Record<string, Family>> = {
  'aliases that double': select((n) => `1 AS a0, ${list((i) => `a${i} + a${i} AS a${i + 1}`)(n)}`),
  'aliases of a column that double': select(
    (n) => `status AS a0, ${list((i) => `a${i} + a${i} AS a${i + 1}`)(n)}`,
  ),
  'aliases that look back': select((n) => `${list((i) => `a${i + 1} + a${i + 1} AS a${i}`)(n)}, 1 AS a${n}`),
  'aliases of lists that double': select(
    (n) => `[1] AS a0, ${list((i) => `arrayConcat(a${i}, a${i}) AS a${i + 1}`)(n)}`,
  ),
  'aliases of tuples that double': select(
    (n) => `(1, 1) AS a0, ${list((i) => `(a${i}, a${i}) AS a${i + 1}`)(n)}`,
  ),
  'aliases of lists of lists': select((n) => `[1] AS a0, ${list((i) => `[a${i}, a${i}] AS a${i + 1}`)(n)}`),
  'aliases of texts that double': select(
    (n) => `'aaaa' AS a0, ${list((i) => `concat(a${i}, a${i}) AS a${i + 1}`)(n)}`,
  ),
  'texts that double in subqueries': wrap(
    "SELECT 'aaaaaaaa' AS x",
    (text) => `SELECT concat(x, x) AS x FROM (${text})`,
  ),
  'tuples that double in subqueries': wrap('SELECT 1 AS x', (text) => `SELECT (x, x) AS x FROM (${text})`),
  'lists that double in subqueries': wrap(
    'SELECT [1] AS x',
    (text) => `SELECT arrayConcat(x, x) AS x FROM (${text})`,
  ),
  'columns that double in subqueries': wrap(
    'SELECT 1 AS x',
    (text, i) => `SELECT *, * EXCEPT (y) FROM (SELECT *, ${i} AS y FROM (${text}))`,
  ),
  'columns that join': wrap(
    'SELECT id AS x FROM app',
    (text, i) => `SELECT a.*, b.* FROM (${text}) AS a, app AS b${i}`,
  ),
  'columns of a tuple': wrap('SELECT (1, 2) AS x', (text) => `SELECT untuple((x, x)) FROM (${text})`),
  'tuples of all columns': wrap('SELECT 1 AS x', (text) => `SELECT tuple(*), tuple(*) FROM (${text})`),
  'filters that double': wrap(
    'SELECT 1 AS x',
    (text) => `SELECT x + x AS x FROM (${text}) WHERE x > 0 AND x + x > 0`,
  ),
  'order of aliases': select(
    (n) => `status AS a0, ${list((i) => `a${i} + a${i} AS a${i + 1}`)(Math.min(n, 11))}`,
    'FROM app ORDER BY a0, a1, a2, a3',
  ),
  'groups of aliases': select(
    (n) => `status AS a0, ${list((i) => `a${i} * a${i} AS a${i + 1}`)(n)}, count()`,
    'FROM app GROUP BY ALL',
  ),
  'lambdas of aliases': select(
    (n) => `1 AS a0, ${list((i) => `arrayMap(x -> x + a${i}, [a${i}])[1] AS a${i + 1}`)(n)}`,
  ),
  'ifs of aliases': select(
    (n) => `status AS a0, ${list((i) => `if(a${i} > 1, a${i}, a${i} + 1) AS a${i + 1}`)(n)}`,
  ),
  'scalars that double': (n) =>
    `WITH (SELECT 1) AS a0, ${list((i) => `(SELECT a${i} + a${i}) AS a${i + 1}`)(n)} SELECT a${n}`,
  'scalars of scalars': (n) => `WITH 1 AS a0, ${list((i) => `(SELECT a${i}) AS a${i + 1}`)(n)} SELECT a${n}`,
  'sets of scalars': (n) =>
    `WITH 1 AS a0, ${list((i) => `(a${i} IN (SELECT a${i})) AS a${i + 1}`)(n)} SELECT a${n}`,
};

const VIEWS: Readonly<Record<string, Family>> = {
  'views in a row': chain(
    'SELECT id FROM app',
    (before) => `SELECT id FROM ${before}`,
    (view) => `SELECT * FROM ${view}`,
  ),
  'views that join': chain(
    'SELECT id FROM app',
    (before) => `SELECT a.id FROM ${before} AS a, ${before} AS b`,
    (view) => `SELECT count() FROM ${view}`,
  ),
  'views that join by a key': chain(
    'SELECT id FROM app',
    (before) => `SELECT a.id FROM ${before} AS a JOIN ${before} AS b ON a.id = b.id`,
    (view) => `SELECT count() FROM ${view}`,
  ),
  'views that unite': chain(
    'SELECT id FROM app',
    (before) => `SELECT id FROM ${before} UNION ALL SELECT id FROM ${before}`,
    (view) => `SELECT count() FROM ${view}`,
  ),
  'views in IN': chain(
    'SELECT id FROM app',
    (before) => `SELECT id FROM app WHERE id IN (SELECT id FROM ${before})`,
    (view) => `SELECT count() FROM ${view}`,
  ),
  'views in IN twice': chain(
    'SELECT id FROM app',
    (before) => `SELECT id FROM ${before} WHERE id IN (SELECT id FROM ${before})`,
    (view) => `SELECT count() FROM ${view}`,
  ),
  'views as values': chain(
    'SELECT 1 AS x',
    (before) => `SELECT (SELECT x FROM ${before}) + 1 AS x`,
    (view) => `SELECT * FROM ${view}`,
  ),
  'views as values twice': chain(
    'SELECT 1 AS x',
    (before) => `SELECT (SELECT x FROM ${before}) + (SELECT x + 1 FROM ${before}) AS x`,
    (view) => `SELECT * FROM ${view}`,
  ),
  'views that exist': chain(
    'SELECT 1 AS x',
    (before) => `SELECT 1 AS x WHERE EXISTS (SELECT 1 FROM ${before})`,
    (view) => `SELECT * FROM ${view}`,
  ),
  'views beside each other': (n) => `WITH ${list((i) => `c${i} AS (SELECT id FROM app)`)(n)} SELECT 1`,
  'views in brackets of views': wrap(
    'SELECT id FROM app',
    (text, i) => `WITH v${i} AS (${text}) SELECT id FROM v${i}`,
  ),
  'views with many columns': chain(
    'SELECT id AS x, status AS y FROM app',
    (before) => `SELECT x, y, x AS z, concat(x, x) AS w FROM ${before}`,
    (view) => `SELECT * FROM ${view}`,
  ),
  'the stored view twice each': (n) =>
    `SELECT ${list((i) => `(SELECT count() FROM app WHERE status = ${i})`)(n)}`,
  'sums of values': (n) => `SELECT ${list((i) => `(SELECT count() FROM app WHERE status = ${i})`, ' + ')(n)}`,
  'subqueries in FROM': wrap('SELECT id FROM app', (text) => `SELECT id FROM (${text})`),
  'subqueries with all clauses': wrap(
    'SELECT status FROM app',
    (text, i) =>
      `SELECT status + ${i} AS status FROM (${text}) WHERE status > 1 GROUP BY status HAVING status > 2 ORDER BY status LIMIT 10`,
  ),
  'subqueries with windows': wrap(
    'SELECT status FROM app',
    (text) => `SELECT sum(status) OVER (ORDER BY status) AS status FROM (${text})`,
  ),
  'subqueries that join': wrap(
    'SELECT id FROM app',
    (text) => `SELECT a.id FROM (${text}) AS a JOIN app AS b USING (id)`,
  ),
  'filters of IN': (n) =>
    `SELECT id FROM app WHERE ${list((i) => `id IN (SELECT id FROM app WHERE status = ${i})`, ' AND ')(n)}`,
  'filters of EXISTS': (n) =>
    `SELECT id FROM app WHERE ${list((i) => `EXISTS (SELECT 1 FROM app WHERE status = ${i})`, ' OR ')(n)}`,
};

const WIDE: Readonly<Record<string, Family>> = {
  columns: select(list((i) => `status + ${i}`)),
  'columns with aliases': select(list((i) => `status AS c${i}`)),
  stars: select(list(() => '*')),
  'stars of joins': (n) => `SELECT ${list(() => '*')(n)} FROM app AS a, app AS b, app AS c`,
  'stars but': select(list(() => '* EXCEPT (id)')),
  aggregates: select(list((i) => `countIf(status = ${i})`)),
  'aggregates with suffixes': select(
    wrap('sum', (name) => `${name}OrNull`),
    '(status) FROM app',
  ),
  quantiles: select((n) => `quantiles(${list((i) => `0.${i + 1}`)(n)})(status)`),
  windows: select(list((i) => `sum(status) OVER (PARTITION BY id ORDER BY status + ${i})`)),
  'named windows': (n) =>
    `SELECT ${list((i) => `count() OVER w${i}`)(n)} FROM app WINDOW ${list((i) => `w${i} AS (ORDER BY status + ${i})`)(n)}`,
  'windows of windows': (n) =>
    `SELECT count() OVER w${n} FROM app WINDOW w0 AS (PARTITION BY id), ${list((i) => `w${i + 1} AS (w${i})`)(n)}`,
  'a long list': (n) => `SELECT id FROM app WHERE status IN (${list(String)(n)})`,
  'a long list of texts': (n) => `SELECT id FROM app WHERE id IN (${list((i) => `'p${i}'`)(n)})`,
  'a long list of tuples': (n) =>
    `SELECT id FROM app WHERE (id, status) IN (${list((i) => `('p${i}', ${i})`)(n)})`,
  'a long list of calls': (n) => `SELECT id FROM app WHERE status IN (${list((i) => `abs(${i})`)(n)})`,
  'a list': select((n) => `[${list(String)(n)}]`),
  'a list of lists': select((n) => `[${list((i) => `[${i}]`)(n)}]`),
  'a list of kinds': select((n) => `tuple(${list((i) => (i % 2 === 0 ? `'${i}'` : `${i}.5`))(n)})`),
  'a map': select((n) => `map(${list((i) => `'k${i}', ${i}`)(n)})`),
  'a case of many': select((n) => `CASE ${list((i) => `WHEN status = ${i} THEN ${i}`, ' ')(n)} END`),
  'a multiIf of many': select((n) => `multiIf(${list((i) => `status = ${i}, ${i}`)(n)}, 0)`),
  'a lambda of many': select((n) => `arrayMap((${list((i) => `x${i}`)(n)}) -> x0, ${list(() => '[1]')(n)})`),
  'keys of groups': select(() => 'count()', ''),
  groups: (n) => `SELECT count() FROM app GROUP BY ${list((i) => `status + ${i}`)(n)}`,
  'groups in brackets': (n) =>
    `SELECT count() FROM app GROUP BY GROUPING SETS (${list((i) => `(status + ${i})`)(n)})`,
  cube: (n) => `SELECT count() FROM app GROUP BY CUBE(${list((i) => `status + ${i}`)(n)})`,
  rollup: (n) => `SELECT count() FROM app GROUP BY ROLLUP(${list((i) => `status + ${i}`)(n)})`,
  orders: (n) => `SELECT id FROM app ORDER BY ${list((i) => `status + ${i}`)(n)}`,
  'limits by': (n) => `SELECT id FROM app LIMIT 1 BY ${list((i) => `status + ${i}`)(n)}`,
  'array joins': (n) => `SELECT id FROM app ARRAY JOIN ${list((i) => `[1, 2] AS x${i}`)(n)}`,
  'array joins in a row': (n) => `SELECT id FROM app ${list((i) => `ARRAY JOIN [1] AS x${i}`, ' ')(n)}`,
  'WITH of values': (n) => `WITH ${list((i) => `${i} AS v${i}`)(n)} SELECT ${list((i) => `v${i}`, ' + ')(n)}`,
  arguments: select((n) => `concat(${list(() => 'id')(n)})`),
  'greatest of many': select((n) => `greatest(${list((i) => `status + ${i}`)(n)})`),
  'conditions of LIKE': (n) =>
    `SELECT id FROM app WHERE ${list((i) => `event_message LIKE '%${i}%a%'`, ' OR ')(n)}`,
  'conditions of match': (n) =>
    `SELECT id FROM app WHERE ${list((i) => `match(event_message, 'a${i}[0-9]+')`, ' OR ')(n)}`,
  'conditions of AND in OR': (n) =>
    `SELECT id FROM app WHERE ${list((i) => `(status = ${i} AND (id = 'a' OR id = '${i}'))`, ' OR ')(n)}`,
  'conditions that could be factored': (n) =>
    `SELECT id FROM app WHERE ${list((i) => `(status = 1 OR status = ${i})`, ' AND ')(n)}`,
  'conditions of equal names': (n) =>
    `SELECT count() FROM app AS a, app AS b, app AS c WHERE ${list((i) => `a.status = b.status + ${i} AND b.status = c.status`, ' AND ')(n)}`,
  'long names': (n) => `SELECT status AS ${'a'.repeat(n + 1)} FROM app`,
  'a long text': (n) => `SELECT '${'a'.repeat(n)}'`,
  'a long number': (n) => `SELECT 1${'0'.repeat(n)}`,
  'many dots': (n) => `SELECT app${'.a'.repeat(n)} FROM app`,
  'elements of elements': (n) => `SELECT numbers${'[1]'.repeat(n)} FROM app`,
  'parts of parts': (n) => `SELECT tuple(1)${'.1'.repeat(n)}`,
  comments: (n) => `SELECT 1 ${'/* a '.repeat(n)}${'*/'.repeat(n)}`,
  'open brackets': (n) => `SELECT ${'('.repeat(n)}`,
  'open lists': (n) => `SELECT ${'['.repeat(n)}1`,
  'open calls': (n) => `SELECT ${'abs('.repeat(n)}1`,
  'open cases': (n) => `SELECT ${'CASE WHEN '.repeat(n)}1`,
  'open lambdas': (n) => `SELECT ${list((i) => `(x${i}) -> `, '')(n)}1`,
  'open intervals': (n) => `SELECT ${'INTERVAL '.repeat(n)}1`,
  'open casts': (n) => `SELECT ${'CAST('.repeat(n)}1`,
  'open selects': (n) => `SELECT ${'(SELECT '.repeat(n)}1`,
  'open quotes': (n) => `SELECT ${"'a' ".repeat(n)}`,
  'types in types': (n) => `SELECT CAST([], '${'Array('.repeat(n)}String${')'.repeat(n)}')`,
  'types beside types': (n) => `SELECT CAST(tuple(), 'Tuple(${list(() => 'String')(n)})')`,
  'dates in tuples': (n) => `SELECT CAST(tuple(), 'Tuple(${list(() => "DateTime(\\'UTC\\')")(n)})')`,
};

/** Name → texts. */
export const FAMILIES: ReadonlyMap<string, Family> = new Map([
  ...NESTED,
  ...CHAINS,
  ...JOINED,
  ...SETS,
  ...Object.entries(DOUBLING),
  ...Object.entries(VIEWS),
  ...Object.entries(WIDE),
]);

/** Random numbers from 0 to 1, the same for the same seed. */
export function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Those of AROUND that make a number of a number. */
const NUMERIC =
  `brackets/not/minus/calls in calls/if/multiIf/case/case of an expression/arraySum in arraySum/element of
  /part of a tuple/between/is null/countIf`
    .split('/')
    .flatMap((name) => AROUND[name.trim()] ?? []);

/** A text of all of these at once: wraps within wraps, names that are used again, subqueries, views and joins. */
export function composeSelect(random: () => number): string {
  const below = (n: number) => Math.floor(random() * n);
  const pick = <T>(from: readonly T[]): T => {
    const picked = from[below(from.length)];
    if (picked === undefined) throw new Error('nothing to pick from');
    return picked;
  };
  const views = ['app', 'errors'];
  const maybe = (chance: number, text: () => string) => (random() < chance ? text() : '');

  const selects = () => [
    `(SELECT count() FROM ${pick(views)})`,
    `(t.status IN (SELECT status FROM ${pick(views)}))`,
    `(t.id NOT IN (SELECT id FROM ${pick(views)} WHERE status > 1))`,
  ];

  function expression(depth: number, names: readonly string[]): string {
    const atoms = ['t.status', '1', '12345', 'length(t.id)', ...names, ...names, ...names];
    let text = pick(random() < 0.95 ? atoms : selects());
    for (let i = below(depth + 1); i > 0; i--) text = `(${pick(NUMERIC)(text, below(3))})`;
    if (depth === 0 || random() < 0.6) return text;
    return `${text} ${pick(['+', '-', '*', '=', '<', 'AND', 'OR'])} ${expression(depth - 1, names)}`;
  }

  function columns(): string {
    const names: string[] = [];
    const made = Array.from({ length: 1 + below(pick([2, 5, 30])) }, (_, i) => {
      const text = `(${expression(pick([1, 3, 6]), names.slice(-2))}) AS a${i}`;
      names.push(`a${i}`);
      return text;
    });
    return [...made, 't.status', 't.id'].join(', ');
  }

  function query(depth: number): string {
    const table = () => (depth > 0 && random() < 0.6 ? `(${query(depth - 1)})` : pick(views));
    const join = maybe(
      0.3,
      () => ` ${pick(['JOIN', 'LEFT JOIN', 'FULL JOIN'])} ${table()} AS u ON t.id = u.id`,
    );
    const where = maybe(0.5, () => ` WHERE ${expression(4, ['a0'])}`);
    const order = maybe(0.3, () => ` ORDER BY ${expression(2, ['a0'])}`);
    const limit = maybe(0.2, () => ' LIMIT 10');
    const rest = maybe(0.1, () => ` UNION ALL SELECT * FROM (${query(0)})`);
    return `SELECT ${columns()} FROM ${table()} AS t${join}${where}${order}${limit}${rest}`;
  }

  const own = Array.from({ length: below(6) }, (_, i) => {
    const text = `v${i} AS (${query(below(2))})`;
    views.push(`v${i}`);
    return text;
  });
  return `${own.length > 0 ? `WITH ${own.join(', ')} ` : ''}${query(below(4))}`;
}

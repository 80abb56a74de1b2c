import { beforeAll, expect, test } from 'vitest';
import type { Engine } from '../../src/engine/engine.ts';
import { trusted, writeValue } from '../../src/sql/sql.ts';

// Texts near to each other, so that each search matches in some granules and not in others.
const STEMS = 'aurora Aurora AURORA basalt BASALT abc ABC abd ac abbc café CAFÉ caf'.split(' ');
const SIGNS = [...'.example \\ \\\\ \\\\\\ \\u [ ] | { % _ (a|b) -1 😀 ſ K'.split(' '), '\n', ''];
const TEXTS = [...STEMS.flatMap((stem) => SIGNS.map((sign) => `${stem}${sign}`)), ...SIGNS, 'x', 'a.b', 'zb'];
const TABLES = ['searched_merged', 'searched_unmerged'];

// So small a bound that no parts are merged.
const UNMERGED = ', max_bytes_to_merge_at_max_space_in_pool = 1';

async function createTables(engine: Engine): Promise<void> {
  const rows = TEXTS.map((text, id) => `(${id}, ${writeValue(text)}, ${writeValue(text)})`);
  for (const table of TABLES) {
    await engine.command(
      trusted(`CREATE TABLE ${table} (
      id Int64, project LowCardinality(String), address String,
      INDEX address_substrings address TYPE ngrambf_v1(3, 4096, 2, 0) GRANULARITY 1
    ) ENGINE = MergeTree ORDER BY (project, id) SETTINGS index_granularity = 2${table === TABLES[1] ? UNMERGED : ''}`),
    );
    // The index of a part is built by merges alone.
    for (const half of [0, 1])
      await engine.command(
        trusted(`INSERT INTO ${table} VALUES ${rows.filter((_, i) => i % 2 === half).join(', ')}`),
      );
  }
  await engine.command(trusted(`OPTIMIZE TABLE ${TABLES[0]} FINAL`));
}

/** Ways to write a condition on `column` for what `@sought` says. */
const PATTERN_FORMS = [
  (column: string) => `match(${column}, @sought)`,
  (column: string) => `${column} REGEXP @sought`,
  (column: string, sought: string) => `match(${column}, ${writeValue(sought)})`,
  (column: string, sought: string) => `\`match\`(${column}, (SELECT ${writeValue(sought)})) /* of a table */`,
  (column: string) => `countMatches(${column}, @sought) > 0 OR match(${column}, @sought)`,
];

/** Ids for which a condition holds. */
async function find(engine: Engine, table: string, condition: string, sought: string): Promise<string> {
  const sql = `SELECT arraySort(groupArray(id)) FROM ${table} WHERE ${condition}`;
  return (await engine.query(sql, { sought }, { format: 'TSVRaw' })).bytes.toString();
}

// No index serves it, and no reading of the engine's own comes before.
const TRUTH = String.raw`replaceRegexpOne(materialize(address), @sought, '\x01\\0') != materialize(address)`;

async function expectAllFound(engine: Engine, sought: string): Promise<void> {
  const expected = await find(engine, 'searched_unmerged', TRUTH, sought);
  for (const table of TABLES) {
    for (const column of ['address', 'project']) {
      for (const form of PATTERN_FORMS) {
        const condition = form(column, sought);
        const found = await find(engine, table, condition, sought);
        expect([sought, table, condition, found]).toEqual([sought, table, condition, expected]);
      }
    }
  }
}

/** Searches of indexed and of sorted columns answer as searches without an index do. */
export function describeSearches(engine: () => Engine): void {
  beforeAll(() => createTables(engine()));

  test.each(['(?i)(AURORA|BASALT)', '(?s)(aurora|basalt)', '^ab(?)*c', '^ab\\Q\\E*c', '[]a]b', 'café?'])(
    'finds every text that the pattern %s matches',
    async (pattern) => {
      await expectAllFound(engine(), pattern);
    },
  );
}

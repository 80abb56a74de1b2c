import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import type { Engine } from '../../src/engine/engine.ts';
import { TailraceError } from '../../src/errors.ts';
import { writeValue } from '../../src/sql/quote.ts';
import { trusted } from '../../src/sql/sql.ts';
import { pattern as commonPattern } from '../endpoints/generate/pattern.ts';
import { runs } from '../support/property.ts';

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

/** Ids for which a condition holds, or that the engine refuses it. */
async function find(engine: Engine, table: string, condition: string, sought: string): Promise<string> {
  const sql = `SELECT arraySort(groupArray(id)) FROM ${table} WHERE ${condition}`;
  try {
    return (await engine.query(sql, { sought }, { format: 'TSVRaw' })).bytes.toString();
  } catch (error) {
    if (error instanceof TailraceError && /^(?:invalid_parameter|query_failed)$/.test(error.code))
      return 'refused';
    throw error;
  }
}

const atom = fc.constantFrom(
  ...'a ab abc ABC aurora AURORA caf é É 😀 k s x -1 . ^ $ /'.split(' '),
  ...'\\. \\\\ \\| \\d \\w \\b \\S \\x61 \\x{e9} \\141 \\pL \\Qab\\E \\Q\\E \\A \\z \\t'.split(' '),
  ...'[a-c] [^a] [Aa] [é] [[] []a] [^]a] [[:alpha:]] [\\w.] [a\\]] { a{x}'.split(' '),
  ...'(?i) (?s) (?m) (?U) (?-i) (?i-s) () (?:) (?i)(AURORA|BASALT) (?i:A|B) aurora basalt'.split(' '),
  ...[' ', '\n', '\0'],
);
const times = fc.constantFrom('', '', '', '', '*', '+', '?', '{0}', '{2}', '{0,2}', '{1,}', '*?', '??');
const opening = fc.constantFrom('(', '(', '(?:', '(?i:', '(?s:', '(?-i:', '(?i-s:', '(?P<name>');
const group = fc.tuple(opening, fc.array(atom, { maxLength: 3 }), atom);
const item = fc.oneof(
  { weight: 2, arbitrary: atom },
  { weight: 1, arbitrary: group.map(([open, all, last]) => `${open}${all.join('')}|${last})`) },
);
const flagged = fc.array(fc.tuple(item, times), { minLength: 1, maxLength: 4 });
/** Patterns of RE2, most of which are right, with flags anywhere. */
const anyPattern = fc.oneof(
  { weight: 3, arbitrary: flagged.map((parts) => parts.flat().join('')) },
  { weight: 1, arbitrary: commonPattern },
);

interface Search {
  readonly forms: readonly ((column: string, sought: string) => string)[];
  /** A condition that no index serves and no reading of the engine's own comes before. */
  readonly truth: string;
}

const PATTERN: Search = {
  forms: PATTERN_FORMS,
  truth: String.raw`replaceRegexpOne(materialize(address), @sought, '\x01\\0') != materialize(address)`,
};

async function expectAllFound(engine: Engine, { forms, truth }: Search, sought: string): Promise<void> {
  const expected = await find(engine, 'searched_unmerged', truth, sought);
  for (const table of TABLES) {
    for (const column of ['address', 'project']) {
      for (const form of forms) {
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
      await expectAllFound(engine(), PATTERN, pattern);
    },
  );

  test('finds every text that any pattern matches', async () => {
    const property = fc.asyncProperty(anyPattern, (one) => expectAllFound(engine(), PATTERN, one));
    await fc.assert(property, runs(100));
  });
}

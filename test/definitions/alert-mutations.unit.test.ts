import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { verifyAlerts, verifyReceivers } from '../../src/alerts/verify.ts';
import { formatFault } from '../../src/definitions/fault.ts';
import { readDefinitions } from '../../src/definitions/read.ts';
import { temporaryFolder } from '../support/service.ts';

const folder = await temporaryFolder();
const alertsDir = join(folder.path, 'alerts');
const folders = { endpointsDir: 'template/endpoints', sourcesDir: 'template/sources', alertsDir };
beforeAll(() => mkdir(alertsDir));
afterAll(folder.remove);

/** Each field on its own line. */
const GOOD = {
  id: '0b8e3c52-6a0f-4d0e-9c55-3f1c7f0f2b64',
  name: 'failing.paths',
  description: 'Requests fail.',
  endpoint: 'failing.paths',
  parameters: '{ project: aurora }',
  every: '60',
  delay: '10',
  when: '{ column: failures, above: 10 }',
  per: '[path]',
  for: '120',
  keep_firing_for: '60',
  no_data: 'keep',
  on_error: 'alert',
  severity: 'warning',
  text: '"{{ path }} failed {{ failures }} times"',
  to: '[ops]',
  repeat: '3600',
};
type Field = keyof typeof GOOD;

const SECONDS = [
  '-1',
  '1.5',
  '"60"',
  '604801',
  '1e30',
  '.nan',
  '.inf',
  'soon',
  '1h',
  '[60]',
  '{ s: 60 }',
  'null',
  'true',
];
const CHOICE = ['', 'Keep', 'never', '1', 'true', '[keep]', '{}'];
/** Wrong values of each field. */
const WRONG: Readonly<Record<Field, readonly string[]>> = {
  id: ['', '1', 'abc', '[a]', '0b8e3c52-6a0f-4d0e-9c55-3f1c7f0f2b6', '{}'],
  name: ['', '"a b"', '../a', '[a]', '1', `${'a'.repeat(300)}`, '"<b>"'],
  description: ['1', '[]', '{}', 'null'],
  endpoint: ['', '1', 'failing.path', '[failing.paths]', '"failing.paths "', 'null'],
  parameters: [
    ...['', '1', 'aurora', '[project]', '{}', '{ project: }', '{ project: { a: b } }', '{ projet: aurora }'],
    ...['{ project: aurora, project_tier: PRO }', '{ project: [[a]] }'],
  ],
  every: ['0', ...SECONDS],
  delay: SECONDS,
  when: [
    ...[
      '',
      'row',
      '10',
      '[rows]',
      '{}',
      '{ column: failures }',
      '{ above: 10 }',
      '{ column: "", above: 10 }',
    ],
    ...[
      '{ column: failures, above: ten }',
      '{ column: failures, above: .nan }',
      '{ column: failures, over: 10 }',
    ],
    ...['{ column: failures, above: 10, below: 5 }', '{ column: failures, equals: "10" }'],
    ...[
      '{ column: failures, equals: [10] }',
      '{ column: path, above: 10 }',
      '{ column: failure, above: 10 }',
    ],
    ...['{ column: failures, above: null }', '{ column: [failures], above: 10 }'],
  ],
  per: ['', 'path', '[]', '[paths]', '[path, path]', '[1]', '[[path]]', '{ path: 1 }', '[a,b,c,d,e,f,g,h,i]'],
  for: SECONDS,
  keep_firing_for: SECONDS,
  no_data: CHOICE,
  on_error: CHOICE,
  severity: [...CHOICE, 'WARNING', 'error'],
  text: [
    ...['', '""', '1', '[a]', '"{{ route }}"', '"{{ path "', '"{% if path %}"', '"{% include \'a\' %}"'],
    ...['"{{ path | shell }}"', '"{% for %}{% endfor %}"', `"${'x'.repeat(4_001)}"`],
  ],
  to: [
    '',
    'ops',
    '[]',
    '[ops, ops]',
    '[nobody]',
    '["a b"]',
    '[1]',
    '{ ops: 1 }',
    '[[ops]]',
    '["https://a.example.com"]',
  ],
  repeat: ['0', ...SECONDS],
};

const fields = Object.keys(GOOD) as Field[];
const write = (values: Readonly<Record<string, string>>) =>
  Object.entries(values)
    .map(([name, value]) => `${name}: ${value}\n`)
    .join('');

/** Finds the faults of a file, as `tailrace check` prints them, without the folder's own path. */
async function faultsOf(text: string): Promise<string[]> {
  await writeFile(join(alertsDir, 'a.yaml'), text);
  const { definitions, faults } = await readDefinitions(folders);
  const { alerts = [], endpoints } = definitions;
  const options = { endpoints, areAll: true };
  const found = [...faults, ...verifyAlerts(alerts, options), ...verifyReceivers(alerts, new Set(['ops']))];
  return found.map((fault) => formatFault(fault).replaceAll(`${alertsDir}/`, ''));
}

/** What a user cannot use: parts of stacks, of the program or of values that were never set. */
const UNUSABLE = /\n\s+at |\.ts:|undefined|\[object|TypeError|node_modules/;
const HINT =
  /must|needed|known|there are|it has|did you mean|add |end it|write |at most|cannot be|missing|is required|unknown filter|not allowed|need to|remove|write/;

function checkFaults(found: readonly string[], line: number | undefined): void {
  expect(found.length).toBeGreaterThan(0);
  for (const fault of found) {
    expect(fault).toMatch(/^a\.yaml:\d+: ./);
    expect(fault).not.toMatch(UNUSABLE);
    expect(fault).toMatch(HINT);
    expect(fault.length).toBeLessThan(1_000);
  }
  if (line !== undefined) expect(found.join('\n')).toContain(`a.yaml:${line}:`);
}

test('the file that is mutated is good', async () => {
  expect(await faultsOf(write(GOOD))).toEqual([]);
});

test.each(fields.flatMap((field) => WRONG[field].map((wrong) => [field, wrong] as const)))(
  '`%s: %s` is refused with its line, and what would be right',
  async (field, wrong) => {
    const found = await faultsOf(write({ ...GOOD, [field]: wrong }));
    checkFaults(found, fields.indexOf(field) + 1);
  },
);

const OPTIONAL: readonly Field[] = [
  ...(['delay', 'per', 'for', 'keep_firing_for', 'no_data', 'on_error', 'severity', 'repeat'] as const),
];
test.each(fields.filter((field) => !OPTIONAL.includes(field)))(
  'a file without `%s` is refused',
  async (field) => {
    const { [field]: _, ...rest } = GOOD;
    checkFaults(await faultsOf(write(rest)), undefined);
  },
);

test.each([
  ['a field twice', `${write(GOOD)}every: 60\n`],
  ['an unknown field', `${write(GOOD)}evry: 60\n`],
  ['a list', '- a\n'],
  ['a text', 'alert\n'],
  ['an empty file', ''],
  ['half a file', write(GOOD).slice(0, 180)],
  ['a tab', write(GOOD).replace('every', '\tevery')],
  ['an anchor of itself', `${write(GOOD).replace('per: [path]', 'per: &a [*a]')}`],
  ['a NUL', `${write(GOOD)}\0`],
  ['two documents', `${write(GOOD)}---\n${write(GOOD)}`],
  ['an array of a thousand lists', `${write(GOOD)}x: ${'['.repeat(1_000)}${']'.repeat(1_000)}\n`],
  ['a tag of a program', write(GOOD).replace('name: ', 'name: !!js/function ')],
  ['a member of every object', `${write(GOOD)}__proto__: { every: 1 }\n`],
])('%s is refused', async (_, text) => {
  checkFaults(await faultsOf(text), undefined);
});

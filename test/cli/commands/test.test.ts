import { mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { addEndpoint } from '../../../trial/endpoint.ts';
import { copyFewDefinitions } from '../../support/definitions.ts';
import { runProgram } from '../../support/program.ts';
import { temporaryFolder } from '../../support/service.ts';

const folder = await temporaryFolder();
afterAll(folder.remove);

const endpoints = join(folder.path, 'endpoints');
const tests = join(endpoints, 'errors.by-path', 'tests');
const env = await copyFewDefinitions(folder.path);
const run = (...args: string[]) => runProgram(['test', ...args], env);
const write = (name: string, text: string) => writeFile(join(tests, name), text);

const YAML = `id: a0000000-0000-4000-8000-000000000031
name: errors.by-path
description: Of a test.
max_rows: 10
caching: disabled
parameters:
  project: { type: string, required: true, description: Of a test. }
  statuses: { type: list, of: integer, description: Of a test. }
columns:
  path: { type: string, description: Of a test. }
  seconds: { type: number, description: Of a test. }
  failures: { type: integer, description: Of a test. }
`;
const SQL = `SELECT assumeNotNull(path) AS path, count() / 3 AS seconds, toInt64(count()) AS failures FROM edge_logs
WHERE project = @project AND (empty(@statuses) OR status_code IN @statuses) AND timestamp > toDateTime64(@now, 6, 'UTC') - INTERVAL 1 HOUR
GROUP BY path ORDER BY path`;

/** Events of one project, a minute apart. */
function events(...paths: string[]): string {
  return paths
    .map(
      (path, i) =>
        `    - { timestamp: 2026-11-20T11:0${i + 1}:00Z, project: p1, metadata: { request: { path: ${path} }, response: { status_code: ${500 + i} } } }`,
    )
    .join('\n');
}
const HEAD = `now: 2026-11-20T12:00:00Z\nevents:\n  cloudflare.logs.prod:\n`;

beforeEach(async () => {
  await rm(endpoints, { recursive: true, force: true });
  await mkdir(tests, { recursive: true });
  await writeFile(join(endpoints, 'errors.by-path', 'endpoint.yaml'), YAML);
  await writeFile(join(endpoints, 'errors.by-path', 'query.sql'), SQL);
});

describe('tailrace test', () => {
  test('passes the tests of every endpoint for Studio', async () => {
    const { code, stdout } = await runProgram(['test'], { TAILRACE_STUDIO: '1' });
    expect([code, stdout]).toEqual([0, expect.stringMatching(/\n\d+ tests passed\n$/)]);
    for (const name of await readdir('studio/endpoints'))
      expect(stdout).toContain(`studio/endpoints/${name}/tests/`);
  });

  /** Writes the files that pages show, each in the block after its path. */
  async function writeShown(shown: readonly (readonly [text: string, name: string])[]): Promise<void> {
    await rm(endpoints, { recursive: true });
    for (const [text, name] of shown) {
      const [, block = ''] = new RegExp(`\`${name}\`.*?\`\`\`\\w+\n(.*?)\`\`\``, 's').exec(text) ?? [];
      await mkdir(dirname(join(folder.path, name)), { recursive: true });
      await writeFile(join(folder.path, name), block);
    }
  }

  test('passes the tests of the endpoints that README and docs show, with the output that they show', async () => {
    const readme = await readFile('README.md', 'utf8');
    const docs = await readFile('docs/testing-endpoints.md', 'utf8');
    const page = await readFile('docs/endpoints.md', 'utf8');
    const names = ['endpoint.yaml', 'query.sql', 'tests/last-day.yaml'];
    await writeShown([
      [readme, 'endpoints/failing.paths/endpoint.yaml'],
      [readme, 'endpoints/failing.paths/query.sql'],
      [docs, 'endpoints/failing.paths/tests/last-hour.yaml'],
      ...names.map((name) => [page, `endpoints/requests.by-status/${name}`] as const),
    ]);
    const { code, stdout } = await run('failing.paths');
    const [, shown] = /\$ npx tailrace test failing\.paths\n(.*?)```/s.exec(docs) ?? [];
    expect([code, stdout.replaceAll(`${folder.path}/`, '')]).toEqual([0, shown]);
    expect((await run('requests.by-status')).stdout).toContain('2 tests passed');
  });

  describe('for an endpoint with pages and a pattern of projects', () => {
    const PAGED_YAML = `id: a0000000-0000-4000-8000-000000000032
name: pages.of-paths
description: Of a test.
max_rows: 10
caching: disabled
strict: true
parameters:
  project: { type: regex, required: true, description: Of a test. }
  top: { type: integer, default: 9, description: Of a test. }
cursor: { by: [id desc], size: 2 }
columns:
  id: { type: string, description: Of a test. }
`;
    const PAGED_SQL = `SELECT id FROM edge_logs
WHERE match(project, @project) AND (@pinned_project = '' OR project = @pinned_project) AND @top > 0
  AND (@cursor_id IS NULL OR id < @cursor_id)
ORDER BY id DESC LIMIT 2`;
    const rowsOf = (...ids: string[]) => `[${ids.map((id) => `{ id: ${id} }`).join(', ')}]`;
    const EVENTS = ['a1:p', 'a2:p', 'a3:p', 'a4:p', 'b1:px'].map((one) => {
      const [id, project] = one.split(':');
      return `    - { id: ${id}, timestamp: 2026-11-20T11:00:00Z, project: ${project} }`;
    });
    const own = join(endpoints, 'pages.of-paths');
    const runCases = async (...cases: string[]) => {
      await mkdir(join(own, 'tests'), { recursive: true });
      await writeFile(join(own, 'endpoint.yaml'), PAGED_YAML);
      await writeFile(join(own, 'query.sql'), PAGED_SQL);
      const lines = cases.map((one) => `  - { ${one} }`);
      await writeFile(
        join(own, 'tests/one.yaml'),
        `${HEAD}${EVENTS.join('\n')}\ncases:\n${lines.join('\n')}\n`,
      );
      return await run('pages.of-paths');
    };

    test('asks page after page, and none after the last', async () => {
      const { stdout } = await runCases(
        `parameters: { project: ^p$ }, rows: ${rowsOf('a4', 'a3')}`,
        `cursor: next, rows: ${rowsOf('a2', 'a1')}`,
        'cursor: next, rows: []',
        'name: none, cursor: next, rows: []',
        `parameters: { project: ^p }, rows: ${rowsOf('b1', 'a4')}`,
        'cursor: next, parameters: { project: ^p, top: 8 }, error: { code: invalid_parameter, parameter: cursor }',
        'name: fails, parameters: { project: "(" }, rows: []',
        'name: fails too, cursor: next, rows: []',
      );
      expect(stdout.match(/[✓✗]/g)?.join('')).toBe('✓✓✓✓✓✓✗✗');
      expect(stdout).toContain('✓ project=^p$, next page');
    });

    test('asks with the pins of a key, which stay on the next page', async () => {
      const { stdout } = await runCases(
        `pins: { project: p }, rows: ${rowsOf('a4', 'a3')}`,
        `cursor: next, rows: ${rowsOf('a2', 'a1')}`,
        `pins: { project: px }, parameters: { project: px }, rows: ${rowsOf('b1')}`,
        'pins: { project: p }, parameters: { project: px }, error: { code: forbidden, parameter: project }',
        `pins: { project: p }, rows: ${rowsOf('a4', 'a3')}`,
        'cursor: next, pins: { project: px }, error: { code: invalid_parameter, parameter: cursor }',
        'pins: { tenant: x }, error: { code: forbidden }',
        'parameters: { project: p, projct: x }, error: { code: invalid_parameter, parameter: projct }',
        `name: wrong, pins: { project: p }, rows: ${rowsOf('b1')}`,
      );
      expect(stdout.match(/[✓✗]/g)?.join('')).toBe('✓✓✓✓✓✓✓✓✗');
    });
  });

  test('shows what differs, runs each file on its own events, and exits with 1', async () => {
    const rows = (n: number) =>
      `cases:\n  - parameters: { project: p1 }\n    rows: [{ path: /a, seconds: 0, failures: ${n} }]\n`;
    await write('first.yaml', `${HEAD}${events('/a', '/a')}\n${rows(3)}`);
    await write('second.yaml', `${HEAD}${events('/b')}\n${rows(1)}`);
    const { code, stdout, stderr } = await run();
    expect([code, stderr]).toEqual([1, 'tailrace: 2 of 2 tests failed\n']);
    expect(stdout).toContain(`✗ project=p1  (${join(tests, 'first.yaml')}:7)`);
    expect(stdout).toContain('-   - { path: /a, seconds: 0, failures: 3 }\n');
    expect(stdout).toMatch(/\+ {3}- \{ path: \/a, seconds: 0\.66\d+, failures: 2 \}/);
    expect(stdout).toMatch(/\+ {3}- \{ path: \/b, seconds: 0\.33\d+, failures: 1 \}/);
    expect(stdout.match(/^ +\+ {3}- /gm)).toHaveLength(2);
  });

  test('compares numbers within a share of them, and integers exactly unless a column is named', async () => {
    const expecting = (failures: number, seconds: number, approximately: string) =>
      `  - { parameters: { project: p1 }, approximately: ${approximately}, rows: [{ path: /a, seconds: ${seconds}, failures: ${failures} }] }\n`;
    await write(
      'near.yaml',
      `${HEAD}${events('/a', '/a', '/a', '/a')}\ncases:\n${[
        expecting(4, 1.34, '0.01'),
        expecting(4, 1.36, '0.01'),
        expecting(5, 1.34, '0.5'),
        expecting(5, 1.34, '{ failures: 0.5, seconds: 0.01 }'),
        expecting(5, 1.34, '{ failures: 0.5 }'),
      ].join('')}`,
    );
    const { stdout } = await run();
    expect(stdout.match(/[✓✗]/g)).toEqual(['✓', '✗', '✗', '✓', '✗']);
    expect(stdout).toContain('-   - { path: /a, seconds: 1.36, failures: 4 }');
    expect(stdout.match(/^ +- {3}- .*failures: 5/gm)).toHaveLength(1);
    expect(stdout).toContain('-   - { path: /a, seconds: 1.34, failures: 4 }');
  });

  test('reads events from files, also packed ones', async () => {
    const line = JSON.stringify({
      timestamp: '2026-11-20T11:01:00Z',
      project: 'p1',
      metadata: { request: { path: '/a' }, response: { status_code: 500 } },
    });
    await write('lines.ndjson', `${line}\r\n\n${line}`);
    await writeFile(join(tests, 'lines.ndjson.gz'), gzipSync(`${line}\n`));
    const expecting = (file: string, n: number) =>
      `${HEAD.trimEnd()} { file: ${file} }\ncases:\n  - { parameters: { project: p1 }, approximately: 0.01, rows: [{ path: /a, seconds: ${n / 3}, failures: ${n} }] }\n`;
    await write('plain.yaml', expecting('lines.ndjson', 2));
    await write('packed.yaml', expecting('lines.ndjson.gz', 1));
    expect((await run()).stdout).toMatch(/2 tests passed\n$/);
  });

  test('asks at the instant of the file or of the case, by which retention hides events', async () => {
    const sql = 'SELECT toInt64(count()) AS n FROM edge_logs WHERE project = @project';
    const id = 'a0000000-0000-4000-8000-000000000032';
    await addEndpoint(endpoints, { name: 'counts.all', id, sql, caching: 'disabled' });
    await mkdir(join(endpoints, 'counts.all/tests'));
    const at = (now: string, n: number) =>
      `  - { ${now} parameters: { project: p1 }, rows: [{ n: ${n} }] }\n`;
    await writeFile(
      join(endpoints, 'counts.all/tests/retention.yml'),
      `now: 2020-11-20T12:00:00Z\nevents:\n  cloudflare.logs.prod:\n    - { project: p1 }\ncases:\n${[
        at('', 1),
        at('now: 2021-02-19T00:00:00Z,', 0),
        at('now: 2021-02-17T00:00:00Z,', 1),
      ].join('')}`,
    );
    const { code, stdout } = await run('a0000000-0000-4000-8000-000000000032');
    expect([code, stdout]).toEqual([0, expect.stringContaining('3 tests passed')]);
  });
});

describe('tailrace test --update', () => {
  test('writes what was answered, and keeps comments, order and numbers that are near', async () => {
    const before = `# At noon.
${HEAD}${events('/a', '/b')}
cases:
  # Both paths.
  - name: changed # by hand
    parameters: { project: p1 }
    approximately: 0.01
    rows:
      - { path: /a, seconds: 0.33, failures: 7 } # the first
      - { path: /c, seconds: 0.33, failures: 1 }
      - { path: /d, seconds: 0.33, failures: 1 }
  - name: without an expectation
    parameters: { project: p1, statuses: [501] }
  - { name: in one line, parameters: { project: p1, statuses: [501] } }
  - name: an error that became rows
    parameters: { project: p2 }
    error: { code: query_failed }
  - name: rows that became an error
    rows: []
  - { name: right, parameters: { project: p2 }, rows: [] }
`;
    await write('update.yaml', before);
    expect((await run()).stderr).toMatch(/update\.yaml:16: "rows" or "error" is missing; .*--update/);
    const { code, stdout, stderr } = await run('--update');
    expect([code, stdout.match(/[✓✗]/g)]).toEqual([0, ['✗', '✗', '✗', '✗', '✗', '✓']]);
    expect(stderr).toBe(`tailrace: ${join(tests, 'update.yaml')}: answers written: 5; review them\n`);
    const after = await readFile(join(tests, 'update.yaml'), 'utf8');
    const kept = before.slice(0, before.indexOf('    rows:'));
    expect(after.startsWith(kept)).toBe(true);
    expect(after).toContain('{ path: /a, seconds: 0.33, failures: 1 } # the first\n');
    expect(after).toContain(
      '  - name: in one line\n    parameters: { project: p1, statuses: [ 501 ] }\n    rows:\n      - {',
    );
    expect(
      parse(after).cases.map(({ rows, error }: { rows: unknown; error: unknown }) => rows ?? error),
    ).toEqual([
      [
        { path: '/a', seconds: 0.33, failures: 1 },
        { path: '/b', seconds: 0.33, failures: 1 },
      ],
      [{ path: '/b', seconds: 1 / 3, failures: 1 }],
      [{ path: '/b', seconds: 1 / 3, failures: 1 }],
      [],
      { code: 'invalid_parameter', parameter: 'project' },
      [],
    ]);
    expect((await run()).stdout).toMatch(/6 tests passed\n$/);
    expect((await run('--update')).stderr).toBe('tailrace: every test passed; nothing was written\n');
    expect(await readFile(join(tests, 'update.yaml'), 'utf8')).toBe(after);
  });

  test('refuses to change what another case has an alias for', async () => {
    const text = `${HEAD}${events('/a')}
cases:
  - { name: wrong, parameters: { project: p1, statuses: [501] }, rows: &shared [{ path: /a, seconds: 0.33, failures: 1 }] }
  - { name: right, parameters: { project: p1 }, approximately: 0.02, rows: *shared }
`;
    await write('aliased.yaml', text);
    const { code, stderr } = await run('--update');
    expect([code, stderr]).toEqual([
      1,
      `tailrace: ${join(tests, 'aliased.yaml')} cannot be written: another case has an alias (*) of rows that would change; give each case its own rows\n`,
    ]);
    expect(await readFile(join(tests, 'aliased.yaml'), 'utf8')).toBe(text);
  });
});

describe('tailrace test refuses, with file and line,', () => {
  const CASE = 'cases:\n  - { parameters: { project: p1 }, rows: [] }\n';
  const AT = 'now: 2026-11-20T12:00:00Z\n';
  const withEvents = (text: string) => `${AT}events:\n  cloudflare.logs.prod:${text}\n${CASE}`;
  const withCase = (text: string) => `${AT}cases:\n  - ${text}\n`;

  /** The name of a file → its text → line and message. */
  const FAULTS: readonly [string, string, string][] = [
    ['no-now', CASE, '1: "now" is missing'],
    [
      'no-source',
      `${AT}events:\n  cloudflare: []\n${CASE}`,
      '3: no source is called "cloudflare"; there are cloudflare.logs.prod',
    ],
    ['event-text', withEvents('\n    - {}\n    - text'), '5: event 2 is not a JSON object'],
    [
      'file-outside',
      withEvents(' { file: ../../query.sql }'),
      '3: file "../../query.sql" must be in the folder of the test',
    ],
    [
      'file-link',
      withEvents(' { file: link/query.sql }'),
      '3: file "link/query.sql" must be in the folder of the test, and not a link that leads out',
    ],
    ['neither', withCase('{ name: x }'), '3: "rows" or "error" is missing'],
    [
      'parameter',
      withCase('{ parameters: { projct: p1 }, rows: [] }'),
      '3: errors.by-path has no parameter "projct"; it has project, statuses',
    ],
    [
      'cursor',
      withCase('{ cursor: next, rows: [] }'),
      '3: errors.by-path has no pages: its definition has no',
    ],
    [
      'pin',
      withCase('{ pins: { project: 5 }, rows: [] }'),
      '3: "project" must be a text in quotes, of 1 to 256',
    ],
  ];

  test('each fault of every test file at once', async () => {
    for (const [name, text] of FAULTS) await write(`${name}.yaml`, text);
    await mkdir(join(tests, 'folder'));
    await symlink('..', join(tests, 'link'));
    await write('lines.yaml', withEvents(' { file: lines.ndjson }'));
    await write('lines.ndjson', '{"project":"p1"}\n\n{"project":\n[]\n');
    const { code, stdout, stderr } = await run();
    expect([code, stdout]).toEqual([1, '']);
    const lines = stderr.trimEnd().split('\n');
    for (const [name, , message] of FAULTS)
      expect(lines).toContainEqual(expect.stringContaining(`${join(tests, `${name}.yaml`)}:${message}`));
    const file = join(tests, 'lines.ndjson');
    expect(lines).toContain(`tailrace: ${file}:3: event is not valid JSON`);
    expect(lines).toContain(`tailrace: ${file}:4: event is not a JSON object`);
    expect(lines).toHaveLength(FAULTS.length + 2);
  });

  test('a test file that is a link to a file elsewhere, which --update would overwrite', async () => {
    const elsewhere = join(folder.path, 'elsewhere.yaml');
    const text = `${HEAD}${events('/a')}\ncases: [{ parameters: { project: p1 }, rows: [] }]\n`;
    await writeFile(elsewhere, text);
    await symlink(elsewhere, join(tests, 'linked.yaml'));
    const { code, stderr } = await run('--update');
    expect([code, stderr]).toEqual([1, expect.stringContaining('no link that leads out')]);
    expect(await readFile(elsewhere, 'utf8')).toBe(text);
  });

  test('definitions with faults, together with those of the tests', async () => {
    await write('empty.yaml', '');
    await writeFile(join(endpoints, 'errors.by-path', 'query.sql'), `${SQL}, nowhere`);
    const { code, stderr } = await run();
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/query\.sql:\d+: .*nowhere[\s\S]*empty\.yaml:1: /),
    ]);
  });
});

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
  test('passes the tests of every shipped endpoint', async () => {
    const { code, stdout, stderr } = await runProgram(['test']);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/\n\d+ tests passed\n$/);
    for (const name of await readdir('endpoints')) expect(stdout).toContain(`endpoints/${name}/tests/`);
  });

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

  test('passes the tests of the README’s endpoint, as the docs show them and their output', async () => {
    const readme = await readFile('README.md', 'utf8');
    const docs = await readFile('docs/testing-endpoints.md', 'utf8');
    await writeShown([
      [readme, 'endpoints/failing.paths/endpoint.yaml'],
      [readme, 'endpoints/failing.paths/query.sql'],
      [docs, 'endpoints/failing.paths/tests/last-hour.yaml'],
    ]);
    const { code, stdout } = await run('failing.paths');
    const [, shown] = /\$ npx tailrace test failing\.paths\n(.*?)```/s.exec(docs) ?? [];
    expect([code, stdout.replaceAll(`${folder.path}/`, '')]).toEqual([0, shown]);
  });

  test('passes the test of the endpoint that docs/endpoints.md writes', async () => {
    const page = await readFile('docs/endpoints.md', 'utf8');
    const names = ['endpoint.yaml', 'query.sql', 'tests/last-day.yaml'];
    await writeShown(names.map((name) => [page, `endpoints/requests.by-status/${name}`] as const));
    const { code, stdout } = await run('requests.by-status');
    expect([code, stdout]).toEqual([0, expect.stringContaining('2 tests passed')]);
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

    test('writes the rows of a next page with --update', async () => {
      await runCases(`parameters: { project: ^p$ }, rows: ${rowsOf('a4', 'a3')}`, 'cursor: next, rows: []');
      expect((await run('--update', 'pages.of-paths')).code).toBe(0);
      expect(await readFile(join(own, 'tests/one.yaml'), 'utf8')).toMatch(/cursor: next[\s\S]*a2[\s\S]*a1/);
    });

    test('reports what cannot be asked, with file and line', async () => {
      const { code, stderr } = await runCases(
        'cursor: next, rows: []',
        'parameters: { project: p }, error: { code: internal }',
        'cursor: next, rows: []',
        'pins: { projct: p }, rows: []',
        'pins: { top: many }, rows: []',
        'parameters: { projct: p }, rows: []',
      );
      expect(code).toBe(1);
      const file = join(own, 'tests/one.yaml');
      const first = 5 + EVENTS.length;
      for (const [at, message] of [
        [0, '"cursor" needs a case before this one, whose page it continues'],
        [2, '"cursor" needs a case before this one with "rows", not with an "error"'],
        [3, 'pages.of-paths has no parameter "projct"; it has project, top'],
        [4, '"top" cannot be pinned to "many", which it does not accept'],
        [5, 'pages.of-paths has no parameter "projct"; it has project, top'],
      ] as const)
        expect(stderr).toContain(`${file}:${first + at}: ${message}\n`);
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

  test('compares large numbers, too: decimal ones as doubles, whole ones exactly', async () => {
    const sql = `SELECT 1e20 AS seconds, toInt64(9007199254740993) AS failures, '' AS path FROM edge_logs
      WHERE project = @project AND empty(@statuses) AND timestamp < toDateTime64(@now, 6, 'UTC')`;
    await writeFile(join(endpoints, 'errors.by-path', 'query.sql'), sql);
    const expecting = (seconds: string, failures: string, approximately = '') =>
      `  - { parameters: { project: p1 }, ${approximately} rows: [{ path: '', seconds: ${seconds}, failures: ${failures} }] }\n`;
    await write(
      'large.yaml',
      `${HEAD}${events('/a')}\ncases:\n${[
        expecting('1e20', '9007199254740993'),
        expecting('100000000000000000000', '9007199254740993'),
        expecting('1.001e20', '9007199254740993', 'approximately: 0.01,'),
        expecting('1e20', '9007199254740999', 'approximately: { failures: 0.01 },'),
        expecting('1e20', '9007199254740992'),
        expecting('1.1e20', '9007199254740993', 'approximately: 0.01,'),
      ].join('')}`,
    );
    expect((await run()).stdout.match(/[✓✗]/g)).toEqual(['✓', '✓', '✓', '✓', '✗', '✗']);
  });

  test('sends integers beyond 2^53 digit by digit', async () => {
    const sql = `SELECT 0 AS seconds, @statuses[1] AS failures, '' AS path FROM edge_logs
      WHERE project = @project AND timestamp < toDateTime64(@now, 6, 'UTC')`;
    await writeFile(join(endpoints, 'errors.by-path', 'query.sql'), sql);
    const expecting = (failures: string) =>
      `  - { parameters: { project: p1, statuses: [9007199254740993] }, rows: [{ path: '', seconds: 0, failures: ${failures} }] }\n`;
    const cases = [expecting('9007199254740993'), expecting('9007199254740992')];
    await write('sent.yaml', `${HEAD}${events('/a')}\ncases:\n${cases.join('')}`);
    expect((await run()).stdout.match(/[✓✗]/g)).toEqual(['✓', '✗']);
  });

  test('reads events from files, also packed ones', async () => {
    const line = JSON.stringify({
      timestamp: '2026-11-20T11:01:00Z',
      project: 'p1',
      metadata: { request: { path: '/a' }, response: { status_code: 500 } },
    });
    await write('lines.ndjson', `${line}\r\n\n${line}`);
    await writeFile(join(tests, 'lines.ndjson.gz'), gzipSync(`${line}\n`));
    await writeFile(join(tests, 'zeros.ndjson.gz'), gzipSync(Buffer.alloc(17 * 1024 * 1024)));
    const expecting = (file: string, n: number) =>
      `${HEAD.trimEnd()} { file: ${file} }\ncases:\n  - { parameters: { project: p1 }, approximately: 0.01, rows: [{ path: /a, seconds: ${n / 3}, failures: ${n} }] }\n`;
    await write('plain.yaml', expecting('lines.ndjson', 2));
    await write('packed.yaml', expecting('lines.ndjson.gz', 1));
    expect((await run()).stdout).toMatch(/2 tests passed\n$/);
    await write('zeros.yaml', expecting('zeros.ndjson.gz', 1));
    expect((await run()).stderr).toMatch(
      /zeros\.yaml:3: file "zeros\.ndjson\.gz" cannot be read: .*16777216 bytes/,
    );
  });

  test('refuses a folder of tests that it cannot read', async () => {
    await rm(tests, { recursive: true });
    await writeFile(tests, '');
    const { code, stderr } = await run();
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining(`tailrace: ${tests} cannot be read as a folder: ENOTDIR`),
    ]);
  });

  test('merges maps by <<, and reads aliases', async () => {
    const shared = `    - &event { timestamp: 2026-11-20T11:01:00Z, project: p1, metadata: { request: { path: /a }, response: { status_code: 500 } } }
    - *event
    - { <<: *event, project: p1 }
cases:
  - { parameters: &p { project: p1 }, rows: [{ path: /a, seconds: 1, failures: 3 }] }
  - { name: again, parameters: *p, rows: [{ path: /a, seconds: 1, failures: 3 }] }
`;
    await write('aliases.yaml', HEAD + shared);
    expect((await run()).stdout).toMatch(/2 tests passed\n$/);
  });

  test('reads parameters as a POST body has them, and reports errors by their code and parameter', async () => {
    const cases = `cases:
  - { parameters: { project: p1, statuses: [500, 502] }, approximately: 0.01, rows: [{ path: /a, seconds: 0.67, failures: 2 }] }
  - { parameters: { project: p1, statuses: 501 }, error: { code: invalid_request } }
  - { parameters: { statuses: [x], project: p1 }, error: { code: invalid_parameter, parameter: statuses } }
  - { parameters: { statuses: [501] }, error: { code: invalid_parameter, parameter: statuses } }
`;
    await write('types.yaml', `${HEAD}${events('/a', '/b', '/a')}\n${cases}`);
    const { stdout, code } = await run('--reporter', 'text');
    expect([code, stdout.match(/[✓✗]/g)]).toEqual([1, ['✓', '✓', '✓', '✗']]);
    expect(stdout).toContain('returned invalid_parameter: project is required');
    expect(stdout).toContain('- error: { code: invalid_parameter, parameter: statuses }');
    expect(stdout).toContain('+ error: { code: invalid_parameter, parameter: project }');
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

  test('writes JUnit’s XML, in which any name and row is well-formed', async () => {
    await write(
      'hostile\u0001.yaml', // a character that XML cannot hold
      `${HEAD}${events('"</failure>&\\u0001"')}\ncases:\n  - { name: "a <b> & \\"c\\"", parameters: { project: p1 }, rows: [] }\n  - { error: { code: invalid_parameter } }\n`,
    );
    const { code, stdout, stderr } = await run('--reporter', 'junit');
    expect([code, stderr]).toEqual([1, 'tailrace: 1 of 2 tests failed\n']);
    expect(stdout).toMatch(
      /^<\?xml version="1.0" encoding="UTF-8"\?>\n<testsuites name="tailrace" tests="2" failures="1" time="/,
    );
    expect(stdout).toContain(
      '<testcase name="a &lt;b&gt; &amp; &quot;c&quot;" classname="errors.by-path" file="',
    );
    expect(stdout).toContain('<testcase name="without parameters"');
    expect(stdout).toContain('&lt;/failure&gt;&amp;');
    expect(stdout.match(/<\/?failure\b/g)).toHaveLength(2);
    expect(stdout).toContain('/hostile\u{FFFD}.yaml"');
    expect(stdout).not.toContain('\u0001');
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

  test.each(['  ', '', '      '])(
    'leaves the text of other cases as it is, indented by %j',
    async (indent) => {
      const kept = `${indent}- {name:   kept,parameters: {project:   p2}, rows: []}   # spaces\n\n`;
      const changed = (n: number, list: string) =>
        `${indent}# Changed.\n${indent}- name: one\n${indent}  parameters: { project: p1 }\n${indent}  rows:\n${indent}    - ${list}\n${indent}      failures: ${n} # of path\n`;
      const text = (n: number) => {
        const list = `path: /a\n${indent}      seconds: 1`;
        return `now:   2026-11-20T12:00:00Z   # noon\n${HEAD.slice(HEAD.indexOf('events'))}${events('/a', '/a', '/a')}\n\ncases:\n${kept}${changed(n, list)}\n# tail\n`;
      };
      await write('others.yaml', text(1));
      expect((await run('--update')).code).toBe(0);
      expect(await readFile(join(tests, 'others.yaml'), 'utf8')).toBe(text(3));
      expect((await run()).code).toBe(0);
    },
  );

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

  test.each(['\n', '\r\n'])(
    'puts rows into a case in one line, and into the last one; lines end with %j',
    async (lineEnd) => {
      const head = `${HEAD}${events('/a')}\ncases:\n`.replaceAll('\n', lineEnd);
      const before = `  - { name: first, parameters: { project: p1 } } # a comment\n  - { name: last, parameters: {project: p2}, error: { code: internal } }`;
      await write('lines.yaml', head + before.replaceAll('\n', lineEnd));
      expect((await run('--update')).code).toBe(0);
      const after = await readFile(join(tests, 'lines.yaml'), 'utf8');
      expect(after.startsWith(head)).toBe(true);
      expect(after.match(/# a comment/g)).toHaveLength(1);
      expect(new Set(after.match(/\r?\n/g))).toEqual(new Set([lineEnd]));
      expect((await run()).stdout).toMatch(/2 tests passed\n$/);
    },
  );
});

describe('tailrace test refuses, with file and line,', () => {
  const CASE = 'cases:\n  - { parameters: { project: p1 }, rows: [] }\n';
  const AT = 'now: 2026-11-20T12:00:00Z\n';
  const withEvents = (text: string) => `${AT}events:\n  cloudflare.logs.prod:${text}\n${CASE}`;
  const withCase = (text: string) => `${AT}cases:\n  - ${text}\n`;

  /** The name of a file → its text → line and message. */
  const FAULTS: readonly [string, string, string][] = [
    ['not-yaml', 'now: [', '1: Flow sequence in block collection must be'],
    ['no-now', CASE, '1: "now" is missing'],
    [
      'bad-now',
      `now: noon\n${CASE}`,
      '1: "now" must be an ISO 8601 timestamp, such as 2026-11-20T12:00:00Z, not "noon"',
    ],
    [
      'micros',
      `now: 2026-11-20T12:00:00.000001Z\n${CASE}`,
      '1: "now" must be a whole number of milliseconds',
    ],
    ['empty', '', '1: the file must be a map of fields, not null'],
    [
      'now-late',
      `now: 2300-11-20T12:00:00Z\n${CASE}`,
      '1: "now" must be after the first day of 1900 and before June 2255',
    ],
    ['unknown-field', `${AT}case: []\n${CASE}`, '2: unknown field "case"; known here: now, events, cases'],
    ['no-case', `${AT}cases: []\n`, '2: "cases" must be a list of 1 to 1000 cases'],
    [
      'no-source',
      `${AT}events:\n  cloudflare: []\n${CASE}`,
      '3: no source is called "cloudflare"; there are cloudflare.logs.prod',
    ],
    ['event-map', withEvents(' { path: x }'), '3: a source has a list of events, or a map with the file'],
    ['event-text', withEvents('\n    - {}\n    - text'), '5: event 2 is not a JSON object'],
    [
      'event-late',
      withEvents('\n    - { timestamp: 2026-11-20T13:00:01Z }'),
      '4: event 1 has a timestamp more than an hour ahead',
    ],
    [
      'event-old',
      withEvents('\n    - { timestamp: 2026-01-20T13:00:01Z }'),
      '4: event 1 is older than the 90 days',
    ],
    ['event-nan', withEvents('\n    - { n: .nan }'), '4: event 1 has the number NaN, which JSON cannot hold'],
    [
      'file-outside',
      withEvents(' { file: ../../query.sql }'),
      '3: file "../../query.sql" must be in the folder of the test',
    ],
    [
      'file-absolute',
      withEvents(' { file: /etc/hosts }'),
      '3: file "/etc/hosts" must be in the folder of the test',
    ],
    ['file-missing', withEvents(' { file: none.ndjson }'), '3: file "none.ndjson" cannot be read: ENOENT'],
    ['file-self', withEvents(' { file: . }'), '3: file "." must be in the folder of the test'],
    ['file-folder', withEvents(' { file: folder }'), '3: file "folder" cannot be read: EISDIR'],
    [
      'file-link',
      withEvents(' { file: link/query.sql }'),
      '3: file "link/query.sql" must be in the folder of the test, and not a link that leads out',
    ],
    ['rows-map', withCase('rows: {}'), '3: "rows" must be a list of rows; [] for none, not {}'],
    ['row-text', withCase('rows: [1]'), '3: "rows[0]" must be a row: a map of columns, not 1'],
    [
      'both',
      withCase('{ rows: [], error: { code: internal } }'),
      '3: a case expects "rows" or an "error", not both',
    ],
    ['neither', withCase('{ name: x }'), '3: "rows" or "error" is missing'],
    ['name', withCase('{ name: "a\\nb", rows: [] }'), '3: "name" must be a text of one line, of at most 200'],
    ['code', withCase('error: { code: wrong }'), '3: "code" must be an error code: invalid_parameter, '],
    ['error-text', withCase('error: invalid_parameter'), '3: "error" must be a map with "code"'],
    [
      'parameter',
      withCase('{ parameters: { projct: p1 }, rows: [] }'),
      '3: errors.by-path has no parameter "projct"; it has project, statuses',
    ],
    [
      'share',
      withCase('{ approximately: 2, rows: [] }'),
      '3: "approximately" must be the share by which numbers may differ',
    ],
    [
      'share-column',
      withCase('{ approximately: { secs: 0.1 }, rows: [] }'),
      '3: errors.by-path has no column "secs"; it has path, seconds, failures',
    ],
    [
      'share-error',
      withCase('{ approximately: 0.1, error: { code: internal } }'),
      '3: "approximately" needs "rows"',
    ],
    [
      'cursor',
      withCase('{ cursor: next, rows: [] }'),
      '3: errors.by-path has no pages: its definition has no',
    ],
    [
      'cursor-text',
      withCase('{ cursor: second, rows: [] }'),
      '3: "cursor" must be next: the page after that of',
    ],
    [
      'pin',
      withCase('{ pins: { project: 5 }, rows: [] }'),
      '3: "project" must be a text in quotes, of 1 to 256',
    ],
    ['pin-empty', withCase('{ pins: { project: "" }, rows: [] }'), '3: "project" must be a text in quotes'],
    ['case-now', withCase('{ now: later, rows: [] }'), '3: "now" must be an ISO 8601 timestamp'],
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

  test('a name that no endpoint has, an endpoint without tests, and a reporter that does not exist', async () => {
    const unknown = await run('errors.by-path', 'errors', 'logs');
    expect([unknown.code, unknown.stderr]).toEqual([
      1,
      'tailrace: no endpoint has the UUID or name "errors"; there are errors.by-path\ntailrace: no endpoint has the UUID or name "logs"; there are errors.by-path\n',
    ]);
    const none = await run('errors.by-path');
    expect([none.code, none.stdout, none.stderr]).toEqual([
      1,
      '',
      'tailrace: no test was found: add tests/<name>.yaml to the folder of an endpoint, as docs/testing-endpoints.md shows\n',
    ]);
    expect((await run('--reporter', 'xml')).code).toBe(2);
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

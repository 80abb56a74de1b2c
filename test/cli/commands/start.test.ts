import { copyFile, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { addEndpoint } from '../../../trial/endpoint.ts';
import { copyEndpoints } from '../../support/endpoints.ts';
import { runProgram } from '../../support/program.ts';
import { temporaryFolder } from '../../support/service.ts';

const folder = await temporaryFolder();
afterAll(folder.remove);
const at = (name: string) => join(folder.path, name);
const env = { TAILRACE_DATA_DIR: at('data'), TAILRACE_PORT: '0', TAILRACE_TOKEN_SECRET: 'x'.repeat(44) };

/** Runs a command that cannot start. @returns its exit code and messages, without the log */
async function start(settings: Readonly<Record<string, string>>, args: readonly string[] = ['serve']) {
  const { code, stderr } = await runProgram(args, { ...env, ...settings });
  return [code, ...stderr.trimEnd().split('\n')];
}

describe('a data directory that has to be changed ends the service with 1 and one line', () => {
  test.each([
    ['a file', 'file', 'it is a file, not a folder'],
    ['a folder below a file', 'file/below', 'it is a file, not a folder'],
    ['a link to nothing', 'link', '/link is a symbolic link to nothing'],
    ['links in a circle', 'circle', 'its symbolic links lead in a circle'],
    // Node's own recursive mkdir never returns there.
    ...(process.platform === 'linux' ? [['below /proc', '/proc/x/y', 'no folder can be created there']] : []),
  ])('%s', async (_, name = '', why = '') => {
    await writeFile(at('file'), '');
    for (const [link, target] of [
      ['link', at('nowhere')],
      ['circle', at('circle')],
    ] as const) {
      await rm(at(link), { force: true });
      await symlink(target, at(link));
    }
    const dataDir = name.startsWith('/') ? name : at(name);
    const [code, ...lines] = await start({ TAILRACE_DATA_DIR: dataDir });
    expect([code, lines]).toEqual([
      1,
      [expect.stringContaining(`data directory ${dataDir} cannot be used: `)],
    ]);
    expect(lines[0]).toContain(`${why}; set TAILRACE_DATA_DIR to a writable folder`);
    const [exit, ...said] = await start({ TAILRACE_DATA_DIR: dataDir }, ['keys', 'list']);
    expect([exit, said.length]).toEqual([1, 1]);
  });
});

describe('what may pass ends the service with 3 and one line', () => {
  test('a port in use', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => void other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as { port: number };
    const result = await start({ TAILRACE_PORT: String(port), TAILRACE_LOG_LEVEL: 'silent' });
    other.close();
    const why = `port ${port} of 127.0.0.1 is in use; stop the other process or set TAILRACE_PORT to another one`;
    expect(result).toEqual([3, `tailrace: ${why}`]);
  });

  test.each([
    [
      { TAILRACE_HOST: '203.0.113.1', TAILRACE_LOG_LEVEL: 'silent' },
      'tailrace: 203.0.113.1 is not an address of this machine now',
    ],
    [{ TAILRACE_CONTROL_URL: 'postgres://me@127.0.0.1:1/keys' }, 'ECONNREFUSED 127.0.0.1:1'],
    [{ CLICKHOUSE_URL: 'http://127.0.0.1:1' }, 'ECONNREFUSED 127.0.0.1:1'],
  ])('%j', async (settings, message) => {
    expect(await start(settings)).toEqual([3, expect.stringContaining(message)]);
  });
});

describe('what has to be mended ends the service with 1', () => {
  test('a source for OTLP records that does not exist', async () => {
    const why = /^tailrace: TAILRACE_OTLP_SOURCE: no source is called "no\.such"; there are .*postgres\.logs/;
    expect(await start({ TAILRACE_OTLP_SOURCE: 'no.such' })).toEqual([1, expect.stringMatching(why)]);
  });

  test('faulty definitions, all at once with file and line, for serve and check alike', async () => {
    const endpoints = await copyEndpoints();
    const id = 'a0000000-0000-4000-8000-000000000003';
    const sql = 'SELECT 1 AS n FROM nowhere WHERE @project';
    await addEndpoint(endpoints.path, { name: 'bad.sql', id, sql, caching: 1 });
    await addEndpoint(endpoints.path, { name: 'bad.names', id, sql: 'SELECT @unknown AS n', caching: -1 });
    await mkdir(join(endpoints.path, 'bad.empty'));
    const faulty = { TAILRACE_ENDPOINTS_DIR: endpoints.path };
    const [code, ...told] = await start(faulty, ['check']);
    const [served, ...lines] = await start(faulty);
    await endpoints.remove();
    expect([code, served]).toEqual([1, 1]);
    expect(told.map((line) => String(line).replace(`tailrace: ${endpoints.path}/`, ''))).toEqual([
      expect.stringMatching(/^bad\.empty\/endpoint\.yaml:1: is missing/),
      expect.stringMatching(/^bad\.empty\/query\.sql:1: is missing/),
      expect.stringMatching(/^bad\.names\/endpoint\.yaml:5: "caching" must be/),
      expect.stringMatching(/^bad\.names\/endpoint\.yaml:8: parameter "project" is declared but/),
      expect.stringMatching(/^bad\.names\/query\.sql:1: @unknown is not declared/),
      expect.stringMatching(/^bad\.sql\/endpoint\.yaml:1: id .* is already taken/),
      expect.stringMatching(/^bad\.sql\/query\.sql:1: .*nowhere/),
    ]);
    // serve asks the engine about the SQL only if the files themselves have no fault.
    for (const line of lines) expect(told).toContain(line);
  });

  test('a pair for HTTPS that is not whole', async () => {
    const pair = { TAILRACE_TLS_CERT_FILE: at('cert.pem'), TAILRACE_TLS_KEY_FILE: at('key.pem') };
    await copyFile('trial/tls/one.cert.pem', pair.TAILRACE_TLS_CERT_FILE);
    await copyFile('trial/tls/two.key.pem', pair.TAILRACE_TLS_KEY_FILE);
    const refusal = async (more: Record<string, string>) => await start({ ...pair, ...more });
    expect(await refusal({ TAILRACE_TLS_KEY_FILE: '' })).toEqual([
      1,
      'tailrace: TAILRACE_TLS_KEY_FILE: must be set too, since TAILRACE_TLS_CERT_FILE is: HTTPS needs both files',
    ]);
    expect(await refusal({ TAILRACE_TLS_CERT_FILE: '/nothing/there' })).toEqual([
      1,
      expect.stringMatching(/^tailrace: TAILRACE_TLS_CERT_FILE: \/nothing\/there cannot be read: ENOENT/),
    ]);
    expect(await refusal({})).toEqual([
      1,
      expect.stringMatching(/cannot be used: .*its own key, not encrypted$/),
    ]);
    await writeFile(pair.TAILRACE_TLS_KEY_FILE, 'no key');
    expect(await refusal({})).toEqual([
      1,
      expect.stringMatching(/^tailrace: TAILRACE_TLS_KEY_FILE: .* does not contain a PEM private key/),
    ]);
  });
});

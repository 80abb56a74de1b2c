import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runProgram } from '../../support/program.ts';
import { ownFolder } from '../../support/service.ts';

const folder = await ownFolder();
const at = (name: string) => join(folder.path, name);
const env = { TAILRACE_DATA_DIR: at('data'), TAILRACE_PORT: '0', TAILRACE_TOKEN_SECRET: 'x'.repeat(44) };

/** Runs a command that cannot start. @returns its exit code and messages, without the log */
async function start(settings: Readonly<Record<string, string>>, args: readonly string[] = ['serve']) {
  const { code, stderr } = await runProgram(args, { ...env, ...settings });
  return [code, ...stderr.trimEnd().split('\n')];
}

test.each([
  ['a file', 'file', 'it is a file, not a folder'],
  // Node's own recursive mkdir never returns there.
  ...(process.platform === 'linux' ? [['below /proc', '/proc/x/y', 'no folder can be created there']] : []),
])(
  'a data directory that has to be changed ends the service with 1 and one line: %s',
  async (_, name = '', why = '') => {
    await writeFile(at('file'), '');
    const dataDir = name.startsWith('/') ? name : at(name);
    const [code, ...lines] = await start({ TAILRACE_DATA_DIR: dataDir });
    expect([code, lines.length]).toEqual([1, 1]);
    expect(lines[0]).toContain(`data directory ${dataDir} cannot be used: `);
    expect(lines[0]).toContain(`${why}; set TAILRACE_DATA_DIR to a writable folder`);
  },
);

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

test('a pair for HTTPS of which the key is not that of the certificate ends the service with 1', async () => {
  const cert = { TAILRACE_TLS_CERT_FILE: 'trial/tls/one.cert.pem' };
  const why = expect.stringMatching(/cannot be used: .*its own key, not encrypted$/);
  expect(await start({ ...cert, TAILRACE_TLS_KEY_FILE: 'trial/tls/two.key.pem' })).toEqual([1, why]);
});

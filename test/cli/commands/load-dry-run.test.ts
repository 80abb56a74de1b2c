import { appendFile, cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test } from 'vitest';
import { endLeftProcesses, runCli } from '../../support/cli.ts';
import { temporaryFolder } from '../../support/service.ts';

const folder = await temporaryFolder();
afterAll(folder.remove);
afterEach(endLeftProcesses);
const sources = join(folder.path, 'sources');
const data = join(folder.path, 'data');
const env = { TAILRACE_SOURCES_DIR: sources, TAILRACE_DATA_DIR: data };
const file = join(folder.path, 'events.ndjson');
await cp('sources', sources, { recursive: true });
await appendFile(
  join(sources, 'logs.yaml'),
  'drop: level:debug\nsample: { keep: 0, unless: "level:*" }\nredact: [{ field: metadata.password }]\n',
);
const event = (message: string, metadata: object) => JSON.stringify({ event_message: message, metadata });
await writeFile(
  file,
  [
    event('a', { level: 'debug' }),
    event('b', { level: 'info', password: 'hidden' }),
    event('c', {}),
    'no JSON',
    event('d', { level: 'error' }),
  ].join('\n'),
);

test('a dry run says what the rules of a source would do, and opens no store', async () => {
  const { code, stdout, stderr } = await runCli(['load', 'logs', file, '--dry-run'], { env });
  expect([code, stdout]).toEqual([
    1,
    expect.stringMatching(/: 2 events, .*, 1 rejected, 1 by drop, 1 by sample, 1 by redact\n$/),
  ]);
  expect(stderr).toContain(`line 2 would be "b" {"level":"info","password":"[redacted]"}`);
  expect(stderr).toContain(`${file}:4: is not valid JSON`);
  expect(stdout + stderr).not.toContain('hidden');
  const again = await runCli(['load', 'logs', file, '--dry-run', '--url', 'http://127.0.0.1:1'], { env });
  expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('leave out --url')]);
});

test('a load applies them, and says so', async () => {
  const { stdout } = await runCli(['load', 'logs', file], { env });
  expect(stdout).toMatch(/: 2 events, .*, 1 rejected, 1 by drop, 1 by sample, 1 by redact\n$/);
}, 60_000);

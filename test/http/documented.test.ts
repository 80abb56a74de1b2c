import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { PRIVATE_KEY, shareService } from '../support/service.ts';

const service = await shareService();

/** What the curl commands of a page print, one after another, sent to the service of this test. */
async function runCalls(page: string, count: number): Promise<string[]> {
  const text = await readFile(join(import.meta.dirname, '../../docs', page), 'utf8');
  const calls = [...text.matchAll(/^```\n(curl [\s\S]*?)```$/gm)]
    .map(([, call = '']) => call)
    .slice(0, count);
  const env = { PATH: process.env['PATH'] ?? '', TAILRACE_KEY: PRIVATE_KEY };
  const printed: string[] = [];
  for (const call of calls) {
    const command = call.replaceAll('http://127.0.0.1:4000', service.url);
    printed.push((await promisify(execFile)('sh', ['-c', command], { env })).stdout);
    service.clock.now += 1; // a search ends before now
  }
  return printed;
}

test('the first event of docs/ingest.md is returned by the command after it', async () => {
  const [sent = '', shown = ''] = await runCalls('ingest.md', 2);
  expect(JSON.parse(sent)).toEqual({ message: 'Logged!' });
  expect(JSON.parse(shown).result).toMatchObject([{ event_message: 'GET /rest/v1/orders 200' }]);
});

test('the call of docs/agents.md is answered with rows', async () => {
  const [printed = ''] = await runCalls('agents.md', 1);
  expect(printed).toContain('"structuredContent":{"result":[');
});

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { findProgram } from '../../scripts/programs.js';
import { endLeftProcesses, runCli, startServe } from '../support/cli.ts';
import { get, QUERY_PATH, sendRaw } from '../support/http.ts';
import { startNginx } from '../support/nginx.ts';
import { PRIVATE_KEY, temporaryFolder } from '../support/service.ts';

const folder = await temporaryFolder();
afterAll(async () => {
  await endLeftProcesses();
  await folder.remove();
});

const HOST = 'shop.example.com';
const AGENT = 'curl/8.0 "quoted" \\ back\\slash <tag> \t tab é 🏞';

/** A request as it goes out, and the status that the server below answers it with. */
interface Sent {
  readonly method: string;
  /** Path and query, byte for byte. */
  readonly target: string;
  readonly status: number;
}

/** Paths as they go out, byte for byte. */
const TARGETS = String.raw`
  / /rest/v1/users?select=* /storage/v1/object /auth/v1/token?grant_type=password /realtime/v1
  /REST/v1 /x?next=/rest/v1 //rest//double /./rest/../auth/x /rest/empty? /rest/v1/auth/both
  /rest/"quoted" /rest/it's /rest/back\slash /rest/<tag> /rest/$var /rest/tab%09 /rest/{json}
  /rest/%E2%82%AC /%72est/encoded /rest/100%25 /rest/é🏞 /rest/+plus+`;

const SENT: readonly Sent[] = [
  ...TARGETS.trim()
    .split(/\s+/)
    .map((target) => ({ method: 'GET', target, status: 200 })),
  { method: 'GET', target: `/storage/${'long/'.repeat(200)}`, status: 200 },
  { method: 'GET', target: '/missing?x="', status: 404 },
  { method: 'GET', target: '/broken/auth', status: 500 },
  ...['POST', 'DELETE', 'HEAD', 'PROPFIND'].map((method) => ({
    method,
    target: `/rest/v1/${method}`,
    status: 200,
  })),
];

/** The snippet of the page, with its log where the test can read it: the page and the test cannot differ. */
async function readSnippet(log: string): Promise<string> {
  const page = await readFile('docs/quickstart.md', 'utf8');
  const [, snippet = ''] = /```nginx\n([\s\S]*?)```/.exec(page) ?? [];
  expect(snippet).toContain('access_log /var/log/nginx/tailrace.ndjson tailrace;');
  return snippet.replace('/var/log/nginx/tailrace.ndjson', log);
}

const countOf = (marker: string) =>
  SENT.filter(({ target }) => target.replace(/\?.*/, '').includes(marker)).length;

test.skipIf(findProgram('nginx') === undefined)(
  'the log that nginx writes with the quickstart’s log_format is found, exactly counted, through the endpoints',
  async () => {
    const log = join(folder.path, 'tailrace.ndjson');
    const nginx = await startNginx(join(folder.path, 'nginx'), {
      http: `map_hash_bucket_size 128; ${await readSnippet(log)}`,
      server:
        'location / { return 200 ok; } location /missing { return 404; } location /broken { return 500; }',
    });
    const started = Date.now();
    for (const { method, target, status } of SENT) {
      const head = `${method} ${target} HTTP/1.1\r\nHost: ${HOST}\r\nUser-Agent: ${AGENT}\r\nConnection: close\r\n\r\n`;
      expect(await sendRaw(`http://127.0.0.1:${nginx.port}`, head)).toMatch(
        new RegExp(`^HTTP/1.1 ${status} `),
      );
    }
    // What is no request at all is logged too, with nearly every variable empty.
    await sendRaw(`http://127.0.0.1:${nginx.port}`, 'GARBAGE\r\n\r\n');
    await sendRaw(`http://127.0.0.1:${nginx.port}`, 'GET /rest/no-agent HTTP/1.0\r\n\r\n');
    await nginx.quit();
    const ended = Date.now();

    const env = { TAILRACE_DATA_DIR: join(folder.path, 'data'), TAILRACE_PRIVATE_KEY: PRIVATE_KEY };
    const loaded = await runCli(['load', 'cloudflare.logs.prod', log], { env });
    expect([loaded.code, loaded.stderr]).toEqual([0, '']);
    expect(loaded.stdout).toContain(`${SENT.length + 2} events`);

    const service = await startServe(env);
    const { result } = (await get(service.url, `${QUERY_PATH}/logs.all?project=my-project`)).body;
    expect(result).toHaveLength(SENT.length + 2);
    expect(new Set(result.map((row) => row['id'])).size).toBe(SENT.length + 2);
    for (const { timestamp } of result) {
      expect(Number(timestamp) / 1000).toBeGreaterThanOrEqual(started - 1);
      expect(Number(timestamp) / 1000).toBeLessThanOrEqual(ended + 1);
    }
    const asked = result.filter(
      (row) =>
        String(row['event_message']).match(/^[A-Z]+ \S+ \d+$/) &&
        !/no-agent/.test(String(row['event_message'])),
    );
    expect(asked.map((row) => [row['event_message'], row['metadata']])).toEqual(
      expect.arrayContaining(
        SENT.map(({ method, target, status }) => [
          `${method} ${target} ${status}`,
          {
            request: {
              method,
              path: target.replace(/\?.*/s, ''),
              url: `http://${HOST}${target}`,
              host: HOST,
              user_agent: AGENT,
            },
            response: { status_code: status, bytes: expect.any(Number) },
            request_time_s: expect.any(Number),
          },
        ]),
      ),
    );
    expect(asked).toHaveLength(SENT.length);

    const pattern = encodeURIComponent('^http://shop\\.example\\.com/');
    const usage = await get(service.url, `${QUERY_PATH}/usage.api-counts?project=${pattern}&interval=daily`);
    const total = (column: string) => usage.body.result.reduce((sum, row) => sum + Number(row[column]), 0);
    expect({
      rest: total('total_rest_requests'),
      storage: total('total_storage_requests'),
      auth: total('total_auth_requests'),
      realtime: total('total_realtime_requests'),
    }).toEqual({
      rest: countOf('/rest'),
      storage: countOf('/storage'),
      auth: countOf('/auth'),
      realtime: countOf('/realtime'),
    });
    expect((await service.stop()).code).toBe(0);
  },
);

import { afterEach, expect, test, vi } from 'vitest';
import { WIRES } from '../../trial/wire.ts';
import { expectError, idsOf, openRaw, post, postHead, readMetric, TO_EDGE } from '../support/http.ts';
import { newProject, ownService } from '../support/service.ts';

const BODY_BYTES_MAX = 1024 * 1024;
const service = await ownService({
  env: { TAILRACE_BODY_BYTES_MAX: String(BODY_BYTES_MAX) },
  bounds: { ingestWaitMsMax: 50 },
});
afterEach(() => {
  release(); // also after a failure: the next test needs the engine
  vi.restoreAllMocks();
});
const { url, core } = service;

let release = () => {};

// A busy machine takes long for a request.
const PATIENT = { timeout: 30_000 };
// Seconds: the more, the longer the engine has been still.
const RETRY_AFTER = /\r\nretry-after: [1-9]\d?\r\n/;

/** Holds the engine's inserts back. @returns resolves when requests are rejected; then lets the engine go on */
async function holdEngine(project: string) {
  const gate = Promise.withResolvers<void>();
  release = gate.resolve;
  const { insert } = core.engine;
  const spy = vi.spyOn(core.engine, 'insert').mockImplementation(async (batch) => {
    await gate.promise;
    await insert(batch);
  });
  const statuses: number[] = [];
  const sent: Promise<unknown>[] = [];
  const send = () => {
    const answer = post(url, TO_EDGE, [{ id: `held-${sent.length}`, project }]);
    sent.push(answer.then(({ status }) => void statuses.push(status)));
  };
  send();
  await vi.waitFor(() => expect(spy).toHaveBeenCalled(), PATIENT);
  // Those that arrive before the engine has been still for long enough wait with the first.
  await vi.waitFor(() => {
    send();
    expect(statuses).toContain(503);
  }, PATIENT);
  return {
    /** @returns how many requests were accepted */
    async goOn(): Promise<number> {
      gate.resolve();
      await Promise.all(sent);
      expect(new Set(statuses)).toEqual(new Set([200, 503]));
      return statuses.filter((status) => status === 200).length;
    },
  };
}

test('events for an engine that stands still are rejected early, by every protocol before its body is read, and accepted when it goes on; what waited is stored, what would be rejected anyway has its own reason', async () => {
  const project = newProject();
  const { goOn } = await holdEngine(project);
  const before = await readMetric(url, 'tailrace_ingest_overloaded_total', { reason: 'engine' });
  const answer = await post(url, TO_EDGE, [{ id: 'rejected', project }]);
  expectError(answer, 'overloaded', 'the engine pauses; send them again');
  expect(await readMetric(url, 'tailrace_ingest_overloaded_total', { reason: 'engine' })).toBe(before + 1);
  for (const { path, type } of [...Object.values(WIRES), { path: TO_EDGE, type: 'application/x-ndjson' }]) {
    const { socket, received } = await openRaw(url);
    socket.write(postHead(path, { 'content-type': type, 'content-length': 1_000 }));
    await vi.waitFor(() => expect(received()).toMatch(/^HTTP\/1\.1 503 /), PATIENT);
    expect(received().toLowerCase()).toMatch(RETRY_AFTER);
    socket.destroy();
  }
  const wrong: [number, string | Uint8Array<ArrayBuffer>, Record<string, string>][] = [
    [401, '[]', { 'x-api-key': 'wrong-key-0123456789' }],
    [413, new Uint8Array(BODY_BYTES_MAX + 1), {}],
    [415, '[]', { 'content-encoding': 'compress' }],
  ];
  for (const [status, body, headers] of wrong)
    expect((await post(url, TO_EDGE, body, headers)).status).toBe(status);
  const stored = await goOn();
  expect((await post(url, TO_EDGE, [{ id: 'later', project }])).status).toBe(200);
  const ids = await idsOf(core, project);
  expect(ids).toHaveLength(stored + 1);
  expect(ids).toContain('held-0');
  expect(ids).not.toContain('rejected');
});

import { readFile } from 'node:fs/promises';
import { expect } from 'vitest';
import { trusted } from '../../src/sql/sql.ts';
import type { WIRES } from '../../trial/wire.ts';
import type { HttpAnswer } from './http.ts';
import { startTestService } from './service.ts';

/** A source that accepts events of the label `gateway`, or of an index that begins so. */
const GATEWAY = `
id: 5a0c3a1e-4a56-4f3c-8f52-0d1ec2b8d7a1
name: gateway.logs
table: gateway_logs
description: Requests at a gateway.
project: [metadata.project, metadata.tags.project, project]
accepts:
  - { protocol: loki, label: app, equals: gateway }
  - { protocol: otlp, label: service.name, equals: gateway }
  - { protocol: elasticsearch, label: index, equals: ["gateway", "gateway-*"] }
columns:
  status: { type: integer, path: metadata.status, description: HTTP status }
`;

/** How the senders of each protocol read a failure. */
const FORMS: Readonly<Record<keyof typeof WIRES, (answer: HttpAnswer) => void>> = {
  loki({ headers, text }) {
    expect(headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(text).toMatch(/^[^{\n]+$/);
  },
  elasticsearch({ status, headers, text }) {
    expect(headers.get('x-elastic-product')).toBe('Elasticsearch');
    const reason = { type: expect.any(String), reason: expect.any(String) };
    expect(JSON.parse(text)).toEqual({ status, error: { ...reason, root_cause: [reason] } });
  },
  otlp({ text }) {
    const error = { code: expect.any(String), message: expect.any(String) };
    expect(JSON.parse(text)).toMatchObject({ error });
  },
};

/** Expects a failure of the whole request as the senders of a protocol read it. */
export function expectRejection(name: keyof typeof WIRES, answer: HttpAnswer, status: number): void {
  expect([answer.status, answer.text]).toEqual([status, expect.any(String)]);
  FORMS[name](answer);
  if ([429, 503].includes(status)) expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
}

/** A service with the shipped sources and `gateway.logs`. */
export async function startProtocolService(env: Readonly<Record<string, string>> = {}) {
  const logs = await readFile('sources/logs.yaml', 'utf8'); // keeps its events for no longer than it ships
  const service = await startTestService({
    env,
    sources: { 'logs.yaml': logs, 'gateway.logs.yaml': GATEWAY },
  });
  return {
    ...service,
    /** Rows of a project in a table, in the order of their columns. */
    async rows(project: string, { table = 'logs', columns = 'event_message, metadata' } = {}) {
      return await service.core.engine.inspect(
        trusted(`SELECT ${columns} FROM tailrace.${table} WHERE project = '${project}' ORDER BY ALL`),
      );
    },
  };
}

// As `shareService` keeps its own.
const shared = globalThis as { tailraceProtocolService?: ReturnType<typeof startProtocolService> };

/** The body limit of the shared service, and the project of events there that name none. */
export const BODY_BYTES_MAX = 200_000;
export const DEFAULT_PROJECT = 'default-project';

/** The service that the files of the protocols share; no test changes its definitions or closes it. */
export function shareProtocolService() {
  shared.tailraceProtocolService ??= startProtocolService({
    TAILRACE_BODY_BYTES_MAX: String(BODY_BYTES_MAX),
    TAILRACE_DEFAULT_PROJECT: DEFAULT_PROJECT,
  });
  return shared.tailraceProtocolService;
}

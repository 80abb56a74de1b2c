import { copyFile, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { trusted } from '../../src/sql/sql.ts';
import { startTestService, temporaryFolder } from './service.ts';

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

/** A service with the shipped sources and `gateway.logs`. */
export async function startProtocolService(env: Readonly<Record<string, string>> = {}) {
  const folder = await temporaryFolder();
  const sources = join(folder.path, 'sources');
  await mkdir(sources);
  for (const name of await readdir('sources')) await copyFile(join('sources', name), join(sources, name));
  await writeFile(join(sources, 'gateway.logs.yaml'), GATEWAY);
  const service = await startTestService({ env: { TAILRACE_SOURCES_DIR: sources, ...env } });
  const { core, close } = service;
  return {
    ...service,
    /** Rows of a project in a table, in the order of their columns. */
    async rows(project: string, { table = 'logs', columns = 'event_message, metadata' } = {}) {
      return await core.engine.inspect(
        trusted(`SELECT ${columns} FROM tailrace.${table} WHERE project = '${project}' ORDER BY ALL`),
      );
    },
    async close() {
      await close();
      await folder.remove();
    },
  };
}

// As shared-service.ts keeps its own.
const shared = globalThis as { tailraceProtocolService?: ReturnType<typeof startProtocolService> };

/** The body limit of the shared service, and the project of events there that name none. */
export const PROTOCOL_BODY_BYTES_MAX = 200_000;
export const PROTOCOL_PROJECT = 'default-project';

/** The service that the files of the protocols share; no test changes its definitions or closes it. */
export function shareProtocolService() {
  shared.tailraceProtocolService ??= startProtocolService({
    TAILRACE_BODY_BYTES_MAX: String(PROTOCOL_BODY_BYTES_MAX),
    TAILRACE_DEFAULT_PROJECT: PROTOCOL_PROJECT,
  });
  return shared.tailraceProtocolService;
}

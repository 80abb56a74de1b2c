import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { packagePath } from '../../src/lib/file.ts';
import type { EndpointFiles, WorkbenchView } from '../../src/management/workbench-view.ts';
import { createService } from '../../src/service/service.ts';
import { get, post } from '../support/http.ts';
import { startTestService } from '../support/service.ts';

test('the first save copies the shipped endpoints aside, serves the copy, also after a restart, and says so', async () => {
  const lines: string[] = [];
  const logger = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });
  const service = await startTestService({ env: { TAILRACE_EDIT_ENDPOINTS: 'copy' }, logger });
  const name = 'usage.api-counts';
  const original = await readFile(packagePath(`endpoints/${name}/query.sql`), 'utf8');
  const copyOf = (path: string) => readFile(join(service.config.dataDir, 'definitions', path), 'utf8');
  const read = async <T>(path: string) =>
    (await get(service.url, `/api/workbench${path}`)).body as unknown as T;
  const save = async (path: string, body: object) => {
    const answer = await post(service.url, `/api/workbench/${path}`, body);
    expect(answer.status, answer.text).toBe(200);
  };
  try {
    const notice = expect.stringContaining('first save copies');
    expect(await read<WorkbenchView>('')).toMatchObject({ may_edit: true, notice });
    const files = await read<EndpointFiles>(`/endpoints/${name}`);
    const sql = `${files.sql}-- mine\n`;
    await save('save', { name, definition: files.definition, sql, version: files.version });
    expect(await copyOf(`endpoints/${name}/query.sql`)).toBe(sql);
    expect(await readFile(packagePath(`endpoints/${name}/query.sql`), 'utf8')).toBe(original);
    expect((await read<WorkbenchView>('')).notice).toBeNull();
    expect(lines.filter((line) => line.includes('are copied'))).toHaveLength(1);

    await service.service.close();
    const again = await createService(service.config, { logger, owner: 'a test' });
    try {
      expect(again.core.folders.endpointsDir).toBe(join(service.config.dataDir, 'definitions/endpoints'));
      expect(again.core.registry.getEndpoint(name).file).toContain('definitions');
    } finally {
      await again.close();
    }
  } finally {
    await service.close();
  }
});

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Adds an endpoint with a parameter `project` and a column `n` to a folder of endpoints. */
export async function addEndpoint(
  folder: string,
  { name, id, sql, caching }: { name: string; id: string; sql: string; caching: 'disabled' | number },
): Promise<void> {
  await mkdir(join(folder, name), { recursive: true });
  const yaml = [
    `id: ${id}`,
    `name: ${name}`,
    'description: Of a test.',
    'max_rows: 10',
    `caching: ${caching}`,
    'query_sandboxing: false',
    'parameters:',
    '  project: { type: string, required: true, description: Of a test. }',
    'columns:',
    '  n: { type: integer, description: Of a test. }',
  ];
  await writeFile(join(folder, name, 'endpoint.yaml'), `${yaml.join('\n')}\n`);
  await writeFile(join(folder, name, 'query.sql'), `${sql}\n`);
}

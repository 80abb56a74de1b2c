import { join } from 'node:path';
import { readDefinitions } from '../../src/definitions/read.ts';
import { formatFault } from '../../src/errors.ts';
import { ownFolder, writeFiles } from '../support/service.ts';

export const YAML = 'endpoints/test.one/endpoint.yaml';
export const QUERY = 'endpoints/test.one/query.sql';
export const LOGS = 'sources/test.logs.yaml';

export const ENDPOINT = `id: 3dea32a0-fb99-4b83-9c42-c900fca9aeb6
name: test.one
description: A test.
max_rows: 1000
caching: 900
cache_warming: 300
query_sandboxing: false
parameters:
  project: { type: string, required: true, description: A project. }
  interval:
    type: enum
    values: [hour, day]
    default: day
    otherwise: day
    description: A width.
columns:
  count: { type: integer, description: A count. }
`;
export const SOURCE = `id: dca3fc05-a0a4-4270-92ac-ecfc72d28b68
name: test.logs
table: test_logs
description: A source.
retention_days: 90
project: project
columns:
  status: { type: integer, path: metadata.status, description: A status. }
  text: { type: string, path: text, description: A text. }
`;

/** A folder for files of definitions. */
export async function ownDefinitions() {
  const { path } = await ownFolder();
  const folders = { endpointsDir: join(path, 'endpoints'), sourcesDir: join(path, 'sources') };
  const write = (files: Readonly<Record<string, string>>) => writeFiles(path, files);
  /** Reads them. @returns also what is wrong, with the folder's own path left out */
  async function read() {
    const { definitions, faults } = await readDefinitions(folders);
    return { definitions, faults: faults.map((one) => formatFault(one).replaceAll(`${path}/`, '')) };
  }
  return { path, folders, write, read };
}

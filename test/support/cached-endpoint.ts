import type { Endpoint } from '../../src/definitions/endpoint.ts';
import { createParameter } from '../../src/definitions/parameter.ts';

/** An endpoint whose answers are cached and kept warm. */
export const CACHED: Endpoint = {
  id: '3dea32a0-fb99-4b83-9c42-c900fca9aeb6',
  name: 'test.cached',
  description: '',
  maxRows: 10,
  cachingSeconds: 900,
  warmingSeconds: 300,
  sandboxing: false,
  strict: false,
  dialect: undefined,
  bound: undefined,
  charts: [],
  repeatedColumns: [],
  pages: undefined,
  pinned: [],
  parameters: ['a', 'b'].map((name) => createParameter(name, { type: 'string', description: '' })),
  columns: [],
  sql: '',
  sqlOrigin: 'file',
  fileHash: 'file hash',
  hash: 'hash',
  file: '',
  sqlFile: '',
};

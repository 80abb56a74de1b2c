import type { PathColumn } from '../../../src/definitions/endpoint.ts';
import type { DialectView } from '../../../src/dialect/bigquery/relation.ts';
import { translateBigQuery } from '../../../src/dialect/bigquery/translate.ts';

const column = (name: string, type: PathColumn['type'], path: string): PathColumn => ({
  name,
  type,
  path: ['metadata', ...path.split('.')],
});

/** Two tables with typed columns, and one without. */
export const VIEWS: ReadonlyMap<string, DialectView> = new Map([
  [
    'edge_logs',
    {
      columns: [
        column('method', 'keyword', 'request.method'),
        column('path', 'string', 'request.path'),
        column('status_code', 'integer', 'response.status_code'),
      ],
    },
  ],
  ['function_logs', { columns: [column('level', 'keyword', 'level')] }],
  ['postgres_logs', { columns: [] }],
]);

export const NOW = '2026-11-22 12:00:00.000000';

export const translate = (sql: string) =>
  translateBigQuery(sql, { views: VIEWS, now: NOW, dialect: 'bigquery' });

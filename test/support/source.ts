import type { Source, SourceColumn } from '../../src/definitions/source.ts';

/** A source as its file would define it. */
export function createSource(fields: Partial<Source> = {}): Source {
  return {
    ...{ id: '00000000-0000-4000-8000-000000000000', name: 'test.logs', table: 'test_logs', description: '' },
    ...{
      retentionDays: 90,
      projectPaths: [['project']],
      columns: [],
      rollup: undefined,
      external: undefined,
    },
    ...{
      idPaths: undefined,
      messagePaths: undefined,
      timePaths: undefined,
      accepts: undefined,
      filter: undefined,
    },
    ...{ level: undefined, links: undefined, isInternal: false, isProtected: false },
    ...{ file: 'sources/test.logs.yaml', ...fields },
  };
}

/** A column of a source, of one path. */
export const createColumn = (
  name: string,
  type: SourceColumn['type'],
  path: readonly string[],
): SourceColumn => ({
  ...{ name, type, path, otherPaths: [], description: '' },
  ...{ contains: undefined, otherwise: undefined, hasSubstringIndex: false, isLevel: false },
});

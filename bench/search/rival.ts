import { parseConfig } from '../../src/config/config.ts';
import { readDefinitions } from '../../src/definitions/read.ts';
import type { Source } from '../../src/definitions/source.ts';
import { writeLevelName, writeLevelRank } from '../../src/search/level.ts';
import type { BenchData } from '../data.ts';
import type { RivalAnswer } from '../rival/rival.ts';
import type { SearchQuestion } from './question.ts';
import { RIVAL_COLUMNS } from './rival-sql.ts';

/** Another engine with the same events of every source. */
export interface SearchRival {
  /** With its version. */
  readonly name: string;
  ask(question: SearchQuestion): Promise<RivalAnswer>;
  close(): Promise<void>;
}

/** @throws Unmeasured if the engine is not available */
export type OpenSearchRival = (data: BenchData, rows: number) => Promise<SearchRival>;

/** The sources that the data have events of. */
export async function readSources(): Promise<readonly Source[]> {
  return (await readDefinitions(parseConfig({}))).definitions.sources;
}

/**
 * What a rival gets of a source's table: `RIVAL_COLUMNS` in their order, with the name of the level, called `L`, as a search computes it.
 *
 * @param time the instant in the rival's format
 */
export function exportColumns(source: Source, time = 'timestamp'): string {
  const typed = (name: string, type: string) =>
    source.columns.some((column) => column.name === name) ? `t.${name}` : `CAST(NULL, '${type}') AS ${name}`;
  return Object.keys(RIVAL_COLUMNS)
    .map((name) => {
      if (name === 'timestamp') return time;
      if (name === 'level')
        return `${writeLevelName(`(${writeLevelRank(source.level, (of) => `t.${of}`)})`)} AS L`;
      if (name === 'path') return typed(name, 'Nullable(String)');
      return name === 'status_code' ? typed(name, 'Nullable(Int64)') : `t.${name}`;
    })
    .join(', ');
}

import { deleteRows, wasCutOff } from '../../engine/delete-rows.ts';
import type { Engine } from '../../engine/engine.ts';
import { type Deletion, toCondition } from './request.ts';

/** Events of one source that a deletion is about. */
export interface SourceRows {
  readonly source: string;
  readonly rows: number;
}

/** Called as the work goes on. @param partsLeft of the source's table, that are still to be rewritten */
export type OnDeletionProgress = (source: string, partsLeft: number) => void;

/** The events that there are now, by source; those that retention keeps from answers count, too. */
export async function countEvents(engine: Engine, deletion: Deletion): Promise<SourceRows[]> {
  const condition = toCondition(deletion);
  const counted: SourceRows[] = [];
  for (const { name, table } of deletion.sources) {
    const [row] = await engine.inspect(`SELECT count() AS rows FROM \`${table}\` WHERE ${condition}`);
    counted.push({ source: name, rows: Number(row?.['rows']) });
  }
  return counted;
}

export interface DeleteEventsOptions {
  readonly pause: () => Promise<void>;
  readonly onProgress: OnDeletionProgress;
}

/**
 * Deletes events that were stored before it began, source by source; those that come in meanwhile stay.
 *
 * @param counted by `countEvents`; sources without any are left alone, unless a deletion there was cut off
 * @throws TailraceError as src/engine/delete-rows.ts
 */
export async function deleteEvents(
  engine: Engine,
  { deletion, counted }: { readonly deletion: Deletion; readonly counted: readonly SourceRows[] },
  { pause, onProgress }: DeleteEventsOptions,
): Promise<void> {
  const condition = toCondition(deletion);
  const withRows = new Set(counted.filter(({ rows }) => rows > 0).map(({ source }) => source));
  for (const source of deletion.sources) {
    if (!withRows.has(source.name) && !(await wasCutOff(engine, source))) continue;
    const onParts = (left: number) => onProgress(source.name, left);
    await deleteRows(engine, source, condition, { pause, onParts });
  }
}

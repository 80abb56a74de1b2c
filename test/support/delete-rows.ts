import type { Source } from '../../src/definitions/source.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { createDeletion, readUnfinished } from '../../src/engine/mutations.ts';
import { trusted } from '../../src/sql/sql.ts';

/** Deletes the rows of a source that meet a condition, and waits until no query finds them. */
export async function deleteRows(engine: Engine, source: Source, condition: string): Promise<void> {
  await createDeletion(engine, source, trusted(condition));
  while ((await readUnfinished(engine)).size > 0);
}

import type { Source } from '../../src/definitions/source.ts';
import { beginDeletion, type DeleteOptions, finishDeletion } from '../../src/engine/delete-rows.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { trusted } from '../../src/sql/sql.ts';

/** Deletes the rows of a source that meet a condition, and waits until they are gone. */
export async function deleteRows(
  engine: Engine,
  source: Source,
  condition: string,
  options: DeleteOptions = { pause: async () => {}, onParts() {} },
): Promise<void> {
  await beginDeletion(engine, source, trusted(condition), options.pause);
  await finishDeletion(engine, source, options);
}

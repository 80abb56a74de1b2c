import type { Source } from '../../definitions/source.ts';
import { sql } from '../../sql/sql.ts';
import type { Engine } from '../engine.ts';
import { rejectOther, STORE_VERSION } from '../store-file.ts';
import { alterTable, storedTable } from '../table.ts';

// All processes on a server share this text in the comment of each table, after any text of an operator: the version
// of its layout.
const MARK = /\s*\[tailrace store (\d+)\]$/;

/** Table → its comment. */
type Comments = ReadonlyMap<string, string>;

/**
 * Checks the versions of a server's tables; one without a mark was being created when its process ended. Call it before
 * `applySchema`.
 *
 * @throws InputError if any table of the database is of another version
 */
export async function checkServerStore(engine: Engine): Promise<void> {
  for (const comment of (await readComments(engine)).values()) {
    const version = parseMark(comment);
    if (version !== undefined) rejectOther('CLICKHOUSE_URL: the event store there', version);
  }
}

/** Writes the version into the comment of each table that does not have it. */
export async function markServerStore(engine: Engine, sources: readonly Source[]): Promise<void> {
  const comments = await readComments(engine);
  for (const source of sources) {
    const comment = comments.get(storedTable(source, engine.cluster));
    if (comment === undefined || parseMark(comment) === STORE_VERSION) continue;
    await setComment(engine, source, withMark(comment));
  }
}

async function setComment(engine: Engine, source: Source, comment: string): Promise<void> {
  await engine.command(alterTable(source, engine.cluster, sql`MODIFY COMMENT ${comment}`));
}

/** Reads the comments of tables with rows: views have other comments (external.ts). */
async function readComments(engine: Engine): Promise<Comments> {
  const rows = await engine.inspect(
    "SELECT name, comment FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree'",
  );
  return new Map(rows.map((row) => [String(row['name']), String(row['comment'])]));
}

/** @returns the version; `undefined` without a mark */
function parseMark(comment: string): number | undefined {
  const [, version] = MARK.exec(comment) ?? [];
  return version === undefined ? undefined : Number(version);
}

function withMark(comment: string): string {
  const rest = comment.replace(MARK, '');
  const mark = `[tailrace store ${STORE_VERSION}]`;
  return rest === '' ? mark : `${rest} ${mark}`;
}

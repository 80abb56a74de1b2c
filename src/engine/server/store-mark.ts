import type { Source } from '../../definitions/source.ts';
import { sql } from '../../sql/sql.ts';
import type { Engine } from '../engine.ts';
import { refuseNewer, STORE_VERSION, UNMARKED, upgradeStore } from '../store-version.ts';
import { alterTable, storedTable } from '../table.ts';

// All processes on a server share this text in the comment of each table, after any text of an operator: the version of its layout, and a
// number that rises with every deletion of events.
const MARK = /\s*\[tailrace store (\d+)(?:, deletions (\d+))?\]$/;

/** Table → its comment. */
type Comments = ReadonlyMap<string, string>;

/**
 * Upgrades the tables of a server that are of an older version. Call it before `applySchema`.
 *
 * @throws InputError when any table of the database was written by a newer version
 */
export async function upgradeServerStore(engine: Engine, sources: readonly Source[]): Promise<void> {
  const comments = await readComments(engine);
  const newest = Math.max(0, ...readMarks(comments).map(({ version }) => version));
  refuseNewer(newest, STORE_VERSION, 'CLICKHOUSE_URL: the event store there');
  const versions = sources.flatMap((source) => {
    const comment = comments.get(storedTable(source, engine.cluster));
    return comment === undefined ? [] : [parseMark(comment)?.version ?? UNMARKED];
  });
  await upgradeStore(engine, { from: Math.min(STORE_VERSION, ...versions), sources });
}

/** Writes the version into the comment of each table that does not have it. */
export async function markServerStore(engine: Engine, sources: readonly Source[]): Promise<void> {
  const comments = await readComments(engine);
  const deletions = lastDeletion(comments);
  for (const source of sources) {
    const comment = comments.get(storedTable(source, engine.cluster));
    if (comment === undefined || parseMark(comment)?.version === STORE_VERSION) continue;
    await setComment(engine, source, withMark(comment, deletions));
  }
}

/** The number of the last deletion by any process. */
export async function readDeletions(engine: Engine): Promise<number> {
  return lastDeletion(await readComments(engine));
}

/**
 * Records that events of these sources were deleted, for every process on the server.
 *
 * @param nowMs ms since the epoch; the number rises even if clocks go back
 * @returns the number of this deletion
 */
export async function writeDeletion(
  engine: Engine,
  sources: readonly Source[],
  nowMs: number,
): Promise<number> {
  const comments = await readComments(engine);
  const deletions = Math.max(lastDeletion(comments) + 1, nowMs);
  for (const source of sources) {
    const comment = comments.get(storedTable(source, engine.cluster)) ?? '';
    await setComment(engine, source, withMark(comment, deletions));
  }
  return deletions;
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

function readMarks(comments: Comments) {
  return [...comments.values()].flatMap((comment) => parseMark(comment) ?? []);
}

function lastDeletion(comments: Comments): number {
  return Math.max(0, ...readMarks(comments).map(({ deletions }) => deletions));
}

/** `deletions` is 0 if there was none. */
function parseMark(comment: string) {
  const [found, version, deletions = '0'] = MARK.exec(comment) ?? [];
  return found === undefined ? undefined : { version: Number(version), deletions: Number(deletions) };
}

function withMark(comment: string, deletions: number): string {
  const rest = comment.replace(MARK, '');
  const mark = `[tailrace store ${STORE_VERSION}${deletions === 0 ? '' : `, deletions ${deletions}`}]`;
  return rest === '' ? mark : `${rest} ${mark}`;
}

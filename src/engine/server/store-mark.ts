import type { Source } from '../../definitions/source.ts';
import { sql } from '../../sql/sql.ts';
import type { Engine } from '../engine.ts';
import { refuseNewer, STORE_VERSION, UNMARKED, upgradeStore } from '../store-version.ts';
import { alterTable, storedTable } from '../table.ts';

// All processes on a server share this text in the comment of each table, after any text of an operator: the version of its layout.
const MARK = /\s*\[tailrace store (\d+)\]$/;

/** Table → its comment. */
type Comments = ReadonlyMap<string, string>;

/**
 * Upgrades the tables of a server that are of an older version. Call it before `applySchema`.
 *
 * @throws InputError when any table of the database was written by a newer version
 */
export async function upgradeServerStore(engine: Engine, sources: readonly Source[]): Promise<void> {
  const comments = await readComments(engine);
  const newest = Math.max(0, ...[...comments.values()].map((comment) => parseMark(comment) ?? 0));
  refuseNewer(newest, STORE_VERSION, 'CLICKHOUSE_URL: the event store there');
  const versions = sources.flatMap((source) => {
    const comment = comments.get(storedTable(source, engine.cluster));
    return comment === undefined ? [] : [parseMark(comment) ?? UNMARKED];
  });
  await upgradeStore(engine, { from: Math.min(STORE_VERSION, ...versions), sources });
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

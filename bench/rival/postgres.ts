import type { BenchData } from '../data.ts';
import { findShortage } from '../machine/disk-space.ts';
import { say, Unmeasured } from '../report.ts';
import { exportDays } from './kept.ts';
import { type ProjectPaths, queryPostgres } from './postgres-query.ts';
import { openKeptServer, type PostgresServer } from './postgres-server.ts';
import { type AnswerRow, type RivalEngine, type RivalVariant, timeRows } from './rival.ts';

/** The whole event in one JSONB column, with the common columns and an index on the time. */
const TABLES = ['edge_logs', 'function_edge_logs'] as const;
const createTable = (name: string) =>
  `CREATE TABLE ${name} (id text, timestamp timestamp NOT NULL, event_message text, body jsonb NOT NULL)`;
const createIndex = (name: string) => `CREATE INDEX ON ${name} (timestamp)`;

/** The path of the project in the received event. */
const BODIES: Readonly<Record<(typeof TABLES)[number], string>> = {
  edge_logs: `concat('{"project":', toJSONString(project::String), ',"metadata":', metadata, '}')`,
  function_edge_logs: `concat('{"metadata":', metadata, '}')`,
};

/** In its table with the index on time, and a day of the export. */
const BYTES_PER_EVENT = 2_750;
const INDEX_BYTES_PER_EVENT = 100;

interface Variant {
  readonly title: string;
  readonly paths: ProjectPaths;
}

/**
 * Both ask one database. The planner uses an index only for the expression that it was created with, so each variant
 * writes the same paths in its own way. No such index finds the addresses that match a pattern.
 */
const VARIANTS: Readonly<Record<RivalVariant, Variant>> = {
  plain: {
    title: 'one JSONB column',
    paths: {
      edge: "body ->> 'project'",
      invocation: "body -> 'metadata' ->> 'project_ref'",
      countsOwn: false,
    },
  },
  extended: {
    title: 'indexes on project and time',
    paths: {
      edge: "body #>> '{project}'",
      invocation: "body #>> '{metadata,project_ref}'",
      countsOwn: true,
    },
  },
};

const { edge, invocation } = VARIANTS.extended.paths;
/** Table → columns of the index for its questions: the newest of a project, and a range of time. */
const PROJECT_INDEXES: Readonly<Record<(typeof TABLES)[number], string>> = {
  edge_logs: `(${edge}), timestamp DESC`,
  function_edge_logs: `(${invocation}), timestamp`,
};

/** PostgreSQL on rows inserted by time. @throws as `openKeptServer` */
export async function openPostgres(data: BenchData, rows: number): Promise<RivalEngine> {
  const kept = { prefix: '', bytes: rows * BYTES_PER_EVENT };
  const { folder, server, version } = await openKeptServer(data, kept, async (filled) => {
    for (const table of TABLES) await loadTable(data, filled, table);
  });
  return {
    async rival(variant) {
      if (variant === 'extended')
        for (const table of TABLES) await indexProjects(server, table, { folder, rows });
      const { title, paths } = VARIANTS[variant];
      return {
        name: `PostgreSQL ${version}, ${title}`,
        ask(question, nowMs) {
          const { text, values } = queryPostgres(paths, question, nowMs);
          return timeRows(async () => (await server.client.query<AnswerRow>(text, [...values])).rows);
        },
      };
    },
    close: server.close,
  };
}

/** Creates the index on project and time once. */
async function indexProjects(
  { client }: PostgresServer,
  table: (typeof TABLES)[number],
  { folder, rows }: { folder: string; rows: number },
): Promise<void> {
  const name = `${table}_project`;
  const known = await client.query('SELECT 1 FROM pg_class WHERE relname = $1', [name]);
  if (known.rows.length > 0) return;
  const shortage = findShortage(folder, rows * INDEX_BYTES_PER_EVENT);
  if (shortage !== undefined) throw new Unmeasured(`an index ${shortage}`);
  say(`PostgreSQL creates the index on project and time of ${table}`);
  await client.query(`CREATE INDEX ${name} ON ${table} (${PROJECT_INDEXES[table]})`);
  await client.query(`ANALYZE ${table}`); // the planner knows the values of an expression by its index
}

async function loadTable(
  data: BenchData,
  server: PostgresServer,
  table: (typeof TABLES)[number],
): Promise<void> {
  await server.client.query(createTable(table));
  const columns = `id, timestamp, event_message, ${BODIES[table]}`;
  // Both formats use the same escapes.
  const rows = { table, columns, orderBy: 'timestamp', format: 'TabSeparated' } as const;
  await exportDays(data, rows, (file) => server.copy(`COPY ${table} FROM STDIN`, file));
  await server.client.query(createIndex(table));
  await server.client.query(`VACUUM (ANALYZE, FREEZE) ${table}`); // so that no query has to set hint bits
}

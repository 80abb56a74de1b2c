import { join } from 'node:path';
import { Session } from 'chdb';

/** An export of one day of a table of a closed store. */
export interface ExportJob {
  readonly dataDir: string;
  readonly table: string;
  /** SQL expressions; the table is `t`. */
  readonly columns: string;
  /** A project's events; default: all. */
  readonly project?: string;
  readonly orderBy: string;
  readonly format: 'Parquet' | 'TabSeparated' | 'JSONEachRow';
  readonly folder: string;
  /** Which of the table's days, from 0. */
  readonly nth: number;
}

process.once('message', async (job: ExportJob) => {
  process.send?.(await run(job), () => process.disconnect());
});

// The benchmark has ended.
process.once('disconnect', () => process.exit());

/** The engine writes the file: unlike a service's, this session has the right to. @returns the file; empty without such a day */
async function run({
  dataDir,
  table,
  columns,
  project,
  orderBy,
  format,
  folder,
  nth,
}: ExportJob): Promise<string> {
  const session = new Session(join(dataDir, 'store'));
  const days = await session.queryAsync(
    `SELECT DISTINCT toString(toDate(timestamp)) FROM tailrace.${table} ORDER BY 1 LIMIT 1 OFFSET ${nth}`,
    { format: 'TabSeparated' },
  );
  const day = days.text().trim();
  const file = day === '' ? '' : join(folder, `${table}-${day}.${format}`);
  const condition = project === undefined ? '' : `AND project = '${project}'`;
  if (file !== '')
    await session.queryAsync(`
      INSERT INTO FUNCTION file('${file}', '${format}')
      SELECT ${columns} FROM tailrace.${table} AS t WHERE toDate(timestamp) = '${day}' ${condition} ORDER BY ${orderBy}`);
  session.close();
  return file;
}

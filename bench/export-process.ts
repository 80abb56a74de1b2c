import { join } from 'node:path';
import { Session } from 'chdb';

/** An export of a table of a closed store, one file per day. */
export interface ExportJob {
  readonly dataDir: string;
  readonly table: string;
  /** SQL expressions. */
  readonly columns: string;
  readonly orderBy: string;
  readonly format: 'Parquet' | 'TabSeparated';
  readonly folder: string;
}

process.once('message', async (job: ExportJob) => {
  process.send?.(await run(job), () => process.disconnect());
});

// The benchmark has ended.
process.once('disconnect', () => process.exit());

/** The engine writes the files: unlike a service's, this session has the right to. @returns the files, oldest first */
async function run({ dataDir, table, columns, orderBy, format, folder }: ExportJob): Promise<string[]> {
  const session = new Session(join(dataDir, 'store'));
  const days = await session.queryAsync(
    `SELECT DISTINCT toString(toDate(timestamp)) FROM tailrace.${table} ORDER BY 1`,
    { format: 'TabSeparated' },
  );
  const files: string[] = [];
  for (const day of lines(days.text())) {
    const file = join(folder, `${table}-${day}.${format}`);
    await session.queryAsync(`
      INSERT INTO FUNCTION file('${file}', '${format}')
      SELECT ${columns} FROM tailrace.${table} WHERE toDate(timestamp) = '${day}' ORDER BY ${orderBy}`);
    files.push(file);
  }
  session.close();
  return files;
}

function lines(text: string): string[] {
  return text.split('\n').filter((line) => line !== '');
}

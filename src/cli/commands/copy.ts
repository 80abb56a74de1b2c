import { randomUUID } from 'node:crypto';
import { Command, InvalidArgumentError } from 'commander';
import { findServerAddress } from '../../config/clickhouse.ts';
import type { Config } from '../../config/config.ts';
import { copyDay } from '../../copy/copy-day.ts';
import { type Journal, openJournal } from '../../copy/journal.ts';
import { type DayPlan, planCopy } from '../../copy/plan.ts';
import { isManaged } from '../../definitions/source.ts';
import { hasEmbeddedStore } from '../../engine/embedded/sessions.ts';
import { toTailraceError } from '../../engine/failure.ts';
import { readDays } from '../../engine/store-state.ts';
import { InputError, messageOf, StoppedError, TailraceError } from '../../errors.ts';
import { type Core, openCore } from '../../service/open-core.ts';
import { type DayDone, isSent, printDone, printPlan } from '../copy-report.ts';
import { ownerName, readConfig, stopSignal } from '../environment.ts';
import { formatCount, sum } from '../format.ts';
import { collect, wholeNumber } from '../options.ts';
import { createProgress, createRate, type Progress } from '../progress.ts';

const CHUNK_ROWS = 100_000;
// The server stores more than this in several steps, and could be interrupted between them.
const CHUNK_ROWS_MAX = 1_000_000;

export function copyCommand(): Command {
  return new Command('copy')
    .description(
      'Copy the events of the data directory to a ClickHouse server, and compare each day. Stop the service first. The same command resumes.',
    )
    .requiredOption(
      '--to <url>',
      'the server, in the form of CLICKHOUSE_URL; other CLICKHOUSE_… settings apply',
    )
    .option('--source <name>', 'only this source; repeatable', collect)
    .option('--from-day <day>', 'first day, such as 2026-11-20', parseDay)
    .option('--until-day <day>', 'last day', parseDay)
    .option('--mix', 'include days for which the server has other events')
    .option('--dry-run', 'print the work, without a request to the server')
    .option(
      '--chunk-rows <n>',
      `events per request, at most (default: ${CHUNK_ROWS})`,
      wholeNumber(1, CHUNK_ROWS_MAX),
    )
    .action(copy);
}

interface Options {
  readonly to: string;
  readonly source?: readonly string[];
  readonly fromDay?: string;
  readonly untilDay?: string;
  readonly mix?: boolean;
  readonly dryRun?: boolean;
  readonly chunkRows?: number;
}

/** The engines of both sides; a dry run has no target. */
interface Sides {
  readonly here: Core;
  readonly there: Core | undefined;
  readonly journal: Journal;
}

// One chunk of the largest rows, and the time to read it from a busy disk.
const RESULT_BYTES_MAX = 512 * 1024 * 1024;
const READ_MS_MAX = 600_000;

async function copy(options: Options): Promise<void> {
  const { fromDay = '', untilDay = '9999' } = options;
  if (fromDay > untilDay)
    throw new InputError([
      `--until-day: ${untilDay} is before --from-day ${fromDay}, so there is no day to copy`,
    ]);
  const config = readTargetConfig(options.to);
  refuseMissing(config.dataDir);
  const address = findServerAddress(config);
  if (address === undefined) throw new InputError(['--to: must be the address of a ClickHouse server']);
  const target = `${address.url}/${address.database}`;
  const signal = stopSignal();
  await using cleanup = new AsyncDisposableStack();
  try {
    // Sources over existing tables are not copied; their tables may exist only on the server.
    const here = await openCore(createSourceConfig(config), ownerName('copy'), { hasExternal: false });
    cleanup.defer(here.close);
    const journal = openJournal(config.dataDir, target);
    cleanup.defer(journal.close);
    const there = options.dryRun === true ? undefined : await openCore(config, ownerName('copy'));
    if (there !== undefined) cleanup.defer(there.close);
    const sides = { here, there, journal };
    const plans = await planDays(sides, config, options);
    if (options.source === undefined) await warnOfUnnamed(here);
    if (there === undefined) return printPlan(plans, target);
    const done = await copyDays({ ...sides, there }, plans, { signal, options });
    printDone(done, target);
  } catch (error) {
    throw explain(error, target);
  }
}

/** Returns the settings of a service on the server. */
function readTargetConfig(to: string): Config {
  const given = process.env['CLICKHOUSE_URL'];
  if (given !== undefined && given !== '' && given !== to)
    process.stderr.write('tailrace: CLICKHOUSE_URL is ignored: --to names the server to copy to\n');
  try {
    // A bound only for the embedded store.
    return readConfig({ CLICKHOUSE_URL: to, TAILRACE_STORE_BYTES_MAX: undefined });
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    throw nameOption(error);
  }
}

/** Renames CLICKHOUSE_URL to `--to` in faults. */
function nameOption(error: InputError): InputError {
  const faults = error.faults.map((fault) => fault.replace(/^CLICKHOUSE_URL:/, '--to:'));
  return new InputError(faults, { cause: error });
}

/** Rejects a folder without a store: a mistyped one would be created and copied as empty. */
function refuseMissing(dataDir: string): void {
  if (hasEmbeddedStore(dataDir)) return;
  throw new InputError([
    `data directory ${dataDir} has no events; set TAILRACE_DATA_DIR to the folder that the service has stored them in`,
  ]);
}

/** Warns about tables without a source, which are not copied. */
async function warnOfUnnamed({ engine, registry }: Core): Promise<void> {
  const named = new Set(registry.sources.map(({ table }) => table));
  const tables = new Set(
    (await readDays(engine)).map(({ table }) => table).filter((table) => !named.has(table)),
  );
  for (const table of tables)
    process.stderr.write(
      `tailrace: the events of table ${table} are not copied: it no longer has a source\n`,
    );
}

function createSourceConfig(config: Config): Config {
  const { engineMemoryBytesMax } = config;
  return {
    ...config,
    clickhouseUrl: '',
    readers: 1,
    queryTimeoutMs: READ_MS_MAX,
    queryMemoryBytesMax: engineMemoryBytesMax, // it has no other queries
    resultBytesMax: RESULT_BYTES_MAX,
  };
}

async function planDays(
  { here, there, journal }: Sides,
  config: Config,
  options: Options,
): Promise<DayPlan[]> {
  const { registry } = here;
  const named = options.source?.map((name) => registry.getSource(name));
  const foreign = (named ?? []).filter((source) => !isManaged(source));
  if (foreign.length > 0)
    throw new InputError(
      foreign.map(({ name }) => `${name} points at an existing table, which is not copied`),
    );
  const target = { engine: there?.engine, cluster: findServerAddress(config)?.cluster ?? '', journal };
  return await planCopy(here.engine, target, {
    sources: named ?? registry.sources.filter(isManaged),
    fromDay: options.fromDay,
    untilDay: options.untilDay,
    mixes: options.mix === true,
    now: Date.now(),
  });
}

async function copyDays(
  { here, there, journal }: Sides & { there: Core },
  plans: readonly DayPlan[],
  { signal, options }: { signal: AbortSignal; options: Options },
): Promise<DayDone[]> {
  const total = sum(plans.filter(isSent).map(({ rows }) => rows));
  const progress = createProgress('copy', total);
  const rate = createRate();
  const done: DayDone[] = [];
  let rows = 0;
  try {
    for (const plan of plans) {
      const at = `${plan.source.name} ${plan.day}`;
      const check = () => {
        if (!signal.aborted) return;
        const far = `${formatCount(rows)} of ${formatCount(total)} events are copied`;
        throw new StoppedError(
          `stopped by ${signal.reason} at ${at}: ${far}; run the same command again to continue`,
        );
      };
      const onRows = (sent: number) => {
        rows += sent;
        progress.update(rows, `${at}, ${formatCount(rows)} events, ${rate(rows)}`);
      };
      const startMs = performance.now();
      const { chunkRows = CHUNK_ROWS, mix = false } = options;
      const how = { mixes: mix, chunkRowsMax: chunkRows, newId: randomUUID, check, onRows };
      if (plan.step !== 'old' && plan.step !== 'newer')
        await copyDay({ here: here.engine, there: there.engine, journal, ...how }, plan);
      done.push({ ...plan, seconds: (performance.now() - startMs) / 1000 });
      logSkipped(plan, progress);
    }
    return done;
  } finally {
    progress.stop();
  }
}

function logSkipped({ source, day, step }: DayPlan, progress: Progress): void {
  const at = `${source.name} ${day}`;
  if (step === 'old')
    progress.log(`${at}: left out: it is beyond the ${source.retentionDays} days that are kept`);
  if (step === 'newer')
    progress.log(`${at}: was copied and compared before; the server has received other events of it since`);
}

/** Adds the target, the cause and how to continue to a failure at the server. */
function explain(error: unknown, target: string): unknown {
  if (error instanceof InputError) return nameOption(error);
  if (error instanceof StoppedError) return error;
  // An error of the journal, such as a full disk.
  if (String((error as { code?: unknown } | null)?.code).startsWith('ERR_SQLITE')) return error;
  const failure = toTailraceError(error);
  if (failure.code === 'source_not_found') return failure;
  const why = failure.cause === undefined ? '' : messageOf(failure.cause);
  const cause = why === '' || failure.message.includes(why) ? '' : ` (${why})`;
  return new TailraceError(
    failure.code,
    `copying to ${target}: ${failure.message}${cause}; what was copied stays; run the same command again to continue`,
    { cause: error },
  );
}

function parseDay(text: string): string {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(time) && new Date(time).toISOString().startsWith(text)) return text;
  throw new InvalidArgumentError('It must be a day such as 2026-11-20.');
}

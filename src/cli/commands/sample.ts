import { Command } from 'commander';
import { isManaged } from '../../definitions/source.ts';
import { StoppedError } from '../../errors.ts';
import { MICROS_PER_MS } from '../../lib/instant.ts';
import { hasEvents, planSample, removeEvents, storeSample } from '../../sample/fill.ts';
import { type Core, openCore } from '../../service/open-core.ts';
import { ownerName, stopSignal } from '../environment.ts';
import { createProgress, createRate, formatCount, wholeNumber } from '../format.ts';
import { readStoreConfig } from '../local-service.ts';

interface Options {
  readonly rows: number;
  readonly seed: number;
  readonly days: number;
  readonly projects: number;
}

const DEFAULTS: Options = { rows: 300_000, seed: 1, days: 7, projects: 5 };

export function sampleCommand(): Command {
  return new Command('sample')
    .description('Store realistic generated logs for every shipped source, up to now.')
    .option('--rows <n>', 'events over all sources', wholeNumber(1, 1_000_000_000), DEFAULTS.rows)
    .option('--seed <n>', 'seed of the random events', wholeNumber(0, 2 ** 32), DEFAULTS.seed)
    .option('--days <n>', 'days that the events cover', wholeNumber(1, 90), DEFAULTS.days)
    .option(
      '--projects <n>',
      'number of projects; the first is aurora',
      wholeNumber(1, 1000),
      DEFAULTS.projects,
    )
    .action(sample);
}

async function sample(options: Options): Promise<void> {
  await using cleanup = new AsyncDisposableStack();
  const core = await openCore(readStoreConfig(), ownerName('sample'));
  cleanup.defer(core.close);
  const stop = stopSignal();
  const done = await fill(core, options, stop);
  if (stop.aborted) throw new StoppedError(`stopped by ${stop.reason}; ${done}`);
  process.stdout.write(`sample: ${done}\n`);
}

/**
 * Fills an empty store for `serve --sample`. If it is stopped it empties the store again: a part of the sample lacks
 * whole sources, and a later start would not add them.
 *
 * @param rows the number of events
 */
export async function fillWithSample(core: Core, stop: AbortSignal, rows = DEFAULTS.rows): Promise<void> {
  // The service itself writes to the others, such as what was done with keys.
  const sources = core.registry.sources.filter((source) => isManaged(source) && source.isInternal !== true);
  if (planSample(sources, rows).length === 0 || (await hasEvents(core.engine, sources))) return;
  const done = await fill(core, { ...DEFAULTS, rows }, stop);
  if (stop.aborted) await removeEvents(core.engine, sources);
  process.stderr.write(
    stop.aborted
      ? `sample: stopped by ${stop.reason}; no event is kept; the next start begins again\n`
      : `sample: ${done}\n`,
  );
}

/** @returns a note with the number of stored events */
async function fill(core: Core, options: Options, signal: AbortSignal): Promise<string> {
  const { rows, days } = options;
  const end = Date.now() * MICROS_PER_MS;
  const rate = createRate();
  const note = (stored: number) => `${formatCount(stored)} events, ${rate(stored)}`;
  process.stderr.write(`sample: storing ${formatCount(rows)} generated events of the last ${days} days\n`);
  const progress = createProgress('sample', rows);
  const onProgress = (stored: number) => progress(stored, note(stored));
  const sources = core.registry.sources.filter(isManaged);
  const stored = await storeSample(core.engine, sources, { ...options, end, signal, onProgress });
  return `${note(stored)}, are stored`;
}

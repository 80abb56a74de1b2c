import { setTimeout as wait } from 'node:timers/promises';
import { Command } from 'commander';
import type { Config } from '../../config/config.ts';
import { readDefinitions } from '../../definitions/read.ts';
import { createRegistry } from '../../definitions/registry.ts';
import { InputError, rejectFaults, StoppedError } from '../../errors.ts';
import { type Event, parseEvent } from '../../ingest/event.ts';
import { createFilterCounts, FILTER_RULES, findFilter, verifyFilters } from '../../ingest/filter/filter.ts';
import { RejectedEvent } from '../../ingest/read-event.ts';
import { rejectUnwritable } from '../../ingest/source-name.ts';
import { MICROS_PER_MS } from '../../lib/instant.ts';
import { stopSignal } from '../environment.ts';
import { createProgress, createRate, formatCount, formatCounted } from '../format.ts';
import { createInputs, type LineSink, type LoadProgress, loadEvents, type OpenInput } from '../load/lines.ts';
import { createRemoteSink } from '../load/send.ts';
import { findService, findStore } from '../local-service.ts';
import { addRemoteOptions, type Remote, type RemoteOptions } from '../remote.ts';

export function loadCommand(): Command {
  const command = new Command('load')
    .description(
      'Send the events of NDJSON files to the service that runs in this folder; bad lines are reported.',
    )
    .argument('<source>', 'name or UUID of the source, such as cloudflare.logs.prod')
    .argument('<files...>', 'files of an event a line, plain, .gz or .zst; - is standard input')
    .option('--dry-run', 'store nothing; say what the rules of the source would leave out or change');
  return addRemoteOptions(command, 'send them to this service instead', 'ingest').action(load);
}

interface LoadOptions extends RemoteOptions {
  readonly dryRun?: boolean;
}

/** What all files of a load share. */
interface Load {
  readonly source: string;
  readonly config: Config;
  /** `undefined`: a dry run. */
  readonly service: Remote | undefined;
  readonly signal: AbortSignal;
  readonly onWithoutProject: (events: number) => void;
}

// Longest wait of an event of standard input.
const COMMIT_EVERY_MS = 1_000;

async function load(source: string, files: string[], options: LoadOptions): Promise<void> {
  if (options.dryRun === true && options.url !== undefined)
    throw new InputError(['--dry-run reads the definitions of this machine; leave out --url']);
  const { config } = findStore();
  const signal = stopSignal();
  const open = createInputs(files, signal);
  const service = options.dryRun === true ? undefined : await findService(config, options);
  let withoutProject = 0;
  const onWithoutProject = (events: number) => {
    withoutProject += events;
  };
  let rejected = 0;
  try {
    for (const name of files) {
      const shared = { source, config, service, signal, onWithoutProject };
      const done = await loadFile(shared, open(name));
      rejected += done.rejected;
      if (signal.aborted) {
        const where = `after line ${done.line} of ${name}`;
        throw new StoppedError(`stopped by ${signal.reason} ${where}; what was read is stored`);
      }
    }
  } finally {
    if (withoutProject > 0)
      process.stderr.write(
        `tailrace: ${formatCounted(withoutProject, 'event')} stored without a project: no key that ` +
          `pins a project can read them; name it in the event or in TAILRACE_DEFAULT_PROJECT\n`,
      );
  }
  // The reasons are on standard error already, a line each.
  if (rejected > 0) process.exitCode = 1;
}

async function loadFile(shared: Load, input: OpenInput): Promise<LoadProgress & { rejected: number }> {
  const { config, signal } = shared;
  const { name, total } = input;
  const progress = createProgress(name, total);
  const rate = createRate();
  let rejected = 0;
  let repaired = 0;
  const onRejected = (line: number, reason: string) => {
    rejected++;
    log(`${name}:${line}: ${reason}`);
  };
  const { service, source } = shared;
  const sink =
    service === undefined
      ? await openDryRun(source, { config, onRejected })
      : createRemoteSink({
          ...{ ...service, source, project: config.defaultProject, onRejected },
          onWithoutProject: shared.onWithoutProject,
          wait: async (ms) => void (await wait(ms, undefined, { signal })),
          onRetry: (reason, ms) =>
            log(`${service.url}: ${reason}; trying again in ${Math.ceil(ms / 1000)} s`),
        });
  const note = ({ stored }: LoadProgress) =>
    `${formatCounted(stored, 'event')}, ${rate(stored)}, ${formatCount(rejected)} ` +
    `rejected${sink.describeFiltered?.() ?? ''}`;
  let last: LoadProgress | undefined;
  try {
    const done = await loadEvents(sink, input.lines, {
      ...(name === '-' && { commitEveryMs: COMMIT_EVERY_MS }),
      signal,
      onRepaired: () => repaired++,
      onProgress(now) {
        last = now;
        progress(input.done(now), note(now));
      },
    });
    process.stdout.write(`${name}: ${note(done)}\n`);
    if (repaired > 0)
      process.stderr.write(
        `${name}: ${formatCounted(repaired, 'line')} with bytes that are not UTF-8, each stored as U+FFFD\n`,
      );
    return { ...done, rejected };
  } catch (error) {
    throw input.explain(error, last);
  }
}

function log(line: string): void {
  process.stderr.write(`${line}\n`);
}

// Redacted events that are shown.
const SHOWN_MAX = 3;

interface DryRunOptions {
  readonly config: Config;
  readonly onRejected: (line: number, reason: string) => void;
}

/**
 * Creates a sink that only counts what would be stored, by the rules of a source. Opens no store, so that a service may
 * run beside.
 *
 * @throws InputError with all faults of the definitions
 */
async function openDryRun(name: string, { config, onRejected }: DryRunOptions): Promise<LineSink> {
  const { definitions, faults } = await readDefinitions(config);
  rejectFaults([...faults, ...(await verifyFilters(definitions.sources))]);
  const source = rejectUnwritable(createRegistry(definitions).getSource(name));
  const { defaultProject: project } = config;
  const filter = findFilter(source);
  const filtered = createFilterCounts();
  let stored = 0;

  function add(line: number, text: string): void {
    const parsed = parseEvent({ text }, source, { now: Date.now() * MICROS_PER_MS, project });
    const event = filter === undefined ? parsed : filter(parsed, filtered);
    if (event === undefined) return;
    stored++;
    if (event !== parsed && filtered.redact <= SHOWN_MAX) log(`line ${line} would be ${describe(event)}`);
  }

  return {
    add(line, text) {
      try {
        add(line, text);
      } catch (error) {
        if (!(error instanceof RejectedEvent)) throw error;
        onRejected(line, error.message);
      }
      return undefined;
    },
    reject: (line, reason) => void onRejected(line, reason),
    flush: async () => {},
    get stored() {
      return stored;
    },
    describeFiltered() {
      const applied = FILTER_RULES.filter((rule) => filtered[rule] > 0);
      return applied.map((rule) => `, ${formatCount(filtered[rule])} by ${rule}`).join('');
    },
  };
}

function describe({ message, metadata, attributes }: Event): string {
  return [JSON.stringify(message), metadata, attributes].filter((text) => text !== '').join(' ');
}

import { setTimeout as wait } from 'node:timers/promises';
import type { Config } from '../../config/config.ts';
import { InputError } from '../../errors.ts';
import type { FilterCounts } from '../../ingest/filter/filter.ts';
import type { LineSink } from '../../ingest/load.ts';
import { createRemoteSink } from '../../ingest/remote-sink.ts';
import { refuseUnwritable } from '../../ingest/source-name.ts';
import { createStoreSink } from '../../ingest/store-sink.ts';
import { createCountingWriter, createEventWriter } from '../../ingest/writer.ts';
import { openCore } from '../../service/open-core.ts';
import { describeEvent, readSource } from '../dry-run.ts';
import { ownerName } from '../environment.ts';
import { findService } from '../find-store.ts';
import type { Progress } from '../progress.ts';
import { findRemote, type RemoteOptions } from '../remote.ts';

// Redacted events that a dry run shows.
const SHOWN_MAX = 3;

export type Reject = (line: number, reason: string) => void;

export interface TargetOptions extends RemoteOptions {
  readonly dryRun?: boolean;
}

/** What a sink tells, and how its batches are named. */
export interface SinkOptions {
  readonly onRejected: Reject;
  readonly progress: Progress;
  /** Counts the events to which rules of the source apply, unless a service does. */
  readonly filtered: FilterCounts;
  /** See `createEventWriter`. */
  readonly nextToken?: (() => string) | undefined;
}

/** The target of the events. */
export interface Target {
  createSink(options: SinkOptions): LineSink;
  close(): Promise<void>;
}

interface OpenOptions {
  readonly config: Config;
  readonly signal: AbortSignal;
  readonly onWithoutProject: (events: number) => void;
}

/** Opens the store, a running service, or nothing but the source's rules. @throws InputError */
export async function openTarget(
  source: string,
  options: TargetOptions,
  { config, signal, onWithoutProject }: OpenOptions,
): Promise<Target> {
  const { defaultProject: project } = config;
  const rules = { project, now: Date.now };
  if (options.dryRun === true) {
    if (options.url !== undefined)
      throw new InputError(['--dry-run reads the definitions of this machine; leave out --url']);
    const found = await readSource(config, source);
    return {
      createSink: ({ onRejected, progress, filtered }) =>
        createStoreSink(createCountingWriter(), found, {
          ...{ ...rules, filtered, onRejected, onWithoutProject: () => {} },
          onRedacted(line, event) {
            if (filtered.redact <= SHOWN_MAX) progress.log(`line ${line} would be ${describeEvent(event)}`);
          },
        }),
      close: async () => {},
    };
  }
  const remote = findRemote(options) ?? findService(config, options);
  if (remote !== undefined) {
    const sleep = async (ms: number) => void (await wait(ms, undefined, { signal }));
    return {
      createSink: ({ onRejected, progress, nextToken: nextKey }) =>
        createRemoteSink({
          ...{ ...remote, source, project, onRejected, onWithoutProject, wait: sleep, nextKey },
          onRetry: (reason, ms) =>
            progress.log(`${remote.url}: ${reason}; trying again in ${Math.ceil(ms / 1000)} s`),
        }),
      close: async () => {},
    };
  }
  const core = await openCore(config, ownerName('load'));
  try {
    const found = refuseUnwritable(core.registry.getSource(source));
    const how = { ...rules, onWithoutProject: () => onWithoutProject(1) };
    return {
      createSink: ({ onRejected, filtered, nextToken }) =>
        createStoreSink(createEventWriter(core.engine, found, nextToken), found, {
          ...how,
          onRejected,
          filtered,
        }),
      close: core.close,
    };
  } catch (error) {
    await core.close();
    throw error;
  }
}

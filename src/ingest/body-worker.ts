import { constants, setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import type { Source } from '../definitions/source.ts';
import { messageOf, TailraceError } from '../errors.ts';
import { type BodyFormat, type OpenedBody, openBody } from './body.ts';
import { transferable } from './body-transfer.ts';
import type { EventRules } from './event.ts';
import { readEvents } from './read-events.ts';

/**
 * What src/ingest/body-reader.ts asks of this thread. `body` is the number of a request: an opened body stays here, parsed,
 * until its events are read or it is dropped.
 */
export type Ask = { readonly body: number } & (
  | { readonly ask: 'open'; readonly bytes: Uint8Array; readonly format: BodyFormat }
  | { readonly ask: 'read'; readonly source: Source; readonly rules: EventRules }
  | { readonly ask: 'drop' }
);

/** Answers come in the order of what was asked; nothing answers `drop`. */
export type Answer = { readonly value: unknown } | { readonly failure: Failure };

export interface Failure {
  /** Of a TailraceError; `undefined` for a fault of ours. */
  readonly code: TailraceError['code'] | undefined;
  readonly message: string;
  /** For the log; errors pass from thread to thread with their stacks. */
  readonly cause: unknown;
}

const opened = new Map<number, OpenedBody>();

// Whoever reads answers goes first: with both cores busy, callers of endpoints would wait behind the events that come in.
// Elsewhere than on Linux this would be the priority of the whole process.
if (process.platform === 'linux') setPriority(0, constants.priority.PRIORITY_BELOW_NORMAL);

parentPort?.on('message', (ask: Ask) => {
  if (ask.ask === 'drop') opened.delete(ask.body);
  else parentPort?.postMessage(...answer(() => (ask.ask === 'open' ? open(ask) : read(ask))));
});

type Reply = [Answer, ArrayBuffer[]];

function answer(work: () => Reply): Reply {
  try {
    return work();
  } catch (error) {
    return [{ failure: toFailure(error) }, []];
  }
}

function toFailure(error: unknown): Failure {
  if (!(error instanceof TailraceError)) return { code: undefined, message: messageOf(error), cause: error };
  const { code, message, cause } = error;
  return { code, message, cause };
}

function open({ body, bytes, format }: Ask & { ask: 'open' }): Reply {
  const events = openBody(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), format);
  opened.set(body, events);
  return [{ value: events.fields }, []];
}

function read({ body, source, rules }: Ask & { ask: 'read' }): Reply {
  const events = opened.get(body)?.events ?? [];
  opened.delete(body);
  const value = readEvents(events, source, rules);
  return [{ value }, value.rows.flatMap(({ bytes }) => transferable(bytes))];
}

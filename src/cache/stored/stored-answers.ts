import { setImmediate as yieldToRequests } from 'node:timers/promises';
import { isAdHoc } from '../../definitions/endpoint.ts';
import type { Engine } from '../../engine/engine.ts';
import { readFingerprint, type StoreFingerprint } from '../../engine/store-fingerprint.ts';
import type { WriteMarks, WriteVersion } from '../../engine/write-marks.ts';
import type { Question } from '../../query/question.ts';
import type { Answer } from '../../query/run.ts';
import type { Basis } from '../incremental.ts';
import { continueMarks } from './continue-marks.ts';
import type { StoredAnswer } from './file.ts';
import { type GuardedFile, type GuardedFileOptions, openGuardedFile } from './guarded-file.ts';

/** Answers of endpoints with time buckets that outlive the process, so that the next one computes only what has changed. */
export interface StoredAnswers {
  /** Finds an answer to refresh, and sets its basis. It is too old to be served. */
  find(question: Question): Answer | undefined;
  /** Takes an answer to be stored by the next `save`. */
  note(question: Question, answer: Answer, basis: Basis): void;
  /** Stores the noted answers and the state of the store. For a timer. @throws SQLite's error if the disk is full: the next one tries again */
  save(): Promise<void>;
  /** Removes all answers at once, since events have been deleted. */
  clear(): void;
  /** Saves for the last time; the engine has to be open. Never rejects. */
  close(): Promise<void>;
}

export interface StoredAnswersOptions extends GuardedFileOptions {
  readonly engine: Pick<Engine, 'inspect'>;
  readonly writes: WriteMarks;
  /** The bases of answers, which `find` adds to. */
  readonly bases: WeakMap<Answer, Basis>;
  /** The tables whose every write is marked. */
  readonly tables: () => readonly string[];
  /** Size of the file; beyond it the answers that expire first are removed. */
  readonly bytesMax: number;
  /** ms since the epoch. */
  readonly now: () => number;
}

// A day takes as long as an hour of it: both are little beside the analysis of the text.
const RANGE_SECONDS_MIN = 2 * 86_400;
// Afterwards more than half of an answer is out of its range; then everything is computed (bucket-plan.ts).
const USEFUL_SHARE = 0.5;
const ANSWER_BYTES_MAX = 1024 * 1024;
// Noted between two saves; beyond it the oldest are not stored.
const NOTED_BYTES_MAX = 16 * 1024 * 1024;
// SQLite writes on the thread that serves requests: a transaction of this size takes a few milliseconds.
const SLICE_BYTES = 256 * 1024;

/**
 * Opens the answers of earlier processes on the same data directory, and continues their write marks. To be called before the first query
 * and the first write.
 */
export async function openStoredAnswers(options: StoredAnswersOptions): Promise<StoredAnswers> {
  const { engine, writes, bases, now } = options;
  const file = openGuardedFile(options);
  const noted = createNoted();
  const fingerprint = await readFingerprint(engine).catch(file.fail);
  if (fingerprint !== undefined) {
    const earlier = file.use((opened) => opened.readState());
    if (earlier !== undefined) continueMarks(writes, earlier, { tables: options.tables(), fingerprint });
  }
  const save = createSave(options, { file, noted, fingerprint });
  return {
    save,
    find(question) {
      if (findRange(question) === undefined) return undefined;
      const found = file.use((opened) => opened.find(question.key, now()));
      if (found === undefined) return undefined;
      const { body, rows, rowStarts, instantMs, engineMs, version, lostUntil } = found;
      const { format } = question;
      const answer = { body: Buffer.from(body), rows, rowStarts, format, instantMs, engineMs };
      bases.set(answer, { version, lostUntil });
      return answer;
    },
    note(question, answer, basis) {
      const rangeMs = findRange(question);
      const { body, rowStarts, rows, instantMs, engineMs } = answer;
      if (rangeMs === undefined || rowStarts === undefined || body.length > ANSWER_BYTES_MAX) return;
      const expiresMs = Math.ceil(instantMs + rangeMs * USEFUL_SHARE);
      const { version, lostUntil } = { ...basis, lostUntil: Math.ceil(basis.lostUntil) };
      const { key } = question;
      noted.add({ key, body, rows, rowStarts, instantMs, engineMs, version, lostUntil, expiresMs });
    },
    clear() {
      writes.markAll(); // answers that are being computed may have these events; so none of them is reused
      noted.take();
      file.clear();
    },
    async close() {
      await save().catch(() => {});
      file.close();
    },
  };
}

/** The range of an answer that is stored, ms; `undefined` for others. */
function findRange({ endpoint, values, format }: Question): number | undefined {
  const { bucket } = endpoint;
  if (bucket === undefined || format.framing === undefined || isAdHoc(endpoint)) return undefined;
  const span = bucket.spans.get(bucket.by === undefined ? '' : (values[bucket.by] ?? ''));
  return span === undefined || span.rangeSeconds < RANGE_SECONDS_MIN ? undefined : span.rangeSeconds * 1000;
}

type Noted = ReturnType<typeof createNoted>;

/** The latest answers by their keys, until they are stored. */
function createNoted() {
  let answers = new Map<string, StoredAnswer>();
  let bytes = 0;

  function remove(key: string): void {
    bytes -= answers.get(key)?.body.length ?? 0;
    answers.delete(key);
  }

  return {
    add(answer: StoredAnswer): void {
      remove(answer.key);
      answers.set(answer.key, answer);
      bytes += answer.body.length;
      for (const key of answers.keys()) {
        if (bytes <= NOTED_BYTES_MAX) return;
        remove(key);
      }
    },
    take(): StoredAnswer[] {
      const taken = [...answers.values()];
      answers = new Map();
      bytes = 0;
      return taken;
    },
  };
}

interface SaveParts {
  readonly file: GuardedFile;
  readonly noted: Noted;
  /** The fingerprint when the store was opened; `undefined`: nothing is stored. */
  readonly fingerprint: StoreFingerprint | undefined;
}

function createSave(options: StoredAnswersOptions, { file, noted, fingerprint }: SaveParts) {
  const { engine, writes, tables, bytesMax, now } = options;
  let last = fingerprint;
  // Writes up to here are in the file, or before every answer.
  let saved: WriteVersion = -1;
  let floor: WriteVersion = 0;

  /** Rows of these tables may change, or have changed, without a write: the engine rewrites parts. */
  function markRewritten(next: StoreFingerprint): void {
    for (const name of tables()) {
      const [before, after] = [last?.get(name), next.get(name)];
      if (before?.table !== after?.table || before?.isRewriting || after?.isRewriting) writes.mark(name);
    }
  }

  async function putAnswers(): Promise<void> {
    for (const slice of slices(noted.take().filter(({ version }) => version >= floor))) {
      file.use((opened) => opened.put(slice));
      await yieldToRequests();
    }
  }

  return async () => {
    if (last === undefined) return;
    await putAnswers();
    const next = await readFingerprint(engine);
    // A write that the fingerprint has may not be marked as ended, and answers may not have it.
    await writes.settled();
    markRewritten(next);
    const { version } = writes;
    const states = tables().flatMap((name) => {
      const found = next.get(name);
      return found === undefined ? [] : [{ name, ...found, changed: writes.changesSince(name, saved) }];
    });
    const known = file.use((opened) => {
      opened.prune(now(), bytesMax);
      return opened.writeState(states, version);
    });
    last = next;
    if (known === undefined) return;
    floor = known;
    saved = version;
  };
}

/** Splits answers into groups of bounded size. */
function* slices(answers: readonly StoredAnswer[]): Generator<StoredAnswer[]> {
  let slice: StoredAnswer[] = [];
  let bytes = 0;
  for (const answer of answers) {
    slice.push(answer);
    bytes += answer.body.length;
    if (bytes < SLICE_BYTES) continue;
    yield slice;
    [slice, bytes] = [[], 0];
  }
  if (slice.length > 0) yield slice;
}

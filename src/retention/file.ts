import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Static, type TSchema, Type } from 'typebox';
import { replaceFile } from '../lib/file.ts';
import { compileSchema } from '../lib/schema-check.ts';

// Small files of the data directory through which runs of the service and `tailrace retention` inform each other.

// The largest date; a file with a larger one is damaged.
const MS_MAX = 8.64e15;

const CLOCK = Type.Object({ seen_ms: Type.Number({ minimum: 0, maximum: MS_MAX }) });

const DAY = Type.Object({
  table: Type.String(),
  day: Type.String(),
  rows: Type.Number(),
  bytes: Type.Number(),
});

const REPORT = Type.Object({
  clock: Type.Object({
    state: Type.Enum(['plausible', 'ahead', 'behind']),
    clockMs: Type.Number({ description: 'What the clock said, ms since the epoch.' }),
    isOther: Type.Boolean({ description: 'Whether that was the clock of a server.' }),
    plausibleMs: Type.Number({ description: 'What it should have said.' }),
  }),
  due: Type.Array(
    Type.Object({
      source: Type.String(),
      reason: Type.Enum(['age', 'size']),
      days: Type.Array(DAY),
      percent: Type.Number({
        description: 'Share of the events of the source, or of the bytes of all sources.',
      }),
      held: Type.Optional(Type.Enum(['clock', 'share'])),
    }),
  ),
  storeBytesMax: Type.Number({ description: 'The bound that was enforced; 0: none.' }),
});
/** The findings and actions of retention's last run. */
export type RetentionReport = Static<typeof REPORT>;
/** The days of one source that are due for one reason, oldest first: deleted together, or held together if `held` is set. */
export type DueDays = RetentionReport['due'][number];
/** `age`: beyond the retention of its source. `size`: the store is larger than its bound. */
export type DropReason = DueDays['reason'];
/** The reason why due days are not deleted. `clock`: it has jumped ahead. `share`: too much of what is stored, so an operator has to confirm. */
export type HoldReason = NonNullable<DueDays['held']>;

const CONFIRMATION = Type.Object({
  clockOffsetMs: Type.Optional(Type.Number({ description: 'How far ahead of what was expected.' })),
  days: Type.Array(Type.Object({ table: Type.String(), day: Type.String() })),
});
/** The report that an operator has seen and confirmed: only this clock and these days. */
export type Confirmation = Static<typeof CONFIRMATION>;

interface StateFile<T> {
  /** `undefined` if the file is missing or damaged. */
  read(): T | undefined;
  write(value: T): void;
  remove(): void;
}

/** The time at which the store was last open, by a plausible clock. */
export const clockFile = (dataDir: string) => createFile(join(dataDir, 'clock.json'), CLOCK);
export const reportFile = (dataDir: string) => createFile(join(dataDir, 'retention.json'), REPORT);
/** Written by `tailrace retention --confirm`, removed by the service that has applied it. */
export const confirmationFile = (dataDir: string) =>
  createFile(join(dataDir, 'retention-confirmed.json'), CONFIRMATION);

function createFile<T extends TSchema>(path: string, schema: T): StateFile<Static<T>> {
  const isValid = compileSchema(schema);
  return {
    read() {
      try {
        const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
        return isValid(value) ? value : undefined;
      } catch {
        return undefined;
      }
    },
    write: (value) => replaceFile(path, `${JSON.stringify(value)}\n`),
    remove: () => rmSync(path, { force: true }),
  };
}

/** Confirms everything in a report. */
export function confirmAll({ clock, due }: RetentionReport): Confirmation {
  const days = due.flatMap((one) => one.days.map(({ table, day }) => ({ table, day })));
  if (clock.state === 'plausible') return { days };
  return { clockOffsetMs: clock.clockMs - clock.plausibleMs, days };
}

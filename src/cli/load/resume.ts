import { hash, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Type } from 'typebox';
import { Check } from 'typebox/value';
import { InputError, messageOf } from '../../errors.ts';
import { replaceFile } from '../../lib/file.ts';
import type { Checkpoints } from './lines.ts';

/** How far one load got, in a file beside it. */
export interface Resume {
  /** Begins an input: where to go on, and the names of its batches. */
  begin(input: string): { readonly resume: Checkpoints; readonly nextToken: () => string };
}

// So often is everything stored that was read; a load that begins anew reads at most as many lines again.
export const CHECKPOINT_LINES = 10_000;

const STATE = Type.Object({
  id: Type.String(),
  source: Type.String(),
  lines: Type.Record(Type.String(), Type.Integer({ minimum: 0 })),
});

interface State {
  readonly id: string;
  readonly source: string;
  readonly lines: Readonly<Record<string, number>>;
}

/**
 * Opens the file of `--resume`, which is created if it is missing.
 *
 * @throws InputError if it is another file, or of a load into another source
 */
export function openResume(path: string, source: string): Resume {
  const file = resolve(path);
  let state = readState(file) ?? { id: randomUUID(), source, lines: {} };
  if (state.source !== source)
    throw new InputError([
      `${path}: is of a load into ${state.source}, not ${source}; name another file with --resume`,
    ]);
  const nameOf = (input: string) => (/^[a-z][a-z0-9+.-]*:\/\//i.test(input) ? input : resolve(input));
  const save = (input: string, line: number) => {
    state = { ...state, lines: { ...state.lines, [nameOf(input)]: line } };
    replaceFile(file, `${JSON.stringify(state)}\n`);
  };
  return {
    begin(input) {
      const after = state.lines[nameOf(input)] ?? 0;
      let from = after;
      let batch = 0;
      const reached = (line: number) => {
        save(input, line);
        from = line;
        batch = 0;
      };
      save(input, after);
      return {
        resume: { after, everyLines: CHECKPOINT_LINES, reached },
        // The same for the same lines: a batch that was stored, but not written down here before a crash, is not stored again.
        nextToken: () => hash('sha256', JSON.stringify([state.id, nameOf(input), from, batch++])),
      };
    },
  };
}

function readState(file: string): State | undefined {
  try {
    const state: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (Check(STATE, state)) return state as State; // the type of its schema
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw new InputError([`${file}: cannot be read as a file of --resume: ${messageOf(error)}`]);
  }
  throw new InputError([`${file}: is not a file of --resume; name one that is not there yet`]);
}

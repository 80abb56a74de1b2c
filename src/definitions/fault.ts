import { InputError } from '../errors.ts';

/** Something wrong in a definition file. */
export interface Fault {
  /** Path as given to the service, such as `endpoints/logs.all/endpoint.yaml`. */
  readonly file: string;
  /** Counts from 1. */
  readonly line: number;
  /** The place in the line, in UTF-16 units; counts from 1. Left out if the fault has none. */
  readonly column?: number;
  /** What is wrong, and what would be right. */
  readonly message: string;
  /** Whether a draft with it can be run. */
  readonly mayRun?: boolean;
}

/** Returns the line and column of an offset in a text, each counted from 1. */
export function placeAt(text: string, offset: number): Required<Pick<Fault, 'line' | 'column'>> {
  const before = text.slice(0, offset).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

/** Writes `file:line: message`, the form that editors and terminals make clickable. */
export function formatFault(fault: Fault): string {
  return `${fault.file}:${fault.line}: ${fault.message}`;
}

/**
 * @param others lines of faults that are not in definitions
 * @throws InputError with a line for each fault, in the order of files and lines, then `others`
 */
export function refuseFaults(faults: readonly Fault[], others: readonly string[] = []): void {
  if (faults.length === 0 && others.length === 0) return;
  const ordered = faults.toSorted((a, b) => a.file.localeCompare(b.file) || a.line - b.line);
  throw new InputError([...ordered.map(formatFault), ...others]);
}

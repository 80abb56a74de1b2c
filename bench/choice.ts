import { InvalidArgumentError } from 'commander';

/** A chosen section and its chosen measurements; none means all. */
export interface Choice {
  readonly section: string;
  readonly only: readonly string[];
}

/**
 * Chooses the sections to run.
 *
 * @param measurements section → its measurements that can be chosen
 * @param given names of sections; none means all
 * @param only names of sections and measurements to narrow the choice; none means all
 * @throws InvalidArgumentError if a name is unknown or the choice is empty
 */
export function chooseSections(
  measurements: Readonly<Record<string, readonly string[]>>,
  given: readonly string[],
  only: readonly string[],
): Choice[] {
  const sections = Object.keys(measurements);
  refuseUnknown(given, sections);
  refuseUnknown(only, [...sections, ...Object.values(measurements).flat()]);
  const chosen = (given.length > 0 ? sections.filter((name) => given.includes(name)) : sections).flatMap(
    (section) => {
      const own = (measurements[section] ?? []).filter((name) => only.includes(name));
      if (only.length === 0 || only.includes(section)) return { section, only: [] };
      return own.length > 0 ? { section, only: own } : [];
    },
  );
  if (chosen.length > 0) return chosen;
  throw new InvalidArgumentError(`Nothing of ${given.join(', ')} is called ${only.join(', ')}.`);
}

function refuseUnknown(names: readonly string[], known: readonly string[]): void {
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length === 0) return;
  throw new InvalidArgumentError(`There is no ${unknown.join(', ')}; there are ${known.join(', ')}.`);
}

/** Parses `1000000,10000000`: distinct whole numbers from 1. @throws InvalidArgumentError */
export function parseCounts(text: string): number[] {
  const counts = text.split(',').map(parseCount);
  if (new Set(counts).size === counts.length) return counts;
  throw new InvalidArgumentError('It must not name a number twice.');
}

/** @throws InvalidArgumentError unless it is a whole number from 1 to 9,999,999,999 */
export function parseCount(text: string): number {
  if (/^[1-9]\d{0,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number from 1 to 9,999,999,999.');
}

/** Names joined by commas. */
export function splitNames(text: string): string[] {
  return text.split(',');
}

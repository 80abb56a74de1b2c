import { InvalidArgumentError } from 'commander';

/** A section that runs, with the measurements of it that do; none means all of them. */
export interface Choice {
  readonly section: string;
  readonly only: readonly string[];
}

/**
 * Which sections run.
 *
 * @param measurements section → the measurements in it that can be chosen by themselves
 * @param given names of sections; none means all
 * @param only names of sections and measurements, to which that is narrowed; none means all
 * @throws InvalidArgumentError when a name is unknown, or nothing is left to do
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

/** `1000000,10000000`: whole numbers from 1, each once. @throws InvalidArgumentError */
export function parseCounts(text: string): number[] {
  const counts = text.split(',').map(parseCount);
  if (new Set(counts).size === counts.length) return counts;
  throw new InvalidArgumentError('It must not name a number twice.');
}

/** @throws InvalidArgumentError when it is no whole number from 1 to 999,999,999 */
export function parseCount(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number from 1 to 999,999,999.');
}

/** Names joined by commas. */
export function splitNames(text: string): string[] {
  return text.split(',');
}

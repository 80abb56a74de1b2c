import { readFileSync, writeFileSync } from 'node:fs';

/**
 * The figures of `npm run bench -- guard`: each is the cost of something that Tailrace does, divided by the cost of work that depends neither on
 * its code nor on its tables, or a number of bytes divided by another. Less is better.
 */
export const FIGURES = {
  cached: 'cached GET / bare Fastify',
  event: 'ingest / `JSON.parse`',
  insert: 'its engine share / bare `INSERT`',
  'statistics-1day': 'statistics 1day / count',
  'statistics-7day': 'statistics 7day / count',
  'newest-100': 'newest 100 / count',
  'usage-hourly': 'usage hourly / count',
  'usage-daily': 'usage daily / count',
  search: 'search / count',
  start: 'start / loading the engine',
  disk: 'bytes on disk / bytes of JSON',
} as const;

export type FigureName = keyof typeof FIGURES;

export const FIGURE_NAMES = Object.keys(FIGURES) as FigureName[]; // the keys of a constant

export type Figures = Readonly<Record<FigureName, number>>;

/** The share by which a figure may be worse than the saved one: its noise is less. */
export const WORSE_MAX = 0.15;

export interface Worse {
  readonly name: FigureName;
  readonly saved: number;
  readonly measured: number;
}

/** Finds the figures that are worse than the saved ones by more than `WORSE_MAX`, and those that could not be measured. */
export function findWorse(saved: Figures, measured: Figures): Worse[] {
  return FIGURE_NAMES.filter((name) => !(measured[name] <= saved[name] * (1 + WORSE_MAX))).map((name) => ({
    name,
    saved: saved[name],
    measured: measured[name],
  }));
}

/** Returns the lower value of each figure. */
export function takeBetter(a: Figures, b: Figures): Figures {
  const lower = FIGURE_NAMES.map((name) => [name, Math.min(a[name], b[name])] as const);
  return Object.fromEntries(lower) as Record<FigureName, number>; // all names
}

/** Describes a figure that is worse, such as `start: 4.1 instead of 3.2 (+28 %)`. */
export function describeWorse({ name, saved, measured }: Worse): string {
  const change = Math.round((measured / saved - 1) * 100);
  return `${name} (${FIGURES[name]}): ${formatFigure(measured)} instead of ${formatFigure(saved)} (+${change} %)`;
}

/** Three digits: more are noise. */
function formatFigure(value: number): string {
  return String(Number(value.toPrecision(3)));
}
/** The figures of a version, as `npm run bench -- guard --save` measured them. */
export interface Guard {
  /** An abbreviated hash; it ends in `-dirty` if files had changed since. */
  readonly commit: string;
  /** YYYY-MM-DD. */
  readonly date: string;
  /** Of the machine. */
  readonly cores: number;
  readonly figures: Figures;
}

export const GUARD_FILE = 'bench/guard.json';

/** @throws Error if a figure is missing */
export function readGuard(path = GUARD_FILE): Guard {
  return checkGuard(JSON.parse(readFileSync(path, 'utf8')) as Guard); // `writeGuard` writes it
}

/** Writes figures with three digits. @throws Error if a figure was not measured */
export function writeGuard(guard: Guard, path = GUARD_FILE): void {
  const figures = FIGURE_NAMES.map((name) => [name, Number(formatFigure(guard.figures[name]))]);
  const rounded = checkGuard({ ...guard, figures: Object.fromEntries(figures) });
  writeFileSync(path, `${JSON.stringify(rounded, undefined, 2)}\n`);
}

function checkGuard(guard: Guard): Guard {
  const wrong = FIGURE_NAMES.filter((name) => !(guard.figures[name] > 0));
  if (wrong.length === 0) return guard;
  throw new Error(
    `${GUARD_FILE}: ${wrong.join(', ')} must be above 0; run \`npm run bench -- guard --save\``,
  );
}

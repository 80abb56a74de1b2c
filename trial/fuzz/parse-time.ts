import { createRandom, type Random } from '../../src/lib/random.ts';
import type { Parser } from './parser.ts';

/** The text that took a parser longest, of those that were tried. */
export interface Slowest {
  readonly parser: string;
  /** How the text is made. */
  readonly text: string;
  readonly chars: number;
  /** Time of this thread on a core. */
  readonly ms: number;
  /** Times as much for each character from a quarter of that length to all of it: 1 for work in proportion to the length. */
  readonly growth: number;
}

/** A text of any length, made of a parser's tokens. */
interface Shape {
  readonly text: string;
  readonly make: (chars: number) => string;
}

interface Tried {
  readonly shape: Shape;
  readonly chars: number;
  readonly ms: number;
}

// A bound that the longest text exceeds may let a shorter one pass, which then takes longer.
const SHARES = [1, 1 / 4, 1 / 16];
const PAIRS_PER_MIXTURE = 10;
const SPAN_MS = 20;
const TRIES = 4;
// Nearer to 1 than to 4: no other try is needed.
const CLEAR = 1.5;

/**
 * Grows each construct of each parser's texts, nested and side by side, up to the accepted length.
 *
 * @param mixtures random texts for each parser, and a tenth of the pairs of constructs; beside each construct by itself
 */
export async function measureParsers(
  parsers: Readonly<Record<string, Parser>>,
  mixtures: number,
  seed: string,
): Promise<Slowest[]> {
  const all: Slowest[] = [];
  for (const [name, parser] of Object.entries(parsers))
    all.push(await measureParser(name, parser, { mixtures, random: createRandom(`${seed} ${name}`) }));
  return all;
}

async function measureParser(
  name: string,
  parser: Parser,
  { mixtures, random }: { mixtures: number; random: Random },
): Promise<Slowest> {
  const single = createSingles(parser);
  const mixed = [
    ...createPairs(parser, mixtures * PAIRS_PER_MIXTURE, random),
    ...createMixtures(parser, mixtures, random),
  ];
  const tried: Tried[] = [];
  const attempt = async (shape: Shape, share: number) => {
    const chars = Math.floor(parser.charsMax * share);
    const text = shape.make(chars);
    tried.push({ shape, chars, ms: await shortestMs(() => parser.parse(text)) });
  };
  for (const shape of single) for (const share of SHARES) await attempt(shape, share);
  for (const shape of mixed) await attempt(shape, random.pick(SHARES));
  const { shape, chars } = tried.reduce((a, b) => (b.ms > a.ms ? b : a));
  const work = (length: number) => {
    const text = shape.make(length);
    return () => parser.parse(text);
  };
  const factor = await growthOf(work, Math.floor(chars / 4));
  return { parser: name, text: shape.text, chars, ms: await leastCoreMs(work(chars)), growth: factor };
}

async function shortestMs(work: () => unknown): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < 2; i++) {
    const startMs = performance.now();
    await work();
    times.push(performance.now() - startMs);
  }
  return Math.min(...times);
}

/** As `coreMs` of trial/growth.ts, up to the end of the promise. */
async function coreMs(work: () => unknown): Promise<number> {
  const start = process.threadCpuUsage();
  for (let runs = 1; ; runs++) {
    await work();
    const { user, system } = process.threadCpuUsage(start);
    if (user + system >= SPAN_MS * 1_000) return (user + system) / 1_000 / runs;
  }
}

/** The least of several tries: a thread's time includes collecting the garbage of what ran before. */
async function leastCoreMs(work: () => unknown): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i < TRIES; i++) least = Math.min(least, await coreMs(work));
  return least;
}

async function growthOf(work: (chars: number) => () => unknown, chars: number): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i < TRIES && least > CLEAR; i++) {
    const whole = await coreMs(work(4 * chars));
    least = Math.min(least, whole / (4 * (await coreMs(work(chars)))));
  }
  return least;
}

/** Each construct by itself: again and again, nested, and nested without an end; then the parser's own shapes. */
function createSingles({ tokens, nests = [], shapes = {}, frame }: Parser): Shape[] {
  const nested = nests.flatMap(([open, close]): Shape[] => {
    const text = `${JSON.stringify(open)} in itself`;
    const levels = (chars: number) => Math.floor(chars / (open.length + close.length));
    const make = (chars: number) => open.repeat(levels(chars)) + close.repeat(levels(chars));
    return [{ text, make: framed(frame, make) }, createShape('', [open], frame)];
  });
  const own = Object.entries(shapes).map(([text, make]): Shape => ({ text, make }));
  return [...tokens.map((token) => createShape('', [token], frame)), ...nested, ...own];
}

/** A token again and again after another one, which may leave something open: all such pairs, or as many at random. */
function createPairs({ tokens, frame }: Parser, countMax: number, random: Random): Shape[] {
  if (tokens.length ** 2 <= countMax)
    return tokens.flatMap((start) => tokens.map((token) => createShape(start, [token], frame)));
  return Array.from({ length: countMax }, () =>
    createShape(random.pick(tokens), [random.pick(tokens)], frame),
  );
}

/** Several tokens in a random order, again and again: with what opens something at the start, or nesting it. */
function createMixtures({ tokens, frame }: Parser, count: number, random: Random): Shape[] {
  const some = (max: number) => Array.from({ length: random.whole(1, max) }, () => random.pick(tokens));
  return Array.from({ length: count }, () => createShape(some(2).join(''), some(5), frame));
}

function createShape(start: string, tokens: readonly string[], frame: Parser['frame']): Shape {
  const unit = tokens.join('');
  const make = (chars: number) =>
    start + unit.repeat(Math.max(Math.floor((chars - start.length) / unit.length), 0));
  return {
    text: `${JSON.stringify(start)}, then ${JSON.stringify(unit)} again and again`,
    make: framed(frame, make),
  };
}

function framed(frame: Parser['frame'], make: Shape['make']): Shape['make'] {
  const [before, after] = frame ?? ['', ''];
  return (chars) => before + make(Math.max(chars - before.length - after.length, 0)) + after;
}

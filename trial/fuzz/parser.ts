import { createRandom, type Random } from '../../src/lib/random.ts';

/** A reader of texts that callers send, which runs on the thread that answers requests. */
export interface Parser {
  /** Longest text that reaches it, UTF-16 units. */
  readonly charsMax: number;
  /** What its texts are made of: side by side, one behind each other one, and in random mixtures. */
  readonly tokens: readonly string[];
  /** What opens and what closes a level of nesting, and what is within the innermost. */
  readonly nests?: readonly (readonly [open: string, close: string, inner?: string])[];
  /** Texts that tokens cannot make, such as many names that differ. */
  readonly shapes?: Readonly<Record<string, (chars: number) => string>>;
  /** Stands before and after tokens and nests. */
  readonly frame?: readonly [before: string, after: string];
  /** A promise of what goes on in later turns counts up to its end. A rejected text is a result; see `rejecting`. */
  readonly parse: (text: string) => unknown;
  /** Whether a text is accepted, if short ones are and long ones are not: the longest accepted one is also tried. */
  readonly accepts?: (text: string) => boolean;
}

/** The text that took a parser longest, of those that were tried. */
export interface Slowest {
  /** How the text is made. */
  readonly text: string;
  readonly chars: number;
  /** Time of this thread on a core. */
  readonly ms: number;
}

/** Runs a parser that rejects a text by an error. @throws RangeError if it has ended the stack, which no rejection may rest on */
export function rejecting(work: () => unknown): unknown {
  const reject = (error: unknown) => {
    if (error instanceof RangeError && error.message.includes('call stack')) throw error;
    return error;
  };
  try {
    const result = work();
    return result instanceof Promise ? result.catch(reject) : result;
  } catch (error) {
    return reject(error);
  }
}

/** Tokens in one text, since many of them are white space. */
export function split(text: string): string[] {
  return text.split('¦');
}

/** A parser of which nothing but its tokens, in one text, has to be said. */
export function reader(charsMax: number, tokens: string, parse: Parser['parse']): Parser {
  return { charsMax, tokens: split(tokens), parse };
}

/** Levels of nesting in one text: `open…close`, or `open…inner…close`. */
export function nest(text: string): (readonly [open: string, close: string, inner: string])[] {
  return split(text).map((one) => {
    const parts = one.split('…');
    return [parts[0] ?? '', parts.at(-1) ?? '', parts.length > 2 ? (parts[1] ?? '') : ''];
  });
}

/** As many different parts as fit. */
export function distinct(part: (i: number) => string, [before, after]: readonly [string, string] = ['', '']) {
  return (chars: number): string => {
    let text = before;
    for (let i = 0; ; i++) {
      const next = part(i);
      if (text.length + next.length + after.length > chars) return text + after;
      text += next;
    }
  };
}

/** A text of any length, made of a parser's tokens. */
interface Shape {
  readonly text: string;
  readonly make: (chars: number) => string;
}

// A bound that the longest text exceeds may let a shorter one pass, which then takes longer.
const SHARES = [1, 1 / 4, 1 / 16];
const PAIRS_PER_MIXTURE = 10;
const SPAN_MS = 20;
const TRIES = 4;

/**
 * Grows each construct of a parser's texts, nested, repeated and without an end, up to the accepted length.
 *
 * @param mixtures random texts, and a tenth of the pairs of constructs; beside each construct by itself
 */
export async function measureParser(parser: Parser, mixtures: number, seed: string): Promise<Slowest> {
  const random = createRandom(seed);
  let slowest: Slowest = { text: '', chars: 0, ms: 0 };
  async function attempt({ text, make }: Shape, chars: number): Promise<void> {
    const tried = make(chars);
    const work = () => parser.parse(tried);
    if ((await shortestMs(work)) <= slowest.ms) return;
    const ms = await leastCoreMs(work); // by the clock, other processes are in it
    if (ms > slowest.ms) slowest = { text, chars, ms };
  }
  for (const shape of createSingles(parser)) {
    for (const share of SHARES) await attempt(shape, Math.floor(parser.charsMax * share));
    if (parser.accepts !== undefined) await attempt(shape, findAccepted(shape, parser));
  }
  for (const shape of createMixtures(parser, mixtures, random))
    await attempt(shape, Math.floor(parser.charsMax * random.pick(SHARES)));
  return slowest;
}

/** The length of the longest text of a shape that is accepted. */
function findAccepted({ make }: Shape, { charsMax, accepts }: Parser): number {
  const step = 16;
  let [low, high] = [0, Math.floor(charsMax / step)];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (accepts?.(make(middle * step)) === true) low = middle;
    else high = middle - 1;
  }
  return low * step;
}

async function shortestMs(work: () => unknown): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i < 2; i++) {
    const startMs = performance.now();
    await work();
    least = Math.min(least, performance.now() - startMs);
  }
  return least;
}

/** Time on a core up to the end of the promise: the least of several tries, since it includes collecting the garbage of what ran before. */
export async function leastCoreMs(work: () => unknown): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i < TRIES; i++) {
    const start = process.threadCpuUsage();
    let micros = 0;
    let runs = 0;
    for (; micros < SPAN_MS * 1_000; runs++) {
      await work();
      const { user, system } = process.threadCpuUsage(start);
      micros = user + system;
    }
    least = Math.min(least, micros / 1_000 / runs);
  }
  return least;
}

/** Each construct by itself: again and again, nested, and nested without an end; then the parser's own shapes. */
function createSingles({ tokens, nests = [], shapes = {}, frame }: Parser): Shape[] {
  const nested = nests.flatMap(([open, close, inner = '']): Shape[] => {
    const make = (chars: number) => {
      const levels = Math.max(Math.floor((chars - inner.length) / (open.length + close.length)), 0);
      return open.repeat(levels) + inner + close.repeat(levels);
    };
    const text = `${JSON.stringify(open)} in itself`;
    return [{ text, make: framed(frame, make) }, ...(open === '' ? [] : [createShape('', [open], frame)])];
  });
  const own = Object.entries(shapes).map(([text, make]): Shape => ({ text, make }));
  return [...tokens.map((token) => createShape('', [token], frame)), ...nested, ...own];
}

/** A token again and again after another one, which may leave something open; and several in a random order, again and again. */
function createMixtures({ tokens, frame }: Parser, count: number, random: Random): Shape[] {
  const some = (max: number) => Array.from({ length: random.whole(1, max) }, () => random.pick(tokens));
  const pair = () => createShape(random.pick(tokens), [random.pick(tokens)], frame);
  const mixture = () => createShape(some(2).join(''), some(5), frame);
  return [
    ...Array.from({ length: count * PAIRS_PER_MIXTURE }, pair),
    ...Array.from({ length: count }, mixture),
  ];
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

function framed([before, after]: Parser['frame'] = ['', ''], make: Shape['make']): Shape['make'] {
  return (chars) => before + make(Math.max(chars - before.length - after.length, 0)) + after;
}

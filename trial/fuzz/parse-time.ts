import { createRandom, type Random } from '../../src/lib/random.ts';
import { coreMs, growth, shortestMs } from '../growth.ts';
import { PARSERS, type Parser } from './parsers.ts';

/** The text that took a parser longest, of those that were tried. */
export interface Slowest {
  readonly parser: string;
  /** How the text is made. */
  readonly text: string;
  /** On a core, at the longest text that reaches the parser. */
  readonly ms: number;
  /** Times as much for each character from a quarter of that length to all of it: 1 for work in proportion to the length. */
  readonly growth: number;
}

/** A text of any length, made of a parser's tokens. */
interface Shape {
  readonly text: string;
  readonly make: (chars: number) => string;
}

/** @param mixtures random shapes for each parser, beside one token repeated and one after another */
export function measureParsers(mixtures: number, seed: string): Slowest[] {
  return Object.entries(PARSERS).map(([name, parser]) => {
    const random = createRandom(`${seed} ${name}`);
    const shapes = [...createRepetitions(parser), ...createMixtures(parser, mixtures, random)];
    const times = shapes.map((shape) => ({ shape, ms: shortestMs(prepare(parser, shape), 2) }));
    const { shape } = times.reduce((a, b) => (b.ms > a.ms ? b : a));
    const quarter = Math.floor(parser.charsMax / 4);
    const factor = growth((chars) => parser.parse(shape.make(chars)), quarter);
    return { parser: name, text: shape.text, ms: coreMs(prepare(parser, shape)), growth: factor };
  });
}

function prepare({ charsMax, parse }: Parser, { make }: Shape): () => unknown {
  const text = make(charsMax);
  return () => parse(text);
}

/** A token again and again, by itself and after each other one, which may leave something open. */
function createRepetitions({ tokens }: Parser): Shape[] {
  return tokens.flatMap((token) => ['', ...tokens].map((start) => createShape(start, [token])));
}

/** Several tokens in a random order, again and again: with what opens something at the start, or nesting it. */
function createMixtures({ tokens }: Parser, count: number, random: Random): Shape[] {
  const some = (max: number) => Array.from({ length: random.whole(1, max) }, () => random.pick(tokens));
  return Array.from({ length: count }, () => createShape(some(2).join(''), some(5)));
}

function createShape(start: string, tokens: readonly string[]): Shape {
  const unit = tokens.join('');
  const make = (chars: number) => start + unit.repeat(Math.floor((chars - start.length) / unit.length));
  return { text: `${JSON.stringify(start)}, then ${JSON.stringify(unit)} again and again`, make };
}

import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const FOLDER = 'console/src/';
// uPlot, highlight.js and CodeMirror name these.
const OF_LIBRARY = /^(u|hljs|cm)-/;

/** Classes of each selector of each style sheet, `:is(…)` and `:not(…)` included. */
const own = globSync(`${FOLDER}**/*.css`).flatMap((file) => {
  const text = readFileSync(file, 'utf8').replace(/\/\*.*?\*\//gs, '');
  return [...text.matchAll(/([^{};]+)\{/g)]
    .flatMap(([, list = '']) => list.split(/,(?![^(]*\))/))
    .map((selector) => ({
      file: file.slice(FOLDER.length),
      text: selector.trim(),
      classes: namesIn(selector),
    }))
    .filter(({ classes }) => classes.length > 0 && !classes.some((name) => OF_LIBRARY.test(name)));
});
const isModifier = (name: string) => name.startsWith('is-');

test('a modifier is a class is-… beside its block, and only that stands beside a block', () => {
  const faults = own.filter(({ text }) => {
    const compounds = text.split(/[\s>+~,()]+/).map(namesIn);
    return compounds.some(([first = '', ...others]) => isModifier(first) || !others.every(isModifier));
  });
  expect(faults.map(({ file, text }) => `${file}: ${text}`)).toEqual([]);
});

test('a class belongs to one style sheet; another one adjusts it below a class of its own', () => {
  const faults = [
    ...Map.groupBy(
      own.flatMap((one) => one.classes.map((name) => ({ ...one, name }))),
      ({ name }) => name,
    ),
  ]
    .filter(([name]) => !isModifier(name))
    .flatMap(([name]) => (homesOf(name).size === 1 ? [] : [`${name}: ${[...homesOf(name)].join(', ')}`]));
  const foreign = own.filter(({ file, classes }) => !classes.some((name) => homesOf(name).has(file)));
  expect([...faults, ...foreign.map(({ file, text }) => `${file}: ${text}`)]).toEqual([]);
});

/** The style sheets that define a class: those with a selector of no other class; without one, those that use it. */
function homesOf(name: string): ReadonlySet<string> {
  const uses = own.filter(({ classes }) => classes.includes(name));
  const definitions = uses.filter(({ classes }) => classes.every((one) => one === name || isModifier(one)));
  return new Set((definitions.length > 0 ? definitions : uses).map(({ file }) => file));
}

function namesIn(selector: string): string[] {
  return [...selector.matchAll(/\.([a-z][\w-]*)/gi)].map(([, name = '']) => name);
}

test('each class of a style sheet is used by a component', () => {
  const source = globSync(`${FOLDER}**/*.{ts,tsx}`)
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n');
  const words = new Set(source.match(/[\w-]+/g));
  // `tone-${tone}`: with each text in quotes.
  const prefixes = new Set([...source.matchAll(/[\s`']([a-z-]+-)\$\{/g)].map(([, prefix = '']) => prefix));
  const isUsed = (name: string) =>
    words.has(name) ||
    [...prefixes].some((prefix) => name.startsWith(prefix) && words.has(name.slice(prefix.length)));
  expect([...new Set(own.flatMap(({ classes }) => classes))].filter((name) => !isUsed(name))).toEqual([]);
});

import { readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type Document, isMap as isMapNode, isNode, isScalar, isSeq, parseDocument, YAMLSeq } from 'yaml';
import { InputError, messageOf } from '../../errors.ts';
import { findBelow } from '../../lib/below.ts';
import { adopt, expectationOf, isMap } from './expectation.ts';
import type { CaseResult } from './run-file.ts';
import type { Row } from './test-case.ts';

type Path = readonly (string | number)[];

const ALIASED = 'another case has an alias (*) of rows that would change; give each case its own rows';

// Longer lists and maps are broken into lines; those of the file that are as long stay.
const LINE_CHARS_MIN = 110;

/**
 * Writes the answers of failed cases into their test file as the expected ones. The text of other cases stays as it is; comments,
 * order, and numbers that are near the answer's stay in all.
 *
 * @param failed of one file
 * @throws InputError if the file has changed since it was read, or aliases that prevent it
 */
export async function updateTestFile(file: string, failed: readonly CaseResult[]): Promise<void> {
  const [first] = failed;
  if (first === undefined) return;
  const { endpoint, yaml } = first.test;
  const { text } = yaml;
  if ((await readFile(file, 'utf8')) !== text)
    throw new InputError([`${file} has changed while its tests ran; nothing was written, run them again`]);
  const document = parseDocument(text, { intAsBigInt: true });
  for (const result of failed) updateCase(document, result);
  try {
    const lineWidth = Math.max(LINE_CHARS_MIN, ...text.split('\n').map((line) => line.length + 1));
    const indexes = failed.map(({ test, case: one }) => test.cases.indexOf(one));
    const updated = replaceCases(text, document.toString({ lineWidth }), indexes);
    if (!isDeepStrictEqual(withoutCases(text, indexes), withoutCases(updated, indexes)))
      throw new InputError([ALIASED]);
    await writeFile(await findBelow(dirname(endpoint.file), join('tests', basename(file))), updated);
  } catch (error) {
    throw new InputError([`${file} cannot be written: ${messageOf(error)}`], { cause: error });
  }
}

/** Returns a document's text with some cases of another one; the whole other text if the mixture would mean something else. */
function replaceCases(text: string, other: string, indexes: readonly number[]): string {
  const [rangeOf, rangeOfOther] = [findCases(text), findCases(other)];
  let replaced = text;
  for (const index of indexes.toSorted((a, b) => b - a)) {
    const [from, to] = [rangeOf(index), rangeOfOther(index)];
    const lines = other.slice(to.start, to.end).split(`\n${' '.repeat(to.column)}`);
    const lineEnd = text.includes('\r\n') ? '\r\n' : '\n';
    const own = lines.join(`\n${' '.repeat(from.column)}`).replaceAll('\n', lineEnd);
    replaced = replaced.slice(0, from.start) + own + replaced.slice(from.end);
  }
  return isDeepStrictEqual(toValue(replaced), toValue(other)) ? replaced : other;
}

/** Returns the content of a file without some of its cases, with aliases resolved. */
function withoutCases(text: string, indexes: readonly number[]): unknown {
  const { cases, ...others } = toValue(text) as { cases: readonly unknown[] }; // of a test file without faults
  return { ...others, cases: cases.filter((_, i) => !indexes.includes(i)) };
}

/** Finds the place of each case in a text, with the comment at its end. */
function findCases(text: string) {
  const document = parseDocument(text);
  return (index: number) => {
    const node = document.getIn(['cases', index], true);
    const [start, , nodeEnd] = (isNode(node) ? node.range : undefined) ?? [0, 0, 0];
    const end = start + text.slice(start, nodeEnd).trimEnd().length;
    return { start, end, column: start - text.lastIndexOf('\n', start - 1) - 1 };
  };
}

/** @returns undefined if it is not YAML */
function toValue(text: string): unknown {
  const document = parseDocument(text, { intAsBigInt: true });
  return document.errors.length > 0 ? undefined : document.toJS();
}

function updateCase(document: Document, { test, case: one, outcome }: CaseResult): void {
  const at = ['cases', test.cases.indexOf(one)];
  const { rows, error } = expectationOf(outcome);
  document.deleteIn([...at, rows === undefined ? 'rows' : 'error']);
  if (rows === undefined) {
    document.deleteIn([...at, 'approximately']);
    replace(document, [...at, 'error'], error);
    return;
  }
  const list = document.getIn([...at, 'rows'], true);
  if (isSeq(list) && list.items.length > 0)
    replace(document, [...at, 'rows'], adopt(rows, one.rows ?? [], one.toleranceOf));
  else {
    document.setIn([...at, 'rows'], listOf(document, rows));
    const map = document.getIn(at, true);
    if (isMapNode(map) && rows.length > 0) map.flow = false; // within { } the rows would be, too
  }
}

/** Writes a line for each row. */
function listOf(document: Document, rows: readonly Row[]): YAMLSeq {
  const list = new YAMLSeq();
  for (const row of rows) list.add(document.createNode(row, { flow: true }));
  return list;
}

/** Changes only what differs, so that the comments beside the rest stay. */
function replace(document: Document, at: Path, value: unknown): void {
  const node = document.getIn(at, true);
  if (isSeq(node) && Array.isArray(value)) {
    node.items.splice(value.length);
    for (const [i, item] of value.entries()) replace(document, [...at, i], item);
  } else if (isMapNode(node) && isMap(value) && node.items.every(({ key }) => isTextKey(key))) {
    node.items = node.items.filter(({ key }) => Object.hasOwn(value, String(key)));
    for (const [name, member] of Object.entries(value)) replace(document, [...at, name], member);
  } else if (!isScalar(node) || isObject(value)) {
    document.setIn(at, document.createNode(value, { flow: true }));
  } else if (!isSame(node.value, value)) node.value = value;
}

function isTextKey(key: unknown): boolean {
  return isScalar(key) && typeof key.value === 'string';
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

/** Whether two values are equal. Integers of the document are BigInts, those of the answer only beyond 2^53. */
function isSame(written: unknown, value: unknown): boolean {
  return typeof written === 'bigint' && typeof value === 'number'
    ? Number(written) === value
    : written === value;
}

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { FIGURE_NAMES, type Figures } from './figure.ts';
import { type Guard, parseGuard, readGuard, writeGuard } from './file.ts';

const folder = mkdtempSync(join(tmpdir(), 'tailrace-guard-'));
afterAll(() => rmSync(folder, { recursive: true }));
const path = join(folder, 'guard.json');

const figures = Object.fromEntries(FIGURE_NAMES.map((name, i) => [name, 1 + i])) as Figures; // all names
const GUARD: Guard = { commit: '0123abc', date: '2026-11-23', cores: 2, figures };

describe('the file of figures', () => {
  test('has three digits of each', () => {
    writeGuard({ ...GUARD, figures: { ...figures, search: 31.2849, disk: 0.097156 } }, path);
    expect(readGuard(path)).toEqual({ ...GUARD, figures: { ...figures, search: 31.3, disk: 0.0972 } });
  });

  test('stays as it is if a figure was not measured', () => {
    writeGuard(GUARD, path);
    const before = readFileSync(path, 'utf8');
    const measured = { ...GUARD, figures: { ...figures, start: Number.NaN } };
    expect(() => writeGuard(measured, path)).toThrow('start: must be a number above 0');
    expect(readFileSync(path, 'utf8')).toBe(before);
  });

  test.each<[string, unknown, string]>([
    ['that is not an object', [GUARD], 'it must be an object'],
    ['without a commit', { ...GUARD, commit: 'main' }, 'commit must be the hash of a commit'],
    ['without a date', { ...GUARD, date: 'today' }, 'date must be YYYY-MM-DD'],
    ['without cores', { ...GUARD, cores: 0.5 }, 'cores must be a whole number from 1'],
    ['without figures', { ...GUARD, figures: [] }, 'figures must be an object'],
    ['without one figure', { ...GUARD, figures: { ...figures, disk: undefined } }, 'disk: must be a number'],
    ['with a figure as text', { ...GUARD, figures: { ...figures, disk: '0.1' } }, 'disk: must be a number'],
    ['with an unknown figure', { ...GUARD, figures: { ...figures, disc: 1 } }, 'disc: unknown'],
    ['with an unknown member', { ...GUARD, machine: 'mine' }, 'machine: unknown'],
  ])('is rejected %s', (_, value, message) => {
    expect(() => parseGuard(JSON.stringify(value))).toThrow(message);
  });

  test('is rejected if it is cut off, with its name and the command that writes it', () => {
    writeFileSync(path, JSON.stringify(GUARD).slice(0, 40));
    expect(() => readGuard(path)).toThrow(
      /^bench\/guard\.json: .*`npm run bench -- guard --save` writes it$/,
    );
  });
});

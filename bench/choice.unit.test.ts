import { describe, expect, test } from 'vitest';
import { chooseSections, parseCount, parseCounts } from './choice.ts';

const MEASUREMENTS = { cold: [], ingest: ['batches', 'single'], kill: [] };
const choose = (given: readonly string[], only: readonly string[]) =>
  chooseSections(MEASUREMENTS, given, only);

describe('what the benchmark runs', () => {
  test('is every section where nothing is named', () => {
    expect(choose([], []).map(({ section }) => section)).toEqual(['cold', 'ingest', 'kill']);
  });

  test('is the named sections, in the order of the benchmark', () => {
    expect(choose(['kill', 'cold'], [])).toEqual([
      { section: 'cold', only: [] },
      { section: 'kill', only: [] },
    ]);
  });

  test('takes sections and measurements from --only alike', () => {
    expect(choose([], ['single', 'cold'])).toEqual([
      { section: 'cold', only: [] },
      { section: 'ingest', only: ['single'] },
    ]);
  });

  test('narrows a named section to the measurements of --only', () => {
    expect(choose(['ingest'], ['batches'])).toEqual([{ section: 'ingest', only: ['batches'] }]);
  });

  test('runs a section whole that --only names itself beside one of its measurements', () => {
    expect(choose([], ['ingest', 'batches'])).toEqual([{ section: 'ingest', only: [] }]);
  });

  test.each([
    [['colt'], [], 'There is no colt; there are cold, ingest, kill.'],
    [['batches'], [], 'There is no batches; there are cold, ingest, kill.'],
    [[], ['cold', 'bathces'], 'There is no bathces; there are cold, ingest, kill, batches, single.'],
    [['cold'], ['batches'], 'Nothing of cold is called batches.'],
  ])('refuses %j with --only %j', (given, only, message) => {
    expect(() => choose(given, only)).toThrow(message);
  });
});

describe('--rows', () => {
  test('is a number or several', () => {
    expect(parseCounts('1000000')).toEqual([1_000_000]);
    expect(parseCounts('1000000,1000000000')).toEqual([1_000_000, 1_000_000_000]);
  });

  test.each(['', '0', '1,', '1,,2', '-1', '1.5', '1e6', ' 1', '10000000000'])('refuses %j', (text) => {
    expect(() => parseCounts(text)).toThrow('It must be a whole number from 1 to 9,999,999,999.');
  });

  test('refuses a size twice', () => {
    expect(() => parseCounts('5,6,5')).toThrow('It must not name a number twice.');
  });

  test('is told from other counts, which are one number', () => {
    expect(() => parseCount('1,2')).toThrow('It must be a whole number');
  });
});

import type { ResultColumn } from '../../definitions/endpoint.ts';
import { SEARCH_FROM, SEARCH_UNTIL, type SearchScope, type WriteSearch, writeArms } from '../arms.ts';
import { writeDouble, writeForm } from '../number.ts';
import type { PlannedPart } from '../part.ts';
import { NAME_OF_PATH, selectPairs, writePairs, writePath } from './pairs.ts';
import { chooseSample, countEvents, printShare, type Sample, writeSample } from './sample.ts';

// Two million values of events with a hundred fields take the engine about a second of a core.
const ROWS_MAX = 20_000;
export const FIELDS_DEFAULT = 200;
const TOP_MAX = 5;

const FIELD_COLUMNS: readonly ResultColumn[] = [
  { name: 'field', type: 'string', description: 'Name of the field, as a search names it.' },
  { name: 'coverage', type: 'number', description: 'Share of the events that have a value, 0 to 1.' },
  { name: 'distinct', type: 'integer', description: 'Number of different values.' },
  { name: 'top', type: 'json', description: 'The five most frequent: a list of {"value", "count"}.' },
  ...(['min', 'max', 'p50', 'p95'] as const).map((name) => ({
    name,
    type: 'number' as const,
    description: `${name} of the numbers; null unless half of the values are numbers.`,
  })),
];

/** Describes each field of the events: how many have it, and which values. */
export function planFields(scope: SearchScope, size: number): Omit<PlannedPart, 'values'> {
  return {
    columns: FIELD_COLUMNS,
    maxRows: size,
    prepare: async (ask) => {
      const [events = 0] = await countEvents(ask, scope);
      const sample = chooseSample(events, ROWS_MAX);
      return { writeSelect: writeFields(scope, sample, size), sampledShare: printShare(sample.share) };
    },
  };
}

/** A text that is a number as JSON writes it, as a double; else NULL. */
const NUMBER = writeDouble(writeForm('value'));
// With the exact level, the weighted function takes the value before the one that `quantileExact` takes, if level ×
// values is an integer. The difference is less than that of two values in `ROWS_MAX`.
const HALF = 0.500001;
const MOST = 0.950001;

function writeFields(scope: SearchScope, sample: Sample, size: number): WriteSearch {
  return (value) => {
    const arms = writeArms(scope, value, {
      bounds: [SEARCH_FROM, SEARCH_UNTIL],
      sample: writeSample(sample),
      select: (fields, source) => selectPairs(source, fields),
    });
    const counted =
      `SELECT path, value, toInt64(count()) AS n, ${NUMBER} AS x FROM (${writePairs(arms)}) GROUP ` +
      'BY path, value';
    const described = `SELECT path, sum(n) AS held, toInt64(count()) AS values,
      groupArraySorted(${TOP_MAX})((-n, ifNull(value, ''))) AS most,
  sumIf(n, x IS NOT NULL) AS numbers, min(x) AS low, max(x) AS high,
  quantilesExactWeighted(${HALF}, ${MOST})(x, toUInt64(n)) AS ranks
FROM (${counted}) GROUP BY path`;
    const total = `SELECT *, sumIf(held, path = ${writePath(['source'])}) OVER () AS events FROM (${described})`;
    const number = (sql: string) => `if(numbers * 2 >= held, ${sql}, NULL)`;
    // Values that differ and repeat tell most.
    return `SELECT ${NAME_OF_PATH} AS field, round(least(held / events, 1), 6) AS coverage, values AS distinct,
  toJSONString(arrayMap(t -> CAST((t.2, -t.1), 'Tuple(value String, count Int64)'), most)) AS top,
  ${number('low')} AS min, ${number('high')} AS max, ${number('ranks[1]')} AS p50, ${number('ranks[2]')} AS p95
FROM (${total}) ORDER BY values > 1 AND values * 2 <= held DESC, held DESC, field LIMIT ${size}`;
  };
}

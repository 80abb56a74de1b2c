import { measureParsers } from '../../trial/fuzz/parse-time.ts';
import { PARSERS } from '../../trial/fuzz/parsers.ts';
import { type Row, say } from '../report.ts';

const MIXTURES = 200;

/** The longest time that each parser of callers' texts blocks the event loop. */
export async function parseSection(): Promise<Row[]> {
  const slowest = await measureParsers(PARSERS, MIXTURES, 'bench');
  return slowest.map(({ parser, text, chars, ms, growth }) => {
    say(`parse: ${parser}: ${text}, ${chars} characters: ${ms.toFixed(2)} ms, growth ${growth.toFixed(1)}`);
    return { name: `parse: slowest ${parser}`, unit: 'ms', values: [ms], goal: { below: 5 } };
  });
}

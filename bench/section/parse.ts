import { measureParsers } from '../../trial/fuzz/parse-time.ts';
import { type Row, say } from '../report.ts';

const MIXTURES = 200;

/** The longest time that each parser of callers' texts blocks the event loop. */
export async function parseSection(): Promise<Row[]> {
  return measureParsers(MIXTURES, 'bench').map(({ parser, text, ms, growth }) => {
    say(`parse: ${parser}: ${text}: ${ms.toFixed(2)} ms, growth ${growth.toFixed(1)}`);
    return { name: `parse: slowest ${parser}`, unit: 'ms', values: [ms], goal: { below: 5 } };
  });
}

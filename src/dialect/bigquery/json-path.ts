import { WrongType } from './convert.ts';
import type { Step } from './steps.ts';

const STEP = /\.([A-Za-z_][\w-]*)|\."([^"]+)"|\[(\d{1,4})\]|\['([^']+)'\]|\["([^"]+)"\]/y;
// Each makes the SQL twice as long.
const INDEXES_MAX = 3;

/** The steps of a JSONPath such as `$.request.headers[0]."x.y"`. @throws WrongType for any other */
export function readJsonPath(text: string): readonly Step[] {
  const steps: Step[] = [];
  const pattern = new RegExp(STEP);
  pattern.lastIndex = 1;
  const wrong = () =>
    new WrongType(
      `has the path ${JSON.stringify(text.slice(0, 60))}; write one such as '$.request.headers[0]'`,
    );
  if (!text.startsWith('$') || /\p{Cc}/u.test(text)) throw wrong();
  while (pattern.lastIndex < text.length) {
    const match = pattern.exec(text);
    if (match === null) throw wrong();
    const [, name, quoted, index, single, double] = match;
    steps.push(index === undefined ? (name ?? quoted ?? single ?? double ?? '') : Number(index));
  }
  if (steps.filter((step) => typeof step === 'number').length > INDEXES_MAX)
    throw new WrongType(`has a path with more than ${INDEXES_MAX} indexes`);
  return steps;
}

import { writeValue } from '../../sql/quote.ts';

/** A step into JSON: a member of an object, or of a list, from 0. */
export type Step = string | number;

/** The JSON text at some steps into a JSON text, empty if there is none. */
export function writeSteps(json: string, steps: readonly Step[]): string {
  let sql = json;
  for (let i = 0; i < steps.length; ) {
    const index = steps[i];
    if (typeof index === 'number') {
      // Of an object the engine would take a member by its place.
      sql = `if(startsWith(${sql}, '['), JSONExtractRaw(${sql}, ${index + 1}), '')`;
      i++;
      continue;
    }
    const end = steps.findIndex((step, at) => at >= i && typeof step === 'number');
    const names = steps.slice(i, end < 0 ? undefined : end);
    sql = `JSONExtractRaw(${[sql, ...names.map((step) => writeValue(String(step)))].join(', ')})`;
    i += names.length;
  }
  return sql;
}

/** The first of JSON texts that is neither empty nor null; empty if there is none. */
export function firstOf(texts: readonly string[]): string {
  const [text, ...others] = texts;
  if (others.length === 0) return `ifNull(nullIf(${text}, 'null'), '')`;
  return `coalesce(${texts.map((one) => `nullIf(nullIf(${one}, 'null'), '')`).join(', ')}, '')`;
}

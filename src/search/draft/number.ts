import { writeValue } from '../../sql/quote.ts';
import { DECIMAL_DIGITS, NUMBER_FORM } from '../number.ts';

const FORM = `extract(text, ${writeValue(NUMBER_FORM)})`;

/** Members of WITH for numbers in texts and in JSON, each with its comment; a query has those that it names. */
const MEMBERS: Readonly<Record<string, { readonly comment: string; readonly sql: string }>> = {
  to_number: {
    comment: 'The number that a text is, as JSON writes numbers; NULL for any other text.',
    sql: `text -> nullIf(nullIf(toFloat64OrNull(${FORM}), inf), -inf)`,
  },
  to_exact: {
    comment: 'The same as a decimal; NULL for 0, since a smaller number may have become it.',
    sql: `text -> nullIf(toDecimal256OrNull(${FORM}, ${DECIMAL_DIGITS}), 0)`,
  },
};

export const writeToNumber = (sql: string) => `to_number(${sql})`;
export const writeExact = (sql: string) => `to_exact(${sql})`;

/** Lists the members that a text names. */
export function listMembers(sql: string): readonly string[] {
  return Object.entries(MEMBERS)
    .filter(([name]) => sql.includes(`${name}(`))
    .map(([name, member]) => `-- ${member.comment}\n  ${member.sql} AS ${name}`);
}

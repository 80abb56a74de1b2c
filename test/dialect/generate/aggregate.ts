import type { Expression } from '../../../trial/oracle/bigquery/expression.ts';
import * as e from '../../../trial/oracle/bigquery/expression.ts';
import { compare, number as toNumber, type Value } from '../../../trial/oracle/bigquery/value.ts';
import { condition, instant, number, type Scope, string } from './expression.ts';

/** An aggregate of some expression. */
export function aggregate(scope: Scope): Expression {
  const { choose } = scope;
  const countAll = e.countRows(choose('count(*)', 'COUNT(*)', 'count(1)'));
  const text = () => e.read('string', string(scope, 1));
  const figure = () => e.read('float', number(scope, choose(0, 1)));
  const count = () => {
    const when = condition(scope, choose(0, 1));
    return e.aggregate(
      'int',
      `countif(${when.sql})`,
      when,
      (values) => values.filter((one) => one === true).length,
    );
  };
  const over = (type: e.Type, name: string, of: Expression, compute: (values: readonly Value[]) => Value) =>
    e.aggregate(type, `${name}(${of.sql})`, of, compute);
  return choose<() => Expression>(
    () => countAll,
    count,
    () => over('int', 'count', string(scope, 1), (values) => values.length),
    () => {
      const of = text();
      return e.aggregate('int', `count(distinct ${of.sql})`, of, e.distinct);
    },
    () => over('float', choose('sum', 'SUM'), figure(), e.sum),
    () => over('float', 'avg', figure(), e.average),
    () => over('timestamp', 'max', instant(scope, 1), (values) => e.extreme(1, values)),
    () => over('timestamp', 'min', instant(scope, 1), (values) => e.extreme(-1, values)),
    () => {
      const [name, sign] = choose(['max', 1] as const, ['min', -1] as const);
      return over('int', name, lengthOf(text()), (values) => e.extreme(sign, values));
    },
    () => {
      const [part, whole] = [count(), countAll];
      return e.strict('float', `safe_divide(${part.sql}, ${whole.sql})`, [part, whole], (a, b) =>
        b === 0 ? null : Number(a) / Number(b),
      );
    },
    () => quantile(scope, figure()),
  )();
}

function quantile({ choose }: Scope, of: Expression): Expression {
  const [parts, offset] = choose([2, 1], [100, 95], [100, 50], [4, 3], [10, 0], [10, 10]) as [number, number]; // a pair
  return e.aggregate('float', `approx_quantiles(${of.sql}, ${parts})[offset(${offset})]`, of, (values) =>
    quantileRange(values, offset / parts),
  );
}

/** Between the values beside the rank, which is as near as an approximation has to be. */
function quantileRange(values: readonly Value[], share: number): Value {
  const sorted = [...values].sort(compare).map((value) => Number(toNumber(value)));
  const rank = share * (sorted.length - 1);
  const least = sorted[Math.max(0, Math.floor(rank) - 1)];
  const most = sorted[Math.min(sorted.length - 1, Math.ceil(rank) + 1)];
  return least === undefined || most === undefined ? null : { least, most };
}

/** Characters of a text. */
export function lengthOf(of: Expression): Expression {
  return e.strict('int', `length(${of.sql})`, [of], (value) => [...String(value)].length);
}

import type { Context } from './context.ts';
import { as, unify, WrongType } from './convert.ts';
import { compare } from './operator.ts';
import type { CaseForm } from './parse/tree.ts';
import { jsonValue, type Type, type Value } from './value.ts';

/** A value of a type that an expression has found; JSON as its text. */
export function toValue(type: Type, sql: string): Value {
  return type === 'json' || type === 'record' ? jsonValue(`ifNull(${sql}, '')`) : { type, sql };
}

/** Values of which one is taken, all as one type. @throws WrongType if they have none */
function chooseBetween(values: readonly Value[], write: (sqls: readonly string[]) => string): Value {
  const { type, sqls } = unify(values);
  return toValue(type, write(sqls));
}

/** CASE, with or without a value after it. */
export function translateCase({ subject, branches, otherwise }: CaseForm, { translate }: Context): Value {
  const value = subject === undefined ? undefined : translate(subject);
  const results: Value[] = [];
  const tests = branches.map(({ test, result }) => {
    results.push(translate(result));
    const tested = translate(test);
    return value === undefined ? as(tested, 'bool') : compare('=', value, tested);
  });
  const last: Value = otherwise === undefined ? { type: 'null', sql: 'NULL' } : translate(otherwise);
  return chooseBetween([...results, last], (sqls) => {
    const written = tests.map((test, i) => `${test}, ${sqls[i]}`);
    return `multiIf(${written.join(', ')}, ${sqls.at(-1)})`;
  });
}

/** Functions that take one of their arguments, by name in lower case, with the least and most arguments. */
export const CHOICES: Readonly<
  Record<
    string,
    { readonly min: number; readonly max: number; readonly choose: (values: readonly Value[]) => Value }
  >
> = {
  if: { min: 3, max: 3, choose: chooseIf },
  ifnull: {
    min: 2,
    max: 2,
    choose: (values) => chooseBetween(values, (sqls) => `coalesce(${sqls.join(', ')})`),
  },
  coalesce: {
    min: 1,
    max: 50,
    choose: (values) => chooseBetween(values, (sqls) => `coalesce(${sqls.join(', ')})`),
  },
  nullif: { min: 2, max: 2, choose: chooseUnequal },
  greatest: { min: 1, max: 50, choose: (values) => chooseExtreme('greatest', values) },
  least: { min: 1, max: 50, choose: (values) => chooseExtreme('least', values) },
};

function chooseIf([condition, ...values]: readonly Value[]): Value {
  const test = condition === undefined ? 'NULL' : as(condition, 'bool');
  return chooseBetween(values, (sqls) => `if(${[test, ...sqls].join(', ')})`);
}

function chooseUnequal([value, other]: readonly Value[]): Value {
  if (value === undefined || other === undefined) throw new WrongType('has NULLIF without two values');
  return toValue(value.type, `if(ifNull(${compare('=', value, other)}, false), NULL, ${value.sql})`);
}

/** NULL if one of the values is: the engine would leave it out. */
function chooseExtreme(name: string, values: readonly Value[]): Value {
  if (unify(values).type === 'json')
    throw new WrongType(`has ${name.toUpperCase()} of only fields of the metadata; cast one of them`);
  return chooseBetween(values, (sqls) => {
    const nulls = sqls.map((sql) => `isNull(${sql})`).join(' OR ');
    return `if(${nulls}, NULL, ${name}(${sqls.join(', ')}))`;
  });
}

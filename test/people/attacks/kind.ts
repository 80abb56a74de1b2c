/** One way to attack, in many shapes. */
export interface Kind {
  readonly name: string;
  readonly attacks: readonly Attack[];
  /** The same without what is forged. @returns whether it succeeds: otherwise the attacks prove nothing */
  readonly control: () => Promise<boolean>;
}

export interface Attack {
  readonly shape: string;
  /** @returns whether it has succeeded */
  readonly attempt: () => Promise<boolean>;
}

/** Attacks of all shapes. */
export function createAttacks<T>(
  shapes: Readonly<Record<string, T>>,
  attempt: (shape: T) => Promise<boolean>,
): Attack[] {
  return Object.entries(shapes).map(([shape, value]) => ({ shape, attempt: () => attempt(value) }));
}

/** Texts that resemble another, and are not it. */
export function lookAlikes(right: string): Record<string, string> {
  const other = right.endsWith('a') ? 'b' : 'a';
  return {
    empty: '',
    'without its end': right.slice(0, -1),
    'without its start': right.slice(1),
    'with another end': `${right.slice(0, -1)}${other}`,
    'with one more': `${right}a`,
    twice: `${right}${right}`,
    'in a list': `${right},${right}`,
    'in quotes': `"${right}"`,
    'in capitals': right === right.toUpperCase() ? right.toLowerCase() : right.toUpperCase(),
    backwards: [...right].toReversed().join(''),
    'after a space': ` ${right}`,
    'before a space': `${right} `,
    'before a NUL': `${right}\0`,
    'before a line break': `${right}\r\n`,
    'percent-encoded': [...right].map((c) => `%${c.charCodeAt(0).toString(16)}`).join(''),
    'as a pattern': '.*',
    'as a wildcard': '*',
    undefined: 'undefined',
    null: 'null',
    true: 'true',
    zero: '0',
    object: '[object Object]',
    injection: "' OR '1'='1",
  };
}

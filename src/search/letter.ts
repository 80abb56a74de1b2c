// Letters of a plane; no letter beyond the second plane has another case.
const PLANE = 0x1_0000;

/**
 * Returns the letters that a letter of a search stands for, including itself, as one text; `undefined` for ASCII and for letters without another case.
 *
 * Two letters are the same if their small letters have the same capital: `σ`, `ς` and `Σ`; `ǆ`, `ǅ` and `Ǆ`; `å`, `Å` and the sign of the angstrom;
 * `ß` and `ẞ`, but not `ss`. No letter beyond ASCII equals one of ASCII, so that the index, which knows the small letters of
 * ASCII, finds every message with a text of ASCII: `İ`, `ı`, `ſ` and the sign of the kelvin are only themselves.
 */
export function casesOf(letter: string): string | undefined {
  letters ??= groupLetters();
  return letters.get(letter);
}

// Created, in some milliseconds, at the first letter beyond ASCII: most searches have none.
let letters: ReadonlyMap<string, string> | undefined;

function groupLetters(): ReadonlyMap<string, string> {
  const groups = Map.groupBy(listCased(), capitalOf);
  const found = [...groups.values()].filter((group) => group.length > 1);
  return new Map(found.flatMap((group) => group.map((letter) => [letter, group.join('')] as const)));
}

/** Letters beyond ASCII that have another case. */
function listCased(): readonly string[] {
  const plane = Uint16Array.from({ length: PLANE }, (_, code) => code);
  const second = new Uint16Array(2 * PLANE).map(
    (_, i) => 0xd800 + (i % 2 === 0 ? i >> 11 : 0x400 + ((i >> 1) & 0x3ff)),
  );
  const text = [plane, second].map((units) => Buffer.from(units.buffer).toString('utf16le')).join('');
  return text.match(/(?![\0-\x7f])\p{Changes_When_Casemapped}/gu) ?? [];
}

/** Returns the capital of a letter; it may be several letters. */
function capitalOf(letter: string): string {
  const capital = letter.toLowerCase().toUpperCase();
  return /^[\0-\x7f]$/.test(capital) ? letter : capital;
}

const NUMBER = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:e([+-]?\d+))?$/i;

/** Whether a text is a finite number as JSON writes one. */
export function isNumber(text: string): boolean {
  return NUMBER.test(text) && Number.isFinite(Number(text));
}

/** Compares two numbers of JSON exactly: below 0 if `a` is less. */
export function compareNumbers(a: string, b: string): number {
  const [double, beside] = [Number(a), Number(b)];
  if (double !== beside) return double < beside ? -1 : 1; // rounding keeps the order
  const [one, other] = [parse(a), parse(b)];
  const scale = Math.max(one.scale, other.scale);
  const [x, y] = [one, other].map(({ value, scale: own }) => value * 10n ** BigInt(scale - own));
  return x === y ? 0 : (x ?? 0n) < (y ?? 0n) ? -1 : 1;
}

/** value / 10^scale */
function parse(text: string): { value: bigint; scale: number } {
  const [, sign = '', whole = '', part = '', power = '0'] = NUMBER.exec(text) ?? [];
  return { value: BigInt(`${sign}${whole}${part}`), scale: part.length - Number(power) };
}

/** How the values of a field show a number of JSON: an integer by its digits, any other as a double. */
export function listed(json: string): string {
  if (/^-?\d+$/.test(json)) return json === '-0' ? '0' : json;
  const double = Number(json);
  return Object.is(double, -0) ? '-0' : String(double).replace('e+', 'e');
}

import fc from 'fast-check';

const literal = fc.constantFrom('acme', 'co', 'rest', 'ht', 'a', 'e', '/', '-', ':', 'é', '\\.', 'X', '😀');
const special = fc.constantFrom('.', '[a-m]', '[^/]', '\\d', '\\w', '(?:ac|my)', '(st|th)', '\\s');
const piece = fc.oneof(literal, special);

const repeated = fc
  .tuple(piece, fc.constantFrom('', '', '', '*', '+', '?', '{2}', '{0,3}', '+?'))
  .map(([what, times]) => (times === '' ? what : `(?:${what})${times}`));
const pieces = fc.array(repeated, { minLength: 1, maxLength: 4 });
const branch = fc
  .tuple(fc.constantFrom('', '', '^'), pieces, fc.constantFrom('', '', '$'))
  .map(([start, own, end]) => `${start}${own.join('')}${end}`);
const builtPattern = fc
  .tuple(fc.constantFrom('', '', '(?i)'), fc.array(branch, { minLength: 1, maxLength: 3 }))
  .map(([flag, branches]) => flag + branches.join('|'));
const knownPattern = fc.constantFrom(
  ...['acme', '^acme', 'acme$', '^acme$', '^https://acme\\.', 'acme\\.example', 'acme.example', 'nothing'],
  ...['(acme|other)\\.example', 'acme(-eu)?\\.', '^(https?://)?(my-)?acme', '(?i)acme', '.*', '.', '^.{4}$'],
  ...['(?i)^HTTPS://Acme\\.', '^$', '[[]', '\\bacme\\b', 'acme/rest', 'acme/$', '\n', '\u0000', 'é.'],
  ...['^.cme', '%', '_'],
);

/** Patterns that mean the same to RE2 and to JavaScript but for `(?i)`, which the oracle reads at the beginning. */
export const pattern: fc.Arbitrary<string> = fc.oneof(knownPattern, builtPattern);

import type { Grammar } from './token-stream.ts';

const ALIAS = /^[A-Za-z_]\w{0,127}$/;

/** The name after an item or a table, with or without AS. @throws TailraceError for letters that no column may have */
export function parseAlias({ tokens }: Grammar): string | undefined {
  const hasAs = tokens.takeWords('AS');
  if (!hasAs && !tokens.isAlias()) return undefined;
  const token = tokens.peek();
  if (tokens.isName() && ALIAS.test(token?.value ?? '')) return tokens.take('a name').value;
  const word = tokens.word();
  const hint = word === '' ? '' : `; ${word} is not a name`;
  throw tokens.fail(
    `has AS without a plain name after it; a name has letters, digits and underscores, without quotes${hint}`,
  );
}

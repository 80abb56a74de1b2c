/**
 * The address of a link (docs/sources.md): each `{…}` is replaced by a value, encoded.
 *
 * @param textOf the text of a field, or of `value`; empty if there is none
 * @returns undefined if a value is missing
 */
export function fillLink(url: string, textOf: (field: string) => string): string | undefined {
  let isWhole = true;
  const filled = url.replaceAll(/\{([^{}]*)\}/g, (_whole, field: string) => {
    const value = textOf(field);
    isWhole &&= value !== '';
    return encodeURIComponent(value.toWellFormed());
  });
  return isWhole ? filled : undefined;
}

/**
 * Settings of older builds, by name: what stands in their place. The check of misspelt names tells it
 * (`gone: …`); nothing else reads them. One line each, in the order of the names.
 */
export const GONE_SETTINGS: Readonly<Record<string, string>> = {
  TAILRACE_PARAMETER_BYTES_MAX: 'a value of a parameter has at most 65,536 bytes',
};

/** The rivals. */
export const RIVAL_NAMES = ['postgresql', 'duckdb'] as const;
export type RivalName = (typeof RIVAL_NAMES)[number];

/** Beyond this, a rival takes hours; `--rivals` includes it nevertheless. */
export const RIVALS_ROWS_MAX = 10_000_000;

/** @throws Error for an unknown name */
export function parseRivals(names: readonly string[]): RivalName[] {
  return names.map((name) => {
    const known = RIVAL_NAMES.find((one) => one === name);
    if (known === undefined)
      throw new Error(`there is no rival ${name}; there are ${RIVAL_NAMES.join(', ')}`);
    return known;
  });
}

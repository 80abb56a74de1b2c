/** Who is asked the same. */
export const RIVAL_NAMES = ['postgresql', 'duckdb'] as const;
export type RivalName = (typeof RIVAL_NAMES)[number];

/** Beyond this, loading a rival and waiting for its answers takes hours; `--rivals` asks for it all the same. */
export const RIVALS_ROWS_MAX = 10_000_000;

/** @throws Error when there is none of a name */
export function parseRivals(names: readonly string[]): RivalName[] {
  return names.map((name) => {
    const known = RIVAL_NAMES.find((one) => one === name);
    if (known === undefined)
      throw new Error(`there is no rival ${name}; there are ${RIVAL_NAMES.join(', ')}`);
    return known;
  });
}

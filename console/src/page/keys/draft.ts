import type { Self } from '../../../../src/management/view.ts';

/** A key as it is being filled in: texts, as they stand in the form. */
export interface Draft {
  readonly name: string;
  readonly description: string;
  readonly scopes: readonly string[];
  /** Null: all. */
  readonly endpoints: readonly string[] | null;
  readonly sources: readonly string[] | null;
  readonly pins: readonly Pin[];
  /** ISO 8601; empty: never. */
  readonly expires: string;
  /** Empty: no limit. */
  readonly perSecond: string;
  readonly burst: string;
}

export interface Pin {
  /** Of this form alone. */
  readonly id: number;
  readonly name: string;
  readonly value: string;
}

/** A key that reads, within what whoever makes it may give. */
export function createDraft(self: Self): Draft {
  return {
    name: '',
    description: '',
    scopes: self.scopes.includes('query') ? ['query'] : [],
    endpoints: self.endpoints,
    sources: self.sources,
    pins: Object.entries(self.pins).map(([name, value], id) => ({ id, name, value })),
    expires: '',
    perSecond: '',
    burst: '',
  };
}

/** As `POST /api/keys` takes it (docs/keys.md). What is wrong with it, the service says. */
export function toBody(draft: Draft): object {
  const { name, description, scopes, endpoints, sources, expires } = draft;
  return {
    name,
    description,
    scopes,
    endpoints,
    sources,
    pins: Object.fromEntries(draft.pins.map((pin) => [pin.name, pin.value])),
    expires_at: expires === '' ? null : expires,
    rate: toRate(draft),
  };
}

function toRate({ perSecond, burst }: Draft): object | null {
  if (perSecond === '' && burst === '') return null;
  return { per_second: Number(perSecond), ...(burst !== '' && { burst: Number(burst) }) };
}

/** What cannot be said in a body: there, a parameter has one pin. */
export function findTwice(pins: readonly Pin[]): string | undefined {
  return pins.find(({ name }, i) => pins.findIndex((other) => other.name === name) < i)?.name;
}

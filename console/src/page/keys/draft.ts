import type { Me } from '../../../../src/management/view.ts';
import type { ApiError } from '../../api/client.ts';

/** The form of a new key: the texts of its fields. */
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
  /** Identifies the pin in this form only. */
  readonly id: number;
  readonly name: string;
  readonly value: string;
}

/** A key that can query, within the rights of the signed-in key. */
export function createDraft(self: Me): Draft {
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

/** The body of `POST /api/keys` (docs/keys.md). The service checks it. */
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

/** A fault that a body cannot express: there, a parameter has one pin. */
export function findTwice(pins: readonly Pin[]): string | undefined {
  return pins.find(({ name }, i) => pins.findIndex((other) => other.name === name) < i)?.name;
}

/** The faults that the service reports for a member of the body or one inside it: `pins`, `pins.project`. */
export function faultOf(error: ApiError | undefined, member: string): string | undefined {
  const own = (error?.errors ?? []).filter(
    ({ parameter }) => parameter === member || parameter.startsWith(`${member}.`),
  );
  if (own.length === 0) return undefined;
  return own.map(({ parameter, message }) => `${parameter} ${message}`).join('; ');
}

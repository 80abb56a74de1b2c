import { Ajv } from 'ajv';
import { type Static, Type } from 'typebox';
import type { Grant } from './grant.ts';

/** What a token may do. It always expires, and it never manages: whoever holds one is a front end. */
export interface TokenGrant extends Grant {
  readonly scopes: readonly TokenScope[];
  readonly expiresMs: number;
}

export const TOKEN_SCOPES = ['query', 'ingest'] as const;

export type TokenScope = (typeof TOKEN_SCOPES)[number];

const NAMES = Type.Optional(Type.Array(Type.String()));
const SHAPE = Type.Object(
  {
    scopes: Type.Array(Type.Enum([...TOKEN_SCOPES])),
    endpoints: NAMES,
    sources: NAMES,
    pins: Type.Record(Type.String(), Type.String()),
    rate: Type.Optional(Type.Object({ perSecond: Type.Number(), burst: Type.Number() })),
  },
  { additionalProperties: false },
);

const isGrant = new Ajv().compile<Static<typeof SHAPE>>(SHAPE);

/** The grant inside of a token; `undefined` where it is of another version than ours, and may hold limits unknown to us. */
export function parseTokenGrant(value: unknown): Grant | undefined {
  return isGrant(value) ? value : undefined;
}

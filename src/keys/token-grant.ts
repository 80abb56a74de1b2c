import { Ajv } from 'ajv';
import { type Static, Type } from 'typebox';
import type { Grant } from './grant.ts';

/** The rights of a signed token. It always expires and never manages: tokens are made for front ends. */
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

/** The grant in a token; `undefined` if another version wrote it, which may have limits unknown to this one. */
export function parseTokenGrant(value: unknown): Grant | undefined {
  return isGrant(value) ? value : undefined;
}

import { refuse } from './refusal.ts';
import type { TimeZones } from './time-zone.ts';

// Types of plain data, without states of aggregation and types with an encoding of their own.
const TYPES = new Set(
  `String Bool Int8 Int16 Int32 Int64 Int128 Int256 UInt8 UInt16 UInt32 UInt64 UInt128 UInt256 Float32 Float64 Decimal
  Decimal32 Decimal64 Decimal128 Decimal256 Date Date32 DateTime DateTime32 DateTime64 UUID IPv4 IPv6 Array Tuple Map Nullable
  LowCardinality`
    .toLowerCase()
    .split(/\s+/),
);

const CHARS_MAX = 500;
const DEPTH_MAX = 8;

// A time zone is in single quotes, without escapes. Named values and comments are excluded.
const FORM = /^(?:[\w\s(),]|'[^'\\]*')*$/;

/**
 * Checks the type of a CAST.
 *
 * @param type `undefined` if it is not a constant
 * @returns the time zones that it names
 * @throws TailraceError `invalid_parameter` for a type or zone that is not listed
 */
export function refuseType(type: string | undefined, zones: TimeZones): string[] {
  if (type === undefined) throw refuseCast('a type that is not written out');
  if (type.length > CHARS_MAX || !FORM.test(type))
    throw refuseCast(`a type other than a short one, such as Nullable(DateTime('UTC'))`);
  const quoted = type.match(/'[^']*'/g) ?? [];
  const bare = type.replaceAll(/'[^']*'/g, '');
  const other = bare.match(/[A-Za-z_]\w*/g)?.find((word) => !TYPES.has(word.toLowerCase()));
  if (other !== undefined) throw refuseCast(other);
  if (depthOf(bare) > DEPTH_MAX) throw refuseCast(`a type of more than ${DEPTH_MAX} levels of brackets`);
  const named = quoted.map((zone) => zone.slice(1, -1));
  for (const zone of named) zones.check(zone);
  return named;
}

function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (const sign of text) {
    if (sign === '(') deepest = Math.max(deepest, ++depth);
    else if (sign === ')') depth--;
  }
  return deepest;
}

function refuseCast(what: string) {
  return refuse(`must not CAST to ${what}; types are ${[...TYPES].join(', ')}`);
}

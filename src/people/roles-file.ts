import { type Static, type TSchema, Type } from 'typebox';
import type { Definitions } from '../definitions/read.ts';
import { createShapeCheck } from '../definitions/shape.ts';
import { type OperatorFile, readOperatorFile, type YamlFile } from '../definitions/yaml-file.ts';
import { type Fault, rejectFaults } from '../errors.ts';
import { checkAgainst, checkGrant, createRate, PER_SECOND_MAX, SCOPES, toListed } from '../keys/grant.ts';
import { closed, oneOf, optional } from '../lib/schema.ts';
import { type Role, toLowerAscii } from './role.ts';

const ROLES_MAX = 1_000;
const CLAIM = 'claim:';
// In another spelling it would pin that text itself, which is no project.
const CLAIM_PIN = /^\s*claim\s*:/i;
const CLAIM_CHARS_MAX = 256;
// A file that every user can change gives every user all rights.
const FILE: OperatorFile = {
  setting: 'TAILRACE_ROLES_FILE',
  mode: { forbidden: 0o002, fault: 'can be changed by every user; run chmod o-w on it' },
};

const names = (expected: string) =>
  Type.Array(Type.String({ minLength: 1, expected: 'a string' }), { minItems: 1, maxItems: 1_000, expected });
// Written without quotes, a number such as 0123 or one of 19 digits would be another one.
const expected = 'a string, in quotes if it is a number';
const TEXT = Type.String({ minLength: 1, expected });
const map = <T extends TSchema>(of: T, right: string) =>
  Type.Record(Type.String(), of, { minProperties: 1, maxProperties: 32, expected: right });
const PIN_MAP = `a map of parameters and values, such as { project: aurora } or { project: "${CLAIM}projects" }`;
const FLAG_OR_TEXT = Type.Union([TEXT, Type.Boolean()], { expected });
const SCOPE = oneOf(SCOPES, { expected: `one of ${SCOPES.join(', ')}` });
const PER_SECOND = {
  exclusiveMinimum: 0,
  maximum: PER_SECOND_MAX,
  expected: `a number up to ${PER_SECOND_MAX}`,
};
const RATE = closed(
  { per_second: Type.Number(PER_SECOND) },
  { expected: 'a map, such as { per_second: 10 }' },
);
const ROLE = closed(
  {
    ...optional({
      groups: names('a list of groups, such as [platform]'),
      claims: map(FLAG_OR_TEXT, 'a map of claims and their values, such as { kind: customer }'),
      addresses: names('a list of mail addresses, such as [ada@example.com] or ["*@example.com"]'),
    }),
    scopes: Type.Array(SCOPE, { expected: `a list of ${SCOPES.join(', ')}` }),
    ...optional({
      endpoints: names('a list of endpoints'),
      sources: names('a list of sources'),
      pins: map(TEXT, PIN_MAP),
      rate: RATE,
    }),
  },
  { expected: 'a map, such as { groups: [platform], scopes: [query] }' },
);
const checkShape = createShapeCheck(
  // A name of digits would come before others, whatever their order in the file.
  Type.Record(Type.String({ pattern: '^[A-Za-z][\\w.-]{0,63}$' }), ROLE, {
    additionalProperties: false,
    maxProperties: ROLES_MAX,
    expected: `a map of at most ${ROLES_MAX} roles, named by letters, digits, dots, dashes and underscores`,
  }),
);

type RoleEntry = Static<typeof ROLE>;

/**
 * Reads the file of `TAILRACE_ROLES_FILE` and compares its names with the definitions.
 * @throws InputError with the line of each fault and what would be right
 */
export async function readRoles(path: string, definitions: Definitions): Promise<readonly Role[]> {
  const file = await readOperatorFile(path, FILE);
  if (file === undefined) return [];
  rejectFaults(checkShape(file));
  const entries = file.value as Readonly<Record<string, RoleEntry>>; // checkShape has found no fault
  const roles = Object.entries(entries).map(toRole);
  rejectFaults(roles.flatMap((role) => findFaults(file, role, definitions)));
  return roles;
}

function toRole([name, entry]: readonly [string, RoleEntry]): Role {
  const [claims, pins] = [Object.entries(entry.claims ?? {}), Object.entries(entry.pins ?? {})];
  const fromClaims = pins.filter(([, value]) => CLAIM_PIN.test(value));
  return {
    name,
    groups: entry.groups,
    claims: Object.fromEntries(claims.map(([claim, value]) => [claim, String(value)])),
    addresses: entry.addresses?.map(toLowerAscii),
    scopes: [...new Set(entry.scopes)],
    endpoints: entry.endpoints && toListed(entry.endpoints),
    sources: entry.sources && toListed(entry.sources),
    pins: Object.fromEntries(pins.filter(([, value]) => !CLAIM_PIN.test(value))),
    claimPins: Object.fromEntries(
      fromClaims.map(([pin, value]) => [pin, value.startsWith(CLAIM) ? value.slice(CLAIM.length) : '']),
    ),
    rate: entry.rate && createRate(entry.rate.per_second),
  };
}

function findFaults(file: YamlFile, role: Role, definitions: Definitions): Fault[] {
  const { name, groups, claims, addresses = [], claimPins, ...grant } = role;
  const fault = (at: string, message: string) =>
    file.fault([name, ...at.split('.')], `${name}: ${at} ${message}`);
  const fitsNobody = !groups && !role.addresses && Object.keys(claims).length === 0;
  // A claim's values are known only when somebody signs in; a text that can be a pin stands for them.
  const ofClaims = Object.keys(claimPins);
  const pinned = { ...grant.pins, ...Object.fromEntries(ofClaims.map((pin) => [pin, 'a'])) };
  const ofGrant = [...checkGrant({ ...grant, pins: pinned }), ...checkAgainst(definitions, grant, ofClaims)];
  const isClaim = (claim = '') => claim !== '' && claim === claim.trim() && claim.length <= CLAIM_CHARS_MAX;
  const isAddress = (text: string) => /^[^\s@*]+@[^\s@*]+$|^\*@[^\s@*]+$/.test(text);
  return [
    ...(fitsNobody
      ? [file.fault([name], `${name} matches no person; name groups, claims or addresses`)]
      : []),
    ...ofGrant.map(({ parameter, message }) => fault(parameter, message)),
    ...ofClaims
      .filter((pin) => !isClaim(claimPins[pin]))
      .map((pin) => fault(`pins.${pin}`, `must name a claim, such as "${CLAIM}projects"`)),
    ...addresses
      .filter((address) => !isAddress(address))
      .map((address) => JSON.stringify(address.slice(0, 100)))
      .map((shown) => fault('addresses', `has ${shown}, which is not a mail address`)),
  ];
}

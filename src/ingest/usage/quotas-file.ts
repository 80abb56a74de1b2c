import { Type } from 'typebox';
import { formatFault, refuseFaults } from '../../definitions/fault.ts';
import { createShapeCheck, wholeNumber } from '../../definitions/shape.ts';
import { readYamlFile } from '../../definitions/yaml-file.ts';
import { InputError } from '../../errors.ts';
import { NO_QUOTAS, type Quota, type Quotas } from './quota.ts';

const RETENTION_DAYS_MAX = 36_500;
const EXAMPLE = 'a map, such as { events: 1000000, bytes: 2000000000 }';
const COUNT = wholeNumber(Number.MAX_SAFE_INTEGER);
const MEMBERS = {
  events: Type.Optional(COUNT),
  bytes: Type.Optional(COUNT),
  queries: Type.Optional(COUNT),
  core_seconds: Type.Optional(COUNT),
};
const MAP = { additionalProperties: false, expected: EXAMPLE };
const QUOTA = Type.Object(MEMBERS, MAP);
const OF_PROJECT = Type.Object(
  { ...MEMBERS, retention_days: Type.Optional(wholeNumber(RETENTION_DAYS_MAX)) },
  MAP,
);
const NAMED_MAX = 10_000;
const NAMED = {
  maxProperties: NAMED_MAX,
  expected: `a map of at most ${NAMED_MAX} names, each with ${EXAMPLE}`,
};
const PROJECTS = Type.Record(Type.String(), OF_PROJECT, NAMED);
const KEYS = Type.Record(Type.String(), QUOTA, NAMED);

const checkShape = createShapeCheck(
  Type.Object(
    { default: Type.Optional(QUOTA), projects: Type.Optional(PROJECTS), keys: Type.Optional(KEYS) },
    { additionalProperties: false, expected: 'a map of default, projects and keys' },
  ),
);

interface QuotasFile {
  readonly default?: Quota;
  readonly projects?: Readonly<Record<string, Quota & { readonly retention_days?: number }>>;
  readonly keys?: Readonly<Record<string, Quota>>;
}

/**
 * Reads the file of `TAILRACE_QUOTAS_FILE`.
 *
 * @throws InputError with the line of each fault and what would be right
 */
export async function readQuotas(path: string): Promise<Quotas> {
  const file = await readYamlFile(path);
  if (Array.isArray(file)) throw new InputError(file.map(formatFault));
  if (file.value === null || file.value === undefined) return NO_QUOTAS;
  refuseFaults(checkShape(file));
  const { default: all = {}, projects = {}, keys = {} } = file.value as QuotasFile; // checkShape has found no fault
  const ofProjects = Object.entries(projects);
  const kept = ofProjects.flatMap(([name, { retention_days: days }]) =>
    days === undefined ? [] : [[name, days] as const],
  );
  // A project with a retention alone keeps to the default quota.
  const limited = ofProjects.flatMap(([name, { retention_days: days, ...quota }]) =>
    days !== undefined && Object.keys(quota).length === 0 ? [] : [[name, quota] as const],
  );
  return {
    default: all,
    projects: new Map(limited),
    keys: new Map(Object.entries(keys)),
    retentionDays: new Map(kept),
  };
}

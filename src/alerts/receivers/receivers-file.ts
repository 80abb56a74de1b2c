import { hash } from 'node:crypto';
import { Type } from 'typebox';
import { isDecodable } from '../../config/url.ts';
import { RECEIVER_NAME } from '../../definitions/alert.ts';
import { createShapeCheck } from '../../definitions/shape.ts';
import {
  type OperatorFile,
  readOperatorFile,
  type YamlFile,
  type YamlPath,
} from '../../definitions/yaml-file.ts';
import { type Fault, formatFault, InputError, rejectFaults } from '../../errors.ts';
import { isObject } from '../../lib/json.ts';
import { addressOf, createPublicLookup, isPublicAddress, type Resolve } from '../../lib/network.ts';
import { RECEIVER_KINDS, type ReceiverKind } from './kinds.ts';
import type { Receiver } from './receiver.ts';

const RECEIVERS_MAX = 100;
const FILE: OperatorFile = {
  setting: 'TAILRACE_RECEIVERS_FILE',
  mode: { forbidden: 0o007, fault: 'can be read or changed by every user; run chmod 600 on it' },
  isSecret: true,
};
// A name in braces, as in shells; any other text stays as it is.
const REFERENCE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

const checkNames = createShapeCheck(
  Type.Record(Type.String(RECEIVER_NAME), Type.Unknown(), {
    additionalProperties: false,
    expected: RECEIVER_NAME.expected,
  }),
  { showsValues: false },
);

interface ReceiversOptions {
  /** Values for `${NAME}`. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Default: Node's. */
  readonly resolve?: Resolve;
}

/** @throws InputError with the line of each fault and what would be right, never a value of the file: it may be a secret */
export async function readReceivers(
  path: string,
  { environment, resolve }: ReceiversOptions,
): Promise<ReadonlyMap<string, Receiver>> {
  const read = await readOperatorFile(path, FILE);
  if (read === undefined) return new Map();
  const { file, faults } = substitute(read, environment);
  rejectFaults(faults);
  if (!isObject(file.value)) throw new InputError([formatFault(file.fault([], NOT_A_MAP))]);
  const entries = Object.entries(file.value);
  const tooMany = `has ${entries.length} receivers; at most ${RECEIVERS_MAX} are allowed`;
  if (entries.length > RECEIVERS_MAX) rejectFaults([file.fault([], tooMany)]);
  rejectFaults([...checkNames(file), ...entries.flatMap((entry) => findEntryFaults(file, entry))]);
  return new Map(entries.map(([name, fields]) => [name, openReceiver(name, fields, resolve)]));
}

const NOT_A_MAP = 'must be a map of receivers, such as ops: { kind: slack, url: https://… }';

/** Replaces `${NAME}` in every text of a file. A value is never read as YAML, so it cannot add fields. */
function substitute(file: YamlFile, environment: ReceiversOptions['environment']) {
  const faults: Fault[] = [];
  const replace = (value: unknown, path: YamlPath): unknown => {
    if (typeof value === 'string')
      return value.replaceAll(REFERENCE, (_, name: string) => {
        const found = environment[name];
        if (found === undefined || found === '')
          faults.push(file.fault(path, `${name} is not set; set this variable of the environment`));
        return found ?? '';
      });
    if (Array.isArray(value)) return value.map((item, i) => replace(item, [...path, i]));
    if (!isObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, replace(item, [...path, key])]),
    );
  };
  return { file: { ...file, value: replace(file.value, []) }, faults };
}

function findEntryFaults(file: YamlFile, [name, fields]: readonly [string, unknown]): Fault[] {
  const fault = (path: YamlPath, message: string) => file.fault([name, ...path], message);
  if (!isObject(fields)) return [fault([], 'must be a map of fields, such as { kind: slack, url: … }')];
  const kinds = Object.keys(RECEIVER_KINDS).join(', ');
  if (fields['kind'] === undefined) return [fault(['kind'], `"kind" is missing; one of ${kinds}`)];
  const kind = findKind(fields['kind']);
  if (kind === undefined) return [fault(['kind'], `unknown kind of receiver; known are ${kinds}`)];
  const shapeFaults = kind.check({ ...file, value: fields, fault });
  if (shapeFaults.length > 0) return shapeFaults;
  const message = findUrlFault(kind, fields);
  return message === undefined ? [] : [fault(['url'], `"url" ${message}`)];
}

function findKind(name: unknown): ReceiverKind | undefined {
  return typeof name === 'string' && Object.hasOwn(RECEIVER_KINDS, name) ? RECEIVER_KINDS[name] : undefined;
}

function findUrlFault(
  { schemes }: ReceiverKind,
  { url: text, private: isPrivate }: Record<string, unknown>,
): string | undefined {
  if (text === undefined) return undefined;
  const example = `must be a URL, such as ${schemes.example}`;
  if (typeof text !== 'string' || !URL.canParse(text)) return example;
  const url = new URL(text);
  const isKnown = [...schemes.all, ...schemes.private].includes(url.protocol);
  if (!isKnown || url.hostname === '' || url.hash !== '') return example;
  if (!isDecodable(url.username) || !isDecodable(url.password))
    return 'must have a user and password whose % are written as %25';
  if (isPrivate === true) return undefined;
  if (!schemes.all.includes(url.protocol))
    return `must begin with ${schemes.all[0]}//; without TLS only with private: true`;
  const address = addressOf(url);
  return address === undefined || isPublicAddress(address)
    ? undefined
    : 'is a private or loopback address, which needs private: true';
}

function openReceiver(name: string, fields: unknown, resolve?: Resolve): Receiver {
  const { kind, private: isPrivate = false } = fields as { kind: string; private?: boolean };
  const opened = findKind(kind)?.open(fields, {
    isPrivate,
    lookup: isPrivate ? undefined : createPublicLookup(resolve),
  });
  if (opened === undefined) throw new Error(`no such kind: ${kind}`); // `findEntryFaults` has found none
  return { name, kind, version: hash('sha256', JSON.stringify(fields)), ...opened };
}

import { type Alert, SERVICE_VARIABLES } from '../definitions/alert.ts';
import type { Endpoint, ResultType } from '../definitions/endpoint.ts';
import { findNamed } from '../definitions/registry.ts';
import type { FieldFault } from '../definitions/yaml-file.ts';
import type { Fault } from '../errors.ts';
import { findParameterFaults } from '../query/parameters.ts';
import { findTextFaults } from './text.ts';

interface VerifyOptions {
  /** Those without faults. */
  readonly endpoints: readonly Endpoint[];
  /** Whether no file of an endpoint has a fault, so that `endpoints` are all. */
  readonly areAll: boolean;
}

/** Checks what alerts say about their endpoints: names, parameters, columns, and the variables of the text. */
export function verifyAlerts(alerts: readonly Alert[], { endpoints, areAll }: VerifyOptions): Fault[] {
  return alerts.flatMap((alert) => {
    const endpoint = findNamed(endpoints, alert.endpoint);
    if (endpoint !== undefined) return verifyAlert(alert, endpoint);
    if (!areAll) return []; // it may be one of those with faults, which are reported
    const known = endpoints.map(({ name }) => name).join(', ');
    const message = `no endpoint is called ${JSON.stringify(alert.endpoint)}; there are ${known}`;
    return [alert.fault(['endpoint'], message)];
  });
}

/** Checks that each receiver of each alert is one of the operator's. */
export function verifyReceivers(alerts: readonly Alert[], known: ReadonlySet<string>): Fault[] {
  const names = [...known].join(', ') || 'none';
  return alerts.flatMap((alert) =>
    alert.to.flatMap((name, i) => {
      const message = `TAILRACE_RECEIVERS_FILE has no receiver ${JSON.stringify(name)}; it has ${names}`;
      return known.has(name) ? [] : [alert.fault(['to', i], message)];
    }),
  );
}

function verifyAlert(alert: Alert, endpoint: Endpoint): Fault[] {
  const faults = [
    ...findParameterFaults(alert, endpoint),
    ...findConditionFaults(alert, endpoint),
    ...findLabelFaults(alert, endpoint),
    ...findNameFaults(alert, endpoint),
  ];
  return faults.map(([path, message]) => alert.fault(path, message));
}

const COMPARED: Readonly<Record<string, readonly ResultType[]>> = {
  number: ['integer', 'number'],
  string: ['string'],
  boolean: ['boolean'],
};

function findConditionFaults({ when }: Alert, endpoint: Endpoint): FieldFault[] {
  if (when.kind === 'rows') return [];
  const { kind, column: name, value } = when;
  const column = endpoint.columns.find((one) => one.name === name);
  if (column === undefined) return [[['when', 'column'], describeMissing(name, endpoint)]];
  const type = typeof value;
  if (COMPARED[type]?.includes(column.type) === true) return [];
  const message = `column "${name}" is of type ${column.type}, which cannot be compared with a ${type}`;
  return [[['when', kind], message]];
}

function findLabelFaults({ per }: Alert, endpoint: Endpoint): FieldFault[] {
  return per.flatMap((name, i): FieldFault[] => {
    const column = endpoint.columns.find((one) => one.name === name);
    if (column === undefined) return [[['per', i], describeMissing(name, endpoint)]];
    return column.type === 'json' ? [[['per', i], `column "${name}" is JSON, which cannot be a label`]] : [];
  });
}

function findNameFaults({ text }: Alert, { columns }: Endpoint): FieldFault[] {
  const known = new Set([...columns.map(({ name }) => name), ...SERVICE_VARIABLES]);
  return findTextFaults(text, [...known]).map((message) => [['text'], `"text" ${message}`]);
}

function describeMissing(name: string, { name: endpoint, columns }: Endpoint): string {
  const known = columns.map((column) => column.name).join(', ');
  return `${endpoint} has no column "${name}"; it has ${known}`;
}

import type { EndpointView } from '../../../../src/management/view.ts';
import type { Row } from '../../api/answer.ts';
import { ownMember } from '../../format/own.ts';

/** The parameter in which callers of a sandboxed endpoint send a SELECT; no such endpoint declares one of this name. */
const SQL: EndpointView['parameters'][number] = {
  name: 'sql',
  type: 'string',
  required: false,
  description: 'Your SELECT over the views of the stored query; empty: the stored SELECT.',
  default: '',
  control: 'text',
  values: [],
  otherwise: null,
  pinned: null,
  search: null,
};

/** The endpoint with `sql` among its parameters if it is sandboxed (docs/sandboxing.md). */
export function withSql(endpoint: EndpointView): EndpointView {
  return endpoint.query_sandboxing ? { ...endpoint, parameters: [...endpoint.parameters, SQL] } : endpoint;
}

/** The endpoint with the columns of these rows: those of a caller's SELECT are declared nowhere. */
export function withColumnsOf(endpoint: EndpointView, rows: readonly Row[] = []): EndpointView {
  const names = Object.keys(rows[0] ?? {});
  const isStored =
    names.length === endpoint.columns.length && endpoint.columns.every(({ name }) => names.includes(name));
  if (!endpoint.query_sandboxing || isStored || names.length === 0) return endpoint;
  return {
    ...endpoint,
    columns: names.map((name) => ({ name, type: typeOf(rows, name), description: '', search: null })),
    charts: [], // they name columns of the stored query
  };
}

function typeOf(rows: readonly Row[], name: string): EndpointView['columns'][number]['type'] {
  const values = rows.map((row) => ownMember(row, name)).filter((value) => value !== null);
  if (values.length === 0) return 'string';
  if (values.every((value) => typeof value === 'bigint' || Number.isInteger(value))) return 'integer';
  if (values.every((value) => typeof value === 'number' || typeof value === 'bigint')) return 'number';
  if (values.every((value) => typeof value === 'boolean')) return 'boolean';
  return values.every((value) => typeof value === 'string') ? 'string' : 'json';
}

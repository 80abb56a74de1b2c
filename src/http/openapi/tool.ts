import type { Tool } from '@modelcontextprotocol/server';
import { type Endpoint, toToolName } from '../../definitions/endpoint.ts';
import { type Parameter, SQL_PARAMETER } from '../../definitions/parameter.ts';
import type { Pins } from '../../query/pins.ts';
import { columnSchema, parameterSchema } from './document.ts';
import { list, object, type Schema } from './schema.ts';

/** Describes an endpoint as a tool of the Model Context Protocol. @param pins parameters that are left out: they have one value */
export function describeTool(endpoint: Endpoint, pins: Pins): Tool {
  const { name, description, sandboxing } = endpoint;
  const parameters = endpoint.parameters.filter((one) => !Object.hasOwn(pins, one.name));
  const properties = parameters.map((one) => [one.name, argumentSchema(one)] as const);
  return {
    name: toToolName(name),
    title: name,
    description,
    inputSchema: {
      type: 'object',
      properties: { ...Object.fromEntries(properties), ...(sandboxing && { [SQL_PARAMETER]: SQL }) },
      required: parameters.filter(({ required }) => required).map((one) => one.name),
      additionalProperties: false,
    },
    outputSchema: {
      type: 'object',
      required: ['result'],
      properties: { result: rowsSchema(endpoint), truncated: TRUNCATED },
    },
    annotations: { readOnlyHint: true },
  };
}

const SQL = {
  type: 'string',
  description:
    'A SELECT in ClickHouse SQL over the views of this query; its rows replace those of the query.',
};

const TRUNCATED = {
  type: 'string',
  description: 'Which rows of how many are returned, and how to get fewer. Left out if all are returned.',
};

function argumentSchema(parameter: Parameter) {
  const { description, examples } = parameter;
  return {
    ...parameterSchema(parameter),
    description,
    ...(examples.length > 0 && { examples: [...examples] }),
  };
}

/** Describes the rows; the columns of a caller's own SELECT are unknown. */
function rowsSchema({ columns, maxRows, sandboxing }: Endpoint): Schema {
  const known = object(Object.fromEntries(columns.map((column) => [column.name, columnSchema(column)])));
  return { ...list(sandboxing ? { type: 'object' } : known), maxItems: maxRows };
}

import {
  alertJsonSchema,
  endpointJsonSchema,
  type JsonSchema,
  sourceJsonSchema,
} from '../definitions/json-schema.ts';
import { testJsonSchema } from './testing/test-file.ts';

/** JSON Schemas of the files that people write; `schema/<name>.json` in the package, which files name for their editors. */
export const FILE_SCHEMAS: Readonly<Record<'endpoint' | 'source' | 'alert' | 'test', () => JsonSchema>> = {
  endpoint: endpointJsonSchema,
  source: sourceJsonSchema,
  alert: alertJsonSchema,
  test: testJsonSchema,
};

import { testJsonSchema } from '../../src/cli/testing/test-file.ts';
import {
  alertJsonSchema,
  dashboardJsonSchema,
  endpointJsonSchema,
  type JsonSchema,
  sourceJsonSchema,
} from '../../src/definitions/json-schema.ts';

type Kind = 'endpoint' | 'source' | 'alert' | 'dashboard' | 'test';

/** JSON Schemas of the files that people write; `schema/<name>.json` in the package, which files name for their editors. */
export const FILE_SCHEMAS: Readonly<Record<Kind, () => JsonSchema>> = {
  endpoint: endpointJsonSchema,
  source: sourceJsonSchema,
  alert: alertJsonSchema,
  dashboard: dashboardJsonSchema,
  test: testJsonSchema,
};

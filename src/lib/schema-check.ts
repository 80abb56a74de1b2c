import { Ajv, type ValidateFunction } from 'ajv';
import type { Static, TSchema } from 'typebox';

// Every fault at once, with its schema, whose annotations (`expected`, `gone`) describe it. YAML has NaN and Infinity,
// which no value may be.
const ajv = new Ajv({
  ...{ allErrors: true, verbose: true, strict: false, strictNumbers: true },
  useDefaults: true, // of query strings
});

/** Returns the check of values against a schema. It leaves its faults in `errors`. */
export function compileSchema<T extends TSchema>(schema: T): ValidateFunction<Static<T>> {
  return ajv.compile<Static<T>>(schema);
}

import { Ajv, type ValidateFunction } from 'ajv';
import type { Static, TSchema } from 'typebox';

// Every fault at once, with its schema, whose annotations (`expected`, `gone`) describe it. YAML has NaN and Infinity,
// which no value may be.
const ajv = new Ajv({
  ...{ allErrors: true, verbose: true, strict: false, strictNumbers: true },
  useDefaults: true, // of query strings
  code: { optimize: false }, // of checks that run for a file or a request: a third of the time to compile them
});

/** Checks a value. Its faults are in `errors` until the next call. */
interface SchemaCheck<T> {
  (value: unknown): value is T;
  errors?: ValidateFunction['errors'];
}

/** Returns the check of values against a schema. It is compiled when it is first used: a start needs few of them. */
export function compileSchema<T extends TSchema>(schema: T): SchemaCheck<Static<T>> {
  let validate: ValidateFunction<Static<T>> | undefined;
  const check: SchemaCheck<Static<T>> = (value): value is Static<T> => {
    validate ??= ajv.compile<Static<T>>(schema);
    const isValid = validate(value);
    check.errors = validate.errors;
    return isValid;
  };
  return check;
}

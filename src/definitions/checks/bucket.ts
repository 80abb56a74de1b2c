import { findParameters } from '../../sql/parameter.ts';
import { BUCKET_FROM, BUCKET_UNTIL } from '../bucket.ts';
import { type EndpointFile, endpointFields } from '../endpoint.ts';
import type { Fault } from '../fault.ts';
import type { YamlFile } from '../yaml-file.ts';

type BucketFile = NonNullable<EndpointFile['bucket']>;
/** The message is the end of the sentence that begins with the field. */
type FieldFault = readonly [field: string, message: string];

/** Checks that a bucket names a column of the answer, has a span for every value of `by`, and bounds what the query reads. */
export function checkBucket(file: YamlFile, sql: { file: string; text: string }): Fault[] {
  const fields = endpointFields(file);
  const { bucket } = fields;
  if (bucket === undefined) return [];
  const faults = [
    ...findColumnFaults(bucket, fields),
    ...findByFaults(bucket, fields),
    ...findSpanFaults('width', bucket, fields),
    ...findSpanFaults('range', bucket, fields),
  ].map(([field, message]) => file.fault(['bucket', field], `"${field}" ${message}`));
  const used = new Set(findParameters(sql.text).map((use) => use.name));
  for (const name of [BUCKET_FROM, BUCKET_UNTIL]) {
    if (used.has(name) || sql.text.trim() === '') continue; // an empty query has been reported
    faults.push({
      file: sql.file,
      line: 1,
      message: `must use @${name}: with "bucket", a refresh reads only timestamp >= @${BUCKET_FROM} AND timestamp < @${BUCKET_UNTIL}`,
    });
  }
  return faults;
}

function* findColumnFaults({ column }: BucketFile, { columns }: EndpointFile): Generator<FieldFault> {
  const type = Object.hasOwn(columns, column) ? columns[column]?.type : undefined;
  if (type === undefined) yield ['column', `must be one of "columns": ${Object.keys(columns).join(', ')}`];
  else if (type !== 'integer' && type !== 'string')
    yield [
      'column',
      `must be an integer, in microseconds since 1970, or a string in ISO 8601, not a ${type}`,
    ];
}

function* findByFaults({ by }: BucketFile, { parameters = {} }: EndpointFile): Generator<FieldFault> {
  if (by === undefined) return;
  const parameter = Object.hasOwn(parameters, by) ? parameters[by] : undefined;
  if (parameter?.values === undefined)
    yield ['by', `must name a parameter of type enum, not ${JSON.stringify(by)}`];
  else if (parameter.required !== true && parameter.default === undefined)
    yield ['by', `needs a parameter that always has a value: make "${by}" required or give it a default`];
}

function* findSpanFaults(
  field: 'width' | 'range',
  bucket: BucketFile,
  { parameters = {} }: EndpointFile,
): Generator<FieldFault> {
  const { [field]: seconds, by } = bucket;
  if (typeof seconds === 'number') {
    if (by !== undefined && typeof bucket.width === 'number' && typeof bucket.range === 'number')
      yield ['by', 'needs "width" or "range" to differ; remove it or give seconds for each value'];
  } else if (by === undefined) {
    yield [field, 'has seconds for several values: "by" must name their parameter'];
  } else {
    const values = (Object.hasOwn(parameters, by) && parameters[by]?.values) || [];
    const missing = values.filter((value) => !Object.hasOwn(seconds, value));
    const unknown = Object.keys(seconds).filter((value) => !values.includes(value));
    if (missing.length > 0) yield [field, `must have seconds for ${missing.join(', ')} of "${by}"`];
    if (unknown.length > 0)
      yield [field, `has seconds for ${unknown.join(', ')}, which "${by}" does not allow`];
  }
}

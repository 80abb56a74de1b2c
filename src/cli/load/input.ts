import { InputError } from '../../errors.ts';
import { type Sql, sql } from '../../sql/sql.ts';

/** How a file is read by the engine. */
export interface BulkFormat {
  /** The engine's name of it. */
  readonly engine: string;
  /** Whether its columns have names; else each line is an event's JSON. */
  readonly hasColumns: boolean;
  /** Whether every value of its columns is read as a text. */
  readonly isText: boolean;
  readonly endings: readonly string[];
}

/** The formats of `tailrace load`. */
export const BULK_FORMATS: Readonly<Record<string, BulkFormat>> = {
  parquet: { engine: 'Parquet', hasColumns: true, isText: false, endings: ['parquet'] },
  csv: { engine: 'CSVWithNames', hasColumns: true, isText: true, endings: ['csv'] },
  tsv: { engine: 'TSVWithNames', hasColumns: true, isText: true, endings: ['tsv'] },
  ndjson: {
    engine: 'LineAsString',
    hasColumns: false,
    isText: false,
    endings: ['ndjson', 'jsonl', 'json', 'log'],
  },
};

/** A file that the engine reads, in a process of the command. */
export interface BulkInput {
  readonly name: string;
  readonly format: BulkFormat;
  /** The engine's table function. It may hold a secret. */
  readonly from: Sql;
  /** Whether it is on this machine. */
  readonly isLocal: boolean;
}

type Environment = Readonly<Record<string, string | undefined>>;

// Compression by which a name may end after its format's ending; Parquet compresses within.
const COMPRESSED = /\.(gz|zst|br|xz|lz4|bz2)$/;

/**
 * Finds out whether the engine has to read an input: one with columns, or one that is not on this machine.
 *
 * @param name of a file, `http://…`, `https://…` or `s3://bucket/key`, in which `*` stands for any text
 * @param formatName of `--format`; by the name's ending if `undefined`
 * @param environment credentials and address of S3, in the variables of AWS
 * @returns `undefined` for a local file of lines, which needs no engine
 * @throws InputError
 */
export function readInput(
  name: string,
  formatName: string | undefined,
  environment: Environment,
): BulkInput | undefined {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(name)?.[1]?.toLowerCase();
  const format = findFormat(name, formatName);
  if (scheme === undefined) {
    if (name === '-' || !format.hasColumns) return undefined;
    return { name, format, isLocal: true, from: sql`file(${name}, ${format.engine})` };
  }
  if (scheme === 'http' || scheme === 'https')
    return { name, format, isLocal: false, from: writeUrl(name, format) };
  if (scheme === 's3') return { name, format, isLocal: false, from: writeS3(name, format, environment) };
  throw new InputError([
    `${name}: cannot be read from ${scheme}://; name a file, or an address with http://, https:// or s3://`,
  ]);
}

function findFormat(name: string, formatName: string | undefined): BulkFormat {
  if (formatName !== undefined) {
    const found = Object.hasOwn(BULK_FORMATS, formatName) ? BULK_FORMATS[formatName] : undefined;
    if (found === undefined)
      throw new InputError([`--format must be one of ${Object.keys(BULK_FORMATS).join(', ')}`]);
    return found;
  }
  const path = name
    .replace(/[?#].*$/, '')
    .toLowerCase()
    .replace(COMPRESSED, '');
  const byName = Object.values(BULK_FORMATS).find(({ endings }) =>
    endings.some((ending) => path.endsWith(`.${ending}`)),
  );
  return byName ?? (BULK_FORMATS['ndjson'] as BulkFormat); // it is in the table
}

/** Lines need no schema to be found. */
const columnsOf = ({ hasColumns }: BulkFormat): readonly string[] => (hasColumns ? [] : ['line String']);

function writeUrl(url: string, format: BulkFormat): Sql {
  if (!URL.canParse(url)) throw new InputError([`${url}: is not a URL`]);
  return sql`url(${[url, format.engine, ...columnsOf(format)]})`;
}

function writeS3(name: string, format: BulkFormat, environment: Environment): Sql {
  const [, bucket = '', key = ''] = /^s3:\/\/([^/]+)\/(.+)$/i.exec(name) ?? [];
  if (bucket === '')
    throw new InputError([`${name}: write s3://<bucket>/<key>, such as s3://logs/2026/*.parquet`]);
  const region = environment['AWS_REGION'] || environment['AWS_DEFAULT_REGION'] || 'us-east-1';
  const endpoint =
    environment['AWS_ENDPOINT_URL_S3'] ||
    environment['AWS_ENDPOINT_URL'] ||
    `https://s3.${region}.amazonaws.com`;
  if (!/^https?:\/\//.test(endpoint) || !URL.canParse(endpoint))
    throw new InputError([
      `AWS_ENDPOINT_URL must be the address of the storage, such as https://s3.eu-central-1.amazonaws.com, not ${JSON.stringify(endpoint)}`,
    ]);
  const url = `${endpoint.replace(/\/+$/, '')}/${bucket}/${key}`;
  const {
    AWS_ACCESS_KEY_ID: id = '',
    AWS_SECRET_ACCESS_KEY: secret = '',
    AWS_SESSION_TOKEN: token = '',
  } = environment;
  const rest = [format.engine, ...columnsOf(format)];
  if (id === '' && secret === '') return sql`s3(${url}, NOSIGN, ${rest})`;
  if (id === '' || secret === '')
    throw new InputError([
      `${name}: set both AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or neither for a public bucket`,
    ]);
  return sql`s3(${[url, id, secret, ...(token === '' ? [] : [token]), ...rest]})`;
}

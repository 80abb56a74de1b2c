/** Status and headers of an answer. */
export interface ResponseHead {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/** A failure reported by a ClickHouse server or by a proxy in front of it. Its message is the server's own text, values included. */
export class ServerException extends Error {
  override readonly name = 'ServerException';
  /** ClickHouse's code; `undefined` if something else answered. */
  readonly clickhouseCode: number | undefined;
  readonly httpStatus: number | undefined;

  constructor(text: string, clickhouseCode: number | undefined, httpStatus: number | undefined) {
    super(text);
    this.clickhouseCode = clickhouseCode;
    this.httpStatus = httpStatus;
  }
}

const TEXT_CHARS_MAX = 10_000;

/**
 * The error in an answer: instead of the rows, with a status and a header, or after rows that were already sent, behind a random
 * marker that the server announced in a header (since 25.11) and no row can contain.
 */
export function readException(bytes: Buffer, { status, headers }: ResponseHead): ServerException | undefined {
  const code = toCode(headers['x-clickhouse-exception-code']);
  const tag = headers['x-clickhouse-exception-tag'];
  const late = typeof tag === 'string' && tag !== '' ? findLate(bytes, tag) : undefined;
  if (late !== undefined) return new ServerException(late, codeInText(late), status);
  if (status === 200 && code === undefined) return undefined;
  const text = bytes.toString('utf8', 0, TEXT_CHARS_MAX).trim();
  return new ServerException(text || `HTTP ${status}`, code ?? codeInText(text), status);
}

/**
 * Looks whether it was ClickHouse that answered, which says of each query at least its id (`x-clickhouse-query-id`). The page of
 * a proxy whose server is being looked after, if it were believed, would be rows, or word of events that nobody has stored.
 *
 * @throws ServerException when it was not
 */
export function refuseOthers({ status, headers }: ResponseHead): void {
  if (Object.keys(headers).some((name) => name.startsWith('x-clickhouse-'))) return;
  const text =
    'what answers is no ClickHouse, or a proxy takes the headers x-clickhouse-… out of its answers';
  throw new ServerException(text, undefined, status);
}

function toCode(header: string | readonly string[] | undefined): number | undefined {
  return typeof header === 'string' && /^\d+$/.test(header) ? Number(header) : undefined;
}

function codeInText(text: string): number | undefined {
  const code = /^Code: (\d+)\. /.exec(text)?.[1];
  return code === undefined ? undefined : Number(code);
}

const MARK = '__exception__';

/** The text between the two marks at the end; the second may be missing where the connection was cut. */
function findLate(bytes: Buffer, tag: string): string | undefined {
  const head = `${MARK}\r\n${tag}`;
  const start = bytes.lastIndexOf(head);
  if (start === -1) return undefined;
  const text = bytes.toString('utf8', start + head.length);
  const end = text.lastIndexOf(tag);
  return (
    (end === -1 ? text : text.slice(0, end).replace(/\d+\s*$/, '')).trim() || 'the answer was broken off'
  );
}

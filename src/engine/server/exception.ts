/** Status and headers of an answer. */
export interface ResponseHead {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/** A failure reported by a ClickHouse server or by a proxy in front of it. Its message is the server's text, values included. */
export class ServerException extends Error {
  override readonly name = 'ServerException';
  /** ClickHouse's code; `undefined` if the response came from something else. */
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
 * Throws the error in an answer: instead of the rows, with a status and a header, or after rows that were already sent, behind a random
 * marker that the server announced in a header (since 25.11) and no row can contain.
 */
export function readException(bytes: Buffer, { status, headers }: ResponseHead): ServerException | undefined {
  const header = headers['x-clickhouse-exception-code'];
  const code = typeof header === 'string' && /^\d+$/.test(header) ? Number(header) : undefined;
  const tag = headers['x-clickhouse-exception-tag'];
  const late = typeof tag === 'string' && tag !== '' ? findLate(bytes, tag) : undefined;
  if (late !== undefined) return new ServerException(late, codeInText(late), status);
  if (status === 200 && code === undefined) return undefined;
  const text = bytes.toString('utf8', 0, TEXT_CHARS_MAX).trim();
  return new ServerException(text || `HTTP ${status}`, code ?? codeInText(text), status);
}

/**
 * Rejects a response without ClickHouse's headers; it sends at least `x-clickhouse-query-id`. A proxy's maintenance page with
 * status 200 would otherwise look like rows, or like a stored insert.
 *
 * @throws ServerException
 */
export function refuseOthers({ status, headers }: ResponseHead): void {
  if (Object.keys(headers).some((name) => name.startsWith('x-clickhouse-'))) return;
  const text = 'the response is not from ClickHouse, or a proxy removes its headers x-clickhouse-…';
  throw new ServerException(text, undefined, status);
}

/** `result_rows` of the server's summary; final only if the server has sent nothing before. */
export function readRowCount({ headers }: ResponseHead): number | undefined {
  const rows = /"result_rows":"(\d+)"/.exec(String(headers['x-clickhouse-summary']))?.[1];
  return rows === undefined ? undefined : Number(rows);
}

function codeInText(text: string): number | undefined {
  const code = /^Code: (\d+)\. /.exec(text)?.[1];
  return code === undefined ? undefined : Number(code);
}

const MARK = '__exception__';

/** Returns the text between the two marks at the end; the second is missing if the connection was cut. */
function findLate(bytes: Buffer, tag: string): string | undefined {
  const head = `${MARK}\r\n${tag}`;
  const start = bytes.lastIndexOf(head);
  if (start === -1) return undefined;
  const rest = bytes.toString('utf8', start + head.length);
  const end = rest.lastIndexOf(tag);
  const text = end === -1 ? rest : rest.slice(0, end).replace(/\d+\s*$/, '');
  return text.trim() || 'the answer was broken off';
}

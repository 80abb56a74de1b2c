import { styleText } from 'node:util';
import { type DestinationStream, pino } from 'pino';

type Fields = Readonly<Record<string, unknown>>;

/** Writes the lines of pino for people, a short line for each request. */
export function createDevLog(write: (text: string) => void): DestinationStream {
  return {
    write(line) {
      const fields = JSON.parse(line) as Fields; // pino writes an object in each line
      const { time, route } = fields;
      const text = typeof route === 'string' ? requestLine(fields, route) : eventLine(fields);
      write(`${paint('dim', new Date(Number(time)).toTimeString().slice(0, 8))} ${text}\n`);
    },
  };
}

/** `GET 200 1.2 ms /api/endpoints/query/logs.all hit, 3 rows` */
function requestLine(fields: Fields, route: string): string {
  const { method, status, ms, endpoint, error, cache, rows } = fields;
  const path = route.replace(':endpoint', String(endpoint ?? ':endpoint'));
  const code = paint(Number(status) < 400 ? 'green' : 'red', String(status));
  const head = `${String(method).padEnd(4)} ${code} ${`${ms} ms`.padStart(9)}  ${path}`;
  const notes = [error, cache, rows === undefined ? undefined : `${rows} rows`];
  return `${head}  ${paint('dim', notes.filter((note) => note !== undefined).join(', '))}`.trimEnd();
}

// Of every line, or the same in all.
const HIDDEN = new Set(['time', 'level', 'pid', 'hostname', 'msg', 'err']);

/** `warn a warm answer could not be refreshed endpoint=logs.all`, and the stack of an error below it. */
function eventLine(fields: Fields): string {
  const { level, msg, err } = fields;
  const label = pino.levels.labels[Number(level)] ?? '';
  const known = Object.entries(fields).filter(([name]) => !HIDDEN.has(name));
  const pairs = known.map(([name, value]) =>
    paint('dim', `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`),
  );
  const stack = typeof err === 'object' && err !== null && 'stack' in err ? `\n${err.stack}` : '';
  const name = label === 'info' || label === 'debug' ? label : paint('yellow', label);
  return [name, msg, ...pairs].filter(Boolean).join(' ') + stack;
}

function paint(format: 'dim' | 'green' | 'red' | 'yellow', text: string): string {
  return styleText(format, text, { stream: process.stderr });
}

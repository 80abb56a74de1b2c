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

/** Writes `GET 200 1.2 ms /api/endpoints/query/logs.all hit, 3 rows`. */
function requestLine(fields: Fields, route: string): string {
  const { method, status, ms, endpoint, error, cache, rows } = fields;
  const path =
    route === 'none' ? 'no such path' : route.replace(':endpoint', String(endpoint ?? ':endpoint'));
  const code = paint(Number(status) < 400 ? 'green' : 'red', String(status));
  const head = `${String(method).padEnd(4)} ${code} ${`${ms} ms`.padStart(9)}  ${path}`;
  const count = rows === undefined ? undefined : rows === 1 ? '1 row' : `${rows} rows`;
  const notes = [error, cache, count];
  return `${head}  ${paint('dim', notes.filter((note) => note !== undefined).join(', '))}`.trimEnd();
}

// Fields of every line, or shown elsewhere in it.
const HIDDEN = new Set(['time', 'level', 'pid', 'hostname', 'msg', 'err', 'faults']);

/** Writes `warn a warm answer could not be refreshed endpoint=logs.all`, then the stack of an error, or the faults of definitions. */
function eventLine(fields: Fields): string {
  const { level, msg, err, faults } = fields;
  const label = pino.levels.labels[Number(level)] ?? '';
  const known = Object.entries(fields).filter(([name]) => !HIDDEN.has(name));
  const pairs = known.map(([name, value]) =>
    paint('dim', `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`),
  );
  const stack = typeof err === 'object' && err !== null && 'stack' in err ? [err.stack] : [];
  const below = Array.isArray(faults) ? faults.map((fault) => `  ${fault}`) : stack;
  const name = label === 'info' || label === 'debug' ? label : paint('yellow', label);
  return [[name, msg, ...pairs].join(' '), ...below].join('\n');
}

function paint(format: 'dim' | 'green' | 'red' | 'yellow', text: string): string {
  return styleText(format, text, { stream: process.stderr });
}

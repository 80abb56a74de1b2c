import { isUtf8 } from 'node:buffer';
import { v7 } from 'uuid';
import { TailraceError } from '../../../errors.ts';
import {
  type BodyLine,
  type CutOptions,
  createMarkCounter,
  type Format,
  linesOf,
  type WireEvent,
} from '../../body-format.ts';
import type { DocumentShape } from '../../document/plan.ts';
import { isObject, tryParse } from '../../json/value.ts';
import { collectEvents } from '../event-text.ts';

export const ELASTICSEARCH_FORMATS = {
  'elasticsearch-bulk': {
    cut: (bytes, options) => collectEvents(cutBulk(bytes, options), options),
    countMarks: createMarkCounter('{[,\n'),
  },
} as const satisfies Readonly<Record<string, Format>>;

/** The action before a document; `update` has a document, too, `delete` has none. */
interface Action {
  readonly name: 'create' | 'index' | 'update' | 'delete';
  readonly index: string;
  readonly id: string | undefined;
}

const ACTIONS: readonly string[] = ['create', 'index', 'update', 'delete'] satisfies Action['name'][];

/** Cuts a bulk request: a line with an action, then a line with its document. A bad document spoils only its item. */
function* cutBulk(bytes: Buffer, { context }: CutOptions): Generator<WireEvent> {
  const lines = linesOf(bytes);
  const isWhole = isUtf8(bytes);
  for (let next = lines.next(); !next.done; next = lines.next()) {
    const action = readAction(next.value, context['index'] ?? '');
    const event = toEvent(action, action.name === 'delete' ? undefined : lines.next().value);
    yield !isWhole && 'line' in event && !isUtf8(event.line) ? { ...event, isRepaired: true } : event;
  }
}

/** @throws TailraceError `invalid_request`: without an action it is unknown which of the next lines are documents */
function readAction({ number, bytes }: BodyLine, fallback: string): Action {
  const value = parseObject(bytes);
  const [name = '', ...others] = Object.keys(value ?? {});
  const about = value?.[name];
  if (!isAction(name) || others.length > 0 || !isObject(about)) {
    const message = `line ${number} of the body is not an action; send {"create":{}} or {"index":{}} and the document on the next line`;
    throw new TailraceError('invalid_request', message);
  }
  const { _index: index, _id: id } = about;
  return {
    name,
    index: typeof index === 'string' && index !== '' ? index : fallback,
    id: typeof id === 'string' || typeof id === 'number' ? String(id) : undefined,
  };
}

function isAction(name: string): name is Action['name'] {
  return ACTIONS.includes(name);
}

function toEvent({ name, index, id = v7() }: Action, document: BodyLine | undefined): WireEvent {
  const item = {
    labels: { index },
    echo: `{"${name}":{"_index":${JSON.stringify(index)},"_id":${JSON.stringify(id)}`,
  };
  if (name === 'delete' || name === 'update')
    return { refused: `has the action ${name}, but events do not change; send create or index`, ...item };
  if (document === undefined) return { refused: 'has no document on the next line', ...item };
  return { line: document.bytes, document: { shape: SHAPE, defaults: { id: JSON.stringify(id) } }, ...item };
}

const SHAPE: DocumentShape = { timestamp: ['@timestamp', 'timestamp'], message: ['message'] };

function parseObject(bytes: Buffer): Record<string, unknown> | undefined {
  const value = tryParse(bytes.toString());
  return isObject(value) ? value : undefined;
}

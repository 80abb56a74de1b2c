import { isUtf8 } from 'node:buffer';
import {
  countJsonMarks,
  createMarkCounter,
  type Format,
  linesOf,
  type WireEvent,
} from '../../body-format.ts';
import type { DocumentShape } from '../../document/plan.ts';
import { collectEvents, cutDocuments } from '../event-text.ts';

export const VERCEL_FORMATS = {
  'vercel-json': {
    cut: (bytes, options) => cutDocuments(bytes, DOCUMENT, options),
    countMarks: countJsonMarks,
  },
  'vercel-lines': {
    cut: (bytes, options) => collectEvents(lineEvents(bytes), options),
    countMarks: createMarkCounter('{[,\n'),
  },
} as const satisfies Readonly<Record<string, Format>>;

const SHAPE: DocumentShape = { id: 'id', timestamp: ['timestamp'], message: ['message'] };
const DOCUMENT = { shape: SHAPE };

function* lineEvents(bytes: Buffer): Generator<WireEvent> {
  const isWhole = isUtf8(bytes);
  for (const { bytes: line } of linesOf(bytes))
    yield { line, document: DOCUMENT, isRepaired: !isWhole && !isUtf8(line) };
}

import { stringify } from 'yaml';
import type { AlertReplayView } from '../../../../../src/management/alert-view.ts';
import type { EndpointView } from '../../../../../src/management/view.ts';
import type { ApiError } from '../../../api/client.ts';
import { formatSeconds } from '../../../format/number.ts';
import { newId } from '../definition.ts';

/** The form of a new alert: the texts of its fields, by their names in the file. */
export interface AlertDraft {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly endpoint: string;
  readonly parameters: Readonly<Record<string, string>>;
  /** Empty: any row. */
  readonly column: string;
  readonly is: 'above' | 'below' | 'equals';
  readonly value: string;
  readonly per: readonly string[];
  readonly every: string;
  readonly for: string;
  readonly text: string;
  readonly to: readonly string[];
}

type Columns = EndpointView['columns'];

const NUMERIC: readonly string[] = ['integer', 'number'];

/** Begins an alert on an endpoint, by a name that no alert has. @param taken names of alerts */
export function createDraft(
  endpoint: EndpointView | undefined,
  parameters: AlertDraft['parameters'],
  taken: readonly string[] = [],
): AlertDraft {
  const columns = endpoint?.columns ?? [];
  const column = columns.find(({ name, type }) => NUMERIC.includes(type) && name !== 'timestamp')?.name ?? '';
  const name = endpoint?.name ?? '';
  return {
    ...{ id: newId(), name: findFree(name, taken), description: endpoint?.description ?? '' },
    ...{ endpoint: name, parameters },
    ...{ column, is: 'above', value: '0', per: [], every: '60', for: '0', to: [] },
    text: column === '' ? `${name} has rows` : `${name}: ${column} is {{ ${column} }}`,
  };
}

/** Returns the name, or with the first number that makes it one which is not taken: `errors.2`. */
function findFree(name: string, taken: readonly string[]): string {
  let free = name;
  for (let number = 2; taken.includes(free); number++) free = `${name}.${number}`;
  return free;
}

/** Columns whose values can name an instance. */
export function labelColumns(columns: Columns): Columns {
  return columns.filter(
    ({ name, type }) => type !== 'json' && !NUMERIC.includes(type) && name !== 'timestamp',
  );
}

/** The text of the file, and the field of each of its lines. */
export function toFile(
  draft: AlertDraft,
  columns: Columns,
): { readonly text: string; readonly fields: readonly string[] } {
  const { parameters, per, to } = draft;
  const given = Object.fromEntries(Object.entries(parameters).filter(([, value]) => value !== ''));
  const members: readonly (readonly [string, unknown])[] = [
    ...(['id', 'name', 'description', 'endpoint'] as const).map((field) => [field, draft[field]] as const),
    ...(Object.keys(given).length > 0 ? [['parameters', given] as const] : []),
    ['every', toNumber(draft.every)],
    ['when', toCondition(draft, columns)],
    ...(per.length > 0 ? [['per', per] as const] : []),
    ...(draft.for !== '' && draft.for !== '0' ? [['for', toNumber(draft.for)] as const] : []),
    ['text', draft.text],
    ['to', to],
  ];
  const parts = members.map(([field, value]) => ({
    field,
    text: stringify({ [field]: value }, { lineWidth: 0, flowCollectionPadding: true }),
  }));
  return {
    text: parts.map(({ text }) => text).join(''),
    fields: parts.flatMap(({ field, text }) =>
      text
        .trimEnd()
        .split('\n')
        .map(() => field),
    ),
  };
}

/** A number, or the text that is none: the service says so. */
function toNumber(text: string): number | string {
  return text.trim() === '' || Number.isNaN(Number(text)) ? text : Number(text);
}

function toCondition({ column, is, value }: AlertDraft, columns: Columns): unknown {
  if (column === '') return 'rows';
  const type = columns.find(({ name }) => name === column)?.type;
  const typed = type === 'boolean' ? toBoolean(value) : type === 'string' ? value : toNumber(value);
  return { column, [is]: typed };
}

function toBoolean(text: string): boolean | string {
  return text === 'true' || (text === 'false' ? false : text);
}

/** The faults of a field that the service has found in the text. */
export function faultOfField(
  error: ApiError | undefined,
  fields: readonly string[],
  field: string,
): string | undefined {
  const own = (error?.errors ?? []).filter(({ parameter, line }) =>
    line === undefined ? parameter === field : fields[line - 1] === field,
  );
  return own.length === 0 ? undefined : own.map(({ message }) => message).join('; ');
}

/** `would have fired 3 times in the last 7 days, 5 messages` */
export function describePast(past: AlertReplayView): string {
  const { fired, messages, ticks, failures, every_seconds: every, last_error: reason } = past;
  const times = fired === 1 ? 'once' : `${fired} times`;
  const sent = `${messages.length} ${messages.length === 1 ? 'message' : 'messages'}`;
  const failed = failures === 0 ? '' : ` ${failures} of ${ticks} evaluations failed: ${reason}`;
  return `It would have fired ${times} in the last 7 days, ${sent}, evaluated every ${formatSeconds(every)}.${failed}`;
}

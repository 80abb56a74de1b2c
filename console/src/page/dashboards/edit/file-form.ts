import { type Document, isMap, isSeq, parseDocument, visit } from 'yaml';

/** What the form shows of a dashboard's file; empty texts are fields that the file does not have. */
export interface FileForm {
  readonly range: string;
  /** Defaults of the shared parameters. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly rows: readonly (readonly PanelForm[])[];
}

export interface PanelForm {
  readonly endpoint: string;
  readonly show: string;
  readonly title: string;
  readonly text: string;
  readonly parameters: Readonly<Record<string, string>>;
}

/** The place of a panel: its row, and its place in that row. */
export type Place = readonly [row: number, panel: number];

/** Reads a file for the form. @returns undefined if it is not YAML, or not a dashboard */
export function readForm(text: string): FileForm | undefined {
  try {
    const document = parseDocument(text);
    const rows = document.get('rows');
    if (document.errors.length > 0 || !isSeq(rows) || rows.items.length === 0) return undefined;
    const { range, parameters, rows: listed } = document.toJS() as Record<string, unknown>;
    const read = (listed as readonly unknown[]).map((row) => membersOf(row)['panels']);
    if (!read.every((panels) => Array.isArray(panels) && panels.length > 0)) return undefined;
    return {
      range: textOf(range),
      parameters: textsOf(parameters),
      rows: (read as readonly (readonly unknown[])[]).map((panels) => panels.map(readPanel)),
    };
  } catch {
    return undefined; // as aliases without their anchor
  }
}

function readPanel(panel: unknown): PanelForm {
  const { endpoint, show, title, text, parameters } = membersOf(panel);
  return {
    ...{ endpoint: textOf(endpoint), show: textOf(show), title: textOf(title), text: textOf(text) },
    parameters: textsOf(parameters),
  };
}

function membersOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function textOf(value: unknown): string {
  return value === undefined || value === null ? '' : String(value);
}

function textsOf(value: unknown): Record<string, string> {
  return Object.fromEntries(Object.entries(membersOf(value)).map(([name, one]) => [name, textOf(one)]));
}

const LINE_WIDTH = 110;

/** Changes a text in which `readForm` found a dashboard. Comments and the other fields stay. A part that is an alias is left to the editor. */
function edit(text: string, change: (document: Document) => void): string {
  const document = parseDocument(text) as Document;
  try {
    change(document);
  } catch {
    return text; // the library sets nothing below an alias
  }
  return tightenLists(document.toString({ lineWidth: LINE_WIDTH }));
}

/** Writes `[a, b]` beside `{ a: b }`, as the shipped files have both: the library pads either both or none. */
function tightenLists(text: string): string {
  const padding = new Set<number>();
  visit(parseDocument(text), {
    Seq(_, { flow, range }) {
      const [from, to] = range ?? [0, 0];
      if (flow !== true || text.slice(from, to).includes('\n')) return;
      for (const at of [from + 1, to - 2]) if (text[at] === ' ') padding.add(at);
    },
  });
  // By code units, as ranges count them.
  return Array.from({ length: text.length }, (_, i) => (padding.has(i) ? '' : text.charAt(i))).join('');
}

export function withRange(text: string, range: string): string {
  return edit(text, (document) => put(document, ['range'], range));
}

/** @param value undefined: removes it */
export function withParameter(text: string, name: string, value: string | undefined): string {
  return edit(text, (document) => putIn(document, ['parameters'], { name, value }));
}

/** @param value undefined: removes it */
export function withPanelParameter(text: string, at: Place, name: string, value: string | undefined): string {
  return edit(text, (document) => putIn(document, [...pathOf(at), 'parameters'], { name, value }));
}

/** Changes a text of a panel; an empty one removes the field. */
export function withPanelText(
  text: string,
  at: Place,
  { field, value }: { readonly field: 'title' | 'text'; readonly value: string },
): string {
  return edit(text, (document) => put(document, [...pathOf(at), field], value));
}

/** Chooses the endpoint of a panel. What it says about the one before does not stay. @param declared names of the parameters */
export function withEndpoint(text: string, at: Place, endpoint: string, declared: readonly string[]): string {
  return edit(text, (document) => {
    const path = pathOf(at);
    put(document, [...path, 'endpoint'], endpoint);
    document.deleteIn([...path, 'columns']);
    const parameters = document.getIn([...path, 'parameters']);
    const names = isMap(parameters) ? parameters.items.map(({ key }) => String(key)) : [];
    for (const name of names)
      if (!declared.includes(name)) putIn(document, [...path, 'parameters'], { name, value: undefined });
  });
}

/** Chooses what a panel shows. A text has no endpoint, and an endpoint no text. @param endpoint that of a panel which was a text */
export function withShow(text: string, at: Place, show: string, endpoint: string): string {
  return edit(text, (document) => {
    const path = pathOf(at);
    const before = document.getIn([...path, 'show']);
    put(document, [...path, 'show'], show);
    if (show === 'text') {
      for (const field of ['endpoint', 'parameters', 'columns', 'unit']) document.deleteIn([...path, field]);
      if (!document.hasIn([...path, 'text'])) put(document, [...path, 'text'], 'Text');
    } else if (before === 'text') {
      document.deleteIn([...path, 'text']);
      put(document, [...path, 'endpoint'], endpoint);
    }
  });
}

/** Adds a panel at a place: of a row that is there, or of a new one at the end. */
export function withPanel(text: string, [row, panel]: Place, endpoint: string): string {
  return edit(text, (document) => {
    const added = { endpoint };
    const panels = document.getIn(['rows', row, 'panels']);
    if (isSeq(panels)) panels.items.splice(panel, 0, document.createNode(added));
    else document.addIn(['rows'], document.createNode({ panels: [added] }));
  });
}

/** Removes a panel, and its row if it was the only one there. */
export function withoutPanel(text: string, at: Place): string {
  return edit(text, (document) => void take(document, at));
}

/** The place to which a panel would move: within its row, then into the row beside. @returns undefined: there is none, or that row is full */
export function findMove({ rows }: FileForm, [row, panel]: Place, by: -1 | 1): Place | undefined {
  const own = rows[row] ?? [];
  if (panel + by >= 0 && panel + by < own.length) return [row, panel + by];
  const next = rows[row + by];
  if (next === undefined || next.length >= PANELS_MAX) return undefined;
  return [row + by, by === 1 ? 0 : next.length];
}

/** Moves a panel to a place that `findMove` returned. @returns also its place then: a row that became empty is removed */
export function withMove(text: string, from: Place, to: Place): { text: string; at: Place } {
  let at = to;
  const moved = edit(text, (document) => {
    const panels = document.getIn(['rows', to[0], 'panels']);
    const { node, isRowGone } = take(document, from);
    if (isSeq(panels)) panels.items.splice(to[1], 0, node);
    if (isRowGone && to[0] > from[0]) at = [to[0] - 1, to[1]];
  });
  return { text: moved, at };
}

export const PANELS_MAX = 6;
export const ROWS_MAX = 20;

type Path = readonly (string | number)[];

function pathOf([row, panel]: Place): Path {
  return ['rows', row, 'panels', panel];
}

function take(document: Document, [row, panel]: Place): { node: unknown; isRowGone: boolean } {
  const panels = document.getIn(['rows', row, 'panels']);
  if (!isSeq(panels)) return { node: undefined, isRowGone: false };
  const [node] = panels.items.splice(panel, 1);
  const isRowGone = panels.items.length === 0;
  if (isRowGone) document.deleteIn(['rows', row]);
  return { node, isRowGone };
}

function put(document: Document, path: Path, value: string): void {
  if (value === '') document.deleteIn(path);
  else document.setIn(path, value);
}

/** Sets a member of a map, which is created for the first and removed with the last. */
function putIn(
  document: Document,
  path: Path,
  { name, value }: { readonly name: string; readonly value: string | undefined },
): void {
  const map = document.getIn(path);
  if (value === undefined) {
    document.deleteIn([...path, name]);
    if (isMap(map) && map.items.length === 0) document.deleteIn(path);
    return;
  }
  if (!isMap(map)) document.setIn(path, document.createNode({}));
  document.setIn([...path, name], toScalar(value));
}

/** Numbers are written as such; other texts as texts. */
function toScalar(value: string): string | number {
  return value !== '' && String(Number(value)) === value && Number.isFinite(Number(value))
    ? Number(value)
    : value;
}

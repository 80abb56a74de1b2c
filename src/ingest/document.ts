import { CLOSE_BRACE, OPEN_BRACE } from './json/grammar.ts';
import { type PathNode, type PathPlan, planPaths } from './json/paths.ts';
import { findName, type JsonScan, MEMBER_SPANS, type Named } from './json/scan.ts';
import { findValue } from './typed.ts';

/** Where time, text and id stand in an object of another protocol. All other members are the event's metadata. */
export interface DocumentShape {
  readonly id?: string;
  /** The first of these names that is there counts; the others are metadata. */
  readonly timestamp: readonly string[];
  /** As `timestamp`. */
  readonly message: readonly string[];
  /** Whether these members are metadata as well. */
  readonly isKept?: boolean;
  /** The message of a document without one: its whole text, or the texts and numbers of these members, joined. */
  readonly otherwise?: 'whole' | readonly string[];
}

/** The members of an event that are read from members of a document. */
type Role = 'id' | 'timestamp' | 'message';

/** A member of a document with a role. */
interface OwnName {
  readonly name: string;
  readonly bytes: Buffer;
  readonly role: Role;
  /** If several names of a role are there, the least counts. */
  readonly rank: number;
  /** Slots of values inside of it; see `PathNode`. */
  readonly node: Pick<PathNode, 'from' | 'before'> | undefined;
}

/** A path of the event inside of one member of the metadata. */
interface InnerPath {
  readonly member: string;
  /** Below it. */
  readonly path: readonly string[];
  readonly slot: number;
}

/** The values that a row needs, by the paths of the document. */
interface DocumentPlan extends PathPlan {
  /** By the path of the event. */
  readonly slotOf: ReadonlyMap<readonly string[], number>;
  readonly own: readonly OwnName[];
  /** By the name of the member. */
  readonly inner: ReadonlyMap<string, readonly InnerPath[]>;
  /** Slots of the members of `otherwise`. */
  readonly partSlots: readonly number[];
  /** Whether all paths lead into the metadata: for others the event has to be written first. */
  readonly isDirect: boolean;
}

type Path = readonly string[];

const plans = new WeakMap<ReadonlyMap<Path, number>, Map<DocumentShape, DocumentPlan>>();
const WRITTEN = ['id', 'timestamp', 'event_message', 'metadata'];

/** @param events the slots of the plan by which events are read */
export function planDocument(events: ReadonlyMap<Path, number>, shape: DocumentShape): DocumentPlan {
  const known = plans.get(events) ?? new Map<DocumentShape, DocumentPlan>();
  const plan = known.get(shape) ?? createPlan([...events.keys()], shape);
  plans.set(events, known.set(shape, plan));
  return plan;
}

function createPlan(paths: readonly Path[], shape: DocumentShape): DocumentPlan {
  const inside = paths.filter(([first, ...rest]) => first === 'metadata' && rest.length > 0);
  const parts = Array.isArray(shape.otherwise) ? (shape.otherwise as readonly string[]) : [];
  const { root, slots } = planPaths([...inside.map(([, ...rest]) => rest), ...parts.map((name) => [name])]);
  const slotOf = new Map(inside.map((path, i) => [path, slots[i] ?? -1]));
  return {
    ...{ root, slots, slotOf },
    own: ownNames(shape).map((own) => ({
      ...own,
      bytes: Buffer.from(own.name),
      node: root.children.find(({ name }) => name === own.name),
    })),
    inner: Map.groupBy(
      [...slotOf].map(([[, member = '', ...path], slot]) => ({ member, path, slot })),
      ({ member }) => member,
    ),
    partSlots: slots.slice(inside.length),
    isDirect: paths.every((path) => slotOf.has(path) || !WRITTEN.includes(path[0] ?? '')),
  };
}

function ownNames({ id, timestamp, message }: DocumentShape): Pick<OwnName, 'name' | 'role' | 'rank'>[] {
  const named = (role: Role, names: readonly string[]) => names.map((name, rank) => ({ name, role, rank }));
  return [
    ...named('id', id === undefined ? [] : [id]),
    ...named('timestamp', timestamp),
    ...named('message', message),
  ];
}

/** How an object of another protocol is read as an event. */
export interface WireDocument {
  readonly shape: DocumentShape;
  /** The JSON texts of what a document without them has. */
  readonly defaults?: Readonly<Partial<Record<Role, string | undefined>>>;
  /** Metadata besides its own members, which count first. */
  readonly shared?: SharedMembers | undefined;
  /** Whether a line that is not an object is a message. */
  readonly isTextOtherwise?: boolean;
  /** Metadata that follows from one of its members, unless it has its own of that name. */
  readonly derived?: Derived;
}

/** Members that documents have in common. */
export interface SharedMembers {
  readonly members: readonly SharedMember[];
  readonly values: Readonly<Record<string, unknown>>;
  /** Characters of all. */
  readonly chars: number;
  /** Whether they are few, and within the limits of an event; others have to be written into each event. */
  readonly isPlain: boolean;
}

interface SharedMember extends Named {
  /** Name and value as JSON. */
  readonly text: string;
}

interface Derived {
  readonly from: Named;
  /** @param from the JSON text of the member, if it is there */
  readonly write: (from: string | undefined) => SharedMembers | undefined;
}

/** A document as the members of an event. */
interface DocumentEvent {
  readonly members: readonly { readonly name: string; readonly text: string }[];
  /** Whether `values` are now those of the event, by the slots of the plan. */
  readonly isDirect: boolean;
}

interface Scanned extends Pick<JsonScan, 'spans' | 'values'> {
  readonly bytes: Buffer;
  readonly cut: (start?: number, end?: number) => string;
}

/** Bytes that an event has besides its document. */
export function sharedBytes({ shared, defaults }: WireDocument): number {
  return (shared?.chars ?? 0) + Buffer.byteLength(defaults?.message ?? '');
}

/** Reads a document as an event without writing its JSON: id, time and text by their names, all others as its metadata. */
export function readDocument(document: WireDocument, plan: DocumentPlan, scanned: Scanned): DocumentEvent {
  const { shape, defaults = {} } = document;
  const { spans, values, cut } = scanned;
  const owners = ownersOf(plan.own, scanned);
  const found = findOwn(owners);
  const before = addedMembers(document.shared, scanned);
  const after = addedMembers(derivedOf(document, scanned), scanned);
  const isDirect = plan.isDirect && [before, after].every((one) => setValues(one, plan, values));
  if (shape.isKept !== true) for (const { owner } of found.values()) clearValues(owner, values);
  const textOf = (role: Role) => {
    const at = found.get(role)?.at;
    return at === undefined ? defaults[role] : cut(spans[at + 2], spans[at + 3]);
  };
  const isRest = (i: number) => {
    const owner = owners[i];
    return owner === undefined || shape.isKept === true || found.get(owner.role)?.owner !== owner;
  };
  const texts: readonly (readonly [string, string | undefined])[] = [
    ['id', textOf('id')],
    ['timestamp', textOf('timestamp')],
    ['event_message', messageOf(textOf('message'), { shape, plan, scanned })],
    ['metadata', `{${[...before.texts, ...restOf(scanned, isRest), ...after.texts].join(',')}}`],
  ];
  const members = texts.flatMap(([name, text]) => (text === undefined ? [] : [{ name, text }]));
  return { members, isDirect };
}

/** Returns for each member of the document the name by which it has a role. */
function ownersOf(own: readonly OwnName[], { spans, bytes }: Scanned): (OwnName | undefined)[] {
  const owners: (OwnName | undefined)[] = [];
  for (let at = 0; at < spans.length; at += MEMBER_SPANS)
    owners.push(findName(own, bytes, spans[at] ?? 0, spans[at + 1] ?? 0));
  return owners;
}

interface Found {
  readonly owner: OwnName;
  /** The place of its spans; of equal names the last counts. */
  readonly at: number;
}

function findOwn(owners: readonly (OwnName | undefined)[]): ReadonlyMap<Role, Found> {
  const found = new Map<Role, Found>();
  for (let i = 0; i < owners.length; i++) {
    const owner = owners[i];
    if (owner === undefined) continue;
    const other = found.get(owner.role)?.owner;
    if (other === undefined || owner.rank <= other.rank)
      found.set(owner.role, { owner, at: i * MEMBER_SPANS });
  }
  return found;
}

/** Cuts members that follow each other as one text. */
function restOf({ spans, cut }: Scanned, isRest: (i: number) => boolean): string[] {
  const runs: string[] = [];
  let start = -1;
  for (let i = 0, at = 0; at < spans.length; i++, at += MEMBER_SPANS) {
    if (isRest(i)) {
      if (start === -1) start = at;
    } else {
      if (start !== -1) runs.push(cut(spans[start], spans[at - 1]));
      start = -1;
    }
  }
  if (start !== -1) runs.push(cut(spans[start], spans[spans.length - 1]));
  return runs;
}

interface Added extends Pick<SharedMembers, 'values' | 'isPlain'> {
  readonly texts: readonly string[];
  readonly names: readonly string[];
}

const NOTHING: Added = { values: {}, isPlain: true, texts: [], names: [] };

/** Returns the members that the document does not have by itself. */
function addedMembers(shared: SharedMembers | undefined, { spans, bytes }: Scanned): Added {
  if (shared === undefined) return NOTHING;
  const { members, values, isPlain } = shared;
  const own = new Set<SharedMember | undefined>();
  if (isPlain)
    for (let at = 0; at < spans.length; at += MEMBER_SPANS)
      own.add(findName(members, bytes, spans[at] ?? 0, spans[at + 1] ?? 0));
  const added = members.filter((member) => !own.has(member));
  return {
    ...{ values, isPlain },
    texts: added.map(({ text }) => text),
    names: added.map(({ name }) => name),
  };
}

function derivedOf({ derived }: WireDocument, { spans, bytes, cut }: Scanned): SharedMembers | undefined {
  if (derived === undefined) return undefined;
  let from: string | undefined;
  for (let at = 0; at < spans.length; at += MEMBER_SPANS)
    if (findName([derived.from], bytes, spans[at] ?? 0, spans[at + 1] ?? 0) !== undefined)
      from = cut(spans[at + 2], spans[at + 3]);
  return derived.write(from);
}

/** @returns whether the event's values are known: the place of an object or array cannot be set */
function setValues(
  { names, values: added, isPlain }: Added,
  { inner }: DocumentPlan,
  values: unknown[],
): boolean {
  for (const name of names)
    for (const { path, slot } of inner.get(name) ?? []) {
      const value = findValue(added[name], path);
      if (typeof value === 'object' && value !== null) return false;
      values[slot] = value;
    }
  return isPlain;
}

function clearValues({ node }: OwnName, values: unknown[]): void {
  if (node !== undefined) values.fill(undefined, node.from, node.before);
}

function messageOf(
  message: string | undefined,
  { shape, plan, scanned }: { shape: DocumentShape; plan: DocumentPlan; scanned: Scanned },
): string | undefined {
  const { otherwise } = shape;
  if (otherwise === undefined) return message;
  if (otherwise === 'whole') return message ?? wholeText(scanned);
  if (message?.startsWith('"') === true) return message;
  const parts = plan.partSlots.flatMap((slot) => {
    const value = scanned.values[slot];
    return typeof value === 'string' || typeof value === 'number' ? [String(value)] : [];
  });
  return JSON.stringify(parts.join(' | '));
}

function wholeText({ bytes, cut }: Scanned): string {
  return cut(bytes.indexOf(OPEN_BRACE), bytes.lastIndexOf(CLOSE_BRACE) + 1);
}

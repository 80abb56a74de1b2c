import { type PathNode, type PathPlan, planPaths } from '../json/paths.ts';

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
export type Role = 'id' | 'timestamp' | 'message';

/** A member of a document with a role. */
export interface OwnName {
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
export interface DocumentPlan extends PathPlan {
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

import type { AlertMessage, OutboxMessage } from '../outbox.ts';

type Instance = AlertMessage['instances'][number];

/** A message that may still hold for some of its instances. */
export interface Standing {
  readonly queued: OutboxMessage;
  /** By their labels. A message without instances is about the whole alert. */
  readonly instances: ReadonlyMap<string, Instance | undefined>;
  /** In which messages were read. */
  readonly order: number;
  /** How often it was sent by this process. */
  sendings: number;
}

/** The messages of one receiver that are sent again and again, and which of them is due. */
export interface StandingSet {
  add(queued: OutboxMessage): void;
  /** Returns the message that is due and was read first. */
  firstDue(): Standing | undefined;
  /** Not due until it is added again. */
  settle(id: string): void;
  remove(id: string): void;
  /** Returns the instances for which no message is newer; `undefined` if there are none. */
  findHeld(one: Standing): AlertMessage['instances'] | undefined;
  /** Whether another message has an instance in common. */
  overlaps(one: Standing): boolean;
}

export function createStandingSet(): StandingSet {
  const all = new Map<string, Standing>();
  const due = new Set<string>();
  let reads = 0;

  const othersOf = (one: Standing) =>
    [...all.values()].filter(
      (other) => other !== one && other.queued.message.alert === one.queued.message.alert,
    );

  return {
    add(queued) {
      due.add(queued.id);
      if (!all.has(queued.id))
        all.set(queued.id, { queued, instances: byLabels(queued.message), order: reads++, sendings: 0 });
    },
    firstDue: () =>
      [...due]
        .flatMap((id) => all.get(id) ?? [])
        .reduce<Standing | undefined>(
          (first, one) => (first === undefined || one.order < first.order ? one : first),
          undefined,
        ),
    settle(id) {
      due.delete(id);
    },
    remove(id) {
      due.delete(id);
      all.delete(id);
    },
    findHeld(one) {
      const newer = othersOf(one).filter((other) => isNewer(other, one));
      const held = [...one.instances].filter(([key]) => !newer.some((other) => other.instances.has(key)));
      return held.length === 0 ? undefined : held.flatMap(([, instance]) => instance ?? []);
    },
    overlaps: (one) =>
      othersOf(one).some((other) => [...one.instances.keys()].some((key) => other.instances.has(key))),
  };
}

function byLabels({ instances }: AlertMessage): Standing['instances'] {
  if (instances.length === 0) return new Map([['', undefined]]);
  return new Map(instances.map((instance) => [keyOf(instance), instance]));
}

/** The same whatever the order of the labels. */
function keyOf({ kind, labels }: Instance): string {
  const pairs = Object.entries(labels).map((entry) => JSON.stringify(entry));
  return [kind ?? '', ...pairs.toSorted()].join();
}

function isNewer(a: Standing, b: Standing): boolean {
  const difference = a.queued.message.at - b.queued.message.at;
  return difference > 0 || (difference === 0 && a.order > b.order);
}

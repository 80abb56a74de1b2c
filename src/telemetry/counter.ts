/** One item for each combination of label values, such as a count. Values stand in the order of the metric's label names. */
export interface Series<Values extends readonly string[], Item> {
  /** The item of these values, created on first use. A lookup costs more than a count: on the hot path, keep the item. */
  at(...values: Values): Item;
  find(...values: Values): Item | undefined;
  /** In the order of their first use. */
  readonly all: readonly (readonly [values: Values, item: Item])[];
}

/** Counts by label values; none of them ever falls. */
export interface Counter<Values extends readonly string[]> extends Series<Values, Count> {
  /** Adds 1. */
  inc(...values: Values): void;
}

export interface Count {
  readonly value: number;
  /** Adds 1. */
  inc(): void;
  add(count: number): void;
}

export function createCounter<Values extends readonly string[]>(): Counter<Values> {
  const series = createSeries<Values, Count>(createCount);
  return { ...series, inc: (...values) => series.at(...values).inc() };
}

export function createCount(): Count {
  let value = 0;
  return {
    get value() {
      return value;
    },
    inc() {
      value++;
    },
    add(count) {
      value += count;
    },
  };
}

export function createSeries<Values extends readonly string[], Item>(
  createItem: () => Item,
): Series<Values, Item> {
  const all: [Values, Item][] = [];
  const items = new Map<string, Item>();
  return {
    all,
    find: (...values) => items.get(JSON.stringify(values)),
    at(...values) {
      const key = JSON.stringify(values);
      const known = items.get(key);
      if (known !== undefined) return known;
      const item = createItem();
      items.set(key, item);
      all.push([values, item]);
      return item;
    },
  };
}

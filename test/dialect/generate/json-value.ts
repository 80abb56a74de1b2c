/** JSON_VALUE over a text: the scalar at a path of `.name`, `['name']` and `[0]`, as text; null for anything else. */
export function jsonValue(text: string, path: string): string | null {
  const found = find(text, path);
  return found === null || found === undefined || typeof found === 'object' ? null : String(found);
}

/** JSON_QUERY over a text: the value at a path as parsed JSON; `undefined` where nothing is. */
export function find(text: string, path: string): unknown {
  const steps = [...path.matchAll(/\.(\w+)|\['([^']*)'\]|\[(\d+)\]/g)].map(([, name, quoted, index]) =>
    index === undefined ? (name ?? quoted ?? '') : Number(index),
  );
  let value = parse(text);
  for (const step of steps) {
    if (typeof value !== 'object' || value === null) return undefined;
    if (typeof step === 'number' ? !Array.isArray(value) : Array.isArray(value)) return undefined;
    value = Object.entries(value).find(([name]) => name === String(step))?.[1];
  }
  return value;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Wraps a function so that it computes the text of each object once. Objects that nothing else holds are forgotten. */
export function remember<K extends object>(compute: (key: K) => string): (key: K) => string {
  const known = new WeakMap<K, string>();
  return (key) => {
    const text = known.get(key) ?? compute(key);
    known.set(key, text);
    return text;
  };
}

/** Values of parameters, by name. */
export type Values = Readonly<Record<string, string>>;

type Parameters = Readonly<Record<string, string | undefined>>;

/** The query string of the parameters that have a value, without `?`. */
export function toQuery(parameters: Parameters): string {
  const given = Object.entries(parameters).flatMap(([name, value]) => (value ? [[name, value]] : []));
  return new URLSearchParams(given).toString();
}

export function withQuery(path: string, parameters: Parameters): string {
  const query = toQuery(parameters);
  return query === '' ? path : `${path}?${query}`;
}

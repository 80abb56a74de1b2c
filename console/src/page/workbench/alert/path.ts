const PARAMETER = 'p.';

/** The path of the form of a new alert. @param values of the parameters of the endpoint */
export function newAlertPath(endpoint: string, values: Readonly<Record<string, string>>): string {
  const given = Object.entries(values).filter(([, value]) => value !== '');
  const query = new URLSearchParams({ endpoint });
  for (const [name, value] of given) query.set(PARAMETER + name, value);
  return `/workbench/alert?${query}`;
}

/** The path of the file of an alert. */
export function alertFilePath(name: string): string {
  return `/workbench/alert?${new URLSearchParams({ name })}`;
}

/** The state in the URL of both. */
export function parseAlertUrl(search: string) {
  const query = new URLSearchParams(search);
  const values = [...query].flatMap(([name, value]) =>
    name.startsWith(PARAMETER) ? [[name.slice(PARAMETER.length), value] as const] : [],
  );
  return {
    name: query.get('name') ?? '',
    endpoint: query.get('endpoint') ?? '',
    values: Object.fromEntries(values),
  };
}

import type { DashboardView } from '../../management/dashboard-view.ts';
import type { EndpointView } from '../../management/view.ts';

/** The name of a parameter's variable: Grafana reserves names that begin with `__`, and `datasource` is that of the data source. */
export function variableOf(parameter: string): string {
  return /^(?:__|datasource$|parameter_)/.test(parameter) ? `parameter_${parameter}` : parameter;
}

/** Grafana's variables for the parameters that panels share: a choice for those with a list of values, else a field of text. */
export function toVariables(
  { parameters, rows }: DashboardView,
  endpoints: readonly EndpointView[],
): object[] {
  const used = new Set(rows.flatMap(({ panels }) => panels.map(({ endpoint }) => endpoint)));
  const declared = endpoints.filter(({ name }) => used.has(name)).flatMap((one) => one.parameters);
  return parameters.map(({ name, default: value }) => {
    const found = declared.find((one) => one.name === name);
    const values = found?.values ?? [];
    // A list of choices has no empty one, and separates them by commas.
    const isChoice = values.includes(value) && values.every((one) => !/[,:\\]/.test(one));
    const current = { text: value, value, selected: true };
    return {
      ...{ name: variableOf(name), label: name, description: found?.description ?? '' },
      ...(isChoice
        ? {
            ...{ type: 'custom', query: values.join(',') },
            options: values.map((one) => ({ text: one, value: one, selected: one === value })),
          }
        : { type: 'textbox', query: value, options: [current] }),
      current,
    };
  });
}

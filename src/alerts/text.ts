/** Variables of every text, besides the columns: name of the alert, severity, and how many instances the message has. */
export const SERVICE_VARIABLES = ['alert', 'severity', 'count'] as const;

const VARIABLE = /\{\{-?\s*([^{}]*?)\s*-?\}\}/g;
const NAME = /^[A-Za-z_]\w*$/;

/** Lists the variables of a template. @returns `error`: what is wrong with it */
export function templateVariables(
  template: string,
): { readonly names: readonly string[] } | { readonly error: string } {
  const names = [...template.matchAll(VARIABLE)].map(([, name = '']) => name);
  const wrong = names.find((name) => !NAME.test(name));
  if (wrong !== undefined)
    return { error: `has {{ ${wrong} }}, which is not the name of a column; write {{ column }}` };
  return { names: [...new Set(names)] };
}

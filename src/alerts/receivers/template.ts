import { type Context, ForTag, Liquid, LiquidError, type Template } from 'liquidjs';
import { messageOf } from '../../errors.ts';
import { describeNearest } from '../../lib/nearest.ts';
import { shorten } from './message-text.ts';

/** Something wrong in a template. */
export interface TemplateFault {
  /** In the template; counts from 1. */
  readonly line: number;
  /** What is wrong, and what would be right. */
  readonly message: string;
}

/** A template that cannot be parsed, or exceeds a bound while it is rendered. */
class TemplateError extends Error implements TemplateFault {
  override readonly name = 'TemplateError';
  readonly line: number;

  constructor({ line, message }: TemplateFault, options: { cause?: unknown } = {}) {
    super(message, options);
    this.line = line;
  }
}

/** Longer templates are rejected; the text of a message is a few sentences. */
export const TEMPLATE_CHARS_MAX = 4_000;
// Longer texts and values are cut, since a shortened message is better than none: a label can have 64 KiB.
const TEXT_CHARS_MAX = 4_000;
const VALUE_CHARS_MAX = 1_000;
const LIST_ITEMS_MAX = 100;
const DEPTH_MAX = 3;
const QUOTE_CHARS_MAX = 60;
// Counted, not timed, so that a busy machine renders the same text: characters that filters read and outputs write, items of ranges, and
// the template's length, weighted, for each time that a loop repeats. At the bound rendering takes up to 30 ms.
const WORK_MAX = 300_000;
// A condition takes 0.5 µs a character.
const LOOP_WEIGHT = 6;

// Without `include`, `render` and `layout`, which read files, and `capture`, which can double a text on each line.
const TAGS = ['if', 'unless', 'case', 'for', 'break', 'continue', 'assign', 'comment', 'raw', '#'];
// Each charges the limit of memory before it works. Without dates, which would depend on the time zone of the process.
const FILTERS = [
  ...[
    'append',
    'prepend',
    'capitalize',
    'upcase',
    'downcase',
    'replace',
    'remove',
    'strip',
    'lstrip',
    'rstrip',
  ],
  ...[
    'strip_newlines',
    'truncate',
    'truncatewords',
    'slice',
    'split',
    'join',
    'first',
    'last',
    'size',
    'default',
  ],
  ...[
    'abs',
    'ceil',
    'floor',
    'round',
    'plus',
    'minus',
    'times',
    'divided_by',
    'modulo',
    'at_least',
    'at_most',
  ],
];

/** Charges each repetition of a loop. */
class BoundedForTag extends ForTag {
  constructor(...[token, rest, liquid, parser]: ConstructorParameters<typeof ForTag>) {
    super(token, rest, liquid, parser);
    const charge: Template = {
      token,
      render: (context: Context) => context.memoryLimit.use(token.input.length * LOOP_WEIGHT),
    };
    this.templates.unshift(charge);
  }
}

const engine = createEngine();

function createEngine(): Liquid {
  // Templates come from a map without entries, so no path reaches the disk.
  const liquid = new Liquid({
    templates: {},
    strictFilters: true,
    ownPropertyOnly: true,
    outputEscape: write,
  });
  for (const name of Object.keys(liquid.tags)) if (!TAGS.includes(name)) delete liquid.tags[name];
  for (const name of Object.keys(liquid.filters)) if (!FILTERS.includes(name)) liquid.unregisterFilter(name);
  liquid.registerTag('for', BoundedForTag);
  return liquid;
}

function write(this: { readonly context: Context } | undefined, value: unknown): string {
  const text = typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value ?? '');
  this?.context.memoryLimit.use(text.length);
  return text;
}

/**
 * Renders a Liquid template. Texts of variables are cut to 1,000 characters, the result to 4,000. Names without a variable are empty.
 *
 * @param variables JSON values; members that they inherit cannot be read
 * @throws TemplateError if the template has a fault or does too much work, such as a loop within a loop
 */
export function renderText(template: string, variables: Readonly<Record<string, unknown>>): string {
  const parsed = parse(template);
  const bounded = Object.fromEntries(
    Object.entries(variables).map(([name, value]) => [name, bound(value, 0)]),
  );
  const text = naming(() => engine.renderSync(parsed, bounded, { memoryLimit: WORK_MAX }));
  return shorten(String(text), TEXT_CHARS_MAX);
}

/** Returns the names that a template reads and does not assign. @throws TemplateError */
export function templateVariables(template: string): string[] {
  return Object.keys(findGlobals(template));
}

/** Finds a fault of syntax, or each place that reads a name which is not in `known`. */
export function findTemplateFaults(template: string, known: readonly string[]): TemplateFault[] {
  try {
    return Object.entries(findGlobals(template)).flatMap(([name, places]) =>
      known.includes(name)
        ? []
        : places.map(({ location }) => ({ line: location.row, message: describeUnknown(name, known) })),
    );
  } catch (error) {
    if (error instanceof TemplateError) return [error];
    throw error;
  }
}

function describeUnknown(name: string, known: readonly string[]): string {
  const right = describeNearest(name, known) || `; known here: ${known.join(', ')}`;
  return `unknown variable "${quote(name)}"${right}`;
}

function findGlobals(template: string) {
  const parsed = parse(template);
  return naming(() => engine.analyzeSync(parsed, { partials: false })).globals;
}

function parse(template: string): Template[] {
  if (template.length > TEMPLATE_CHARS_MAX)
    throw new TemplateError({
      line: 1,
      message: `has ${template.length} characters; a text has at most ${TEMPLATE_CHARS_MAX}`,
    });
  return naming(() => engine.parse(template));
}

/** Runs a step of the library and names the line of its error. */
function naming<T>(work: () => T): T {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0; // the library copies stacks from error to error
  try {
    return work();
  } catch (cause) {
    const isPlaced = LiquidError.is(cause);
    const line = isPlaced ? (cause.token.getPosition()[0] ?? 1) : 1;
    throw new TemplateError({ line, message: describe(messageOf(cause)) }, { cause });
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

const EXAMPLE = '{{ path }} failed {{ failures }} times';

/** The library's messages → ours, which say what would be right. */
const MESSAGES: readonly (readonly [pattern: RegExp, describe: (found: string) => string])[] = [
  [/^output "(.*)" not closed$/s, (output) => `${quote(output)} is not closed; end it with }}`],
  [/^tag "(.*)" not closed$/s, (tag) => `${quote(tag)} is not closed; end it with %}`],
  [/^tag (\{%-?\s*(\w*).*) not closed$/s, describeOpenTag],
  [/^tag "(.*)" not found$/s, (name) => `unknown tag "${quote(name)}" here; known: ${TAGS.join(', ')}`],
  [/^undefined filter: (.*)$/s, (name) => `unknown filter "${quote(name)}"; known: ${FILTERS.join(', ')}`],
  [/^illegal tag: (.*)$/s, (tag) => `${quote(tag)} is not a loop; write {% for item in items %}`],
  [/^illegal tag syntax/, () => 'a tag begins with its name, such as {% if failures > 10 %}'],
  [/^memory alloc limit exceeded$/, () => 'does too much work; loop over fewer items, or shorten the texts'],
];

function describeOpenTag(tag: string): string {
  const name = /\w+/.exec(tag)?.[0] ?? '';
  return `${quote(tag)} is not closed; add {% end${name} %}`;
}

function describe(message: string): string {
  const text = message.replace(/, line:\d+, col:\d+$/, '');
  for (const [pattern, toMessage] of MESSAGES) {
    const found = pattern.exec(text);
    if (found !== null) return toMessage(found[1] ?? '');
  }
  return `is not a Liquid template: ${quote(text)}; write names in braces, such as ${EXAMPLE}`;
}

function bound(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return shorten(value, VALUE_CHARS_MAX);
  if (typeof value !== 'object' || value === null) return value;
  if (depth === DEPTH_MAX) return null;
  if (Array.isArray(value)) return value.slice(0, LIST_ITEMS_MAX).map((item) => bound(item, depth + 1));
  const members = Object.entries(value).slice(0, LIST_ITEMS_MAX);
  return Object.fromEntries(members.map(([name, member]) => [name, bound(member, depth + 1)]));
}

function quote(text: string): string {
  return shorten(text, QUOTE_CHARS_MAX);
}

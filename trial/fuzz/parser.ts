/** A reader of texts that callers send, which runs on the thread that answers requests. */
export interface Parser {
  /** Longest text that reaches it, UTF-16 units. */
  readonly charsMax: number;
  /** What its texts are made of: side by side, one behind each other one, and in random mixtures. */
  readonly tokens: readonly string[];
  /** What opens and what closes a level of nesting. */
  readonly nests?: readonly (readonly [open: string, close: string])[];
  /** Texts that tokens cannot make, such as many names that differ. */
  readonly shapes?: Readonly<Record<string, (chars: number) => string>>;
  /** Stands before and after the tokens. */
  readonly frame?: readonly [before: string, after: string];
  /** A promise of what goes on in later turns counts up to its end. A refusal is a result; see `refusing`. */
  readonly parse: (text: string) => unknown;
}

/** Runs a parser that refuses a text by an error. @throws RangeError if it has ended the stack, which no refusal may rest on */
export function refusing(work: () => unknown): unknown {
  const refuse = (error: unknown) => {
    if (error instanceof RangeError && error.message.includes('call stack')) throw error;
    return error;
  };
  try {
    const result = work();
    return result instanceof Promise ? result.catch(refuse) : result;
  } catch (error) {
    return refuse(error);
  }
}

/** Different parts, as many as fit. */
export function distinct(part: (i: number) => string, [before, after]: readonly [string, string] = ['', '']) {
  return (chars: number): string => {
    let text = before;
    for (let i = 0; text.length < chars - after.length; i++) text += part(i);
    return text.slice(0, Math.max(chars - after.length, 0)) + after;
  };
}

import type { ReactNode } from 'react';
import { parseAnsi } from '../../format/ansi.ts';

/** A text of an event with the colours of its terminal codes. */
export function AnsiText({ text }: { readonly text: string }): ReactNode {
  return parseAnsi(text).map(({ text: shown, style }, i) => {
    const { color, ground, bold, dim, italic, underline } = style;
    // On a coloured ground the text has its own colour, which can be read on each of them.
    const classes = [
      ground !== undefined ? `ansi-on ansi-${ground}` : color !== undefined && `ansi-${color}`,
      bold === true && 'ansi-bold',
      dim === true && 'ansi-dim',
      italic === true && 'ansi-italic',
      underline === true && 'ansi-underline',
    ].filter((name) => name !== false);
    if (classes.length === 0) return shown;
    return (
      // biome-ignore lint/suspicious/noArrayIndexKey: parts of one text have no other identity
      <span key={i} className={classes.join(' ')}>
        {shown}
      </span>
    );
  });
}

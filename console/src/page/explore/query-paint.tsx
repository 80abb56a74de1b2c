import { type RefObject, useLayoutEffect, useMemo, useRef } from 'react';
import { tokenize } from './query-text.ts';
import { COMPLETED_CHARS_MAX } from './use-completion.ts';

interface QueryPaintProps {
  readonly text: string;
  /** UTF-16 units. */
  readonly faultAt: number | undefined;
  readonly input: RefObject<HTMLInputElement | null>;
}

/** The coloured text below a field whose own text is transparent, and a mark at its fault. Follows the field's scrolling. */
export function QueryPaint({ text, faultAt, input }: QueryPaintProps) {
  const content = useRef<HTMLDivElement>(null);
  const tokens = useMemo(
    () =>
      text.length > COMPLETED_CHARS_MAX
        ? [{ kind: 'word' as const, from: 0, until: text.length }]
        : tokenize(text),
    [text],
  );
  useLayoutEffect(() => {
    const follow = () => {
      if (content.current && input.current)
        content.current.style.translate = `${-input.current.scrollLeft}px`;
    };
    follow();
    const ending = new AbortController();
    const { signal } = ending;
    for (const name of ['scroll', 'input', 'keyup', 'focus', 'blur'])
      input.current?.addEventListener(name, follow, { signal });
    // Not every browser reports the scrolling of a field, but a caret or a selection that scrolls it.
    document.addEventListener('selectionchange', follow, { signal });
    return () => ending.abort();
  });
  return (
    <div className="query-paint" aria-hidden="true">
      <div ref={content}>
        {tokens.map(({ kind, from, until }) => (
          <span key={from} className={`query-token is-${kind}`}>
            {text.slice(from, until)}
          </span>
        ))}
        {faultAt !== undefined && (
          <div className="query-mark">
            {text.slice(0, faultAt)}
            <mark>{text[faultAt] ?? ' '}</mark>
          </div>
        )}
      </div>
    </div>
  );
}

import { type ReactNode, useEffect, useState } from 'react';
import { showControls } from '../format/log-text.ts';
import { CopyButton } from './button.tsx';

export type Language = 'bash' | 'javascript' | 'sql' | 'yaml';

interface CodeProps {
  readonly text: string;
  /** The language; without one the code is not highlighted. */
  readonly language?: Language;
  readonly label: string;
}

/** Code with a button that copies it. It is highlighted once the highlighter, which most pages never need, is loaded. */
export function Code({ text, language, label }: CodeProps) {
  const shown = showControls(text);
  const [highlighted, setHighlighted] = useState<{ readonly of: string; readonly nodes: ReactNode }>();
  useEffect(() => {
    if (language === undefined) return;
    let isWanted = true;
    void import('./highlight.ts').then(({ lowlight }) => {
      const nodes = toNodes(lowlight.highlight(language, shown).children as HastNode[]);
      if (isWanted) setHighlighted({ of: shown, nodes });
    }, noHighlight);
    return () => {
      isWanted = false;
    };
  }, [shown, language]);
  return (
    <div className="code">
      <div className="code-bar">
        {label}
        <CopyButton text={text} />
      </div>
      <section className="code-text" aria-label={label} tabIndex={0}>
        <pre>
          <code>{highlighted?.of === shown ? highlighted.nodes : shown}</code>
        </pre>
      </section>
    </div>
  );
}

// Without it the code is plain.
const noHighlight = () => undefined;

/** The part of hast that lowlight returns. */
type HastNode =
  | { readonly type: 'text'; readonly value: string }
  | {
      readonly type: 'element';
      readonly properties: { readonly className?: readonly string[] };
      readonly children: readonly HastNode[];
    };

function toNodes(nodes: readonly HastNode[]): ReactNode[] {
  return nodes.map((node, i) =>
    node.type === 'text' ? (
      node.value
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: the list is rebuilt with its text, never changed
      <span key={i} className={node.properties.className?.join(' ')}>
        {toNodes(node.children)}
      </span>
    ),
  );
}

import bash from 'highlight.js/lib/languages/bash';
import javascript from 'highlight.js/lib/languages/javascript';
import sql from 'highlight.js/lib/languages/sql';
import yaml from 'highlight.js/lib/languages/yaml';
import { createLowlight } from 'lowlight';
import { type ReactNode, useMemo } from 'react';
import { showControls } from '../format/log-text.ts';
import { CopyButton } from './button.tsx';

const lowlight = createLowlight({ bash, javascript, sql, yaml });

export type Language = 'bash' | 'javascript' | 'sql' | 'yaml';

interface CodeProps {
  readonly text: string;
  /** The language; without one the code is not highlighted. */
  readonly language?: Language;
  readonly label: string;
}

/** Highlighted code with a button that copies it. */
export function Code({ text, language, label }: CodeProps) {
  const content = useMemo(() => {
    const shown = showControls(text);
    return language === undefined
      ? shown
      : toNodes(lowlight.highlight(language, shown).children as HastNode[]);
  }, [text, language]);
  return (
    <div className="code">
      <div className="code-bar">
        {label}
        <CopyButton text={text} />
      </div>
      <section className="code-text" aria-label={label} tabIndex={0}>
        <pre>
          <code>{content}</code>
        </pre>
      </section>
    </div>
  );
}

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

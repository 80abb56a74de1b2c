import bash from 'highlight.js/lib/languages/bash';
import javascript from 'highlight.js/lib/languages/javascript';
import sql from 'highlight.js/lib/languages/sql';
import yaml from 'highlight.js/lib/languages/yaml';
import { createLowlight } from 'lowlight';
import { type ReactNode, useMemo } from 'react';

const lowlight = createLowlight({ bash, javascript, sql, yaml });

export function Highlighted({ text, language }: { readonly text: string; readonly language: string }) {
  return useMemo(() => toNodes(lowlight.highlight(language, text).children as HastNode[]), [text, language]);
}

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

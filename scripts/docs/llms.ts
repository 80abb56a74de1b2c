import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const INTRODUCTION = `# Tailrace

> Saved analytics queries over log data as HTTP endpoints, on an embedded ClickHouse engine or a ClickHouse cluster.`;

/**
 * docs/llms.txt: every page of docs/ with what it is for (https://llmstxt.org).
 *
 * @param generated path from the repository's root → text, of pages that may not be written yet
 */
export function indexForAgents(generated: ReadonlyMap<string, string>): string {
  const written = readdirSync('docs').filter((name) => name.endsWith('.md'));
  const pages = [...generated.keys()].filter((path) => path.endsWith('.md'));
  const paths = new Set([...pages, ...written.map((name) => join('docs', name))]);
  const lines = ['README.md', ...[...paths].toSorted()].map((path) =>
    describePage(path, generated.get(path) ?? readFileSync(path, 'utf8')),
  );
  return `${INTRODUCTION}\n\n## Pages\n\n${lines.join('\n')}\n`;
}

/** The title of a page, and its first sentence without links. */
function describePage(path: string, text: string): string {
  const [, title = path] = /^# (.*)$/m.exec(text) ?? [];
  const [, body = ''] = text.split(/^# .*$/m);
  const paragraphs = body.split(/\n{2,}/).map((one) => one.trim());
  const first = paragraphs.find((one) => one !== '' && !one.startsWith('<!--')) ?? '';
  const plain = first.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll(/\s+/g, ' ');
  const sentence = /^.*?[.:](?=\s|$)/.exec(plain)?.[0] ?? plain;
  return `- [${title}](${relative('docs', path)}): ${sentence.replace(/:$/, '.')}`;
}

import { useMemo } from 'react';
import { showControls } from '../../format/log-text.ts';
import { type DiffRun, diffTexts } from './line-diff.ts';
import './text-diff.css';

interface TextDiffProps {
  /** The file. */
  readonly label: string;
  readonly before: { readonly name: string; readonly text: string };
  readonly after: { readonly name: string; readonly text: string };
}

/** The lines that differ between two texts, with some around them. */
export function TextDiff({ label, before, after }: TextDiffProps) {
  const runs = useMemo(() => diffTexts(before.text, after.text), [before.text, after.text]);
  return (
    <div className="code">
      <div className="code-bar">
        {label}
        <span className="text-diff-names">
          <span className="text-diff-removed">− {before.name}</span>{' '}
          <span className="text-diff-added">+ {after.name}</span>
        </span>
      </div>
      <section className="code-text" aria-label={`Differences in ${label}`} tabIndex={0}>
        {runs.length === 0 ? (
          <p className="muted">No differences.</p>
        ) : (
          <pre className="text-diff">
            {runs.map((run, i) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the list is rebuilt with its texts, never changed
              <Run key={i} run={run} />
            ))}
          </pre>
        )}
      </section>
    </div>
  );
}

function Run({ run: { kind, lines } }: { readonly run: DiffRun }) {
  if (kind === 'skipped')
    return (
      <span className="text-diff-skipped">{`⋯ ${lines.length} equal ${lines.length === 1 ? 'line' : 'lines'}\n`}</span>
    );
  const sign = { equal: '  ', added: '+ ', removed: '− ' }[kind];
  const text = lines.map((line) => `${sign}${showControls(line)}\n`).join('');
  if (kind === 'added') return <ins>{text}</ins>;
  if (kind === 'removed') return <del>{text}</del>;
  return <span>{text}</span>;
}

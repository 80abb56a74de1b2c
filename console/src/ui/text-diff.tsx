import { diffLines } from 'diff';
import { useMemo } from 'react';
import { showControls } from '../format/log-text.ts';
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

/** A run of lines; `skipped` are equal ones between the changes that are too many to be shown. */
export interface DiffRun {
  readonly kind: 'equal' | 'added' | 'removed' | 'skipped';
  readonly lines: readonly string[];
}

/** Equal lines around a change. */
const CONTEXT_LINES = 3;
/** Texts that differ in more lines are shown as replaced: the time to compare them grows with the square of it. */
const EDITS_MAX = 1_000;

/** Compares two texts by lines. Without differences it is empty. */
export function diffTexts(before: string, after: string): DiffRun[] {
  if (before === after) return [];
  const changes = diffLines(before, after, { maxEditLength: EDITS_MAX });
  if (changes === undefined) {
    return [
      { kind: 'removed', lines: linesOf(before) },
      { kind: 'added', lines: linesOf(after) },
    ];
  }
  return changes.flatMap(({ value, added, removed }, i): DiffRun[] => {
    const lines = linesOf(value);
    if (added || removed) return [{ kind: added ? 'added' : 'removed', lines }];
    return shorten(lines, { isFirst: i === 0, isLast: i === changes.length - 1 });
  });
}

/** Keeps the equal lines next to changes. */
function shorten(
  lines: readonly string[],
  { isFirst, isLast }: { readonly isFirst: boolean; readonly isLast: boolean },
): DiffRun[] {
  const head = isFirst ? 0 : CONTEXT_LINES;
  const tail = isLast ? 0 : CONTEXT_LINES;
  if (lines.length <= head + tail + 1) return [{ kind: 'equal', lines }];
  const end = lines.length - tail;
  const runs: DiffRun[] = [
    { kind: 'equal', lines: lines.slice(0, head) },
    { kind: 'skipped', lines: lines.slice(head, end) },
    { kind: 'equal', lines: lines.slice(end) },
  ];
  return runs.filter((run) => run.lines.length > 0);
}

function linesOf(text: string): string[] {
  const lines = text.split('\n');
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines;
}

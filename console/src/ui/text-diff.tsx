import { structuredPatch } from 'diff';
import { Fragment, useMemo } from 'react';
import { showControls } from '../format/show.ts';
import './text-diff.css';

export function TextDiff({ label, theirs, mine }: Readonly<{ label: string; theirs: string; mine: string }>) {
  const hunks = useMemo(() => diffTexts(theirs, mine), [theirs, mine]);
  return (
    <div className="code">
      <div className="code-bar">
        {label}
        <span className="text-diff-names">
          <span className="text-diff-removed">− theirs</span> <span className="text-diff-added">+ mine</span>
        </span>
      </div>
      <section className="code-text" aria-label={`Differences in ${label}`} tabIndex={0}>
        {hunks === undefined && <p className="muted">They differ in more than {EDITS_MAX} lines.</p>}
        <pre className="text-diff">
          {hunks?.map(({ newStart: start, lines }) => (
            <Fragment key={start}>
              <span className="text-diff-skipped">{`⋯ from line ${start}\n`}</span>
              {lines.map((line, i) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: the list is rebuilt with its texts, never changed
                <Line key={i} line={line} />
              ))}
            </Fragment>
          ))}
        </pre>
      </section>
    </div>
  );
}

function Line({ line }: { readonly line: string }) {
  const text = `${showControls(line.slice(1))}\n`;
  if (line.startsWith('+')) return <ins>+ {text}</ins>;
  if (line.startsWith('-')) return <del>− {text}</del>;
  return <span>{`  ${text}`}</span>;
}

/** The time to compare texts grows with the square of the lines that differ. */
const EDITS_MAX = 1_000;

/** Compares two texts by lines, with three equal ones around each change. @returns undefined if they differ too much */
export function diffTexts(before: string, after: string) {
  const bounds = { context: 3, maxEditLength: EDITS_MAX };
  return structuredPatch('', '', before, after, undefined, undefined, bounds)?.hunks;
}

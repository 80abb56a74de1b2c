import { useId } from 'react';
import { allExpanded, JsonView } from 'react-json-view-lite';
import { showText, showTexts } from '../../format/log-text.ts';
import { formatTimeMs, fromMicros } from '../../format/time.ts';
import { useZone } from '../../preference.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { formatJson } from './answer.ts';
import type { LogEntry } from './log.ts';

interface LogLineProps {
  readonly entry: LogEntry;
  readonly open: boolean;
  readonly onToggle: () => void;
}

/** One entry on one line; expanded, with the tree of its metadata. */
export function LogLine({ entry, open, onToggle }: LogLineProps) {
  const { id, micros, message, metadata, mark, tone } = entry;
  const zone = useZone();
  const panel = useId();
  return (
    <div className={`log-line ${tone}`}>
      <button
        type="button"
        className="log-row"
        aria-expanded={open}
        aria-controls={open ? panel : undefined}
        onClick={onToggle}
      >
        <time className="number" dateTime={fromMicros(micros)}>
          {formatTimeMs(micros / 1000, zone)}
        </time>
        <span className={`log-mark ${tone}`}>{mark}</span>
        <span className="log-message">{showText(message)}</span>
      </button>
      {open && (
        <div className="log-detail" id={panel}>
          <p className="log-whole">{showText(message)}</p>
          <p className="small muted">
            id <code>{id}</code> · {fromMicros(micros)}{' '}
            <CopyButton text={formatJson(metadata)} label="Copy the metadata" />
          </p>
          {typeof metadata === 'object' && metadata !== null ? (
            <JsonView
              data={showTexts(metadata) as object}
              style={STYLE}
              shouldExpandNode={allExpanded}
              aria-label="Metadata"
            />
          ) : (
            <code>{formatJson(metadata)}</code>
          )}
        </div>
      )}
    </div>
  );
}

const STYLE = {
  container: 'tree',
  basicChildStyle: 'tree-child',
  childFieldsContainer: 'tree-children',
  label: 'tree-label',
  clickableLabel: 'tree-label clickable',
  nullValue: 'tree-null',
  undefinedValue: 'tree-null',
  stringValue: 'tree-string',
  booleanValue: 'tree-keyword',
  numberValue: 'tree-number',
  otherValue: 'tree-number',
  punctuation: 'tree-punctuation',
  collapseIcon: 'tree-icon collapse',
  expandIcon: 'tree-icon expand',
  collapsedContent: 'tree-collapsed',
  noQuotesForStringValues: false,
  quotesForFieldNames: false,
};
